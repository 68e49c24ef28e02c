"""`pulumi-dra rules`: run the test cases of custom rules, or print the objects that rules read."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.command_line.yaml_text import yaml_text
from dra_command.findings.evaluation import make_view
from dra_command.inputs.command_inputs import read_inputs
from dra_command.pens.visible_text import visible
from dra_command.rules.contract import RuleCaseRow, RulesTestOutput
from dra_planner.cel.values import MapValue, UnknownValue
from dra_planner.wording import counted
from dra_policies.configuration.custom.published_objects import PublishedObjects
from dra_policies.configuration.custom.rule_cases import CaseResult, run_cases
from dra_policies.configuration.location import find_configuration
from dra_policies.configuration.reading import read_configuration


def run(values: argparse.Namespace) -> int:
    """Run the action, print its answer, and return the exit status."""
    return _test(values) if values.action == "test" else _print_objects(values)


# -- rules test


class _Tested(Struct, frozen=True):
    rule: str
    file: str
    results: tuple[CaseResult, ...]


def _test(values: argparse.Namespace) -> Status:
    """Run the test cases of the rules in the files. Return 1 if a result isn't as expected, or with
    --require-tests, if a rule doesn't have test cases.
    """
    tested = [each for file in _files(values) for each in _run_file(file)]
    if values.format == "json":
        print(_test_json(tested))
    else:
        _print_test(tested, quiet=values.quiet)
    is_tested = all(rule.results for rule in tested) or not values.require_tests
    is_met = all(each.is_met for rule in tested for each in rule.results)
    return Status.FITS if is_tested and is_met else Status.BROKEN


def _files(values: argparse.Namespace) -> tuple[str, ...]:
    """Return the configurations to test: the given paths, --config, or the nearest
    configuration.
    """
    named = [values.config] if values.config else []
    for path in values.paths:
        folder = Path(path)
        named += sorted(map(str, folder.glob("*.yaml"))) if folder.is_dir() else [path]
    found = named or [find_configuration(".")]
    if not found[0]:
        raise UsageError(
            "pulumi-dra.yaml isn't in this folder or its parents",
            fix="pass a file: `pulumi-dra rules test FILE`",
        )
    return tuple(dict.fromkeys(found))


def _run_file(file: str) -> Iterator[_Tested]:
    configured = read_configuration(file)
    for id, rule in configured.settings.custom_rules.items():
        yield _Tested(id, configured.rule_files[id], tuple(run_cases(rule)))


def _print_test(tested: Sequence[_Tested], *, quiet: bool) -> None:
    for rule in tested:
        for each in rule.results:
            if each.is_met and quiet:
                continue
            sign = "✔" if each.is_met else "✘"
            print(visible(f"{sign} {rule.rule}: {each.case.name}"))
            if not each.is_met:
                print(visible(f"    {_difference(each)} ({rule.file})"))
        if not rule.results:
            print(visible(f"! {rule.rule} has no test cases ({rule.file})"))
    results = [each for rule in tested for each in rule.results]
    failed = sum(not each.is_met for each in results)
    untested = sum(not rule.results for rule in tested)
    without = f", {counted(untested, 'rule')} without test cases" if untested else ""
    print(
        f"{counted(len(tested), 'rule')}, {counted(len(results), 'case')}, {failed} failed{without}."
    )


def _difference(each: CaseResult) -> str:
    message = f": {each.answer.message}" if each.answer.message else ""
    if each.answer.result != each.case.expect:
        details = f" ({each.answer.details})" if each.answer.details else ""
        return f"expected {each.case.expect}, got {each.answer.result}{message}{details}"
    return f'expected a message with "{each.case.message}", got{message or " none"}'


def _test_json(tested: Sequence[_Tested]) -> str:
    rows = [
        RuleCaseRow(
            rule=rule.rule,
            file=rule.file,
            name=each.case.name,
            expected=each.case.expect,
            result=each.answer.result,
            message=each.answer.message,
            steps=each.answer.steps,
            met=each.is_met,
        )
        for rule in tested
        for each in rule.results
    ]
    failed = sum(not row.met for row in rows)
    untested = [rule.rule for rule in tested if not rule.results]
    output = RulesTestOutput(
        passed=len(rows) - failed, failed=failed, untested=untested, cases=rows
    )
    return output.model_dump_json(indent=2)


# -- rules objects


def _print_objects(values: argparse.Namespace) -> Status:
    """Print the plan and the cost in the form that rules read, and the paths of unknown fields."""
    inputs = read_inputs(values, needs_capacity=False, is_lenient=True)
    published = PublishedObjects(make_view(inputs))
    objects = {"plan": published.plan, "cost": published.cost}
    document = {name: _plain(value) for name, value in objects.items()}
    if unknown := [path for name, value in objects.items() for path in _unknown(value, name)]:
        document["unknown"] = unknown
    if values.format == "json":
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        print(yaml_text(document), end="")
    return Status.FITS


def _plain(value: Any) -> Any:
    """Return a value as plain data. Objects don't contain their unknown fields."""
    if isinstance(value, MapValue):
        return {
            key: _plain(each)
            for key, each in value.entries.values()
            if not isinstance(each, UnknownValue)
        }
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value


def _unknown(value: Any, path: str) -> Iterator[str]:
    """Yield the paths of the unknown fields below a value."""
    if isinstance(value, UnknownValue):
        yield path
    elif isinstance(value, MapValue):
        for key, each in value.entries.values():
            yield from _unknown(each, f"{path}.{key}")
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _unknown(each, f"{path}[{index}]")
