"""What a notebook hands over: values, timings, tables, figures and animations, as one JSON file, written last."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch
from numbers import Real
from pathlib import Path
from string import Formatter

import numpy as np
import pandas as pd
from PIL import Image, ImageColor, ImageDraw, ImageFont

from repro.errors import CheckError, InputError, require, short
from repro.files import read_toml, whole, write_json
from repro.study.judge.claims import Claim, asked_for, find, number
from repro.study.judge.evidence import Evidence, as_stated, check_evidence, orders
from repro.study.judge.verdicts import Judgement, judge
from repro.study.keep import provenance
from repro.study.notebooks import Project, catalogue, did_you_mean, file_stem, slug
from repro.study.notebooks.parameters import check, defaults, known_values, require_limits

INLINE_LIMIT = 20_000
"""Numbers of a figure kept in the JSON file itself; more go to an .npz beside the figure."""
DIGITS = 7
MOST_NUMBERS = 3
"""Numbers that a sentence may fill in: one that lists more is a table."""


class Record:
    """The result of one notebook; see `open_record`."""

    def __init__(self, identifier: str, parameters: Mapping, claims: Mapping[str, Claim], folder: Path):
        self.id = identifier
        self.folder = folder
        self._claims = dict(claims)
        self._evidence: dict[str, Evidence] = {}
        self._started = time.time()
        self._content = {"id": identifier, "parameters": plain(parameters)}
        self._content |= {"void": [], "headlines": [], "sentences": [], "timings": [], "tables": {}, "figures": {}}

    def measure(
        self,
        claim: str,
        measured,
        *,
        scatter: float | None = None,
        baseline: str = "",
        converged: bool = True,
        note: str = "",
    ) -> Judgement:
        """Hand over the value measured for a claim, and have it judged.

        `measured` is a number, or for an order the independent repetitions of each entry, {name: [value, ...]}, or
        {case: {name: [value, ...]}}. `scatter` is how far runs lie apart, `baseline` what a speedup is over (kept for
        speedups only). A run that has not `converged` voids it; an order that lacks an entry which the claim names is
        not measured.
        CheckError if the value is no finite number; InputError for a claim that has one already.
        """
        if not converged:
            return self.void(claim, "the run did not converge")
        if isinstance(measured, Mapping):
            cases, missing = as_stated(self._claim(claim).value, orders(measured, claim))
            if missing:
                return self.not_measured(claim, f"this run has no {', '.join(missing)}")
            measured = cases.get("", cases)
        speedup = self._claim(claim).unit == "x" and self._claim(claim).kind == "speed"
        if speedup:
            _require(baseline, f"claim {claim}: say what the speedup is over, as baseline")
        evidence = Evidence(plain(measured), plain(scatter), baseline=baseline if speedup else "", note=note)
        return self._keep(claim, evidence)

    def measure_all(self, values: Mapping[str, object], **more) -> None:
        """Hand over the values of several claims, {claim id: value}; `more` as for `measure`."""
        for claim, measured in values.items():
            self.measure(claim, measured, **more)

    def not_measured(self, claim: str, reason: str) -> Judgement:
        """Record that this run does not test the claim, and why."""
        _require(reason, f"claim {claim}: say why it is not measured")
        return self._keep(claim, Evidence(not_measured=reason))

    def void(self, claim: str, reason: str) -> Judgement:
        """Record that the run that should have tested the claim is not valid, and why: it is not published."""
        self._content["void"].append(f"{claim}: {reason}")
        return self.not_measured(claim, reason)

    def timing(
        self,
        case: str,
        *,
        seconds: float,
        device: str,
        precision: str,
        size,
        includes: str,
        check: str,
        mlups: float | None = None,
        spread: float | None = None,
        **more,
    ) -> dict:
        """Record a speed.

        `seconds` is the median duration and `spread` its relative spread over the repeats; `includes` says
        what the timer includes, `check` which physics check the timed run has passed (refused without one).
        `more` keeps further facts (strategy, block size, share of the copy bandwidth ...).
        """
        _require(check, f"timing '{case}': name the physics check that the timed run has passed")
        _require(includes, f"timing '{case}': say what the timer includes")
        row = {"case": case, "mlups": mlups, "seconds": seconds, "spread": spread, "device": device}
        row |= {"precision": precision, "size": size, "includes": includes, "check": check, **more}
        self._content["timings"].append(plain(row))
        return row

    def table(self, name: str, frame: pd.DataFrame) -> pd.DataFrame:
        """Keep a table; returns it for display."""
        columns = [str(c) for c in frame.columns]
        rows = plain([list(row) for row in frame.itertuples(index=False)])
        self._content["tables"][name] = {"columns": columns, "rows": rows}
        return frame

    def headline(self, text: str) -> None:
        """Keep what the notebook is run for, in a short line such as "k = 13,894 millidarcy along x".

        The command line prints it at the end of a run of this notebook.
        """
        _require(text, "a headline is a line of text")
        self._content["headlines"].append(" ".join(text.split()))

    def say(self, template: str, *, holds, headline: bool = False, **numbers) -> None:
        """Show a sentence with its numbers filled in, and keep it with whether it is true in this run.

        A `headline` is the result of the notebook in a sentence, see `headline`; one that does not hold is none.

        `record.say("Walls lie within {worst:.1f} % of the thesis.", worst=worst, holds=worst < 1.6)`: the template is
        Markdown filled by str.format, and `holds` what makes it true. Where that is False the notebook says that the
        sentence does not hold, with the numbers, and `publish` refuses the result. InputError for a sentence without
        text, with other numbers than its template names or with more than three; CheckError for one that is not finite.
        """
        text = filled(template, numbers)
        require(isinstance(holds, bool | np.bool_), f"sentence '{text}': holds = {short(holds)}: must be True or False")
        self._content["sentences"].append({"text": text, "holds": bool(holds), "numbers": plain(numbers)})
        if headline and holds:
            self.headline(text)
        from IPython.display import Markdown, display

        if not holds:
            found = ", ".join(f"{name} = {value:.4g}" for name, value in numbers.items())
            text = f"**Not true in this run{f' ({found})' if found else ''}:** \u201c{text}\u201d"
        display(Markdown(text))

    def figure(self, name: str, figure, arrays: Mapping[str, object]) -> None:
        """Save a matplotlib figure as PNG and SVG with the arrays it shows; in a notebook show it over its caption.

        The caption, see `caption_of`, is also read to those who cannot see the figure.
        """
        stem = f"{file_stem(self.id)}-{slug(name)}"
        place = self.folder / "figures"
        with whole(place / f"{stem}.png") as file:
            figure.savefig(file, format="png", dpi=200)
        # everything has its place now: the other drawings need not look for it again
        figure.set_layout_engine("none")
        with whole(place / f"{stem}.svg") as file:
            figure.savefig(file, format="svg", metadata={"Date": None})
        files = [f"figures/{stem}.png", f"figures/{stem}.svg"]
        arrays = {key: np.asarray(value) for key, value in arrays.items()}
        entry: dict = {"files": files}
        if sum(array.size for array in arrays.values()) > INLINE_LIMIT:
            with whole(place / f"{stem}.npz") as place_of_arrays, open(place_of_arrays, "wb") as file:
                np.savez_compressed(file, **arrays)
            files.append(f"figures/{stem}.npz")
        else:
            entry["arrays"] = {key: plain(array) for key, array in arrays.items()}
        _show(figure, self._keep_figure(name, entry))

    def verdicts(self) -> pd.DataFrame:
        """The claims of this notebook, judged."""
        rows = []
        for claim in self._claims.values():
            evidence = self._evidence.get(claim.id) or Evidence(not_measured="no value yet")
            judgement, shown = judge(claim, evidence), evidence.shown(claim.value)
            row = {name: getattr(claim, name) for name in ("id", "quantity", "case")}
            row |= {"paper": claim.value, "measured": "" if shown is None else shown, "unit": claim.unit}
            rows.append(row | {"verdict": str(judgement.verdict), "reason": judgement.reason})
        return pd.DataFrame(rows)

    def close(self, why: str = "this run has no value for it") -> Path:
        """Write the JSON file, whole or not at all; claims without a value become "not measured" because of `why`."""
        for identifier in self._claims:
            if identifier not in self._evidence:
                self.not_measured(identifier, why)
        seconds = round(time.time() - self._started, 3)
        project = Project.default()
        machine = provenance.collect(project.root)
        said = {
            "claims": {identifier: evidence.entry for identifier, evidence in self._evidence.items()},
            "rules": {identifier: claim.rules for identifier, claim in self._claims.items()},
            "stated": {identifier: claim.stated for identifier, claim in sorted(asked_for(project).items())},
        }
        path = self.folder / f"{file_stem(self.id)}.json"
        write_json(path, {**self._content, **said, "seconds": seconds, "provenance": machine})
        return path

    def _keep_figure(self, name: str, entry: dict) -> str:
        """Keep what there is of a figure or film; returns its caption, empty without one."""
        caption = caption_of(self.id, name)
        self._content["figures"][name] = entry | ({"caption": caption} if caption else {})
        return caption

    def _claim(self, identifier: str) -> Claim:
        if identifier not in self._claims:
            nearest = did_you_mean(identifier, self._claims)
            raise InputError(f"claim '{identifier}' was not declared when the record was opened: {nearest}")
        return self._claims[identifier]

    def _keep(self, identifier: str, evidence: Evidence) -> Judgement:
        claim = self._claim(identifier)
        require(identifier not in self._evidence, f"claim {identifier} has its value already: a claim is measured once")
        try:
            judgement = judge(claim, check_evidence(identifier, evidence))
        except InputError as error:
            # the notebook's fault, not its user's
            raise CheckError(str(error)) from None
        self._evidence[identifier] = evidence
        return judgement


def open_record(identifier: str, *, parameters: Mapping, claims: Iterable[str]) -> Record:
    """Open the record of notebook `identifier`, which tests the claims with the given ids.

    Of `parameters`, its `globals()`, those are kept that its parameters cell assigns. The files go to the folder that
    the runner names in REPRO_OUTPUT; in JupyterLab to build/interactive.
    """
    project = Project.default()
    folder = Path(os.environ.get("REPRO_OUTPUT") or project.build / "interactive")
    folder.mkdir(parents=True, exist_ok=True)
    running = os.environ.get("REPRO_NOTEBOOK")
    if running and running != identifier:
        raise InputError(f"this notebook is {running}: its record cannot be opened as '{identifier}'")
    claims = list(claims)
    if twice := sorted({i for i in claims if claims.count(i) > 1}):
        raise InputError(f"{', '.join(twice)}: declared twice")
    found = find(claims, project)
    if silent := [f"{c.id} ({c.unjudged})" for c in found.values() if not c.measurable]:
        raise InputError(f"not measured by any run: {', '.join(silent)}")
    show_whole()
    return Record(identifier, _assigned(identifier, parameters, project), found, folder)


def _assigned(identifier: str, values: Mapping, project: Project) -> dict:
    """Of the values of a notebook's names, those that its parameters cell assigns, within its limits."""
    book = next((book for book in catalogue.load(project).notebooks if book.id == identifier), None)
    # one that is being written need not be in the catalogue yet
    known = defaults(book.source(project) if book else project.notebooks / f"{identifier}.ipynb")
    if missing := [name for name in known if name not in values]:
        raise InputError(f"no value for {', '.join(missing)}: run the parameters cell first")
    assigned = {name: values[name] for name in known}
    if book:
        values = check(plain(assigned), known, identifier)
        require_limits(values, known_values(known, book.profiles), identifier, book.limits)
    return assigned


