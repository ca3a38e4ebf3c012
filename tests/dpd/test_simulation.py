"""Trajectories: the integrator, temperature and pressure, devices against each other, restarts, and what goes wrong."""

import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from helpers.forces_by_hand import forces as forces_by_hand
from helpers.plain import PlainCore, PlainDevice

from repro.checksummed_hdf5 import seal
from repro.dpd import checkpoint
from repro.dpd import fluid as fluids
from repro.dpd.averages import Averages
from repro.dpd.cases import Bulk, Channel, Poiseuille
from repro.dpd.fluid import Fluid
from repro.dpd.noise import PAPER_ROUNDS
from repro.dpd.observables import block_average, pressure, radial_distribution, temperature
from repro.dpd.simulation import Simulation
from repro.dpd.strategies import STRATEGIES, runs_on
from repro.dpd.system import System, in_cell_order
from repro.dpd.walls import Walls
from repro.errors import DivergenceError, InputError, MemoryLimitError
from repro.parallel import CpuDevice, select
from repro.particles.cells import Cells
from repro.particles.random import MOST_PARTICLES, ROUNDS, require_ids


@pytest.fixture
def one_core():
    """One core: long runs of few particles, where several workers would wait for each other."""
    return select("serial")


def few(count=12, side=3.0, seed=2, moving=None, **settings):
    generator = np.random.default_rng(seed)
    moving, box = count if moving is None else moving, (side, 1.1 * side, 1.25 * side)
    position, velocity = generator.uniform(0, box, (count, 3)), generator.normal(0, 1, (count, 3))
    velocity[moving:] = 0
    return System(Fluid(**{"temperature": 0.8} | settings), box, position, velocity, moving)


def distance(a, b, box):
    move = a["position"] - b["position"]
    return np.abs(move - np.array(box) * np.round(move / np.array(box)))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("precision", "enough"), [("single", 1e-6), ("double", 1e-16)])
def test_steps_that_rounding_takes_away_are_warned_of_with_those_that_it_does_not(precision, enough):
    make = partial(Simulation, device=PlainDevice(), precision=precision)
    make(few(dt=enough))
    for dt in (1e-30, enough / 100):
        with pytest.warns(
            UserWarning, match="^box: in dt = .* of the unit of its position, which rounding takes"
        ) as said:
            make(few(dt=dt))
        right = re.search(r"steps of (\S+) or more$", str(said[0].message)).group(1)
        make(few(dt=float(right)))
        assert enough / 100 < float(right) < enough


def test_a_step_is_groot_and_warrens(device):
    system = few()
    simulation = Simulation(system, device, precision="double")
    simulation.step(1)
    found = simulation.particles()
    dt, f = system.fluid.dt, forces_by_hand(system)
    position = system.position + dt * system.velocity + dt * dt / 2 * f
    predicted = replace(system, position=np.mod(position, system.box), velocity=system.velocity + 0.65 * dt * f)
    after = forces_by_hand(predicted, step=1)
    assert distance(found, {"position": position}, system.box).max() < 1e-12
    np.testing.assert_allclose(found["velocity"], system.velocity + dt / 2 * (f + after), atol=1e-11)
    np.testing.assert_allclose(found["force"], after, atol=1e-10)


def test_the_second_step_has_noise_of_its_own(threads):
    system = few()
    simulation = Simulation(system, threads, precision="double", seed=3)
    simulation.step(1)
    before = simulation.particles()
    simulation.step(1)
    after = simulation.particles()
    predicted = before["velocity"] + 0.65 * system.fluid.dt * before["force"]
    at = replace(system, position=after["position"], velocity=predicted)
    np.testing.assert_allclose(after["force"], forces_by_hand(at, seed=3, step=2), atol=1e-9)


def a_hundred_steps(device):
    """Steps, options and systems, a fluid in bulk and one with a wall; a few of each for the simulator."""
    if device.simulated:
        # blocks of few threads, each of which is one of Python
        return 3, {"block": 8}, [few(12), few(15, moving=9)]
    return 100, {}, [Bulk((5.0, 6.5, 5.0)).system(), Poiseuille(6, 4, 8).system()]


