"""The NVIDIA driver installed by the cloud on DRA nodes."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_policies.rules.drivers.driver_root_wrong import OPERATOR_ROOT
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    for pool in view.pools if view.has_gpu_operator else ():
        of_cloud = cloud(pool.cloud)
        for path, value in of_cloud.driver_left_out if pool.is_dra and pool.has_gpus else ():
            if pool.own.text(path) not in (value, None):
                yield Finding(
                    message=f"both {of_cloud.title} and the GPU Operator install an NVIDIA driver on "
                    f"the nodes in {pool.title}",
                    fix="set driver.enabled to false in the GPU Operator's values. To keep the "
                    f"operator's driver instead, create the pool with {path} set to {value}, and set the "
                    f"DRA driver's nvidiaDriverRoot to {OPERATOR_ROOT}",
                    urn=pool.urn,
                )


RULE = Rule(
    id="managed-driver-on-dra-node",
    description="Both the cloud and the GPU Operator install an NVIDIA driver on a DRA pool.",
    why="Two driver installations on one node conflict. The cloud installs its driver by "
    "default, and some clouds support DRA only without the cloud's driver.",
    fix="Disable the cloud's driver installation for the pool, or disable the GPU Operator's "
    "driver.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
