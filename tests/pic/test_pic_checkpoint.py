"""Restarts: the same bits on any device, with any strategy, order and number of ranks; and what is refused."""

import os
import warnings
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from helpers.pic_systems import crowd
from helpers.plain import PlainDevice
from helpers.rank_threads import ThreadRank, on_ranks
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from repro.checksummed_hdf5 import seal
from repro.errors import DivergenceError, InputError
from repro.parallel import select
from repro.parallel.ranks.launch import launch
from repro.parallel.timeloop import MOST_STEPS
from repro.pic.air.collision_tables import Collisions
from repro.pic.air.medium import Air
from repro.pic.disk.checkpoint import described, load, save
from repro.pic.disk.global_state import gathered
from repro.pic.disk.openpmd import write
from repro.pic.mesh import Mesh
from repro.pic.simulation import Simulation
from repro.pic.strategies import baskets
from repro.pic.system import Electrons, System

KIND = "checkpoint of electrons"

#: see `case`
CASES = ("walls", "open", "open at more ends", "air")

TESTS = Path(__file__).parents[1]

#: one file serves all examples: each leaves it as it was
EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def case(name: str) -> System:
    """A small system with a source: between walls, open at two ends and with a wall at two more, or in air.

    None of its numbers is a default.
    """
    with warnings.catch_warnings():
        # what the mesh resolves is not what these tests ask
        warnings.simplefilter("ignore")
        if name == "walls":
            return uneven(crowd(shape=(4, 4, 2)))
        if name == "open":
            return uneven(crowd(shape=(6, 6, 4), boundaries=("absorbing", "periodic", "conducting"), layers=2))
        if name == "open at more ends":
            return uneven(
                crowd(shape=(4, 8, 6), boundaries=("periodic", "absorbing", "absorbing"), layers=1, born=(4, 9))
            )
        system = uneven(crowd(shape=(2, 4, 2), boundaries=("periodic",) * 3, count=4, born=(2, 1)))
        air = Collisions(Air(density=1.5, temperature=250.0), cut=2.5e4, stop=2e4, highest=1.6e7)
        return replace(system, air=air, electric=(1e5, -2e5, 3e5), self_field=False)


def uneven(system: System) -> System:
    """With a seed of its own, and weights of which the largest becomes larger in single precision."""
    weights = system.electrons.weight * np.linspace(0.5, 1.5, len(system.electrons.weight))
    weights[-1] = float(np.float32(weights[-1])) * (1 - 1e-9)
    electrons = replace(system.electrons, weight=weights)
    return replace(system, electrons=electrons, source=replace(system.source, seed=5), seed=7, name="uneven crowd")


def bits(simulation) -> dict[str, np.ndarray]:
    """All that a restart must bring back; a charge along a periodic axis may be on the first node or the last."""
    arrays, host = simulation.fields.arrays._asdict() | simulation.fields.psi, simulation.device.to_host
    arrays = {name: simulation.fields.device.to_host(values) for name, values in arrays.items()}
    mesh = simulation.system.mesh
    charges = host(simulation.charges).reshape(tuple(cells + 2 for cells in mesh.shape[::-1]))
    for axis, boundary in enumerate(mesh.boundaries):
        if boundary == "periodic":
            nodes = np.moveaxis(charges, 2 - axis, 0)
            nodes[1] += nodes[-1]
            nodes[-1] = 0
    tallies = {} if simulation._tallies is None else {"tallies": host(simulation._tallies)}
    return simulation.particles() | arrays | {"charges": charges, "steps": simulation.steps} | tallies


def entries(file) -> list[str]:
    """Names of all that a file holds."""
    found = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
    return found


def require_same_entries(found, expected):
    with h5py.File(found) as file, h5py.File(expected) as other:
        assert entries(file) == entries(other)
        for name in entries(file):
            np.testing.assert_array_equal(file[name][()], other[name][()], err_msg=name)


