"""Boot scripts that depend on a unit or a program that the node's image doesn't have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.catalog.image_units import ImageUnit, image_units
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

OLD: Final = "/etc/eks/bootstrap.sh"
URL: Final = "https://github.com/awslabs/amazon-eks-ami/releases"


def check(view: StackView) -> Iterator[Finding]:
    yield from _old_bootstraps(view)
    told: set[str] = set()
    for pool in view.pools:
        for unit in (
            image_units(pool.cloud) if pool.boot_script and pool.template_urn not in told else ()
        ):
            if (
                pool.image != "CUSTOM"
                and unit.is_gone(pool.release or "")
                and _needs(pool.boot_script or "", unit)
            ):
                told.add(pool.template_urn)
                yield Finding(
                    message=f"the boot script of {pool.title} depends on {unit.unit}, which images "
                    "since "
                    f"{unit.gone_since} don't have, so {unit.says}",
                    fix=unit.fix,
                    urn=pool.template_urn or pool.urn,
                )


def _old_bootstraps(view: StackView) -> Iterator[Finding]:
    """Yield scripts that start kubelet as Amazon Linux 2 did
    (awslabs/amazon-eks-ami:doc/usage/al2.md@81fec2e8; AL2023 has nodeadm instead).
    """
    told: set[str] = set()
    for pool in view.pools:
        is_al2023 = (pool.image or "").startswith("AL2023")
        if is_al2023 and OLD in (pool.boot_script or "") and pool.template_urn not in told:
            told.add(pool.template_urn)
            yield Finding(
                message=f"the boot script of {pool.title} runs {OLD}, which images of Amazon Linux "
                "2023 don't have, so the script fails and its nodes may not join",
                fix="remove the call of bootstrap.sh, and set kubelet's options in a NodeConfig",
                urn=pool.template_urn or pool.urn,
            )


def _needs(script: str, unit: ImageUnit) -> bool:
    """Return True if a script fails without the unit: it requires or starts it, and nothing catches
    the failure.
    """
    name = re.escape(unit.unit.removesuffix(".service")) + r"(\.service)?\b"
    for line in script.splitlines():
        required = re.search(rf"^\s*(Requires|Requisite|BindsTo)=.*\b{name}", line)
        started = re.search(rf"\bsystemctl\s.*\b(start|restart|enable|reload)\b.*\b{name}", line)
        if required or (started and "||" not in line):
            return True
    return False


RULE = Rule(
    id="boot-script-breaks-node",
    says="A boot script depends on a unit or a program that the node image doesn't have.",
    why="The script fails, or kubelet waits for a unit that never starts: nodes are billed and "
    "don't join.",
    fix="Order the script after whichever unit exists, and don't require it.",
    level="mandatory",
    is_outage=True,
    url=URL,
    needs="stack",
    check=check,
)
