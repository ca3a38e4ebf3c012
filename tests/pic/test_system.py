"""What cannot be simulated is refused in one line that says what would be right; what is not resolved is warned of."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from helpers.pic_systems import limit, weight_of

from repro.errors import InputError
from repro.pic.air.collision_tables import Collisions
from repro.pic.air.medium import Air
from repro.pic.constants import CHARGE, LIGHT, MASS, PERMITTIVITY
from repro.pic.mesh import Mesh
from repro.pic.system import Electrons, Source, System, below

MESH = Mesh((4, 4, 4), (1e-3,) * 3)
NOBODY = Electrons(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0))
LIMIT, PERIODIC = limit(MESH.spacing), ("periodic",) * 3


def electrons(count=2, momentum=1.0, weight=1.0):
    """A few, in all directions."""
    generator = np.random.default_rng(2)
    way = generator.normal(0, 1, (count, 3))
    way *= momentum / np.linalg.norm(way, axis=1)[:, None]
    return Electrons(generator.random((count, 3)) * 4e-3, way, np.full(count, weight))


def refused(line, make, *arguments, **options):
    with pytest.raises(InputError, match=line) as caught:
        make(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def plain(**options):
    return System(**{"mesh": MESH, "dt": 0.5 * LIMIT, "electrons": electrons(), **options})


def test_a_step_beyond_the_courant_limit_is_refused_with_one_that_works():
    plain(dt=LIMIT * 0.9999)
    line = refused("beyond the Courant limit of this mesh: at most", plain, dt=1.001 * LIMIT)
    works = float(line.split()[-2])
    assert 0.98 * LIMIT < works <= LIMIT
    plain(dt=works)


def test_a_field_in_which_a_step_turns_too_far_is_refused_with_a_step_that_works():
    field = 1.5 * MASS / (CHARGE * 0.5 * LIMIT)
    line = refused(r"turns by 1\.5 radians", plain, magnetic=(0, field * 0.6, field * 0.8), electrons=electrons(2, 9))
    plain(magnetic=(0, field * 0.6, field * 0.8), electrons=electrons(2, 9), dt=float(line.split()[-2]))


def test_a_plasma_that_is_too_fast_for_the_step_is_refused_unless_it_has_no_field_of_its_own():
    dense = electrons(2, 2.0, weight_of(2.2 / (0.5 * LIMIT), 2, 64e-9))
    line = refused(r"the plasma frequency times dt is 2\.2, unstable above 2: dt at most", plain, electrons=dense)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain(electrons=dense, dt=float(line.split("at most ")[1].split()[0]))
    plain(electrons=dense, self_field=False)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"dt": 0}, "dt = 0: must be a number of at least 1e-30"),
        ({"dt": -1e-13}, "dt = -1e-13: must be a number of at least 1e-30"),
        ({"dt": float("nan")}, "dt = nan: must be a number of at least 1e-30, in s"),
        ({"dt": 1e-320}, "dt = 1e-320: must be a number of at least 1e-30, in s"),
        ({"dt": "1 ps"}, "dt = '1 ps': must be a number of at least 1e-30, in s"),
        ({"dt": [1e-13]}, r"dt = \[1e-13\]: must be a number of at least 1e-30, in s"),
        ({"dt": None}, "dt = None: must be a number"),
        ({"magnetic": 0.1}, r"magnetic = 0\.1: must be finite numbers of the shape \(3,\), in T"),
        (
            {"magnetic": (0, 0, float("inf"))},
            r"magnetic = \(0, 0, inf\): must be finite numbers of the shape \(3,\), in T",
        ),
        ({"electric": ("a", 0, 0)}, r"electric = \('a', 0, 0\): must be finite numbers"),
        ({"electric": (0, 1)}, r"electric = \(0, 1\): must be finite numbers of the shape \(3,\), in V/m"),
        ({"capacity": 1}, "capacity = 1 for 2 particles at the start"),
        ({"capacity": 10.5}, "capacity = 10.5: must be a whole number"),
        ({"capacity": "many"}, "capacity = 'many': must be a whole number"),
        ({"mesh": (4, 4, 4)}, r"mesh = \(4, 4, 4\): must be of the kind Mesh"),
        ({"electrons": None}, "electrons = None: must be of the kind Electrons"),
        ({"source": {"energy": 1e6}}, r"source = \{'energy': 1000000\.0\}: must be of the kind Source, or None"),
        (
            {"air": Air()},
            r"air = Air\(density=1\.20479, temperature=293\.15\): must be of the kind Collisions, or None",
        ),
        ({"self_field": "no"}, "self_field = 'no': must be True or False"),
        ({"name": None}, "name = None: must be a line of text"),
        ({"name": "two\nlines"}, r"name = 'two\\nlines': must be a line of text"),
        (
            {"magnetic": (1e300, 0, 0)},
            r"magnetic = \(1e\+300, 0, 0\): must be finite numbers of the shape \(3,\), in T",
        ),
        ({"electric": (1e30, 0, 0)}, r"in 1e\+30 V/m an electron gains .* m c in a step of .* s, and may 1e\+15"),
    ],
)
def test_a_system_refuses(options, line):
    refused(line, plain, **options)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"weight": [1.0, -2.0]}, "a weight of -2: every weight must be above 0"),
        ({"weight": [1.0, 0.0]}, "a weight of 0: every weight must be above 0"),
        (
            {"weight": [1.0, float("nan")]},
            r"weight = \[1\.0, nan\]: must be finite numbers of the shape \(count,\), in electrons",
        ),
        ({"weight": [1.0]}, "2 positions, 2 momenta and 1 weights: must be as many"),
        (
            {"weight": 1.0},
            r"weight = 1\.0: must be finite numbers of the shape \(count,\), in electrons",
        ),
        ({"position": [[0, 0, 0], [0, 0]]}, r"position = \[\[0, 0, 0\], \[0, 0\]\]: must be"),
        (
            {"position": np.zeros((3, 2))},
            r"position = .* of the shape \(3, 2\): must be finite numbers of the shape \(count, 3\), in m",
        ),
        ({"momentum": np.full((2, 3), np.inf)}, "momentum = .*6 not finite: must be finite numbers"),
        ({"momentum": "fast"}, "momentum = 'fast': must be finite numbers"),
        ({"momentum": np.ones((2, 3), bool)}, "momentum = .*: must be finite numbers"),
        # squares that single precision does not hold
        ({"momentum": np.full((2, 3), -1e20)}, r"a momentum of 1e\+20 m c: at most 1e\+15 m c"),
        ({"weight": [1.0, 1e-320]}, "a weight of .*: every weight must be above 0, at least 1e-15"),
        (
            {"weight": [1.0, 1e300]},
            r"weight = \[1\.0, 1e\+300\]: must be finite numbers of the shape \(count,\), in electrons",
        ),
    ],
)
def test_electrons_refuse(options, line):
    refused(
        line, Electrons, **{"position": np.ones((2, 3)), "momentum": np.ones((2, 3)), "weight": np.ones(2)} | options
    )


def test_electrons_outside_the_box_are_refused_and_those_on_its_faces_are_not():
    inside = np.array([[0, 0, 0], [4e-3, 4e-3, 4e-3]])
    plain(electrons=Electrons(inside, np.ones((2, 3)), np.ones(2)))
    for end, off in ((0, -1e-9), (1, 1e-9)):
        moved = inside.copy()
        moved[end, 2] += off
        there = Electrons(moved, np.ones((2, 3)), np.ones(2))
        refused(r"1 electrons are outside the box of \(0.004, 0.004, 0.004\) m", plain, electrons=there)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"energy": -1.0}, r"energy = -1\.0: must be a number from 1e-30 to 5\.10999e\+20, in eV"),
        ({"energy": "1 MeV"}, "energy = '1 MeV': must be a number"),
        ({"weight": 0}, "weight = 0: must be a number of at least 1e-15"),
        ({"weight": float("nan")}, "weight = nan: must be a number"),
        ({"weight": 1e-20}, "weight = 1e-20: must be a number of at least 1e-15"),
        ({"energy": 1e30}, r"energy = 1e\+30: must be a number from 1e-30 to 5\.10999e\+20, in eV"),
        ({"start": -1}, "start = -1: must be a whole number from 0"),
        ({"per_step": 0.5}, "per_step = 0.5: must be a whole number"),
        ({"seed": 2**32}, "seed = 4294967296: must be a whole number from 0 to 4294967295"),
    ],
)
def test_a_source_refuses(options, line):
    refused(line, Source, **{"energy": 1e6, "weight": 1.0} | options)


def test_a_source_gives_the_momentum_of_its_energy():
    # E^2 = (p c)^2 + (m c^2)^2
    rest = MASS * LIGHT**2 / CHARGE
    for energy in (1e-3, 1e3, 1e6, 1e9):
        momentum = Source(energy, 1.0).momentum
        assert (momentum * rest) ** 2 == pytest.approx(energy * (energy + 2 * rest), rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (((4, 0, 4), (1e-3,) * 3), r"shape = \(4, 0, 4\): must be 3 values, each a whole number from 1"),
        (
            ((4, 4, 4), (1e-3, -1e-3, 1e-3)),
            r"spacing = \(0\.001, -0\.001, 0\.001\): must be 3 values, each a number of at least 1e-30, in m",
        ),
        (
            ((4, 4, 4), (1e-3, "1 mm", 1e-3)),
            r"spacing = \(0\.001, '1 mm', 0\.001\): must be 3 values, each a number of at least 1e-30, in m",
        ),
        (((4, 4), (1e-3,) * 3), r"shape = \(4, 4\): must be 3 values, each a whole number from 1"),
        (((4, 4, 4.0), (1e-3,) * 3), r"shape = \(4, 4, 4\.0\): must be 3 values, each a whole number from 1"),
        (
            ((4, 4, 4), (1e-3,) * 3, ("periodic", "open", "periodic")),
            r"boundaries = \('periodic', 'open', 'periodic'\): must be 3 values, each one of periodic, conducting",
        ),
        ((None, (1e-3,) * 3), "shape = None: must be 3 values, each a whole number from 1"),
        (("444", (1e-3,) * 3), "shape = '444': must be 3 values, each a whole number from 1"),
        (((4, 4, 4), 1e-3), r"spacing = 0\.001: must be 3 values, each a number of at least 1e-30, in m"),
        (
            ((4, 4, 4), (1e-3, 1e-300, 1e-3)),
            r"spacing = \(0\.001, 1e-300, 0\.001\): must be 3 values, each a number of at least 1e-30, in m",
        ),
        (
            ((4, 4, 4), (1e-3,) * 3, None),
            "boundaries = None: must be 3 values, each one of periodic, conducting, absorbing",
        ),
        (
            ((4, 4, 4), (1e-3,) * 3, PERIODIC, (True,) * 3),
            r"divided = \(True, True, True\): must be 3 values, each 2 values, each True or False",
        ),
        (
            ((4, 4, 4), (1e-3,) * 3, PERIODIC, ("no",) * 3),
            r"divided = \('no', 'no', 'no'\): must be 3 values, each 2 values, each True or False",
        ),
        (
            ((4, 4, 4), (1e-3,) * 3, PERIODIC, ((1, 1),) * 3),
            r"divided = \(\(1, 1\), \(1, 1\), \(1, 1\)\): must be 3 values, each 2 values, each True or False",
        ),
    ],
)
def test_a_mesh_refuses(arguments, line):
    refused(line, Mesh, *arguments)


def warned(make, *arguments, **options) -> list[str]:
    """The lines by which one is warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make(*arguments, **options)
    return [str(warning.message) for warning in caught]


