"""Parameters of notebooks: their defaults, values from the catalogue and the command line, and what these can be.

A notebook starts in seconds, and may come to a parameter after minutes. So what no run can mean is refused before: by
the limits of the catalogue, and by the values that a parameter is known to have.
"""

import ast
import hashlib
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from math import inf
from pathlib import Path

from repro.declared import LARGEST
from repro.errors import InputError, require, short
from repro.files import read_toml
from repro.study.notebooks import did_you_mean, file_stem, read_cells
from repro.study.notebooks.catalogue import Notebook

AUTOMATIC = ("device", "profile")
"""Parameters that the runner sets in every notebook that has them."""
LONGEST_SUFFIX = 80
ENDING = re.compile(r"\.[A-Za-z]\w*")
"""Of a file's name, as that of no number."""


def defaults(path: Path) -> dict:
    """Names and values in the cell tagged `parameters`, which holds literals only."""
    found = read_cells(path)
    require(found is not None, f"{path.name} is not a notebook")
    tagged = [c for c in found if "parameters" in ((c.get("metadata") or {}).get("tags") or [])]
    try:
        nodes = [node for cell in tagged for node in ast.parse("".join(cell["source"])).body]
    except SyntaxError as error:
        raise InputError(f"{path.name}, parameters cell, line {error.lineno}: {error.msg}") from None
    values = {}
    for node in nodes:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name):
            try:
                values[target.id] = ast.literal_eval(node.value)
            except ValueError:
                raise InputError(f"{path.name}: parameter '{target.id}' is not a literal") from None
    return values


def check(values: dict, known: dict, place: str) -> dict:
    """`values` made fit for the types of the defaults `known`; InputError if a name or type is wrong."""
    for name in values:
        if name not in known:
            raise InputError(f"{place}: unknown parameter '{name}', {did_you_mean(name, known)}")
    return {name: _fit(value, known[name], f"{place}: parameter '{name}'") for name, value in values.items()}


def of_profile(book: Notebook, known: dict, profile: str, device: str) -> dict:
    """A notebook's parameters as the catalogue gives them, with device and profile where it takes them."""
    facts = zip(AUTOMATIC, (device, profile), strict=True)
    automatic = {name: value for name, value in facts if name in known}
    return automatic | check(book.profiles.get(profile, {}), known, f"catalogue.toml, {book.id}, profile {profile}")


def _fit(value, default, place: str):
    if default is None and _finite(value):
        return value
    if type(default) is float and type(value) is int and abs(value) < 2**1023:
        return float(value)
    if type(value) is type(default) and _finite(value):
        return value
    right = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    right |= {type(None): "a literal of finite numbers"}
    wanted = right.get(type(default), f"a {type(default).__name__} such as {default}, of finite numbers")
    raise InputError(f"{place} must be {wanted} (default {default!r}), not {short(value)}")


def _finite(value) -> bool:
    """Whether all numbers in a literal are."""
    if isinstance(value, dict):
        return _finite([*value, *value.values()])
    if isinstance(value, list | tuple | set):
        return all(map(_finite, value))
    return not isinstance(value, float | complex) or math.isfinite(abs(value))


def _read(text: str, default):
    """`text` as a literal, or as itself where the default is a text or it is no literal."""
    if isinstance(default, str):
        return text
    if isinstance(default, bool) and text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = ast.literal_eval(text)
        # a whole number of thousands of digits has no text
        repr(value)
        return value
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def overrides(texts: Iterable[str], known: dict[str, dict]) -> dict[str, dict]:
    """Values from "name=value" and "id:name=value" for each of the notebooks `known` (id -> defaults).

    Without an id a parameter goes to every notebook that has it, one at least, and is given no other value there.
    """
    result: dict[str, dict] = {identifier: {} for identifier in known}
    given: dict[tuple, object] = {}
    # what is said of one notebook holds there, whatever is said of all
    for text in sorted(texts, key=lambda text: ":" in text.partition("=")[0]):
        name, equals, value = text.partition("=")
        require(equals and name.strip(), f"parameter '{text}' must look like name=value or notebook:name=value")
        scope, _, name = name.strip().rpartition(":")
        for identifier in _targets(scope, name, known):
            default = known[identifier][name]
            fitted = check({name: _read(value.strip(), default)}, known[identifier], identifier)
            first = given.setdefault((identifier, name, bool(scope)), fitted[name])
            both = f"{short(first)} and {short(fitted[name])}"
            require(first == fitted[name], f"{identifier}: parameter '{name}' is given twice, as {both}: give it once")
            result[identifier].update(fitted)
    return result


