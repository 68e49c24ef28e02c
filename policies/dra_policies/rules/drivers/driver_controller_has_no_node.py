"""The driver's controller requires a control plane node, but managed clusters don't expose control
plane nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.drivers import nvidia
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.unknown_values import as_mapping
from dra_policies.view.stack_view import StackView

# Source: kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm/*/values.yaml@v25.3.2 to v0.4.1
_PREFERS_SINCE: Final = "0.4.0"


def check(view: StackView) -> Iterator[Finding]:
    order = {release.version: release.order for release in nvidia.driver_releases()}
    if not any(each.is_cluster for each in view.versions) and not view.pools:
        return
    for driver in view.drivers:
        if (
            driver.values is None
            or order.get(driver.version or "", order[_PREFERS_SINCE]) >= order[_PREFERS_SINCE]
        ):
            continue
        domains = driver.values.flag("resources.computeDomains.enabled", True)
        controller = as_mapping(driver.values.at("controller")) or {}
        if domains and "affinity" not in controller:
            yield Finding(
                message=f"{driver.title}: its controller requires a control-plane node, but "
                "managed clusters don't expose one, so the controller stays pending",
                fix="if no pool needs ComputeDomains, set resources.computeDomains.enabled to false "
                "in the release's values. Otherwise, set controller.affinity to null",
                urn=driver.urn,
            )


RULE = Rule(
    id="driver-controller-has-no-node",
    description="The driver's controller can't run on any node in the cluster.",
    why="The Helm release waits for the controller, so it times out after Pulumi has created "
    "the cluster.",
    fix="Disable ComputeDomains if no pool needs them, or remove the controller's affinity.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
