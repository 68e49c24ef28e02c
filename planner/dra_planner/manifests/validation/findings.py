"""From the API server's answer to diagnostics: where it is, what is wrong, what would make it right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.tree import Map, Seq, line_of
from dra_planner.manifests.validation.context import Context
from dra_planner.manifests.validation.gates import Dropped
from dra_planner.manifests.validation.hints import hint
from dra_planner.manifests.validation.verdict import Verdict
from dra_planner.manifests.validation.violations import Violation

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


def findings(item: KubernetesObject, verdict: Verdict, context: Context) -> Iterator[Diagnostic]:
    """Yield what is to be said about an object that was judged."""
    for violation in verdict.violations:
        yield _refused(item, violation, verdict.fix, context)
    if verdict.accepted:
        for dropped in verdict.dropped:
            yield _dropped(item, dropped, context)
    for warning in verdict.warnings:
        code = "pod-security" if "PodSecurity" in warning else "server-warning"
        yield Diagnostic("warning", code, f"{item}: {warning}", item.place)


def late_findings(item: KubernetesObject, violations: Iterable[Violation], context: Context) -> Iterator[Diagnostic]:
    """Yield what is wrong with the pods of an object whose own kind the API server does not check."""
    for violation in violations:
        place = locate(item, violation.field)
        text = violation.text.removeprefix("Pod cannot be handled as a Pod: ")
        message = f"{item} is accepted as it is, but its pods will be refused: {violation.field}: {text}"
        yield Diagnostic("error", "pods-refused", message, place, hint(item, violation, context.minor))


def _refused(item: KubernetesObject, violation: Violation, fix: str, context: Context) -> Diagnostic:
    place = locate(item, violation.field)
    where = f"{violation.field}: " if violation.field and violation.reason not in ("UnknownField", "Decode") else ""
    text = violation.text.removeprefix(f"{item.kind} cannot be handled as a {item.kind}: ")
    if not fix:
        fix = hint(item, violation, context.minor)
    code = CODES.get(violation.reason, "refused")
    if violation.field.endswith(".adminAccess") and violation.reason == "FieldValueForbidden":
        code = "admin-access-namespace"
    return Diagnostic("error", code, f"{item}: {where}{text}", place, fix)


def _dropped(item: KubernetesObject, dropped: Dropped, context: Context) -> Diagnostic:
    name = dropped.path.rpartition(".")[2]
    when = f"before {dropped.since}" if dropped.since else "while its feature gate is off"
    message = f"{item}: {name} is ignored {when}: {context.features.version} stores the object without it"
    fix = f"plan for Kubernetes {dropped.since} or later, or turn on {dropped.gate}" if dropped.since else ""
    return Diagnostic("warning", "field-dropped", message, locate(item, dropped.path), fix or f"turn on {dropped.gate}")


def locate(item: KubernetesObject, path: str) -> Place:
    """Return the place of a field, or of the nearest thing around it that is written down."""
    line = _line(item.data, path) or item.place.line
    return Place(item.place.file, line, path)


def _line(node: Any, path: str) -> int:
    """Return the line of a field path: keys may hold dots, so the longest key that fits is taken."""
    line = 0
    while path and isinstance(node, Map | Seq):
        step = _first_step(node, path)
        if step is None:
            break
        key, child, path = step
        line = line_of(node, key)
        node = child
    return line


def _first_step(node: Map | Seq, path: str) -> tuple[str | int, Any, str] | None:
    rest = path.removeprefix(".")
    if isinstance(node, Seq):
        index, closed, after = rest.removeprefix("[").partition("]")
        if closed and index.isdigit() and int(index) < len(node):
            return int(index), node[int(index)], after
        return None
    for key in sorted(node, key=len, reverse=True):
        for written in (key, f"[{key}]"):
            after = rest.removeprefix(written)
            if len(after) < len(rest) and (not after or after[0] in ".["):
                return key, node[key], after
    return None