def require_same_bits(found, expected):
    for name, values in bits(expected).items():
        np.testing.assert_array_equal(bits(found)[name], values, err_msg=name)


def after(system, steps, **options) -> Simulation:
    simulation = Simulation(system, PlainDevice(), **options)
    simulation.step(steps)
    return simulation


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """made(name, precision): a checkpoint after two steps of a case, and the run four steps on."""
    folder, found = tmp_path_factory.mktemp("made"), {}

    def make(name: str, precision: str = "single"):
        if (name, precision) not in found:
            path = folder / f"{name} {precision}.h5"
            whole = after(case(name), 2, precision=precision)
            save(whole, path)
            whole.step(4)
            found[name, precision] = path, whole
        return found[name, precision]

    return make


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_restart_goes_on_bit_for_bit(made, name, precision):
    path, whole = made(name, precision)
    second = load(path, PlainDevice(), sort_every=3)
    assert (second.steps, second.precision) == (2, precision)
    second.step(4)
    require_same_bits(second, whole)
    if name == "air":
        assert whole._tallies[:4].any()
    elif name != "walls":
        assert all(psi.any() for psi in whole.fields.psi.values())


def test_compiled_steps_go_on_bit_for_bit_from_plain_ones(made):
    path, whole = made("walls")
    second = load(path, select("serial"), sort_every=3)
    second.step(4)
    require_same_bits(second, whole)


def test_a_checkpoint_is_read_alike_on_every_device_and_written_again_as_it_was(made, device, tmp_path):
    path, _ = made("open")
    # on a GPU fields are on the host, from which they cross a bus
    strategy = baskets(blocks=2, threads=3, basket=2) if device.name == "cuda" else "fastest"
    second = load(path, device, strategy=strategy)
    require_same_bits(second, load(path, PlainDevice()))
    for copy, field in zip(second.step_arguments[0][:2], second.fields.arrays[:2], strict=True):
        np.testing.assert_array_equal(device.to_host(copy), field)
    assert second.clock[0] == 2
    save(second, tmp_path / "again.h5")
    require_same_entries(tmp_path / "again.h5", path)


def test_the_paper_s_strategy_may_go_on(made):
    path, whole = made("walls")
    strategy = baskets(blocks=2, threads=3, basket=2, every=3, fields="device")
    second = load(path, PlainDevice(), strategy=strategy, sort_every=2)
    second.step(4)
    require_same_bits(second, whole)


def test_a_checkpoint_may_be_of_the_start_and_of_a_run_that_was_sorted(tmp_path):
    whole = after(case("walls"), 5)
    for steps, sort_every in ((0, 0), (0, 2), (3, 2)):
        first = after(case("walls"), steps, sort_every=sort_every)
        save(first, tmp_path / "run.h5")
        second = load(tmp_path / "run.h5", PlainDevice(), sort_every=sort_every)
        second.step(5 - steps)
        require_same_bits(second, whole)


def test_a_box_that_has_no_electrons_any_more_goes_on(tmp_path):
    """And one that never had any: for the arrays it is a rank of several in whose part there are none."""
    flying, none = np.array([[2.0, 0.0, 0.0]]), np.zeros((0, 3))
    for place, momentum in ((np.full((1, 3), 0.9e-3), flying), (none, none)):
        electrons = Electrons(place, momentum, np.full(len(place), 1e4))
        system = System(Mesh((1, 1, 1), (1e-3,) * 3, ("conducting",) * 3), 1e-12, electrons)
        first = Simulation(system, PlainDevice())
        first.step(1)
        assert len(first.particles()["ids"]) == 0
        save(first, tmp_path / "run.h5")
        second = load(tmp_path / "run.h5", PlainDevice())
        for simulation in (first, second):
            simulation.step(1)
        require_same_bits(second, first)


