"""The outputs of a resource: its inputs, and the values that the cloud adds."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dra_planner.catalog.api_values import api_values
from dra_sandbox.clouds.sdk_schema import Schema, TypeSpec
from dra_sandbox.clouds.type_rows import Facts, Output, TypeRow, fill
from dra_sandbox.clouds.wire_values import UNKNOWN, Value, Values


def real_outputs(schema: Schema, row: TypeRow, facts: Facts, inputs_before: Values) -> Values:
    """Return the outputs of an existing resource. `inputs_before` are the inputs of its last
    creation or update.
    """
    kept = _kept(schema, facts.old, inputs_before, facts.inputs)
    computed = {
        name: _remembered(fill(output, facts), facts.old.get(name))
        for name, output in row.outputs.items()
    }
    anew = {name: fill(output, facts) for name, output in {**row.every_time, **row.known}.items()}
    outputs = overlay({**computed, **kept, **anew}, facts.inputs)
    outputs |= {
        name: fill(output, facts) for name, output in row.instead.items() if name in outputs
    }
    for name, spec in schema.outputs.items():
        if spec.required and outputs.get(name) is None:
            outputs[name] = _invented(schema, name, f"{name}-{facts.words['hex8']}")
    return {**_only_outputs(schema, outputs), "id": facts.words["id"]}


def planned_outputs(schema: Schema, row: TypeRow, facts: Facts, inputs_before: Values) -> Values:
    """Return the outputs that a preview knows. Values that only the cloud determines are
    unknown.
    """
    state, inputs = facts.old, facts.inputs
    kept = _kept(schema, state, inputs_before, inputs)
    computed = {
        name: _remembered(_unknown_like(output), state.get(name))
        for name, output in row.outputs.items()
    }
    anew = {name: _unknown_like(output) for name, output in row.every_time.items()}
    anew |= {name: fill(output, facts) for name, output in row.known.items()}
    outputs = overlay({**computed, **kept, **anew}, inputs)
    outputs |= {name: UNKNOWN for name in row.instead if name in outputs}
    for name, spec in schema.outputs.items():
        if spec.required and outputs.get(name) is None:
            outputs[name] = UNKNOWN
    return _only_outputs(schema, outputs)


def _kept(schema: Schema, state: Values, before: Values, inputs: Values) -> Values:
    """Return the values that an update keeps: outputs that have no input, and required outputs
    whose input was removed.
    """
    return {
        name: value
        for name, value in state.items()
        if name not in inputs
        and (name not in before or (name in schema.outputs and schema.outputs[name].required))
    }


def _remembered(computed: Value, old: Value) -> Value:
    """Return the previous values of all computed outputs, because the cloud returns the same values
    again.
    """
    if isinstance(computed, Mapping):
        members = old if isinstance(old, Mapping) else {}
        return {name: _remembered(member, members.get(name)) for name, member in computed.items()}
    return computed if old is None else old


def overlay(computed: Value, given: Value) -> Value:
    """Return `given` if it's set, otherwise `computed`, member by member."""
    if isinstance(computed, Mapping) and isinstance(given, Mapping):
        names = [*computed, *(name for name in given if name not in computed)]
        return {name: overlay(computed.get(name), given.get(name)) for name in names}
    return computed if given is None else given


def without_computed(old: Values, new: Values, outputs: Mapping[str, Output]) -> Values:
    """Return the old inputs without properties that the cloud sets and that the new inputs omit,
    member by member. A provider doesn't report a difference for a property that is optional and
    computed.
    """
    kept: Values = {}
    for name, value in old.items():
        output, given = outputs.get(name), new.get(name)
        if given is None and output is not None:
            continue
        if (
            isinstance(output, Mapping)
            and isinstance(value, Mapping)
            and isinstance(given, Mapping)
        ):
            value = without_computed(dict(value), dict(given), output)
        kept[name] = value
    return kept


def is_made_up(schema: Schema, name: str, value: Value) -> bool:
    """Return True if no table contains the value of an output, so the simulation invents it.

    Programs don't have to set such a value.
    """
    spec, given = schema.outputs.get(name), schema.inputs.get(name)
    return (
        spec is not None
        and spec.required
        and not (given is not None and given.required)
        and _without_text(name, value) == _invented(schema, name, "")
    )


def _without_text(name: str, value: Value) -> Value:
    if isinstance(value, dict):
        return {member: _without_text(name, each) for member, each in value.items()}
    if isinstance(value, list):
        return [_without_text(name, each) for each in value]
    return "" if isinstance(value, str) and re.fullmatch(rf"{name}-[0-9a-f]{{8}}", value) else value


def _only_outputs(schema: Schema, values: Values) -> Values:
    return {
        name: value
        for name, value in values.items()
        if name in schema.outputs and value is not None
    }


def _unknown_like(output: object) -> Value:
    """Return the structure of a computed object with unknown leaves, to combine it with members
    that the inputs set.
    """
    if isinstance(output, Mapping):
        return {name: _unknown_like(member) for name, member in output.items()}
    return UNKNOWN


def _invented(schema: Schema, name: str, text: str) -> Value:
    """Return a value for an output that no table of the simulation contains."""
    return _plausible(schema, schema.outputs[name].type, text, name)


def _plausible(schema: Schema, spec: TypeSpec, text: str, path: str) -> Value:
    """Return an invented value of the type, for an output or one of its members at `path`. If the
    API defines the possible values, the first one is returned, so that the policy pack accepts it.
    """
    for row in api_values().get(schema.token, ()):
        if row.property == path and row.values:
            return row.values[0]
    if spec.kind == "object":
        members = schema.objects[spec.object_name]
        return {
            name: _plausible(schema, member.type, text, f"{path}.{name}")
            for name, member in members.items()
            if member.required
        }
    if spec.kind == "union":
        return _plausible(schema, spec.of[0], text, path)
    if spec.kind in {"enum", "constant"}:
        return spec.values[0]
    plain: dict[str, Value] = {
        "string": text,
        "integer": 0,
        "number": 0,
        "boolean": False,
        "list": [],
        "map": {},
    }
    return plain.get(spec.kind, text)
