"""What ends a run of several ranks and what is said then, without any process: by a clock and an MPI of its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from repro.errors import InputError
from repro.parallel.ranks import launch as launching
from repro.parallel.ranks import rank_errors, rank_main, rank_watchdog
from repro.parallel.ranks import world as worlds
from repro.parallel.ranks.launch import RanksError, launch
from repro.parallel.ranks.rank_watchdog import Watchdog


class Machine:
    """Ranks of one machine, or of two, that share a table and a clock."""

    COMM_TYPE_SHARED = "shared"

    def __init__(self, monkeypatch, ranks: int, elsewhere: int = 0):
        self.now, self.naps, self.yields, self.aborted = 1000.0, 0, 0, []
        self.buffers = [bytearray(40) for _ in range(ranks)]
        self.Win = SimpleNamespace(Allocate_shared=self._allocate)
        self.COMM_WORLD = SimpleNamespace(Abort=self.aborted.append)
        monkeypatch.setattr(rank_watchdog.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(rank_watchdog.time, "sleep", self._sleep)
        monkeypatch.setattr(rank_watchdog, "_give_way", self._yield)
        self.dogs = [Watchdog(self._communicator(rank, ranks, elsewhere), self) for rank in range(ranks)]

    def _sleep(self, seconds: float) -> None:
        self.now += seconds
        self.naps += 1

    def _yield(self) -> None:
        self.yields += 1

    def _communicator(self, rank: int, ranks: int, elsewhere: int):
        here = SimpleNamespace(rank=rank, size=ranks, Barrier=lambda: None)
        # those elsewhere come first
        rank += elsewhere
        return SimpleNamespace(rank=rank, size=ranks + elsewhere, Split_type=lambda kind: here, Ibarrier=lambda: "left")

    def _allocate(self, size, unit, comm):
        assert (size, unit) == (40, 8)
        return SimpleNamespace(Shared_query=lambda k: (self.buffers[k], unit))

    def wait(self, seconds: float, *who: int, working=()) -> None:
        """Let ranks wait for a sum, and others do something now and then, until one has ended the run."""
        end = self.now + seconds
        while self.now < end and not self.aborted:
            self.now += 0.1
            for rank in working:
                self.dogs[rank].progress()
            for rank in who:
                self.dogs[rank].rest("a sum") if not self.aborted else None


@pytest.fixture
def machine(monkeypatch):
    """Makes ranks that share a table."""
    return lambda ranks, elsewhere=0: Machine(monkeypatch, ranks, elsewhere)


def polled(machine, *who: int) -> None:
    """The polls before a rank looks at the others."""
    for _ in range(200):
        for rank in who:
            machine.dogs[rank].rest("a sum")


def test_a_rank_polls_two_hundred_times_before_it_sleeps(machine):
    ranks = machine(2)
    polled(ranks, 0)
    assert (ranks.yields, ranks.naps) == (200, 0)
    ranks.dogs[0].rest("a sum")
    assert (ranks.yields, ranks.naps) == (200, 1)
    # after it has done something it polls anew
    ranks.dogs[0].progress()
    polled(ranks, 0)
    assert (ranks.yields, ranks.naps) == (400, 1)


def test_ranks_that_wait_look_four_times_a_second(machine):
    ranks = machine(2)
    polled(ranks, 0, 1)
    ranks.wait(10.05, 0, 1)
    looks = [dog._own[rank_watchdog._LOOKS] for dog in ranks.dogs]
    # every third tenth of a second
    assert looks == pytest.approx([33, 33], abs=1)


@pytest.mark.parametrize(("elsewhere", "seconds", "ends"), [(0, 2.4, True), (1, 2.4, False), (0, 1.7, False)])
def test_a_rank_that_left_ends_those_that_wait_two_seconds_later(machine, capsys, elsewhere, seconds, ends):
    ranks = machine(3, elsewhere)
    polled(ranks, 0, 1, 2)
    assert ranks.dogs[2].leave() == "left"
    # it waits at its end for the others
    ranks.wait(seconds, 0, 1, 2)
    assert ranks.aborted == ([1] if ends else [])
    line = f"rank 0 of 3: waited for a sum, but rank 2 (process {os.getpid()}) has left the program\n"
    # of ranks elsewhere nobody here knows whether they still work
    assert capsys.readouterr().err == (line if ends else "")


def test_ranks_wait_for_one_that_is_busy_although_another_has_left(machine):
    ranks = machine(3)
    polled(ranks, 0, 2)
    ranks.dogs[2].leave()
    ranks.wait(20, 0, 2)
    assert ranks.aborted == []


def test_ranks_that_have_left_wait_for_those_that_work_and_for_those_that_wait(machine):
    ranks = machine(3)
    polled(ranks, 0, 1, 2)
    ranks.dogs[0].leave()
    ranks.wait(20, 0, 1, working=[2])
    assert ranks.aborted == []
    # who has left says nothing of itself
    ranks.dogs[1].leave()
    ranks.dogs[2].leave()
    ranks.wait(20, 0, 1, 2)
    assert ranks.aborted == []


def test_two_ranks_that_left_are_both_named(machine, capsys):
    ranks = machine(3)
    polled(ranks, 0, 1, 2)
    ranks.dogs[0].leave()
    ranks.dogs[2].leave()
    ranks.wait(5, 0, 1, 2)
    process = f"(process {os.getpid()})"
    assert f"but rank 0 {process}, rank 2 {process} have left the program" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("waiting", "named"),
    [((0, 1), "rank 2 (process {}) has been busy or stopped"), ((0, 1, 2), "all ranks wait for one another")],
)
def test_ranks_without_progress_are_ended_when_their_patience_is(machine, capsys, waiting, named):
    ranks = machine(3)
    for dog in ranks.dogs:
        dog.patience = 7.0
    polled(ranks, *waiting)
    ranks.wait(6.8, *waiting)
    assert ranks.aborted == []
    ranks.wait(0.7, *waiting)
    assert ranks.aborted == [1]
    line = f"rank 0 of 3: waited for a sum, but nothing has moved for 7 s: {named.format(os.getpid())}\n"
    assert capsys.readouterr().err == line


def test_a_rank_that_no_longer_waits_is_busy_and_has_its_number_among_all(machine, capsys):
    """It has waited with the others before; those of another machine have the numbers 0 and 1."""
    ranks = machine(3, 2)
    for dog in ranks.dogs:
        dog.patience = 7.0
    polled(ranks, 0, 1, 2)
    ranks.wait(3, 0, 1, 2)
    ranks.wait(9, 0, 2)
    line = f"rank 2 of 5: waited for a sum, but nothing has moved for 7 s: rank 3 (process {os.getpid()}) has been busy"
    assert capsys.readouterr().err.startswith(line)


def test_a_run_has_five_minutes_patience(machine, capsys):
    ranks = machine(2)
    polled(ranks, 0, 1)
    ranks.wait(299.5, 0, 1)
    assert ranks.aborted == []
    ranks.wait(1, 0, 1)
    assert "nothing has moved for 300 s" in capsys.readouterr().err
    assert ranks.aborted == [1]


def test_a_rank_that_moves_keeps_all_others_waiting(machine):
    ranks = machine(3)
    for dog in ranks.dogs:
        dog.patience = 5.0
    polled(ranks, 0, 1)
    ranks.wait(60, 0, 1, working=[2])
    assert ranks.aborted == []
    ranks.wait(5.5, 0, 1)
    assert ranks.aborted == [1]


def test_while_all_ranks_are_stopped_no_patience_is_used_up(machine):
    ranks = machine(2)
    for dog in ranks.dogs:
        dog.patience = 5.0
    polled(ranks, 0, 1)
    ranks.wait(3, 0, 1)
    ranks.now += 100
    ranks.wait(1.6, 0, 1)
    assert ranks.aborted == []
    ranks.wait(1, 0, 1)
    assert ranks.aborted == [1]


@pytest.mark.parametrize(
    ("variables", "count", "rank"),
    [
        ({}, 0, 0),
        ({"PMI_SIZE": "4", "PMI_RANK": "3"}, 4, 3),
        ({"OMPI_COMM_WORLD_SIZE": "5", "OMPI_COMM_WORLD_RANK": "2"}, 5, 2),
        ({"REPRO_RANKS": "6", "PMI_SIZE": "4", "PMI_RANK": "x"}, 6, 0),
    ],
)
def test_a_line_names_this_process_or_another(monkeypatch, capsys, variables, count, rank):
    for name in ("REPRO_RANKS", "PMI_SIZE", "PMI_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert rank_errors.started_processes() == count
    rank_errors.say("two\nlines  of it")
    rank_errors.say("another", 0, 9)
    assert capsys.readouterr().err == f"rank {rank} of {count}: two lines of it\nrank 0 of 9: another\n"
    assert rank_errors.LINE.search("x rank 12 of 34: words\nmore").groups() == ("12", "34", "words")


def test_a_line_is_kept_behind_those_of_others_and_said_where_it_cannot_be_kept(monkeypatch, capsys, tmp_path):
    for path in (tmp_path / "said", tmp_path):
        monkeypatch.setenv(rank_errors.SAID, str(path))
        rank_errors.say("one", 0, 2)
        rank_errors.say("two", 1, 2)
        assert capsys.readouterr().err == "rank 0 of 2: one\nrank 1 of 2: two\n"
    assert (tmp_path / "said").read_text() == "rank 0 of 2: one\nrank 1 of 2: two\n"


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (77 << 8, 0, ""),
        (0, 1, "process 5 left without a word"),
        (3 << 8, 3, ""),
        (signal.SIGTERM, 1, "process 5 was killed by SIGTERM"),
    ],
)
def test_a_ranks_supervisor_says_what_it_could_not_say_itself(monkeypatch, status, code, said):
    lines = []
    monkeypatch.setattr(rank_main, "say", lines.append)
    monkeypatch.setattr(rank_main.os, "waitpid", lambda child, options: (child, status))
    assert rank_main._supervise(5) == code
    assert lines == ([said] if said else [])


def test_a_rank_runs_in_a_child_and_its_supervisor_ends_as_that_did(program, monkeypatch):
    def leave(code):
        raise SystemExit(code)

    monkeypatch.setattr(rank_main, "_supervise", lambda child: 10 * child)
    monkeypatch.setattr(rank_main.os, "_exit", leave)
    assert program("raise SystemExit(3)", started=2, child=4) == (40, [])
    # one rank alone is its own process
    assert program("raise SystemExit(3)", started=1, child=4) == (0, ["sys.exit(3)"])


def _raised(error: Exception) -> Exception:
    try:
        _by(error)
    except type(error) as raised:
        return raised


def _by(error: Exception):
    raise error


def test_an_error_is_described_with_its_line_and_a_refusal_without():
    line = _by.__code__.co_firstlineno + 1
    place = f"(_by, test_rank_supervision.py line {line})"
    assert rank_main._described(_raised(ValueError("went wrong"))) == f"ValueError: went wrong {place}"
    assert rank_main._described(_raised(InputError("cells = 0"))) == "InputError: cells = 0"
    assert rank_main._described(KeyError("never raised")) == "KeyError: 'never raised'"


@pytest.fixture
def program(monkeypatch, tmp_path):
    """Runs a program as a rank; the status that it ends with, and what the world was told."""

    def run(text: str, started: int = 1, target: str = str(tmp_path / "program.py"), child: int = 0):
        told = []
        ranks = SimpleNamespace(end=lambda reason: told.append(reason), finish=lambda: told.append("finished"))
        monkeypatch.setattr(worlds, "world", lambda: ranks)
        monkeypatch.setattr(rank_main, "started_processes", lambda: started)
        # in the child of a fork it is 0
        monkeypatch.setattr(rank_main.os, "fork", lambda: child)
        ends_with = SimpleNamespace(prctl=lambda *words: run.prctl.append(words))
        monkeypatch.setattr(rank_main.ctypes, "CDLL", lambda name: ends_with)
        (tmp_path / "program.py").write_text(text)
        monkeypatch.setattr(sys, "argv", ["rank_main", target, "5"])
        monkeypatch.setattr(sys, "path", list(sys.path))
        with pytest.raises(SystemExit) as end:
            rank_main.main()
        return end.value.code, told

    run.prctl = []
    return run


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import sys; assert sys.argv[1:] == ['5'] and __name__ == '__main__'", "finished"),
        ("raise SystemExit", "finished"),
        ("raise SystemExit(0)", "finished"),
        ("raise SystemExit(3)", "sys.exit(3)"),
        ("raise SystemExit('no memory')", "no memory"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt:  (<module>, program.py line 1)"),
    ],
)
def test_a_program_ends_its_rank_and_says_why(program, text, told):
    assert program(text) == (0, [told])
    # its supervisor knows by this status that it came to its end
    assert program(text, started=2) == (77, [told])


def test_a_program_imports_what_lies_beside_it(program, monkeypatch, tmp_path):
    (tmp_path / "lies_beside.py").write_text("WORD = 'found'")
    # it is imported here, and forgotten afterwards
    monkeypatch.setitem(sys.modules, "lies_beside", None)
    monkeypatch.delitem(sys.modules, "lies_beside")
    assert program("import lies_beside; raise SystemExit(lies_beside.WORD)") == (0, ["found"])


def test_a_program_finds_its_own_modules_first_wherever_it_goes(program, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert program("import sys; raise SystemExit(sys.path[0])", target="program.py") == (0, [str(tmp_path)])


def test_a_rank_dies_with_its_supervisor_and_one_alone_has_none(program):
    program("", started=1)
    assert program.prctl == []
    program("", started=2)
    # PR_SET_PDEATHSIG
    assert program.prctl == ([(1, signal.SIGKILL)] if sys.platform == "linux" else [])


def test_a_program_is_a_module_too(program, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(tmp_path)
    text = "import sys; sys.exit(f'{__name__} {len(sys.argv)} {sys.argv[1]}')"
    assert program(text, target="program") == (0, ["__main__ 2 5"])


def test_a_rank_that_does_not_know_of_the_others_says_so_itself(monkeypatch, capsys):
    def unknown():
        raise InputError("MPI sees 1")

    monkeypatch.setattr(worlds, "world", unknown)
    for reason, line in (("", "MPI sees 1"), ("no memory", "no memory")):
        with pytest.raises(SystemExit) as end:
            rank_main._end(reason)
        assert (end.value.code, capsys.readouterr().err.split(": ", 1)[1]) == (1, f"{line}\n")


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Takes the place of processes: what was started, and how it is said to end."""
    calls = SimpleNamespace(status=0, output="it", errors="", command=None, options=None, swept=0, slept=[])

    class Popen:
        def __init__(self, command, **options):
            calls.command, calls.options = command, options

        def communicate(self, timeout=None):
            calls.timeout = timeout
            return calls.output, calls.errors

        @property
        def returncode(self):
            return calls.status

    def sweep():
        calls.swept += 1

    monkeypatch.setattr(launching.subprocess, "Popen", Popen)
    monkeypatch.setattr(launching, "sweep_shared_memory", sweep)
    monkeypatch.setattr(launching.time, "sleep", lambda seconds: calls.slept.append((seconds, calls.swept)))
    monkeypatch.setattr(launching, "_CORES", 7)
    return calls


