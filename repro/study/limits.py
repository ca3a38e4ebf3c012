"""What a parameter from the command line can be: by the limits of the catalogue, and by the values it is known to have.

A notebook starts in seconds, and may come to a parameter after minutes. So what no run can mean is refused before.
"""

from collections.abc import Iterator, Mapping
from math import inf

from repro.declared import LARGEST
from repro.errors import InputError, short

#: whole number that every library here can count to
MOST = 2**31 - 1

#: parameters whose known values are above 0, and which can be 0
FROM_ZERO = ("seed", "seeds", "packing_seed")

#: names of tuples that look like those of lists, which end in an s
TUPLES = ("bins", "small_bins")


def known(defaults: Mapping, profiles: Mapping[str, Mapping]) -> dict[str, list]:
    """By parameter, its default and its values in all profiles."""
    return {
        name: [default, *(values[name] for values in profiles.values() if name in values)]
        for name, default in defaults.items()
    }


def require(values: Mapping, examples: Mapping[str, list], place: str, limits: Mapping[str, Mapping]) -> None:
    """Refuse values that are unlike all examples: negative where none is, a list that is empty, of another length.

    And those beyond `limits`, by name, each with least and most of its numbers, with what they must be one_of, or with
    what a list has among others. Raises InputError, which names the parameter, its value, and what would be right.
    """
    for name, value in values.items():
        for wanted in (*_beyond(value, limits.get(name, {})), *_flaws(name, value, examples[name])):
            raise InputError(f"{place}: {name} = {short(value)}: must be {wanted}")


def _beyond(value, limit: Mapping) -> Iterator[str]:
    """What a limit of the catalogue wants and the value, or a part of a list, is not."""
    leaves = list(_leaves(value))
    if "one_of" in limit and not all(leaf in limit["one_of"] for leaf in leaves):
        yield f"{'of' if isinstance(value, list) else 'one of'} {', '.join(map(repr, limit['one_of']))}"
    numbers = [leaf for leaf in leaves if _is_number(leaf)]
    if not set(limit.get("has", ())) <= set(leaves):
        yield f"a list with {', '.join(map(repr, limit['has']))} in it"
    least, most = limit.get("least", -inf), limit.get("most", inf)
    if not all(least <= number <= most for number in numbers):
        yield _between(limit)


def _between(limit: Mapping) -> str:
    if "most" not in limit:
        return f"{limit['least']:g} or more"
    return f"from {limit['least']:g} to {limit['most']:g}" if "least" in limit else f"at most {limit['most']:g}"


def _flaws(name: str, value, examples: list) -> Iterator[str]:
    """What the value must be and is not."""
    kinds = {type(leaf) for leaf in _leaves(examples)}
    numbers = [leaf for leaf in _leaves(examples) if _is_number(leaf)]
    found = [leaf for leaf in _leaves(value) if _is_number(leaf)]
    if isinstance(value, list):
        yield from _flaws_of_list(name, value, examples, kinds)
    if any(isinstance(number, int) and abs(number) > MOST for number in found):
        yield f"at most {MOST} in size"
    if any(abs(number) > LARGEST for number in found):
        yield f"at most {LARGEST:g} in size"
    if not numbers:
        return
    if min(numbers) > 0 and name not in FROM_ZERO and any(number <= 0 for number in found):
        yield "above 0"
    if min(numbers) >= 0 and any(number < 0 for number in found):
        yield "at least 0"


def _flaws_of_list(name: str, value: list, examples: list, kinds: set[type]) -> Iterator[str]:
    lengths = {len(example) for example in examples}
    if not value and min(lengths) > 0:
        yield "a list that is not empty"
    if len(lengths) == 1 and len(value) not in lengths and (name in TUPLES or not name.endswith("s")):
        yield f"{min(lengths)} values such as {examples[0]}"
    inner = {len(part) for example in examples for part in example if isinstance(part, list)}
    if inner and not all(isinstance(part, list) and len(part) in inner for part in value):
        yield f"a list of lists of {min(inner)} values such as {examples[0]}"
    # a whole number is a number
    allowed = kinds | ({int} if float in kinds else set())
    names = {float: "numbers", int: "whole numbers", str: "texts", bool: "true or false"}
    if kinds & names.keys() and not {type(leaf) for leaf in _leaves(value)} <= allowed:
        yield f"a list of {next(name for kind, name in names.items() if kind in kinds)}"
    if name.endswith("s") and name not in TUPLES and _repeats(value) and not any(map(_repeats, examples)):
        yield "values that differ"


def _repeats(values: list) -> bool:
    return any(value in values[:place] for place, value in enumerate(values))


def _leaves(value) -> Iterator:
    if isinstance(value, list | tuple):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def _is_number(value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
