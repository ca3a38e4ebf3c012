"""Calls the set-ups and simulations of all methods with what they cannot mean, and looks at the answers.

.venv/bin/python tools/drill_inputs.py            # counts, and what was not refused in one line
.venv/bin/python tools/drill_inputs.py dpd pic    # of some methods

Each parameter gets, one after the other, values that are wrong for its kind, which follows from its default: text for
a number, a fraction for a count, a name that is none, nothing at all. A call is right if it raises one of the
project's own errors with one line; or if it is listed below as right. It is wrong if it raises anything else, goes
through, or takes longer than five seconds. The exit status is 1 if one is wrong.
"""

import argparse
import inspect
import os
import select
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from math import inf, nan
from typing import NamedTuple

import numpy as np

from repro import errors

LONGEST = 5.0
"""Seconds that an answer may take, what is compiled for it left out."""

WRONG = {
    float: (nan, "1", "x", None, [1.0], 1j, True, 10**400, {}),
    int: (-1, 1.5, 64.0, nan, inf, "64", None, [1], True, 10**30),
    str: ("nope", "", None, 5, ["x"], {}),
    bool: ("yes", None, 2, 1.5, []),
    tuple: ("x", None, 5, (), (nan,), (1, 2, 3, 4, 5, 6, 7), ({},)),
    object: ("auto", None, 5, [], {}),
}
"""By the kind of a parameter, what it cannot be."""

RIGHT = {
    # a name is any text, and one that is given to nobody
    ("*", "name", "'nope'"),
    ("*", "time_step", "None"),
    ("*", "turn", "inf"),
    ("dpd.Channel", "frozen", "None"),
    ("dpd.Simulation", "registers", "None"),
    ("lbm.Model", "forcing", "None"),
    ("lbm.Boundaries", "moving", "None"),
    ("lbm.flow_through", "strategy", "None"),
}
"""Wrong for the kind, and right for the parameter."""


class Target(NamedTuple):
    """Something that is called with parameters."""

    name: str
    call: Callable
    given: dict
    """Right values by parameter."""


class Answer(NamedTuple):
    """What became of a call."""

    target: str
    parameter: str
    value: str
    kind: str
    """refused, raw, accepted, slow or lines."""
    text: str


def targets(methods: list[str]) -> Iterator[Target]:
    """All that is tried, of the methods that are named."""
    for name, make in (("lbm", _lbm), ("two_fluids", _two_fluids), ("dpd", _dpd), ("sph", _sph), ("pic", _pic)):
        if name in methods:
            yield from make()


def _target(name: str, call: Callable, use: Callable = lambda made: made, **given) -> Target:
    """`use` is what a user does with what the call has made; `given` what has no default."""
    return Target(name, lambda **values: use(call(**values)), _defaults(call) | given)


def _defaults(call: Callable) -> dict:
    call = call.func if isinstance(call, partial) else call
    if is_dataclass(call):
        made = ((f.name, f.default if f.default is not MISSING else f.default_factory) for f in fields(call) if f.init)
        return {name: value() if callable(value) else value for name, value in made if value is not MISSING}
    found = inspect.signature(call).parameters.values()
    return {p.name: p.default for p in found if p.default is not inspect.Parameter.empty}


