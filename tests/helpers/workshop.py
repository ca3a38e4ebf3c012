"""A made-up project with tiny notebooks."""

import textwrap
from pathlib import Path

import nbformat

from repro.study.paths import Project

CLAIMS = """\
# source: nobody
id,where,quantity,case,value,unit,hardware,kind,rule,tolerance,why,note
toy-001,table 1,centre,Re=400,0.5543,x/L,,physics,within,0.0015,grid spacing,
toy-002,text,speed,peak,924,MLUPS,,speed,at least,,newer hardware,
toy-003,text,error,,0.14,%,,physics,at most,0.06,grid,
toy-004,fig 1,fastest block,,128,threads,,speed,order,,the winner,
toy-005,text,grid,,256x256,nodes,,setup,,,,
toy-006,text,speedup,,4-5,x,,speed,within,10 %,spread,
"""

GOOD = """
    from repro.study.record import open_record
    record = open_record("toy/good", parameters={"value": value}, claims=["toy-001", "toy-002"])
    record.measure("toy-001", value)
    record.close()
"""

RUN = {"finished": True, "profile": "quick", "machine": "machine", "device": "serial", "fingerprint": "x"}
RUN |= {"parameters": {}, "started": 1.0, "seconds": 3.0}
"""What the runner notes in a finished result."""


class Workshop:
    """Writes notebooks and their catalogue into a project."""

    def __init__(self, root: Path):
        self.project = Project(root)
        self.catalogue = root / "notebooks/catalogue.toml"
        (root / "data/published").mkdir(parents=True)
        (root / "data/published/toy.csv").write_text(CLAIMS)
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
