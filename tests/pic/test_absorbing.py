"""Absorbing layers: what they send back, where they are, and that a box without them has none."""

from itertools import product

import numpy as np
import pytest
from helpers.pic_fields import UNIT, advance, made, random_fields
from helpers.pic_systems import net_charge, weight_of
from helpers.plain import PlainDevice

from repro.errors import InputError
from repro.papers.electrons.fields.reflection import Pulse, decibels, reflected
from repro.pic.maxwell.absorbing import grades, layered_nodes
from repro.pic.maxwell.fields import Fields, courant_limit, courant_numbers, field_units
from repro.pic.mesh import Mesh
from repro.pic.observables import field_energy, kinetic_energy
from repro.pic.simulation import Simulation
from repro.pic.system import Electrons, Source, System

SPACING = (1e-3,) * 3


@pytest.mark.parametrize("pulse", [Pulse(12), Pulse(12, 17)], ids=["straight", "at 45 degrees"])
def test_ten_layers_send_back_less_than_a_ten_thousandth(pulse, threads):
    """With grades half a cell off it would be a hundredth."""
    assert pulse.angle == pytest.approx(0 if pulse.period == 1 else 45, abs=0.2)
    assert decibels(reflected(pulse, threads, np.float32, [10])[10]) < -80


def test_a_single_layer_sends_back_more_than_a_tenth(threads):
    """The measurement can see a bad boundary."""
    found = reflected(Pulse(12), threads, np.float32, [1])
    assert decibels(found[1]) > -20


def test_corners_where_layers_meet_absorb_too(threads):
    mesh = Mesh((20, 20, 20), SPACING, ("absorbing",) * 3, layers=5)
    # a field that runs in circles, and so has no charges that would stay; wide, since the shortest waves hardly move
    z, y, x = (np.exp(-(((np.arange(20) - 9.5) / 1.8) ** 2)).reshape(shape) for shape in ((-1, 1, 1), (-1, 1), (-1,)))
    circles = z * y * x
    electric = np.array([np.diff(circles, axis=1, prepend=0), -np.diff(circles, axis=2, prepend=0), 0 * circles])
    fields = made(mesh, share=0.99, real=np.float32, device=threads, electric=electric)
    left = [field_energy(mesh, fields.dt, **fields.on_host())]
    for _ in range(3):
        advance(fields, 100)
        left.append(field_energy(mesh, fields.dt, **fields.on_host()))
    # no more than a hundredth of the amplitude comes back
    assert left[1] < 1e-4 * left[0]
    assert left[3] < left[2] < left[1]


@pytest.mark.parametrize("half", [False, True])
def test_grades_are_those_of_roden_and_gedney_at_every_depth(half):
    mesh, dt = Mesh((2, 9, 3), (1.1e-3, 0.7e-3, 0.9e-3), ("periodic", "absorbing", "conducting"), layers=4), 1e-12
    decay, gain, shrink = grades(mesh, dt, 1, half=half)
    # from node 0 to node 8 between two guards, or half a cell above them: the layers begin at nodes 4 and 5
    depths = np.array([3.5, 2.5, 1.5, 0.5, 0, 0.5, 1.5, 2.5, 3.5] if half else [4, 3, 2, 1, 0, 0, 1, 2, 3]) / 4
    # sigma and kappa - 1 go with the third power of the depth, alpha falls
    rate = 299792458 * dt / 0.7e-3
    sigma, kappa, alpha = 1.2 * 4 * rate * depths**3, 1 + depths**3, 0.05 * rate * (1 - depths)
    inside = depths > 0
    np.testing.assert_allclose(decay[1:-1], np.exp(-(sigma / kappa + alpha)) * inside)
    change = sigma * (np.exp(-(sigma / kappa + alpha)) - 1)
    np.testing.assert_allclose(gain[1:-1], change / (sigma * kappa + kappa**2 * alpha))
    np.testing.assert_allclose(shrink[1:-1], 1 / kappa - 1)
    # guards are beyond the wall, and an axis without layers is left as it is
    assert not np.any([part[[0, -1]] for part in (decay, gain, shrink)])
    assert not grades(mesh, dt, 2, half=half).any()


