"""Possible changes to one selector so that it matches more devices, condition by condition,
smallest change first.

This module doesn't test the changes. The caller applies them and searches again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation.node.template import Template
from dra_planner.allocation.reasons.absent_names import (
    names_in,
    published_domain,
    similar_name,
)
from dra_planner.allocation.reasons.published_forms import (
    PublishedForm,
    advice_on_absent_names,
    published_forms,
)
from dra_planner.allocation.reasons.replacement_text import replacement_text
from dra_planner.allocation.search.devices import Candidate
from dra_planner.allocation.search.selection import outcomes
from dra_planner.cel import Dialect, Selector, compile, explain
from dra_planner.cel.advice.quantity_literals import invalid_literals, with_quantities
from dra_planner.cel.advice.version_comparisons import as_versions
from dra_planner.cel.explanation import conditions as split_conditions
from dra_planner.cel.explanation import is_near, split_at_and
from dra_planner.cel.tree import Call
from dra_planner.drivers import known_classes
from dra_planner.quantity import Quantity, QuantityError
from dra_planner.wording import listed

if TYPE_CHECKING:
    from dra_planner.cel import Selector
    from dra_planner.cel import SelectorTerm as Condition

ChangeKind = Literal["compare-inclusive", "correct-value", "drop-selector"]

_SAME_WORD: Final = 0.6  # minimum of difflib's ratio
_MOST_DROPS: Final = 4  # maximum number of sets of conditions to remove from one selector
_LEAST_PATH: Final = 3  # attributes, domain, name
_NO_VERSION: Final = "No Major.Minor.Patch elements found"
_NO_OVERLOAD: Final = "no such overload"
_SHORT_VERSION: Final = re.compile(
    r"(?P<before>semver\(\s*[\"'])(?P<version>\d+(?:\.\d+)?)(?P<after>[\"'])"
)
# attributes that NVIDIA's driver publishes only for MIG devices
_MIG_ONLY: Final = frozenset({"profile", "parentUUID"})
_OF_MIG: Final = re.compile(
    r"""attributes\[["']gpu\.nvidia\.com["']\](?:\.|\[["'])(?:profile|parentUUID|type(?:["']\])?\s*==\s*["']mig["'])"""
)
_NUMBER: Final = re.compile(r"\d+")
_PROFILE: Final = re.compile(r"(\d+g)\.\d+gb")


class SelectorChange(Struct, frozen=True):
    """Conditions of a selector with their replacements ("" to remove a condition), and a
    description of the change.
    """

    kind: ChangeKind
    parts: tuple[tuple[str, str], ...]
    text: str
    amount: str = ""  # the lower amount that the condition then requests
    is_conditional: bool = False  # helps only if less than the requested amount is enough


class ClassCorrection(Struct, frozen=True):
    """A change to one selector of a class, and all selectors of the class with this change."""

    change: SelectorChange
    expressions: tuple[str, ...]


def selector_changes(
    expression: str, device_class: str, template: Template
) -> Iterator[SelectorChange]:
    """Yield changes to a selector of a request, based on the devices of its class on this node.

    First come changes that keep the intent (a comparison that includes the value itself, or a value
    as it's published), then conditions to remove.
    """
    selector = _compile(expression, template)
    if selector is None:
        return
    devices = devices_of_class(device_class, template)
    yield from _all_corrections(selector, devices, template)
    conditions = split_conditions(selector)
    terms = explain(selector, devices).terms
    are_whole = not any(_MIG_ONLY & names_in(each, "attributes", each.driver) for each in devices)
    for dropped in _conditions_to_drop(conditions, devices, template):
        what = listed(f"`{condition}`" for condition in dropped)
        gives_up_mig = are_whole and any(map(is_for_mig, dropped))
        only_if = "if a whole GPU is enough, " if gives_up_mig else ""
        yield SelectorChange(
            "drop-selector",
            tuple((each, "") for each in dropped),
            f"{only_if}{_replaced_literals(dropped, template)}{_settings(dropped, terms)}remove "
            f"{what}",
            is_conditional=gives_up_mig,
        )


def _settings(conditions: Sequence[str], terms: Sequence[Condition]) -> str:
    """Return the alternative to removing conditions: the advice of their driver for the absent
    attributes that they read, followed by "or", or "".
    """
    advice = dict.fromkeys(
        text for term in terms if term.text in conditions for text in advice_on_absent_names(term)
    )
    return "".join(f"{text}, or " for text in advice)


def _replaced_literals(conditions: Sequence[str], template: Template) -> str:
    """Return the alternative to removing conditions: the imperative that replaces their invalid
    quantities, followed by "or", or "".
    """
    compiled = (_compile(each, template) for each in conditions)
    literals = [text for each in compiled if each for text, _ in invalid_literals(each.tree)]
    if not literals:
        return ""
    quoted = listed(f'"{each}"' for each in literals)
    is_one = len(literals) == 1
    valid = "a valid quantity" if is_one else "valid quantities"
    return f'replace {quoted} with {valid}, for example "20Gi", or '


def class_corrections(name: str, template: Template) -> Iterator[ClassCorrection]:
    """Yield corrected selectors of a class that isn't part of a driver's chart, based on all
    devices of this node. No correction removes a condition.
    """
    own = template.classes.get(name)
    if own is None or name in known_classes():
        return
    devices = [each for each in template.candidates if each.bit & template.searched]
    for index, each in enumerate(own.selectors):
        selector = _compile(each.expression, template)
        for change in _all_corrections(selector, devices, template) if selector is not None else ():
            expressions = [other.expression for other in own.selectors]
            expressions[index] = change_selector(each.expression, change.parts)
            yield ClassCorrection(
                replace(change, text=f"{change.text} in DeviceClass {name}"), tuple(expressions)
            )


def _all_corrections(
    selector: Selector, devices: Sequence[Candidate], template: Template
) -> Iterator[SelectorChange]:
    for term in explain(selector, devices).terms:
        if term.failing:
            yield from _corrections(term, template)
        elif term.erring:
            yield from _corrections_of_errors(term, devices, template)
        if term.failing or term.erring:
            yield from _published(term, devices)


def failing_conditions(
    expression: str, devices: Sequence[Candidate], template: Template
) -> tuple[Condition, ...]:
    """Return the conditions of a selector that exclude some of these devices, for the excluded
    devices.
    """
    selector = _compile(expression, template)
    if selector is None:
        return ()
    results = outcomes([expression], devices, template.features)
    kept_out = [
        each
        for each, ((verdict, _),) in zip(devices, results, strict=True)
        if verdict == "no-match"
    ]
    return tuple(term for term in explain(selector, kept_out).terms if term.failing)


def change_selector(expression: str, parts: Sequence[tuple[str, str]]) -> str:
    """Return the selector with replaced conditions, or `true` if no condition remains."""
    instead = dict(parts)
    conditions = [expression] if expression in instead else split_at_and(expression)
    kept = [instead.get(condition, condition) for condition in conditions]
    return " && ".join(condition for condition in kept if condition) or "true"


def is_for_mig(expression: str) -> bool:
    """Return True if a selector or condition is for MIG devices, by their type, or by attributes
    that only MIG devices publish.
    """
    return _OF_MIG.search(expression) is not None


def devices_of_class(name: str, template: Template) -> list[Candidate]:
    """Return the devices of a node that the selectors of a class match."""
    devices = [each for each in template.candidates if each.bit & template.searched]
    known = template.classes.get(name)
    results = outcomes(
        [each.expression for each in known.selectors] if known else [], devices, template.features
    )
    return [
        each
        for each, answers in zip(devices, results, strict=True)
        if all(v == "match" for v, _ in answers)
    ]


def _compile(expression: str, template: Template) -> Selector | None:
    compiled = compile(expression, Dialect.of(template.features, "stored"))
    return compiled if isinstance(compiled, Selector) else None


def _corrections(term: Condition, template: Template) -> Iterator[SelectorChange]:
    inclusive = _inclusive(term.text, template)
    yield from _correction("compare-inclusive", term.text, inclusive)
    if _is_likely_intended(term) or _is_amount(term) or _is_same_slice(term, template):
        only_if = "" if _is_likely_intended(term) else f"if {term.nearest} is enough, "
        amount = term.nearest if _is_amount(term) else ""
        for better in (_with_value(term.text, term), _with_value(inclusive, term)):
            for change in _correction("correct-value", term.text, better, only_if):
                yield replace(change, amount=amount)


def _corrections_of_errors(
    term: Condition, devices: Sequence[Candidate], template: Template
) -> Iterator[SelectorChange]:
    """Yield a corrected condition: an attribute that should be a capacity (or the reverse), a
    missing comparison, a version comparison, or an invalid quantity.
    """
    compiled = _compile(term.text, template)
    if compiled is not None:
        better = with_quantities(term.text, compiled.tree)
        yield from _correction("correct-value", term.text, better)
    if _NO_VERSION in term.error:
        yield from _correction(
            "correct-value", term.text, _SHORT_VERSION.sub(_whole_version, term.text)
        )
    if _NO_OVERLOAD in term.error:
        better = as_versions(compiled.tree) if compiled is not None else ""
        yield from _correction("correct-value", term.text, better)
    for at in term.reads:
        if len(at.path) < _LEAST_PATH:
            continue
        kind, domain, name = at.path[:_LEAST_PATH]
        other = {"attributes": "capacity", "capacity": "attributes"}[kind]
        if at.absent and any(name in names_in(each, other, domain) for each in devices):
            yield from _correction(
                "correct-value", term.text, term.text.replace(f".{kind}", f".{other}")
            )
        if at.absent:
            known = set[str]().union(*(names_in(each, kind, domain) for each in devices))
            better = _with_known_name(term.text, name, known)
            yield from _correction("correct-value", term.text, better)
            better = _with_known_domain(term.text, kind, domain, name, devices)
            yield from _correction("correct-value", term.text, better)
        if "to bool" in term.error and at.values and term.text.endswith(name):
            yield from _correction(
                "correct-value", term.text, f'{term.text} == "{at.values[0][0]}"'
            )


def _published(term: Condition, devices: Sequence[Candidate]) -> Iterator[SelectorChange]:
    """Yield the condition in the forms that drivers publish."""
    for form in published_forms(term, devices):
        if form.meaning:
            yield _by_meaning(term.text, form)
        else:
            yield from _correction("correct-value", term.text, form.condition)


def _by_meaning(condition: str, form: PublishedForm) -> SelectorChange:
    instead = form.condition
    text = f"to select {form.meaning} devices, replace `{condition}` with `{instead}`"
    return SelectorChange("correct-value", ((condition, instead),), text, is_conditional=True)


def _with_known_name(condition: str, name: str, known: set[str]) -> str:
    """Return the condition with the published name that is most similar to a misspelled one, or
    "".
    """
    near = similar_name(name, known)
    return re.sub(rf"(?<=[.\"']){re.escape(name)}\b", near, condition) if near else ""


def _with_known_domain(
    condition: str, kind: str, domain: str, name: str, devices: Sequence[Candidate]
) -> str:
    """Return the condition with the domain in which devices publish a name, if there is only one,
    or "".
    """
    published = published_domain(name, kind, domain, devices)
    if not published:
        return ""
    at = rf"(?<=\.{kind}\[[\"']){re.escape(domain)}(?=[\"']\](?:\.|\[[\"']){name}\b)"
    return re.sub(at, published, condition)


def _whole_version(match: re.Match[str]) -> str:
    missing = ".0" * (2 - match["version"].count("."))
    return f"{match['before']}{match['version']}{missing}{match['after']}"


def _correction(
    kind: ChangeKind, condition: str, instead: str, only_if: str = ""
) -> Iterator[SelectorChange]:
    if instead not in ("", condition):
        yield SelectorChange(
            kind,
            ((condition, instead),),
            f"{only_if}{replacement_text(condition, instead)}",
            is_conditional=bool(only_if),
        )


def _inclusive(condition: str, template: Template) -> str:
    """Return a strict comparison changed to include the value itself, or "" if the condition isn't
    a strict comparison.
    """
    selector = _compile(condition, template)
    function = (
        selector.tree.function if selector is not None and isinstance(selector.tree, Call) else ""
    )
    for name, sign in (("isGreaterThan", ">="), ("isLessThan", "<=")):
        value, call, amount = condition.rpartition(f".{name}(")
        if function == name and call:
            return f"{value}.compareTo({amount} {sign} 0"
    for name, sign in (("_>_", ">"), ("_<_", "<")):
        if function == name and condition.count(sign) == 1:
            return condition.replace(sign, f"{sign}=")
    return ""


def _is_likely_intended(term: Condition) -> bool:
    """Return True if the nearest published value is probably the intended one: the same word, or a
    nominal size.
    """
    if not term.wanted or not term.nearest:
        return False
    try:
        wanted, nearest = Quantity.parse(term.wanted), Quantity.parse(term.nearest)
    except QuantityError:
        ours, theirs = term.wanted.lower(), term.nearest.lower()
        same_numbers = set(_NUMBER.findall(ours)) <= set(_NUMBER.findall(theirs))
        return same_numbers and (
            ours in theirs or SequenceMatcher(None, ours, theirs).ratio() >= _SAME_WORD
        )
    return nearest < wanted and is_near(nearest, wanted)


def _is_same_slice(term: Condition, template: Template) -> bool:
    """Return True if the nearest value is a MIG profile with the same compute slices, and no device
    has the wanted profile.
    """
    wanted, nearest = _PROFILE.match(term.wanted), _PROFILE.match(term.nearest)
    if wanted is None or nearest is None or wanted[1] != nearest[1]:
        return False
    return not any(term.wanted in each.attributes.values() for each in template.candidates)


def _is_amount(term: Condition) -> bool:
    """Return True if the condition compares a quantity, for which a lower amount can be enough."""
    try:
        return bool(
            term.nearest
            and Quantity.parse(term.wanted).as_float()
            and Quantity.parse(term.nearest).as_float()
        )
    except QuantityError:
        return False


def _with_value(condition: str, term: Condition) -> str:
    """Return the condition with the published value instead of the wanted one, or "" if the wanted
    value isn't a literal.
    """
    literals = [
        literal
        for literal in (f'"{term.wanted}"', f"'{term.wanted}'")
        if condition.count(literal) == 1
    ]
    return (
        condition.replace(literals[0], literals[0].replace(term.wanted, term.nearest))
        if literals
        else ""
    )


def _conditions_to_drop(
    conditions: Sequence[str], devices: Sequence[Candidate], template: Template
) -> list[tuple[str, ...]]:
    """Return the conditions to remove so that some device matches, the fewest first."""
    results = outcomes(conditions, devices, template.features)
    failing = {
        tuple(
            condition
            for condition, (verdict, _) in zip(conditions, answers, strict=True)
            if verdict != "match"
        )
        for answers in results
    }
    return sorted((each for each in failing if each), key=lambda each: (len(each), each))[
        :_MOST_DROPS
    ]
