"""Rules of the providers themselves: the effect of changing or omitting each property of a resource
type.

The planner's table `provider_rules` has one row for each property. Each row names the file of the
provider's source from which it is taken. The columns are:

- `kind`: `set` is a list without order. The keys of a `map` are chosen by the user.
- `omitted`: the effect of omitting the property: `required` (an error), `kept` (nothing changes,
  because the provider computes the value), `default` (the value is set to `default`), `removed`
  (the old value is removed), or `if_enabled` (a block with `enabled: true` is removed, and other
  blocks are kept).
- `replaces`: whether a change re-creates the resource: `no`, `yes`, `changed` (only if there was a
  value before, or if an element of a set is removed), `removed` (only if the value is removed),
  `disabled` (only if the value was true), or `narrowed` (only if the new range of addresses doesn't
  contain the old one).
- `conflicts`: properties that can't be set together with this property. `one_of`, `any_of`:
  alternatives to it, of which exactly one or at least one must be set. `needs`: properties that
  must be set together with it. The provider validates all these columns in a preview. A name such
  as `@addonsConfig` in `any_of` stands for all rows of the type with this name.
- `zero_beside`: an object. If other members of this object are set, the provider sends this
  property as zero when it is omitted.
- `accepts`: the values that the provider accepts, for a list the values of its elements. `same`:
  the values that the provider treats as equal (`property_values.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from dra_planner.catalog.tables import read_table
from dra_sandbox.clouds.differences import PropertyDifference, below, general_path, without_common
from dra_sandbox.clouds.property_checks import PropertyFailure
from dra_sandbox.clouds.property_rule import PropertyRule, read_rule, rule_failures
from dra_sandbox.clouds.property_values import are_same
from dra_sandbox.clouds.wire_values import Value, Values

_KEY = re.compile(r"\[\"[^\]]*\"\]|\[\*\]$")


class ProviderRules(Struct, frozen=True):
    """The rules of one resource type by property path, with `[*]` for every element of a list."""

    properties: Mapping[str, PropertyRule]

    def differences(self, old: Values, new: Values, state: Values) -> Iterator[PropertyDifference]:
        """Return the changes that the provider finds.

        `state` contains the values that the provider last read from the resource.
        """
        yield from self._of_object(old, new, state, "")

    def sent(self, inputs: Values) -> Values:
        """Return the inputs as the provider sends them.

        It sends some omitted properties as zero if the object has other members.
        """
        for container, name in self._zeros():
            inputs = _with_zero(inputs, container.split("."), name)
        return inputs

    def with_kept(self, inputs: Values, state: Values, path: str = "") -> Values:
        """Return the inputs. If they omit a value that the provider keeps, the value comes from the
        state.
        """
        found = dict(inputs)
        for name, value in state.items():
            here = below(path, name)
            given, rule = inputs.get(name), self.properties.get(general_path(here))
            if isinstance(given, dict) and isinstance(value, dict):
                found[name] = self.with_kept(given, value, here)
            elif given is None and rule is not None and rule.keeps(value):
                beside = {other.rpartition(".")[2] for other in rule.conflicts}
                if not beside & inputs.keys():
                    found[name] = value
        return found

    def _with_zeros(self, values: Values, path: str) -> Values:
        """Return an object of the inputs.

        If it isn't empty, the omitted properties that the provider sends as zero are added.
        """
        for container, name in self._zeros():
            if values and container == general_path(path):
                values = {name: False, **values}
        return values

    def _zeros(self) -> Iterator[tuple[str, str]]:
        for path, rule in self.properties.items():
            if rule.zero_beside:
                yield rule.zero_beside, path.rpartition(".")[2]

    def replaces(self, change: PropertyDifference) -> bool:
        """Return True if the provider re-creates the resource for this change."""
        rule = self._nearest(general_path(change.path))
        if rule is not None and rule.is_replaced_by(change):
            return True
        if change.kind == "update":
            return False
        return any(
            self._members_replace(
                change.value, general_path(change.path), is_deleted=change.kind == "delete"
            )
        )

    def failures(self, inputs: Values) -> Iterator[PropertyFailure]:
        """Return the errors for which the provider rejects a preview."""
        for path, rule in self.properties.items():
            yield from rule_failures(path, rule, inputs)

    def _of_object(
        self, old: Values, new: Values, state: Values, path: str
    ) -> Iterator[PropertyDifference]:
        old, new = (self._with_zeros(each, path) for each in (old, new))
        for name in [*old, *(name for name in new if name not in old)]:
            if name != "__defaults":
                here = below(path, name)
                yield from self._of_property(
                    old.get(name), new.get(name), _member(state, name), here
                )

    def _of_property(
        self, old: Value, new: Value, state: Value, path: str
    ) -> Iterator[PropertyDifference]:
        rule = self.properties.get(general_path(path))
        omitted = rule.omitted if rule is not None else "removed"
        if rule is not None and omitted == "default":
            old, new = (rule.default if each is None else each for each in (old, new))
        if rule is not None and rule.same and are_same(rule.same, old, new):
            return
        if new is None and (_is_zero(old) or (rule is not None and rule.keeps(old))):
            return
        is_unchanged = (
            _is_zero(new)
            if omitted == "removed"
            else omitted in ("kept", "if_enabled") and _same(state, new)
        )
        if old is None and is_unchanged:
            return
        if isinstance(old, dict) and isinstance(new, dict):
            yield from self._of_object(old, new, state if isinstance(state, dict) else {}, path)
        elif isinstance(old, list) and isinstance(new, list):
            yield from self._of_list(old, new, path, is_set=rule is not None and rule.kind == "set")
        elif old != new or isinstance(old, bool) != isinstance(new, bool):
            kind = "add" if old is None else "delete" if new is None else "update"
            yield PropertyDifference(path, kind, old if new is None else new, old)

    def _of_list(
        self, old: list[Value], new: list[Value], path: str, *, is_set: bool
    ) -> Iterator[PropertyDifference]:
        if is_set:
            old, new = without_common(old, new)
        for index in range(max(len(old), len(new))):
            left = old[index] if index < len(old) else None
            right = new[index] if index < len(new) else None
            yield from self._of_property(left, right, None, f"{path}[{index}]")

    def _members_replace(self, value: Value, path: str, *, is_deleted: bool) -> Iterator[bool]:
        """Yield whether changes to members replace the resource. Members that are deleted with
        their object, and computed members, don't count as changes.
        """
        if isinstance(value, dict):
            for name, member in value.items():
                here = f"{path}.{name}"
                rule = self.properties.get(here)
                is_kept = rule is not None and is_deleted and rule.omitted == "kept"
                if (
                    rule is not None
                    and not is_kept
                    and not (_is_zero(member) and rule.omitted != "required")
                ):
                    kind = "delete" if is_deleted else "add"
                    yield rule.is_replaced_by(PropertyDifference(here, kind, member))
                yield from self._members_replace(member, here, is_deleted=is_deleted)
        elif isinstance(value, list):
            for member in value:
                yield from self._members_replace(member, f"{path}[*]", is_deleted=is_deleted)

    def _nearest(self, path: str) -> PropertyRule | None:
        """Return the rule for the property, or for the list or map that contains this element."""
        while path:
            if (found := self.properties.get(path)) is not None:
                return found
            path = _KEY.sub("", path) if _KEY.search(path) else path.rpartition(".")[0]
        return None


NO_RULES: Mapping[str, ProviderRules] = {}


def read_rules(cloud: str) -> Mapping[str, ProviderRules]:
    """Return the rules of a cloud's provider by resource type."""
    types: dict[str, dict[str, PropertyRule]] = {}
    rows = [row for row in read_table("provider_rules") if row["type"].startswith(f"{cloud}:")]
    members: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        members.setdefault((row["type"], row["any_of"]), []).append(row["property"])
    for row in rows:
        named = row["any_of"].startswith("@")
        any_of = members[row["type"], row["any_of"]] if named else row["any_of"].split()
        types.setdefault(row["type"], {})[row["property"]] = read_rule(row, tuple(any_of))
    return {token: ProviderRules(properties) for token, properties in types.items()}


def _with_zero(values: Values, container: list[str], name: str) -> Values:
    """Return the inputs. If an object in them has other members but not `name`, add the member as
    False.
    """
    first, *rest = container
    inner = values.get(first)
    if not isinstance(inner, dict) or not inner:
        return values
    if rest:
        return {**values, first: _with_zero(inner, rest, name)}
    return {**values, first: {name: False, **inner}}


def _member(state: Value, name: str) -> Value:
    return state.get(name) if isinstance(state, dict) else None


def _is_zero(value: Value) -> bool:
    return value is None or value in ("", False, 0) or value == [] or value == {}


def _same(state: Value, value: Value) -> bool:
    """Return True if all current inputs are in the values that the provider read."""
    if isinstance(state, dict) and isinstance(value, dict):
        return all(_same(state.get(name), member) for name, member in value.items())
    return state == value and isinstance(state, bool) == isinstance(value, bool)
