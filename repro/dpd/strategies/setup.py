"""What a strategy gets, and what it gives the simulation."""

from collections.abc import Callable
from dataclasses import dataclass, field

from numpy import float64, uint32

from repro.parallel import Kernel, inline

from ..cells import Cells
from ..fluid import Fluid
from ..pair import constants, force_on_first, separation
from ..random import ROUNDS, pair_noise, thread_noise
from ..state import State


@dataclass(frozen=True)
class Setup:
    """The particles, the fluid and the device, and the choices that some strategies offer."""

    state: State
    fluid: Fluid
    cells: Cells
    device: object
    real: type
    seed: int
    #: rounds of TEA; 0 takes the paper's linear generators, a state in each thread
    rounds: int = ROUNDS
    #: rows of the cell table
    capacity: int = 32
    #: threads a block on a GPU
    block: int = 128
    #: most registers that the compiler may give a thread of the force kernel; None leaves it alone
    registers: int | None = None

    @property
    def numbers(self) -> tuple:
        """What every pair needs to know, see `pair.constants`."""
        return constants(self.fluid, self.cells.box, self.real)

    @property
    def noise(self):
        """The noise of a pair, see `random.pair_noise`."""
        return pair_noise(self.real, self.rounds) if self.rounds else thread_noise(self.real)


@dataclass(frozen=True)
class Forces:
    """A strategy, bound to its arrays: the launches that find the forces, by name, in their order."""

    parts: dict[str, Callable[[], None]]
    #: raises CapacityError if particles were lost
    check: Callable[[], None] = field(default=lambda: None)

    def run(self) -> None:
        """Launch all parts."""
        for launch in self.parts.values():
            launch()


def interacting(real, noise):
    """Returns interact(dx, dy, dz, square, ...): the force of j on a particle, its r . F, and the two random words.

    The particle is given by its id and velocity, and by the vector (dx, dy, dz) from j to it, `square` its length
    squared.
    """
    force = force_on_first(real)

    @inline
    def interact(dx, dy, dz, square, number, ui, vi, wi, j, u, ids, count, seed, step, p, first, second):
        deviate, first, second = noise(number, ids[uint32(j)], seed, step, first, second)
        du, dv, dw = ui - u[uint32(j)], vi - u[uint32(count + j)], wi - u[uint32(2 * count + j)]
        fx, fy, fz, virial = force(dx, dy, dz, square, du, dv, dw, deviate, p)
        return fx, fy, fz, virial, first, second

    return interact


def meeting(real, noise):
    """Returns meet(i, j, r, u, ids, ...): the same for particle i, and zero where there is no force.

    That is beyond the cutoff radius and between two frozen particles.
    """
    apart, interact, one, zero = separation(real), interacting(real, noise), real(1), real(0)

    @inline
    def meet(i, j, r, u, ids, count, fluid, seed, step, p, first, second):
        dx, dy, dz, square = apart(r[i], r[count + i], r[2 * count + i], j, r, count, p)
        if square >= one or (ids[i] >= fluid and ids[j] >= fluid):
            return zero, zero, zero, zero, first, second
        ui, vi, wi = u[i], u[count + i], u[2 * count + i]
        return interact(dx, dy, dz, square, ids[i], ui, vi, wi, j, u, ids, count, seed, step, p, first, second)

    return meet


def adding(real, noise, add):
    """Returns both(i, j, f, virial, ...): adds the force of the pair to both particles, and r . F to the first."""
    meet = meeting(real, noise)

    @inline
    def both(i, j, f, virial, r, u, ids, count, fluid, seed, step, p, first, second):
        fx, fy, fz, share, first, second = meet(i, j, r, u, ids, count, fluid, seed, step, p, first, second)
        if share != 0:
            add(f, i, fx)
            add(f, count + i, fy)
            add(f, 2 * count + i, fz)
            add(f, j, -fx)
            add(f, count + j, -fy)
            add(f, 2 * count + j, -fz)
            add(virial, i, share)
        return first, second

    return both


@inline
def clear_forces(x, n, f, virial, count):
    """A kernel's body: no force yet."""
    for i in range(x, x + n):
        virial[i] = 0
        for k in range(3):
            f[i + k * count] = 0


@inline
def _round_off(x, n, sums, virials, f, virial, count):
    for i in range(x, x + n):
        virial[i] = virials[i]
        for k in range(3):
            f[i + k * count] = sums[i + k * count]


def double_sums(setup: Setup):
    """Arrays for sums of forces and of virials, the launch that clears them and the one that rounds them off.

    Summed in double precision, numbers in single precision leave no trace of their order, so that strategies and
    devices follow one trajectory, bit for bit.
    """
    state, device, count = setup.state, setup.device, setup.state.count
    arrays = device.zeros(3 * count, float64), device.zeros(count, float64)
    clear = device.compile(Kernel(clear_forces))((count,), *arrays, count)
    return arrays, clear, device.compile(Kernel(_round_off))((count,), *arrays, state.f, state.virial, count)
