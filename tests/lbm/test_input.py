"""What cannot work is refused before anything is allocated, in one line that says what would be right."""

from types import SimpleNamespace

import numpy as np
import pytest

from repro.errors import InputError, MemoryLimitError
from repro.lbm.boundaries import FACES, PERIODIC_BOX, Boundaries
from repro.lbm.cases import Cavity, CubicCavity, Duct
from repro.lbm.lattice import D2Q9, D3Q15, D3Q19
from repro.lbm.model import Model, Problem
from repro.lbm.simulation import Simulation

P, H, M, E = "periodic", "half-way", "modified", "extrapolation"
CHANNEL = (P, P, H, H, P, P)


def model(faces=(P,) * 6, moving=None, lattice=D2Q9, **settings):
    return Model(lattice, Boundaries(faces, moving), **settings)


def problem(shape=(8, 8, 1), relaxation_time=0.8, of=None, **settings):
    return Problem(of or model(), shape, relaxation_time, **settings)


def no_device(free=1 << 40):
    """A device that may be asked for its memory and must not be asked for anything else."""
    return SimpleNamespace(name="threads", free_memory=lambda: free)


def check_refusal(make, kind=InputError):
    with pytest.raises(kind) as error:
        make()
    text = str(error.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: problem(relaxation_time=0.5), ["relaxation_time = 0.5", "a number above 0.5"]),
        (lambda: problem(relaxation_time=-1.0), ["relaxation_time = -1.0: must be"]),
        (lambda: problem(relaxation_time=float("nan")), ["relaxation_time = nan: must be"]),
        (lambda: problem(magic=0.0), ["magic = 0.0: must be a number above 0"]),
        (
            lambda: problem(of=model(CHANNEL, 3), wall_velocity=(0.2, 0.0, 0.0)),
            ["wall speed 0.2", "Mach 0.346", "0.3", "0.1732"],
        ),
        (
            lambda: problem(of=model(CHANNEL, 3), wall_velocity=(float("nan"), 0.0, 0.0)),
            ["wall_velocity = (nan", "a number"],
        ),
        (lambda: problem((8, 1, 1), of=model(CHANNEL)), ["1 nodes", "y low", "at least 2"]),
        (lambda: problem((8, 3, 1), of=model((P, P, E, E, P, P))), ["3 nodes", "y low", "at least 4"]),
        (lambda: problem((8, 0, 1)), ["shape = (8, 0, 1)", "each a whole number from 1"]),
        (lambda: Boundaries((P, H, P, P, P, P)), ["x low", "x high", "both or neither"]),
        (lambda: Boundaries((H, H, H, H, E, P)), ["z low", "z high", "both or neither"]),
        (lambda: Boundaries((H, H, M, M, P, P)), ["half-way", "modified"]),
        (
            lambda: Boundaries(("bounce", H, H, H, P, P)),
            ["faces = ('bounce'", "each one of periodic, half-way", "extrapolation"],
        ),
        (lambda: model(collision="mrt"), ["'mrt'", "D3Q19", "bgk or trt"]),
        (lambda: model(collision="srt"), ["collision = 'srt'", "bgk, trt"]),
        (lambda: model(forcing="shan-chen"), ["'shan-chen'", "luo, guo"]),
        (lambda: Simulation(problem(), no_device(), strategy="pul"), ["'pul'", "pull, push, split, shared memory"]),
        (lambda: Simulation(problem(), no_device(), precision="quarter"), ["'quarter'", "single, double, half"]),
        (lambda: Simulation(problem(), no_device(), layout="csr"), ["'csr'", "soa, aos"]),
        (lambda: Simulation(problem(), no_device(), block=0), ["block = 0", "1 to 1024"]),
        (lambda: Simulation(problem(), no_device(), block=2048), ["block = 2048", "1 to 1024"]),
        (lambda: Simulation(problem(), no_device(), block=64.0), ["block = 64.0"]),
        (
            lambda: Simulation(problem((9, 8, 1)), no_device(), strategy="shared memory", block=4),
            ["9 nodes", "block size 4", "whole blocks"],
        ),
        (
            lambda: Simulation(problem(of=model((E, E, P, P, P, P))), no_device(), strategy="shared memory", block=8),
            ["shared-memory", "periodic or half-way", "extrapolation"],
        ),
        (lambda: Cavity(reynolds=0.0), ["reynolds = 0.0", "a number above 0"]),
        (lambda: Cavity(nodes=4), ["nodes = 4", "from 8 to"]),
        (lambda: Cavity(nodes=10**9), ["nodes = 1000000000", "from 8 to"]),
        (lambda: Cavity(nodes=64.0), ["nodes = 64.0", "a whole number"]),
        (lambda: Cavity(reynolds="400"), ["reynolds = '400'", "a number above 0"]),
        (lambda: Cavity(lid_speed=-0.1), ["lid_speed = -0.1", "a number above 0"]),
        (lambda: Cavity(lid="periodic"), ["lid", "'periodic'", "half-way"]),
        (lambda: Cavity(walls="none"), ["walls", "'none'", "half-way"]),
        (lambda: Cavity(collision="mrt").problem, ["'mrt'", "D3Q19", "bgk or trt"]),
        (lambda: Cavity(lid_speed=0.2).problem, ["Mach 0.346"]),
        (lambda: Cavity(walls="modified", lid="half-way").problem, ["half-way", "modified"]),
        (lambda: Duct(nodes=3), ["nodes = 3", "from 4 to"]),
        (lambda: Duct(length=0), ["length = 0", "from 1 to"]),
        (lambda: Duct(u0=0.2), ["u0 = 0.2", "above 0 to 0.1"]),
        (lambda: Duct(walls="wet"), ["'wet'", "half-way"]),
        (lambda: Duct(relaxation_time=0.4).problem, ["relaxation_time = 0.4", "above 0.5"]),
        (lambda: Simulation(problem(), "threads"), ["device = 'threads'", "select('auto')"]),
    ],
)
def test_what_cannot_work_is_refused_in_one_line_that_says_what_would_be_right(make, words):
    text = check_refusal(make)
    for word in words:
        assert word in text