def number(line: str, before: str) -> float:
    """The number that follows some words of a line."""
    return float(line.split(before)[1].split()[0].rstrip(","))


#: three sides, of which the finest is neither the first nor the last
BRICKS = Mesh((4, 6, 5), (2e-3, 1e-3, 3e-3))


@pytest.mark.parametrize(("share", "many"), [(0.98, 1), (1.02, 0)])
def test_what_the_mesh_does_not_resolve_is_warned_of_from_an_edge_on(share, many):
    """Light must come 1e-5 of the finest cell; a radius must have 0.3 of it, and a Debye length of the coarsest one."""
    still = Electrons(np.full((2, 3), 1e-3), np.zeros((2, 3)), np.ones(2))
    (*lines,) = warned(System, BRICKS, share * 1e-8 / LIGHT, still, name="box")
    assert len(lines) == many
    for line in lines:
        assert line.startswith("box: in dt = ")
        assert number(line, "light goes ") == pytest.approx(share * 1e-5, rel=0.05)
        assert number(line, "steps of ") == pytest.approx(1.1e-8 / LIGHT, rel=0.05)
    # opposite momenta: along one axis the mean square is a third of 0.01
    pair, dt = np.array([[0.1, 0, 0], [-0.1, 0, 0]]), 1e-12
    speed = 0.1 / np.sqrt(3)
    field = speed * MASS * LIGHT / (CHARGE * share * 0.3e-3)
    moving = Electrons(np.full((2, 3), 1e-3), pair, np.ones(2))
    lines = warned(System, BRICKS, dt, moving, magnetic=(0.0, 0.6 * field, 0.8 * field), self_field=False)
    assert len(lines) == many
    for line in lines:
        assert number(line, "a radius of ") == pytest.approx(share * 0.3e-3, rel=5e-3)
        assert number(line, "in cells of ") == 1e-3
        assert number(line, "cells of at most ") == pytest.approx(share * 1e-3, rel=0.05)
    frequency = speed * LIGHT / (share * 0.9e-3)
    dense = replace(moving, weight=np.full(2, weight_of(frequency, 2, float(np.prod(BRICKS.length)))))
    lines = warned(System, BRICKS, 1e-12, dense)
    assert len(lines) == many
    for line in lines:
        assert number(line, "length is ") == pytest.approx(share * 0.9e-3, rel=5e-3)
        assert number(line, "in cells of ") == 3e-3
        assert number(line, "cells of at most ") == pytest.approx(share * 3e-3, rel=0.05)
    assert not warned(System, BRICKS, 1e-12, dense, self_field=False)