def from_here(value, root: Path):
    """A value as the notebook finds it: a file that the user names stands where the command was started.

    A text is a file's name if it has an ending such as .toml, or if there is such a file. Below `root`, the project,
    it is named from there, as in the catalogue; elsewhere by its whole path. Other values stay as they are.
    """
    if not isinstance(value, str) or "\0" in value:
        return value
    try:
        path = Path(value).expanduser()
        here = Path.cwd() / path
        if not here.is_file() and (not ENDING.fullmatch(path.suffix) or (root / path).is_file()):
            return value
        found = here.resolve()
    except (OSError, RuntimeError):  # too long for a name, of an unknown user, or a circle of links
        return value
    return found.relative_to(root).as_posix() if found.is_relative_to(root) else str(found)


def require_files(values: Mapping, known: Mapping, root: Path, place: str) -> None:
    """InputError where a parameter that names a file by default names none, or a description whose own file is missing.

    Files are named from `root`, those in a description from where it lies.
    """
    for name, value in values.items():
        if not isinstance(value, str) or not os.path.isfile(root / str(known[name])):
            continue
        file = root / value
        require(os.path.isfile(file), f"{place}: {name} = {short(value)}: there is no such file")
        for key, text in (read_toml(file) if file.suffix == ".toml" else {}).items():
            missing = (
                isinstance(text, str) and ENDING.fullmatch(Path(text).suffix) and not (file.parent / text).exists()
            )
            require(not missing, f"{file.name}: {key} = {short(text)}: no such file or folder beside {file.name}")


def _targets(scope: str, name: str, known: dict[str, dict]) -> list[str]:
    matching = [i for i in known if not scope or scope in (i, i.rpartition("/")[2])]
    if not matching:
        raise InputError(f"parameter '{scope}:{name}': no such notebook runs, {did_you_mean(scope, known)}")
    having = [i for i in matching if name in known[i]]
    if not having:
        names = [n for i in matching for n in known[i]]
        raise InputError(f"unknown parameter '{name}': {did_you_mean(name, names)}")
    return having


def show(values: dict) -> str:
    """Parameters for people: "nodes=64, reynolds=1000"."""
    return ", ".join(f"{name}={_text(value)}" for name, value in sorted(values.items()))


def _text(value) -> str:
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    # quotes where a text could be taken for more than one value
    return value if isinstance(value, str) and re.fullmatch(r"[\w.+-]+", value) else repr(value)


def choices(book: Notebook, known: Mapping) -> list[str]:
    """A line for each parameter that can be changed: its name, its value in each profile, and what it can be."""
    lines = []
    for name in (name for name in known if name not in AUTOMATIC):
        given = {profile: _text(values.get(name, known[name])) for profile, values in book.profiles.items()}
        alike = len(set(given.values())) == 1
        values = next(iter(given.values())) if alike else ", ".join(f"{text} ({p})" for p, text in given.items())
        each = "each " if isinstance(known[name], list) else ""
        lines.append("; ".join([f"{name} = {values}", *(each + text for text in _in_words(book.limits.get(name, {})))]))
    return lines


def _in_words(limit: Mapping) -> Iterator[str]:
    """What a limit of the catalogue allows."""
    if "one_of" in limit:
        yield f"one of {', '.join(map(_text, limit['one_of']))}"
    if range_ := _range(limit):
        yield range_
    if "multiple" in limit:
        yield f"a multiple of {limit['multiple']}"
    if "has" in limit:
        yield f"with {', '.join(map(_text, limit['has']))} in it"


def suffix(changed: dict[str, dict], settings: dict[str, dict]) -> str:
    """End of the name of a folder for runs with `changed` parameters, such as ",reynolds=1000"; empty without any.

    `settings` are all parameters of all notebooks of the run (id -> values). It follows from the suffix alone which
    parameters each notebook has: a name without a notebook is set alike in all that have it. What is too long or
    has other characters than a file name should have is cut and gets a hash of the whole.
    """
    exact = ""
    for name in sorted({name for values in changed.values() for name in values}):
        texts = {_text(values[name]) for values in settings.values() if name in values}
        having = [(i, values[name]) for i, values in sorted(changed.items()) if name in values]
        each = "".join(f",{file_stem(i)}.{name}={_text(value)}" for i, value in having)
        exact += f",{name}={texts.pop()}" if len(texts) == 1 else each
    safe = re.sub(r"[^\w.,=+-]+", "-", exact, flags=re.ASCII)
    if safe == exact and len(exact) <= LONGEST_SUFFIX:
        return exact
    return f"{safe[:LONGEST_SUFFIX].rstrip(',-')},{hashlib.sha256(exact.encode()).hexdigest()[:8]}"


