"""What a step on several ranks takes, before it is run: from a step on one, the bytes of a cut, and the link."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from repro.errors import require
from repro.lbm.ranks import cut


@dataclass(frozen=True)
class Link:
    """What carries messages between ranks: seconds of the smallest ones, and bytes a second of large ones."""

    latency: float
    bandwidth: float

    @classmethod
    def fitted(cls, table: pd.DataFrame) -> "Link":
        """The link of measured exchanges, columns "bytes" that leave a rank and "seconds": smallest and largest count.

        Raises InputError where the larger takes no longer.
        """
        small, large = (table.loc[getattr(table["bytes"], end)()] for end in ("idxmin", "idxmax"))
        gained = large["seconds"] - small["seconds"]
        require(gained > 0, f"{large['bytes']:g} bytes take no longer than {small['bytes']:g}: time larger messages")
        return cls(float(small["seconds"]), float((large["bytes"] - small["bytes"]) / gained))

    def seconds(self, count: float) -> float:
        """Of an exchange of so many bytes that leave a rank, while as many arrive."""
        return self.latency + count / self.bandwidth if count else 0.0


@dataclass(frozen=True)
class Part:
    """The largest part of a box: its nodes, those in planes at cuts, and whether its exchange is hidden."""

    nodes: float
    beside: float
    hidden: bool


def largest_part(shape, ranks: int, *, periodic: bool = True) -> Part:
    """Of a box of (nx, ny, nz) nodes on so many ranks, cut as the flows cut it, and one with most cuts at its sides."""
    if ranks == 1:
        return Part(float(np.prod(shape)), 0.0, False)
    blocks, hidden = cut(shape, (periodic,) * 3, ranks)
    parts_along = blocks.matrix.ranks
    own = [-(-n // parts) for n, parts in zip(shape, parts_along, strict=True)]
    nodes = float(np.prod(own))
    # of two parts between walls each has a neighbour at one side
    cuts = (2 if periodic else min(2, parts - 1) for parts in parts_along)
    beside = sum(sides * nodes / n for n, parts, sides in zip(own, parts_along, cuts, strict=True) if parts > 1)
    return Part(nodes, beside, hidden)


def predicted(part: Part, node: float, crossing: float, link: Link, *, hidden: bool = True) -> float:
    """Seconds of a step on a part, of `node` seconds a node on one rank and `crossing` bytes a node beside a cut.

    A hidden exchange goes on while all nodes but those beside cuts are updated. Ranks that share a memory do not slow
    each other here, and launches take no time.
    """
    exchange = link.seconds(crossing * part.beside)
    if not (hidden and part.hidden):
        return node * part.nodes + exchange
    return node * part.beside + max(node * (part.nodes - part.beside), exchange)


def extrapolated(each, whole, counts, node: float, crossing: float, link: Link) -> pd.DataFrame:
    """The share of the speed of one rank that each keeps by the model, columns ranks, weak and strong (in per cent)."""
    rows = []
    for ranks in counts:
        weak = largest_part((*each[:2], each[2] * ranks), ranks)
        strong = largest_part(tuple(whole), ranks)
        ideal = node * np.prod(each), node * np.prod(whole) / ranks
        kept = (100 * best / predicted(p, node, crossing, link) for best, p in zip(ideal, (weak, strong), strict=True))
        rows.append([ranks, *map(float, kept)])
    return pd.DataFrame(rows, columns=["ranks", "weak", "strong"])
