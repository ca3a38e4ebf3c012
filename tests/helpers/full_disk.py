"""A disk without room."""

import resource
from contextlib import contextmanager


@contextmanager
def full_disk(size: int):
    """No file grows beyond a size: what is written is cut off there."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