def test_a_debye_length_is_that_of_the_heat_of_all_electrons_together():
    """Those that all go the same way are not warm; each counts by its weight, those of a source by theirs."""
    mesh = Mesh((4, 6, 5), (0.1, 0.1, 0.1))
    drift, u = np.array([0.3, 0.2, -0.4]), np.array([[0.02, 0, 0], [-0.01, 0, 0], [-0.02, 0.01, 0], [0.0, -0.01, 0]])
    weight = np.array([1.0, 2.0, 1.0, 1.0]) * 1e11
    mean = weight @ u / weight.sum()
    spread = weight @ ((u - mean) ** 2).sum(1) / weight.sum() / 3
    given = Electrons(np.full((4, 3), 0.1), u + drift, weight)
    (line,) = warned(System, mesh, 1e-12, given)
    expected = np.sqrt(spread) * LIGHT / np.sqrt(5e11 / (0.12 * 1.0) * CHARGE**2 / (MASS * PERMITTIVITY))
    assert number(line, "length is ") == pytest.approx(expected, rel=5e-3)
    source = Source(200.0, 4e11, start=2)
    (line,) = warned(System, mesh, 1e-12, given, source)
    square = (5e11 * spread + 4e11 * 2 * source.momentum**2 / 3) / 13e11
    expected = np.sqrt(square) * LIGHT / np.sqrt(13e11 / 0.12 * CHARGE**2 / (MASS * PERMITTIVITY))
    assert number(line, "length is ") == pytest.approx(expected, rel=5e-3)


