"""Fields that the CPU advances for particles on a GPU: what crosses the bus in a step (paper, section 3)."""

from .fields import FieldArrays, Fields


class Bus:
    """Copies on `device` of the arrays of `fields`, which are on the host."""

    def __init__(self, device, fields: Fields):
        self._device, self._host = device, fields.arrays
        self.arrays = FieldArrays(*(device.zeros(len(array), array.dtype) for array in fields.arrays))
        #: what is launched before the particles move and when they have moved, by name
        self.before, self.after = {"fields to the device": self.bring_fields}, {"currents to the host": self._fetch}

    def bring_fields(self):
        """Upload E and B."""
        self._device.upload(self._host.electric, self.arrays.electric)
        self._device.upload(self._host.magnetic, self.arrays.magnetic)

    def _fetch(self):
        self._device.download(self.arrays.currents, self._host.currents)
