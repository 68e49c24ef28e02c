"""Access entries that the cloud already creates, and permissions without an access entry."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud, names
from dra_policies.rules.rule import Finding
from dra_policies.view.stack_view import StackView


def entries_that_exist(view: StackView) -> Iterator[Finding]:
    """Yield entries for roles of the cloud's own pools.

    Amazon EKS user guide, "Create access entries"; terraform-aws-modules/terraform-aws-eks issue
    2968: a second entry is a conflict.
    """
    for of_cloud in map(cloud, names()):
        entry = of_cloud.node_admission
        if entry is None:
            continue
        pools = [each for each in view.declared if each.type == of_cloud.pool.token]
        roles = {urn: pool for pool in pools for urn in pool.sources_of(entry.pool_role)}
        named = {text: pool for pool in pools if (text := pool.props.text(entry.pool_role))}
        for each in view.declared:
            if each.type != entry.token:
                continue
            found = [roles[urn] for urn in each.sources_of(entry.identity) & roles.keys()]
            text = each.props.text(entry.identity)
            found += [named[text]] if text in named else []
            if found:
                yield Finding(
                    message=f'access entry "{each.name}" is for the role of node group '
                    f'"{found[0].name}", but {of_cloud.title} already creates an entry for '
                    "this role, so the two entries conflict",
                    fix="remove the access entry",
                    urn=each.urn,
                )


def associations_without_entry(view: StackView) -> Iterator[Finding]:
    """Yield permissions for roles of the stack that don't have an access entry.

    EKS API reference, AssociateAccessPolicy: the access entry must exist.
    """
    for of_cloud in map(cloud, names()):
        entry = of_cloud.node_admission
        if entry is None or not view.complete:
            continue
        declared = {each.urn: each for each in view.declared}
        entries = [each for each in view.declared if each.type == entry.token]
        known = {each.props.text(entry.identity) for each in entries}
        for each in view.declared:
            roles = [
                urn
                for urn in each.sources_of(entry.identity)
                if urn in declared and declared[urn].type == of_cloud.identity.token
            ]
            if each.type != entry.association or len(roles) != 1:
                continue
            has_entry = any(roles[0] in other.sources_of(entry.identity) for other in entries)
            text = each.props.text(entry.identity)
            may_be_known = (text is not None and text in known) or any(
                other.props.text(entry.identity) is None and not other.sources_of(entry.identity)
                for other in entries
            )
            if not has_entry and not may_be_known:
                yield Finding(
                    message=f'access policy association "{each.name}" is for role '
                    f'"{declared[roles[0]].name}", which doesn\'t have an access entry, so '
                    f"{of_cloud.title} rejects the association",
                    fix="declare an AccessEntry for this role",
                    urn=each.urn,
                )
