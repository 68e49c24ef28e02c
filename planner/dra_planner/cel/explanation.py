"""Explain term by term why a selector matches its devices.

A selector is split at its top-level &&. Each term is evaluated separately, and reported with the
values that it reads, the nearest value, and warnings about likely mistakes.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cmp_to_key
from typing import Any, Final

from dra_planner.cel.compilation import compile
from dra_planner.cel.device import DeviceView, prepare
from dra_planner.cel.libraries.operators import compare_versions
from dra_planner.cel.libraries.semvers import SemverError, parse_semver
from dra_planner.cel.results import (
    Path,
    SelectorExplanation,
    SelectorOutcome,
    SelectorTerm,
    ValuesAt,
)
from dra_planner.cel.selector import Selector
from dra_planner.cel.tree import Call, Constant, SyntaxNode, walk
from dra_planner.cel.values import SemverValue, UnknownValue
from dra_planner.drivers import driver_of
from dra_planner.quantity import Quantity, QuantityError

NEAR_PERCENT: Final = 7
"""A device is narrowly excluded if a selector matches it with this percentage more of its quantity.
Drivers publish that much less than the nominal memory: 23028Mi for an A10G with 24 GB.
"""

_MAX_VALUES: Final = 12


def explain(selector: Selector, devices: Iterable[Any]) -> SelectorExplanation:
    """Explain a selector on devices, in any form that `Selector.matches` accepts."""
    views = [prepare(device) for device in devices]
    verdicts = Counter(outcome.verdict for outcome in selector.outcomes(views))
    terms: list[SelectorTerm] = []
    warnings: dict[str, None] = {}
    for text in conditions(selector):
        term = compile(text, selector.dialect)
        # this part isn't a complete expression, so the selector isn't split
        if not isinstance(term, Selector):
            terms, warnings = [], {}
            break
        outcomes = term.outcomes(views)
        terms.append(_term(term, views, outcomes))
        warnings.update(dict.fromkeys(_warnings(term, views, outcomes)))
    if not terms:
        outcomes = selector.outcomes(views)
        terms = [_term(selector, views, outcomes)]
        warnings = dict.fromkeys(_warnings(selector, views, outcomes))
    return SelectorExplanation(
        selector.text, tuple(sorted(verdicts.items())), tuple(terms), tuple(warnings)
    )


_TOKEN: Final = re.compile(
    r"[rR]?(?:\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')|//[^\n]*|&&|.",
    re.DOTALL,
)


def conditions(selector: Selector) -> list[str]:
    """Return the conditions that the selector joins with && at the top level, or the whole
    selector.
    """
    tree, parts = selector.tree, split_at_and(selector.text)
    joined = isinstance(tree, Call) and tree.function == "_&&_" and len(tree.args) == len(parts)
    return parts if joined else [selector.text]


def split_at_and(text: str) -> list[str]:
    """Split an expression at each && that isn't in brackets or a string."""
    parts, depth, start = [], 0, 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        depth += (token in "([{") - (token in ")]}")
        if depth == 0 and token == "&&":
            parts.append(text[start : match.start()].strip())
            start = match.end()
    return [*parts, text[start:].strip()]


def _term(
    selector: Selector, views: list[DeviceView], outcomes: list[SelectorOutcome]
) -> SelectorTerm:
    counts = Counter(outcome.verdict for outcome in outcomes)
    wanted = _wanted(selector.tree)
    failing = [
        view for view, outcome in zip(views, outcomes, strict=True) if outcome.verdict == "no-match"
    ]
    nearest = _nearest(wanted, selector, failing)
    return SelectorTerm(
        selector.text,
        counts["match"],
        counts["no-match"],
        counts["error"],
        counts["unknown"],
        tuple(_values_at(path, views) for path in sorted(selector.reads) if path),
        _text(wanted) if wanted is not None else "",
        nearest,
        next((outcome.message for outcome in outcomes if outcome.verdict == "error"), ""),
    )


def _value_at(view: DeviceView, path: Path) -> Any:
    """Return the value at a path, or None if it doesn't exist or the path is too short."""
    if path == ("driver",):
        return view.driver
    if path == ("allowMultipleAllocations",):
        return view.allow_multiple_allocations
    if len(path) < 3:
        return None
    domains: Any = view.attributes if path[0] == "attributes" else view.capacity
    return domains.get(path[1], {}).get(path[2])


def _values_at(path: Path, views: list[DeviceView]) -> ValuesAt:
    values = [_value_at(view, path) for view in views]
    counted = Counter(_text(v) for v in values if v is not None and v.__class__ is not UnknownValue)
    absent = sum(v is None for v in values)
    unknown = sum(v.__class__ is UnknownValue for v in values)
    return ValuesAt(path, tuple(counted.most_common(_MAX_VALUES)), absent, unknown)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, SemverValue):
        return value.text
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    return str(value)


def _wanted(tree: SyntaxNode) -> Any:
    """Return the only constant with which the term compares: a quantity, version, string, or
    number. Returns None if there isn't exactly one.
    """
    found: list[Any] = []
    inner: set[int] = set()
    for node in walk(tree):
        if id(node) in inner:
            continue
        if (
            isinstance(node, Call)
            and node.function in ("quantity", "semver")
            and isinstance(node.args[0], Constant)
        ):
            inner.add(id(node.args[0]))
            found.append(_parsed(node.function, str(node.args[0].value)))
        elif isinstance(node, Call) and node.function in ("_[_]", "_[?_]", "_?._"):
            inner.add(id(node.args[1]))
        elif isinstance(node, Call) and node.function in (
            "_>=_",
            "_>_",
            "_<_",
            "_<=_",
            "_==_",
            "_!=_",
        ):
            inner.update(id(a) for a in node.args if isinstance(a, Constant) and _compares(node))
        if isinstance(node, Constant) and id(node) not in inner:
            found.append(node.value)
    return found[0] if len(found) == 1 else None


