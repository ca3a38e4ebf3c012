"""What the ranks around a subdomain are sent in a step, and what they send: particles, and what is found of them later.

First, all particles in the layer of cells beside another rank's block go there, as they are once they have moved: those
that have entered the block stay there, of the others it has copies. That is one message for both. Once a sum was taken
over neighbours, what it gave of these particles, and of ghosts beside the block, follows.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from repro.parallel.launch_sequence import in_turn
from repro.parallel.ranks.around import AROUND
from repro.parallel.ranks.parcels import Parcels, Route
from repro.particles.launch import launch_of

from .crossing import close, make_pack, make_pack_some, make_refresh, make_take_in, make_take_some
from .subdomain import Subdomain

#: the bits of a number as a word of a message
_WORDS = {np.float32: np.uint32, np.float64: np.uint64}


class FluidHere(NamedTuple):
    """The fluid's arrays on a rank: positions, ids, what each of `count` entries is, how many are in use, and copies'
    entries by id.
    """

    r: object
    ids: object
    marks: object
    used: object
    where: object
    count: int


class Followers(NamedTuple):
    """Arrays of `count` ghosts of which other ranks have copies; for each rank, which it is sent and which it sends."""

    arrays: tuple
    count: int
    out: list[np.ndarray]
    arriving: list[np.ndarray]


class Exchange:
    """A message to each rank around and back: records of particles near it, and numbers of ghosts that both have.

    A record has the particle's numbers in some `arrays`, flat with one or more components each. With `moves` the
    particles themselves are sent, and what copies there were is forgotten; otherwise copies are brought up to date.
    """

    def __init__(
        self, subdomain: Subdomain, ranks, device, real, fluid: FluidHere, arrays=(), *, followers=(), moves=False, what
    ):
        self._subdomain, self.device, self._real, self._fluid = subdomain, device, real, fluid
        self._word, self._moves, self._what = _WORDS[real], moves, what
        self._views = self._as_words(arrays)
        self._components = _components(arrays, fluid.count)
        self._width = 1 + sum(self._components) if arrays else 0
        self._followers, rooms = followers, [subdomain.most_near(beside) for beside in subdomain.beside]
        self._rooms = np.array(rooms, np.int32) * (self._width > 0)
        self._fixed = [_fixed_words(followers, k) for k in range(len(rooms))]
        self.parcels = Parcels(self._routes(), self._fixed, self._width, ranks, device, self._word, what)
        #: most records that each rank around was to be sent
        self._counts, self._peaks = (device.zeros(len(rooms), np.int32) for _ in range(2))

    def _as_words(self, arrays) -> tuple:
        return tuple(array.view(self._word) for array in arrays)

    def _routes(self) -> list[Route]:
        words = 1 + np.array(self._fixed) + self._width * self._rooms
        beside = [each[:3] for each in self._subdomain.beside]
        return [Route(*each, *most) for each, most in zip(beside, words.tolist(), strict=True)]

    @property
    def parts(self) -> dict:
        """The launches by name, in their order."""
        before, after = self._ghosts(make_pack_some, "out"), self._ghosts(make_take_some, "arriving")
        if self._width:
            before = [*self._pack(), *before]
            after = [self._unpack(), *after]
        what = self._what
        return {
            f"pack {what}": partial(in_turn, *before),
            f"exchange {what}": self.parcels,
            f"take in {what}": partial(in_turn, *after),
        }

    def overflow(self) -> str:
        """What there was no room for; empty if there was."""
        peaks = self.device.to_host(self._peaks)
        if not (peaks > self._rooms[:, 0]).any():
            return ""
        k = int((peaks - self._rooms[:, 0]).argmax())
        there, room = f"what is near rank {self._subdomain.beside[k].rank}", self._rooms[k, 0]
        return f"{room} particles fill {there}, and there were {peaks[k]}"

    def _begins(self, side: int):
        """Where the records of each parcel begin, on the device."""
        begins = (self.parcels.out_begins, self.parcels.in_begins)[side]
        return begins + self.device.to_device(1 + np.array(self._fixed, np.int32)[:, side])

    def _pack(self) -> list:
        device, subdomain, fluid, parcels = self.device, self._subdomain, self._fluid, self.parcels
        numbers = np.full(len(AROUND), -1, np.int32)
        numbers[[beside.number for beside in subdomain.beside]] = np.arange(len(subdomain.beside))
        rooms, near = device.to_device(self._rooms[:, 0]), (*subdomain.near_low, *subdomain.near_high)
        body = make_pack(self._real, self._components, device.add, self._moves)
        place = fluid.r, fluid.ids, fluid.marks, fluid.count, subdomain.cells.shape, near
        target = device.to_device(numbers), self._counts, rooms, self._begins(0), parcels.out
        pack = launch_of(device, body, fluid.count, *place, *target, *self._views)
        end = self._counts, self._peaks, rooms, parcels.out_begins, parcels.out
        return [pack, launch_of(device, close, len(rooms), *end)]

    def _unpack(self):
        device, fluid, parcels, rooms = self.device, self._fluid, self.parcels, self._rooms[:, 1]
        of_route = np.repeat(np.arange(len(rooms), dtype=np.int32), rooms)
        firsts = (np.cumsum(rooms) - rooms).astype(np.int32)
        source = device.to_device(of_route), device.to_device(firsts), parcels.in_begins, self._begins(1)
        make, taken = make_refresh, (fluid.where, fluid.count)
        if self._moves:
            make, taken = make_take_in, (fluid.ids, fluid.marks, fluid.used, fluid.count)
        return launch_of(device, make(self._components), len(of_route), *taken, *source, parcels.arrived, *self._views)

    def _ghosts(self, make, way: str) -> list:
        """The launches that bring numbers of ghosts to parcels, or from there."""
        parcels = self.parcels
        words, begins = parcels.out, parcels.out_begins
        if way == "arriving":
            words, begins = parcels.arrived, parcels.in_begins
        at, launches = self.device.to_host(begins) + 1, []
        for each in self._followers:
            components, some = _components(each.arrays, each.count), getattr(each, way)
            width = sum(components)
            places = np.concatenate([first + width * np.arange(len(n)) for first, n in zip(at, some, strict=True)])
            at = at + [width * len(n) for n in some]
            if len(places):
                taken = np.concatenate(some).astype(np.int32), places.astype(np.int32)
                arguments = *map(self.device.to_device, taken), each.count, words, *self._as_words(each.arrays)
                launches.append(launch_of(self.device, make(components), len(places), *arguments))
        return launches


def _components(arrays, count: int) -> tuple[int, ...]:
    return tuple(len(array) // count for array in arrays)


def _fixed_words(followers, k: int) -> tuple[int, int]:
    """Words for ghosts in a message to the k-th rank around, and from it."""
    widths = [sum(_components(each.arrays, each.count)) for each in followers]
    out = sum(width * len(each.out[k]) for width, each in zip(widths, followers, strict=True))
    return out, sum(width * len(each.arriving[k]) for width, each in zip(widths, followers, strict=True))
