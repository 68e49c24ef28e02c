"""A cluster with GPU pools or claims for GPUs, but without a DRA driver that publishes the GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.drivers import nvidia
from dra_planner.planfile import PlanFile
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    if not view.complete or view.drivers or view.has_gpu_operator or not view.installs_charts:
        return
    if view.record is not None and _is_installed_elsewhere(view.record.plan_file):
        return
    for pool in view.pools:
        if pool.has_gpus is not False and (
            pool.is_dra is True or (pool.has_gpus and _claims(view))
        ):
            yield Finding(
                message=f"{pool.title} is a DRA pool, but this stack doesn't install the DRA "
                "driver",
                fix="install the dra-driver-nvidia-gpu chart in this stack, or make sure that "
                "another tool installs the driver",
                urn=pool.urn,
            )
            return


def _is_installed_elsewhere(plan: PlanFile | None) -> bool:
    """Return whether the GPU Operator runs the driver, according to the plan's fleet."""
    options = None if plan is None else plan.fleet.drivers.of(nvidia.DRIVER)
    return options is not None and options.is_installed_elsewhere


def _claims(view: StackView) -> bool:
    """Return whether the stack has claims, and nothing outside the stack provides its GPUs."""
    manifests = view.manifests
    return (
        manifests is not None
        and bool(manifests.claims or manifests.templates)
        and not view.device_plugins
    )


RULE = Rule(
    id="driver-missing",
    description="A stack with DRA pools and Helm charts doesn't install the DRA driver.",
    why="Without a driver, nodes don't publish devices, so claims aren't allocated.",
    fix="Install the driver with the stack, or disable this rule if another tool installs it.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
