"""Two fluids are those of the model's equations, in every strategy, and lose neither mass nor momentum."""

import numpy as np
import pytest
from helpers import two_fluids_reference as reference
from helpers.plain import PlainDevice

from repro.errors import DivergenceError, InputError
from repro.lbm.media import PoreSpace
from repro.lbm.two_fluids.forces import STENCILS, links_of
from repro.lbm.two_fluids.model import TwoFluids
from repro.lbm.two_fluids.simulation import TwoFluidFlow
from repro.lbm.two_fluids.strategies import STRATEGIES

CHANCE = np.random.default_rng(7)
SHAPE = (4, 5, 6)
OPEN = PoreSpace(np.zeros(SHAPE, bool))
ROCK = PoreSpace(CHANCE.random(SHAPE) < 0.3)
DENSITIES = CHANCE.uniform(0.2, 1.0, (2, *SHAPE))

#: everything that two fluids can differ in
UNLIKE = {
    "interaction": 0.12,
    "wetting": (0.03, -0.02),
    "relaxation_times": (0.8, 1.3),
    "accelerations": ((1e-3, -2e-3, 5e-4), (0.0, 1e-3, -1e-3)),
    "solid_density": 1.4,
    "magic": 0.23,
}


def flow(problem, device, **options) -> TwoFluidFlow:
    made = TwoFluidFlow(problem, device, precision="double", **options)
    made.set_densities(*DENSITIES)
    return made


@pytest.mark.parametrize("space", [OPEN, ROCK], ids=["open", "rock"])
@pytest.mark.parametrize("collision", ["bgk", "mrt"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_solves_the_model(space, collision, strategy):
    problem = TwoFluids(space, collision=collision, **UNLIKE)
    made = flow(problem, PlainDevice(), strategy=strategy)
    made.step(3)
    for found, expected in zip(made.fields(), reference.run(problem, *DENSITIES, 3), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("stencil", STENCILS)
def test_every_stencil_on_every_extent(stencil):
    for shape in (SHAPE, (1, 3, 2), (2, 1, 5)):
        space = PoreSpace(np.zeros(shape, bool))
        problem, densities = (
            TwoFluids(space, stencil=stencil, **UNLIKE),
            DENSITIES[:, : shape[0], : shape[1], : shape[2]],
        )
        made = TwoFluidFlow(problem, PlainDevice(), precision="double")
        made.set_densities(*densities)
        made.step(1)
        for found, expected in zip(made.fields(), reference.run(problem, *densities, 1), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("stencil", STENCILS)
def test_stencils_differentiate_and_are_isotropic_to_their_order(stencil):
    links = [(np.array(e), weight / 6) for e, weight in links_of(stencil)]

    def moment(*axes):
        return sum(2 * weight * np.prod(e[list(axes)]) for e, weight in links)

    assert moment(0, 0) == pytest.approx(1)
    fourth = moment(0, 0, 0, 0) - 3 * moment(0, 0, 1, 1)
    assert (fourth == pytest.approx(0, abs=1e-14)) == (stencil != "central")
    sixth = moment(*[0] * 6) - 5 * moment(0, 0, 0, 0, 1, 1), moment(0, 0, 0, 0, 1, 1) - 3 * moment(0, 0, 1, 1, 2, 2)
    assert (sixth == pytest.approx((0, 0), abs=1e-14)) == (stencil in ("isotropic-6", "isotropic-8"))
    eighth = (
        moment(*[0] * 8) - 7 * moment(*[0] * 6, 1, 1),
        moment(*[0] * 6, 1, 1) - 5 / 3 * moment(0, 0, 0, 0, 1, 1, 1, 1),
    )
    assert (eighth == pytest.approx((0, 0), abs=1e-14)) == (stencil == "isotropic-8")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("collision", ["bgk", "mrt"])
def test_masses_are_kept_and_the_momentum_of_a_box(strategy, collision):
    free = UNLIKE | {"accelerations": ((0.0, 0.0, 0.0),) * 2}
    made = flow(TwoFluids(OPEN, collision=collision, **free), PlainDevice(), strategy=strategy)
    before = made.masses()
    made.step(20)
    assert made.masses() == pytest.approx(before, rel=1e-13)
    a, b, u = made.fields()
    assert np.abs(((a + b) * u).sum(axis=(1, 2, 3))).max() < 1e-12


@pytest.mark.parametrize("collision", ["bgk", "mrt"])
def test_rounding_to_single_precision_neither_makes_nor_loses_mass(collision):
    """Deviations of phases from density 1 are large, and an error of the weights would add up."""
    made = TwoFluidFlow(TwoFluids(ROCK, collision=collision, **UNLIKE), PlainDevice(), precision="single")
    made.set_densities(*DENSITIES)
    before = made.masses()
    made.step(40)
    assert made.masses() == pytest.approx(before, rel=1e-7)


def test_devices_agree(device):
    problem = TwoFluids(ROCK, **UNLIKE)
    found = flow(problem, device)
    found.step(2)
    for ours, expected in zip(found.fields(), reference.run(problem, *DENSITIES, 2), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"relaxation_times": (0.5, 1.0)},
            r"relaxation_times = \(0.5, 1.0\): must be 2 values, each a number above 0.5",
        ),
        ({"relaxation_times": (1.0, float("nan"))}, r"relaxation_times = \(1.0, nan\)"),
        ({"interaction": -0.1}, "interaction = -0.1: must be a number from 0 to"),
        ({"interaction": 9.0}, "interaction = 9.0: must be a number from 0 to"),
        ({"wetting": (0.0, float("inf"))}, r"wetting = \(0.0, inf\): must be 2 values"),
        ({"accelerations": ((0.0, 0.0, 0.0), (0.0, 1.0))}, r"accelerations = .*: must be 2 values, each 3 values"),
        ({"stencil": "round"}, "stencil = 'round'"),
        ({"collision": "trt"}, "collision = 'trt'"),
        ({"solid_density": -1.0}, "solid_density = -1.0"),
        ({"magic": 0.0}, "magic = 0.0"),
        ({"space": PoreSpace(np.ones(SHAPE, bool))}, "all solid"),
    ],
)
def test_what_cannot_work_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        TwoFluids(**({"space": OPEN} | UNLIKE | change))


@pytest.mark.parametrize("density", [0.0, -1.0, float("nan"), float("inf")])
def test_densities_that_are_not_positive_are_refused(density):
    made = TwoFluidFlow(TwoFluids(OPEN, 0.1), PlainDevice())
    with pytest.raises(InputError, match="density of fluid b: it must be finite and positive"):
        made.set_densities(1.0, density)


def test_wide_stencils_are_refused_where_only_neighbours_are_known():
    with pytest.raises(InputError, match="'isotropic-8' reaches beyond the neighbours"):
        TwoFluidFlow(TwoFluids(OPEN, 0.1, stencil="isotropic-8"), PlainDevice(), strategy="sparse")


def test_fluids_that_diverge_are_stopped_with_the_reason():
    made = flow(TwoFluids(OPEN, 0.5), PlainDevice())
    with pytest.raises(DivergenceError, match="the fluids diverged by step .*interaction 0.5"):
        made.step(30)
