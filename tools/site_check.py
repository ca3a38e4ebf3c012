"""Looks through the finished site: every link inside it leads somewhere, and nothing is loaded from elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

LOADS = {"link": "href", "object": "data"} | dict.fromkeys(("script", "img", "iframe", "source", "video"), "src")
"""What a browser fetches by itself."""
QUIET_LINKS = {"canonical", "next", "prev", "index", "search", "author", "copyright", "alternate"}
"""Relations of a `link` that are not fetched."""
ELSEWHERE = re.compile(r"(?!data:)([a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)
IN_STYLE = re.compile(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)")


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it that can be linked to."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note the links and the names of an element."""
        known = dict(attrs)
        self._in_style = tag == "style"
        self.places |= {known[name] for name in ("id", "name") if known.get(name)}
        if tag == "a" and known.get("href"):
            self.links.append(known["href"])
        quiet = tag == "link" and set((known.get("rel") or "").split()) <= QUIET_LINKS
        if tag in LOADS and known.get(LOADS[tag]) and not quiet:
            self.loaded.append(known[LOADS[tag]])
        self.loaded += _in_style(known.get("style") or "")

    def handle_data(self, data):
        """Note what a style sheet inside the page loads."""
        if self._in_style:
            self.loaded += _in_style(data)
            self._in_style = False


def _in_style(text: str) -> list[str]:
    return [url or imported for url, imported in IN_STYLE.findall(text)]


def problems(site: Path) -> list[str]:
    """A line for each dead link and for each thing that would be loaded from elsewhere."""
    # the theme keeps a template of its own among its scripts
    files = [file for file in sorted(site.rglob("*.html")) if file.parent != site / "_static"]
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in files}
    found = [f"{file.relative_to(site)}: {line}" for file in files for line in _of_page(file, pages[file], pages)]
    for sheet in sorted(site.rglob("*.css")):
        urls = _in_style(sheet.read_text(encoding="utf-8"))
        found += [f"{sheet.relative_to(site)}: {line}" for line in _of_loaded(sheet, urls)]
    return found


def _of_page(file: Path, page: Page, pages: dict[Path, Page]) -> list[str]:
    bad = [url for url in page.links if not ELSEWHERE.match(url) and not _leads_somewhere(url, file, pages)]
    return [f"dead link {url}" for url in dict.fromkeys(bad)] + _of_loaded(file, page.loaded)


def _of_loaded(file: Path, urls: list[str]) -> list[str]:
    lines = []
    for url in dict.fromkeys(urls):
        if ELSEWHERE.match(url):
            lines.append(f"loads {url} from elsewhere")
        elif not url.startswith(("data:", "#")) and not _target(url, file).is_file():
            lines.append(f"loads {url}, which is missing")
    return lines


def _target(url: str, file: Path) -> Path:
    path = unquote(re.split(r"[?#]", url)[0])
    return (file.parent / path).resolve() if path else file


def _leads_somewhere(url: str, file: Path, pages: dict[Path, Page]) -> bool:
    target, place = _target(url, file), unquote(url.partition("#")[2])
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    return not place or target not in pages or place in pages[target].places