@pytest.mark.parametrize("strategy", ["linked", "particle, full stencil", "sorted cells", "planes"])
def test_trajectories_in_single_precision_are_the_same_on_every_device_bit_for_bit(device, threads, strategy):
    if not runs_on(strategy, device):
        pytest.skip(f"'{strategy}' does not run there")
    steps, options, systems = a_hundred_steps(device)
    for system in systems:
        one = Simulation(system, threads, strategy="planes", seed=7)
        other = Simulation(system, device, strategy=strategy, seed=7, **options)
        for simulation in (one, other):
            simulation.step(steps)
        for name in ("position", "velocity"):
            np.testing.assert_array_equal(one.particles()[name], other.particles()[name])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_trajectories_in_double_precision_agree_between_strategies_and_devices(device, one_core, strategy):
    if not runs_on(strategy, device):
        pytest.skip(f"'{strategy}' does not run there")
    steps, options, systems = a_hundred_steps(device)
    for system in systems:
        one = Simulation(system, one_core, strategy="linked", precision="double", seed=7)
        other = Simulation(system, device, strategy=strategy, precision="double", seed=7, **options)
        for simulation in (one, other):
            simulation.step(steps)
        # errors grow tenfold in 25 steps
        assert distance(one.particles(), other.particles(), system.box).max() < 1e-10


def test_a_restart_continues_bit_for_bit(device, tmp_path):
    steps = 2 if device.simulated else 60
    system = few(12, moving=9) if device.simulated else Poiseuille(4, 4, 4).system()
    whole = Simulation(system, device, seed=5)
    whole.step(2 * steps)
    first = Simulation(system, device, seed=5)
    first.step(steps)
    checkpoint.save(first, tmp_path / "run.h5")
    second = checkpoint.load(tmp_path / "run.h5", device)
    assert second.steps == steps
    second.step(steps)
    for name in ("r", "v", "f", "ids", "clock"):
        a, b = (device.to_host(getattr(simulation.state, name)) for simulation in (whole, second))
        np.testing.assert_array_equal(a, b)
    assert second.system.walls == system.walls
    assert second.system.fluid == system.fluid


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_run_repeats_bit_for_bit_where_its_strategy_says_so(device, strategy):
    if device.name not in STRATEGIES[strategy].TRAITS.repeats:
        pytest.skip(f"'{strategy}' promises nothing there")
    steps, options, (system, *_) = a_hundred_steps(device)
    options |= {"strategy": strategy, "seed": 7}
    for precision in ("single", "double"):
        runs = [Simulation(system, device, precision=precision, **options) for _ in range(2)]
        for run in runs:
            run.step(steps)
        np.testing.assert_array_equal(*(run.particles()["velocity"] for run in runs))


@pytest.mark.parametrize("rounds", [0, PAPER_ROUNDS])
def test_a_restart_of_the_papers_programs_carries_their_noise_on(one_core, tmp_path, rounds):
    options = {"strategy": "linked", "rounds": rounds, "seed": 5}
    whole = Simulation(Bulk((3.0, 3.0, 4.0)).system(), one_core, **options)
    whole.step(40)
    first = Simulation(Bulk((3.0, 3.0, 4.0)).system(), one_core, **options)
    first.step(20)
    checkpoint.save(first, tmp_path / "run.h5")
    second = checkpoint.load(tmp_path / "run.h5", one_core)
    second.step(20)
    for name in ("r", "v", "f", "sequence"):
        np.testing.assert_array_equal(getattr(whole.state, name), getattr(second.state, name))


class Backwards(PlainDevice):
    """Plain Python that runs the items of each kernel from the last to the first, as threads may."""

    def compile(self, kernel):
        if kernel.shared_rows:
            return super().compile(kernel)

        def bind(shape, *arguments):
            (count,) = shape
            return lambda: [kernel.body(x, 1, *arguments) for x in reversed(range(count))] and None

        return bind


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if runs_on(name, PlainDevice())])
def test_only_a_strategy_that_promises_to_repeat_has_forces_without_the_order_of_its_threads(strategy):
    system, found = few(60), []
    for device in (PlainDevice(lanes=1), Backwards()):
        simulation = Simulation(system, device, strategy=strategy, precision="double")
        with np.errstate(over="ignore"):
            simulation.start()
        found.append(simulation.particles()["force"])
    np.testing.assert_allclose(*found, atol=1e-11)
    assert np.array_equal(*found) == ("cuda" in STRATEGIES[strategy].TRAITS.repeats)


