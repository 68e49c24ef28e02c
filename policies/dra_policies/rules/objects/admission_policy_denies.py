"""Objects and pods that a ValidatingAdmissionPolicy of the manifests denies."""

from __future__ import annotations

from dra_planner.plan.blockers.policies.denials import CODE, find_denials
from dra_policies.rules.blockers import planner_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id=CODE,
    description="A ValidatingAdmissionPolicy denies an object, a pod, or a claim.",
    why="The API server rejects the object, or the workload's controller can't create the pods or "
    "claims.",
    fix="Change the object as the policy's message requires, or change the policy.",
    level="mandatory",
    url="https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/",
    check=planner_check(CODE, find_denials),
)