@pytest.fixture(scope="module")
def ranks_files(tmp_path_factory):
    """A checkpoint after four steps, of which two ranks have made two, and its fields and particles as openPMD."""
    folder = tmp_path_factory.mktemp("ranks")
    start, *files = (folder / name for name in ("start.h5", "ranks.h5", "openpmd.h5"))
    save(after(case("open"), 2), start)
    environment = {"PYTHONPATH": f"{TESTS.parent}:{TESTS}"}
    launch(2, str(TESTS / "helpers/rank_checkpoint.py"), [start, 2, *files], timeout=100, environment=environment)
    return files


def test_ranks_go_on_from_one_and_one_from_ranks(ranks_files):
    second = load(ranks_files[0], PlainDevice())
    second.step(2)
    require_same_bits(second, after(case("open"), 6))


def test_ranks_write_the_fields_and_particles_that_one_writes(ranks_files, tmp_path):
    write(after(case("open"), 4), tmp_path / "openpmd.h5")
    require_same_entries(tmp_path / "openpmd.h5", ranks_files[1])


def state_of(simulation) -> dict | None:
    """What is gathered, with the charge of both ends of a periodic axis, which are one, on the first of them."""
    state = gathered(simulation)
    if state is not None:
        for axis, boundary in enumerate(simulation.system.mesh.boundaries):
            if boundary == "periodic":
                nodes = np.moveaxis(state["charges"], 2 - axis, 0)
                nodes[0] += nodes[-1]
                nodes[-1] = 0
    return state


@pytest.mark.parametrize(
    ("name", "count"), [("walls", 2), ("open", 2), ("open", 4), ("open at more ends", 8), ("air", 4)]
)
def test_any_number_of_ranks_have_the_state_of_one_together(made, monkeypatch, tmp_path, name, count):
    monkeypatch.setattr("repro.pic.simulation.Ranks", ThreadRank)
    path, whole = made(name)

    def go_on(rank):
        simulation = load(path, PlainDevice(), ranks=rank)
        begun = state_of(simulation)
        # which is there for all once they go on
        save(simulation, tmp_path / "again.h5")
        assert (tmp_path / "again.h5").exists()
        simulation.step(4)
        ended = state_of(simulation)
        assert write(simulation, tmp_path / "ranks_%T.h5").exists()
        return begun, ended, simulation.count

    ends = on_ranks(count, go_on)
    assert [begun is ended is None for begun, ended, _ in ends] == [False] + [True] * (count - 1)
    begun, ended, _ = ends[0]
    for found, one in ((begun, load(path, PlainDevice())), (ended, whole)):
        expected = state_of(one)
        assert found.keys() == expected.keys()
        for array, values in expected.items():
            np.testing.assert_array_equal(found[array], values, err_msg=array)
    assert sum(here for *_, here in ends) == whole.count
    assert load(tmp_path / "again.h5", PlainDevice()).steps == 2
    require_same_entries(tmp_path / "ranks_6.h5", write(whole, tmp_path / "one.h5"))


def test_ranks_that_go_on_have_together_what_electrons_in_air_have_done(made, monkeypatch):
    monkeypatch.setattr("repro.pic.simulation.Ranks", ThreadRank)
    path, _ = made("air")

    def go_on(rank):
        simulation = load(path, PlainDevice(), ranks=rank)
        begun = simulation._tallies.copy()
        simulation._tallies += 1 + rank.rank
        return begun, gathered(simulation)

    (first, together), (second, nothing) = on_ranks(2, go_on)
    with h5py.File(path) as file:
        expected = file["state/tallies"][()]
    assert expected.any()
    np.testing.assert_array_equal(first + second, expected)
    np.testing.assert_array_equal(together["tallies"], expected + 3)
    assert nothing is None


def test_the_system_is_the_one_that_was_saved(made):
    for name in CASES:
        loaded, entries = load(made(name)[0], PlainDevice()).system, described(case(name))
        for entry, value in described(loaded).items():
            np.testing.assert_array_equal(value, entries[entry], err_msg=entry)
        assert (loaded.air, loaded.source, loaded.mesh) == (case(name).air, case(name).source, case(name).mesh)