def by_hand(mesh, dt, electric, magnetic, steps) -> dict[str, np.ndarray]:
    """Fields after so many steps, (3, nz, ny, nx), as the equations of `yee` and `absorbing` have them."""
    units = field_units(dt)
    e, b = (
        np.asarray(field).transpose(0, 3, 2, 1) / unit for field, unit in zip((electric, magnetic), units, strict=True)
    )
    walls, ways, psi = [kind != "periodic" for kind in mesh.boundaries], courant_numbers(mesh, dt), {}

    def conduct():
        """E along a wall is none."""
        for c, axis in product(range(3), range(3)):
            if walls[axis] and c != axis:
                np.moveaxis(e[c], axis, 0)[0] = 0

    def change(values, axis, way):
        """The difference to the next node, or from the last one; beyond the last node before a wall there is none."""
        beyond = np.roll(values, -way, axis)
        if walls[axis]:
            np.moveaxis(beyond, axis, 0)[-1 if way > 0 else 0] = 0
        return way * ways[axis] * (beyond - values)

    def stretched(name, values, axis, way):
        decay, gain, shrink = np.moveaxis(grades(mesh, dt, axis, half=way > 0)[:, 1:-1, None, None], 1, 1 + axis)
        found = change(values, axis, way)
        psi[name, axis] = decay * psi.get((name, axis), 0) + gain * found
        return found * (1 + shrink) + psi[name, axis]

    conduct()
    # half a step back, before anything has reached the layers
    b = b + 0.5 * np.array(
        [change(e[c - 1], (c + 1) % 3, 1) - change(e[(c + 1) % 3], (c + 2) % 3, 1) for c in range(3)]
    )
    for _ in range(steps):
        for mine, others, way in ((b, e, 1), (e, b, -1)):
            for c, p, q in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
                curl = stretched((way, q), others[q], p, way) - stretched((way, p), others[p], q, way)
                mine[c] -= way * curl
        conduct()
    return {
        name: (values * unit).transpose(0, 3, 2, 1)
        for name, values, unit in zip(("electric", "magnetic"), (e, b), units, strict=True)
    }


@pytest.mark.parametrize(
    "boundaries",
    [
        ("absorbing", "periodic", "conducting"),
        ("conducting", "absorbing", "periodic"),
        ("absorbing", "conducting", "absorbing"),
        ("absorbing",) * 3,
    ],
)
def test_fields_in_and_before_layers_are_those_of_the_equations(boundaries):
    mesh = Mesh((7, 5, 6), (1e-3, 1.3e-3, 0.8e-3), boundaries, layers=2)
    start = random_fields(mesh)
    fields = made(mesh, **start)
    expected = by_hand(mesh, fields.dt, **start, steps=6)
    advance(fields, 6)
    for name, values in fields.on_host().items():
        found = values[:, :-1, :-1, :-1]
        np.testing.assert_allclose(
            found, expected[name], rtol=0, atol=1e-13 * np.abs(expected[name]).max(), err_msg=name
        )


def test_layers_are_where_the_box_ends_and_nowhere_else():
    boundaries = ("absorbing", "periodic", "conducting")
    mesh = Mesh((7, 2, 2), SPACING, boundaries, layers=2)
    np.testing.assert_array_equal(np.unique(mesh.cells(layered_nodes(mesh))[:, 0]), [0, 1, 5, 6])
    # the first part of a larger box has the layers at its low end only
    part = Mesh((7, 2, 2), SPACING, boundaries, divided=((False, True), (False, False), (False, False)), layers=2)
    np.testing.assert_array_equal(np.unique(part.cells(layered_nodes(part))[:, 0]), [0, 1])
    assert part.walls == ((True, False), (False, False), (True, True))


def test_a_box_without_layers_launches_nothing_for_them():
    fields = made(Mesh((3, 3, 3), SPACING, ("periodic", "conducting", "periodic")))
    assert not fields.psi
    assert not [name for name in fields.before | fields.after if "absorbed" in name]


def test_layers_that_leave_no_cell_are_refused():
    with pytest.raises(InputError, match="20 cells along y of which 20 absorb: take at least 21"):
        Mesh((4, 20, 4), SPACING, ("periodic", "absorbing", "periodic"))
    with pytest.raises(InputError, match="layers = 0: must be a whole number from 1 to 65535$"):
        Mesh((4, 20, 4), SPACING, layers=0)


def test_an_axis_that_goes_round_is_divided_at_both_ends():
    with pytest.raises(InputError, match="divided at one end"):
        Mesh((4, 4, 4), SPACING, divided=((True, False), (False, False), (False, False)))


@pytest.mark.parametrize("boundary", ["periodic", "absorbing", "conducting"])
def test_two_halves_that_fill_each_others_guards_are_one_box(boundary):
    boundaries = (boundary, "periodic", "conducting")
    whole = Mesh((8, 3, 4), SPACING, boundaries, layers=2)
    ends = ((True, True),) * 2 if boundary == "periodic" else ((False, True), (True, False))
    parts = [Mesh((4, 3, 4), SPACING, boundaries, (end, (False, False), (False, False)), layers=2) for end in ends]
    start, dt = random_fields(whole), 1e-12
    one = Fields(PlainDevice(), np.float32, whole, dt, UNIT)
    halves = joined(parts, dt, boundary == "periodic")
    one.set(**start)
    for side, half in enumerate(halves):
        half.set(**{name: values[..., 4 * side : 4 * side + 4] for name, values in start.items()})
    # as the guards of the first one were filled before the second one had been set
    halves[0].fill_guards()
    for _ in range(4):
        advance(one, 1)
        together(halves)
    for name, values in one.on_host().items():
        found = np.concatenate([half.on_host()[name][..., :4] for half in halves], axis=-1)
        np.testing.assert_array_equal(found, values[..., :-1])