def test_nothing_is_faster_than_light_in_a_debye_length():
    fast = electrons(200, 50.0, weight_of(1.9 / (0.5 * LIMIT), 200, 64e-9))
    # 0.5 / (1.9 sqrt(3)) of a cell, which is below 0.3 of one, though 50 / sqrt(3) times that is not
    assert len(warned(plain, electrons=fast)) == 1


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_a_field_may_turn_and_give_so_much_in_a_step_and_no_more(share):
    dt, way = 0.5 * LIMIT, np.array([2, -3, 6]) / 7
    turning = share * MASS / (CHARGE * dt) * way
    kicking = share * 1e15 * MASS * LIGHT / (CHARGE * dt) * way
    dense = electrons(2, 2.0, weight_of(share * 2 / (0.3 * LIMIT), 2, 64e-9))
    for options, line in (
        ({"magnetic": tuple(turning), "electrons": electrons(2, 9)}, r"turns by 1\.01 radians .*, and may by 1: dt"),
        ({"electric": tuple(kicking)}, r"V/m an electron gains 1\.01e\+15 m c in a step of .* s, and may 1e\+15"),
        ({"electrons": dense, "dt": 0.3 * LIMIT}, r"the plasma frequency times dt is 2\.02, unstable above 2: dt at"),
    ):
        if share > 1:
            refused(line, plain, **options)
        else:
            warned(plain, **options)
    if share > 1:
        refused(r"a momentum of 1\.01e\+15 m c: at most 1e\+15 m c", Electrons, [[0, 0, 0]], [[0, -1.01e15, 0]], [1.0])
        refused("at least 1e-15", Electrons, [[0, 0, 0]], [[0, 0, 0]], [0.99e-15])
    else:
        Electrons([[0, 0, 0]], [[0, 0, -1e15]], [1e-15])


