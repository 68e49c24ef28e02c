"""One request, one question: what the SDK would decode for every rule is decoded once.

The SDK decodes all resources anew for each policy
(pulumi/pulumi-policy:sdk/python/lib/pulumi_policy/policy.py@v1.21.0, `Analyze` and `AnalyzeStack`):
with a hundred rules and two thousand resources that takes half a minute. Here one policy is given
the request and has it judged for all rules; the SDK then goes through the policies that have
something to say, with a request that holds no resources any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import wraps
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

Asked = ResourceValidationArgs | StackValidationArgs
_SERVICER = "_PolicyAnalyzerServicer"
_POLICIES = f"{_SERVICER}__policies"
_METHODS = ("Analyze", "AnalyzeStack")
_KEPT = ("type", "urn", "name")


class Answering(Protocol):
    """What judges for all policies of a pack."""

    def ask(self, args: Asked, off: Sequence[str]) -> frozenset[str]:
        """Judge for all rules, and for those of these ids that are off by themselves; return the
        ids that speak.
        """
        ...

    def forget(self) -> None:
        """Forget what was judged."""
        ...


class AnsweredPolicy(ResourceValidationPolicy, StackValidationPolicy):
    """A policy for single resources and for the whole stack, whose findings come from what judges
    for all.

    The SDK has a class for each and asks with isinstance which of the two a policy is; being both
    is what lets a rule have one name and one level in a pack's configuration.
    """

    answers: Answering
    is_on: bool

    def has_validation(self) -> bool:
        return True

    def has_remediation(self) -> bool:
        return False

    def validate(self, args: Asked, report_violation: ReportViolation) -> None:
        """Report what there is to report."""
        raise NotImplementedError


class _Question(AnsweredPolicy):
    """The one policy that sees a request; it reports nothing."""

    def __init__(self, answers: Answering, off: Sequence[str]) -> None:
        # Not super().__init__: the two bases take their arguments in different orders.
        Policy.__init__(
            self, name="question", description="asks", enforcement_level=EnforcementLevel.MANDATORY
        )
        self.answers, self._off = answers, off
        self.speaking = frozenset[str]()

    def validate(self, args: Asked, report_violation: ReportViolation) -> None:
        self.speaking = self.answers.ask(args, self._off)


def ask_once() -> None:
    """Let the SDK of this process ask once per request; safe to call again, and without effect on
    other packs.
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
        ours = [each for each in policies if isinstance(each, AnsweredPolicy)]
        if not ours or len(ours) != len(policies):
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


def _with(servicer: Any, policies: Sequence[Policy]) -> Any:
    """Return the servicer with other policies."""
    other = copy(servicer)
    setattr(other, _POLICIES, policies)
    return other
