"""Objects of the API group resource.k8s.io, and objects that controllers derive from
other kinds.
"""

from __future__ import annotations

from msgspec.structs import replace

from dra_planner.manifests.manifests import GroupClaims
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.parsing.claims import (
    parse_claim,
    parse_claim_template,
    parse_device_class,
)
from dra_planner.manifests.parsing.compute_domains import channel_template
from dra_planner.manifests.parsing.slices import parse_slice
from dra_planner.manifests.parsing.taint_rules import parse_taint_rule
from dra_planner.manifests.workloads.kind_description import ObjectPart as Part
from dra_planner.model import (
    DeviceClass,
    DeviceTaintRule,
    ObjectKey,
    ObjectMeta,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)


class DeviceObjects:
    """Claims, templates, DeviceClasses, ResourceSlices, and taint rules."""

    def __init__(self) -> None:
        self.claims: dict[ObjectKey, ResourceClaim] = {}
        self.templates: dict[ObjectKey, ResourceClaimTemplate] = {}
        self.classes: dict[str, DeviceClass] = {}
        self.slices: list[ResourceSlice] = []
        self.taint_rules: list[DeviceTaintRule] = []
        self._pod_groups: list[KubernetesObject] = []

    def add_claim(self, item: KubernetesObject) -> None:
        self.claims[item.key] = parse_claim(item.data, item.place)

    def add_template(self, item: KubernetesObject) -> None:
        self.templates[item.key] = parse_claim_template(item.data, item.place)

    def add_class(self, item: KubernetesObject) -> None:
        self.classes[item.name] = parse_device_class(item.data, item.place)

    def add_slice(self, item: KubernetesObject) -> None:
        self.slices.append(parse_slice(item.data, item.place))

    def add_taint_rule(self, item: KubernetesObject, *, is_active: bool) -> None:
        """Add a rule. The scheduler ignores rules that aren't active."""
        rule = parse_taint_rule(item.data, item.place)
        if not is_active:
            rule = replace(rule, taint=replace(rule.taint, effect="None"))
        self.taint_rules.append(rule)

    def add_pod_group(self, item: KubernetesObject) -> None:
        self._pod_groups.append(item)

    def add_channels(self, item: KubernetesObject) -> bool:
        """Add the template that the NVIDIA driver's controller creates for the channels of a
        domain. Return True if the domain has a template.
        """
        template = channel_template(item)
        if template is not None:
            self.templates.setdefault(template.meta.key, template)
        return template is not None

    def share_group_claims(self) -> dict[ObjectKey, GroupClaims]:
        """Create the claim of every PodGroup entry that names a template. The pods of the group
        share this claim.
        """
        shared: dict[ObjectKey, GroupClaims] = {}
        for group in self._pod_groups:
            made: dict[tuple[str, str], str] = {}
            for _, entry in Part(group.data, group.place).at("spec.resourceClaims").members():
                name = str(entry.get("name"))
                wanted = str(entry.get("resourceClaimTemplateName", ""))
                template = self.templates.get(ObjectKey(group.namespace, wanted))
                if template is not None:
                    meta = ObjectMeta(
                        name=f"{group.name}-{name}", namespace=group.namespace, place=group.place
                    )
                    self.claims[meta.key] = ResourceClaim(meta=meta, spec=template.spec)
                    made[name, wanted] = meta.name
            shared[group.key] = made
        return shared
