"""Sentences of the notebook on ghosts, as Markdown, with their numbers."""

import pandas as pd

from repro.papers.sph.boundaries import NAMES
from repro.sph.cases import DamBreak

from .claims import SETUP
from .measures import PLACES
from .runs import EQUATIONS, JITTER, ghosts_of, one_ghost, unheld

WITH, WITHOUT, CLAMPED = NAMES.values()

#: a deficit of at most so much of another one is halved
HALF = 0.5


def case_text(case: DamBreak, beside: pd.DataFrame, seconds: float, seeds) -> str:
    """What is run, and how many ghosts it takes beside the paper's number; `beside` as of `claims.setup`."""
    system, ghosts = case.system(), ghosts_of(case)
    paper = float(beside.set_index("id").loc[SETUP[1], "paper"])
    layers = ghosts["walls"] / paper
    return (
        f"{system.count:,} particles {1000 * case.resolution.spacing:.2f} mm apart fall for {seconds:g} s, "
        f"{round(seconds / system.dt):,} steps, from {len(seeds)} lattices on which each particle is moved at random "
        f"by up to {100 * JITTER:g} % of a spacing along each axis. Every support is filled: "
        f"**{ghosts['walls']:,} ghosts** in the walls, {ghosts['first layer']:,} of them in the first layer, and "
        f"{ghosts['sites']:,} sites for ghosts in the air. The paper has {paper:,.0f} ghosts, "
        f"{f'{layers:.1f} times fewer' if layers > 1 else 'more'}; it says neither how large its tank is nor how "
        "many layers the walls have."
    )


def _values(table: pd.DataFrame, name: str, column: str) -> pd.Series:
    return table.loc[table["boundary"] == name, column]


def _percent(values: pd.Series) -> str:
    return f"{100 * values.mean():.3g} % ({100 * values.min():.3g} to {100 * values.max():.3g})"


def _ratio(table: pd.DataFrame, column: str, name: str = WITHOUT) -> tuple[float, float]:
    """A boundary's values over those with ghosts: of the means, and the least of any two seeds'."""
    ours, others = _values(table, WITH, column), _values(table, name, column)
    if ours.max() == 0:
        return (float("inf"),) * 2 if others.min() > 0 else (1.0, 1.0)
    return others.mean() / max(ours.mean(), 1e-300), others.min() / ours.max()


def halved(table: pd.DataFrame, place: str) -> bool:
    """Whether the deficit with ghosts is at most half of that without, whichever seeds one compares."""
    return _ratio(table, f"counted {place}")[1] >= 1 / HALF


def deficit_text(table: pd.DataFrame) -> str:
    """How much of rho0 equation 3 lacks by place and boundary, and whether ghosts halve it; of `measures.table`."""
    lines = []
    for place in PLACES:
        column = f"counted {place}"
        if all(_values(table, name, column).max() == 0 for name in NAMES.values()):
            lines.append(f"- {place.capitalize()}: nothing is missing, or no particle is so far from all boundaries.")
            continue
        found = ", ".join(f"{name} {_percent(_values(table, name, column))}" for name in NAMES.values())
        mean, least = _ratio(table, column)
        side = "**at least halved**" if least >= 1 / HALF else "**not halved**"
        judged = f" With ghosts it is {100 / mean:.2g} % of that without: {side}, whichever seeds one compares."
        lines.append(f"- {place.capitalize()}: {found}.{judged if place != PLACES[2] else ''}")
    return "\n".join([*lines, _counting(table), _excess(table)])


def _counting(table: pd.DataFrame) -> str:
    """What the ghosts' own mass does, apart from what they did to the trajectory."""
    parts, most = [], []
    for place in PLACES[:2]:
        alone, counted = (_values(table, WITH, f"{kind} {place}").mean() for kind in ("not counted", "counted"))
        parts.append(f"{100 * alone:.2g} % instead of {100 * counted:.2g} % {place}")
        # of what ghosts make up for, more than half is missing again without them
        most.append(alone - counted > HALF * (_values(table, WITHOUT, f"counted {place}").mean() - counted))
    why = "what fills the sums are the ghosts themselves, not another flow" if all(most) else "**the flow differs too**"
    return f"- The same particles that moved with ghosts, summed without them, lack {' and '.join(parts)}: {why}."


def _excess(table: pd.DataFrame) -> str:
    """The other side of the coin: where ghosts are too near, a sum is too large."""
    column = f"excess {PLACES[1]}"
    ours, others = (100 * _values(table, name, column).mean() for name in (WITH, WITHOUT))
    why = ": sites of a lattice do not fit around particles that are on none" if ours > others else ""
    return (
        f"- What equation 3 has too much near the surface is {ours:.2g} % with ghosts and {others:.2g} % without{why}."
    )