def test_a_system_has_the_density_of_all_its_electrons_where_they_can_be():
    mesh = Mesh((6, 4, 5), (1e-3, 2e-3, 3e-3), ("absorbing", "periodic", "conducting"), layers=2)
    given = Electrons(np.array([[2.5e-3, 1e-3, 1e-3]] * 2), np.zeros((2, 3)), np.array([2.0, 5.0]))
    source = Source(1e5, 3.0, start=4, per_step=2)
    found = System(mesh, 1e-13, given, source)
    assert found.volume == pytest.approx(2e-3 * 8e-3 * 15e-3)
    assert found.density == pytest.approx((7 + 12) / found.volume)
    assert (found.count, found.room, found.heaviest) == (6, 6 + 1000 * 2, 5.0)
    assert found.total_weight == 5.0 * 2006
    assert replace(found, electrons=replace(given, weight=given.weight / 4)).heaviest == 3.0
    assert replace(found, air=Collisions(), electrons=electrons_of(100.0)).room == 2 * (1 + 4 + 2000)
    assert System(mesh, 1e-13).heaviest == System(mesh, 1e-13).room == 1
    # numbers of particles have 31 bits
    assert replace(found, source=replace(source, per_step=10**7)).room == 2**31 - 1
    assert found.wanted_capacity(7) == "a capacity of 14 (the source adds 2 a step)"
    assert replace(found, source=None).wanted_capacity(7) == "a capacity of 14"


def electrons_of(energy: float) -> Electrons:
    """One of an energy in keV."""
    return Electrons([[2.5e-3, 1e-3, 1e-3]], [[0.0, 0.0, float(Source(1e3 * energy, 1.0).momentum)]], [1.0])


def test_fast_electrons_of_a_source_count_for_less_than_slow_ones():
    dt = 0.99 * LIMIT
    weight = weight_of(1.9 / dt, 8, 64e-9)
    for energy, is_refused in ((1e3, True), (1e7, False)):
        source = Source(energy, weight, start=8)
        if is_refused:
            refused("are unstable together", plain, dt=dt, source=source)
        else:
            warned(plain, dt=dt, source=source)