def _compares(node: Call) -> bool:
    """Return True if the term compares the result of compareTo with a number, which isn't the
    constant in question.
    """
    return any(isinstance(a, Call) and a.function == "compareTo" for a in node.args)


def _parsed(function: str, text: str) -> Any:
    try:
        return Quantity.parse(text) if function == "quantity" else parse_semver(text)
    except (QuantityError, SemverError):
        return None


def _nearest(wanted: Any, selector: Selector, failing: list[DeviceView]) -> str:
    paths = [path for path in selector.reads if len(path) == 3 or path == ("driver",)]
    values = [value for path in paths for value in (_value_at(view, path) for view in failing)]
    if isinstance(wanted, Quantity):
        amounts = [v for v in values if isinstance(v, Quantity)]
        return str(min(amounts, key=lambda q: abs((q - wanted).as_float()))) if amounts else ""
    if isinstance(wanted, SemverValue):
        versions = [v for v in values if isinstance(v, SemverValue)]
        return _nearest_version(wanted, versions)
    if isinstance(wanted, str):
        texts = sorted({v for v in values if isinstance(v, str)})
        return next(iter(difflib.get_close_matches(wanted, texts, n=1, cutoff=0.0)), "")
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        numbers = [v for v in values if isinstance(v, int) and not isinstance(v, bool)]
        target = wanted
        return str(min(numbers, key=lambda n: abs(n - target))) if numbers else ""
    return ""


def _nearest_version(wanted: SemverValue, versions: list[SemverValue]) -> str:
    below = [v for v in versions if compare_versions(v, wanted) <= 0]
    ordered = sorted(below or versions, key=cmp_to_key(compare_versions))
    if not ordered:
        return ""
    return ordered[-1].text if below else ordered[0].text


# -- warnings


def _warnings(
    selector: Selector, views: list[DeviceView], outcomes: list[SelectorOutcome]
) -> Iterator[str]:
    yield from _narrow_exclusions(selector, views, outcomes)
    for path in sorted(selector.reads):
        if len(path) == 3:
            yield from _missing(path, views)
            yield from _version_as_string(selector, path, views)


def _narrow_exclusions(
    selector: Selector, views: list[DeviceView], outcomes: list[SelectorOutcome]
) -> Iterator[str]:
    wanted = _wanted(selector.tree)
    if not isinstance(wanted, Quantity) or wanted.sign <= 0:
        return
    for path in sorted(p for p in selector.reads if p[:1] == ("capacity",) and len(p) == 3):
        for view, outcome in zip(views, outcomes, strict=True):
            value = _value_at(view, path)
            if outcome.verdict != "no-match" or not isinstance(value, Quantity) or value > wanted:
                continue
            if is_near(value, wanted):
                name = _value_at(view, ("attributes", path[1], "productName"))
                whose = f"a device ({name})" if isinstance(name, str) else "a device"
                if value == wanted:
                    yield (
                        f"{whose} publishes exactly {wanted}, which the strict comparison excludes"
                    )
                else:
                    less = "devices publish less than their nominal size"
                    yield f"{wanted} excludes {whose}, which publishes only {value}, because {less}"
                break


def is_near(value: Quantity, wanted: Quantity) -> bool:
    """Return whether a quantity is smaller than another one only because published sizes differ
    from nominal sizes.
    """
    return value.as_float() * (100 + NEAR_PERCENT) >= wanted.as_float() * 100


def _missing(path: Path, views: list[DeviceView]) -> Iterator[str]:
    kind, domain, name = path
    of_driver = [
        v
        for v in views
        if v.driver == domain or domain in (v.attributes if kind == "attributes" else v.capacity)
    ]
    if not of_driver or any(_value_at(v, path) is not None for v in of_driver):
        return
    read = f'device.{kind}["{domain}"].{name}'
    driver = driver_of(domain) if kind == "attributes" else None
    renamed = driver.renamed.get((domain, name)) if driver is not None else None
    if renamed is not None:
        yield f"no device has {read}; {renamed}"
        return
    known = sorted(
        {
            n
            for v in of_driver
            for n in (v.attributes if kind == "attributes" else v.capacity).get(domain, {})
        }
    )
    if kind == "attributes" and any(name in v.capacity.get(domain, {}) for v in of_driver):
        yield (
            f"no device has {read}, because {name} is a capacity. Use "
            f'device.capacity["{domain}"].{name}'
        )
        return
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6) or [
        n for n in known if n.lower() == name.lower()
    ]
    hint = (
        f"; did you mean {close[0]}?"
        if close
        else f"; the devices have {', '.join(known)}"
        if known
        else ""
    )
    yield f"no device has {read}{hint}"


def _version_as_string(selector: Selector, path: Path, views: list[DeviceView]) -> Iterator[str]:
    """Return the warning for a version that is compared with a string, which fails on every device
    with the attribute.
    """
    wanted = _wanted(selector.tree)
    if path[0] != "attributes" or not isinstance(wanted, str) or not _is_compared(selector.tree):
        return
    if any(_value_at(view, path).__class__ is SemverValue for view in views):
        read = f'device.attributes["{path[1]}"].{path[2]}'
        version = f'semver("{wanted}")' if wanted.count(".") >= 2 else f'semver("{wanted}", true)'
        yield (
            f"{read} is a version, so a comparison with a string is an error. Use {read} == "
            f"{version}"
        )


def _is_compared(tree: SyntaxNode) -> bool:
    return isinstance(tree, Call) and tree.function in ("_==_", "_!=_")
