"""A run's share of the fluid: all of it, or what one of several ranks has, with what is exchanged in a step."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np

from repro.errors import DivergenceError, InputError, require
from repro.parallel.launch_sequence import LaunchSequence
from repro.parallel.ranks.around import several
from repro.parallel.ranks.parcels import Parcels
from repro.parallel.ranks.together import gathered_by_id, together
from repro.particles.cell_permutation import CellPermutation
from repro.particles.launch import launch_of
from repro.particles.position import Units, vectors

from .exchange import Exchange, FluidHere, Followers
from .ghosts import Sites
from .marks import COPY, EMPTY, OWN, make_settle, of_marked
from .strategies.search import Lists
from .subdomain import Subdomain
from .whole import Whole

#: searches that run on several ranks: what keeps particles in the order of cells, and in a cell of ids, has one order
#: of sums however the tank is cut; the others take a cell's particles in the order of their places in memory
ON_RANKS = ("sorted cells",)


def share_of(simulation, ranks):
    """The share that this process has; `ranks` as of Simulation. InputError where that cannot run on several."""
    if not several(ranks):
        return Whole(simulation.system)
    if simulation.strategy not in ON_RANKS:
        can = " or ".join(map(repr, ON_RANKS))
        raise InputError(f"strategy '{simulation.strategy}' is for one rank: {can} runs on {ranks.count}")
    require(
        not simulation.air_acts,
        f"{simulation.system.name}: ghosts in the air are sown for one rank: on {ranks.count} use density 'continuity' "
        "or 'rate', or boundary 'none' or 'clamped'",
    )
    return Share(simulation.system, simulation.real, ranks)


class Share(Whole):
    """One of several ranks has the particles of its block of cells, and copies of those around it."""

    alone = False

    def __init__(self, system, real, ranks):
        super().__init__(system)
        self._real, self._ranks, self._subdomain = real, ranks, Subdomain(system, real, ranks)
        self.part, arriving = self._subdomain.share, sum(self._subdomain.most_near(each)[1] for each in self._beside)
        #: own particles, copies, and before a sort those of the step before as well
        self.room = self._subdomain.most_own + 2 * arriving

    @property
    def _beside(self) -> list:
        return self._subdomain.beside

    def enter(self, device, whole: np.ndarray) -> None:
        """Take those of the particles at positions (count, 3) in whole numbers, by id, that are here."""
        self._ids = np.flatnonzero(self._subdomain.own(whole))
        held, name = len(self._ids), self._system.name
        require(held <= self.room, f"{name}: {held} particles on rank {self._ranks.rank}, which {self.room} fill")
        if self.marks is None:
            self.marks = device.zeros(self.room, np.int8)
            #: entries in use, and whether there were ever too few
            self._used = device.zeros(2, np.int32)
        self.marks[:], self._used[:] = EMPTY, 0
        self.marks[:held], self._used[:1] = OWN, held

    def on_device(self, device, rows: np.ndarray):
        """Rows of numbers of all particles, by id, as a flat array of those that are here, with room for more."""
        here = np.zeros((self.room, *rows.shape[1:]), rows.dtype)
        here[: len(self._ids)] = rows[self._ids]
        return vectors(device, here)

    def sites(self, sites: Sites) -> Sites:
        """Those of some ghosts that are needed here."""
        system = self._system
        near = self._subdomain.around(Units(self._real).of(sites.position + system.margin, system.box))
        return Sites(sites.position[near], sites.kind[near])

    def order(self, device, ids) -> np.ndarray:
        """The entries of the own particles, by id."""
        own = np.flatnonzero(device.to_host(self.marks) == OWN)
        return own[np.argsort(device.to_host(ids)[own])]

    def lists(self, device, search, state, real) -> Lists:
        """The fluid's table of cells: particles are exchanged, and brought into the order of cells with the copies."""
        cells, count, subdomain = self._system.cells, state.count, self._subdomain
        where = device.zeros(self._system.count, np.int32)
        self._fluid = FluidHere(state.r, state.ids, self.marks, self._used, where, count)
        self._particles = self._exchange(device, state.carried, moves=True, what="particles")
        order = _MarkedPermutation(device, cells, state.ids, real, self.marks)
        block = tuple(end for ends in zip(*subdomain.block, strict=True) for end in ends)
        taken = state.r, state.ids, self.marks, self._used, count, cells.shape, block, order.starts, where
        settle = launch_of(device, make_settle(real), count, *taken)
        parts = self._particles.parts | order.update(*state.carried) | {"own and copies": settle}
        return Lists(parts, order.starts, order.order)

    def _exchange(self, device, arrays, **options) -> Exchange:
        return Exchange(self._subdomain, self._ranks, device, self._real, self._fluid, arrays, **options)

    def connect(self, device, state, density: str, ghosts) -> None:
        """Prepare what is exchanged of the fluid and of the ghosts that follow it: of all ranks at once."""
        follow = bool(ghosts) and not self._system.walls.still
        followers = [self._followers(device, each) for each in ghosts if follow and each.count]
        sent = {"rate": (), "continuity": (state.term,), "summation": (state.s, state.term)}[density]
        what = "pressures" if sent else "ghosts"
        #: with equation 3 ghosts have what was found of the fluid, otherwise both are found side by side
        self._fluid_first = density == "summation"
        first = () if self._fluid_first else followers
        self._densities, self._ghosts = {}, {}
        if sent or follow:
            self._densities = self._exchange(device, sent, followers=first, what=what).parts
        if self._fluid_first and follow:
            self._ghosts = self._exchange(device, (), followers=followers, what="ghosts").parts

    def _followers(self, device, ghosts) -> Followers:
        whole = np.ascontiguousarray(device.to_host(ghosts.r).reshape(3, -1).T)
        places = self._subdomain.places(whole)
        near = [self._subdomain.near(places, each) for each in self._beside]
        out, arriving = ([np.flatnonzero(each[k]) for each in near] for k in (0, 1))
        return Followers((ghosts.u, ghosts.term), ghosts.count, out, arriving)

    def arranged(self, density: dict, followers: dict, forces: dict) -> dict:
        """The launches of a step's sums by name, with what is exchanged between them."""
        if self._fluid_first:
            return density | self._densities | followers | self._ghosts | forces
        return followers | density | self._densities | forces

    def stages(self, device, launches) -> list:
        """A step's launches, those between two exchanges recorded in one."""
        found, some = [], []
        for launch in launches:
            if isinstance(launch, Parcels):
                found, some = [*found, LaunchSequence(device, some), launch], []
            else:
                some.append(launch)
        return [*found, LaunchSequence(device, some)]

    def agree(self, check: Callable[[], None]) -> None:
        """Check on all ranks, and raise on all what one of them has found."""
        for each in (check, self._require_room):
            with together(self._ranks, DivergenceError):
                each()
        own = np.count_nonzero(self._particles.device.to_host(self.marks) == OWN)
        self._require_all(int(self._ranks.sum(np.array([own]), "how many particles there are")[0]))

    def _require_room(self) -> None:
        lines = [self._particles.overflow()]
        if self._particles.device.to_host(self._used)[1]:
            lines.append(f"{self.room} particles and copies of others fill it, and there were more")
        for line in filter(None, lines):
            where = f"{self._system.name}: rank {self._ranks.rank}"
            raise DivergenceError(
                f"{where}: {line}: water is not so dense, use a time step below {self._system.dt:g} s"
            )

    def together(self) -> AbstractContextManager:
        """What is done inside, all ranks do; what one of them is refused, all are."""
        return together(self._ranks)

    def most(self, values: np.ndarray) -> np.ndarray:
        """The largest values of all ranks."""
        return self._ranks.gather(values, "the others' largest values").max(0)

    def gathered(self, ids: np.ndarray, values: np.ndarray) -> np.ndarray | None:
        """Values (count, ...) of all ranks' own particles, whose ids these are, by id on rank 0; else None."""
        counts = self._ranks.gather(np.array([len(ids)]), "how many particles the others have")[:, 0]
        self._require_all(int(counts.sum()))
        return gathered_by_id(self._ranks, ids, values, counts.tolist())

    def _require_all(self, count: int) -> None:
        lost, name = self._system.count - count, self._system.name
        if lost:
            raise DivergenceError(
                f"{name}: {lost} particles went further than a cell in a step: use a time step below "
                f"{self._system.dt:g} s"
            )


class _MarkedPermutation(CellPermutation):
    """The order of cells of entries that are not free."""

    def __init__(self, device, cells, ids, real, marks):
        super().__init__(device, cells, ids, real)
        self._marks = marks

    def _each(self, body, *arguments):
        return launch_of(self.device, of_marked(body, COPY), len(self.ids), self._marks, len(self.ids), *arguments)
