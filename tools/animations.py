"""Makes the moving pictures of the site that no notebook makes: docs/_static/*.gif, a few minutes on two cores.

.venv/bin/python tools/animations.py
"""

from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter

from repro.dpd.cases import Bulk
from repro.dpd.simulation import Simulation as Particles
from repro.lbm.cases import Cavity
from repro.lbm.simulation import Simulation as Lattice
from repro.papers.dpd.random_numbers import density_waves
from repro.papers.electrons.plasma import loop
from repro.papers.style import BLUE, ORANGE, use_style
from repro.parallel import select
from repro.pic.air.collision_tables import Collisions
from repro.pic.constants import LIGHT, REST_ENERGY
from repro.pic.mesh import Mesh
from repro.pic.simulation import Simulation as Electrons
from repro.pic.system import Electrons as Beginning
from repro.pic.system import System
from repro.study.keep.record import PLAYED

FOLDER = Path(__file__).resolve().parent.parent / "docs/_static"
FRAMES, PER_SECOND = 40, 10


def save(name: str, figure, frames: Iterator, draw) -> None:
    """Draw each frame into the figure, and keep all as a GIF."""
    film = FuncAnimation(figure, draw, frames=frames, save_count=FRAMES, init_func=lambda: [])
    FOLDER.mkdir(exist_ok=True)
    film.save(FOLDER / f"{name}.gif", writer=PillowWriter(fps=PER_SECOND), dpi=80)
    plt.close(figure)
    rest(FOLDER / f"{name}.gif")
    print(f"{name}.gif: {(FOLDER / f'{name}.gif').stat().st_size / 1e6:.2f} MB", flush=True)


def rest(file: Path) -> None:
    """Let a film stop after it has begun again PLAYED times: the writer lets it run for ever."""
    content, mark = file.read_bytes(), b"NETSCAPE2.0\x03\x01"
    place = content.index(mark) + len(mark)
    file.write_bytes(content[:place] + PLAYED.to_bytes(2, "little") + content[place + 2 :])


def cavity(device, reynolds: float = 400, nodes: int = 128) -> None:
    """The flow in a lid-driven cavity from rest: its speed, and its stream lines."""
    case = Cavity(reynolds=reynolds, nodes=nodes)
    simulation = Lattice(case.problem, device)
    figure, axes = plt.subplots(figsize=(4.6, 4.8))
    # the lid passes its own length 40 times
    every = round(40 * nodes / case.lid_speed / FRAMES)

    def frames():
        for _ in range(FRAMES):
            simulation.step(every)
            yield simulation.fields()[1][:2, 0] / case.lid_speed

    def draw(velocity):
        axes.clear()
        x = (np.arange(nodes) + 0.5) / nodes
        axes.imshow(np.hypot(*velocity), origin="lower", extent=(0, 1, 0, 1), cmap="cividis", vmin=0, vmax=0.6)
        axes.streamplot(x, x, *velocity, color="white", linewidth=0.6, arrowsize=0.6, density=1.1)
        lengths = simulation.steps * case.lid_speed / nodes
        axes.set(title=f"Re = {reynolds:g}; the lid has moved by {lengths:.0f} L", xlabel="x / L", ylabel="y / L")
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.grid(visible=False)

    save("cavity", figure, frames(), draw)


def streams(device, cells: int = 64, each: int = 200) -> None:
    """Two streams of electrons through each other: their wave grows until it rolls them up."""
    system = loop.streams(cells, each)
    simulation, unit = Electrons(system, device, precision="double"), loop.rate(system)
    figure, axes = plt.subplots(figsize=(5.6, 4.2))
    length, largest = system.mesh.length[0], 4 * float(np.abs(system.electrons.momentum[:, 0]).max())

    def frames():
        for number in range(FRAMES):
            while simulation.time * unit < 16 * (number + 1) / FRAMES:
                simulation.step(1)
            yield simulation.particles()

    def draw(particles):
        axes.clear()
        place, momentum = particles["position"][:, 0] % length / length, particles["momentum"][:, 0] / largest * 4
        axes.plot(place, momentum, ",", color=BLUE, alpha=0.6)
        axes.set(xlim=(0, 1), ylim=(-4, 4), xlabel="place / length of the box", ylabel="momentum / that of a stream")
        axes.set_title(f"time times growth rate: {simulation.time * unit:.1f}")

    save("streams", figure, frames(), draw)


