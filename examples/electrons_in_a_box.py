"""Electrons in a box: orbits in a magnetic field of your own, and the energy that a source's electrons leave in air.

python examples/electrons_in_a_box.py --energy 2e5 --steps 60
"""

import argparse

import numpy as np

from repro.parallel import select
from repro.pic import Collisions, Electrons, Mesh, Simulation, Source, System, courant_limit, kinetic_energy
from repro.pic.exact import gyration_radius, momentum_of


def mirror(mesh: Mesh, centre: float, rise: float) -> np.ndarray:
    """A field along z in T on the nodes, (component, z, y, x): by a share `rise` stronger in the middle of x."""
    x = np.linspace(0, 2 * np.pi, mesh.shape[0], endpoint=False)
    field = np.zeros((3, 1, 1, mesh.shape[0]))
    field[2] = centre * (1 + rise * (1 - np.cos(x)) / 2)
    return field


def orbit(energy: float, field: float, rise: float = 0.0, device: str = "serial") -> tuple[float, float]:
    """Follow an electron of `energy` eV for a turn across the field; its radius and theory's, in m.

    With a `rise` the field is not uniform, and the orbit no circle.
    """
    momentum = float(momentum_of(energy))
    expected = float(gyration_radius(momentum, field))
    mesh = Mesh((32, 32, 4), (expected / 8,) * 3)
    start = Electrons([np.array(mesh.length) / 2], [[momentum, 0.0, 0.0]], [1.0])
    # its own field is left out: an orbit in given fields
    system = System(mesh, 0.5 * courant_limit(mesh), start, self_field=False, name="orbit")
    simulation, places = Simulation(system, select(device), precision="double"), []
    simulation.fields.set(magnetic=mirror(mesh, field, rise))
    speed = momentum / np.sqrt(1 + momentum**2) * 299792458.0
    for _ in range(round(2 * np.pi * expected / speed / system.dt)):
        simulation.step(1)
        places.append(simulation.particles()["position"][0])
    return float(np.ptp(np.array(places)[:, 1]) / 2), expected


def cloud(energy: float, steps: int, device: str = "serial") -> dict[str, float]:
    """Let a source add electrons in air for so many steps; energies in J by where they are, and numbers of events."""
    mesh = Mesh((8, 8, 8), (1e-2,) * 3)
    source = Source(energy, weight=1e3, start=200, per_step=5)
    system = System(mesh, 0.5 * courant_limit(mesh), source=source, self_field=False, air=Collisions(cut=5e3, stop=5e3))
    simulation = Simulation(system, select(device), precision="double")
    simulation.step(steps)
    particles = simulation.particles()
    given = energy * 1.602176634e-19 * source.weight * (source.start + steps * source.per_step)
    flying = kinetic_energy(particles["momentum"], particles["weight"])
    return {"given": given, "flying": flying, "particles": len(particles["ids"])} | simulation.tallies()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--energy", type=float, default=2e5, help="of an electron, in eV")
    parser.add_argument("--steps", type=int, default=60, help="of the source in air")
    given = parser.parse_args()
    radius, expected = orbit(given.energy, 0.05)
    print(f"radius of the orbit: {1e3 * radius:.3f} mm, theory {1e3 * expected:.3f} mm")
    for name, value in cloud(given.energy, given.steps).items():
        print(f"{name:>16}: {value:.4g}{' J' if isinstance(value, float) else ''}")


if __name__ == "__main__":
    main()
