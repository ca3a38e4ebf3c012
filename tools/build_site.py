"""Makes the static site build/site/html from docs/, the executed notebooks and the docstrings; `make site`.

.venv/bin/python tools/build_site.py
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))

import site_check  # noqa: E402
import site_layout  # noqa: E402

SITE = ROOT / "build/site"


def main() -> int:
    """Lay out the pages, let Sphinx make them, look at every link; 0 if all is well."""
    # from nothing, because Sphinx does not see that an extension or a style has changed
    shutil.rmtree(SITE, ignore_errors=True)
    site_layout.lay_out(SITE / "source")
    if status := run_sphinx(SITE / "source", SITE / "html"):
        return status
    problems = site_check.problems(SITE / "html")
    for line in problems:
        print(line, file=sys.stderr)
    pages = sum(1 for _ in (SITE / "html").rglob("*.html"))
    print(f"{SITE / 'html/index.html'}: {pages} pages, {len(problems)} problems")
    return 1 if problems else 0


def run_sphinx(source: Path, html: Path) -> int:
    """Sphinx over the pages, warnings being errors; its exit status."""
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-c", str(ROOT / "docs"), "-W", "--keep-going", "-q"]
    command += ["-d", str(html.with_name("doctrees")), str(source), str(html)]
    # the pages of the library need its docstrings, not a GPU, even where there is one
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"CUDA_VISIBLE_DEVICES": ""}).returncode


if __name__ == "__main__":
    sys.exit(main())
