"""The cases that test a custom rule: their values and the rule's answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.cel.types import CelType
from dra_planner.cel.values import INT_MAX, INT_MIN, MapValue, UnknownValue
from dra_planner.documents.validation import kind_of
from dra_planner.wording import use_one_of
from dra_policies.configuration.custom.compiled_rule import CompiledRule, RuleAnswer
from dra_policies.configuration.custom.object_types import OBJECT_TYPES, declarations
from dra_policies.configuration.custom.rule_schema import CustomRule, RuleTest
from dra_policies.unknown_values import as_list, as_mapping

_SCALARS: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "int": (int,),
    "bool": (bool,),
    "double": (int, float),
}
_WORDS: Final = {
    "string": "a string",
    "int": "an integer",
    "bool": "true or false",
    "double": "a number",
    "list": "a list",
}


class GivenFault(Exception):
    """A value of a case that the rule's variables don't accept."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.message, self.fix = message, fix


class CaseResult(Struct, frozen=True):
    """A case and the rule's answer. `is_met` is true if the answer is as expected."""

    case: RuleTest
    answer: RuleAnswer

    @property
    def is_met(self) -> bool:
        return self.answer.result == self.case.expect and self.case.message in self.answer.message


def run_cases(rule: CustomRule) -> Iterator[CaseResult]:
    """Yield the result of each case of a rule."""
    compiled = CompiledRule(rule)
    for case in rule.tests:
        yield CaseResult(case, compiled.answer(_values(rule, case)))


def case_faults(rule: CustomRule) -> Iterator[tuple[int, str, str]]:
    """Yield the errors in the values of cases: the case's number, the problem, and a fix."""
    for index, case in enumerate(rule.tests):
        try:
            _values(rule, case)
        except GivenFault as error:
            yield index, error.message, error.fix


def _values(rule: CustomRule, case: RuleTest) -> dict[str, Any]:
    variables = declarations(rule.subject).variables
    for name in case.given:
        if name not in variables:
            raise GivenFault(
                f'rules for {rule.subject} don\'t have a variable "{name}"',
                use_one_of("variable", list(variables)),
            )
    return {name: _value(kind, case.given.get(name, {}), name) for name, kind in variables.items()}


def _value(kind: CelType, given: Any, path: str) -> Any:
    if kind.name in OBJECT_TYPES:
        return _object(kind.name, given, path)
    if kind.kind == "list":
        elements = as_list(given)
        if elements is None:
            raise _wrong(kind, given, path)
        return [
            _value(kind.parameters[0], each, f"{path}[{index}]")
            for index, each in enumerate(elements)
        ]
    if kind.kind == "map":
        entries = as_mapping(given)
        if entries is None:
            raise _wrong(kind, given, path)
        return MapValue.of_strings(
            {
                key: _value(kind.parameters[1], each, f"{path}.{key}")
                for key, each in entries.items()
            }
        )
    if not isinstance(given, _SCALARS[kind.kind]) or (
        isinstance(given, bool) and kind.kind != "bool"
    ):
        raise _wrong(kind, given, path)
    if isinstance(given, int) and not INT_MIN <= given <= INT_MAX:
        raise GivenFault(f"{path}: {given} has more than 64 bits")
    return float(given) if kind.kind == "double" and isinstance(given, int) else given


def _object(name: str, given: Any, path: str) -> MapValue:
    entries = as_mapping(given)
    if entries is None:
        raise GivenFault(f"{path} must be a mapping of fields, not {kind_of(given)}")
    fields = OBJECT_TYPES[name]
    for key in entries:
        if key not in fields:
            raise GivenFault(
                f'{path} doesn\'t have a field "{key}"', use_one_of("field", list(fields))
            )
    values = {key: _value(fields[key].type, each, f"{path}.{key}") for key, each in entries.items()}
    unknown = {key: UnknownValue(f"{path}.{key}") for key in fields if key not in values}
    return MapValue.of_strings({**values, **unknown})


def _wrong(kind: CelType, given: Any, path: str) -> GivenFault:
    return GivenFault(f"{path} must be {_WORDS.get(kind.kind, 'a mapping')}, not {kind_of(given)}")
