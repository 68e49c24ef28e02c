"""Security groups of EFA interfaces, which must allow all traffic to and from themselves.

Source: EC2 user guide, “Get started with EFA”: an EFA requires a group that allows all traffic to
and from itself; a rule for 0.0.0.0/0 isn't enough (gardener/gardener-extension-provider-aws issue
1832).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dra_policies.stack.pools import cloud_of_pool, template_of
from dra_policies.stack.resource import Resource
from dra_policies.stack.scaling_groups import SCALING_GROUP, template_of_group
from dra_policies.unknown_values import Properties
from dra_policies.view.stack_view import ClosedGroup

GROUP: Final = "aws:ec2/securityGroup:SecurityGroup"
RULES: Final = {
    "aws:ec2/securityGroupRule:SecurityGroupRule": "",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": "ingress",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": "egress",
}
_EFA: Final = frozenset({"efa", "efa-only"})
_NODE_CLASS: Final = ":EC2NodeClass"
_INTERFACES: Final = "spec.networkInterfaces"
_GROUP_TERMS: Final = "spec.securityGroupSelectorTerms"


def closed_efa_groups(resources: Sequence[Resource]) -> Iterator[ClosedGroup]:
    """Yield the stack's security groups for EFA interfaces that certainly block their own traffic.

    An interface with several groups is open if one of them is open. Groups of other stacks are
    unknown.
    """
    groups = [each for each in resources if each.type == GROUP]
    for user, used in _users(resources, groups) if groups else ():
        for missing in ("ingress", "egress") if used else ():
            if not any(_is_open(group, missing, resources) for group in used):
                yield ClosedGroup(
                    title=used[-1].title("security group"),
                    urn=used[-1].urn,
                    pool=user,
                    missing=missing,
                )


def _users(
    resources: Sequence[Resource], groups: Sequence[Resource]
) -> Iterator[tuple[str, list[Resource]]]:
    """Yield the resources that start nodes with EFA interfaces, and the security groups of the
    interfaces.
    """
    for each in resources:
        template = template_of(each, resources) or template_of_group(each, resources)
        if template is not None and _has_efa(template.props.items("networkInterfaces")):
            urns = _sources(template, "networkInterfaces")
            of_cloud = cloud_of_pool(each)
            kind = of_cloud.pool.kind if of_cloud else SCALING_GROUP
            yield each.title(kind), [group for group in groups if group.urn in urns]
        elif each.type.endswith(_NODE_CLASS) and _has_efa(each.props.items(_INTERFACES)):
            yield each.title(_NODE_CLASS.strip(":")), list(_selected(each, groups))


def _has_efa(interfaces: Sequence[Properties] | None) -> bool:
    return any(each.text("interfaceType") in _EFA for each in interfaces or ())


def _selected(node_class: Resource, groups: Sequence[Resource]) -> Iterator[Resource]:
    """Yield the groups that a node class of Karpenter selects. If a term isn't known, only the
    groups that its ID comes from.

    Source: aws/karpenter-provider-aws:website/content/en/docs/concepts/nodeclasses.md@1d927085
    (terms are alternatives, conditions of a term must all hold, and "*" is any value).
    """
    terms = node_class.props.items(_GROUP_TERMS) or ()
    urns = (
        _sources(node_class, "spec") if any(term.has("id") is not False for term in terms) else ()
    )
    for group in groups:
        if group.urn in urns or any(_matches(term, group.props) for term in terms):
            yield group


def _matches(term: Properties, group: Properties) -> bool:
    wanted, tags = term.mapping("tags"), group.mapping("tags") or {}
    name = term.text("name")
    if name:
        return group.text("name") == name
    return bool(wanted) and all(
        key in tags and value in ("*", tags[key]) for key, value in (wanted or {}).items()
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
