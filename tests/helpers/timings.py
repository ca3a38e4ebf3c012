"""A notebook's record that keeps timings alone."""


class Kept(list):
    """Rows of what is timed; each must say all that a reader needs, under a name of its own."""

    def timing(self, case, *, seconds, spread, device, hardware, precision, size, includes, check, **more) -> None:
        assert case not in [row["case"] for row in self]
        assert all([case, device, hardware, precision, size, includes, check])
        row = {"case": case, "seconds": seconds, "spread": spread, "precision": precision, "size": size, "check": check}
        self.append(row | more)

    def of(self, name: str) -> list:
        """A column."""
        return [row[name] for row in self]
