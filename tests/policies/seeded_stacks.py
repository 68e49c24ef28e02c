"""Correct stacks and the faults that are seeded into them, from the files in `seeded/`.

Each row is one fault: the stack (`base`), the change (`edit`: object/path → value, null removes the
value; an object without a path adds a resource, or removes it with null; object@property names the
resources that the property comes from), the rule that must find the fault, its level, the object
that it names, words of the message, and `fix`: the edit that follows the advice, which is applied
after `edit`; `undo` if the advice is to revert the edit. `computed` says which values of the edit
come from resources (by short name) of this stack or another one: they are unknown in a preview, and
the fault must still be found. `follows` is the text of the advice as written in the code: the row
is the test of that text.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct
from msgspec.structs import replace

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile import canonical_text
from dra_planner.sources import Source
from dra_policies.rules import RULES
from dra_policies.stack.resource import Resource
from dra_policies.stack_evaluation import Judge
from dra_policies.unknown_values import UNKNOWN, Properties

HERE = Path(__file__).parent / "seeded"
Edit = Mapping[str, Any]


class Seeded(Struct, frozen=True, kw_only=True):
    fault: str
    base: str
    edit: Edit
    rule: str
    level: str
    object: str
    words: str
    fix: Edit | str
    follows: str = ""
    computed: Mapping[str, list[str]] = {}


class Entry(Struct, frozen=True):
    """A finding: rule, level, short name of the object, sentence, and fix."""

    rule: str
    level: str
    object: str
    sentence: str
    fix: str


@cache
def seeded() -> tuple[Seeded, ...]:
    return tuple(
        Seeded(**row)
        for file in sorted(HERE.glob("*.yaml"))
        for row in yaml.safe_load(file.read_text())
    )


def base(name: str) -> dict[str, Resource]:
    """Return a good stack by the short names of its resources."""
    return dict(_stack(name))


@cache
def _stack(name: str) -> Mapping[str, Resource]:
    """Read a stack, and make its plan if it has one; cached because resources do not change."""
    read = yaml.safe_load((HERE / "bases" / f"{name}.yaml").read_text())
    if "base" in read:  # another good stack with additions
        return edited(base(read["base"]), read["edit"])
    return {short: resource(short, given) for short, given in read.items()}


def _urn(short: str) -> str:
    return f"urn:pulumi:dev::project::seeded::{short}"


def _plan_document(fleet: Mapping[str, Any], manifests: list[Any]) -> str:
    """Return the plan of a fleet and its workloads, as a stack registers it."""
    source = Source("workloads.yaml", yaml.safe_dump_all(manifests))
    return canonical_text(
        plan_file(make_plan(PlanRequest(sources=(source,), fleet=read_fleet(dict(fleet)))))
    )


def resource(short: str, given: Mapping[str, Any]) -> Resource:
    if "plan" in given:
        given = {**given, "props": {"document": _plan_document(**given["plan"])}}
    return Resource(
        urn=_urn(short),
        type=given["type"],
        name=short,
        props=Properties(given["props"]),
        sources={key: tuple(map(_urn, of)) for key, of in given.get("sources", {}).items()},
        provider=_urn(given["provider"]) if "provider" in given else "",
        ignore_changes=tuple(given.get("ignoreChanges", ())),
    )


def edited(stack: Mapping[str, Resource], edit: Edit) -> dict[str, Resource]:
    changed = dict(stack)
    for where, value in edit.items():
        short, _, path = where.partition("/")
        owner, _, sourced = where.partition("@")
        if sourced:
            sources = {**changed[owner].sources, sourced: tuple(map(_urn, value))}
            changed[owner] = replace(changed[owner], sources=sources)
        elif not path and value is None:
            del changed[short]
        elif not path:
            changed[short] = resource(short, value)
        else:
            values = put(changed[short].props.values, path.split("/"), value)
            changed[short] = replace(changed[short], props=Properties(values))
    return changed


def put(here: Any, keys: list[str], value: Any) -> Any:
    """Return a value with something below it set; `~1` in a key stands for a slash."""
    first, rest = keys[0].replace("~1", "/"), keys[1:]
    if isinstance(here, list):
        copied = list(here)
        index = len(here) if first == "+" else int(first)
        new = put(here[index] if index < len(here) else {}, rest, value) if rest else value
        copied[index : index + 1] = [] if new is None else [new]
        return copied
    new = put((here or {}).get(first, {}), rest, value) if rest else value
    return {key: item for key, item in {**(here or {}), first: new}.items() if item is not None}


def hidden(stack: Mapping[str, Resource], edit: Edit) -> dict[str, Resource]:
    """Return the stack with all values unknown that an edit changes."""
    return edited(stack, {where: UNKNOWN for where in edit if "/" in where})


def computed(stack: Mapping[str, Resource], values: Mapping[str, list[str]]) -> dict[str, Resource]:
    """Return the stack with all values unknown that come from other resources."""
    changed = edited(stack, dict.fromkeys(values, UNKNOWN))
    for where, of in values.items():
        short, _, path = where.partition("/")
        sources = {**changed[short].sources, path.partition("/")[0]: tuple(map(_urn, of))}
        changed[short] = replace(changed[short], sources=sources)
    return changed


@cache
def findings_of_base(name: str) -> tuple[Entry, ...]:
    """Return the findings of the policy pack for a good stack."""
    return tuple(findings_of(base(name)))


def findings_of(stack: Mapping[str, Resource], today: date = date.min) -> list[Entry]:
    """Return the pack's findings for a stack on a date (by default, rules about dates are silent):
    resource by resource, then for the whole stack.
    """
    judge = Judge(RULES, today=today)
    names = {each.urn: name for name, each in stack.items()}
    entries = [entry for each in stack.values() for entry in judge.of_resource(each)]
    entries += judge.of_stack(list(stack.values()))
    return [
        Entry(
            entry.rule.id,
            entry.rule.level,
            names.get(entry.finding.urn, ""),
            str(entry.finding),
            entry.finding.fix,
        )
        for entry in entries
    ]
