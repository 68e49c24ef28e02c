"""Evaluate all rules once per request.

The SDK decodes all resources again for each policy
(pulumi/pulumi-policy:sdk/python/lib/pulumi_policy/policy.py@v1.21.0, `Analyze` and `AnalyzeStack`).
With a hundred rules and two thousand resources, that takes half a minute. Here, one policy receives
the request and evaluates all rules. The SDK then only calls the policies that have findings, with a
request without resources.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import lru_cache, wraps
from typing import Any, Protocol

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
    policy,
)

PackRequest = ResourceValidationArgs | StackValidationArgs
_SERVICER = "_PolicyAnalyzerServicer"
_POLICIES = f"{_SERVICER}__policies"
_METHODS = ("Analyze", "AnalyzeStack")
_KEPT = ("type", "urn", "name")


class Answering(Protocol):
    """Evaluates all policies of a pack."""

    def ask(self, args: PackRequest, off: Sequence[str]) -> frozenset[str]:
        """Evaluate all rules, and the disabled rules with these IDs. Return the IDs of rules with
        findings.
        """
        ...

    def forget(self) -> None:
        """Discard all findings."""
        ...


class AnsweredPolicy(ResourceValidationPolicy, StackValidationPolicy):
    """A policy for single resources and for the whole stack, whose findings come from the shared
    evaluation.

    The SDK has a separate class for each kind, and distinguishes them with isinstance. Inheriting
    from both gives a rule one name and one level in a pack's configuration.
    """

    answers: Answering
    is_on: bool

    def has_validation(self) -> bool:
        return True

    def has_remediation(self) -> bool:
        return False

    def validate(self, args: PackRequest, report_violation: ReportViolation) -> None:
        """Report the findings."""
        raise NotImplementedError


class _Question(AnsweredPolicy):
    """The only policy that receives a request. It reports nothing."""

    def __init__(self, answers: Answering, off: Sequence[str]) -> None:
        # Not super().__init__: the two bases take their arguments in different orders.
        Policy.__init__(
            self, name="question", description="asks", enforcement_level=EnforcementLevel.MANDATORY
        )
        self.answers, self._off = answers, off
        self.speaking = frozenset[str]()

    def validate(self, args: PackRequest, report_violation: ReportViolation) -> None:
        self.speaking = self.answers.ask(args, self._off)


def evaluate_once() -> None:
    """Make the SDK of this process evaluate each request once. Safe to call again, and without
    effect on other packs.
    """
    servicer: Any = getattr(policy, _SERVICER, None)
    for name in _METHODS:
        original = getattr(servicer, name, None)
        if original is not None and not hasattr(original, "__wrapped__"):
            setattr(servicer, name, _once(original))


def _once(original: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    @wraps(original)
    def analyze(self: Any, request: Any, context: Any) -> Any:
        policies: Sequence[Policy] = getattr(self, _POLICIES, None) or ()
        ours = _answered(tuple(policies))
        if not ours:
            return original(self, request, context)
        disabled = EnforcementLevel.DISABLED
        off = [
            each.name
            for each in ours
            if not each.is_on and self._get_enforcement_level(each) != disabled
        ]
        question = _Question(ours[0].answers, off)
        try:
            found = original(_with(self, [question]), request, context)
            if question.speaking:
                known = {key: getattr(request, key) for key in _KEPT if hasattr(request, key)}
                empty = type(request)(**known)
                speaking = [each for each in ours if each.name in question.speaking]
                found.MergeFrom(original(_with(self, speaking), empty, context))
        finally:
            ours[0].answers.forget()
        return found

    return analyze


@lru_cache(maxsize=4)
def _answered(policies: tuple[Policy, ...]) -> tuple[AnsweredPolicy, ...]:
    """Return the policies if a shared evaluation answers all of them, and () otherwise.

    The pack has the same policies in each request, and a check of their abstract classes is slow.
    """
    ours = tuple(each for each in policies if isinstance(each, AnsweredPolicy))
    return ours if len(ours) == len(policies) else ()


def _with(servicer: Any, policies: Sequence[Policy]) -> Any:
    """Return the servicer with other policies."""
    other = copy(servicer)
    setattr(other, _POLICIES, policies)
    return other