def test_a_source_in_air_has_an_energy_that_is_known():
    line = "electrons of 1.6e.06 to 1.6e.06 eV: collisions are known from 1000 to 1.5e.06 eV"
    refused(line, plain, source=Source(1.6e6, 1.0), electrons=NOBODY, air=Collisions(highest=1.5e6))
    plain(source=Source(1.5e6, 1.0), electrons=NOBODY, air=Collisions(highest=1.5e6))


@pytest.mark.parametrize("value", [1.0, 9.999e-14, 1.0001e7, 123.456, 100.0, 0.1 + 0.2])
def test_a_number_of_three_digits_below_another_one_is_no_further_below_than_that(value):
    found = below(value)
    assert value * 0.99 <= float(found) <= value * (1 + 1e-15)
    assert len(found.split("e")[0].replace(".", "").lstrip("0")) <= 3
    assert below(-value) == below(0.0) == "0"


def test_a_mesh_has_so_many_cells_and_nodes_and_no_more():
    assert Mesh((65535, 1, 1), (1.0,) * 3).layout.nodes == 65537 * 9
    refused("shape = .*: must be 3 values, each a whole number from 1 to 65535", Mesh, (1, 65536, 1), (1.0,) * 3)
    # 563^3 nodes with guards, and 564^3
    assert Mesh((561,) * 3, (1.0,) * 3).layout.nodes == 178453547
    refused("numbers of currents have 31 bits, so at most 178956970 nodes", Mesh, (562,) * 3, (1.0,) * 3)


def test_a_step_that_moves_no_particle_is_warned_of_with_one_that_does():
    with pytest.warns(UserWarning, match="light goes 1e-08 of a cell, .*: steps of .* s or more") as caught:
        plain(dt=1e-11 / LIGHT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain(dt=float(str(caught[0].message).split("steps of ")[1].split()[0]))


def test_a_gyration_that_the_mesh_does_not_resolve_is_warned_of_with_cells_that_do():
    # 0.5 radians a step at light's speed: a radius of 0.03 / sqrt(3) light's way of a step, over 0.5
    field = (0, 0, 0.5 * MASS / (CHARGE * 0.5 * LIMIT))
    with pytest.warns(UserWarning, match="gyrate with a radius of .* m in cells of 0.001 m: cells of at most"):
        plain(electrons=electrons(200, 0.03), magnetic=field, self_field=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain(electrons=electrons(200, 3.0), magnetic=field, self_field=False)
        plain(electrons=electrons(200, 0.03), self_field=False)


def test_a_debye_length_that_the_mesh_does_not_resolve_is_warned_of_with_cells_that_do():
    cold = electrons(200, 0.05, weight_of(0.5 / (0.5 * LIMIT), 200, 64e-9))
    with pytest.warns(UserWarning, match="the Debye length is .* m in cells of 0.001 m: electrons will heat") as caught:
        plain(electrons=cold)
    debye = 0.05 / np.sqrt(3) * LIGHT * LIMIT
    assert float(str(caught[0].message).split("length is ")[1].split()[0]) == pytest.approx(debye, rel=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain(electrons=cold, self_field=False)
        plain(electrons=replace(cold, weight=cold.weight * 1e-4))


def test_energies_in_air_are_those_of_all_three_components():
    # gamma^2 = 1 + 9 + 4 + 2.25: 1.55 MeV, of which the largest component alone would be 1.10 MeV
    fast = Electrons(np.full((1, 3), 1e-3), np.array([[1.5, -3.0, 2.0]]), np.ones(1))
    line = "electrons of 1.5[0-9]*e.06 to 1.5[0-9]*e.06 eV: collisions are known from"
    refused(line, plain, electrons=fast, air=Collisions(highest=1.5e6))
    plain(electrons=fast, air=Collisions(highest=1.6e6))