def joined(parts, dt, around) -> list[Fields]:
    """Fields of two halves along x, each of which takes the guards that it asks for from the other's arrays."""
    halves = []

    def exchange(side):
        def bind(values, components, component_step, node_step, low=True, high=True):
            def fill():
                mine, others = (np.moveaxis(a.reshape(shape), x, 0) for a in (values, counterpart(values)))
                if low and (side or around):
                    mine[0] = others[-2]
                if high and (around or not side):
                    mine[-1] = others[1]

            # z, y and x with guards; a cell's currents stand together
            shape, x = ((6, 5, 6, components), 2) if component_step == 1 else ((components, 6, 5, 6), 3)
            return fill

        def counterpart(values):
            which = [array is values for array in halves[side].arrays].index(True)
            return halves[1 - side].arrays[which]

        return bind

    for side, mesh in enumerate(parts):
        halves.append(Fields(PlainDevice(), np.float32, mesh, dt, UNIT, exchange(side)))
    return halves


def together(halves) -> None:
    """One step of both: each launch of the one and then of the other."""
    for stage in ("before", "after"):
        for name in getattr(halves[0], stage):
            for half in halves:
                getattr(half, stage)[name]()


def dense(mesh, seed=1) -> System:
    """A warm plasma that fills what does not absorb; omega_p dt = 0.3."""
    rng, dt = np.random.default_rng(seed), 0.9 * courant_limit(mesh)
    extent = np.array(mesh.inner_shape) * mesh.spacing
    count = 4 * int(np.prod(mesh.inner_shape))
    first = np.array([low for low, _ in mesh.absorbing]) * mesh.spacing
    weight = weight_of(0.3 / dt, count, float(np.prod(extent)))
    place, momentum = first + rng.random((count, 3)) * extent, rng.normal(0, 0.1, (count, 3))
    return System(mesh, dt, Electrons(place, momentum, np.full(count, weight)), name="dense")


def energy(simulation) -> float:
    found, mesh = simulation.particles(), simulation.system.mesh
    own = field_energy(mesh, simulation.system.dt, **simulation.fields.on_host())
    return own + kinetic_energy(found["momentum"], found["weight"])


def test_a_plasma_that_reaches_the_layers_gains_no_energy_from_them(threads):
    simulation = Simulation(dense(Mesh((12, 12, 12), SPACING, ("absorbing",) * 3, layers=4)), threads)
    start, found = energy(simulation), []
    for _ in range(3):
        simulation.step(100)
        found.append(energy(simulation))
    assert max(found) < start
    # it loses what the layers take up
    assert simulation.count < simulation.system.count


def test_layers_take_electrons_up_at_their_inner_side_and_leave_their_charge_there():
    mesh = Mesh((9, 4, 5), SPACING, ("absorbing", "periodic", "conducting"), layers=2)
    source = Source(1e6, 1e3, start=40, per_step=5)
    simulation = Simulation(System(mesh, 1e-12, source=source, capacity=400), PlainDevice())
    for _ in range(6):
        simulation.step(2)
        place = simulation.particles()["position"]
        assert ((place[:, 0] >= 2e-3) & (place[:, 0] <= 7e-3)).all()
    assert simulation.count < 40 + 5 * 12
    assert abs(net_charge(simulation)[:, :-1].sum()) < 1e-3
    rest = simulation.device.to_host(simulation.charges).reshape(mesh.guarded_grid)
    # nothing rests in the layers
    assert not rest[:, :, 1:3].any()
    assert not rest[:, :, 9:].any()
    assert rest[:, :, 3].any()


def test_electrons_in_layers_are_refused_with_where_they_may_be():
    mesh = Mesh((9, 7, 5), (1e-3, 2e-3, 3e-3), ("absorbing", "absorbing", "conducting"), layers=2)
    edge = np.array([[2e-3, 4e-3, 0], [7e-3, 1e-2, 15e-3]])
    System(mesh, 1e-12, Electrons(edge, np.zeros((2, 3)), np.ones(2)))
    line = "1 electrons are in absorbing layers, .*: they may be from 0.002 to 0.007, 0.004 to 0.01, 0 to 0.015 m along"
    for place, way in ((0, -1e-6), (1, 1e-6)):
        for axis in (0, 1):
            moved = edge.copy()
            moved[place, axis] += way
            with pytest.raises(InputError, match=line):
                System(mesh, 1e-12, Electrons(moved, np.zeros((2, 3)), np.ones(2)))
