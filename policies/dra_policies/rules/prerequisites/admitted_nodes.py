"""Nodes that their cluster doesn't admit, because their role doesn't have an access entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dra_planner.clouds import Cloud, NodeAdmission
from dra_policies.rules.rule import Finding
from dra_policies.view.stack_view import DeclaredResource, StackView

_NODE_CLASS: Final = ":EC2NodeClass"


def nodes_without_entry(
    view: StackView, entry: NodeAdmission | None, of_cloud: Cloud
) -> Iterator[Finding]:
    """Yield node groups and node classes whose nodes the cluster doesn't admit."""
    if entry is None:
        return
    path, value = entry.required
    clusters = [
        each
        for each in view.declared
        if each.type == of_cloud.cluster.token and each.props.text(path) == value
    ]
    if clusters:
        yield from _of_node_classes(view, entry, of_cloud)
    for cluster in clusters:
        tag = f"{entry.tag}{cluster.props.text(of_cloud.cluster.name)}"
        kinds = [each.props.text(entry.kind) for each in view.declared if each.type == entry.token]
        for group in view.declared:
            keys = [item.text("key") for item in group.props.items("tags") or ()]
            admitted = {*entry.kinds, None} & {*kinds}
            if group.type == entry.groups and tag in keys and admitted:
                yield from _of_another_role(view, entry, group)
            elif group.type == entry.groups and tag in keys:
                yield Finding(
                    message=f'the node role of Auto Scaling group "{group.name}" doesn\'t have an '
                    f'access entry in cluster "{cluster.name}", so the nodes can\'t join the '
                    "cluster",
                    fix=f"declare an AccessEntry of type {entry.kinds[0]} for the nodes' role",
                    urn=group.urn,
                )


def _of_another_role(
    view: StackView, entry: NodeAdmission, group: DeclaredResource
) -> Iterator[Finding]:
    """Yield a node group whose role differs from the roles in the stack's access entries."""
    declared = {each.urn: each for each in view.declared}
    here = [group]
    for path in entry.role:
        urns = {urn for each in here for urn in each.sources_of(path)}
        here = [declared[urn] for urn in sorted(urns) if urn in declared]
    entries = [
        each.sources_of(entry.identity)
        for each in view.declared
        if each.type == entry.token and each.props.text(entry.kind) in entry.kinds
    ]
    if len(here) == 1 and all(entries) and not any(here[0].urn in each for each in entries):
        yield Finding(
            message=f'role "{here[0].name}" of Auto Scaling group "{group.name}" doesn\'t have '
            "an access entry, so the nodes can't join the cluster",
            fix=f"declare an AccessEntry of type {entry.kinds[0]} for this role",
            urn=group.urn,
        )


def _of_node_classes(view: StackView, entry: NodeAdmission, of_cloud: Cloud) -> Iterator[Finding]:
    """Yield node classes whose role is known, and isn't the role of an entry or of a pool."""
    declared = {each.urn: each for each in view.declared}
    admitted = _admitted_roles(view, entry, of_cloud, declared)
    if admitted is None:
        return
    for each in view.objects:
        if not each.type.endswith(_NODE_CLASS):
            continue
        role = each.props.text(entry.node_class)
        urn = _role_of_stack(each, entry, of_cloud, declared)
        named = {role, urn} - {None, ""}
        # a role without a name in the program has an unknown name, but a known URN
        known = admitted - {None} if role is None else admitted
        if named and None not in known and not named & known:
            title = f'role "{role or declared[urn].name}"'
            yield Finding(
                message=f'{title} of EC2NodeClass "{each.name}" doesn\'t have an access entry, '
                "which the cluster requires, so Karpenter's nodes can't join the cluster",
                fix=f"declare an AccessEntry of type {entry.kinds[0]} for {title}",
                urn=each.urn,
            )


def _admitted_roles(
    view: StackView,
    entry: NodeAdmission,
    of_cloud: Cloud,
    declared: Mapping[str, DeclaredResource],
) -> set[str | None] | None:
    """Return the names and URNs of the roles of entries and pools, with None for an unknown name.
    None if a role isn't known.
    """
    admitted = set[str | None]()
    for each in view.declared:
        paths = {entry.token: entry.identity, of_cloud.pool.token: entry.pool_role}
        path = paths.get(each.type)
        if path is None or not _admits(each, entry):
            continue
        # a component can also be a source, but doesn't have a name of its own
        roles = [declared[urn] for urn in each.sources_of(path) if urn in declared]
        admitted |= {name for role in roles for name in (role.urn, role.props.text("name"))}
        text = each.props.text(path)
        if not roles and text is None:
            return None
        if not roles and text:
            admitted.add(text.rpartition("/")[2])
    return admitted


def _admits(resource: DeclaredResource, entry: NodeAdmission) -> bool:
    """Return False if a resource is certainly an entry for another purpose than nodes."""
    kind = resource.props.text(entry.kind, "STANDARD") if resource.type == entry.token else None
    return kind is None or kind in entry.kinds


def _role_of_stack(
    node_class: DeclaredResource,
    entry: NodeAdmission,
    of_cloud: Cloud,
    declared: Mapping[str, DeclaredResource],
) -> str:
    """Return the URN of the only role that a node class uses, or "" if it isn't known."""
    roles = [
        urn
        for urn in node_class.sources_of(entry.node_class)
        if urn in declared and declared[urn].type == of_cloud.identity.token
    ]
    return roles[0] if len(roles) == 1 else ""