def test_a_checkpoint_goes_on_where_its_strategy_does_not_run(threads, cuda_device, tmp_path):
    first = Simulation(few(12, moving=9), threads, strategy="planes", seed=5)
    first.step(2)
    checkpoint.save(first, tmp_path / "run.h5")
    second = checkpoint.load(tmp_path / "run.h5", cuda_device)
    assert second.strategy == "sorted cells"
    for simulation in (first, second):
        simulation.step(1)
    np.testing.assert_array_equal(first.particles()["velocity"], second.particles()["velocity"])


def test_a_checkpoint_loads_on_the_device_that_is_given(tmp_path):
    core, gpu = PlainCore(), PlainDevice()
    for strategy, device, expected in (
        ("planes", core, "planes"),
        ("planes", gpu, "sorted cells"),
        ("cell", gpu, "cell"),
    ):
        first = Simulation(few(), core, strategy=strategy, seed=5)
        with np.errstate(over="ignore"):
            checkpoint.save(first, tmp_path / "run.h5")
        second = checkpoint.load(tmp_path / "run.h5", device)
        assert second.device is device
        assert (second.strategy, second.seed) == (expected, 5)


def test_a_run_repeats_itself_bit_for_bit_whatever_the_number_of_workers(threads):
    system = Bulk((4.0, 4.0, 5.0)).system()
    runs = [Simulation(system, device) for device in (threads, threads, CpuDevice("threads", workers=1))]
    for run in runs:
        run.step(30)
    for run in runs[1:]:
        np.testing.assert_array_equal(run.particles()["velocity"], runs[0].particles()["velocity"])


@pytest.mark.parametrize("damage", ["truncate", "text", "missing", "dataset", "version"])
def test_what_is_no_whole_checkpoint_is_refused_in_one_line(threads, tmp_path, damage):
    path = tmp_path / "run.h5"
    checkpoint.save(Simulation(few(), threads), path)
    if damage == "truncate":
        path.write_bytes(path.read_bytes()[:300])
    elif damage == "text":
        path.write_text("not HDF5")
    elif damage == "missing":
        path.unlink()
    else:
        with h5py.File(path, "r+") as file:
            if damage == "dataset":
                del file["v"]
            else:
                file.attrs["version"] = 99
        seal(path, checkpoint.KIND)
    with pytest.raises(InputError) as error:
        checkpoint.load(path, threads)
    assert "run.h5" in str(error.value)
    assert "\n" not in str(error.value)


def _twice(file):
    file["ids"][0] = file["ids"][1]


def _nan(file):
    file["v"][3] = np.nan


def _far(name, value):
    """A change of the first number of an array."""

    def change(file):
        file[name][0] = value

    return change


def _in_double(file):
    values = file["v"][:]
    del file["v"]
    file["v"] = values.astype(np.float64)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_twice, "ids are not the numbers from 0 to"),
        (_nan, "v is damaged: 1 numbers are not finite"),
        (_in_double, "v is float64, not float32"),
        (_far("v", 1e9), "no run goes on from such a state: box: the particles blew up by step 0"),
        (_far("f", -1e9), "f is damaged: a step gives particles a mean speed of"),
        (_far("clock", 5), "clock is 5 after 0 steps, not one more"),
        (_far("clock", -1), "clock is -1 after 0 steps, not one more"),
        (lambda file: file.attrs.update(strategy="zz"), "strategy = 'zz': must be one of .*sorted cells"),
        (lambda file: file.attrs.update(strategy=7), "strategy = 7: must be one of .*sorted cells"),
        (lambda file: file.attrs.update(steps=2**62), "steps = 4611686018427387904: must be a whole number from 0 to"),
        (lambda file: file.attrs.update(steps="x"), "steps = 'x': must be a whole number"),
        (lambda file: file.attrs.update(box=[np.nan, 4.0, 4.0]), "box = .*: must be 3 values"),
        (lambda file: file.attrs.update(box=np.void(b"abc")), "box = b'abc': must be real numbers"),
        (lambda file: file.attrs.update(box=file.attrs["box"] + 1j), "box = .*: must be real numbers"),
        (lambda file: file["fluid"].attrs.update(sigma=3.0 + 1j), r"sigma = \(3\+1j\): must be real numbers"),
        (lambda file: file.attrs.update(precision="double"), "r is int32, not int64"),
        (lambda file: file.attrs.update(moving=0), "there must be at least one"),
        (lambda file: file["fluid"].attrs.update(dt=-1.0), "dt = -1.0: must be a number above 0"),
    ],
)
def test_what_no_run_comes_to_is_refused_even_where_it_is_sealed(threads, tmp_path, change, words):
    path = tmp_path / "run.h5"
    checkpoint.save(Simulation(few(), threads), path)
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(InputError, match="run.h5: it is damaged: its SHA-256 is not that"):
        checkpoint.load(path, threads)
    seal(path, checkpoint.KIND)
    with pytest.raises(InputError, match=f"run.h5: .*{words}"):
        checkpoint.load(path, threads)


