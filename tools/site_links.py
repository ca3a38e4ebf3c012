"""Links of the checkout as links of the site: to pages where there are pages, else to copies of the files."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

CODE = r"^ *(?:```|~~~).*?^ *(?:```|~~~)|`[^`\n]*`"
LINK = re.compile(rf"(?P<code>{CODE})|(?P<open>\]\()(?P<url>[^)\s]+)", re.MULTILINE | re.DOTALL)
ELSEWHERE = re.compile(r"[a-z]+:|//|#|/", re.IGNORECASE)


class Places:
    """Where files of a checkout lie in the site; `files` collects those that are linked to and are no pages.

    `shown` says where in the site a figure is shown, {"figures/porous-cavity-cells.png": "notebooks/porous/..."}: a
    link to it leads there.
    """

    def __init__(self, root: Path, shown: Mapping[str, str] | None = None):
        self.root = root
        self.shown = shown or {}
        self.files: dict[str, Path] = {}

    def mended(self, text: str, origin: Path, name: str) -> str:
        """Markdown of the file `origin` for the page `name`: relative links lead to where their targets lie."""

        def replace(match: re.Match) -> str:
            if match["code"] or ELSEWHERE.match(match["url"]):
                return match[0]
            path, sign, anchor = unquote(match["url"]).partition("#")
            target, is_image = self._target(path, origin), text[text.rfind("[", 0, match.start()) - 1] == "!"
            place = (not is_image and self.shown.get(target.relative_to(self.root).as_posix())) or self.place(target)
            page, made, inside = place.partition("#")
            link = os.path.relpath(page, Path(name).parent) + made + inside
            return match["open"] + (link + sign + anchor if anchor else link)

        return LINK.sub(replace, text)

    def _target(self, path: str, origin: Path) -> Path:
        # a run has the figures beside the notebooks that it executes; in a checkout they lie at the top
        for folder in (origin.parent, self.root):
            target = (folder / path).resolve()
            if target.is_file() and target.is_relative_to(self.root):
                return target
        raise FileNotFoundError(f"{origin.relative_to(self.root)} links to {path}, which is no file of the checkout")

    def place(self, target: Path) -> str:
        """Where a file of the checkout lies in the site; what is no page is copied there."""
        name = target.relative_to(self.root).as_posix()
        if name == "REPORT.md":
            return "report.md"
        if name.startswith("docs/") and name.endswith(".md"):
            return name.removeprefix("docs/")
        if name.startswith("notebooks/") and name.endswith(".ipynb"):
            return name.replace("notebooks/rendered/", "notebooks/")
        if name.startswith("repro/") and name.endswith(".py"):
            return _in_api(name)
        self.files[f"files/{name}"] = target
        return f"files/{name}"


def _in_api(name: str) -> str:
    """A source as its section of the page of its package."""
    folder, _, file = name.rpartition("/")
    package = folder.replace("/", ".")
    section = "" if file == "__init__.py" else "#" + f"{package}.{file[:-3]}".replace(".", "")
    return f"api/{package}.md{section}"