def waves(device, side: int = 8, settle: int = 300, every: int = 4) -> None:
    """A fluid's density with numbers of a cipher, and with linear generators in each thread, which drive a wave."""
    ways = {density_waves.TEA: "TEA", density_waves.BY_CELL: "linear generators, a thread a cell"}
    system = Bulk((side, side, side)).system(1)
    runs = {}
    for way in ways:
        strategy, rounds = density_waves.WAYS[way]
        runs[way] = Particles(system, device, strategy=strategy, rounds=rounds, capacity=64)
        runs[way].step(settle)
    figure, panels = plt.subplots(1, len(ways), figsize=(7.2, 3.6), sharey=True)

    def frames():
        for _ in range(FRAMES):
            for simulation in runs.values():
                simulation.step(every)
            yield {way: simulation.particles()["position"] for way, simulation in runs.items()}

    def draw(positions):
        for axes, (way, position) in zip(panels, positions.items(), strict=True):
            axes.clear()
            edges = np.linspace(0, side, side + 1)
            number, _, _ = np.histogram2d(position[:, 2], position[:, 1], (edges, edges))
            shown = {"cmap": "RdBu", "vmin": 0.7, "vmax": 1.3, "interpolation": "bicubic"}
            axes.imshow(number / number.mean(), origin="lower", extent=(0, side, 0, side), **shown)
            axes.set(title=ways[way], xlabel="y ($r_c$)")
            axes.grid(visible=False)
        panels[0].set_ylabel("z ($r_c$)")

    save("waves", figure, frames(), draw)


def growth_length(field: float) -> float:
    """In which runaway electrons in air grow e-fold in a field in V/m, in m: Dwyer (2003), GRL 30, 2055."""
    return 7.3e6 / (field - 2.76e5)


def avalanche(device, field: float = 2e6, energy: float = 1e6, first: int = 20, nanoseconds: float = 80) -> None:
    """Electrons in air and a strong field: some of those that they free run away, too, and free others."""
    momentum = np.sqrt((energy / REST_ENERGY + 1) ** 2 - 1)
    electrons = Beginning(
        np.full((first, 3), [2.0, 6.0, 6.0]), np.full((first, 3), [momentum, 0.0, 0.0]), np.ones(first)
    )
    system = System(
        Mesh((32, 12, 12), (1.0,) * 3, ("absorbing", "periodic", "periodic"), layers=1),
        5e-12,
        electrons,
        electric=(-field, 0.0, 0.0),
        self_field=False,
        air=Collisions(cut=1e4, stop=1e4),
        capacity=200_000,
        name="avalanche",
    )
    simulation = Electrons(system, device)
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(6.4, 5.2), height_ratios=(3, 2))
    times, counts = [], []

    def frames():
        for _ in range(FRAMES):
            simulation.step(round(nanoseconds * 1e-9 / FRAMES / system.dt))
            yield simulation.particles()

    def draw(particles):
        place, kinetic = particles["position"] - [2.0, 6.0, 6.0], np.sqrt(1 + (particles["momentum"] ** 2).sum(1)) - 1
        times.append(1e9 * simulation.time)
        counts.append((kinetic * REST_ENERGY > energy).sum())
        for axes in (upper, lower):
            axes.clear()
        upper.scatter(place[:, 0], place[:, 1], s=2, c=np.log10(kinetic * REST_ENERGY), cmap="cividis", vmin=4, vmax=7)
        upper.set(xlim=(-1, 26), ylim=(-5, 5), xlabel="along the force (m)", ylabel="across (m)")
        upper.set_title(f"{len(kinetic)} electrons after {times[-1]:.0f} ns; the brighter, the faster")
        lower.semilogy(times, counts, color=BLUE, marker="none", label=f"above {energy / 1e6:g} MeV")
        told = first * np.exp(1e-9 * np.array([0, nanoseconds]) * LIGHT * 0.89 / growth_length(field))
        lower.semilogy([0, nanoseconds], told, "--", color=ORANGE, marker="none", label="e-fold growth after Dwyer")
        lower.set(xlim=(0, nanoseconds), ylim=(1, 2 * told[1]), xlabel="time (ns)", ylabel="electrons")
        lower.legend(loc="upper left")

    save("avalanche", figure, frames(), draw)


def main() -> None:
    """Make all."""
    use_style()
    device = select("threads")
    cavity(device)
    waves(device)
    streams(device)
    avalanche(device)


if __name__ == "__main__":
    main()
