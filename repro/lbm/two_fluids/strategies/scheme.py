"""What all strategies for two fluids share: arrays of both, potentials before a step, and what is observed."""

from ...strategies.scheme import Scheme, in_order
from ..collision import FIELDS


def scheme_of(problem, device, dtype, *, shape, row, marks, phi, box, kernels, updates=None, **stored) -> Scheme:
    """A scheme of two arrays a fluid, in rows of length `row`, whose kernels run over `shape`.

    `kernels` are those of the potentials, of the update and of the observation, `box` is their grid or length of a row,
    `phi` are the potentials that act on (b, a). A strategy with one kernel a step gives `updates(now, then)`, launches
    from populations to populations, instead of the second kernel. `stored` as of Scheme.
    """
    _, a, b, coupling = problem.parameters(dtype)
    f, g = (tuple(device.zeros(problem.lattice.q * row, dtype) for _ in "ab") for _ in range(2))
    fields, (potentials, update, look) = device.zeros(FIELDS * row, dtype), (k and device.compile(k) for k in kernels)
    parts, observe, looks = [], [], []
    for now, then in ((f, g), (g, f)):
        densities = potentials(shape, marks, *now, *phi, box, coupling)
        if updates:
            parts.append({"update": updates(now, then)})
        else:
            step = update(shape, marks, *now, *then, *phi, box, a, b, coupling)
            parts.append({"densities": densities, "update": step})
        # of the two arrays that it may write to, the observation takes the first
        looks.append(look(shape, marks, *now, fields, then[0], *phi, box, a, b, coupling))
        observe.append(in_order(densities, looks[-1]))
    return Scheme(
        tuple(in_order(*launches.values()) for launches in parts),
        (f, g),
        parts=tuple(parts),
        row=row,
        observe=tuple(observe),
        fields=fields,
        kept=(marks, *phi),
        potentials=phi,
        looks=tuple(looks),
        **stored,
    )
