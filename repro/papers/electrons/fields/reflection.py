"""What absorbing layers send back: a pulse that meets them at an angle, against the same pulse without an end."""

from dataclasses import dataclass
from math import asin, degrees

import numpy as np
import pandas as pd

from repro.declared import Number
from repro.errors import require, require_whole
from repro.parallel.launch_sequence import in_turn
from repro.pic.constants import SMALLEST
from repro.pic.deposition import EDGES
from repro.pic.maxwell.fields import Fields, courant_limit
from repro.pic.mesh import Mesh

#: share of the Courant limit, and cells from the source of the pulse, where it is looked at, to the layers
COURANT, GAP = 0.99, 12

#: way of light in a step, in cells of a cube
_LIGHT_STEP = COURANT / 3**0.5

#: half width of the pulse in periods of its carrier, and how many of them it takes to come and to go
_WIDTH, _TAIL = 1.5, 3.0

#: dB above which a reflection is too large, with how many layers or more
LARGEST, JUDGED = -40.0, 10

#: units of the sums in one electron, and how many move in the source at most
_UNIT, _ELECTRONS = 2.0**40, 2.0**20


@dataclass(frozen=True)
class Pulse:
    """A plane pulse with a carrier `wavelength` cells long, which repeats itself along y after `period` cells.

    A period of 1 is a pulse along x, which comes straight; otherwise it goes at an angle to x and its mirror image with
    it. E is along z.
    """

    wavelength: float
    period: int = 1

    def __post_init__(self):
        Number(SMALLEST).check("cells of a pulse", self.wavelength)
        require_whole("period of a pulse", self.period, 1, 65535)
        wanted = f"1, or more than the {self.wavelength:g} cells of its wavelength"
        straight = self.period == 1
        require(straight or self.period > self.wavelength, f"period of a pulse = {self.period}: {wanted}")

    @property
    def angle(self) -> float:
        """Angle of incidence in degrees, at the carrier."""
        return 0.0 if self.period == 1 else degrees(asin(self.wavelength / self.period))

    @property
    def steps(self) -> int:
        """Steps until the pulse has come, gone to the layers and come back, all of it."""
        slow = np.cos(np.radians(self.angle))
        return int((2 * _TAIL * _WIDTH * self.wavelength + (2 * GAP + 4 * self.wavelength) / slow) / _LIGHT_STEP)

    def at(self, step: int) -> float:
        """The current in a step, from -1 to 1."""
        phase = step * _LIGHT_STEP / self.wavelength - _TAIL * _WIDTH
        return float(np.exp(-((phase / _WIDTH) ** 2)) * np.sin(2 * np.pi * phase))


def record(pulse: Pulse, device, real, cells: int, layers: int) -> np.ndarray:
    """E~ at the source of a pulse after each step, in the middle of a box `cells` long along x.

    At both ends of the box `layers` of the cells absorb.
    """
    mesh = Mesh((cells, pulse.period, 1), (1e-3,) * 3, ("absorbing", "periodic", "periodic"), layers=layers)
    fields = Fields(device, real, mesh, COURANT * courant_limit(mesh), _UNIT)
    places = mesh.nodes([(cells // 2, j, 0) for j in range(pulse.period)])
    shape = np.cos(2 * np.pi * np.arange(pulse.period) / pulse.period) * _UNIT * _ELECTRONS
    along_z, probe = device.to_device(EDGES * places + 8), int(places[0]) + 2 * mesh.layout.nodes
    found = np.empty(pulse.steps)
    for step in range(pulse.steps):
        in_turn(*fields.before.values())
        fields.arrays.currents[along_z] = device.to_device((shape * pulse.at(step)).astype(np.int64))
        in_turn(*fields.after.values())
        found[step] = float(fields.arrays.electric[probe])
    return found


def reflected(pulse: Pulse, device, real, layers) -> dict[int, float]:
    """The largest field that so many layers send back over the largest of the pulse, for each number of layers.

    The pulse starts GAP cells before the layers, to both sides, and is looked at where it starts. What differs from a
    box so long that nothing comes back from its ends has been reflected, by both ends alike: half of it by each.
    """
    # light comes to its ends and back in as many steps as there are cells, or more
    endless = record(pulse, device, real, 2 * (pulse.steps // 2 + 20), 10)
    found = {}
    for count in layers:
        both = record(pulse, device, real, 2 * (GAP + count), count) - endless
        found[count] = float(np.abs(both).max() / (2 * np.abs(endless).max()))
    return found


def decibels(ratio):
    """Ratios of amplitudes in dB."""
    return 20 * np.log10(ratio)


def table(pulses, device, real, layers) -> pd.DataFrame:
    """What so many layers send back of each pulse; columns: angle (degrees), layers, reflection (dB)."""
    found = [(pulse.angle, reflected(pulse, device, real, layers)) for pulse in pulses]
    rows = [(angle, count, decibels(ratio)) for angle, each in found for count, ratio in each.items()]
    return pd.DataFrame(rows, columns=["angle", "layers", "reflection"])