def test_nothing_that_a_file_lacks_is_made_up(threads, tmp_path):
    path = tmp_path / "run.h5"
    checkpoint.save(Simulation(few(), threads), path)
    whole = path.read_bytes()
    with h5py.File(path) as file:
        lacks = [(place, name) for place in ("/", "fluid", "walls") for name in file[place].attrs]
    assert {("/", "rounds"), ("fluid", "sigma"), ("walls", "layer")} <= set(lacks)
    for place, name in lacks:
        path.write_bytes(whole)
        with h5py.File(path, "r+") as file:
            del file[place].attrs[name]
        seal(path, checkpoint.KIND)
        with pytest.raises(InputError, match="run.h5: (not a whole checkpoint|a checkpoint of version None)") as error:
            checkpoint.load(path, threads)
        assert "\n" not in str(error.value), name


def test_a_flipped_bit_anywhere_is_refused_at_once(threads, tmp_path):
    path = tmp_path / "run.h5"
    checkpoint.save(Simulation(few(), threads), path)
    whole = path.read_bytes()
    for place in [*range(0, 100, 7), *np.random.default_rng(1).integers(512, len(whole), 60).tolist()]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"run.h5: (it is damaged|not a checkpoint)"):
            checkpoint.load(path, threads)


def test_a_checkpoint_that_cannot_be_written_leaves_the_old_one(threads, tmp_path, monkeypatch):
    path, simulation = tmp_path / "run.h5", Simulation(few(), threads)
    checkpoint.save(simulation, path)
    before = path.read_bytes()

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(h5py.File, "create_group", full)
    with pytest.raises(InputError, match="run.h5: cannot be written: no space"):
        checkpoint.save(simulation, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.h5"]


@pytest.mark.parametrize("write", [checkpoint.save, checkpoint.write_xyz])
def test_only_a_simulation_is_written(tmp_path, write):
    with pytest.raises(InputError, match="^simulation = None: must be of the kind Simulation$"):
        write(None, tmp_path / "a.h5")
    assert not list(tmp_path.iterdir())


def test_frames_are_extended_xyz_with_ids_species_positions_and_velocities(threads, tmp_path):
    system = few(5, moving=3)
    simulation = Simulation(system, threads)
    path = tmp_path / "run.xyz"
    checkpoint.write_xyz(simulation, path)
    simulation.step(1)
    checkpoint.write_xyz(simulation, path, append=True)
    lines = path.read_text().splitlines()
    assert len(lines) == 2 * (5 + 2)
    assert lines[0] == lines[7] == "5"
    # all digits, so that the box is read back as it is
    x, y, z = map(float, system.box)
    assert (x, y, z) == pytest.approx((3, 3.3, 3.75))
    assert f'Lattice="{x!r} 0 0 0 {y!r} 0 0 0 {z!r}"' in lines[1]
    assert "Properties=id:I:1:species:S:1:pos:R:3:velo:R:3" in lines[1]
    assert "Time=0.02" in lines[8]
    rows = [line.split() for line in lines[9:]]
    assert [row[:2] for row in rows] == [["0", "F"], ["1", "F"], ["2", "F"], ["3", "W"], ["4", "W"]]
    found = np.array([row[2:] for row in rows], float)
    now = simulation.particles()
    np.testing.assert_array_equal(found, np.column_stack([now["position"], now["velocity"]]))


@pytest.mark.parametrize("size", [0, 60_000, 300_000], ids=["a frame", "a block", "more than one block"])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-1],
        lambda text: text[: text.rindex(b"4 W")],
        lambda text: text[: text.rindex(b"Properties")],
        lambda text: text + b"5\n",
        lambda text: text + b"some notes\n",
        lambda text: b"some notes\n" * (1 + len(text) // 11),
    ],
    ids=["half a line", "a line less", "half a head", "a line more", "notes after it", "notes"],
)
def test_no_frame_follows_half_of_one_and_what_no_frame_is_stays(threads, tmp_path, spoil, size):
    simulation, path = Simulation(few(5, moving=3), threads), tmp_path / "run.xyz"
    checkpoint.write_xyz(simulation, path)
    frame = path.read_bytes()
    path.write_bytes(before := spoil(frame * (1 + size // len(frame))))
    with pytest.raises(InputError, match=r"run.xyz: nothing is appended: its last frame is not whole.*: cut it off"):
        checkpoint.write_xyz(simulation, path, append=True)
    assert path.read_bytes() == before


def test_no_frame_of_what_is_not_finite_is_written(threads, tmp_path):
    simulation = Simulation(few(5, moving=3), threads)
    simulation.state.v[4] = np.nan
    with pytest.raises(InputError, match="step 0 has numbers that are not finite"):
        checkpoint.write_xyz(simulation, tmp_path / "run.xyz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("count", [1, 2000])
def test_a_frame_follows_whole_ones_of_any_size_and_nothing(threads, tmp_path, count):
    simulation, path = Simulation(few(5, moving=3), threads), tmp_path / "run.xyz"
    path.touch()
    checkpoint.write_xyz(simulation, path, append=True)
    frame = path.read_bytes()
    other = frame.replace(b"5\n", f"{count}\n".encode(), 1).rpartition(b"0 F")[0] + b"0 F 1 1 1 1 1 12345\n" * count
    path.write_bytes(frame + other)
    checkpoint.write_xyz(simulation, path, append=True)
    assert path.read_bytes() == frame + other + frame


def test_temperature_is_that_of_the_fluctuation_dissipation_theorem(one_core):
    # lambda = 0.65 holds kT within 0.5 % at this time step (Groot and Warren 1997)
    simulation = Simulation(Bulk((6.0, 6.0, 6.0)).system(), one_core, seed=2)
    simulation.step(300)
    series = []
    for _ in range(400):
        simulation.advance(5, every=5)
        series.append(temperature(simulation))
    kt = block_average(series)
    assert abs(kt.value - 1) < 0.005 + 4 * kt.error


def test_without_repulsion_the_pressure_and_the_structure_are_those_of_an_ideal_gas(one_core):
    simulation = Simulation(Bulk((6.0, 6.0, 6.0), Fluid(repulsion=0.0)).system(), one_core, seed=2)
    simulation.step(200)
    series, g = [], []
    for _ in range(200):
        simulation.advance(10, every=10)
        series.append(pressure(simulation))
        g.append(radial_distribution(simulation.particles()["position"], simulation.system.box, np.linspace(0.2, 2, 7)))
    p = block_average(series)
    assert abs(p.value - 4) < 4 * p.error
    assert p.error < 0.1
    mean, error = np.mean(g, 0), np.std(g, 0) / np.sqrt(len(g) / 4)
    assert (np.abs(mean - 1) < 5 * error).all()


def test_momentum_of_a_box_stays_what_it_was(one_core):
    simulation = Simulation(Bulk((4.0, 4.0, 4.0)).system(), one_core, precision="double")
    simulation.step(200)
    assert np.abs(simulation.particles()["velocity"].sum(0)).max() < 1e-10


def test_averages_count_every_fluid_particle_once_and_know_the_mean_velocity(device):
    system = few(20, moving=15)
    simulation = Simulation(system, device)
    observer = Averages(simulation, columns=2, rows=3)
    simulation.step(4, every=2, observers=(observer,))
    field = observer.take()
    assert field.samples == 2
    volume = np.prod(system.box) / 6
    assert field.density.sum() * volume == pytest.approx(15)
    with pytest.raises(InputError, match="no sample"):
        observer.take()


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("settings", [{"dt": 1.0}, {"repulsion": 1e6}])
def test_a_run_that_blows_up_stops_with_a_line_that_says_so(threads, settings, precision):
    simulation = Simulation(Bulk((4.0, 4.0, 4.0), Fluid(**settings)).system(), threads, precision=precision)
    with pytest.raises(DivergenceError) as error:
        simulation.step(3000)
    assert simulation.steps <= 1000
    assert "blew up by step" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_value_that_is_not_a_number_stops_the_run(threads):
    simulation = Simulation(few(), threads)
    simulation.step(1)
    simulation.state.v[3] = np.nan
    with pytest.raises(DivergenceError):
        simulation.step(1)


BAD = {
    "a box smaller than three cells": lambda: few(side=2.9).cells,
    "an infinite box": lambda: Cells((3.0, np.inf, 3.0)),
    "zero particles": lambda: few(0),
    "no fluid": lambda: few(4, moving=0),
    "places beyond 32 bits": lambda: require_ids(2**32 // 3 + 1),
    "a density that leaves nothing": lambda: Bulk((3.0, 3.0, 3.0), Fluid(density=0.001)).system(),
    "a particle outside the box": lambda: System(Fluid(), (3.0,) * 3, np.full((2, 3), 4.0), np.zeros((2, 3)), 2),
    "a velocity that is not finite": lambda: System(Fluid(), (3.0,) * 3, np.ones((2, 3)), np.full((2, 3), np.nan), 2),
    "arrays that do not match": lambda: System(Fluid(), (3.0,) * 3, np.ones((2, 3)), np.ones((3, 3)), 2),
    "a time step of zero": lambda: Fluid(dt=0),
    "a negative temperature": lambda: Fluid(temperature=-1),
    "lambda beyond one": lambda: Fluid(predictor=2),
    "an endless channel": lambda: Poiseuille(length=np.inf),
    "a width that is no number": lambda: Channel(width=np.nan),
    "a box with more particles than ids": lambda: Bulk((1e4, 1e4, 1e4)).system(),
    "a channel without height": lambda: Poiseuille(height=0),
    "a gap higher than the channel": lambda: Channel(gap=70),
}


def test_ids_are_named_as_long_as_the_places_of_their_components_have_32_bits():
    # the last of three components of the last particle
    assert 3 * MOST_PARTICLES <= 2**32 < 3 * (MOST_PARTICLES + 1)
    require_ids(MOST_PARTICLES)
    with pytest.raises(InputError, match="32 bits"):
        require_ids(MOST_PARTICLES + 1)


@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
def test_what_cannot_work_is_refused_in_one_line(make):
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"strategy": "fast"}, "strategy = 'fast': must be one of fastest, cell"),
        ({"precision": "half"}, "must be one of single, double"),
        ({"seed": -1}, "from 0 to"),
        ({"rounds": 1.5}, "whole number"),
        ({"block": 4096}, "1 to 1024"),
        ({"strategy": "particle", "capacity": 0}, "1 to 1024"),
        ({"capacity": "32"}, "capacity = '32': must be a whole number from 1 to 1024"),
        ({"registers": 2.5}, "registers = 2.5: must be a whole number from 16 to 255, or None"),
        ({"seed": True}, "seed = True"),
        (
            {"strategy": "sorted cells", "rounds": 0},
            "meets pairs in any order, and a linear generator has one: choose TEA",
        ),
    ],
)
def test_options_that_cannot_work_are_refused_in_one_line(threads, options, hint):
    with pytest.raises(InputError, match=hint) as error:
        Simulation(few(), threads, **options)
    assert "\n" not in str(error.value)


def test_what_does_not_fit_is_refused_before_it_is_allocated():
    device = SimpleNamespace(name="threads", free_memory=lambda: 1000)
    with pytest.raises(MemoryLimitError, match="particles"):
        Simulation(few(100), device)


def test_a_free_particle_falls_as_galileo_says(device):
    # the body force is there from the start, not from the first kick on
    free = replace(few(1), drive=0.5)
    simulation = Simulation(free, device, precision="double")
    simulation.step(3)
    found, time = simulation.particles(), 3 * free.fluid.dt
    np.testing.assert_allclose(found["velocity"][0] - free.velocity[0], [0.5 * time, 0, 0], atol=1e-14)
    expected = free.position + free.velocity * time + [0.25 * time**2, 0, 0]
    assert distance(found, {"position": expected}, free.box).max() < 1e-14


def test_a_checkpoint_before_the_first_step_has_the_forces_at_the_start(threads, tmp_path):
    whole = Simulation(few(), threads, seed=5)
    checkpoint.save(whole, tmp_path / "start.h5")
    other = checkpoint.load(tmp_path / "start.h5", threads)
    for run in (whole, other):
        run.step(2)
    np.testing.assert_array_equal(whole.particles()["velocity"], other.particles()["velocity"])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_forces_found_again_are_the_same(one_core, strategy):
    simulation = Simulation(few(40, moving=25), one_core, strategy=strategy, precision="double")
    found = []
    for _ in range(2):
        simulation.forces.run()
        found.append(simulation.particles()["force"])
    np.testing.assert_allclose(*found, rtol=0, atol=1e-11)


def test_samples_that_do_not_fit_are_refused_before_the_first_step(threads):
    simulation = Simulation(few(), threads)
    with pytest.raises(InputError, match="steps = 1005 with a sample each 10"):
        simulation.step(1005, every=10, observers=(SimpleNamespace(launch=lambda: None),))
    assert simulation.steps == 0


def test_the_cell_table_counts_as_memory(threads):
    sides = [Simulation(few(), threads, strategy="cell", capacity=rows).memory for rows in (24, 1024)]
    assert sides[1] - sides[0] == 4 * 1000 * Cells((3.0, 3.0, 3.0)).count


def test_blocks_over_the_edge_of_the_box_are_refused():
    with pytest.raises(InputError, match="over the edge"):
        replace(few(), walls=Walls(0.5, 2.5, middle_x=0.5, half_length=1.0, half_gap=0.5))


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"count": -1}, "steps = -1"), ({"count": 2.5}, "steps = 2.5"), ({"count": 10, "every": 0}, "every = 0")],
)
def test_steps_that_cannot_be_counted_are_refused(threads, settings, message):
    with pytest.raises(InputError, match=message):
        Simulation(few(), threads).step(**settings)


