"""Find the parts of a resource that a path of the table `api_constraints` names, and evaluate
conditions on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from dra_policies.unknown_values import UNKNOWN, Properties, as_list, as_mapping, has_unknown

_STEP: Final = re.compile(r"(?P<name>[^\[{]*)(?P<marks>(?:\[\]|\{\})*)")
_CONDITION: Final = re.compile(r"(?P<path>[^=~#<!]+)(?P<op>#!=|#=|#<|!=|!~|=|~|$)(?P<value>.*)")
_BOOLEANS: Final = {"true": "true", "false": "false"}
_OPPOSITES: Final = {"true": "false", "false": "true"}
_EMPTY: Final[tuple[object, ...]] = ("", 0, False, [], {})


class BrokenConstraint(Struct, frozen=True):
    """A constraint that a resource breaks: the problem, its fix, and the paths of the members."""

    problem: str
    fix: str
    members: tuple[str, ...]


class Part(Struct, frozen=True, kw_only=True):
    """One part of a resource: its value, its path for messages, and the mappings around it, from
    the outermost to the innermost. `skips_empty` marks providers that ignore empty values.
    """

    value: Any
    shown: str
    around: tuple[Mapping[str, Any], ...] = ()
    skips_empty: bool = False

    def shown_member(self, name: str) -> str:
        """Return the path of a member for messages."""
        up = len(name) - len(name.lstrip("^"))
        steps = self.shown.split(".") if self.shown else []
        shown = ".".join((*steps[: len(steps) - up], name.lstrip("^").removeprefix(".")))
        return shown.replace("%2E", ".")

    def at(self, path: str) -> Any:
        """Return the value of a member. Each leading `^` goes to the mapping around this part."""
        up = len(path) - len(path.lstrip("^"))
        if up > len(self.around):
            return UNKNOWN
        start = self.around[-up] if up else self.value
        return Properties(start).at(path.lstrip("^").removeprefix("."))

    def has(self, path: str) -> bool | None:
        """Return whether a member is set, or None if this isn't known."""
        value = self.at(path)
        if value is UNKNOWN:
            return None
        return value is not None and not (self.skips_empty and value in _EMPTY)

    def holds(self, condition: str) -> bool:
        """Return whether all conditions, joined by "and", are certainly true: `path` (set), `!path`
        (not set), `path=value` or `path~pattern` (both also with "!"), `path#=number` (length of a
        list), or `path#<path` (length less than another member).
        """
        return all(self._holds(each) for each in condition.split(" and "))

    def _holds(self, condition: str) -> bool:
        negated = condition.startswith("!")
        if negated and not re.search(r"[=~]", condition):
            return self.has(condition[1:]) is False
        found = _CONDITION.fullmatch(condition.removeprefix("!"))
        assert found is not None, condition
        path, operator, wanted = found["path"], found["op"], found["value"]
        value = self.at(path)
        if not operator:
            return self.has(path) is True
        if value is UNKNOWN or has_unknown(value):
            return False
        if operator.startswith("#"):
            return self._has_length(len(as_list(value) or ()), operator, wanted)
        texts = [_text(each) for each in as_list(value) or [value]]
        if operator.endswith("~"):
            answer = any(re.search(wanted, each) for each in texts)
        else:
            answer = any(each in wanted.split("|") for each in texts)
        if operator.startswith("!"):
            return value is not None and not answer
        return answer != negated

    def _has_length(self, length: int, operator: str, wanted: str) -> bool:
        other: Any = int(wanted) if wanted.isdigit() else self.at(wanted)
        if (listed := as_list(other)) is not None:
            other = len(listed)
        if not isinstance(other, int) or isinstance(other, bool):
            return False
        return {"#=": length == other, "#!=": length != other, "#<": length < other}[operator]


def parts(props: Properties, path: str, *, skips_empty: bool = False) -> Iterator[Part]:
    """Yield the known parts at a path: `[]` iterates over a list, and `{}` over the values of a
    mapping.
    """
    whole = Part(value=props.values, shown="", skips_empty=skips_empty)
    found = [whole]
    for step in path.split(".") if path else ():
        parsed = _STEP.fullmatch(step)
        assert parsed is not None, path
        found = [
            below
            for part in found
            for below in _below(part, parsed["name"].replace("%2E", "."), parsed["marks"])
        ]
    for part in found:
        if part.value is not None and part.value is not UNKNOWN:
            yield part


