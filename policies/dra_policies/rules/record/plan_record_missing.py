"""GPU pools without a plan. Their demand is unknown, so the rules can't check whether the pools are
large enough.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    if not view.expects_record or view.record is not None:
        return
    for pool in view.pools:
        if pool.is_labelled and pool.has_gpus is not False:
            yield Finding(
                message=f"{pool.title} is a DRA pool, but the stack doesn't register a plan "
                "(resource pulumi-dra:index:CapacityPlan) before the pool",
                fix=RULE.fix,
                urn=pool.urn,
            )


RULE = Rule(
    id="plan-record-missing",
    description="A stack with DRA pools doesn't register its plan before it creates the pools.",
    why="Without the plan, the policy pack can't check the claims before Pulumi creates the pools.",
    fix="save the plan (`pulumi-dra plan --stack STACK --write`), register it with CapacityPlan, and "
    "make all other resources depend on CapacityPlan",
    level="mandatory",
    needs="stack",
    check=check,
)
