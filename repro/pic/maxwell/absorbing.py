"""Open space behind absorbing layers: the convolutional perfectly matched layer (CPML).

After Roden and Gedney (2000, Microwave Opt. Technol. Lett. 27, 334): in the layers the derivative along their axis is
stretched by s = kappa + sigma / (alpha + i omega eps0), which makes of a difference d of Yee's scheme

    d / kappa + psi,    psi = b psi before + g d,

    b = exp(-(sigma / kappa + alpha) dt / eps0),    g = sigma (b - 1) / (sigma kappa + kappa^2 alpha).

A launch over the nodes in the layers alone adds d (1 / kappa - 1) + psi before the fields go on, so that a box without
layers pays nothing. It comes first, for what it puts on the conductor behind the layers is then set to zero.
"""

from typing import NamedTuple

import numpy as np

from repro.parallel import Kernel, device_function, fma

from ..constants import LIGHT
from ..mesh import Mesh

#: sigma and kappa - 1 rise with this power of the depth: a step from one node to the next reflects
_POWER = 3

#: largest sigma times dx / (eps0 c), over _POWER + 1. Roden and Gedney's best, 0.8, is for waves that come straight, of
#: which exp(-1.6) = -14 dB a layer is left on the way there and back; aslant less is lost, and half as much again costs
#: a straight wave little
_STEEPNESS = 1.2

#: largest kappa, at the conductor: it shortens waves that run along the layers or die out across them, which sigma
#: hardly sees. With five, waves of twelve cells are so short in the layers that the mesh reflects them
_STRETCH = 2.0

#: largest alpha times dx / (eps0 c), at the layers' open side, from where it falls to none: to waves slower than that
#: (120 cells long) the layers are only longer, so that fields that hardly change do not pile up in psi. Of pulses of 12
#: cells at 0 to 67 degrees, of 30 and of 60 cells at 0 and 45 ten layers send back less than -80 dB
_SLOWEST = 0.05


def grades(mesh: Mesh, dt: float, axis: int, *, half: bool) -> np.ndarray:
    """b, g and 1 / kappa - 1 of the nodes along an axis (with guards), or `half` a cell above them; shape (3, nodes).

    b and g are 0 outside the layers. At the wall at the low end, where E along it is 0 anyhow, they are what they are.
    """
    cells, (low, high) = mesh.shape[axis], mesh.absorbing[axis]
    place = np.arange(cells + 2) - 1 + 0.5 * half
    depth = np.maximum((low - place) / max(low, 1), (place - (cells - high)) / max(high, 1))
    # guards are beyond the wall
    depth = np.clip(depth, 0, 1) * ((place >= 0) & (place < cells))
    if not low + high:
        depth[:] = 0
    rate = LIGHT * dt / mesh.spacing[axis]
    sigma = _STEEPNESS * (_POWER + 1) * rate * depth**_POWER
    kappa = 1 + (_STRETCH - 1) * depth**_POWER
    alpha = _SLOWEST * rate * (1 - depth)
    decay = np.exp(-(sigma / kappa + alpha))
    inside = depth > 0
    gain = np.divide(sigma * (decay - 1), kappa * (sigma + kappa * alpha), where=inside, out=np.zeros_like(depth))
    return np.where(inside, [decay, gain, 1 / kappa - 1], 0)


class Layers(NamedTuple):
    """The layers as a kernel takes them, for one of the two fields."""

    #: numbers of the nodes in layers
    nodes: np.ndarray
    #: two numbers for each axis with layers and each node: the convolutions along it of the next and of the last axis
    psi: np.ndarray
    #: `grades` of all nodes along x, then along y, then along z
    decay: np.ndarray
    gain: np.ndarray
    shrink: np.ndarray


@device_function
def _stretched(layers, k, slot, place, source, i, step, courant):
    """What is added to a component's difference along an axis, after its convolution has gone on."""
    zero = type(courant)(0)
    if layers.gain[place] == zero:
        return zero
    change = courant * (source[i + step] - source[i])
    k += slot * len(layers.nodes)
    psi = fma(layers.decay[place], layers.psi[k], layers.gain[place] * change)
    layers.psi[k] = psi
    return fma(layers.shrink[place], change, psi)


@device_function
def absorbing_body(x, n, target, source, layers, slots, courant, way, layout):
    """A kernel's body for nodes in layers: adds to `target` what they change in the curl of `source`.

    `way` is 1 for the magnetic field and -1 for the electric one, whose differences go the other way; `slots` are the
    places of x, y and z among the axes with layers.
    """
    nodes, row, plane = layout.nodes, layout.row, layout.plane
    x_slot, y_slot, z_slot = slots
    for m in range(x, x + n):
        i = layers.nodes[m]
        j, k = i + nodes, i + 2 * nodes
        x_place, y_place, z_place = i % row, row + i % plane // row, row + layout.ny + 2 + i // plane
        to_x, to_y, to_z = way, way * row, way * plane
        x_of_y = _stretched(layers, m, x_slot, x_place, source, j, to_x, courant[0])
        x_of_z = _stretched(layers, m, x_slot + 1, x_place, source, k, to_x, courant[0])
        y_of_z = _stretched(layers, m, y_slot, y_place, source, k, to_y, courant[1])
        y_of_x = _stretched(layers, m, y_slot + 1, y_place, source, i, to_y, courant[1])
        z_of_x = _stretched(layers, m, z_slot, z_place, source, i, to_z, courant[2])
        z_of_y = _stretched(layers, m, z_slot + 1, z_place, source, j, to_z, courant[2])
        target[i] -= y_of_z - z_of_y
        target[j] -= z_of_x - x_of_z
        target[k] -= x_of_y - y_of_x


def layered_nodes(mesh: Mesh) -> np.ndarray:
    """Numbers of the nodes in layers, in the order of nodes."""
    found = np.zeros(mesh.guarded_grid, bool)
    inside = (slice(1, -1),) * 3
    for axis, (low, high) in enumerate(mesh.absorbing):
        along = np.moveaxis(found[inside], 2 - axis, 0)
        along[:low] = True
        # the first nodes of the layers at the high end change as all others do
        along[mesh.shape[axis] - high :] = True
    return np.flatnonzero(found.ravel()).astype(np.int32)


def bind_layers(device, real, mesh: Mesh, dt: float, nodes, target, source, courant, way: int):
    """The launch that adds to `target` what the layers change in the curl of `source`, see `absorbing_body`.

    The convolutions come first.
    """
    axes = sum(1 for ends in mesh.absorbing if any(ends))
    # components of the magnetic field along a wall are half a cell above it
    graded = np.concatenate([grades(mesh, dt, axis, half=way > 0) for axis in range(3)], axis=1).astype(real)
    psi = device.zeros(2 * axes * len(nodes), real)
    layers = Layers(nodes, psi, *(device.to_device(np.ascontiguousarray(part)) for part in graded))
    slots = tuple(int(slot) for slot in np.cumsum([0] + [2 * any(ends) for ends in mesh.absorbing[:2]]))
    body = device.compile(Kernel(absorbing_body, strict=True))
    return psi, body((len(layers.nodes),), target, source, layers, slots, courant, way, mesh.layout)
