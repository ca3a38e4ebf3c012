"""The rule of the two pointers by itself, as it must be and as the paper prints it, on a list of names."""

from dataclasses import dataclass


@dataclass(frozen=True)
class State:
    """A domain after a launch: names by element, both pointers, and what has happened."""

    memory: tuple[str, ...]
    read: int
    write: int
    #: the element that the next launch takes its particle from
    source: int
    happened: str


def compacted(names, outcomes, *, as_printed: bool = False) -> list[State]:
    """One thread's domain before the first launch and after each, of which `outcomes` says whether a particle stays.

    A particle that stays moves both pointers, one that is gone the read pointer only. It is taken from I_read and
    written to I_write; the paper prints it the other way round.
    """
    memory, read, write = list(names), 0, 0
    states = [State(tuple(memory), read, write, 0, "the start")]
    for stays in outcomes:
        source, target = (write, read) if as_printed else (read, write)
        name = memory[source]
        happened = f"{name} stays" if stays else f"{name} is gone"
        if stays:
            if memory[target] != name and target > source:
                happened += f" and overwrites {memory[target]}"
            memory[target] = name
            write += 1
        read += 1
        states.append(State(tuple(memory), read, write, write if as_printed else read, happened))
    return states


def three_rules() -> dict[str, list[State]]:
    """The rule as it must be, as printed, and as printed where who is absorbed is absorbed each time."""
    absorbed, again = (True, False, True, True), (True, False, False, False)
    return {
        "taken from I_read, written to I_write": compacted("ABCD", absorbed),
        "as printed; B, taken again, stays": compacted("ABCD", absorbed, as_printed=True),
        "as printed; B is absorbed each time": compacted("ABCD", again, as_printed=True),
    }


def lost(right: list[State], other: list[State]) -> list[str]:
    """Particles that a rule has overwritten, beside the rule as it must be."""
    return [name for name in right[0].memory if name not in other[-1].memory]
