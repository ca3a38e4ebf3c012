"""How notebooks show tables: texts whole, numbers with significant digits."""

from .numbers import number


def show_whole() -> None:
    """Let pandas cut no text off, and print no small number as 0.0000."""
    # half a second that a command does not have
    import pandas as pd

    pd.set_option("display.max_colwidth", None, "display.float_format", number)