def _below(part: Part, name: str, marks: str) -> Iterator[Part]:
    mapping = as_mapping(part.value)
    if mapping is None or name not in mapping:
        return
    around = (*part.around, mapping)
    here = [(f"{part.shown}.{name}".removeprefix("."), mapping[name])]
    for mark in re.findall(r"\[\]|\{\}", marks):
        if mark == "[]":
            here = [(shown, item) for shown, value in here for item in as_list(value) or ()]
        else:
            here = [
                (f'{shown}["{key}"]', item)
                for shown, value in here
                for key, item in (as_mapping(value) or {}).items()
            ]
    for shown, value in here:
        yield Part(value=value, shown=shown, around=around, skips_empty=part.skips_empty)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def listed_words(words: Sequence[str], last: str = "and") -> str:
    """Return words as an English list."""
    if len(words) <= 2:
        return f" {last} ".join(words)
    return f"{', '.join(words[:-1])}, {last} {words[-1]}"


_FEW: Final = 3  # values of a list that a message repeats


def phrase(part: Part, condition: str) -> str:
    """Return conditions of a row as words, for example 'fipsMode is "FIPS"'."""
    words = [_phrase(part, each) for each in condition.split(" and ")]
    return listed_words(list(dict.fromkeys(words)))


def _phrase(part: Part, condition: str) -> str:
    path = re.split(r"[=~#<]", condition.lstrip("!"), maxsplit=1)[0].removesuffix("!")
    shown = part.shown_member(path)
    value = part.at(path)
    _, compares, other = condition.partition("#<")
    if compares:
        return f"{shown} has fewer entries than {part.shown_member(other)} ({part.at(other)})"
    if value is None:
        return f"{shown} isn't set"
    if (listed := as_list(value)) is not None:
        plain = [_quoted(each) for each in listed if isinstance(each, str | int)]
        if 0 < len(plain) == len(listed) <= _FEW and "#" not in condition:
            return f"{shown} is [{', '.join(plain)}]"
        return f"{shown} has {len(listed)} {'entry' if len(listed) == 1 else 'entries'}"
    if as_mapping(value) is not None or value is UNKNOWN or not re.search("[=~]", condition):
        return f"{shown} is set"
    return f"{shown} is {_quoted(value)}"


def named_members(part: Part, condition: str) -> list[str]:
    """Return the paths of the members that conditions of a row name."""
    paths = [
        re.split(r"[=~#<]", each.lstrip("!"), maxsplit=1)[0].removesuffix("!")
        for each in condition.split(" and ")
    ]
    paths += [each.partition("#<")[2] for each in condition.split(" and ") if "#<" in each]
    return list(dict.fromkeys(part.shown_member(each) for each in paths))


def steps_against(part: Part, condition: str) -> str:
    """Return the changes of which each makes conditions of a row false, as an imperative. The key
    and the operator of a requirement stay, if the row accepts other values.
    """
    clauses = condition.split(" and ")
    if clauses[-1].startswith(("values!=", "values!~")):
        clauses = clauses[-1:]
    steps = [_step_against(part, each) for each in clauses]
    changed = [step.removeprefix("change ") for step in steps if step.startswith("change ")]
    others = [step for step in steps if not step.startswith("change ")]
    words = [f"change {listed_words(list(dict.fromkeys(changed)), 'or')}"] if changed else []
    return ", or ".join([*dict.fromkeys(others), *words])


def _step_against(part: Part, clause: str) -> str:
    found = _CONDITION.fullmatch(clause.removeprefix("!"))
    assert found is not None, clause
    shown, operator, wanted = part.shown_member(found["path"]), found["op"], found["value"]
    negated = clause.startswith("!") or operator == "!="
    if not operator:
        return f"set {shown}" if negated else f"remove {shown}"
    if negated and operator in ("=", "!="):
        accepted = [_BOOLEANS.get(each, f'"{each}"') for each in wanted.split("|")]
        return f"set {shown} to {listed_words(accepted, 'or')}"
    if operator == "=" and wanted in _OPPOSITES:
        return f"set {shown} to {_OPPOSITES[wanted]}"
    return f"change {shown}"


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else _text(value)
