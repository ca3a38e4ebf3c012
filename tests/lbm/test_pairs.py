"""Two nodes a thread, whose numbers share a word: `paired pull`."""

import numpy as np
import pytest
from helpers.lbm_reference import Reference
from helpers.plain import PlainDevice
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import InputError
from repro.lbm.boundaries import Boundaries
from repro.lbm.lattice import D2Q9, D3Q15, D3Q19
from repro.lbm.model import Model, Problem
from repro.lbm.simulation import Simulation
from repro.lbm.words import make_words

P, H, M, S = "periodic", "half-way", "modified", "standard"

#: lattice, faces and moving face
BOXES = {
    "periodic": (D3Q19, (P,) * 6, None),
    "closed": (D3Q19, (S,) * 6, 3),
    "half-way, the top moves": (D3Q15, (H,) * 6, 5),
    "half-way, the bottom moves": (D2Q9, (H, H, H, H, P, P), 2),
    "half-way, a side moves": (D3Q19, (H,) * 6, 1),
    "a channel": (D2Q9, (P, P, S, S, P, P), None),
    "a half-way channel": (D3Q19, (P, P, H, H, P, P), 3),
    "between walls along z": (D3Q19, (P, P, P, P, H, H), 4),
    "between walls along x": (D3Q19, (S, S, P, P, P, P), None),
}


def problem_of(box: str, shape) -> Problem:
    """A box, driven by a force and by a wall that moves in its own plane."""
    lattice, faces, moving = BOXES[box]
    speed = np.where(np.arange(3) == (1 if moving in (0, 1) else 0), 0.05, 0.0) if moving is not None else np.zeros(3)
    model = Model(lattice, Boundaries(faces, moving), "trt", "guo")
    shape = shape if lattice.dimensions == 3 else (*shape[:2], 1)
    return Problem(model, shape, 0.8, force=(1e-3, 2e-4, 0.0), wall_velocity=tuple(speed))


def started(problem, device, **options) -> Simulation:
    """A flow of random populations up to a tenth from the rest state."""
    weights = np.array(problem.lattice.weights)[:, None, None, None]
    noise = np.random.default_rng(1).uniform(-0.1, 0.1, (weights.size, *problem.shape[::-1]))
    simulation = Simulation(problem, device, **options)
    simulation.set_populations(weights * (1 + noise))
    return simulation


@pytest.mark.parametrize("precision", ["single", "half"])
@pytest.mark.parametrize("box", BOXES)
@settings(max_examples=4)
@given(nx=st.integers(3, 9), half=st.integers(2, 4), nz=st.integers(3, 4))
def test_pairs_of_nodes_compute_every_bit_that_nodes_compute_alone(box, precision, nx, half, nz):
    problem, found = problem_of(box, (nx, 2 * half, nz)), []
    for strategy in ("pull", "paired pull"):
        simulation = started(problem, PlainDevice(), strategy=strategy, precision=precision)
        found.append([simulation.fields(), simulation.mean_density()])
        simulation.step(3)
        found[-1].append(simulation.fields())
    # the density inside a wall has no meaning
    fluid = ~Reference(problem, np.ones((problem.lattice.q, *problem.shape[::-1]))).solid
    (first, mean, later), (paired_first, paired_mean, paired_later) = found
    for (density, velocity), (paired_density, paired_velocity) in ((first, paired_first), (later, paired_later)):
        assert np.array_equal(density[fluid], paired_density[fluid])
        assert np.array_equal(velocity, paired_velocity)
    assert paired_mean == pytest.approx(mean, rel=1e-14)


@pytest.mark.parametrize("precision", ["single", "half"])
def test_pairs_of_nodes_are_the_same_flow_on_every_device(device, precision):
    problem = problem_of("half-way, the top moves", (4, 4, 3))
    velocities = []
    for where, strategy in ((device, "paired pull"), (PlainDevice(), "pull")):
        simulation = started(problem, where, strategy=strategy, precision=precision)
        simulation.step(2)
        velocities.append(simulation.fields()[1])
    # a compiler fuses products and sums; where that turns a rounding to half precision, a deviation has another digit
    limit = {"single": 1e-6, "half": 2.0**-11}[precision] * np.abs(velocities[1]).max()
    assert np.abs(velocities[0] - velocities[1]).max() <= limit


@given(st.integers(0, 2**11 - 1), st.integers(0, 2**11 - 1), st.booleans())
def test_words_hold_two_numbers_each_in_its_half(first, second, half):
    lower, upper, words = np.float32(first / 1024 - 1), np.float32(second / 1024 - 1), make_words(half)
    word = words.word_of(lower, upper)
    assert words.numbers(word) == (lower, upper)
    assert words.numbers(words.exchanged(word)) == (upper, lower)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"precision": "double"}, "precision 'half' or 'single'"),
        ({"layout": "aos"}, "layout 'soa'"),
        ({"shape": (9, 5, 4)}, "5 nodes along y: .* an even number of at least 4"),
        ({"boundaries": Boundaries((M,) * 6)}, "'periodic', 'half-way' or 'standard'"),
        ({"solid": np.arange(216).reshape(4, 6, 9) == 7}, "no obstacles"),
    ],
)
def test_what_pairs_of_nodes_cannot_do_is_refused(change, words):
    options = {"precision": "half", "layout": "soa", "shape": (9, 6, 4), "boundaries": Boundaries((P,) * 6)}
    options |= {"solid": None} | change
    model = Model(D3Q19, options.pop("boundaries"))
    problem = Problem(model, options.pop("shape"), 0.8, solid=options.pop("solid"))
    with pytest.raises(InputError, match=words):
        Simulation(problem, PlainDevice(), strategy="paired pull", **options)