@pytest.fixture
def refused(made, tmp_path):
    """refused(words, **changed): what a checkpoint is, with values in place of others, that load refuses so."""

    def refuse(words: str, changed: dict, name: str = "walls"):
        path = tmp_path / "changed.h5"
        path.write_bytes(made(name)[0].read_bytes())
        with h5py.File(path, "a") as file:
            for entry, values in changed.items():
                values = values(file[entry][()]) if callable(values) else values
                del file[entry]
                file[entry] = values
        seal(path, KIND)
        with pytest.raises(InputError, match=words) as caught:
            load(path, PlainDevice())
        assert str(caught.value).startswith(f"{path}: ")
        assert "\n" not in str(caught.value)

    return refuse


def put(index, value):
    """A change of one number."""

    def change(values):
        values[index] = value
        return values

    return change


@pytest.mark.parametrize(
    ("entry", "values", "words"),
    [
        ("state/steps", "ten", "state/steps is text, not int64"),
        ("state/steps", 2.0, "state/steps is float64, not int64"),
        ("state/steps", -1, "such as -1 are not a whole number from 0"),
        ("state/steps", np.array([2]), r"state/steps has the shape \(1,\), not \(\)"),
        ("state/ids", put(3, 2), "state/ids .*: 1 numbers such as 2 are not of one particle each"),
        (
            "state/ids",
            lambda ids: ids[[0, 1, 2, 2, *range(4, len(ids))]],
            "state/ids .*: 1 numbers .* of one particle each",
        ),
        ("state/steps", MOST_STEPS + 1, f"such as {MOST_STEPS + 1} are not a whole number from 0 to {MOST_STEPS}"),
        ("state/ids", put(0, -1), "state/ids .* such as -1 are not from 0 to 18"),
        ("state/ids", put(-1, 19), "state/ids .* such as 19 are not from 0 to 18, as were given away in 2 steps"),
        ("state/ids", np.arange(201), "state/ids has 201 particles, and the system has room for 200"),
        ("state/ids", lambda ids: ids[:-1], "state/cell has the shape"),
        ("state/cell", put((0, 1), 4), r"state/cell .* such as 4 are not in the box of \[4 4 2\] cells"),
        ("state/cell", put((0, 2), -1), "state/cell .* such as -1 are not in the box"),
        ("state/place", put((1, 0), 1.0001), "state/place .* such as 1.0001.* are not from 0 to 1"),
        ("state/place", put((1, 2), -0.125), "state/place .* such as -0.125 are not from 0 to 1"),
        ("state/u", put((2, 1), np.nan), "state/u is damaged: 1 numbers are not finite"),
        ("state/weight", put(0, 0.0), "state/weight .* such as 0.0 are not above 0, and at most"),
        (
            "state/weight",
            lambda weight: 1.0001 * weight,
            "state/weight is damaged: 1 numbers .* not above 0, and at most",
        ),
        ("state/u", put((2, 1), -1.1e15), "state/u .* such as -1.* are not from -1e.15 to 1e.15 m c"),
        ("state/charges", put((0, 0, 0), -(2**62) - 1), "charges of .* electrons rest on a node by step 2"),
        ("state/electric", put((0, 0, 0, 0), 1e20), "no run goes on from such a state: in .* V/m an electron gains"),
        ("system/self_field", 7, "self_field = 7: must be a whole number from 0 to 1"),
        ("state/electric", put((0, 0, 0, 0), np.inf), "state/electric is damaged: 1 numbers are not finite"),
        ("state/charges", lambda values: values.astype(float), "state/charges is float64, not int64"),
        ("precision", "double", "state/place is float32, not float64"),
        ("precision", "half", "unknown precision 'half': choose one of single, double"),
        ("system/shape", np.array([5, 4, 2]), "state/charges has the shape .*3, 5, 5.*, not .*3, 5, 6"),
        ("system/shape", np.array([-4, 4, 2]), r"shape = \[-4, 4, 2\]|shape = \(-4, 4, 2\)"),
        ("system/dt", lambda dt: 2 * dt, "is beyond the Courant limit"),
        ("system/boundaries", "open periodic periodic", r"boundaries = \('open', 'periodic', 'periodic'\): must be"),
        ("system/source", put(2, 4.5), "start = 4.5: must be a whole number"),
        ("system/source", np.ones(3), "source: 3 numbers, where there are five or none"),
        ("system/source", np.zeros(0), "state/ids .* such as 9 are not from 0 to 8"),
        ("system/capacity", 3, "capacity = 3 for 13 particles"),
        ("system/electrons", lambda weight: -weight, "every weight must be above 0"),
    ],
)
def test_what_no_run_of_the_system_comes_to_is_refused_by_name(refused, entry, values, words):
    refused(words, {entry: values})


