"""An electron in crossed fields: how it drifts, and how straight it goes where no force acts."""

from math import ceil, pi, sqrt

import numpy as np
import pandas as pd

from repro.declared import Above, Number
from repro.errors import require, require_whole
from repro.pic.constants import CHARGE, LIGHT, MASS, SMALLEST
from repro.pic.mesh import Mesh
from repro.pic.simulation import Simulation
from repro.pic.system import Electrons, System

from .pushers import PUSHERS, propagated

#: the way of light in a step, in cells
_COURANT = 0.5

#: cells along an axis of a mesh
_LONGEST = 65535

#: relative error of a drift, and angle in radians, that is rounding
ROUNDING = 1e-9

#: B~ of the drifting electrons: radians that one at rest turns by in a step
_TURN = 0.2


def drifting(share: float, momentum: float, steps: int) -> System:
    """An electron that begins along the drift, E across B with E = `share` c B, in a box as long as its way."""
    Above(0, "c, at which the electric force would win", below=1).check("drift over c", share)
    require_whole("steps of the drift", steps, 1, 10**6)
    Number(unit="m c").check("momentum of the drift", momentum)
    dt = 1e-12
    field = _TURN * MASS / (CHARGE * dt)
    spacing = LIGHT * dt / _COURANT
    # seen from the drift the momentum is at most 2 gamma as large, and 2 gamma larger again seen from here
    largest = 4 / (1 - share**2) * sqrt(1 + momentum**2)
    wide = ceil(largest / _TURN * _COURANT) + 2
    long = ceil(share * steps * _COURANT) + 4 * wide
    what = f"drift with {share:g} c and a momentum of {momentum:g} m c for {steps} steps"
    enough = "take fewer steps, a smaller share or a smaller momentum"
    require(long <= _LONGEST, f"{what}: its way and its orbit need {long} cells, at most {_LONGEST}: {enough}")
    mesh = Mesh((long, 4, 1), (spacing,) * 3)
    # E x B along x: E along y and B along z
    electron = Electrons([[2 * wide * spacing, 2 * spacing, 0.5 * spacing]], [[momentum, 0.0, 0.0]], [1.0])
    fields = {"magnetic": (0.0, 0.0, field), "electric": (0.0, share * LIGHT * field, 0.0)}
    return System(mesh, dt, electron, **fields, self_field=False, name=f"drift with {share:g} c")


def drift(share: float, momentum: float, steps: int, device, *, looks: int = 500) -> pd.DataFrame:
    """Follow a drifting electron; one row a look.

    Columns: step, x and centre (of the orbit, along the drift, both less their beginning, in c times a step), theory.
    """
    system, rows = drifting(share, momentum, steps), []
    simulation = Simulation(system, device, precision="double")
    simulation.start()
    length = LIGHT * system.dt
    for step in np.unique(np.linspace(0, steps, looks + 1).astype(int)):
        simulation.step(int(step) - simulation.steps)
        found = simulation.particles()
        x, across = found["position"][0, 0] / length, found["momentum"][0, 1]
        # v = dx / dt and du_y / dt = v_x B~ - E~: along x an electron is u_y / B~ away from the centre
        rows.append((int(step), x, x - across / _TURN, share * step))
    table = pd.DataFrame(rows, columns=["step", "x", "centre", "theory"])
    table[["x", "centre"]] -= table[["x", "centre"]].iloc[0]
    return table


def drift_table(runs: dict[tuple[float, float], pd.DataFrame]) -> pd.DataFrame:
    """The drift over theory's, from the centres of its orbit, of each `drift` by share and momentum, and others'.

    Those are followed without a mesh over five times as many steps, from half a step early.
    """
    rows = []
    for (share, momentum), table in runs.items():
        last = table.iloc[-1]
        row = {"E / (c B)": share, "momentum / (m c)": momentum, "solver": last["centre"] / last["theory"] - 1}
        electric, magnetic = (0.0, share * _TURN, 0.0), (0.0, 0.0, _TURN)
        start = tuple(float(value) for value in propagated((momentum, 0, 0), electric, magnetic, -0.5)[0])
        for name in ("Boris", "Vay", "Higuera and Cary"):
            *_, speed = _pushed(PUSHERS[name], start, electric, magnetic, 5 * int(last["step"])).T
            row[name] = _mean(speed) / share - 1
        rows.append(row)
    return pd.DataFrame(rows)


def _pushed(push, u, electric, magnetic, steps: int) -> np.ndarray:
    """The momentum after each of so many steps, and the velocity along x in c: (steps, 4)."""
    rows = []
    for _ in range(steps):
        u, way = push(u, electric, magnetic)
        rows.append((*u, way[0]))
    return np.array(rows)


def _mean(values) -> float:
    """Their mean over many turns, weighted smoothly, so that a part of a turn does not count."""
    return float(np.average(values, weights=np.sin(np.pi * (np.arange(len(values)) + 0.5) / len(values)) ** 8))


def force_free(turns, gamma: float, rounds: float) -> pd.DataFrame:
    """An electron that the two forces should leave alone, E = -v x B, by each step, for `rounds` swings.

    `turns` are the angles in radians by which the magnetic field alone would turn it in a step; what deviates swings
    gamma times slower, as seen from its own frame. The angle is the largest between the momentum and that at the start,
    energy and drift are relative errors of gamma and of the mean velocity.
    """
    Above(1).check("gamma", gamma)
    Number(SMALLEST).check("rounds", rounds)
    start, rows = (sqrt(gamma**2 - 1), 0.0, 0.0), []
    for turn in turns:
        Number(1e-4, pi, "radians").check("turn without a force", turn)
        magnetic = (0.0, 0.0, turn * gamma)
        electric = (0.0, start[0] * turn, 0.0)
        for name, push in PUSHERS.items():
            ahead, side, _, speed = _pushed(push, start, electric, magnetic, ceil(rounds * 2 * pi * gamma / turn)).T
            energy = np.abs(np.sqrt(1 + ahead**2 + side**2) / gamma - 1).max()
            angle = np.abs(np.arctan2(side, ahead)).max()
            rows.append((name, turn, angle, energy, _mean(speed) / (start[0] / gamma) - 1))
    return pd.DataFrame(rows, columns=["pusher", "turn", "angle", "energy", "drift"])


def order(table: pd.DataFrame, name: str) -> float:
    """The order in the step of a pusher's angle, from its two smallest steps; NaN where it is rounding."""
    rows = table[table["pusher"] == name].sort_values("turn").head(2)
    if rows["angle"].min() < ROUNDING:
        return float("nan")
    return float(np.diff(np.log(rows["angle"]))[0] / np.diff(np.log(rows["turn"]))[0])


def orders(table: pd.DataFrame) -> dict:
    """The orders of the errors of Boris' step and of ours, of `force_free`; holds if both are second."""
    found = {"boris": order(table, "Boris"), "ours": order(table, "splitting")}
    return found | {"holds": all(abs(value - 2) < 0.2 for value in found.values())}


def largest_angle(name: str, turn, gamma: float):
    """What the angle is for small steps of Boris or the splitting.

    With theta the turn, a half kick makes gamma too large by its share beta^2 theta^2 / 8, so that a step deflects by
    beta^2 theta^3 / 8 with Boris' rotation, and by 2 / 3 theta^3 / 8 less with the exact one. The deflections add up
    over the part theta / gamma of a radian by which the swing goes on in a step.
    """
    beta_squared = 1 - gamma**-2
    share = {"Boris": beta_squared, "splitting": beta_squared - 2 / 3}[name]
    return gamma * np.square(turn) * share / 8