def test_a_name_is_no_device_and_nothing_is_no_force():
    with pytest.raises(
        InputError, match=r"device = 'threads': must be a device of repro.parallel, such as select\('auto'\)"
    ):
        Simulation(few(), "threads")
    with pytest.raises(InputError, match="drive = nan"):
        replace(few(), drive=float("nan"))


@pytest.mark.parametrize("layer", [0.0, -1.0, 2.0, 3.5])
def test_a_layer_that_leaves_no_fluid_between_the_walls_is_refused(layer):
    with pytest.raises(InputError, match="below 2, half the fluid's height"):
        Poiseuille(3, 3, 4, layer=layer).system()


def test_everything_that_a_run_was_asked_for_goes_on_bit_for_bit(one_core, tmp_path):
    """A flow between walls that turns half way up, of no usual number, compared in all that a state has."""
    fluid = Fluid(3.0, 20.0, 2.5, 0.9, 0.015, 0.6)
    system = Poiseuille(3.0, 4.0, 4.0, drive=0.3, fluid=fluid, thickness=0.7, layer=0.2).system(seed=4)
    system = replace(system, turn=2.2, name="mine")
    options = {"strategy": "cell", "precision": "double", "seed": 9, "rounds": 16, "capacity": 40, "block": 64}
    first = Simulation(system, one_core, **options)
    first.step(4)
    checkpoint.save(first, tmp_path / "run.h5")
    again = checkpoint.load(tmp_path / "run.h5", one_core)
    assert (again.options, again.steps) == (first.options, 4)
    assert first.options == options
    known = ("fluid", "box", "moving", "walls", "drive", "turn", "name")
    assert [getattr(again.system, name) for name in known] == [getattr(system, name) for name in known]
    for steps in (0, 3):
        for run in (first, again):
            run.advance(steps)
        for name in ("r", "v", "u", "f", "virial", "ids", "clock", "sequence"):
            np.testing.assert_array_equal(getattr(again.state, name), getattr(first.state, name), err_msg=name)


