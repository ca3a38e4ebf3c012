"""Ghosts in the air as Schechter and Bridson have them, which act: equation 3, in several variants, and a whole run."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd

from repro.errors import DivergenceError
from repro.sph.air import AirSampling, sample
from repro.sph.cases import DamBreak, StillWater
from repro.sph.equations import GAMMA
from repro.sph.observables import energy, front
from repro.sph.simulation import Simulation
from repro.sph.system import System

from .measures import weights

#: Mach number of the fastest flow in soft water, and Schechter and Bridson's epsilon
SOFT_MACH, XSPH = 0.25, 0.05

#: share of the usual time step that these runs take: they compress water by more than a tenth
STEP = 0.5

#: A run fails that is stopped, that gains or loses more than this share of its energy in so short a time, or whose
#: centre of mass falls less than half or more than twice as far as by equation 4
ENERGY, FALL = 0.1, 2.0

#: change of density in % up to which water is weakly compressible
WEAK = 1

#: steps between two samplings in the long run, and looks at a short and at the long run
EVERY, SHORT_LOOKS, LONG_LOOKS = 5, 20, 48

#: columns of `variants` with their units
UNITS = {
    "stiffness": "B (kPa)",
    "every": "sown each (steps)",
    "time": "time (s)",
    "front": "front (widths)",
    "fallen": "fallen (of a free fall)",
    "energy": "energy gained (relative)",
}

#: layers of the flat water whose surface is sampled, and samplings that are compared
_FLAT, _SAMPLINGS = (10, 10, 6), 8


@dataclass(frozen=True)
class Variant:
    """One way to let ghosts in the air act."""

    name: str
    #: whether water is so soft that the fastest flow has the Mach number SOFT_MACH, instead of the paper's B
    soft: bool = False
    xsph: float = XSPH
    sampling: AirSampling | None = AirSampling()  # noqa: RUF009
    ratio: float = 1.3

    @property
    def density(self) -> str:
        """Equation 3 where ghosts in the air are sown, 4 otherwise."""
        return "continuity" if self.sampling is None else "summation"

    def system(self, case: DamBreak) -> System:
        """The column of a case in this water, with a time step that leaves room for compression."""
        found = replace(case, ratio=self.ratio).system()
        fluid = replace(found.fluid, xsph=0.0 if self.sampling is None else self.xsph)
        if self.soft:
            fluid = replace(fluid, stiffness=fluid.density * (found.speed / SOFT_MACH) ** 2 / GAMMA)
        found = replace(found, fluid=fluid)
        return replace(found, time_step=STEP * found.dt)


SOFT = Variant("soft water", soft=True)

#: what is tried, in the order of the table
VARIANTS = (
    Variant("equation 4, air does not act", sampling=None),
    Variant("paper's B, no XSPH", xsph=0.0),
    Variant("paper's B"),
    Variant("paper's B, ten times the XSPH", xsph=10 * XSPH),
    Variant("paper's B, samples farther apart", sampling=AirSampling(radius=0.95)),
    Variant("paper's B, 40 rounds of relaxation", sampling=AirSampling(rounds=40)),
    Variant("paper's B, samples carried along", sampling=AirSampling(carried=True)),
    Variant("paper's B, wider kernel", ratio=2.0),
    Variant("soft water, no XSPH", soft=True, xsph=0.0),
    SOFT,
    Variant("soft water, sown each 5 steps", soft=True, sampling=AirSampling(every=EVERY)),
    Variant("soft water, sown each 20 steps", soft=True, sampling=AirSampling(every=20)),
    Variant("soft water, samples carried along", soft=True, sampling=AirSampling(carried=True)),
    Variant("soft water, equation 4", soft=True, sampling=None),
)


def follow(variant: Variant, case: DamBreak, device, seconds: float, looks: int) -> pd.DataFrame:
    """The column of a case until `seconds`, or the last look before the run is stopped.

    Columns: time (s), front (over the column's width), fallen (the centre of mass, over a free fall), energy (growth of
    kinetic and potential energy over the potential energy at the start: what samplings compress is not counted),
    compression (largest |rho / rho0 - 1|), stopped (whether it was).
    """
    system, rows, stopped = variant.system(case), [], False
    simulation = Simulation(system, device, density=variant.density, sampling=variant.sampling or AirSampling())
    try:
        simulation.start()
        first = energy(simulation.particles(), system).potential
        for until in np.linspace(0, seconds, looks + 1)[1:]:
            simulation.step(max(1, round(until / system.dt) - simulation.steps))
            rows.append(_look(simulation, system, case.width, first))
    except DivergenceError:
        stopped = True
    columns = ["time", "front", "fallen", "energy", "compression"]
    return pd.DataFrame(rows, columns=columns).assign(stopped=stopped)


def _look(simulation: Simulation, system: System, width: float, first: float) -> tuple:
    found, time = simulation.particles(), simulation.steps * system.dt
    way = float(system.position[:, 2].mean() - found["position"][:, 2].mean())
    held = energy(found, system)
    gained = (held.kinetic + held.potential) / first - 1
    fall = system.fluid.gravity * time**2 / 2
    return time, front(found, system) / width, way / fall, gained, float(np.abs(found["condensation"]).max())


def variants(case: DamBreak, device, seconds: float) -> pd.DataFrame:
    """The end of each of VARIANTS, or where it was stopped: a row each, as of `follow`, what varies, and `fails`."""
    rows = []
    for variant in VARIANTS:
        table = follow(variant, case, device, seconds, SHORT_LOOKS)
        last = table.iloc[-1].to_dict() if len(table) else {"time": 0.0, "stopped": True}
        sampling, fluid = variant.sampling, variant.system(case).fluid
        row = {"variant": variant.name, "stiffness": fluid.stiffness / 1000, "xsph": fluid.xsph}
        row |= {name: getattr(sampling, name, np.nan) for name in ("radius", "every")}
        rows.append(row | last)
    return with_failures(pd.DataFrame(rows))


def with_failures(table: pd.DataFrame) -> pd.DataFrame:
    """A table of `variants` with the column `fails`, against its first row."""
    share = table["fallen"] / table["fallen"].iloc[0]
    right = (table["energy"].abs() <= ENERGY) & share.between(1 / FALL, FALL)
    return table.assign(fails=table["stopped"].astype(bool) | ~right)


def paper_stiffness_fails(table: pd.DataFrame) -> dict:
    """How many variants with the paper's B and acting ghosts in the air fail, of how many; holds if most of them do."""
    rows = table[table["variant"].str.startswith("paper's B")]
    failed = int(rows["fails"].sum())
    return {"failed": failed, "count": len(rows), "holds": 2 * failed > len(rows)}


