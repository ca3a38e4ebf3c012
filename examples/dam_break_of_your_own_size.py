"""A column of water of your own size breaks; its front against theory, and files that ParaView opens.

    python examples/dam_break_of_your_own_size.py --width 0.5 --across 8 --folder water

The water stands at the wall x = 0, twice as high as wide, and nothing holds it from the start.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from repro.parallel import select
from repro.sph import DamBreak, Fluid, Simulation, vtk
from repro.sph.equations import GAMMA
from repro.sph.exact import ritter_front
from repro.sph.observables import front, reduced_time
from repro.sph.surface import reconstruct, smoothed

#: looks at the water, and the reduced time t* = t sqrt(2 g / width) of the last one
LOOKS, LAST = 8, 2.5


def water(width: float, across: int) -> DamBreak:
    """A column `width` m wide of `across` particles over its width, in a tank four times as long."""
    height, density, gravity = 2 * width, 1000.0, 9.81
    # sound ten times as fast as what falls from the top: the density changes by a percent, and the time step is long
    sound = 10 * np.sqrt(2 * gravity * height)
    fluid = Fluid(density=density, gravity=gravity, stiffness=density * sound**2 / GAMMA)
    return DamBreak(column=(across, 3, 2 * across), width=width, length=4.0, height=3.0, fluid=fluid)


def run(case: DamBreak, folder: Path, device: str = "serial") -> np.ndarray:
    """Let the column break; returns a row a look: time in s, and the front of the water and of theory in m from x = 0.

    Writes particles_NUMBER.vtp at each look, and the water's surface at the end.
    """
    system = case.system()
    simulation, rows = Simulation(system, select(device)), []
    duration = LAST / reduced_time(1.0, case.width, case.fluid.gravity)
    for number, until in enumerate(np.linspace(0, duration, LOOKS + 1)[1:], start=1):
        simulation.step(round(until / system.dt) - simulation.steps)
        particles, time = simulation.particles(), simulation.steps * system.dt
        # no front of shallow water without friction is faster
        fastest = case.width + ritter_front(time, system.depth, case.fluid.gravity)
        rows.append((time, front(particles, system), fastest))
        vtk.write_particles(folder / f"particles_{number}.vtp", particles, system)
    vtk.write_surface(folder / "surface.vtp", smoothed(reconstruct(particles["position"], system), system, 10))
    return np.array(rows)


def main() -> None:
    """Read the options, run, and print the front."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=float, default=0.5, help="of the column in m (default: 0.5)")
    parser.add_argument("--across", type=int, default=8, help="particles over the width (default: 8)")
    parser.add_argument("--folder", type=Path, help="for the VTK files (default: a temporary one)")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="dam_break_"))
    folder.mkdir(parents=True, exist_ok=True)
    case = water(options.width, options.across)
    print("time (s)  t*    front (m)  Z     shallow water, no friction (m)")
    for time, ours, theory in run(case, folder):
        reduced = reduced_time(time, case.width, case.fluid.gravity)
        print(f"{time:7.3f}  {reduced:4.2f}  {ours:8.3f}  {ours / case.width:4.2f}  {theory:8.3f}")
    print("Martin and Moyce (1952) measured Z = 2.29 at t* = 2.00 and Z = 2.99 at t* = 2.55.")
    print(f"ParaView opens the files in {folder}")


if __name__ == "__main__":
    main()
