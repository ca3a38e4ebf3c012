"""Links from a scoreboard to notebooks and figures, relative to where the scoreboard lies."""

import os
from dataclasses import dataclass

from .publish import PUBLISHED
from .report import Report


@dataclass(frozen=True)
class Links:
    """What stands before the names of a run folder's files in a link."""

    notebooks: str = ""
    figures: str = ""
    code: str | None = None
    """None where the sources are not beside."""

    def notebook(self, identifier: str, text: str) -> str:
        """A link in Markdown to an executed notebook."""
        return f"[{text}]({self.notebooks}{identifier}.ipynb)"

    def figure(self, file: str) -> str:
        """A link in Markdown to a figure, named without the notebook's own name."""
        stem = os.path.splitext(os.path.basename(file))[0]
        return f"[{stem.split('-', 2)[-1]}]({self.figures}{file})"

    def source(self, file: str) -> str:
        """A link in Markdown to a folder or file of the sources."""
        return f"[{file.removeprefix('repro/papers/')}]({self.code}{file})"


def from_notebook(report: Report) -> Links:
    """Links from the executed scoreboard.

    The one of a profile that is published has its figures where `publish` puts them; in JupyterLab it lies elsewhere
    than what it shows.
    """
    if not os.environ.get("REPRO_RUN"):
        folder = f"{os.path.relpath(report.folder)}/"
        return Links(folder, folder)
    return Links(figures="../../") if set(report.profile.split(", ")) & set(PUBLISHED) else Links()