def test_nothing_that_electrons_in_air_have_done_is_less_than_nothing(refused):
    refused("state/tallies .* such as -1 are not 0 or more", {"state/tallies": put(0, -1)}, "air")


def test_what_a_run_may_just_come_to_is_taken_up(made, tmp_path):
    """Places on faces, cells at both ends, as many particles as there is room for, and the last number of steps."""
    path = tmp_path / "edge.h5"
    path.write_bytes(made("walls")[0].read_bytes())
    with h5py.File(path, "a") as file:
        count, file["state/ids"][0] = len(file["state/ids"]), 0
        file["state/place"][:2] = [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
        file["state/cell"][:2] = [[0, 3, 0], [3, 0, 1]]
        file["state/steps"][()], file["system/capacity"][()] = MOST_STEPS, count
    seal(path, KIND)
    found = load(path, PlainDevice())
    assert (found.steps, found.count, found.system.room) == (MOST_STEPS, count, count)
    np.testing.assert_array_equal(gathered(found)["place"][:2], [[0, 1, 0], [1, 0, 1]])


def test_convolutions_of_absorbing_layers_must_fit_them(refused):
    refused("state/psi electric has the shape", {"state/psi electric": np.zeros((1, 4), np.float32)}, "open")


@EXAMPLES
@given(st.data())
def test_any_byte_of_any_array_that_flips_is_found(made, data):
    path, _ = made("open")
    with h5py.File(path, "a") as file:
        name = data.draw(st.sampled_from(entries(file)))
        before = file[name][()]
        text = isinstance(before, bytes)
        content = bytearray(before if text else before.tobytes())
        if not content:
            return
        # texts stay ASCII, and HDF5's have no zero byte (a blank whose bit flips would be one)
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 6 if text else 7))
        assume(not text or 0 not in content)
        after = content.decode() if text else np.frombuffer(content, before.dtype).reshape(before.shape)
        file[name][()] = after
    try:
        with pytest.raises(InputError, match="open single.h5: it is damaged"):
            load(path, PlainDevice())
    finally:
        with h5py.File(path, "a") as file:
            file[name][()] = before
        seal(path, KIND)


@EXAMPLES
@given(st.data())
def test_any_byte_of_the_file_that_flips_is_found_or_does_not_matter(made, tmp_path, data):
    path, _ = made("walls")
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    (tmp_path / "flipped.h5").write_bytes(content)
    # before HDF5 reads it, which goes round for ever in some of these files
    try:
        found = load(tmp_path / "flipped.h5", PlainDevice())
    except InputError as refusal:
        line = str(refusal)
    else:
        line = ""
        require_same_bits(found, load(path, PlainDevice()))
    assert "\n" not in line