def test_ranks_share_the_cores_and_are_told_how_many_they_are(monkeypatch, started):
    monkeypatch.setattr(launching, "_mpiexec", lambda ranks: ["mpiexec", "-n", str(ranks)])
    monkeypatch.setenv("OF_THE_USER", "kept")
    assert launch(3, "package.module", [4, "b"], timeout=9, environment={"OWN": "1"}) == "it"
    words = [sys.executable, "-m", "repro.parallel.ranks.rank_main", "package.module", "4", "b"]
    assert started.command == ["mpiexec", "-n", "3", *words]
    names = ("REPRO_RANKS", "NUMBA_NUM_THREADS", "OF_THE_USER", "OWN")
    assert [started.options["env"][name] for name in names] == ["3", "2", "kept", "1"]
    assert (started.timeout, started.swept, started.options["stdin"]) == (9, 1, subprocess.DEVNULL)
    # with more ranks than cores each has one; what the caller sets counts
    launch(9, "package.module", environment={"REPRO_RANKS": "4"})
    assert [started.options["env"][name] for name in names[:2]] == ["4", "1"]
    # ranks of one machine listen to no other, unless the user has asked for it
    for user in (None, "eth0"):
        monkeypatch.setenv("UCX_NET_DEVICES", user) if user else monkeypatch.delenv("UCX_NET_DEVICES", raising=False)
        launch(2, "package.module")
        expected = user or ("lo" if sys.platform == "linux" else None)
        assert started.options["env"].get("UCX_NET_DEVICES") == expected


