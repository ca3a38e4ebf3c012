"""Which versions of numba have been looked at; asked without loading it."""

#: how they begin (see `numba_internals`); pyproject.toml lets no other one be installed
KNOWN = ("0.68.",)


def numba_advice(version: str) -> str:
    """A line for the user of another version; empty for a known one."""
    if version.startswith(KNOWN):
        return ""
    known = " or ".join(f"{start}*" for start in KNOWN)
    return f"numba {version} is not {known}: every start compiles its kernels anew (pip install 'numba=={known}')"
