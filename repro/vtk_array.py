"""An array in VTK's XML files, which ParaView opens: with all digits that it has, and never half or not finite."""

from base64 import b64encode

import numpy as np

from .errors import require, short

#: by NumPy's names
TYPES = {"f4": "Float32", "f8": "Float64", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}


def data_array(name: str, values: np.ndarray, count: int) -> str:
    """A DataArray of `count` numbers, or rows of them; InputError for another length, or what is not finite."""
    whole = len(values) == count and np.isfinite(values).all()
    require(whole, f"{name} = {short(values)}: must be {count} rows of finite numbers")
    if values.dtype.str[1:] not in TYPES:
        values = values.astype(float)
    content = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
    text = b64encode(len(content).to_bytes(8, "little") + content).decode()
    components = values.shape[1] if values.ndim == 2 else 1
    return (
        f'<DataArray type="{TYPES[values.dtype.str[1:]]}" Name="{name}" NumberOfComponents="{components}" '
        f'format="binary">{text}</DataArray>'
    )