def soft_falls(table: pd.DataFrame) -> dict:
    """How far water falls with SOFT and by equation 4, in % of a free fall; holds if SOFT does not fail."""
    rows = table.set_index("variant")
    ours, others = (100 * float(rows.loc[name, "fallen"]) for name in (SOFT.name, table["variant"].iloc[0]))
    return {"ours": ours, "others": others, "holds": not rows.loc[SOFT.name, "fails"]}


def through(columns, case: DamBreak, device, seconds: float) -> dict[str, pd.DataFrame]:
    """Columns of particles that collapse in soft water by equation 3 with acting air, the last one by 4, too."""
    variant = replace(SOFT, sampling=AirSampling(every=EVERY))
    found = {}
    for made in (replace(case, column=tuple(column)) for column in columns):
        name = f"{made.system().count:,} particles"
        found[f"equation 3, {name}"] = follow(variant, made, device, seconds, LONG_LOOKS)
    found[f"equation 4, {name}"] = follow(replace(SOFT, sampling=None), made, device, seconds, LONG_LOOKS)
    return found


def lasts(runs: dict[str, pd.DataFrame], seconds: float) -> dict:
    """How many of the runs by equation 3 went on for so many seconds; holds if there are several resolutions."""
    tables = _by_equation_3(runs)
    # a run that was stopped before its first look has no rows
    whole = [not t["stopped"].any() and max(t["time"], default=0.0) > 0.99 * seconds for t in tables]
    return {"count": len(whole), "whole": sum(whole), "time": seconds, "holds": len(whole) > 1}


def compressed(runs: dict[str, pd.DataFrame]) -> dict:
    """The largest compression in % of the runs by equation 3; holds if it is more than WEAK."""
    most = 100 * max(max(table["compression"], default=0.0) for table in _by_equation_3(runs))
    return {"most": most, "holds": most > WEAK}


def _by_equation_3(runs: dict[str, pd.DataFrame]) -> list[pd.DataFrame]:
    return [table for name, table in runs.items() if name.startswith("equation 3")]


def uncertainty(radii, rounds) -> pd.DataFrame:
    """Equation 3 at the surface of flat water on its lattice, over several samplings of the air.

    One row a radius in spacings and number of rounds of relaxation: `mean` and `scatter` of (rho - rho0) / rho0, of
    particles off the tank's walls.
    """
    system = StillWater(_FLAT, air=8).system()
    spacing = system.resolution.spacing
    off = np.abs(system.position[:, :2] - np.array(system.tank[:2]) / 2).max(1)
    chosen = (off < 2.1 * spacing) & (system.position[:, 2] > (_FLAT[2] - 1) * spacing)
    rows = []
    for radius, number in product(radii, rounds):
        sampling = AirSampling(radius=radius, rounds=number)
        found = [_surface(system, chosen, sample(system.position, system, sampling, k)) for k in range(_SAMPLINGS)]
        rows.append((radius, number, np.mean(found), np.std(found)))
    return pd.DataFrame(rows, columns=["radius", "rounds", "mean", "scatter"])


def _surface(system: System, chosen: np.ndarray, air: np.ndarray) -> np.ndarray:
    return weights(system.position[chosen], np.concatenate([system.position, air]), system) - 1


def needed(case: DamBreak, table: pd.DataFrame) -> dict:
    """The least scatter of `uncertainty` in %, the density in % that the column's weight makes, and their ratio."""
    fluid, scatter = case.fluid, 100 * float(table["scatter"].min())
    weight = 100 * fluid.gravity * case.system().depth / fluid.sound_speed**2
    return {"scatter": scatter, "weight": weight, "times": scatter / weight, "holds": scatter > weight}