#: whole number that every library here can count to
MOST = 2**31 - 1


def known_values(defaults: Mapping, profiles: Mapping[str, Mapping]) -> dict[str, list]:
    """By parameter, its default and its values in all profiles."""
    return {
        name: [default, *(values[name] for values in profiles.values() if name in values)]
        for name, default in defaults.items()
    }


def require_limits(values: Mapping, examples: Mapping[str, list], place: str, limits: Mapping[str, Mapping]) -> None:
    """Refuse values unlike all examples: negative where none is, an empty text or list, a list of another length.

    And those beyond `limits`, by name, each with least and most of its numbers (or of each in its place) and of what
    they must be a multiple, with what they must be one_of, with what a list has among others and how many values at the
    fewest, or with the word that its values belong together, each in its place. Raises InputError, which names the
    parameter, its value, and what would be right.
    """
    for name, value in values.items():
        for wanted in _unmet(value, examples[name], limits.get(name, {})):
            raise InputError(f"{place}: {name} = {short(value)}: must be {wanted}")


def _unmet(value, examples: list, limit: Mapping) -> Iterator[str]:
    """What the value, or a part of a list, must be by its limit or as all examples are, and is not."""
    leaves, known = list(_leaves(value)), list(_leaves(examples))
    found, numbers = (list(filter(_is_number, some)) for some in (leaves, known))
    if "one_of" in limit and not all(leaf in limit["one_of"] for leaf in leaves):
        yield f"{'of' if isinstance(value, list) else 'one of'} {', '.join(map(repr, limit['one_of']))}"
    if not set(limit.get("has", ())) <= set(leaves):
        yield f"a list with {', '.join(map(repr, limit['has']))} in it"
    if "" in leaves and "" not in known:
        yield "a text that is not empty"
    # one bound for all numbers, or one for each place
    ends = limit.get("least", -inf), limit.get("most", inf)
    lows, highs = (end if isinstance(end, list) else [end] * len(found) for end in ends)
    if not all(low <= number <= high for low, number, high in zip(lows, found, highs, strict=False)):
        yield _range(limit)
    if "multiple" in limit and any(number % limit["multiple"] for number in found):
        yield f"a multiple of {limit['multiple']}"
    if isinstance(value, list):
        if 0 < len(value) < limit.get("fewest", 1):
            yield f"{limit['fewest']} values at least"
        yield from _flaws_of_list(value, examples, set(map(type, known)), together="together" in limit)
    if any(isinstance(number, int) and abs(number) > MOST for number in found):
        yield f"at most {MOST} in size"
    if any(abs(number) > LARGEST for number in found):
        yield f"at most {LARGEST:g} in size"
    if min(numbers, default=-1) > 0 and "least" not in limit and any(number <= 0 for number in found):
        yield "above 0"
    if min(numbers, default=-1) >= 0 and any(number < 0 for number in found):
        yield "at least 0"


def _range(limit: Mapping) -> str:
    """The least and the most of a limit in words; empty without either."""
    least, most = (_bound(limit[end]) if end in limit else "" for end in ("least", "most"))
    if least and most:
        return f"from {least} to {most}"
    return f"{least} or more" if least else f"at most {most}" if most else ""


def _bound(bound) -> str:
    return f"[{', '.join(map(_bound, bound))}]" if isinstance(bound, list) else f"{bound:g}"


def _flaws_of_list(value: list, examples: list, kinds: set[type], *, together: bool) -> Iterator[str]:
    lengths = {len(example) for example in examples}
    if not value and min(lengths) > 0:
        yield "a list that is not empty"
    if together and len(value) not in lengths:
        yield f"{min(lengths)} values such as {examples[0]}"
    inner = {len(part) for example in examples for part in example if isinstance(part, list)}
    if inner and not all(isinstance(part, list) and len(part) in inner for part in value):
        yield f"a list of lists of {min(inner)} values such as {examples[0]}"
    # a whole number is a number
    allowed = kinds | ({int} if float in kinds else set())
    names = {float: "numbers", int: "whole numbers", str: "texts", bool: "true or false"}
    if kinds & names.keys() and not {type(leaf) for leaf in _leaves(value)} <= allowed:
        yield f"a list of {next(name for kind, name in names.items() if kind in kinds)}"
    if not together and _repeats(value) and not any(map(_repeats, examples)):
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
