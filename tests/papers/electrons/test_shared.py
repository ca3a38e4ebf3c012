"""Several processes on a machine: what is asked of them, and that they must agree bit for bit. Nothing is launched."""

import json
import subprocess
import time
from contextlib import contextmanager
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from repro.errors import CheckError, InputError
from repro.exclusive_timing import VARIABLE
from repro.papers.electrons.speed import a_rank, figures, shared, two_ranks
from repro.papers.electrons.speed.programs import LOOP, PAPER, PRODUCTION
from repro.parallel.ranks.migration import Counts
from repro.parallel.ranks.world import Alone

#: what an exchange took, of which all that is asked is that it comes through
COUNTED = {"messages": 4.0, "kB": 1.5, "rounds": 1.0, "waiting": 0.1}

RUNTIME = SimpleNamespace(getDeviceCount=lambda: 2)
GPU = SimpleNamespace(name="cuda", xp=SimpleNamespace(cuda=SimpleNamespace(runtime=RUNTIME)))
CORES = SimpleNamespace(name="threads")


@pytest.fixture
def launched(monkeypatch):
    """Processes that take half a second each for a step, and a service that exists; what was launched."""
    seen = []

    def launch(processes, target, arguments, timeout, environment):
        program, device, gpus, *words, answer = arguments
        assert (target, words) == ("repro.papers.electrons.speed.a_rank", [1000, 3])
        seen.append((program, device, gpus, processes, environment))
        found = {"seconds": 0.5 * processes, "crossing": 0.25, "currents": 1000 // processes**2, "digest": 7}
        found |= COUNTED
        answer.write_text(json.dumps(found))
        return "\x1b[?1034h"

    @contextmanager
    def service():
        yield {"CUDA_MPS_PIPE_DIRECTORY": "somewhere"}

    monkeypatch.setattr(shared, "launch", launch)
    monkeypatch.setattr(shared, "service", service)
    return seen


def test_on_a_gpu_the_papers_program_takes_turns_and_both_run_at_once_beside_as_many_processes_on_cores(launched):
    table = shared.shared([1000], [1, 2, 4], GPU, steps=3)
    assert list(table[["program", "sharing", "gpus", "processes"]].itertuples(index=False, name=None)) == [
        (PAPER, shared.TURNS, 1, 1),
        (PRODUCTION, shared.TURNS, 1, 1),
        (PAPER, shared.SERVICE, 1, 2),
        (PAPER, shared.SERVICE, 1, 4),
        (PRODUCTION, shared.SERVICE, 1, 4),
        (PAPER, shared.TURNS, 1, 4),
        (LOOP, shared.CORES, 0, 1),
        (LOOP, shared.CORES, 0, 4),
    ]
    assert table["ns"].tolist() == pytest.approx([5e8 * n / 1000 for n in table["processes"]])
    # the service is for those alone that use it; nobody stops another one to measure
    using = ["CUDA_MPS_PIPE_DIRECTORY" in environment for *_, environment in launched]
    assert using == list(table["sharing"] == shared.SERVICE)
    assert all(environment[VARIABLE] == "" for *_, environment in launched)
    assert [device for _, device, *_ in launched] == ["cuda"] * 6 + ["threads"] * 2


def test_each_of_two_gpus_has_as_many_processes_as_one(launched):
    table = shared.shared([1000], [1, 8], GPU, steps=3, gpus=[1, 2])
    found = table.groupby(["program", "gpus"])["processes"].unique().map(list).to_dict()
    assert found == {(PAPER, 1): [1, 8], (PRODUCTION, 1): [1, 8], (PAPER, 2): [2, 16], (PRODUCTION, 2): [2, 16]} | {
        (LOOP, 0): [1, 16]
    }
    assert {gpus for _, _, gpus, _, _ in launched} == {0, 1, 2}


def test_more_gpus_than_there_are_are_refused(launched):
    with pytest.raises(InputError, match=r"gpus = \[1, 4\]: this machine has 2"):
        shared.shared([1000], [1], GPU, steps=3, gpus=[1, 4])
    assert not launched


@pytest.mark.parametrize(
    ("count", "gpus", "visible", "found"),
    [(4, 2, "", "0 0 1 1"), (3, 2, "", "0 0 1"), (2, 2, "5,7", "5 7"), (4, 1, "3", "3 3 3 3"), (2, 1, "4,5", "4 4")],
)
def test_neighbours_share_a_gpu_and_each_has_its_share(count, gpus, visible, found):
    assert [a_rank.gpu_of(rank, count, gpus, visible) for rank in range(count)] == found.split()


def test_without_a_gpu_processes_share_the_cores(launched):
    table = shared.shared([1000], [1, 2], CORES, steps=3)
    assert list(zip(table["program"], table["sharing"], strict=True)) == [(LOOP, shared.CORES)] * 2
    assert [seen[:4] for seen in launched] == [(LOOP, "threads", 0, 1), (LOOP, "threads", 0, 2)]
    assert table["currents"].tolist() == [1000, 250]


@pytest.mark.parametrize(
    ("particles", "steps", "line"),
    [
        (3, 1, "particles of several processes = 3: must be a whole number from 30 to 2147483647$"),
        (1000, 0, "steps of several processes = 0: must be a whole number from 1 to 1000000$"),
        (1e3, 1, "particles of several processes"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_launched(launched, particles, steps, line):
    with pytest.raises(InputError, match=line):
        shared.shared([particles], [1, 2], CORES, steps=steps)
    assert not launched


def test_without_the_service_there_is_no_environment(monkeypatch):
    monkeypatch.setattr(shared.shutil, "which", lambda name: None)
    with shared.service() as environment:
        assert environment == {}


def test_a_service_goes_on_in_the_background_neither_waited_for_nor_stopped_by_who_measures(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, "file")
    # as the real one: what starts it ends at once, and a process stays that has the same output
    control = tmp_path / "nvidia-cuda-mps-control"
    control.write_text(
        '#!/bin/sh\necho "$CUDA_MPS_PIPE_DIRECTORY $*$REPRO_QUIET" >> "$0.log"\n[ "$1" = -d ] && sleep 20 &\n'
        '[ "$1" = -d ] || cat >> "$0.log"\n'
    )
    control.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    start = time.monotonic()
    with shared.service() as environment:
        folder = environment["CUDA_MPS_PIPE_DIRECTORY"]
    assert time.monotonic() - start < 10
    # started and ended in the same folder
    assert (tmp_path / f"{control.name}.log").read_text().split() == [folder, "-d", folder, "quit"]


def test_a_service_that_does_not_start_is_no_service(monkeypatch, tmp_path):
    control = tmp_path / "nvidia-cuda-mps-control"
    control.write_text("#!/bin/sh\nexit 3\n")
    control.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(subprocess.CalledProcessError, match="exit status 3"), shared.service():
        pass


def test_electrons_that_depend_on_the_number_of_processes_are_refused(monkeypatch):
    def launch(processes, target, arguments, **_):
        found = {"seconds": 1, "crossing": 0, "currents": 1, "digest": processes} | COUNTED
        arguments[-1].write_text(json.dumps(found))

    monkeypatch.setattr(shared, "launch", launch)
    with pytest.raises(CheckError, match=r"electrons depend on the number of processes, \[1, 2\]"):
        shared.shared([1000], [1, 2], CORES, steps=1)


def test_processes_that_do_not_divide_the_cells_are_refused_before_any_runs(launched):
    with pytest.raises(InputError, match="3 ranks do not divide a grid of 8 x 8 x 8 cells: use 1, 2, 4"):
        shared.shared([1000], [1, 3], CORES, steps=1)
    assert not launched


def test_table_and_figure_show_every_way(launched):
    table = shared.shared([1000], [1, 4], GPU, steps=3)
    assert list(table["over one"]) == pytest.approx(list(table["processes"]))
    assert (table["crossing"] == 0.25).all()
    figure, arrays = figures.shared(table)
    assert len(figure.axes[0].lines) == table.groupby(["program", "sharing"]).ngroups
    assert list(arrays["ns"]) == list(table["ns"])
    plt.close(figure)


def test_what_the_exchange_took_is_that_of_all_ranks_and_rounds_are_of_one():
    counts = Counts(5, 5, sent=3, received=3, messages=2, bytes=144, rounds=4, waited=0.25)
    simulation = SimpleNamespace(crossing=SimpleNamespace(counts=counts))
    # another rank has counted the same
    ranks = SimpleNamespace(count=2, sum=lambda values: 2 * values)
    found = a_rank._exchange(simulation, ranks)
    assert found == pytest.approx({"sent": 6, "messages": 4, "kB": 0.288, "rounds": 4, "waiting": 0.5})
    assert set(a_rank._exchange(None, Alone()).values()) == {0.0}


@pytest.mark.parametrize(("rank", "count", "crossing"), [(0, 2, 0.25), (1, 2, None), (0, 1, 0.0)])
def test_a_process_checks_times_and_answers(monkeypatch, tmp_path, rank, count, crossing):
    """Of 1000 particles each rank has sent 125 in its last step; the first rank alone answers."""
    made, done = [], []

    class Simulation:
        def __init__(self, system, device, **options):
            made.append((system, device, options))
            counts = Counts(0, 0, sent=125, messages=2, bytes=144, rounds=4, waited=0.25)
            self.crossing = SimpleNamespace(counts=counts)
            self.fields = SimpleNamespace(arrays=SimpleNamespace(currents=np.zeros(11)))

        def step(self, steps):
            done.append(("step", steps))

        def advance(self, steps):
            done.append(("advance", steps))

    def seconds(simulation, ranks, steps):
        assert isinstance(simulation, Simulation)
        assert (ranks, steps) == (world, 40)
        return next(times)

    times = iter(float(k) for k in (9, 1, *[4] * (a_rank.REPEATS - 2)))
    world = SimpleNamespace(rank=rank, count=count, sum=lambda values: 2 * values, finish=lambda: done.append("end"))
    for name, value in {
        "world": lambda: world,
        "select": lambda name: name,
        "_options": lambda *given: {"strategy": given},
        "Simulation": Simulation,
        "_seconds": seconds,
        "host_loop_of": lambda simulation: None,
        "_digest": lambda simulation, ranks: 77,
        "cube": lambda particles, multiple: SimpleNamespace(system=lambda: (particles, multiple)),
    }.items():
        monkeypatch.setattr(a_rank, name, value)
    a_rank.main(PAPER, "cuda", "0", "1000", "40", str(tmp_path / "answer.json"))
    (small, *_), (system, device, options) = made
    assert small.mesh.shape == (8, 8, 8)
    assert (system, device, options) == ((1000, 8), "cuda", {"strategy": (PAPER, "cuda", count), "ranks": world})
    assert done == [("step", a_rank.CHECK_STEPS), ("step", 1), ("advance", 40), "end"]
    answers = [json.loads(file.read_text()) for file in tmp_path.iterdir()]
    exchange = {"messages": 4.0, "kB": 0.288, "rounds": 4.0, "waiting": 0.0625} if crossing else {}
    expected = {"seconds": 4.0, "crossing": crossing, "currents": 88, "digest": 77}
    expected |= exchange or dict.fromkeys(("messages", "kB", "rounds", "waiting"), 0.0)
    assert answers == ([] if crossing is None else [expected])


def test_processes_take_as_long_for_a_step_as_the_last_of_them(monkeypatch):
    taken = []
    monkeypatch.setattr(a_rank, "host_clock", lambda run, device: run() or 6.0)
    ranks = SimpleNamespace(sum=lambda values, what: values, gather=lambda mine: np.array([0.5, *mine, 1.0]))
    # 6 seconds for 4 steps here, half a second and a second for one elsewhere
    assert a_rank._seconds(SimpleNamespace(advance=taken.append, device=None), ranks, 4) == 1.5
    assert taken == [4]


def test_a_digest_tells_every_bit_and_no_order():
    rng = np.random.default_rng(3)
    position, momentum, weight = rng.random((50, 3)), rng.normal(size=(50, 3)), rng.random(50)
    found = {"position": position, "momentum": momentum, "weight": weight, "ids": np.arange(50)}

    def digest(**changed):
        return a_rank._digest(SimpleNamespace(particles=lambda: found | changed), Alone())

    order = rng.permutation(50)
    assert digest() == digest(**{name: values[order] for name, values in found.items()})
    changed = position.copy()
    changed[7, 1] = np.nextafter(changed[7, 1], 1)
    swapped = momentum.copy()
    swapped[[3, 4]] = swapped[[4, 3]]
    assert len({digest(), digest(position=changed), digest(momentum=swapped), digest(ids=np.arange(50) ^ 1)}) == 4


@pytest.mark.parametrize(("processes", "blocks"), [(1, 80), (4, 20), (160, 1)])
def test_processes_of_a_gpu_have_its_multiprocessors_blocks_between_them(monkeypatch, processes, blocks):
    monkeypatch.setattr(a_rank, "shape_of", lambda device, *_: (80, 512))
    monkeypatch.setattr(
        a_rank, "programs", lambda device: {name: (device, {"sort_every": 0}) for name in (PAPER, LOOP)}
    )
    made = []
    monkeypatch.setattr(a_rank, "baskets", lambda *, blocks: made.append(blocks) or "baskets")
    assert a_rank._options(PAPER, "here", processes) == {"sort_every": 0, "strategy": "baskets"}
    assert made == [blocks]
    # other programs have no blocks to share
    assert a_rank._options(LOOP, "here", processes) == {"sort_every": 0}


def test_all_electrons_of_the_timeline_begin_in_the_lower_half_with_their_energy():
    whole = two_ranks.CASE.system()
    system = two_ranks.system()
    start = system.electrons
    assert system.source is None
    assert len(start.position) == two_ranks.CASE.particles
    share = start.position / whole.mesh.length
    assert (share >= 0).all()
    assert (share.max(0) <= [1, 1, 0.5]).all()
    assert (share.max(0) > [0.5, 0.5, 0.25]).all()
    np.testing.assert_allclose(np.linalg.norm(start.momentum, axis=1), two_ranks.CASE.source.momentum)
    # in all directions
    assert (np.abs(start.momentum.sum(0)) < 0.6 * len(share) * two_ranks.CASE.source.momentum).all()
    assert set(start.weight) == {two_ranks.CASE.weight}
