"""Convert the API server's answer to diagnostics with a place, a problem, and a fix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from dra_planner.documents.tree import Map, Seq, line_of
from dra_planner.errors import Diagnostic, Place, RejectedObject
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.validation.context import Context
from dra_planner.manifests.validation.field_paths import first_step
from dra_planner.manifests.validation.gates import Dropped
from dra_planner.manifests.validation.hints import hint
from dra_planner.manifests.validation.pod_security import POD_SECURITY
from dra_planner.manifests.validation.verdict import ServerAnswer
from dra_planner.manifests.validation.violations import TEMPLATED, Violation
from dra_planner.manifests.validation.wrong_types import wrong_type_text

CODES: Final = {
    "UnknownField": "unknown-field",
    "Schema": "unknown-field",
    "Decode": "wrong-type",
    "FieldValueRequired": "required-value",
    "FieldValueInvalid": "invalid-value",
    "FieldValueNotSupported": "unsupported-value",
    "FieldValueDuplicate": "duplicate-value",
    "FieldValueTooMany": "too-many-items",
    "FieldValueTooLong": "value-too-long",
    "FieldValueForbidden": "forbidden-value",
    "FieldValueNotFound": "value-not-found",
    "NoMatch": "version-not-served",
    "NotFound": "namespace-not-found",
    "Forbidden": "admission-refused",
}

# maximum findings for one object; further findings repeat the same mistake, or the text is hostile
_MOST_HINTS: Final = 50
_LARGE: Final = 64


def findings(
    item: KubernetesObject, verdict: ServerAnswer, context: Context
) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a validated object."""
    places = _Places(item)
    for index, violation in enumerate(verdict.violations):
        place = places.find(violation.field)
        refused = _refused(
            item, violation, place, verdict.fix, context, with_hint=index < _MOST_HINTS
        )
        lost = next((each for each in verdict.dropped if _is_missing(each, violation)), None)
        yield refused if lost is None else _caused_by(refused, lost, context)
    if verdict.accepted:
        for dropped in verdict.dropped:
            yield _dropped(item, dropped, places.find(dropped.path), context)
    level = (context.cluster.namespaces.get(item.namespace) or {}).get(f"{POD_SECURITY}enforce")
    for warning in verdict.warnings:
        if level and warning.startswith(f'would violate PodSecurity "{level}:'):
            continue  # the plan reports that its pods can't be created
        code = "pod-security" if "PodSecurity" in warning else "server-warning"
        yield Diagnostic("warning", code, f"{item}: {warning}", item.place)


def late_findings(
    item: KubernetesObject, violations: Iterable[Violation], context: Context
) -> Iterator[Diagnostic]:
    """Yield the errors in the pods of an object of a kind that the API server doesn't validate."""
    places = _Places(item)
    if item.group in TEMPLATED:
        violations = [each for each in violations if "{{" not in each.text]
    for index, violation in enumerate(violations):
        place = places.find(violation.field)
        fix = _hint(item, violation, context) if index < _MOST_HINTS else ""
        text = violation.text.removeprefix("Pod cannot be handled as a Pod: ")
        message = f"the API server accepts {item}, but rejects its pods: {violation.field}: {text}"
        yield Diagnostic("error", "pods-refused", message, place, fix)


def _refused(
    item: KubernetesObject,
    violation: Violation,
    place: Place,
    fix: str,
    context: Context,
    *,
    with_hint: bool,
) -> Diagnostic:
    where = (
        f"{violation.field}: "
        if violation.field and violation.reason not in ("UnknownField", "Decode")
        else ""
    )
    text = violation.text.removeprefix(f"{item.kind} cannot be handled as a {item.kind}: ")
    if violation.reason == "Decode":
        text = wrong_type_text(item.data, violation.field, text)
    fix = fix or violation.fix
    if not fix and with_hint:
        fix = _hint(item, violation, context)
    code = CODES.get(violation.reason, "refused")
    if violation.field.endswith(".adminAccess") and violation.reason == "FieldValueForbidden":
        code = "admin-access-namespace"
    message = f"{item}: {where}{text}"
    rejected = RejectedObject(item.kind, item.full_name if item.name else "")
    return Diagnostic("error", code, message, place, fix, rejected=rejected)


def _is_missing(dropped: Dropped, violation: Violation) -> bool:
    """Return whether a dropped field leaves its object without a required value."""
    owner = dropped.path.rpartition(".")[0]
    is_here = owner in (violation.field, violation.field.rpartition(".")[0])
    return is_here and violation.reason == "FieldValueRequired"


def _caused_by(refused: Diagnostic, dropped: Dropped, context: Context) -> Diagnostic:
    """Return the finding on a missing value with the dropped field that would have set it."""
    message = f"{refused.message}; {_drop_text(dropped, context)}"
    return replace(refused, message=message, fix=_gate_fix(dropped))


def _drop_text(dropped: Dropped, context: Context) -> str:
    name = dropped.path.rpartition(".")[2]
    return (
        f"Kubernetes {context.features.version} drops the {name} field, because the {dropped.gate} "
        "feature gate is off"
    )


def _gate_fix(dropped: Dropped, also: str = "") -> str:
    if not dropped.since:
        return f"turn on {dropped.gate}, or remove the field"
    return f"use Kubernetes {dropped.since} or later{also}, or turn on {dropped.gate}"


def _dropped(
    item: KubernetesObject, dropped: Dropped, place: Place, context: Context
) -> Diagnostic:
    name = dropped.path.rpartition(".")[2]
    # The field has no effect without other settings, because drivers publish whole devices by
    # default.
    also = " with a driver that lets claims share devices" if name == "capacity" else ""
    message = f"{item}: {_drop_text(dropped, context)}"
    return Diagnostic("warning", "field-dropped", message, place, _gate_fix(dropped, also))


class _Places:
    """Finds the places of fields in one object. Large mappings are searched only once."""

    def __init__(self, item: KubernetesObject) -> None:
        self._item = item
        self._indexes: dict[int, dict[str, int]] = {}

    def find(self, path: str) -> Place:
        """Return the place of a field, or of its nearest parent in the text."""
        line, node, rest = 0, self._item.data, path
        while rest and isinstance(node, Map | Seq):
            step = first_step(node, rest)
            if step is None:
                break
            key, child, rest = step
            line = self._line(node, key)
            node = child
        return Place(self._item.place.file, line or self._item.place.line, path)

    def _line(self, node: Map | Seq, key: str | int) -> int:
        if isinstance(node, Seq) or len(node) < _LARGE:
            return line_of(node, key)
        indexes = self._indexes.get(id(node))
        if indexes is None:
            indexes = self._indexes[id(node)] = {name: index for index, name in enumerate(node)}
        return node.line + node.lines[indexes[str(key)]]


def _hint(item: KubernetesObject, violation: Violation, context: Context) -> str:
    return hint(item, violation, context.minor)
