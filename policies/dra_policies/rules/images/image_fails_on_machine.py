"""Node images that fail on a machine type, and images that haven't been tested yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.catalog.image_releases import image_release_fault, unseen_release
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import machine_names
from dra_policies.view.stack_view import StackView

URL: Final = "https://github.com/awslabs/amazon-eks-ami/releases"


def check(view: StackView) -> Iterator[Finding]:
    for pool in view.pools:
        release = pool.release
        if not release:
            continue
        faults = [
            fault
            for name in machine_names(pool)
            if (fault := image_release_fault(pool.cloud, name, release))
        ]
        if faults:
            yield Finding(
                message=f"{pool.title}: {faults[0].problem}", fix=faults[0].fix, urn=pool.urn
            )
        elif unseen := unseen_release(pool.cloud, release):
            yield Finding(message=f"{pool.title}: {unseen}", urn=pool.urn, remark=True)


RULE = Rule(
    id="image-fails-on-machine",
    description="The node image's driver doesn't support the machine type's GPU.",
    why="The driver doesn't load, so nodes don't publish devices.",
    fix="Use an image version that works with the machine type.",
    level="mandatory",
    is_outage=True,
    url=URL,
    needs="stack",
    check=check,
)