@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_grid_larger_than_the_memory_is_refused_before_anything_is_allocated(precision):
    large = problem((10_000, 10_000, 1))
    text = check_refusal(lambda: Simulation(large, no_device(1 << 20), precision=precision), MemoryLimitError)
    assert "10000 x 10000 x 1" in text
    assert "1 MiB free" in text


def test_the_memory_that_is_asked_for_is_what_is_allocated(cuda_device):
    class Counting:
        """The device, with a count of the bytes it hands out."""

        allocated = 0

        def __getattr__(self, name):
            return getattr(cuda_device, name)

        def zeros(self, shape, dtype):
            self.allocated += int(np.prod(shape)) * np.dtype(dtype).itemsize
            return cuda_device.zeros(shape, dtype)

    for strategy, precision in (("pull", "single"), ("split", "half"), ("shared memory", "double")):
        device = Counting()
        simulation = Simulation(problem(), device, strategy=strategy, block=8, precision=precision)
        # the convergence test keeps another copy of the fields
        fields = 4 * np.dtype(simulation.dtype).itemsize * simulation.problem.nodes
        assert simulation.memory == device.allocated + fields


def test_a_force_without_a_forcing_scheme_is_refused():
    """The collision would leave it out in silence."""
    text = check_refusal(lambda: problem(force=(1e-4, 0.0, 0.0)))
    assert "force" in text


def test_a_wall_that_moves_out_of_its_plane_is_refused():
    """It would pump mass into the box or out of it."""
    check_refusal(lambda: problem(of=model(CHANNEL, 3), wall_velocity=(0.0, 0.1, 0.0)))


@pytest.mark.parametrize("moving", [0, 6, -1])
def test_a_moving_face_that_is_no_wall_is_refused(moving):
    check_refusal(lambda: Boundaries(CHANNEL, moving))


def test_a_wall_speed_without_a_moving_wall_is_refused():
    check_refusal(lambda: problem(of=model(CHANNEL), wall_velocity=(0.1, 0.0, 0.0)))


@pytest.mark.parametrize("shape", [(8, 8, 3), (8, 8)])
def test_a_shape_of_another_dimension_than_the_lattice_is_refused(shape):
    check_refusal(lambda: problem(shape))


def test_a_force_out_of_the_plane_of_the_lattice_is_refused():
    check_refusal(lambda: problem(of=Model(D2Q9, PERIODIC_BOX, "bgk", "guo"), force=(0.0, 0.0, 1e-4)))


