"""Lays out what Sphinx reads: pages of docs/, executed notebooks, pages of the library, and files that they link to."""

import json
import shutil
from pathlib import Path

import site_api
import site_notebooks
from site_links import Places
from site_pages import MARK, Made

from repro.study import catalogue
from repro.study.paths import Project

ROOT = Path(__file__).resolve().parent.parent


def lay_out(target: Path, project: Project | None = None) -> None:
    """Write everything below `target`; what is there and unchanged keeps its time, so that Sphinx can skip it."""
    project = project or Project(ROOT)
    places = Places(project.root)
    texts = pages(project, places) | notebooks(project, places)
    contents = {name: text.encode() for name, text in texts.items()}
    # asked last: these are the files that the texts link to
    contents |= {name: file.read_bytes() for name, file in places.files.items()}
    for name, content in contents.items():
        _write(target / name, content)
    _remove_others(target, set(contents))


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
    """The executed notebooks by their place in the site."""
    found = {}
    for book in catalogue.load(project).notebooks:
        file = project.notebooks / "rendered" / book.relative
        name = f"notebooks/{book.relative}"
        content = site_notebooks.for_site(file, lambda text, f=file, n=name: places.mended(text, f, n))
        found[name] = json.dumps(content, ensure_ascii=False, indent=1)
    return found


def _write(file: Path, content: bytes) -> None:
    if not file.is_file() or file.read_bytes() != content:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _remove_others(target: Path, names: set[str]) -> None:
    for file in [f for f in target.rglob("*") if f.is_file() and f.relative_to(target).as_posix() not in names]:
        file.unlink()
    for folder in sorted((f for f in target.rglob("*") if f.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            shutil.rmtree(folder)