def roughness_text(table: pd.DataFrame) -> str:
    """Which boundary is the smoother, at the surface and along walls, and what walls hold back."""
    parts = []
    for column, what in (("surface", "The surface's roughness"), ("walls", "The unevenness along walls")):
        found = ", ".join(
            f"{(v := _values(table, name, column)).mean():.3g} spacings ({v.min():.3g} to {v.max():.3g}) {name}"
            for name in NAMES.values()
        )
        parts.append(f"- {what} is {found}: {_smoother(table, column)}.")
    return "\n".join([*parts, _held(table), *_flat(table)])


def _smoother(table: pd.DataFrame, column: str) -> str:
    ours, others = _values(table, WITH, column), _values(table, WITHOUT, column)
    if ours.max() < others.min():
        return "**smoother with ghosts** than without, as the paper says"
    return "**rougher with ghosts** than without" if ours.min() > others.max() else "the seeds do not tell them apart"


def _flat(table: pd.DataFrame) -> list[str]:
    """Why water may be no less even along walls without ghosts."""
    ours, others = _values(table, WITH, "walls"), _values(table, WITHOUT, "walls")
    pressed = 100 * (_values(table, WITHOUT, "on walls") / _values(table, WITHOUT, "count")).mean()
    if ours.max() < others.min() or pressed < 1:
        return []
    found = "vary less than" if others.max() < ours.min() else "vary about as much as"
    return [
        f"- That is not the whole of it: without ghosts {pressed:.0f} % of all particles lie on a wall, where they "
        "were put back, half a spacing from where the lattice had them. The unevenness does not tell, for it is of how "
        f"much the gaps vary, and not of how wide they are: with so many at zero they {found} with ghosts."
    ]


def front_text(table: pd.DataFrame, case: DamBreak, seconds: float, before: pd.DataFrame) -> str:
    """How far the water has come, and whether the late start without ghosts accounts for how much less it is there.

    `before` as of `runs.earlier`.
    """
    fronts = {name: 1000 * _values(table, name, "front").mean() for name in NAMES.values()}
    text = f"- The front has come to {', '.join(f'{front:.0f} mm {name}' for name, front in fronts.items())}."
    lag, late = fronts[WITH] - fronts[WITHOUT], unheld(case)
    if _values(table, WITH, "front").min() <= _values(table, WITHOUT, "front").max():
        return text
    why = (
        " The lattice begins half a spacing above the bottom, and without ghosts nothing holds it there: as the small "
        f"column below, it should fall freely for {1000 * late:.0f} ms before the bottom can turn water aside."
    )
    if before.empty:
        return f"{text}{why} This run is no longer than that: it ends before the front without ghosts can start."
    cost = fronts[WITH] - 1000 * before["front"].mean()
    return (
        f"{text}{why} With ghosts the front was at {1000 * before['front'].mean():.0f} mm that long before "
        f"{seconds:g} s, so a start so late costs {cost:.0f} mm, and the lag is {lag:.0f} mm: {_enough(cost / lag)}. "
        "What the missing neighbours do to the flow after that is not told apart here, and what else differs at this "
        "time may be of the late start, too. Finer particles begin nearer to the bottom and start less late."
    )


def _enough(share: float) -> str:
    """What to make of a cause that accounts for such a share of an effect."""
    if share < 0.5:
        return "**it is not the late start alone**"
    return "the late start is **most of it**" if share < 0.9 else "the late start is **enough to account for it**"


def _held(table: pd.DataFrame) -> str:
    counts = {name: _values(table, name, "on walls").mean() for name in NAMES.values()}
    lost = [f"{int(n)} {name}" for name in NAMES.values() if (n := _values(table, name, "lost").max())]
    beyond = _values(table, WITH, "beyond").max()
    side = "beyond a wall" if beyond > 0 else "within it"
    told = f"**lost** are up to {', '.join(lost)}" if lost else "none is lost"
    return (
        f"- On a wall or beyond lie {', '.join(f'{count:.0f} particles {name}' for name, count in counts.items())}, on "
        f"average over the seeds; {told}. With ghosts, where nothing else holds the water, the outermost particle is "
        f"{abs(beyond):.2f} spacings {side}."
    )


def devices_text(differences: pd.DataFrame, devices) -> str:
    """Whether two devices, by their names, give the same water, of `runs.differences`."""
    lines = []
    for row in differences.to_dict("records"):
        same = "the **same bits** in every position, velocity, acceleration and density"
        other_bits = f"**not the same bits**; particles are up to {row['distance']:.2g} spacings apart"
        lines.append(f"- {row['boundary'].capitalize()}: {same if row['same bits'] else other_bits}.")
    return f"{' against '.join(devices)}, after {differences['time'].max():.3g} s:\n\n" + "\n".join(lines)


