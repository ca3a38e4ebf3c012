"""Lays out what Sphinx reads: pages of docs/, executed notebooks, pages of the library, and files that they link to."""

import json
import shutil
from pathlib import Path

import site_api
import site_notebooks
from site_links import Places
from site_pages import MARK, Made

from repro.study.notebooks import Project, catalogue
from repro.study.publish import published

ROOT = Path(__file__).resolve().parent.parent


def lay_out(target: Path, project: Project | None = None) -> None:
    """Write everything below the folder `target`, which is new."""
    project = project or Project(ROOT)
    places = Places(project.root)
    texts = pages(project, places) | notebooks(project, places)
    for name, text in texts.items():
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    # asked last: these are the files that the texts link to
    for name, origin in places.files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(origin, target / name)


def pages(project: Project, places: Places) -> dict[str, str]:
    """Pages by their place in the site: those of docs/ with their generated parts, and those of the library."""
    docs, made = project.root / "docs", Made(project)
    found = {}
    for file in sorted(docs.rglob("*.md")):
        name = file.relative_to(docs).as_posix()
        text = places.mended(file.read_text(encoding="utf-8"), file, name)
        found[name] = MARK.sub(lambda m, n=name: places.mended(made.part(m[1]), project.root / "made", n), text)
    return found | site_api.pages(project.package)


def notebooks(project: Project, places: Places) -> dict[str, str]:
    """The executed notebooks by their place in the site; one that is not published yet has none."""
    found = {}
    for book in (book for book in catalogue.load(project).notebooks if published.sidecars(book, project)):
        file = project.notebooks / "rendered" / book.relative
        name = f"notebooks/{book.relative}"
        content = site_notebooks.for_site(file, lambda text, f=file, n=name: places.mended(text, f, n))
        found[name] = json.dumps(content, ensure_ascii=False, indent=1)
    return found
