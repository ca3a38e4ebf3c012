"""What a strategy gets, what it says of itself, and what it gives the simulation."""

from collections.abc import Callable
from dataclasses import dataclass, field

from repro.errors import require
from repro.parallel.launch_sequence import in_turn
from repro.particles.cells import Cells

from ..fluid import Fluid
from ..pair import Pair, constants, make_pair
from ..state import Noise, State
from ..whole import Whole


@dataclass(frozen=True)
class Setup:
    """The device, the particles and their physics, and the choices that some strategies offer."""

    device: object
    real: type
    state: State
    fluid: Fluid
    cells: Cells
    seed: int
    #: rounds of TEA; 0 takes the paper's linear generators, a state in each thread, and 64 its two runs of 32
    rounds: int
    #: rows of the cell table
    capacity: int
    #: threads a block on a GPU
    block: int
    #: most registers that the compiler may give a thread of the force kernel; None leaves it alone
    registers: int | None
    #: the particles that are here, see `ranks`
    share: Whole

    @property
    def pair(self) -> Pair:
        """The physics of a pair."""
        return make_pair(self.real, self.rounds, self.fluid.law)

    @property
    def numbers(self) -> tuple:
        """What every pair needs to know, see `pair.constants`."""
        return constants(self.fluid, self.cells.box, self.real)

    @property
    def noise_state(self) -> Noise:
        """What names the noise of a step."""
        return Noise(self.seed, self.state.clock, self.state.sequence)


@dataclass(frozen=True)
class Traits:
    """What a strategy needs and offers; each module has its own as TRAITS."""

    #: devices on which it runs
    devices: tuple[str, ...] = ("serial", "threads", "cuda")
    #: devices on which a run repeats bit for bit, in either precision: elsewhere threads add to each other's particles,
    #: or fill a cell's list, in the order in which they come
    repeats: tuple[str, ...] = ("serial",)
    #: whether it keeps a table of all cells, with room for the same number of particles in each
    table: bool = False
    #: whether two threads compute the same pair, and none adds to another's particles
    both_sides: bool = False
    #: whether linear generators serve, which give a number once and in an order
    linear: bool = False
    #: whether several ranks can share the particles: the forces on one of them are summed in one order, wherever the
    #: box is cut
    ranks: bool = False
    #: 32-bit words of shared memory that its force kernel takes for each thread of a block
    shared_words: int = 0

    def require(self, setup: Setup, name: str) -> None:
        """Refuse a setup that the strategy `name` does not run on, in one line."""
        device, tea = setup.device.name, self.linear or setup.rounds
        require(device in self.devices, f"'{name}' runs on {' and '.join(self.devices)}, not on '{device}'")
        require(tea, f"'{name}' meets pairs in any order, and a linear generator has one: choose TEA")


@dataclass(frozen=True)
class Forces:
    """A strategy, bound to its arrays: the launches that find the forces, by name, in their order."""

    parts: dict[str, Callable[[], None]]
    #: raises CapacityError if particles were lost
    check: Callable[[], None] = field(default=lambda: None)

    def run(self) -> None:
        """Launch all parts."""
        in_turn(*self.parts.values())
