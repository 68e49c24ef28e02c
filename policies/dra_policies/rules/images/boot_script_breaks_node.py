"""Boot scripts that depend on a systemd unit that the node's image doesn't have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.catalog.image_units import ImageUnit, image_units
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

URL: Final = "https://github.com/awslabs/amazon-eks-ami/releases"


def check(view: StackView) -> Iterator[Finding]:
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
    says="A boot script depends on a systemd unit that the node image doesn't have.",
    why="The script fails, or kubelet waits for a unit that never starts: nodes are billed and "
    "don't join.",
    fix="Order the script after whichever unit exists, and don't require it.",
    level="mandatory",
    is_outage=True,
    url=URL,
    needs="stack",
    check=check,
)