def _lbm() -> Iterator[Target]:
    from repro.lbm import boundaries, cases, lattice, media, model, simulation
    from repro.lbm.media.grains import random_grains
    from repro.lbm.porous import permeability, problem
    from repro.lbm.porous import simulation as porous
    from repro.parallel import select as device_of

    core = device_of("serial")
    for case in (cases.Cavity, cases.Duct, cases.CubicCavity):
        yield _target(f"lbm.{case.__name__}", case, lambda made: made.problem)
    small = cases.Cavity(reynolds=10.0, nodes=8).problem
    yield _target("lbm.Boundaries", boundaries.Boundaries, faces=("periodic",) * 6)
    yield _target("lbm.Model", model.Model, lattice=lattice.D2Q9, boundaries=boundaries.Boundaries(("periodic",) * 6))
    yield _target("lbm.Problem", model.Problem, model=small.model, shape=small.shape, relaxation_time=0.8)
    yield _target("lbm.Simulation", simulation.Simulation, lambda made: made.step(1), problem=small, device=core)
    yield _target("lbm.step", simulation.Simulation(small, core).step, count=1)
    yield _target("lbm.run_to_steady_state", partial(_steady, simulation.Simulation, small, core), **_steadiness())
    solid = np.zeros((6, 6, 6), bool)
    solid[:, 0] = True
    space = media.PoreSpace(solid)
    yield _target("lbm.PoreSpace", media.PoreSpace, solid=solid)
    shape = {"shape": (12, 12, 12), "porosity": 0.7, "seed": 1}
    yield _target("lbm.random_spheres", media.random_spheres, **shape, diameter=5.0)
    yield _target("lbm.random_grains", random_grains, shape=(24, 24), porosity=0.7, seed=1, grain=4.0)
    yield _target("lbm.random_blocks", media.random_blocks, **shape, edge=3)
    yield _target("lbm.sphere_crystal", media.sphere_crystal, nodes=8, chi=0.8)
    yield _target("lbm.PorousProblem", problem.PorousProblem, space=space, relaxation_time=1.0, force=(1e-5, 0.0, 0.0))
    flow = problem.PorousProblem(space, 1.0, (1e-5, 0.0, 0.0))
    yield _target("lbm.PorousFlow", porous.PorousFlow, lambda made: made.step(1), problem=flow, device=core)
    yield _target("lbm.flow_through", permeability.flow_through, space=space, device=core)
    yield _target("lbm.refined", permeability.refined, solid=solid, times=2)


def _steadiness() -> dict:
    return {"tolerance": 1e-6, "interval": 1000, "limit": 2_000_000}


def _steady(kind, problem, device, **settings):
    return kind(problem, device).run_to_steady_state(**settings)


def _two_fluids() -> Iterator[Target]:
    from repro.lbm import media
    from repro.lbm.two_fluids import cases, model, simulation
    from repro.parallel import select as device_of

    needed = {cases.Bubble: {"radius": 20.0}, cases.Drop: {"wetting": 0.02}, cases.FlatInterface: {}, cases.Layers: {}}
    for case, given in needed.items():
        yield _target(f"two_fluids.{case.__name__}", case, lambda made: made.problem, **given)
    space = media.PoreSpace(np.zeros((1, 8, 8), bool))
    yield _target("two_fluids.TwoFluids", model.TwoFluids, space=space, interaction=0.2)
    given = {"problem": model.TwoFluids(space, 0.2), "device": device_of("serial")}
    yield _target("two_fluids.TwoFluidFlow", simulation.TwoFluidFlow, lambda made: made.step(1), **given)


def _dpd() -> Iterator[Target]:
    from repro.dpd import cases, fluid, simulation, walls
    from repro.parallel import select as device_of

    yield _target("dpd.Fluid", fluid.Fluid)
    yield _target("dpd.Walls", walls.Walls, bottom=1.0, top=5.0)
    yield _target("dpd.Bulk", cases.Bulk, lambda made: made.system(), box=(4.0, 4.0, 4.0))
    yield _target("dpd.Poiseuille", cases.Poiseuille, lambda made: made.system())
    yield _target("dpd.Channel", cases.Channel, lambda made: made.system())
    small, core = cases.Bulk((4.0, 4.0, 4.0)).system(), device_of("serial")
    yield _target("dpd.Bulk.system", cases.Bulk((4.0, 4.0, 4.0)).system)
    yield _target("dpd.Simulation", simulation.Simulation, lambda made: made.step(1), system=small, device=core)
    yield _target("dpd.step", simulation.Simulation(small, core).step, count=1)


def _sph() -> Iterator[Target]:
    from repro.parallel import select as device_of
    from repro.sph import cases, fluid, simulation

    yield _target("sph.Fluid", fluid.Fluid)
    yield _target("sph.Resolution", fluid.Resolution, spacing=0.01)
    yield _target("sph.DamBreak", cases.DamBreak, lambda made: made.system())
    yield _target("sph.StillWater", cases.StillWater, lambda made: made.system())
    small, core = cases.StillWater(column=(4, 4, 4)).system(), device_of("serial")
    yield _target("sph.Simulation", simulation.Simulation, lambda made: made.step(1), system=small, device=core)
    yield _target("sph.step", simulation.Simulation(small, core).step, count=1)


