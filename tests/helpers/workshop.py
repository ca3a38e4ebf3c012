"""A made-up project with tiny notebooks, and results of theirs that no kernel had to make."""

import csv
import shutil
import subprocess
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import nbformat

from repro.files import json_text, read_json, write_json
from repro.study.judge.claims import Claim, read
from repro.study.keep import results
from repro.study.notebooks import Project, file_stem
from repro.study.run import execute
from repro.study.run.plan import Plan, job_for, make_plan
from repro.study.run.runner import run_plan

CLAIMS = """\
# source: nobody
id,where,quantity,case,value,unit,hardware,kind,rule,tolerance,why,note,same_as
toy-001,table 1,centre,Re=400,0.5543,x/L,,physics,within,0.0015,grid spacing,,
toy-002,text,speed,peak,924,MLUPS,,speed,at least,,newer hardware,,
toy-003,text,error,,0.14,%,,physics,at most,0.06,grid,,
toy-004,fig 1,fastest block,,128,threads,,mechanism,order,,the winner,,
toy-005,text,grid,,256x256,nodes,,setup,,,,,
toy-006,text,speedup,,4-5,x,,speed,within,10 %,spread,,
toy-007,abstract,centre,Re=400,0.5543,x/L,,physics,within,0.0015,grid spacing,,toy-001
"""

GOOD = """
    from repro.study.keep.record import open_record
    record = open_record("toy/good", parameters=globals(), claims=["toy-001", "toy-002"])
    record.measure("toy-001", value)
    record.close()
"""

PIXEL = bytes.fromhex("89504e470d0a1a0a")
"""What stands for a figure."""
MADE = {"commit": "0123abc", "dirty": False}
"""Of a tree without changes."""


def claim(value: str = "10", rule: str = "within", tolerance: str = "", kind: str = "physics", **more) -> Claim:
    """A claim of the paper `toy`."""
    facts = dict.fromkeys(("where", "quantity", "case", "unit", "hardware", "why", "note"), "")
    known = {"id": "toy-001", "value": value, "kind": kind, "rule": rule, "tolerance": tolerance}
    return replace(Claim(**facts, **known), **more)


