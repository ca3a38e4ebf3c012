"""A word a node knows its neighbours, and bounce-back is arithmetic on addresses instead of a branch.

Porous paper, section 5.2 and listing 2 ("algorithm one"). Bit i says that population i would come from solid; then it
is read at the node itself, in the opposite direction.
"""

import numpy as np

from repro.parallel import device_function

from ...layout import unsigned
from ...parameters import Grid
from ...strategies.scheme import Cost, Scheme
from ..node import flag_kernel, make_reader
from .scheme import dense_scheme

COST = Cost(arrays=2, mark=4)


@device_function
def in_solid(flags, node):
    """Whether bit 0 of a node's word says solid."""
    return (flags[node] & np.uint32(1)) != 0


@device_function
def fetch(s, k, i, node, back, ahead, size, flags, f):
    """Two populations, for `node.make_reader`: bit i of a node's word chooses the address."""
    word = np.int64(flags[node])
    behind_solid, ahead_solid = (word >> i) & 1, (word >> (i + 1)) & 1
    s[i, k] = f[unsigned((i + behind_solid) * size + node + (1 - behind_solid) * back)]
    s[i + 1, k] = f[unsigned((i + 1 - ahead_solid) * size + node + (1 - ahead_solid) * ahead)]


@device_function
def fetch_modified(s, k, i, node, back, ahead, size, flags, f):
    """`fetch` at modified walls: what arrives at a wall is sent back at once."""
    fetch(s, k, i, node, back, ahead, size, flags, f)
    word = np.int64(flags[node])
    behind_solid, ahead_solid = (word >> i) & 1, (word >> (i + 1)) & 1
    arrived, returned = s[i, k], s[i + 1, k]
    s[i, k] = returned if behind_solid > ahead_solid else arrived
    s[i + 1, k] = arrived if ahead_solid > behind_solid else returned


def make_flags(problem, device):
    """The words of all nodes, made on the device from the image."""
    shape, image = problem.stored.shape, problem.stored.solid.ravel().view("u1")
    flags = device.zeros(image.size, np.uint32)
    device.compile(flag_kernel(problem.lattice))(shape, device.to_device(image), flags, Grid.packed(shape))()
    return flags


def build(problem, device, dtype, block) -> Scheme:
    """Bind the strategy to two arrays on the device."""
    read = make_reader(problem.lattice, fetch_modified if problem.walls == "modified" else fetch)
    return dense_scheme(problem, device, dtype, block, marks=make_flags(problem, device), read=read, in_solid=in_solid)
