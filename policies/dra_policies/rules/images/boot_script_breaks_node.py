"""Boot scripts that depend on a unit, a program, or a kernel argument that the node's image doesn't
support.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.catalog.image_parts import ImagePart, image_parts
from dra_planner.clouds import cloud
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import minor_of_pool
from dra_policies.view.stack_view import DeclaredPool, StackView

# words of EKS's node agent, and of Bottlerocket, which doesn't run scripts
_JOINS: Final = ("nodeadm", "settings.kubernetes")
URL: Final = "https://kubernetes.io/docs/reference/node/"


def check(view: StackView) -> Iterator[Finding]:
    reported: set[tuple[str, str]] = set()
    for pool in view.pools:
        yield from _no_script(pool)
        urn = pool.template_urn or pool.urn
        parts = [
            part for part in image_parts(pool.cloud) if part.kind not in ("pool setting", "image")
        ]
        for part in parts if pool.boot_script else ():
            is_custom = _has_custom_image(pool) and part.kind != "unit"
            if (
                (urn, part.part) not in reported
                and (is_custom or (pool.image or "").startswith(part.images))
                and part.is_gone(pool.release or "", minor_of_pool(view, pool))
                and _needs(pool.boot_script or "", part)
            ):
                reported.add((urn, part.part))
                yield _finding(pool, part, is_custom=is_custom)


def _no_script(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield a custom image to which the cloud doesn't add a boot script, if the pool has no boot
    script, or one that doesn't name the cluster.
    """
    kind, template = cloud(pool.cloud).pool.template, pool.template
    if kind is None or not kind.boot_script or template is None:
        return
    is_custom = _has_custom_image(pool)
    marker, *keys = kind.node_config or ("",)
    missing = [key for key in keys if key not in (pool.boot_script or "")]
    if is_custom and missing and marker in (pool.boot_script or ""):
        yield Finding(
            message=f"{pool.title} uses a custom image, but the NodeConfig in its launch "
            f"template doesn't set the cluster's {' and '.join(missing)}, so its "
            "nodes can't join the cluster",
            fix=f"set {' and '.join(missing)} under spec.cluster in the NodeConfig",
            urn=pool.template_urn or pool.urn,
        )
    is_set = template.has(kind.boot_script) is not False
    script = pool.boot_script
    joins = script is None or any(word in script for word in (*kind.joins, *_JOINS))
    if is_custom and not (is_set and joins):
        lacks = (
            f"the {kind.boot_script} of its launch template doesn't contain a script that joins the "
            "cluster"
            if is_set
            else f"its launch template doesn't set {kind.boot_script}"
        )
        yield Finding(
            message=f"{pool.title} uses a custom image, and {lacks}, so its nodes join "
            "the cluster only if the image includes its own join script",
            fix=f"set the launch template's {kind.boot_script} to a script that joins the cluster",
            urn=pool.template_urn or pool.urn,
            certain=False,
        )


def _has_custom_image(pool: DeclaredPool) -> bool:
    """Return whether a pool or its template sets an image that isn't one of the cloud's types."""
    kind, template = cloud(pool.cloud).pool.template, pool.template
    if kind is None or not kind.custom_image or pool.image not in ("", kind.custom_image):
        return False
    return template is not None and template.has(kind.image) is not False


def _finding(pool: DeclaredPool, part: ImagePart, *, is_custom: bool) -> Finding:
    since = f" ({part.gone_since} and later)" if part.gone_since else ""
    if part.kind == "kubelet setting":
        problem = f"sets {part.part}, so"
    elif part.kind == "kernel argument":
        problem = f"sets {part.part}, but as of Kubernetes {part.gone_since},"
    elif is_custom:
        problem = (
            f"runs {part.part}, which {part.images} images don't include. If the custom image is "
            f"based on {part.images},"
        )
    else:
        problem = f"depends on {part.part}, which {part.images} images{since} don't include, so"
    return Finding(
        message=f"the boot script of {pool.title} {problem} {part.consequence}",
        fix=part.fix,
        urn=pool.template_urn or pool.urn,
        certain=not is_custom or part.kind in ("kernel argument", "kubelet setting"),
    )


def _needs(script: str, part: ImagePart) -> bool:
    """Return True if a script fails without the part: it requires or starts the part, and doesn't
    handle the failure.
    """
    if part.kind == "kubelet setting":
        return part.part in re.sub(r"[\"']", "", script).replace("=", ": ")
    if part.kind != "unit":
        return part.part in script and "failCgroupV1: false" not in script
    name = re.escape(part.part.removesuffix(".service")) + r"(\.service)?\b"
    for line in script.splitlines():
        required = re.search(rf"^\s*(Requires|Requisite|BindsTo)=.*\b{name}", line)
        started = re.search(rf"\bsystemctl\s.*\b(start|restart|enable|reload)\b.*\b{name}", line)
        if required or (started and "||" not in line):
            return True
    return False


RULE = Rule(
    id="boot-script-breaks-node",
    description="A boot script uses a program, unit, or setting that the node image doesn't support.",
    why=(
        "The script fails or the kubelet doesn't start, so you pay for nodes that never join the "
        "cluster."
    ),
    fix="Use only programs, units, and settings that every node image supports.",
    level="mandatory",
    is_outage=True,
    url=URL,
    needs="stack",
    check=check,
)
