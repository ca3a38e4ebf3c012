"""Fields that the CPU advances for particles on a GPU: what crosses the bus in a step (paper, section 3)."""

from .fields import FieldArrays, Fields


class Bus:
    """Copies on `device` of the arrays of `fields`, which are on the host."""

    def __init__(self, device, fields: Fields):
        self._device, self._host = device, fields.arrays
        self.arrays = FieldArrays(*(device.zeros(len(array), array.dtype) for array in fields.arrays))

    def bring_fields(self):
        """Upload E and B."""
        self._device.upload(self._host.electric, self.arrays.electric)
        self._device.upload(self._host.magnetic, self.arrays.magnetic)

    def fetch_currents(self):
        """Download the sums of currents."""
        self._device.download(self.arrays.currents, self._host.currents)

    @property
    def before(self) -> dict:
        """What is launched before the particles move, by name."""
        return {"fields to the device": self.bring_fields}

    @property
    def after(self) -> dict:
        """What is launched when they have moved."""
        return {"currents to the host": self.fetch_currents}
