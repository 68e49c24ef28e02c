"""Evaluate whether a ValidatingAdmissionPolicy allows the creation of an object.

Source: kubernetes/apiserver:pkg/admission/plugin/policy/validating/validator.go@v0.36.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from dra_planner.cel import Dialect, RejectedSelector, types
from dra_planner.cel.expression import ExpressionValue, compile_expression
from dra_planner.cel.types import CelType
from dra_planner.cel.values import MapValue, UnknownValue
from dra_planner.cel.variable_types import VariableTypes
from dra_planner.documents.plain_values import blocks
from dra_planner.plan.blockers.policies.requests import AdmissionRequest
from dra_planner.releases import Features

_NAMES: Final = (
    "object",
    "oldObject",
    "request",
    "params",
    "namespaceObject",
    "variables",
    "authorizer",
)
_DECLARED: Final = VariableTypes(dict.fromkeys(_NAMES, types.DYN), {})


class PolicyAnswer(Struct, frozen=True):
    """A policy's result and the message of the failed validation, or the reason why the result is
    unknown.
    """

    result: Literal["allowed", "denied", "unknown"]
    message: str = ""


_ALLOWED: Final = PolicyAnswer("allowed")


class PolicyEvaluation:
    """One policy's spec, evaluated on one request. `namespace` is the namespace's metadata, if
    given.
    """

    def __init__(
        self,
        spec: Mapping[str, Any],
        request: AdmissionRequest,
        namespace: Mapping[str, Any] | None,
        features: Features,
    ) -> None:
        self._spec, self._dialect = spec, Dialect.of(features)
        known = {"operation": "CREATE", "namespace": request.namespace, "dryRun": False}
        unknown = ("userInfo", "uid", "name", "kind", "resource", "options")
        self._values: dict[str, Any] = {
            "object": _value(request.data),
            "oldObject": None,
            "request": MapValue.of_strings(
                {**known, **{name: UnknownValue(f"request.{name}") for name in unknown}}
            ),
            "params": UnknownValue("params") if "paramKind" in spec else None,
        }
        if namespace is not None:
            self._values["namespaceObject"] = _value({"metadata": namespace})

    def applies(self) -> bool | PolicyAnswer:
        """Return whether the match conditions apply, or an unknown answer."""
        self._add_variables()
        doubt: PolicyAnswer | None = None
        for condition in blocks(self._spec, "matchConditions"):
            found = self._evaluate(condition.get("expression"), types.BOOL)
            if found.value is False:
                return False
            if found.value is not True:
                doubt = doubt or _doubt(found)
        return doubt or True

    def answer(self) -> PolicyAnswer:
        """Return the first denial, an unknown answer, or an answer that allows the object."""
        applies = self.applies()
        if applies is False:
            return _ALLOWED
        doubt = None if applies is True else applies
        for validation in blocks(self._spec, "validations"):
            holds = self._evaluate(validation.get("expression"), types.BOOL)
            if holds.value is False and doubt is None:
                return PolicyAnswer("denied", self._message(validation))
            is_ignored = holds.state == "error" and self._spec.get("failurePolicy") == "Ignore"
            if holds.value is not True and not is_ignored:
                doubt = doubt or _doubt(holds)
        return doubt or _ALLOWED

    def _add_variables(self) -> None:
        found: dict[str, Any] = {}
        for each in blocks(self._spec, "variables"):
            name = str(each.get("name"))
            self._values["variables"] = MapValue.of_strings(found)
            # a variable can have any type
            result = self._evaluate(f"dyn({each.get('expression')})", types.DYN)
            is_known = result.state == "value"
            found[name] = result.value if is_known else UnknownValue(f"variables.{name}")
        self._values["variables"] = MapValue.of_strings(found)

    def _message(self, validation: Mapping[str, Any]) -> str:
        worded = validation.get("messageExpression")
        if worded:
            found = self._evaluate(worded, types.STRING)
            if isinstance(found.value, str) and found.value.strip():
                return found.value
        text = str(validation.get("message") or "").strip()
        return text or f"failed expression: {str(validation.get('expression')).strip()}"

    def _evaluate(self, text: Any, result: CelType) -> ExpressionValue:
        compiled = compile_expression(str(text), self._dialect, _DECLARED, result)
        if isinstance(compiled, RejectedSelector):
            return ExpressionValue("error", message=compiled.message)
        return compiled.evaluate(self._values)


def _doubt(found: ExpressionValue) -> PolicyAnswer:
    if found.state == "unknown":
        return PolicyAnswer(
            "unknown", f"the policy reads {found.message}, which the plan doesn't know"
        )
    return PolicyAnswer("unknown", f"the policy's expression fails: {found.message}")


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return MapValue.of_strings({str(key): _value(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    return value
