"""Bitwise reproducibility: how far trajectories of strategies and devices with the same start and noise diverge."""

import numpy as np
import pandas as pd

from repro.dpd.observables import nearest_move
from repro.dpd.simulation import Simulation
from repro.dpd.system import System


def differences(system: System, ways: dict, steps, precisions, **options) -> pd.DataFrame:
    """Distances of `ways`, by name pairs of strategy and device, from the first of them, after each of `steps`.

    `options` are the simulation's. Columns precision, way, step, "largest distance" of a particle from its position in
    the first way (cutoff radii), and "particles that differ", whose position or velocity is not bitwise equal.
    """
    rows = []
    for precision in precisions:
        runs = {
            name: Simulation(system, device, strategy=how, precision=precision, **options)
            for name, (how, device) in ways.items()
        }
        for step in sorted(steps):
            for run in runs.values():
                run.step(step - run.steps)
            particles = {name: run.particles() for name, run in runs.items()}
            first, *others = particles
            rows += [
                (precision, name, step, *_difference(particles[first], particles[name], system.box)) for name in others
            ]
    return pd.DataFrame(rows, columns=["precision", "way", "step", "largest distance", "particles that differ"])


def _difference(first: dict, second: dict, box) -> tuple[float, int]:
    move = nearest_move(first["position"], second["position"], box)
    same = (first["position"] == second["position"]) & (first["velocity"] == second["velocity"])
    return float(np.sqrt((move**2).sum(1)).max()), int((~same.all(1)).sum())