def test_the_values_at_the_limits_work():
    assert problem(relaxation_time=0.5001).viscosity > 0
    problem(of=model(CHANNEL, 3), wall_velocity=(0.1732, 0.0, 0.0))
    problem((1, 2, 1), of=model(CHANNEL))
    problem((1, 1, 1))
    problem((4, 4, 4), of=model((E,) * 6, lattice=D3Q15))


def test_cases_place_their_walls_where_the_schemes_have_them():
    case = Cavity(reynolds=100, nodes=10, walls="half-way", lid="extrapolation")
    x, y = case.positions
    np.testing.assert_allclose(x, (np.arange(10) + 0.5) / 10)
    np.testing.assert_allclose(y, (np.arange(10) + 0.5) / 9.5)
    assert y[-1] == 1
    viscosity = case.lid_speed * 10 / case.reynolds
    assert case.problem.viscosity == pytest.approx(viscosity)


@pytest.mark.parametrize(
    ("make", "limit", "walls"),
    [
        (lambda n, re: Cavity(re, n), 13, 0),
        (lambda n, re: Cavity(re, n, collision="trt", lid_speed=0.1), 8, 0),
        (lambda n, re: CubicCavity(re, n), 13, 2),
        (lambda n, re: CubicCavity(re, n, collision="trt"), 8, 2),
    ],
)
def test_a_lid_drives_a_steady_flow_up_to_a_reynolds_number_of_a_spacing(make, limit, walls):
    """And the number of nodes that a refusal names is the least that works."""
    make(20, float(limit * (20 - walls)))
    reynolds = limit * (20 - walls) + 0.5
    with pytest.raises(InputError, match=f"Reynolds number {reynolds:g} on 20 nodes .*: use at least 21 nodes$"):
        make(20, reynolds)
    make(21, reynolds)
    # rounded up
    for nodes in (10, 33):
        with pytest.raises(InputError, match=f"on {nodes} nodes .*: use at least {walls - -1000 // limit} nodes$"):
            make(nodes, 1000.0)
    make(walls - -1000 // limit, 1000.0)


def test_cases_are_the_papers_unless_told_otherwise():
    square, cube, duct = Cavity(), CubicCavity(), Duct()
    assert (square.reynolds, square.nodes, square.lid_speed, square.collision) == (400.0, 256, 0.05, "bgk")
    assert square.problem.model.boundaries.faces == (*[H] * 3, E, P, P)
    assert (square.problem.shape, square.problem.wall_velocity) == ((256, 256, 1), (0.05, 0.0, 0.0))
    assert square.problem.viscosity == pytest.approx(0.05 * 256 / 400)
    assert (cube.reynolds, cube.nodes, cube.lid_speed, cube.collision) == (100.0, 66, 0.1, "bgk")
    assert (cube.width, cube.problem.shape, cube.problem.wall_velocity) == (64, (66,) * 3, (0.1, 0.0, 0.0))
    assert cube.problem.viscosity == pytest.approx(0.1 * 64 / 100)
    for case in (square, cube):
        # y high
        assert case.problem.model.boundaries.moving == 3
    assert (duct.nodes, duct.length, duct.axis, duct.u0, duct.relaxation_time) == (64, 1, "z", 0.001, 0.8)
    assert (duct.collision, duct.forcing, duct.walls) == ("bgk", "luo", E)


@pytest.mark.parametrize(("walls", "side"), [(E, 9), (M, 9), ("standard", 9), (H, 10)])
@pytest.mark.parametrize("axis", ["x", "z"])
def test_a_duct_lies_along_its_axis_between_walls_of_its_scheme(walls, side, axis):
    case = Duct(10, 3, axis, 0.002, 0.9, "trt", "guo", walls)
    problem = case.problem
    assert (case.side, problem.relaxation_time) == (side, 0.9)
    np.testing.assert_allclose(case.positions, np.arange(10) - 4.5)
    assert problem.shape == ((3, 10, 10) if axis == "x" else (10, 10, 3))
    ends, sides = (P, P), (walls,) * 4
    assert problem.model.boundaries.faces == ((*ends, *sides) if axis == "x" else (*sides, *ends))
    assert (problem.model.collision, problem.model.forcing) == ("trt", "guo")
    force = 0.002 * problem.viscosity * np.pi**3 / (4 * side**2)
    assert problem.force == pytest.approx(tuple(force * (name == axis) for name in "xyz"))


def test_nodes_and_speeds_of_cases_have_two_ends():
    most = 1 << 15
    for make, least in ((lambda n: Cavity(1.0, n), 8), (lambda n: CubicCavity(1.0, n), 10), (lambda n: Duct(n), 4)):
        for nodes in (least, most):
            make(nodes)
        for nodes in (least - 1, most + 1):
            with pytest.raises(InputError, match=f"nodes = {nodes}: must be a whole number from {least} to {most}$"):
                make(nodes)
    Duct(u0=0.1)
    with pytest.raises(InputError, match=r"u0 = 0.101: must be a number above 0 to 0.1"):
        Duct(u0=0.101)
    with pytest.raises(InputError, match=f"length = {most + 1}"):
        Duct(length=most + 1)


@pytest.mark.parametrize("moving", range(6))
def test_a_wall_moves_in_its_own_plane_and_no_faster_than_three_tenths_of_sound(moving):
    """Its speed is that of all its components together: 0.1732."""
    of, across = Model(D3Q15, Boundaries((H,) * 6, moving)), moving // 2
    for speed, allowed in ((0.1224, True), (0.1226, False)):
        velocity = tuple(0.0 if axis == across else speed for axis in range(3))
        if allowed:
            problem((8, 8, 8), of=of, wall_velocity=velocity)
        else:
            assert "Mach 0.3" in check_refusal(lambda v=velocity: problem((8, 8, 8), of=of, wall_velocity=v))
    velocity = tuple(0.1 if axis == across else 0.0 for axis in range(3))
    text = check_refusal(lambda: problem((8, 8, 8), of=of, wall_velocity=velocity))
    assert f"the velocity of {FACES[moving]} across it must be 0" in text


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize(("low", "high", "least"), [(P, P, 1), (H, H, 2), (E, E, 4), (H, E, 4), (E, H, 4)])
def test_walls_have_room_between_them(axis, low, high, least):
    faces = [P] * 6
    faces[2 * axis : 2 * axis + 2] = low, high
    of = Model(D3Q15, Boundaries(tuple(faces)))
    shape = [5, 6, 7]
    for count in (least, least - 1):
        shape[axis] = count
        if count == least:
            problem(tuple(shape), of=of)
        elif count:
            text = check_refusal(lambda: problem(tuple(shape), of=of))
            assert text == f"{count} nodes between {FACES[2 * axis]} and its opposite: at least {least}"


@pytest.mark.parametrize("face", range(6))
def test_two_nodes_beside_an_extrapolated_face_are_fluid(face):
    of = Model(D3Q15, Boundaries(tuple(E if k // 2 == face // 2 else P for k in range(6))))
    for distance, allowed in ((0, False), (1, False), (2, True)):
        solid = np.zeros((7, 8, 9), bool)
        place = [3, 3, 3]
        place[2 - face // 2] = -1 - distance if face % 2 else distance
        solid[tuple(place)] = True
        if allowed:
            assert problem((9, 8, 7), of=of, solid=solid).fluid_nodes == 7 * 8 * 9 - 1
        else:
            text = check_refusal(lambda s=solid: problem((9, 8, 7), of=of, solid=s))
            assert f"solid at the extrapolated face {FACES[face]} or beside it" in text


def test_a_force_or_a_wall_out_of_the_plane_of_the_lattice_is_refused_and_any_force_needs_a_scheme():
    flat = Model(D2Q9, Boundaries((P, P, H, H, P, P), 3), "bgk", "guo")
    for settings in ({"force": (0.0, 0.0, 1e-4)}, {"wall_velocity": (0.0, 0.0, 0.01)}):
        assert "D2Q9 has no z direction" in check_refusal(lambda s=settings: problem(of=flat, **s))
    for axis in range(3):
        force = tuple(1e-4 * (k == axis) for k in range(3))
        text = check_refusal(lambda f=force: problem((4, 4, 4), of=model(lattice=D3Q15), force=f))
        assert "without a forcing scheme: choose one of luo, guo" in text


@pytest.mark.parametrize(("collision", "equal"), [("bgk", True), ("trt", False), ("mrt", False)])
def test_only_bgk_has_one_rate(collision, equal):
    even, odd = problem((4, 4, 4), 0.9, of=model(lattice=D3Q19, collision=collision), magic=0.2).rates
    assert even == pytest.approx(1 / 0.9)
    assert odd == (even if equal else pytest.approx(1 / (0.5 + 0.2 / 0.4)))