def test_what_ranks_have_kept_comes_before_what_mpiexec_has_read_of_them(monkeypatch, started):
    def communicate(self, timeout=None):
        Path(self.said).write_text("rank 2 of 3: first\nrank 0 of 3: second\n")
        return "", "rank 0 of 3: second\nrank 1 of 3: third\n"

    def remember(self, command, **options):
        self.said = options["env"][rank_errors.SAID]

    started.status = 1
    monkeypatch.setattr(launching.subprocess.Popen, "communicate", communicate)
    monkeypatch.setattr(launching.subprocess.Popen, "__init__", remember)
    with pytest.raises(RanksError, match="on 1 ranks ended: rank 2 of 3: first$") as raised:
        launch(1, "package.module")
    assert raised.value.said == ("rank 2 of 3: first", "rank 0 of 3: second", "rank 1 of 3: third")


@pytest.mark.parametrize(
    ("status", "errors", "reason", "said"),
    [
        (3, "", "exit status 3", ()),
        (-9, "", "killed by SIGKILL", ()),
        (1, "one\nthe last line\n", "the last line", ()),
        (
            1,
            "x\nrank 1 of 2: stopped \nrank 0 of 2: gone\nrank 1 of 2: stopped\nlast",
            "rank 1 of 2: stopped",
            ("rank 1 of 2: stopped", "rank 0 of 2: gone"),
        ),
    ],
)
def test_a_failure_is_told_by_what_the_first_rank_said(started, status, errors, reason, said):
    started.status, started.errors = status, errors
    with pytest.raises(RanksError) as raised:
        launch(1, "package.module")
    assert (str(raised.value), raised.value.said) == (f"package.module on 1 ranks ended: {reason}", said)
    # before the run, and after it when the memory of ranks that were killed is let go
    assert (started.swept, started.slept) == (2, [(launching.UNMAPPED, 1)])


