"""The collision in moment space of D3Q19 (porous paper, section 2.2 and equations 2.9 to 2.11).

Moments, matrix and recommended rates: d'Humieres, Ginzburg, Krafczyk, Lallemand, Luo, Phil. Trans. R. Soc. A 360
(2002) 437. Two rates for porous media: Pan, Luo, Miller, Computers & Fluids 35 (2006) 898. The moments' equilibria
are those of equation 2.8 (w_eps = 3, w_eps,j = -11/2, w_xx = -1/2), so the populations' equilibrium can be taken off
before the transformation and put back after it; the same holds for the force.
"""

from functools import cache

from repro.parallel import device_function, load_generated

from .equilibrium import VELOCITY_SHARE, even, make_moments, odd, pair_constants
from .lattice import Lattice
from .storage import make_storage

#: rates that do not follow from the viscosity, in "mrt-dhumieres"
DHUMIERES_RATES = {"e": 1.19, "eps": 1.4, "3pixx": 1.4, "piww": 1.4} | {
    name + axis: rate for name, rate in (("q", 1.2), ("m", 1.98)) for axis in "xyz"
}


def moment_matrix(lattice: Lattice) -> dict[str, tuple[float, ...]]:
    """Rows of the matrix M by the names of the moments, one entry a velocity; the rows are orthogonal."""
    rows: dict[str, list[float]] = {}

    def add(name, value):
        rows.setdefault(name, []).append(float(value))

    for x, y, z in lattice.velocities:
        square = x * x + y * y + z * z
        outer = 3 * square - 5
        add("rho", 1)
        add("e", 19 * square - 30)
        add("eps", (21 * square**2 - 53 * square + 24) / 2)
        for name, c in (("x", x), ("y", y), ("z", z)):
            add(f"j{name}", c)
            add(f"q{name}", (5 * square - 9) * c)
        add("3pxx", 3 * x * x - square)
        add("3pixx", outer * (3 * x * x - square))
        add("pww", y * y - z * z)
        add("piww", outer * (y * y - z * z))
        add("pxy", x * y)
        add("pyz", y * z)
        add("pzx", z * x)
        add("mx", (y * y - z * z) * x)
        add("my", (z * z - x * x) * y)
        add("mz", (x * x - y * y) * z)
    return {name: tuple(row) for name, row in rows.items()}


def fixed_rate(name: str, collision: str) -> float:
    """The rate of a moment, or 0 where it follows from the viscosity: all moments of "mrt"."""
    return DHUMIERES_RATES.get(name, 0.0) if collision == "mrt-dhumieres" else 0.0


def _relaxing(lattice: Lattice, odd: bool) -> dict[str, tuple[float, ...]]:
    """Rows of the moments that relax and are odd, or even, in c; all but density and momentum."""
    rows = moment_matrix(lattice)
    conserved = ("rho", "jx", "jy", "jz")
    return {name: row for name, row in rows.items() if (row[1::2] != row[2::2]) == odd and name not in conserved}


def _combination(terms: list[tuple[float, str]]) -> str:
    """Text of a linear combination, terms of equal factor added first; factors are named c_..., see `_constant`."""
    by_factor: dict[float, list[str]] = {}
    for factor, name in terms:
        if factor:
            by_factor.setdefault(factor, []).append(name)
    return " + ".join(f"{_constant(factor)} * ({' + '.join(names)})" for factor, names in by_factor.items())


def _constant(factor: float) -> str:
    return f"c_{factor:g}".replace("-", "m").replace(".", "p")


def relaxation_source(lattice: Lattice, collision: str, *, odd: bool) -> str:
    """Python text of relax(s, n, rate), written out without loops over moments, which compiles fast and vectorises.

    The even, or odd, parts in `s` are f_0 and (f_i + f_opp)/2 in row i, or (f_i - f_opp)/2 in row i + 1. Each moment of
    them moves towards zero by its rate: d = -rate M_k.f/|M_k|^2, and M_k d is added to the parts.
    """
    rows, parts = _relaxing(lattice, odd), {0: "a0"} if not odd else {}
    parts |= {i + int(odd): f"a{i + int(odd)}" for i in range(1, lattice.q, 2)}
    lines, factors = [f"            {name} = s[{row}, k]" for row, name in parts.items()], set()
    added: dict[int, list] = {row: [] for row in parts}
    for k, (name, entries) in enumerate(rows.items()):
        # a part of a pair stands for two populations; row i + 1 of the odd parts has the entry of i
        mine = {row: entries[row - int(odd)] for row in parts}
        terms = [(mine[row] * (2 if row else 1), part) for row, part in parts.items()]
        fixed = fixed_rate(name, collision)
        scale = (fixed or 1.0) * -1 / sum(entry * entry for entry in entries)
        factors |= {factor for factor, _ in terms}
        lines.append(f"            d{k} = {'' if fixed else 'rate * '}dtype({scale!r}) * ({_combination(terms)})")
        for row in parts:
            added[row].append((mine[row], f"d{k}"))
            factors.add(mine[row])
    lines += [f"            s[{row}, k] = {part} + {_combination(added[row])}" for row, part in parts.items()]
    constants = "".join(f"    {_constant(factor)} = dtype({factor!r})\n" for factor in sorted(factors) if factor)
    body = "\n".join(lines)
    return (
        f'"""Generated: the {"odd" if odd else "even"} moments of {lattice.name}, {collision}."""\n\n\n'
        f"def make(device_function, dtype):\n{constants}\n    @device_function\n    def relax(s, n, rate):\n"
        f"        for k in range(n):\n{body}\n\n    return relax\n"
    )


