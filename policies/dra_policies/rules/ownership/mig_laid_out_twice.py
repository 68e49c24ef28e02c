"""A GPU Operator's MIG manager on nodes whose MIG configuration is created at boot."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import DeclaredPool, StackView

OPT_OUTS = ("nvidia.com/gpu.deploy.mig-manager", "nvidia.com/gpu.deploy.operands")
"""Node labels that keep the operator's MIG manager away
(NVIDIA/gpu-operator:controllers/state_manager.go).
"""


def check(view: StackView) -> Iterator[Finding]:
    if view.record is None or view.record.plan_file is None:
        return
    layouts = {
        pool.name: pool.mig for pool in view.record.plan_file.fleet.pools if pool.mig != "none"
    }
    for manager in view.mig_managers:
        for pool in view.pools:
            layout = layouts.get(pool.name or "")
            kept_off = _is_kept_off(pool)
            if layout is None or kept_off is True:
                continue
            yield Finding(
                message=f"{manager.title} runs NVIDIA's MIG manager, which removes the MIG "
                f"configuration {layout} of {pool.title}, because the nodes don't "
                f"have the label {OPT_OUTS[0]}=false",
                fix=f'add the label {OPT_OUTS[0]}="false" to the nodes, or set migManager.enabled to '
                "false",
                urn=manager.urn,
                certain=manager.certain and kept_off is False,
            )


def _is_kept_off(pool: DeclaredPool) -> bool | None:
    """Return whether the labels of a pool keep the MIG manager off its nodes, or None if they
    aren't known.
    """
    if pool.labels is None:
        return None
    values = [pool.labels.get(label, "") for label in OPT_OUTS]
    return True if "false" in values else None if None in values else False


RULE = Rule(
    id="mig-laid-out-twice",
    description="Both the boot script and the GPU Operator configure MIG.",
    why="Unless a node has the label nvidia.com/gpu.deploy.mig-manager=false, the operator's "
    "MIG manager removes the node's MIG devices, even while pods use them.",
    fix="Add the label nvidia.com/gpu.deploy.mig-manager=false to the pool's nodes, or disable the "
    "MIG manager.",
    level="mandatory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