def test_a_run_is_as_it_is_said_unless_told_otherwise():
    options = {"strategy": "sorted cells", "precision": "single", "seed": 1, "rounds": ROUNDS, "capacity": 32}
    run = Simulation(few(), PlainDevice())
    assert run.options == options | {"block": 128}
    assert run.state.sequence[0] == 1
    assert Simulation(few(), PlainDevice(), seed=6).state.sequence[0] == 6


@pytest.mark.parametrize(("speed", "ends"), [(0.499 / 0.02, False), (0.501 / 0.02, True)])
def test_a_run_counts_as_blown_up_where_fluid_moves_half_a_cutoff_radius_in_a_step(speed, ends):
    """Frozen particles, which are not fluid, make no flow slower."""
    run = Simulation(few(20, moving=8), PlainDevice(), precision="double")
    run.state.v.reshape(3, 20)[:, :8] = speed / np.sqrt(3)
    if ends:
        words = r"box: .* blew up by step 0 \(mean square speed 628 at kT = 0.8\): use a time step below dt = 0.02"
        with pytest.raises(DivergenceError, match=words):
            run._look()
    else:
        run._look()


def test_a_system_goes_on_from_where_its_particles_are(one_core):
    run = Simulation(few(12, moving=9), one_core, precision="double")
    run.step(3)
    now, found = run.particles(), run.as_it_is()
    np.testing.assert_array_equal(found.position, now["position"])
    np.testing.assert_array_equal(found.velocity, now["velocity"])
    assert (found.moving, found.box, found.fluid) == (9, run.system.box, run.system.fluid)


