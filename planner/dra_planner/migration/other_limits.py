"""Limits on extended resources outside of ResourceQuotas, which don't count claims.

Sources: volcano-sh/volcano:docs/design/capacity-dra-support.md (keys of claims in queues),
kubernetes-sigs/karpenter:pkg/apis/v1/nodepool.go (limits), Kyverno's and Gatekeeper's groups,
kubernetes-sigs/kueue:pkg/controller/admissionchecks/provisioning/controller.go (podUses).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from dra_planner.documents.plain_values import all_texts, block, number, texts
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.editor import Editor, Path

_VOLCANO: Final = "scheduling.volcano.sh"
_QUEUE_LIMITS: Final[tuple[Path, ...]] = (
    ("spec", "capability"),
    ("spec", "deserved"),
    ("spec", "guarantee", "resource"),
)
_POLICY_GROUPS: Final = ("kyverno.io", "constraints.gatekeeper.sh", "templates.gatekeeper.sh")
_POLICY_KINDS: Final = (
    "ValidatingAdmissionPolicy",
    "MutatingAdmissionPolicy",
    "ValidatingPolicy",
    "MutatingPolicy",
)
_RESOURCES: Final = ("nvidia.com/gpu", "nvidia.com/mig-", "amd.com/gpu")


def migrate_volcano_queue(
    editor: Editor, prefix: Path, item: KubernetesObject, class_of: Callable[[str], str]
) -> Iterator[str]:
    """Change a Volcano queue so that it also limits the devices of claims. Yield the changes."""
    if item.group != _VOLCANO or item.kind != "Queue":
        return
    for section in _QUEUE_LIMITS:
        amounts = editor.get((*prefix, *section))
        totals: dict[str, int] = {}
        for name, amount in amounts.items() if isinstance(amounts, Mapping) else ():
            if device_class := class_of(str(name)):
                totals[device_class] = totals.get(device_class, 0) + (number(amount) or 0)
        for device_class, total in totals.items():
            key = f"deviceclass/{device_class}"
            if key not in amounts:
                editor.set((*prefix, *section, key), str(total))
                yield (
                    f"{key}: {total} in "
                    f"{section[-1] if section[-1] != 'resource' else section[1]} counts claimed "
                    "devices (set predicate.DynamicResourceAllocationEnable in Volcano's "
                    "scheduler), and the old key stays until the last pod has moved"
                )


def other_limit_notes(item: KubernetesObject, is_device: Callable[[str], bool]) -> Iterator[str]:
    """Yield notes about objects that look for extended resources in pods or nodes."""
    if item.kind == "NodePool" and item.group.startswith("karpenter."):
        limits = block(block(item.data, "spec"), "limits")
        for name in filter(is_device, map(str, limits)):
            yield (
                f"its limit for {name} doesn't count nodes where a DRA driver publishes the "
                "devices, so limit nodes or cpu instead"
            )
    if item.kind == "ProvisioningRequestConfig":
        managed = texts(block(item.data, "spec").get("managedResources"))
        for name in filter(is_device, managed):
            yield (
                f"it manages only {name}, so Kueue doesn't create a ProvisioningRequest for jobs "
                "with claims; remove managedResources, or add a resource that these jobs request"
            )
    if item.kind in _POLICY_KINDS or item.group in _POLICY_GROUPS:
        text = "\n".join(all_texts(item.data.get("spec")))
        if found := [name for name in _RESOURCES if name in text]:
            yield (
                f"it checks {found[0].rstrip('-')}, but migrated pods don't request this resource, "
                "so ResourceClaimTemplates need the same check for their requests"
            )
