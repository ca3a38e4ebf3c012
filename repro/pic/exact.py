"""What theory says where it has a closed form."""

import numpy as np


def slow_electrons(time, source: float, attachment: float, recombination: float) -> np.ndarray:
    """Density in 1/m3 of slow electrons at times in s, none at first, with as many ions as electrons.

    dn/dt = S - nu n - beta n^2 has the solution n = 2 S tanh(t q / 2) / (q + nu tanh(t q / 2)), q^2 = nu^2 + 4 S beta,
    for `source` S in 1/(m3 s), `attachment` nu in 1/s and `recombination` beta in m3/s.
    """
    q = np.sqrt(attachment**2 + 4 * source * recombination)
    growth = np.tanh(np.asarray(time) * q / 2)
    return 2 * source * growth / (q + attachment * growth)