def test_a_box_holds_particles_on_its_faces_and_none_beyond_any_of_them():
    box = (3.0, 4.0, 5.0)
    corners = np.array([[0.0, 0.0, 0.0], box])
    assert System(Fluid(), box, corners, 0 * corners, 2).count == 2
    for axis in range(3):
        for off in (-0.01, 0.01):
            position = corners.copy()
            position[int(off > 0), axis] += off
            with pytest.raises(InputError, match=r"box: 1 particles lie outside the box \(3.0, 4.0, 5.0\)"):
                System(Fluid(), box, position, 0 * position, 2)
    with pytest.raises(InputError, match="box: 3 fluid particles of 2 in all"):
        System(Fluid(), box, corners, 0 * corners, 3)
    for count in (1, 3):
        with pytest.raises(InputError, match=r"both \(count, 3\)"):
            System(Fluid(), box, corners, np.zeros((count, 3)), 2)


@pytest.mark.parametrize(("middle", "inside"), [(0.9, True), (2.1, True), (0.89, False), (2.11, False)])
def test_blocks_may_end_at_the_faces_of_the_box(middle, inside):
    """Half as long as 0.9, in a box of 3."""
    walls = Walls(0.5, 2.5, middle_x=middle, half_length=0.9, half_gap=0.5)
    if inside:
        assert replace(few(), walls=walls).walls == walls
    else:
        with pytest.raises(InputError, match="blocks over the edge of the box at x = 3: move them inside"):
            replace(few(), walls=walls)