@cache
def make_relaxation(lattice: Lattice, dtype, collision: str, odd: bool):
    """The moments relax towards zero, relax(s, n, rate), see `relaxation_source`."""
    name = f"{collision.replace('-', '_')}_{'odd' if odd else 'even'}_{lattice.name}"
    return load_generated(name, relaxation_source(lattice, collision, odd=odd)).make(device_function, dtype)


@cache
def _make_target(lattice: Lattice, dtype):
    """Adds sign f_eq + share F_i to the even and odd parts in `s`, add(s, n, sign, share, force)."""
    q, pairs = lattice.q, lattice.q // 2
    zero, three, three_halves = dtype(0), dtype(3), dtype(1.5)
    rest, (weights, cx, cy, cz) = dtype(lattice.weights[0]), pair_constants(lattice, dtype)

    @device_function
    def add(s, n, sign, share, force):
        fx, fy, fz = force
        for k in range(n):
            ux, uy, uz = s[q + 1, k], s[q + 2, k], s[q + 3, k]
            three_halves_u2, power = three_halves * (ux * ux + uy * uy + uz * uz), three * (ux * fx + uy * fy + uz * fz)
            s[0, k] += sign * even(rest, s[q, k], zero, three_halves_u2) - share * rest * power
        for pair in range(pairs):
            i, weight, kx, ky, kz = 2 * pair + 1, weights[pair], cx[pair], cy[pair], cz[pair]
            push = three * (kx * fx + ky * fy + kz * fz)
            for k in range(n):
                ux, uy, uz = s[q + 1, k], s[q + 2, k], s[q + 3, k]
                three_cu = three * (kx * ux + ky * uy + kz * uz)
                three_halves_u2 = three_halves * (ux * ux + uy * uy + uz * uz)
                power = three * (ux * fx + uy * fy + uz * fz)
                added = sign * even(weight, s[q, k], three_cu, three_halves_u2)
                s[i, k] += added + share * weight * (three_cu * push - power)
                s[i + 1, k] += sign * odd(weight, s[q, k], three_cu) + share * weight * push

    return add


@cache
def make_moment_collision(lattice: Lattice, dtype, forcing: str | None, collision: str, storage: str):
    """The collision by moments, collide(s, n, rates, force), in place in the scratch of a run; see `plain`.

    "mrt" relaxes even moments at even_rate and odd ones at odd_rate, "mrt-dhumieres" at DHUMIERES_RATES. With S the
    rates, the result is f_eq + (1 - S)(f - f_eq + share F) + (1 - share) F; `share` tells the forcings apart.
    """
    pairs, share = lattice.q // 2, VELOCITY_SHARE.get(forcing, 0.0)
    half, minus, plus, before, after = map(dtype, (0.5, -1, 1, share, 1 - share))
    moments, add = make_moments(lattice, dtype, share), _make_target(lattice, dtype)
    relax_even = make_relaxation(lattice, dtype, collision, odd=False)
    relax_odd = make_relaxation(lattice, dtype, collision, odd=True)
    enter, leave = make_storage(lattice, dtype, storage)

    @device_function
    def to_parts(s, n, scale):
        for pair in range(pairs):
            i = 2 * pair + 1
            for k in range(n):
                a, b = s[i, k], s[i + 1, k]
                s[i, k], s[i + 1, k] = scale * (a + b), scale * (a - b)

    @device_function
    def collide(s, n, rates, force):
        even_rate, odd_rate = rates
        inner = enter(s, n, force)
        moments(s, n, inner)
        to_parts(s, n, half)
        add(s, n, minus, before, inner)
        relax_even(s, n, even_rate)
        relax_odd(s, n, odd_rate)
        add(s, n, plus, after, inner)
        to_parts(s, n, plus)
        leave(s, n, force)

    return collide
