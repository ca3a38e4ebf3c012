"""Writes the README's excerpt of the scoreboard from the results that are published in the checkout.

.venv/bin/python tools/excerpt.py
"""

from pathlib import Path

from repro.files import read_json, write_text
from repro.study import catalogue, claims, published, results
from repro.study.evidence import Evidence
from repro.study.paths import Project
from repro.study.text import table
from repro.study.verdicts import judge

ROOT = Path(__file__).resolve().parent.parent
MACHINE, NAME = "nvidia-h200", "NVIDIA H200"
START, END = "<!-- excerpt: written by tools/excerpt.py -->\n", "<!-- end of the excerpt -->"

#: claims by id, in the words of somebody who has not read the paper
CHOSEN = {
    "porous-110": "cavity, Re 400: number of vortices",
    "porous-020": "cavity: primary vortex centre",
    "porous-022": "cavity: bottom right vortex centre",
    "porous-036": "duct: error against the series",
    "porous-116": "spheres: change of k with the viscosity, MRT collision",
    "porous-115": "spheres: change of k with the viscosity, BGK collision",
    "porous-053": "spheres: loss in single precision",
    "porous-032": "cavity: peak speed",
    "porous-062": "sparse list: peak speed, fluid nodes",
    "porous-034": "cavity: GPU against one CPU core",
    "porous-114": "streaming through shared memory beats direct streaming",
    "porous-108": "duct, 256 nodes: fastest block size",
    "porous-123": "a sparse list is no faster on a CPU",
    "porous-069": "two fluids: surface tension from bubbles",
    "porous-077": "two fluids: peak velocity of layers, viscosity ratio 10",
    "porous-095": "two fluids: peak speed",
    "swap-015": "source types that a parallel swap needs",
    "swap-004": "cubic cavity, 128 nodes: speedup, populations crossing the bus in every step",
    "swap-008": "share of collision and streaming in an iteration on the GPU",
    "swap-018": "the speedup grows with the grid",
    "dpd-065": "flow between plates: CPU, GPU and theory, largest distance",
    "dpd-060": "linear generators: strongest wave of the density over chance",
    "dpd-057": "1,081,344 particles: a thread a particle against one CPU core",
    "dpd-059": "a thread a particle is faster than a thread a cell",
    "dpd-062": "sorting cells by their load balances it",
    "dpd-011": "uncoalesced access to memory costs",
    "sph-001": "dam break, 15,000 particles: a step of the paper's method",
    "sph-023": "dam break: the paper's method against one CPU core",
    "sph-034": "at every size the sorted search beats linked lists",
    "sph-037": "ghosts leave the water's surface and walls smoother",
    "sph-038": "dam break, 0.15 s: CPU and GPU, largest distance of a particle",
    "electrons-001": "30 million electrons: the paper's method on a GPU against all CPU cores",
    "electrons-012": "the fewer electrons, the larger the speedup",
    "electrons-006": "GPU memory for currents, N m / n^2 in a process: power of n",
}


def excerpt(project: Project) -> str:
    """The chosen claims as a Markdown table: the paper's value, ours and the verdict."""
    found = _evidence(project)
    rows = [_row(claims.find([i], project)[i], words, found[i]) for i, words in CHOSEN.items()]
    return table(rows) + "\n"


def _evidence(project: Project) -> dict[str, Evidence]:
    files = [
        published.sidecar_of(book, MACHINE, project)
        for book in catalogue.load(project).notebooks
        if published.sidecar_of(book, MACHINE, project).is_file()
    ]
    return {claim: e for file in files for claim, e in results.evidence_of(read_json(file)).items()}


def _row(claim: claims.Claim, words: str, evidence: Evidence) -> dict:
    unit = "" if claim.unit == "-" or claim.rule == "order" else f" {claim.unit}"
    measured = evidence.shown if isinstance(evidence.measured, dict) else f"{_number(evidence.measured)}{unit}"
    over = f" over {evidence.baseline}" if evidence.baseline else ""
    return {
        "paper": claim.paper,
        "claim": words,
        "paper's value": f"{claim.value}{unit}",
        f"measured on {NAME}": f"{measured}{over}",
        "verdict": str(judge(claim, evidence).verdict),
    }


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def main() -> None:
    """Put the table into README.md."""
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, after = text.split(START)[0], text.split(END)[1]
    write_text(readme, f"{before}{START}{excerpt(Project(ROOT))}{END}{after}")


if __name__ == "__main__":
    main()
