"""A DPD fluid with a law of your own: a conservative force in this file, run for some seconds on one core.

    python examples/dpd_fluid_of_your_own_law.py

Lengths are in cutoff radii, masses in particle masses, energies in kT.
"""

import numpy as np

from repro.dpd import Bulk, Fluid, Simulation, block_average, conservative, exact, pressure, temperature
from repro.parallel import select


@conservative
def plateau(r, a, b):
    """Equal within b, and from there on falling to nothing at the cutoff radius."""
    return a * min(1.0, (1 - r) / (1 - b))


# friction and noise are the paper's, and hold the temperature; `a` is the fluid's repulsion, `b` a number beside it
fluid = Fluid(density=4.0, repulsion=5.0, law=plateau, parameters=(0.4,))


def run(steps: int = 1500, side: float = 5.0) -> tuple[Simulation, dict]:
    """A box of the fluid without walls, and what it is like after it has come to rest."""
    simulation = Simulation(Bulk((side, side, side), fluid).system(seed=1), select("serial"))
    simulation.step(300)
    kt, p = [], []
    for _ in range(steps // 10):
        simulation.step(10, every=10)
        kt.append(temperature(simulation))
        p.append(pressure(simulation))
    momentum = simulation.particles()["velocity"].sum(0)
    return simulation, {"kT": block_average(kt), "pressure": block_average(p), "momentum": np.abs(momentum).max()}


def main() -> None:
    """Prints what was measured beside what is expected."""
    simulation, measured = run()
    print(simulation)
    print(f"momentum     {measured['momentum']:.1e}   expected 0, to rounding")
    print(f"temperature  {measured['kT']}   expected {fluid.temperature}")
    print(f"pressure     {measured['pressure']}   expected {exact.unstructured_pressure(fluid):.4g} at most:")
    print("             rho kT and the integral of the law over neighbours that lie anywhere; the law parts them")


if __name__ == "__main__":
    main()