class Workshop:
    """Writes notebooks, their catalogue and their results into a project."""

    def __init__(self, root: Path):
        self.project = Project(root)
        self.catalogue = root / "notebooks/catalogue.toml"
        self.claims = root / "data/published/toy.csv"
        self.claims.parent.mkdir(parents=True)
        self.claims.write_text(CLAIMS)
        self.catalogue.parent.mkdir()
        self.catalogue.write_text("")
        # results shall not depend on the sources under test, which may change meanwhile
        self.source("__init__.py")

    def add(self, name: str, code: str, parameters: str = "value = 0.5541", entry: str = "") -> Path:
        """Add a notebook with one parameters cell and one code cell."""
        text = f'[[notebook]]\nid = "{name}"\npaper = "toy"\ntitle = "made up"\n{entry}\n'
        if "profiles" not in entry:
            text += "profiles = { quick = {} }\n"
        self.catalogue.write_text(self.catalogue.read_text() + text)
        return self.write(name, code, parameters)

    def write(self, name: str, code: str, parameters: str = "value = 0.5541") -> Path:
        """Write a notebook's file."""
        v4 = nbformat.v4
        first = v4.new_code_cell(parameters, metadata={"tags": ["parameters"]})
        cells = [first, v4.new_code_cell(textwrap.dedent(code).strip())]
        spec = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        path = self.project.notebooks / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(v4.new_notebook(cells=cells, metadata=spec), path)
        return path

    def source(self, name: str, text: str = "") -> Path:
        """Write a file of a package of the project's own."""
        path = self.project.root / "repro" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def folder(self, profile: str = "quick") -> Path:
        """The run folder of a profile, in which the results made here lie."""
        return self.project.run_folder(profile, "machine")

    def plan(self, name: str, profile: str = "quick", folder: Path | None = None, changed=()) -> Plan:
        """The plan to run one notebook on one core."""
        place = folder or self.folder(profile)
        facts = {"profile": profile, "device": "serial", "overrides": changed, "output": place}
        return make_plan([name], **facts, project=self.project)

    def finish(
        self,
        name: str,
        claims: Mapping | None = None,
        *,
        profile: str = "quick",
        folder: Path | None = None,
        changed: tuple[str, ...] = (),
        figures: tuple[str, ...] = ("a",),
        void: tuple[str, ...] = (),
        made: Mapping = MADE,
        **run,
    ) -> Path:
        """A whole, sealed result, put into place by what puts it there after a run; returns its JSON file.

        `changed` are overrides of parameters, `made` is what it was made from, `run` replaces what the runner notes.
        """
        plan = self.plan(name, profile, folder, changed)
        book = next(book for book in plan.books if book.id == name)
        job = job_for(plan, book, timeout=None) | {"machine": "machine"} | run
        stem, out = file_stem(name), Path(job["work"])
        files = {f"{stem}-{figure}": f"figures/{stem}-{figure}.png" for figure in figures}
        (out / "figures").mkdir(parents=True)
        for figure, file in files.items():
            (out / file).write_bytes(PIXEL + figure.encode())
        shutil.copy(book.source(self.project), out / f"{stem}.ipynb")
        sidecar = {"id": name, "parameters": {}, "void": list(void), "timings": [], "tables": {}}
        sidecar |= {"figures": {figure: {"files": [file]} for figure, file in files.items()}}
        sidecar |= {"claims": dict(claims or {}), "seconds": 1.0, "provenance": dict(made)}
        known = {claim.id: claim for claim in read(self.claims) if claim.id in sidecar["claims"]}
        sidecar |= {"rules": {i: c.rules for i, c in known.items()}, "stated": {i: c.stated for i, c in known.items()}}
        write_json(out / f"{stem}.json", sidecar)
        noted = {k: job[k] for k in ("profile", "machine", "device", "depends", "parameters", "changed")}
        problem = execute._move_into_place(job, out, noted | {"started": 1.0, "seconds": 3.0, "finished": True})
        assert problem is None, problem
        shutil.rmtree(plan.output / ".jobs")
        (plan.output / ".lock").touch()
        return plan.sidecar(book)

    def fail(self, name: str, folder: Path | None = None, **more) -> Path:
        """What a notebook leaves that failed; returns its JSON file."""
        path = (folder or self.folder()) / f"failed/{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        failure = {"error": "ZeroDivisionError", "message": "division by zero", "cell": 1, "profile": "quick"}
        write_json(path, failure | {"changed": {}} | more)
        return path

    def state(self, claim: str, **columns: str) -> None:
        """Change columns of a claim in the file of claims; new columns are added."""
        lines = self.claims.read_text().splitlines()
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        next(row for row in rows if row["id"] == claim).update(columns)
        with open(self.claims, "w", newline="") as file:
            writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)), restval="")
            writer.writeheader()
            writer.writerows(rows)

    def git(self, *words: str) -> str:
        """Let git do something with the project."""
        who = ["-c", "user.name=nobody", "-c", "user.email=nobody@nowhere", "-c", "commit.gpgsign=false"]
        command = ["git", "-C", str(self.project.root), *who, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self) -> str:
        """Commit all that is there, without build/; returns the commit."""
        (self.project.root / ".gitignore").write_text("build/\n__pycache__/\n")
        self.git("init", "--quiet")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "all")
        return self.git("rev-parse", "HEAD")


def run(ids=None, *, profile="quick", device="serial", parameters=(), output=None, project=None, **settings):
    """Run notebooks as the command line does; returns what became of them."""
    plan = make_plan(ids, profile=profile, device=device, overrides=parameters, output=output, project=project)
    return run_plan(plan, **settings)


def forge(path: Path, **changes) -> None:
    """Change a result and compute its seal anew, as one would who knows how."""
    content = {k: v for k, v in read_json(path).items() if k != results.SEAL} | changes
    write_json(path, {**content, results.SEAL: results._hash(json_text(content).encode())})
