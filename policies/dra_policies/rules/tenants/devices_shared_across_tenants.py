"""Devices shared by claims of several namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.manifest_claims import pod_sets_with_claims
from dra_planner.wording import listed
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView

_OFF = ("", "disabled")


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None:
        return
    namespaces = sorted(
        {workload.meta.namespace for workload, _ in pod_sets_with_claims(view.manifests)}
    )
    for driver in view.drivers if len(namespaces) > 1 else ():
        shares = driver.values.at("consumableShares") if driver.values else None
        if isinstance(shares, str | int) and str(shares) not in _OFF:
            yield Finding(
                message=f"{driver.title} shares each GPU (consumableShares: {shares}), so "
                f"claims in namespaces {listed(namespaces)} can share a GPU without "
                "memory or fault isolation",
                fix="set the driver's consumableShares to disabled, and use whole GPUs or MIG "
                "devices for each team",
                urn=driver.urn,
            )


RULE = Rule(
    id="devices-shared-across-tenants",
    description="Claims in several namespaces share a GPU.",
    why="Sharing doesn't isolate pods. A fault in one pod can terminate another pod, and pods "
    "might read each other's memory.",
    fix="Share GPUs only within a namespace, and use MIG devices or whole GPUs for different "
    "namespaces.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
