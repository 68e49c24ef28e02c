"""A cluster or node pool with a Kubernetes version without `resource.k8s.io/v1`."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.releases import MINIMUM_MINOR, is_too_old
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    if not view.wants_devices:
        return  # without a plan, a driver, or a claim, a cluster can have any version
    for each in view.versions:
        if each.minor and is_too_old(each.minor):
            yield Finding(
                message=f"{each.title} runs Kubernetes 1.{each.minor}, which doesn't serve "
                "resource.k8s.io/v1",
                fix=f'set {each.property} to "1.{MINIMUM_MINOR}" or later',
                urn=each.urn,
            )


RULE = Rule(
    id="kubernetes-too-old",
    description=f"A cluster or DRA node runs a Kubernetes version earlier than 1.{MINIMUM_MINOR}.",
    why=f"Before Kubernetes 1.{MINIMUM_MINOR}, the ResourceClaim API is disabled, so the API "
    "server rejects DeviceClasses and claims, and drivers don't publish devices.",
    fix=f"Set the version of the cluster and of each pool to 1.{MINIMUM_MINOR} or later.",
    level="mandatory",
    needs="stack",
    check=check,
)
