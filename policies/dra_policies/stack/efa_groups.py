"""Security groups of EFA interfaces: all traffic in and out must be open to the group itself.

Source: EC2 user guide, “Get started with EFA”: an EFA requires a group that allows all traffic to
and from itself; a rule for 0.0.0.0/0 isn't enough (gardener/gardener-extension-provider-aws issue
1832).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dra_policies.stack.pools import cloud_of_pool, template_of
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import Properties
from dra_policies.view.stack_view import ClosedGroup

GROUP: Final = "aws:ec2/securityGroup:SecurityGroup"
RULES: Final = {
    "aws:ec2/securityGroupRule:SecurityGroupRule": "",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": "ingress",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": "egress",
}
_EFA: Final = frozenset({"efa", "efa-only"})


def closed_efa_groups(resources: Sequence[Resource]) -> Iterator[ClosedGroup]:
    """Yield the stack's security groups for EFA interfaces that certainly block their own traffic.

    An interface with several groups is open if one of them is open. Groups of other stacks are
    unknown.
    """
    groups = {each.urn: each for each in resources if each.type == GROUP}
    for pool in resources if groups else ():
        of_cloud = cloud_of_pool(pool)
        template = template_of(pool, resources)
        if of_cloud is None or template is None or not _has_efa(template.props):
            continue
        used = [groups[urn] for urn in _sources(template, "networkInterfaces") if urn in groups]
        for missing in ("ingress", "egress") if used else ():
            if not any(_is_open(group, missing, resources) for group in used):
                title = pool.title(of_cloud.pool.kind)
                yield ClosedGroup(
                    title=used[-1].title("security group"),
                    urn=used[-1].urn,
                    pool=title,
                    missing=missing,
                )


def _has_efa(template: Properties) -> bool:
    return any(
        each.text("interfaceType") in _EFA for each in template.items("networkInterfaces") or ()
    )


def _sources(resource: Resource, path: str) -> tuple[str, ...]:
    return tuple(
        urn
        for key, urns in resource.sources.items()
        if key == path or key.startswith((f"{path}.", f"{path}["))
        for urn in urns
    )


def _is_open(group: Resource, side: str, resources: Sequence[Resource]) -> bool:
    """Return True unless the group certainly has no rule for all traffic to itself."""
    inline = group.props.items(side)
    if inline is None or any(_is_to_itself(each) for each in inline):
        return True
    return any(
        _is_to_itself(rule.props, group, rule)
        for rule in resources
        if rule.type in RULES and (RULES[rule.type] or rule.props.text("type")) in (side, None)
    )


def _is_to_itself(
    rule: Properties, group: Resource | None = None, resource: Resource | None = None
) -> bool:
    protocol = rule.text("protocol", rule.text("ipProtocol") or "")
    if protocol not in ("-1", "all", None):
        return False
    if rule.flag("self", False) is not False:
        return True
    if group is None or resource is None:
        return bool(rule.texts("securityGroups"))
    peers = ("sourceSecurityGroupId", "referencedSecurityGroupId")
    return any(group.urn in _sources(resource, peer) for peer in peers)
