"""Lays out what Sphinx reads: pages of docs/, executed notebooks, pages of the library, and files that they link to."""

import json
import shutil
from functools import partial
from pathlib import Path

import site_api
import site_notebooks
from site_links import Places
from site_pages import MARK, Made, as_file

from repro.files import read_json
from repro.study.notebooks import Project, catalogue, file_stem, slug
from repro.study.notebooks.catalogue import Notebook
from repro.study.publish import published
from repro.study.show.report import code_of

ROOT = Path(__file__).resolve().parent.parent


def lay_out(target: Path, project: Project | None = None) -> None:
    """Write everything below the folder `target`, which is new."""
    project = project or Project(ROOT)
    places = Places(project.root, shown_figures(project))
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
    for book, sidecar in shown(project).items():
        file, name = project.notebooks / "rendered" / book.relative, f"notebooks/{book.relative}"
        # a notebook is a page of the site, and what was run a file of it
        places.files[f"files/{name}"] = book.source(project)
        code = ", ".join(f"[{source}]({as_file(source)})" for source in code_of(book, project))
        # as a link it would lead to a page
        links = [f"{{download}}`notebook file <{'../' * name.count('/')}files/{name}>`"]
        links += [f"code of its own: {places.mended(code, project.root / 'made', name)}"] if code else []
        head = [*(f"**Result:** {line}" for line in sidecar.get("headlines", ())), " · ".join(links)]
        mended = partial(places.mended, origin=file, name=name)
        content = site_notebooks.for_site(file, mended, sidecar["figures"], "\n\n".join(head))
        found[name] = json.dumps(content, ensure_ascii=False, indent=1)
    return found


def shown(project: Project) -> dict[Notebook, dict]:
    """Every published notebook with the result that it shows."""
    files = {book: published.shown(book, project) for book in catalogue.load(project).notebooks}
    return {book: read_json(file) for book, file in files.items() if file}


def shown_figures(project: Project) -> dict[str, str]:
    """Where the site shows each picture, by its place in the checkout."""
    found = {}
    for book, sidecar in shown(project).items():
        file = project.notebooks / "rendered" / book.relative
        for name, place in site_notebooks.placed(file, sidecar["figures"]).items():
            found[f"figures/{file_stem(book.id)}-{slug(name)}.png"] = f"notebooks/{book.relative}{place}"
    return found