def test_a_checkpoint_of_another_kind_or_version_and_no_checkpoint_at_all_are_refused(made, tmp_path):
    path, other = made("walls")[0], tmp_path / "other.h5"
    with pytest.raises(InputError, match="other.h5: no such checkpoint file"):
        load(other, PlainDevice())
    other.write_text("no HDF5")
    with pytest.raises(InputError, match="other.h5: not a checkpoint of electrons"):
        load(other, PlainDevice())
    for size in (100, 512, path.stat().st_size - 1):
        other.write_bytes(path.read_bytes()[:size])
        with pytest.raises(InputError, match="other.h5: it is damaged"):
            load(other, PlainDevice())
    # as those of sph and dpd begin
    with h5py.File(other, "w") as file:
        file.attrs.update(version=1, steps=10)
    with pytest.raises(InputError, match="other.h5: not a checkpoint of electrons"):
        load(other, PlainDevice())
    other.write_bytes(path.read_bytes())
    with h5py.File(other, "a") as file:
        file.attrs["version"] = 2
    seal(other, KIND)
    with pytest.raises(InputError, match="a checkpoint of version 2, and this program reads 1"):
        load(other, PlainDevice())
    with h5py.File(other, "a") as file:
        file.attrs["version"] = 1
        del file["state/u"]
    seal(other, KIND)
    with pytest.raises(InputError, match="state/u is missing, or cannot be read"):
        load(other, PlainDevice())


@pytest.mark.parametrize("path", [None, 5, "", "a\0b"])
def test_a_path_is_the_name_of_a_file(made, path):
    for how in (lambda: load(path, PlainDevice()), lambda: save(made("walls")[1], path)):
        with pytest.raises(InputError, match="path = .*: must be the name of a file"):
            how()


def test_a_name_that_no_file_can_have_is_refused():
    with pytest.raises(InputError, match=r"no such checkpoint file \(File name too long\)"):
        load(5000 * "a", PlainDevice())


def test_neither_a_folder_nor_a_pipe_is_replaced_by_a_checkpoint(made, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path, "folder"), (tmp_path / "pipe", "pipe")):
        with pytest.raises(InputError, match=f"cannot be written: it is a {kind}, and no file"):
            save(load(made("walls")[0], PlainDevice()), path)
    with pytest.raises(InputError, match="simulation = System.*: must be of the kind Simulation"):
        save(case("walls"), tmp_path / "run.h5")
    assert [path.is_fifo() for path in tmp_path.iterdir()] == [True]


def test_a_run_goes_on_in_its_own_precision_only(made):
    with pytest.raises(InputError, match="the run is in single precision, and goes on in no other: double"):
        load(made("walls")[0], PlainDevice(), precision="double")


def test_what_goes_wrong_leaves_an_older_checkpoint_alone(made, tmp_path, monkeypatch):
    path = tmp_path / "run.h5"
    path.write_bytes(made("walls")[0].read_bytes())
    broken = load(path, PlainDevice())
    broken.particles_on_device.u[0] = np.nan
    with pytest.raises(DivergenceError, match="momenta are not finite by step 2"):
        save(broken, path)

    def full(*_):
        raise OSError("no space left on device")

    fine = load(path, PlainDevice())
    monkeypatch.setattr(h5py.Group, "__setitem__", full)
    with pytest.raises(InputError, match="run.h5: cannot be written: no space left on device"):
        save(fine, path)
    assert path.read_bytes() == made("walls")[0].read_bytes()
    assert list(tmp_path.iterdir()) == [path]


def test_a_checkpoint_of_electrons_that_nobody_was_added_to(tmp_path):
    system = case("walls")
    electrons = Electrons(system.electrons.position, system.electrons.momentum, system.electrons.weight)
    first = Simulation(replace(system, source=None, electrons=electrons, capacity=None, name=""), PlainDevice())
    save(first, tmp_path / "run.h5")
    found = load(tmp_path / "run.h5", PlainDevice())
    assert found.system.source is None
    assert found.system.name == ""
    require_same_bits(found, first)
