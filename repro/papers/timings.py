"""Tables of speeds."""

import pandas as pd

from repro.parallel import copy_bandwidth


def speed_table(runs, record=None, *, measured, includes: str) -> pd.DataFrame:
    """Measure a list of (case, problem, device, options) with `measured`, which returns a Speed; one row a speed.

    Where a speed has a bandwidth, adds `roof`, its share of the device's copy bandwidth. Hands every speed to the
    notebook's `record`, with what its timer `includes`.
    """
    roofs, rows = {}, []
    for case, problem, device, options in runs:
        row = measured(case, problem, device, **options).row
        if "bandwidth" in row:
            roofs[repr(device)] = roofs.get(repr(device)) or copy_bandwidth(device)
            row["roof"] = row["bandwidth"] / roofs[repr(device)]
        rows.append(row)
        if record is not None:
            record.timing(**row, includes=includes)
    return pd.DataFrame(rows)


def ranking(speeds: pd.Series, relation: str) -> str:
    """The index in the order of the speeds: "a > b > c" for relation " > ", "c < b < a" for " < "."""
    return relation.join(str(name) for name in speeds.sort_values(ascending="<" in relation).index)
