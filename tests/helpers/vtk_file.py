"""VTK's XML files read back, by nothing but their format."""

from base64 import b64decode
from xml.etree import ElementTree

import numpy as np

TYPES = {"Float32": "<f4", "Float64": "<f8", "Int32": "<i4", "Int64": "<i8", "UInt8": "u1"}


def read(path) -> tuple[dict, dict[str, np.ndarray]]:
    """Attributes of the piece, and its arrays by name."""
    return ElementTree.parse(path).getroot().find("PolyData/Piece").attrib, arrays_of(path)


def arrays_of(path) -> dict[str, np.ndarray]:
    """The arrays of any of VTK's XML files by name."""
    arrays = {}
    for each in ElementTree.parse(path).getroot().iter("DataArray"):
        content = b64decode(each.text)
        assert int.from_bytes(content[:8], "little") == len(content) - 8
        values = np.frombuffer(content[8:], TYPES[each.get("type")])
        width = int(each.get("NumberOfComponents"))
        arrays[each.get("Name")] = values.reshape(-1, width) if width > 1 else values
    return arrays
