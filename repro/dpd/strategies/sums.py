"""Forces summed over pairs: clearing them, and sums in double precision that leave no trace of their order."""

from numpy import float64

from repro.parallel import Kernel, inline

from ..state import Sums
from .setup import Setup


@inline
def clear_forces(x, n, sums, count):
    """A kernel's body: no force yet."""
    for i in range(x, x + n):
        sums.virial[i] = 0
        for k in range(3):
            sums.f[i + k * count] = 0


@inline
def _round_off(x, n, sums, rounded, count):
    for i in range(x, x + n):
        rounded.virial[i] = sums.virial[i]
        for k in range(3):
            rounded.f[i + k * count] = sums.f[i + k * count]


def double_sums(setup: Setup):
    """Arrays for sums of forces and of virials, the launch that clears them and the one that rounds them off.

    Summed in double precision, numbers in single precision leave no trace of their order, so that strategies and
    devices follow one trajectory, bit for bit.
    """
    state, device, count = setup.state, setup.device, setup.state.count
    sums = Sums(device.zeros(3 * count, float64), device.zeros(count, float64))
    clear = device.compile(Kernel(clear_forces))((count,), sums, count)
    return sums, clear, device.compile(Kernel(_round_off))((count,), sums, state.sums, count)
