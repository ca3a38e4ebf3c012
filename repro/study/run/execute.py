"""Runs one notebook in a process of its own: `python -m repro.study.run.execute JOB.json`.

A guard stands between it and the run, see `guard`: nothing is left running, whoever of the three dies.
"""

import importlib
import json
import math
import os
import re
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from repro import exclusive_timing
from repro.errors import InputError
from repro.files import Lock, lock, read_json, write_json
from repro.study.judge import claims
from repro.study.keep import provenance, results
from repro.study.keep.fingerprint import differences, versions
from repro.study.notebooks import Project, as_rendered, require_writable
from repro.study.run import guard
from repro.study.run.plan import THREADS

START_TIMEOUT = 180
REFUSALS = {"MemoryError", "InputError", *(kind.__name__ for kind in InputError.__subclasses__())}
"""Errors that say that the user's input cannot work; a parameter may ask for an array of any size."""
LONGEST_MESSAGE = 300
PICTURES = ("image/png", "image/gif", "image/jpeg")
"""What a notebook keeps as letters that are none."""
CLOCK = "cell"
LOCK = ".lock"
"""File of a run folder that the run holds as long as it is there."""
GIB = 2**30
GRACE = 15
"""Seconds after its time limit at which a cell is ended by force."""


def main(job_file: str) -> None:
    """Execute the job; the outcome goes to result.json beside the job file, the outputs to its run folder."""
    job = json.loads(Path(job_file).read_text(encoding="utf-8"))
    work = Path(job_file).parent
    started, begin = time.time(), time.monotonic()
    problem = _execute(job, work / "out")
    # the clock of the day may jump
    seconds = round(time.monotonic() - begin, 2)
    notebook = work / "out" / f"{job['slug']}.ipynb"
    if notebook.is_file():
        _scrub(notebook, job)
    if not is_held(Path(job["output"])):
        return
    if problem is None:
        run = {k: job[k] for k in ("profile", "machine", "device", "depends", "parameters", "changed")}
        run |= {"started": started, "seconds": seconds, "finished": True}
        problem = _move_into_place(job, work / "out", run)
    write_json(work / "result.json", {**(problem or {"status": "done"}), "seconds": seconds})


def _execute(job: dict, out: Path) -> dict | None:
    """Run the notebook into `out`; None if all went well, else what went wrong."""
    # a notebook begins when no other looks at the clock
    with exclusive_timing.no_measuring(job["quiet"]):
        papermill = import_without_grammar("papermill")
        client = import_without_grammar("repro.study.run.client")
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    planned = job["depends"]
    # a worker of a cluster may be another Python
    if others := differences(planned, {"versions": versions(planned["settings"])}, ("versions",)):
        return _problem("OtherVersions", f"another Python planned this run: here {results.in_words(others)}")
    out.mkdir()
    # sockets and key of the kernel, which a killed process leaves
    tempfile.tempdir = os.environ.pop(guard.PRIVATE, None)
    # the record writes to OUTPUT; the scoreboard reads the results in RUN
    os.environ |= {"REPRO_OUTPUT": str(out), "REPRO_RUN": job["output"], exclusive_timing.VARIABLE: job["quiet"]}
    os.environ["REPRO_NOTEBOOK"] = job["id"]
    os.environ |= _share_of_cores(job["beside"]) | job["variables"]
    source = Path(job["root"]) / "notebooks" / job["file"]
    try:
        papermill.execute_notebook(
            source,
            out / f"{job['slug']}.ipynb",
            parameters=job["parameters"],
            # whatever kernel the notebook was written with, if any, see client
            kernel_name="python3",
            language="python",
            cwd=source.parent,
            progress_bar=False,
            start_timeout=START_TIMEOUT,
            # it takes whole seconds only
            execution_timeout=job["timeout"] and math.ceil(job["timeout"]),
            engine_name=client.ENGINE,
            clock=out.parent / CLOCK,
        )
    except papermill.PapermillExecutionError as error:
        status = "refused" if error.ename in REFUSALS else "failed"
        return _problem(error.ename, error.evalue, cell=error.cell_index, status=status)
    except CellTimeoutError:
        return _too_slow(job)
    except DeadKernelError:
        return _problem("DeadKernelError", "the kernel died (killed, crashed or out of memory)")
    except Exception as error:  # whatever else goes wrong is this notebook's failure, not the run's
        return _problem(type(error).__name__, str(error))
    return None