def test_a_fluid_in_bulk_is_driven_one_way_below_half_its_height_and_back_above():
    still, driven = Bulk((3.0, 4.0, 5.0)).system(), Bulk((3.0, 4.0, 5.0), drive=0.2).system()
    assert (still.drive, still.turn, driven.drive, driven.turn) == (0.0, np.inf, 0.2, 2.5)
    assert Bulk().box == (12.0, 12.0, 12.0)
    # to the nearest whole number: 60 x 1.81 = 108.6
    system = Bulk((3.0, 4.0, 5.0), Fluid(density=1.81, temperature=2.5)).system(seed=3)
    assert system.count == system.moving == 109
    np.testing.assert_allclose(system.velocity.mean(0), 0, atol=1e-14)
    many = Bulk((10.0, 10.0, 10.0), Fluid(temperature=2.5)).system()
    np.testing.assert_allclose(many.velocity.var(0), 2.5, rtol=0.1)
    np.testing.assert_allclose(many.position.mean(0), 5.0, atol=0.2)
    assert (many.position != Bulk((10.0, 10.0, 10.0), Fluid(temperature=2.5)).system(seed=2).position).any()


def test_a_predictor_is_a_share_and_a_law_is_tried_up_to_the_cutoff_radius():
    for share in (0, 1):
        assert Fluid(predictor=share).predictor == share
    for share in (-0.01, 1.01):
        with pytest.raises(InputError, match=f"predictor = {share}: must be a number from 0 to 1$"):
            Fluid(predictor=share)
    assert pytest.approx(np.linspace(0.05, 0.95, 19)) == fluids.TRIED


def test_particles_in_the_order_of_their_cells_keep_their_velocities_and_the_fluid_comes_first():
    system = few(60, moving=40)
    found = in_cell_order(system)
    cells = system.cells.of(found.position)
    assert (np.diff(cells[:40]) >= 0).all()
    assert (np.diff(cells[40:]) >= 0).all()
    rows = [sorted(np.column_stack([s.position, s.velocity])[part].tolist()) for s in (system, found) for part in PARTS]
    assert rows[:2] == rows[2:]


PARTS = (slice(40), slice(40, None))