def test_ranks_that_take_too_long_or_that_nobody_waits_for_are_ended(monkeypatch, started):
    ended, late = [], subprocess.TimeoutExpired("mpiexec", 7)
    outcomes = [late, ("", "rank 1 of 2: busy\n"), KeyboardInterrupt()]

    def communicate(self, timeout=None):
        outcome = outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    monkeypatch.setattr(launching.subprocess.Popen, "communicate", communicate)
    monkeypatch.setattr(launching, "_end", lambda process: ended.append(len(outcomes)))
    with pytest.raises(RanksError, match="package.module on 1 ranks did not end within 7 s") as raised:
        launch(1, "package.module", timeout=7)
    # before what it had said is read
    assert (ended, raised.value.said) == ([2], ("rank 1 of 2: busy",))
    with pytest.raises(KeyboardInterrupt):
        launch(1, "package.module")
    assert ended == [2, 0]


@pytest.mark.parametrize(("version", "open_mpi"), [("HYDRA build", False), ("mpiexec (OpenRTE) 4.1", True)])
@pytest.mark.parametrize("beside", [True, False])
def test_the_mpi_beside_this_python_comes_first(monkeypatch, tmp_path, version, open_mpi, beside):
    (tmp_path / "mpiexec").touch() if beside else None
    monkeypatch.setattr(launching.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(launching.shutil, "which", lambda name: f"/machine/{name}")
    monkeypatch.setattr(launching.subprocess, "run", lambda command, **_: SimpleNamespace(stdout=version))
    found = str(tmp_path / "mpiexec") if beside else "/machine/mpiexec"
    more = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"] if open_mpi else []
    assert launching._mpiexec(4) == [found, *more, "-n", "4"]
    assert launching._mpiexec(1) == []


def test_the_family_of_a_process_ends_with_it(monkeypatch):
    # nothing ends by itself within the time that it is given
    monkeypatch.setattr(launching.psutil, "wait_procs", lambda family, timeout: ([], family))
    program = "import subprocess; subprocess.Popen(['sh', '-c', 'sleep 60 & echo ready; wait']); input()"
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()
    # a shell and what it has started
    family = launching.psutil.Process(process.pid).children(recursive=True)
    assert len(family) == 2
    launching._end(process)
    assert process.wait(10) < 0
    assert [member.wait(10) for member in family] == [None, None]


def test_several_processes_are_the_ranks_of_mpi(monkeypatch):
    module, rc = ModuleType("mpi4py"), SimpleNamespace(thread_level="multiple")
    module.rc, module.MPI = rc, SimpleNamespace(COMM_WORLD=SimpleNamespace(size=3), Get_library_version=None)
    monkeypatch.setitem(sys.modules, "mpi4py", module)
    monkeypatch.setattr(worlds, "Ranks", lambda communicator: ("ranks", communicator.size))
    monkeypatch.setenv("REPRO_RANKS", "3")
    assert worlds.world.__wrapped__() == ("ranks", 3)
    assert rc.thread_level == "funneled"
    monkeypatch.setenv("REPRO_RANKS", "1")
    assert isinstance(worlds.world.__wrapped__(), worlds.Alone)