def _share_of_cores(beside: int) -> dict[str, str]:
    """Numba's threads for one notebook beside others, in the environment; else it has what Numba chooses."""
    if not beside:
        return {}
    given = os.environ.get(THREADS, "")
    limit = int(given) if given.isdigit() else provenance.cores()
    return {THREADS: str(max(1, limit // (beside + 1)))}


def _too_slow(job: dict) -> dict:
    return _problem("CellTimeoutError", f"a cell took longer than {job['timeout']:g} s")


def _problem(kind: str, message: str, cell: int | None = None, status: str = "failed") -> dict:
    # compilers colour their messages and break them into lines
    text = " ".join(re.sub(r"\x1b\[[\d;]*m", "", message).split())
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[: LONGEST_MESSAGE // 2]} ... {text[-LONGEST_MESSAGE // 2 :]}"
    return {"status": status, "error": kind, "message": text, "cell": cell}


def _scrub(notebook: Path, job: dict) -> None:
    """Take this machine's paths out of the texts of an executed notebook, and let its links lead on to docs/."""
    names = {str(notebook.parent): "", job["root"]: "", sys.prefix: "<python>/", sys.base_prefix: "<python>/"}
    # an unknown user without HOME stays "~", and one may live in the root of all folders
    names |= {os.path.expanduser("~"): "~/"}
    folders = {f"{folder}/": name for folder, name in names.items() if len(Path(folder).parts) > 1}

    def scrubbed(value):
        if isinstance(value, list):
            return [scrubbed(part) for part in value]
        if isinstance(value, dict):
            # letters of a picture are no path
            return {k: v if k in PICTURES else scrubbed(v) for k, v in value.items()}
        if not isinstance(value, str):
            return value
        for folder, name in folders.items():
            # one at the top of all folders may be called as one of the sources is, in the middle of a path
            start = r"(?<![\w.])" if folder.count("/") == 2 else ""
            value = re.sub(start + re.escape(folder), name, value)
        return as_rendered(re.sub(r"/[\w/.-]*ipykernel_\d+/", "", value))

    content = scrubbed(json.loads(notebook.read_text(encoding="utf-8")))
    notebook.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _move_into_place(job: dict, out: Path, run: dict) -> dict | None:
    """Figures, notebook and, last of all, the sidecar that makes them a result."""
    sidecar = read_json(out / f"{job['slug']}.json")
    if sidecar is None:
        if "open_record" in (out / f"{job['slug']}.ipynb").read_text(encoding="utf-8"):
            return _problem("NoRecord", "the notebook ended without closing its record")
        made = provenance.collect(Path(job["root"]))
        stated = {c.id: c.stated for path in claims.files(Project(Path(job["root"]))) for c in claims.read(path)}
        nothing = {"claims": {}, "void": [], "figures": {}}
        sidecar = {"id": job["id"], "stated": stated, "provenance": made} | nothing
    place = Path(job["output"])
    target = place / f"{job['id']}.json"
    try:
        # asked before the old result goes: the files are on this disk already, and only need to be moved
        for folder in (place / "figures", target.parent):
            require_writable(folder)
        results.require_no_links(place)
    except InputError as error:
        return _problem("Unwritable", str(error))
    old = results.look(place, job["id"]).sidecar
    # no sidecar while files are being replaced: a crash here leaves no result rather than a mixed one
    target.unlink(missing_ok=True)
    files = results.figure_files(sidecar)
    for name in set(results.figure_files(old)) - set(files):
        (place / name).unlink(missing_ok=True)
    for name in files:
        os.replace(out / name, place / name)
    os.replace(out / f"{job['slug']}.ipynb", target.with_suffix(".ipynb"))
    paths = {name: place / name for name in (f"{job['id']}.ipynb", *files)}
    depends = {**run["depends"], "claims": sidecar.pop("stated", {})}
    write_json(target, results.sealed({**sidecar, "run": run | {"depends": depends}}, paths))
    for ending in (".json", ".ipynb", ".log"):
        (place / "failed" / f"{job['id']}{ending}").unlink(missing_ok=True)
    return None


def run_job(job: dict) -> dict:
    """Run a job in a process of its own and wait for its outcome. Also what a Dask worker runs."""
    place, output = Path(job["work"]), Path(job["output"])
    _require_held(output)
    place.parent.mkdir(parents=True, exist_ok=True)
    # a cluster that loses a worker gives its job to another one, beside what is left of the first try
    work = Path(tempfile.mkdtemp(prefix=f"{place.name}-", dir=place.parent))
    write_json(work / "job.json", job)
    # the kernel's client keeps the time, too, and says in which cell; the guard waits for that
    limits = [job["timeout"] + GRACE if job["timeout"] else 0, work / CLOCK, round((job["memory"] or 0) * GIB)]
    command = [sys.executable, "-m", "repro.study.run.guard", *map(str, limits)]
    command += [sys.executable, "-m", "repro.study.run.execute", str(work / "job.json")]
    try:
        code = guard.run_child(command, work, job["root"], wanted=lambda: work.exists() and is_held(output))
    finally:
        if work.exists():
            exclusive_timing.wake(job["quiet"])
    # nothing is written into a folder that nobody holds
    _require_held(output)
    result = read_json(work / "result.json")
    if result is None and code == guard.LATE:
        result = {**_too_slow(job), "seconds": job["timeout"]}
    elif result is None and code == guard.HEAVY:
        why = f"it took more than {job['memory']:g} GiB of memory"
        result = {**_problem("MemoryLimit", why), "seconds": 0}
    elif result is None:
        result = {**_problem("ProcessDied", f"the process ended with status {code}"), "seconds": 0}
    # what the notebook's processes have written beside its cells is no part of the result
    if result["status"] == "done":
        _move(work / "log.txt", output / "logs" / f"{job['id']}.log")
    elif result["status"] == "failed":
        # an earlier good result stays as it is
        kept = output / "failed" / f"{job['id']}.json"
        _move(work / "log.txt", kept.with_suffix(".log"))
        _move(work / "out" / f"{job['slug']}.ipynb", kept.with_suffix(".ipynb"))
        facts = {k: job[k] for k in ("id", "profile", "machine", "device", "parameters", "changed")}
        write_json(kept, {**facts, **result})
    shutil.rmtree(work, ignore_errors=True)
    return result


def _move(file: Path, place: Path) -> None:
    """Put a file, if there is one, where an older one may lie, which goes in any case."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        os.replace(file, place)


def _require_held(output: Path) -> None:
    if not is_held(output):
        raise guard.Stopped


def is_held(output: Path, unknown: bool = True) -> bool:
    """Whether the run whose results go to a folder is still there; `unknown` where the file system has no locks."""
    results.require_no_links(output, [LOCK])
    try:
        with open(output / LOCK, "r+") as file:
            state = lock(file, shared=True, wait=False)
    except FileNotFoundError:
        return False
    return unknown if state is Lock.NONE else state is Lock.TAKEN


#: check links and durations in JSON; nothing here has any, and they take up to 2 s to load in every process
_NOT_NEEDED = ("rfc3987_syntax", "isoduration")


def import_without_grammar(name: str) -> ModuleType:
    """The module `name`, imported without the grammars of links and durations that come along with the JSON schema.

    InputError if it is not installed, or what it needs is not.
    """
    new = [each for each in _NOT_NEEDED if each not in sys.modules]
    sys.modules.update(dict.fromkeys(new))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed: python -m pip install -r requirements.txt") from None
    finally:
        for each in new:
            del sys.modules[each]


if __name__ == "__main__":
    main(sys.argv[1])
