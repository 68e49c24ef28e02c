"""Pool settings with which the kubelet of the pool's Kubernetes version doesn't start."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.catalog.image_parts import image_parts
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import minor_of_pool
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    for pool in view.pools:
        for part in image_parts(pool.cloud):
            path, _, value = part.part.partition("=")
            if (
                part.kind == "pool setting"
                and pool.own.text(path) == value
                and part.is_gone("", minor_of_pool(view, pool))
            ):
                yield Finding(
                    message=f"{pool.title} sets {path} to {value}, but as of Kubernetes "
                    f"{part.gone_since}, {part.consequence}",
                    fix=part.fix,
                    urn=pool.urn,
                )


RULE = Rule(
    id="pool-setting-breaks-kubelet",
    description="One of the pool's settings prevents the kubelet or pods from starting.",
    why="Nodes never become ready, but you still pay for them.",
    fix="Remove the setting.",
    level="mandatory",
    is_outage=True,
    url="https://kubernetes.io/docs/concepts/architecture/cgroups/",
    needs="stack",
    check=check,
)