def _pic() -> Iterator[Target]:
    from repro.parallel import select as device_of
    from repro.pic import cases, mesh, simulation, system
    from repro.pic.air.medium import Air

    yield _target("pic.Mesh", mesh.Mesh, shape=(4, 4, 4), spacing=(1e-3, 1e-3, 1e-3))
    yield _target("pic.Source", system.Source, energy=1e6, weight=1.0)
    yield _target("pic.Air", Air)
    for case in (cases.UniformSource, cases.Plasma):
        yield _target(f"pic.{case.__name__}", case, lambda made: made.system(), cells=4, per_cell=2.0)
    small, core = cases.UniformSource(cells=4, per_cell=2.0).system(), device_of("serial")
    yield _target("pic.Simulation", simulation.Simulation, lambda made: made.step(1), system=small, device=core)
    yield _target("pic.step", simulation.Simulation(small, core).step, count=1)


def calls(target: Target) -> Iterator[tuple[str, object]]:
    """Each parameter with each of its wrong values."""
    for name, right in target.given.items():
        kind = type(right) if type(right) in WRONG else object
        for value in WRONG[kind]:
            if value is not right:
                yield name, value


def answer(target: Target, name: str, value, longest: float = LONGEST) -> Answer:
    """Call in a process of its own, which may hang or die; it is slow after `longest` seconds."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(told)
        os.setsid()
        # the answers of those who only say something count, not what they print
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        os.write(tell, _called(target, name, value).encode()[:60_000])
        os._exit(0)
    os.close(tell)
    heard, _, _ = select.select([told], [], [], longest)
    text = os.read(told, 65_536).decode() if heard else "slow\n"
    os.close(told)
    # with whatever it has started
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return _answer(target, name, value, text)


def answer_here(target: Target, name: str, value) -> Answer:
    """As `answer`, in this process: faster, where nothing can hang or die."""
    return _answer(target, name, value, _called(target, name, value))


def _answer(target: Target, name: str, value, text: str) -> Answer:
    kind, _, text = text.partition("\n")
    return Answer(target.name, name, _short(value), kind or "died", text)


def _called(target: Target, name: str, value) -> str:
    try:
        target.call(**target.given | {name: value})
    except (errors.InputError, errors.DivergenceError) as error:
        return ("lines" if "\n" in str(error) else "refused") + f"\n{error}"
    except BaseException as error:
        return f"raw\n{type(error).__name__}: {error}"
    return "accepted\n"


def _short(value) -> str:
    text = repr(value)
    return text if len(text) < 40 else f"{text[:36]}..."


def _is_right(found: Answer) -> bool:
    return any((place, found.parameter, found.value) in RIGHT for place in (found.target, "*"))


def drill(methods: list[str], names: tuple[str, ...] = (), answer: Callable = answer) -> list[Answer]:
    """All calls of all targets, or of those with some names; those in RIGHT left out."""
    found = []
    for target in (one for one in targets(methods) if not names or one.name in names):
        # what it compiles is compiled once, here
        target.call(**target.given)
        found += [answer(target, name, value) for name, value in calls(target)]
    return [one for one in found if not _is_right(one)]


def main() -> None:
    """Read the command line, drill, and say what came of it."""
    known = ("lbm", "two_fluids", "dpd", "sph", "pic")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", choices=[*known, []], help=", ".join(known))
    begin = time.monotonic()
    found = drill(parser.parse_args().methods or list(known))
    for one in found:
        if one.kind != "refused":
            print(
                f"{one.kind:8} {one.target}({one.parameter}={one.value}) {one.text.splitlines()[0] if one.text else ''}"
            )
    counts = Counter(one.kind for one in found)
    said = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
    print(f"{len(found)} calls in {time.monotonic() - begin:.0f} s: {said}")
    sys.exit(set(counts) != {"refused"})


if __name__ == "__main__":
    main()