def equation_text(table: pd.DataFrame, case: DamBreak) -> str:
    """What becomes of the water with equation 3, of `runs.equations`, and how much one ghost in the air matters."""
    share, push = one_ghost(case)
    system = case.system()
    weight = case.fluid.density * case.fluid.gravity * system.depth
    return "\n".join(
        [
            f"A ghost that appears beside a particle adds {100 * share:.1f} % to its density by equation 3, which the "
            f"paper's $B$ answers with {push / 1000:.0f} kPa: {push / weight:.0f} times the pressure at the bottom of "
            "this column. Equation 4 sums velocities, to which a ghost that goes with the fluid adds nothing.",
            "",
            *(_outcome(row, table["time"].max()) for row in table.to_dict("records")),
            "",
            *_why(table, case, push / weight),
            _better(table),
        ]
    )


def _outcome(row: dict, whole: float) -> str:
    name = f"- Equation {row['equation']}, {row['boundary']}: "
    if row["stopped"] and row["time"] == 0:
        return name + "the run was **stopped before the first look**."
    end = f"; the run was **stopped** soon after {row['time']:.3g} s of {whole:.3g} s" if row["stopped"] else ""
    gained = row["gained"]
    word = "**gained**" if gained > 1e-3 else "changed by"
    return name + (
        f"the water {word} {100 * gained:.3g} % of its energy, its centre fell {100 * row['fallen']:.3g} % of a free "
        f"fall, the fastest particle has {row['fastest']:.2g} m/s, and the front is at {row['front']:.3f} widths{end}."
    )


def _why(table: pd.DataFrame, case: DamBreak, push: float) -> list[str]:
    """Why fronts differ; `push` is what one ghost does over the pressure at the column's bottom."""
    rows = table.set_index(["equation", "boundary"])
    rows = rows[~rows["stopped"].astype(bool)]
    summed, rate = EQUATIONS["summation"], EQUATIONS["continuity"]
    if (rate, WITH) not in rows.index:
        return []
    held, lines = rows.loc[(rate, WITH)], []
    if (rate, WITHOUT) in rows.index and (free := rows.loc[(rate, WITHOUT)])["fallen"] > held["fallen"]:
        late, time = unheld(case), free["time"]
        until = f"takes {1000 * late:.0f} ms, and this run {1000 * time:.0f}"
        lines.append(
            "By equation 4 without ghosts nothing holds the column until its lowest layer meets the bottom, which "
            f"{until}: its centre falls {100 * free['fallen']:.3g} % of a free fall, not {100 * held['fallen']:.3g} %"
            + (". So its front starts late, and is behind." if free["front"] < held["front"] else ".")
        )
    if (summed, WITH) in rows.index and (stiff := rows.loc[(summed, WITH)])["fallen"] < HALF * held["fallen"]:
        why = (
            ", for each ghost that comes or goes is answered with more pressure than the column has. But no run here "
            "has the sum with ghosts that neither come nor go, so that this is the cause is not shown"
            if push > 1
            else "; why is not told here"
        )
        lines.append(
            f"With equation 3 and ghosts it falls only {100 * stiff['fallen']:.3g} % of a free fall: the ghosts in the "
            f"air seem to lock the water{why}."
        )
    return [" ".join(lines), ""] if lines else []


def broken(row: dict) -> bool:
    """Whether water that falls has gained energy, or its run was stopped."""
    return bool(row["stopped"] or row["gained"] > 1e-3)


def _better(table: pd.DataFrame) -> str:
    """Which equation lets a dam break as water does."""
    rows = table.to_dict("records")
    bad = {e: [r["boundary"] for r in rows if r["equation"] == e and broken(r)] for e in EQUATIONS.values()}
    parts = [
        f"Equation {e} {'fails ' + ' and '.join(names) if names else 'holds with ghosts and without'}"
        for e, names in bad.items()
    ]
    return "; ".join(parts) + ". All other runs of this notebook take equation 4, and equation 3 to look at them."


def verdict(table: pd.DataFrame, differences: pd.DataFrame) -> str:
    """What agrees with the paper's text on figures 6 and 7, and what does not."""
    tests = {f"the deficit {place} is at least halved by ghosts": halved(table, place) for place in PLACES[:2]}
    for column, what in (
        ("surface", "the surface is smoother with ghosts"),
        ("walls", "the water along walls is more even with ghosts"),
    ):
        tests[what] = _ratio(table, column)[1] > 1
    tests["no particle is lost with ghosts"] = int(_values(table, WITH, "lost").max()) == 0
    tests["both devices have the same bits"] = bool(differences["same bits"].all())
    sides = {kept: [name for name, holds in tests.items() if bool(holds) is kept] for kept in (True, False)}
    lines = [f"- As the paper says: {'; '.join(sides[True]) or 'nothing'}."]
    lines += [f"- **Not found here**: {'; '.join(sides[False])}."] if sides[False] else []
    return "\n".join(lines)