def caption_of(identifier: str, figure: str) -> str:
    """The caption of a notebook's figure in notebooks/captions.toml, where * stands for what differs from run to run.

    Empty where there is none.
    """
    path = Project.default().notebooks / "captions.toml"
    captions = read_toml(path).get(identifier, {}) if path.is_file() else {}
    return next((text for pattern, text in captions.items() if fnmatch(figure, pattern)), "")


def _show(figure, caption: str) -> None:
    """A figure in a notebook with its caption below; elsewhere nothing."""
    import matplotlib.pyplot as plt
    from IPython import get_ipython
    from IPython.display import Markdown, display

    if get_ipython() is not None and caption:
        display(figure, metadata={"image/png": {"alt": caption}})
        display(Markdown(f"*{caption}*"))
        # or it is shown again at the end of the cell
        plt.close(figure)


def plain(value):
    """`value` as JSON knows it: NumPy becomes Python, floats keep seven digits, NaN and inf become text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else str(value)
    return str(value)


def filled(template: str, numbers: Mapping) -> str:
    """A sentence with its numbers, see `Record.say`."""
    _require(template, "a sentence is a line of text")
    sentence = " ".join(template.split())
    try:
        names = {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}
    except ValueError as error:
        raise InputError(f"sentence '{sentence}': {error}; a brace that is no number's is written twice") from None
    if unnamed := sorted(names - set(numbers)):
        raise InputError(f"sentence '{sentence}': no number is given for {', '.join(f'{{{n}}}' for n in unnamed)}")
    if unused := sorted(set(numbers) - names):
        raise InputError(f"sentence '{sentence}': {', '.join(unused)} is not in it")
    if len(numbers) > MOST_NUMBERS:
        raise InputError(f"sentence '{sentence}': {len(numbers)} numbers are a table, a sentence has {MOST_NUMBERS}")
    for name, value in numbers.items():
        if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
            raise InputError(f"sentence '{sentence}': {name} = {short(value)}: must be a number")
        if not np.isfinite(value):
            raise CheckError(f"sentence '{sentence}': {name} = {value}: must be finite")
    try:
        return sentence.format(**numbers)
    except (ValueError, LookupError) as error:
        raise InputError(f"sentence '{sentence}': {error}") from None


def _require(text: str, message: str) -> None:
    require(text and text.strip(), message)


def show_whole() -> None:
    """Let pandas cut no text off, and print no small number as 0.0000."""
    pd.set_option("display.max_colwidth", None, "display.float_format", number)


LIMIT = 2_000_000
"""Bytes of an animation: it is looked at in a browser, and kept in the repository."""
WIDTH = 600
"""Pixels that a smaller picture is enlarged to, by a whole factor."""
PLAYED = 2
"""Times that a film begins again; a picture that never rests disturbs reading."""
CAPTION = 24
"""Height in pixels of the strip for the caption."""


def keep_animation(
    record: Record, name: str, frames: np.ndarray, colours: Sequence[str], captions: Sequence[str]
) -> Path:
    """As `keep_film`, of frames (number, height, width) of indices into `colours`, the first row at the bottom.

    Small ones are enlarged.
    """
    frames = np.asarray(frames)
    if frames.ndim != 3 or not len(frames) or frames.dtype.kind != "u" or frames.max() >= len(colours):
        what = f"frames of {frames.dtype} of shape {frames.shape}"
        raise InputError(f"animation '{name}': {what} must hold indices of the {len(colours)} colours")
    factor = max(1, WIDTH // frames.shape[2])
    palette = np.array([ImageColor.getrgb(colour) for colour in colours], np.uint8)
    images = np.kron(palette[frames[:, ::-1]], np.ones((factor, factor, 1), np.uint8))
    return keep_film(record, name, images, captions)


def keep_film(
    record: Record, name: str, images: np.ndarray, captions: Sequence[str], *, milliseconds: int = 150
) -> Path:
    """Save images (number, height, width, 3) in red, green and blue, bytes, the first row at the top, as a GIF.

    A caption stands over each. The last one stays for a while, and the film begins again twice; returns the file.
    InputError for what is no such film, CheckError if it takes more than LIMIT bytes.
    """
    images = np.asarray(images)
    if images.ndim != 4 or images.shape[-1] != 3 or images.dtype != np.uint8 or not 0 < len(images) == len(captions):
        raise InputError(f"animation '{name}': {images.dtype} images of shape {images.shape}, {len(captions)} captions")
    pictures = []
    for image, caption in zip(images, captions, strict=True):
        picture = Image.fromarray(np.pad(image, ((CAPTION, 0), (0, 0), (0, 0)), constant_values=255))
        ImageDraw.Draw(picture).text((6, 3), caption, fill="black", font=ImageFont.load_default(size=15))
        pictures.append(picture.quantize(128, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))
    file = record.folder / "figures" / f"{file_stem(record.id)}-{slug(name)}.gif"
    shown = [milliseconds] * (len(pictures) - 1) + [10 * milliseconds]
    settings = {"append_images": pictures[1:], "duration": shown, "loop": PLAYED, "optimize": False}
    with whole(file) as place:
        pictures[0].save(place, "GIF", save_all=True, **settings)
        if (size := place.stat().st_size) > LIMIT:
            mb = f"{size / 1e6:.1f} MB, more than {LIMIT / 1e6:g}"
            raise CheckError(f"animation '{name}' takes {mb}: give fewer frames")
    record._keep_figure(name, {"files": [f"figures/{file.name}"]})
    return file
