"""The command line: `python -m repro`. What a user gets wrong is one line and exit status 2."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Annotated, TextIO

import typer
from typer.core import TyperCommand

from .errors import InputError, one_line
from .study.notebooks import Project, catalogue

NAME = "python -m repro"

FAILED, WRONG_INPUT, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141

#: what ends a command from outside: Ctrl-C, a batch system's SIGTERM, a terminal that closes
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

#: seconds after a signal in which others change nothing: what the first one asks for is being done
PATIENCE = 20.0

#: how Python begins to say that a path leads in a circle, or that nobody knows the user's home
PATHS_IN_VAIN = ("Symlink loop", "Could not determine home")

app = typer.Typer(
    help="""Re-run five GPU papers and see, number by number, whether their claims hold.

    \b
    python -m repro run                       everything, sized for a laptop
    python -m repro run cavity                one notebook
    python -m repro run --profile paper       the papers' own sizes, on a GPU
    python -m repro report                    the scoreboard of the last run
    """,
    add_completion=False,
    pretty_exceptions_enable=False,
)

#: what is wrong with a command line; Typer names only this kind of it
_UsageError = typer.BadParameter.__base__


class _Once(TyperCommand):
    """A command that refuses an option given twice, of which Typer would take the last one."""

    def parse_args(self, ctx, args: list[str]) -> list[str]:
        """As Typer does it, after a look at what is given."""
        given = self.make_parser(ctx).parse_args(args=list(args))[2]
        for option in given:
            if given.count(option) > 1 and not option.multiple:
                raise _UsageError(f"{option.opts[-1]} is given {given.count(option)} times: give it once", ctx=ctx)
        return super().parse_args(ctx, args)


Ids = Annotated[list[str] | None, typer.Argument(help="Notebooks: cavity, porous/cavity or porous. Default: all.")]
Profile = Annotated[str, typer.Option(help="Size of the runs: smoke, quick, paper; `list` shows all.")]
Device = Annotated[str, typer.Option(help="auto, serial (one core), threads (all cores) or cuda.")]
Parameters = Annotated[
    list[str] | None,
    typer.Option("-p", "--parameter", metavar="NAME=VALUE", help="Set a parameter; ID:NAME=VALUE for one notebook."),
]


def _folder(text: str) -> Path:
    # as a path, nothing would be the working directory
    if not text.strip():
        raise typer.BadParameter("'' is no folder")
    return Path(text)


Output = Annotated[
    Path | None,
    typer.Option(parser=_folder, metavar="PATH", help="Folder of the results. Default: build/PROFILE/MACHINE."),
]


@app.callback(invoke_without_command=True)
def _top(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(WRONG_INPUT)


@app.command("list")
def list_notebooks(ids: Ids = None) -> None:
    """The notebooks: id and title; of those that are named the parameters that `run -p` sets, too."""
    books = catalogue.load(Project.default()).select(ids)
    if ids:
        return typer.echo("\n\n".join(map(_described, books)))
    width = max((len(book.id) for book in books), default=0)
    usual = list(books[0].profiles) if books else []
    for book in books:
        others = f"  [{', '.join(book.profiles)}]" if list(book.profiles) != usual else ""
        typer.echo(_fitted(f"{book.id:{width}}  {book.title}{others}", sys.stdout, indent=width + 2))
    typer.echo(f"\nProfiles are {', '.join(usual)} where no others are named; `list NOTEBOOK` shows what -p can set.")


def _described(book: catalogue.Notebook) -> str:
    """A notebook with its parameters."""
    from .study.notebooks.parameters import choices, defaults
    from .study.run.progress import wrapped

    lines = choices(book, defaults(book.source(Project.default())))
    head = f"{book.id}: {book.title}; profiles {', '.join(book.profiles)}"
    parts = [head, "set by -p NAME=VALUE:" if lines else "no parameters", *(f"  {line}" for line in lines)]
    return "\n".join(wrapped(part, indent=6) for part in parts)


@app.command(cls=_Once)
def run(
    ids: Ids = None,
    profile: Profile = "quick",
    device: Device = "auto",
    parameter: Parameters = None,
    jobs: Annotated[int, typer.Option(help="Notebooks at once; all others stand still while one measures speed.")] = 1,
    share: Annotated[
        int, typer.Option(help="Notebooks that use a GPU at once; it must hold their data. Speed is measured alone.")
    ] = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run even what is up to date.")] = False,
    timeout: Annotated[float | None, typer.Option(help="Most seconds a cell may take.")] = None,
    memory: Annotated[float | None, typer.Option(help="Most GiB of main memory a notebook may take.")] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="Address of a Dask cluster, such as tcp://head:8786; a worker with a GPU has --resources GPU=1."
        ),
    ] = None,
    output: Output = None,
) -> None:
    """Run notebooks and print the scoreboard. What is up to date is skipped, so an interrupted run resumes.

    Results with parameters changed by -p get a folder of their own beside those of the profile.

    \b
    python -m repro run porous --jobs 2
    python -m repro run cavity -p reynolds=1000 -p nodes=128
    python -m repro run -p porous/cavity:reynolds=100 --device serial
    python -m repro run --profile paper --device cuda --share 8

    Exit status: 0 all went well, 1 a notebook failed, 2 the request cannot work, 128 + n ended by signal n
    (130 Ctrl-C, 143 SIGTERM, 129 the terminal closed, 141 nobody reads the output).
    """
    from .study.run.plan import make_plan
    from .study.run.runner import run_plan

    try:
        plan = make_plan(ids, profile=profile, device=device, overrides=parameter or (), output=output)
        limits = {"timeout": timeout, "memory": memory}
        outcomes = run_plan(plan, jobs=jobs, share=share, fresh=fresh, scheduler=scheduler, **limits)
    except KeyboardInterrupt as end:
        raise typer.Exit(_ended(end)) from None
    statuses, unshown = {outcome.status for outcome in outcomes}, False
    if statuses & {"done", "up to date", "failed"}:
        try:
            chosen = [book.id for book in plan.books if catalogue.EVERYTHING not in book.needs]
            _show(plan.output, profile, only=chosen if ids and chosen else None)
        except InputError as error:
            print(_fitted(f"repro: {error}"), file=sys.stderr)
            unshown = True
    for outcome in outcomes:
        if outcome.status == "refused":
            print(_fitted(f"repro: {outcome.id}: {outcome.message}"), file=sys.stderr)
        if outcome.status == "not in this profile":
            print(f"{outcome.id} has no such profile and was left out", file=sys.stderr)
    if "refused" in statuses or (unshown and "failed" not in statuses):
        raise typer.Exit(WRONG_INPUT)
    if "failed" in statuses:
        raise typer.Exit(FAILED)


def _show(output: Path | None, profile: str, only: list[str] | None = None) -> None:
    """Write the scoreboard; print it, or what it says about some notebooks `only`, and their headlines last."""
    from .study.publish import published
    from .study.show import report, scoreboard

    edited = published.edited(catalogue.load(Project.default()), Project.default())
    try:
        everything = report.open_report(output, profile=profile)
        found = everything if only is None else everything.only(only)
        # shown even where a page cannot be made
        typer.echo(scoreboard.summary(found))
        files = scoreboard.write_scoreboard(everything)
    finally:
        # said also where there is no run to report of
        for line in edited:
            typer.echo(_fitted(f"PUBLISHED {line}", sys.stdout))
    pages = [found.folder / f"{row['notebook']}.html" for row in found.books] if only else []
    typer.echo("\n".join(["", f"The page: {files[-1]}", *(str(page) for page in pages if page.is_file())]))
    if lines := scoreboard.headlines(found):
        typer.echo(f"\n{lines}")


@app.command(cls=_Once)
def solve(
    sample: Annotated[str, typer.Argument(help="TOML file that names an image and its voxel size.")],
    ranks: Annotated[
        int | None, typer.Option(help="Processes that share the image; each reads its slab. Default: one.")
    ] = None,
    device: Device = "auto",
    precision: Annotated[str, typer.Option(help="single or double.")] = "single",
    tolerance: Annotated[float, typer.Option(help="Share by which k may still change over an interval.")] = 1e-5,
    interval: Annotated[int, typer.Option(help="Steps between two looks at k.")] = 1000,
    output: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Folder of result.json, flow.pvti for ParaView, and checkpoints, from which the same command goes on.",
        ),
    ] = None,
    minutes: Annotated[float, typer.Option(help="Minutes between two checkpoints.")] = 30.0,
) -> None:
    """The permeability of a rock: a segmented image that a TOML file names, on one process or on several.

    \b
    python -m repro solve data/samples/channels.toml
    python -m repro solve rock.toml --ranks 2 --output build/rock
    mpiexec -n 2 python -m repro solve rock.toml

    Exit status: 0 all went well, 1 the flow or a rank failed, 2 the request cannot work, 128 + n ended by signal n.
    """
    from .errors import DivergenceError
    from .lbm.porous.solve import Request
    from .lbm.porous.start import start
    from .parallel.ranks.launch import RanksError

    try:
        start(Request(sample, device, precision, tolerance, interval, output, minutes), ranks)
    except KeyboardInterrupt as end:
        raise typer.Exit(_ended(end)) from None
    except (DivergenceError, RanksError) as error:
        raise typer.Exit(_say(error, status=FAILED)) from None


@app.command(cls=_Once)
def status(
    ids: Ids = None,
    profile: Profile = "quick",
    device: Device = "auto",
    output: Output = None,
    published: Annotated[bool, typer.Option("--published", help="What is published in this checkout instead.")] = False,
) -> None:
    """Which results are there and up to date, what has changed since the others, and so what `run` would do."""
    if published:
        from .study.publish.published import states

        project = Project.default()
        found = states(catalogue.Catalogue(tuple(catalogue.load(project).select(ids))), project)
        for identifier, state in found.items():
            typer.echo(_fitted(f"{identifier}: {state}", sys.stdout))
        old = sum(state != "up to date" for state in found.values())
        typer.echo(f"{old} of {len(found)} published results are not those of the sources at hand")
        return
    from .study.keep.results import NOT_RUN
    from .study.run.plan import make_plan
    from .study.run.progress import duration
    from .study.run.runner import running
    from .study.show.html import is_whole

    plan = make_plan(ids, profile=profile, device=device, output=output)
    now = running(plan.output)
    waiting = [book for book in plan.books if plan.state(book) == NOT_RUN and book.id not in now]
    # one, or those that were asked for, are named
    counted = waiting if len(waiting) > 1 and not ids else []
    if counted:
        typer.echo(f"{len(counted)} of {len(plan.books)} notebooks have not run; `list` names them")
    for book in (book for book in plan.books if book not in counted):
        since = f"running for {duration(now[book.id])}; before: " if book.id in now else ""
        page = "" if is_whole(plan.sidecar(book).with_suffix(".html")) else "; its page is damaged: `report` mends it"
        typer.echo(_fitted(f"{book.id}: {since}{plan.state(book)}{page}", sys.stdout))
    for book in plan.absent:
        typer.echo(f"{book.id}: not in this profile")


@app.command()
def manifest() -> None:
    """Write build/manifest.json, with which a copy of this checkout knows its commit where there is no git."""
    from .study.keep import provenance

    typer.echo(provenance.write_manifest(Project.default()))


@app.command(cls=_Once)
def report(
    profile: Annotated[str, typer.Option(help="Profile of the run. Default: the newest run.")] = "",
    output: Output = None,
    published: Annotated[
        bool, typer.Option("--published", help="Judge what is published in this checkout; write REPORT.md and .csv.")
    ] = False,
) -> None:
    """Print the scoreboard of the newest run and write it as Markdown, CSV and HTML.

    Exit status 1 if a published result, or a file of it, was edited or lost; then REPORT.md stays as it is.
    """
    if not published:
        return _show(output, profile)
    if profile or output:
        raise InputError("--published takes what is in data/measured: leave out --profile and --output")
    from .study.publish.published import edited
    from .study.show import markdown, scoreboard
    from .study.show.report import open_published

    project = Project.default()
    found = open_published(project)
    typer.echo(scoreboard.summary(found))
    if lines := edited(catalogue.load(project), project):
        typer.echo("\n".join(f"PUBLISHED {line}" for line in lines))
        typer.echo("\nREPORT.md and REPORT.csv stay as they are: they tell of whole results alone")
        raise typer.Exit(FAILED)
    files = scoreboard.write_report(found, project)
    for line in markdown.outgrown(markdown.findings(project), found):
        typer.echo(_fitted(line, sys.stdout))
    typer.echo(f"\nThe report: {files[0]}")


@app.command()
def doctor() -> None:
    """Look at this machine: versions, processor, memory, GPU, folders. Exit status 1 if all is not well."""
    from .study.run.doctor import examine

    well = True
    for check in examine():
        line = f"{'ok     ' if check.ok else 'WARNING'}  {check.name}: {check.text}"
        typer.echo(_fitted(line, sys.stdout, indent=9))
        well = well and check.ok
    if not well:
        raise typer.Exit(FAILED)


@app.command(cls=_Once)
def publish(
    profile: Annotated[str, typer.Option(help="Profile of the run to publish, paper or beyond.")] = "paper",
    source: Annotated[
        Path | None, typer.Option("--from", parser=_folder, metavar="PATH", help="Folder of a run made elsewhere.")
    ] = None,
    beside: Annotated[
        bool, typer.Option("--beside", help="Only add measurements to what another machine has published.")
    ] = False,
    text: Annotated[
        bool, typer.Option("--text", help="Only renew the text of published notebooks whose results still stand.")
    ] = False,
) -> None:
    """Copy a finished run in the papers' sizes into notebooks/rendered, figures and data/measured.

    \b
    python -m repro publish
    python -m repro publish --from results/paper/nvidia-h200
    python -m repro publish --from results/paper/nvidia-h100 --beside
    python -m repro publish --text
    """
    if text:
        from .study.publish.publish import republish_text

        if source or beside:
            raise InputError("--text renews what is published: it takes neither --from nor --beside")
        renewed = republish_text(Project.default())
        typer.echo("\n".join([*renewed, f"the text of {len(renewed)} published notebooks renewed"]))
        return
    from .study.publish.publish import publish as copy

    files = copy(source, profile, project=Project.default(), beside=beside)
    typer.echo(f"{len(files)} files published")


class Interrupted(KeyboardInterrupt):
    """A signal asked the program to end; `status` is the exit status of one that does, 128 + n."""

    def __init__(self, number: int):
        super().__init__(f"interrupted by {signal.Signals(number).name}")
        self.status = 128 + number


@contextmanager
def _signals_heeded() -> Iterator[None]:
    """Raise Interrupted for the first signal of ENDING; those that whoever started us has ignored (nohup) stay so."""
    last = -PATIENCE

    def interrupt(number: int, _: FrameType | None) -> None:
        nonlocal last
        # a session that ends sends two at once, and who is impatient presses twice
        if (now := time.monotonic()) - last >= PATIENCE:
            last = now
            raise Interrupted(number)

    before = {number: signal.getsignal(number) for number in ENDING}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


def main() -> None:
    """Entry point: errors in the input, and what ends a command from outside, become one line."""
    with _signals_heeded():
        status = _status()
    sys.exit(status)


def _status() -> int:
    try:
        return app(prog_name=NAME, standalone_mode=False)
    except InputError as error:
        return _say(error, error)
    except _UsageError as error:
        # where a value does not fit the message leaves out what was given
        reasons = getattr(error.__cause__, "errors", list)()
        given = f", not {reasons[0]['input']!r}" if reasons else ""
        place = error.ctx.command_path if error.ctx else NAME
        return _say(f"{error.format_message().rstrip('.')}{given}; see {place} --help")
    except typer.Abort as abort:
        return _ended(abort.__cause__)
    except SystemExit as end:
        # Typer's, of a broken pipe
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        # nothing shall be written when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        nobody = "nobody reads the output any more; what was finished before is kept"
        return _say(nobody, end.__context__, BROKEN_PIPE)
    except OSError as error:  # a folder that may not be read, a full disk
        return _say(f"{error.filename or 'a file cannot be read or written'}: {error.strerror or error}", error)
    except RuntimeError as error:
        if not str(error).startswith(PATHS_IN_VAIN):
            raise
        return _say(f"{error}: name a folder that is there, or set HOME, or NUMBA_CACHE_DIR for compiled kernels")


def _ended(end: BaseException | None) -> int:
    """Say in a line what an interruption left; its exit status."""
    return _say(end or "interrupted", end, getattr(end, "status", INTERRUPTED))


def _fitted(line: str, stream: TextIO | None = None, indent: int = 2) -> str:
    """A line as a terminal shows it, no word cut in two; elsewhere it stays one line. Errors go to the error output."""
    from .study.run.progress import wrapped

    return wrapped(line, indent) if (stream or sys.stderr).isatty() else line


def _say(text, error: BaseException | None = None, status: int = WRONG_INPUT) -> int:
    """Write a line, with what was noted of an error; returns the exit status."""
    # a terminal that has closed reads nothing
    with suppress(OSError):
        line = "; ".join([str(text), *getattr(error, "__notes__", [])])
        print(_fitted(f"repro: {one_line(line)}"), file=sys.stderr, flush=True)
    return status
