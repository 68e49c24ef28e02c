"""Identities of clusters and nodes in the stack that lack a required permission."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from dra_planner.catalog.identity_rights import NeededRight, needed_rights
from dra_planner.clouds import (
    Cloud,
    IdentityResource,
    RegistryResource,
    cloud,
    names,
)
from dra_policies.rules.prerequisites.admitted_nodes import nodes_without_entry
from dra_policies.rules.prerequisites.federated_accounts import untrusted_accounts
from dra_policies.rules.prerequisites.pod_identities import (
    accounts_of_other_addons,
    clusters_without_agent,
    misnamed_accounts,
    untrusting_roles,
)
from dra_policies.rules.prerequisites.ungranted_accounts import accounts_without_grant
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import UNKNOWN, as_list, as_mapping
from dra_policies.view.address_ranges import subnets_of_pool
from dra_policies.view.stack_view import DeclaredResource, StackView

URL: Final = "https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html"


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    if not view.complete:
        return
    yield from untrusted_accounts(view)
    yield from accounts_without_grant(view)
    for name in names():
        yield from _registries(view, cloud(name).registry)
        yield from nodes_without_entry(view, cloud(name).node_admission, cloud(name))
        of_cloud, reported = cloud(name), set[tuple[str, str]]()
        yield from misnamed_accounts(view, of_cloud.pod_identity)
        if of_cloud.pod_identity is not None:
            yield from untrusting_roles(view, of_cloud.pod_identity, of_cloud.identity)
            yield from clusters_without_agent(view, of_cloud.pod_identity, of_cloud.cluster)
            yield from accounts_of_other_addons(
                view, of_cloud.pod_identity, of_cloud.addon_accounts
            )
        identities = {
            each.urn: each for each in view.declared if each.type == of_cloud.identity.token
        }
        for need in needed_rights(name) if identities else ():
            for urn in sorted(_used_identities(view, of_cloud, need) & identities.keys()):
                for finding in _faults(view, of_cloud.identity, identities[urn], need):
                    if (urn, finding.message) not in reported:
                        reported.add((urn, finding.message))
                        yield finding


def _registries(view: StackView, kind: RegistryResource | None) -> Iterator[Finding]:
    """Yield registries in the stack from which pods pull images although no identity is allowed to
    pull from them.
    """
    if kind is None:
        return
    for registry in view.declared:
        name = registry.props.text(kind.name) if registry.type == kind.token else ""
        if not name or not _is_pulled_from(view, f"^{re.escape(name + kind.domain)}/"):
            continue
        grants = {grant.token: grant.rights for grant in kind.grants}
        given = [
            each.props.text(grants[each.type]) for each in view.declared if each.type in grants
        ]
        if None in given or any(right in (text or "") for text in given for right in kind.rights):
            continue
        yield Finding(
            message=f'pods use images from registry "{registry.name}", but this stack doesn\'t '
            "grant the permission to pull these images, so the pods don't start",
            fix=kind.fix,
            urn=registry.urn,
        )


def _is_pulled_from(view: StackView, address: str) -> bool:
    """Return True if pods without registry secrets use an image whose address matches a regular
    expression.
    """
    return any(
        re.search(address, container.text("image") or "")
        for each in view.objects
        for pod in (each.props.below("spec.template.spec"), each.props.below("spec"))
        if pod.has("imagePullSecrets") is False
        for container in pod.items("containers") or ()
    )


def _used_identities(view: StackView, of_cloud: Cloud, need: NeededRight) -> set[str]:
    """Return the identities that clusters or pools use, by URN."""
    token = of_cloud.cluster.token if need.holder == "cluster" else of_cloud.pool.token
    if need.where and all(pool.own.has(need.where) is False for pool in view.pools):
        return set()
    if need.images and not _is_pulled_from(view, need.images):
        return set()
    if need.chart and not _uses_identity_of_nodes(view, of_cloud, need):
        return set()
    return {
        urn
        for each in view.declared
        if each.type == token
        for urn in each.sources_of(need.property)
    }


def _uses_identity_of_nodes(view: StackView, of_cloud: Cloud, need: NeededRight) -> bool:
    """Return True if a chart's pods certainly don't have an identity other than their node's."""
    identity = of_cloud.pod_identity
    if identity is not None and any(each.type == identity.token for each in view.declared):
        return False
    return any(
        each.type == f"chart:{need.chart}" and each.props.has(need.account) is False
        for each in view.installed_charts
    )


def _faults(
    view: StackView, kind: IdentityResource, identity: DeclaredResource, need: NeededRight
) -> Iterator[Finding]:
    title = f'{kind.kind} "{identity.name}"'
    trust = identity.props.text(kind.trust) if kind.trust else ""
    if need.trusted and trust and "Service" in trust and not _trusts(trust, need.trusted):
        yield Finding(
            message=f"{title} doesn't trust {need.trusted}, so {need.consequence}",
            fix=f"in the role's {kind.trust}, allow the service {need.trusted} to assume the role",
            urn=identity.urn,
        )
    if need.elsewhere and _has_right_elsewhere(view, kind, identity, need):
        return
    is_granted = any(each.type in _tokens(kind) for each in view.declared)
    if need.doubt and not is_granted and not any(identity.props.has(path) for path in kind.rights):
        return  # a program without grants relies on another program for them
    has = _has_right(_rights_of(view, kind, identity), kind, need)
    if has is not True:
        lacking = need.rights[0] if need.rights else "a role"
        lacking = need.action if need.doubt and need.action else kind.names.get(lacking, lacking)
        if kind.policy[0] and not need.doubt:
            lacking = f"the policy {lacking}"
        yield Finding(
            message=f"{title} doesn't have {lacking} in this stack. Unless another stack grants it, "
            f"{need.consequence}"
            if need.doubt
            else f"{title} doesn't have {lacking}, so {need.consequence}",
            fix=need.fix,
            urn=identity.urn,
            certain=has is False and not need.doubt,
        )


def _trusts(policy: str, service: str) -> bool:
    """Return True unless a policy certainly doesn't let a service act as an identity."""
    try:
        statements: object = json.loads(policy).get("Statement", [])
    except (ValueError, AttributeError):
        return service in policy
    listed = as_list(statements) or [statements]
    return any(
        each.get("Effect") == "Allow"
        and service in json.dumps(each.get("Principal", ""))
        and re.search(r"sts:(AssumeRole\b(?!With)|\*)|\"\*\"", json.dumps(each.get("Action", "")))
        for each in map(as_mapping, listed)
        if each
    )


def _tokens(kind: IdentityResource) -> frozenset[str]:
    """Return the types of resources that grant permissions."""
    return frozenset(grant.token for grant in kind.grants)


def _has_right(rights: Iterable[Any], kind: IdentityResource, need: NeededRight) -> bool | None:
    """Return whether one of the permissions is sufficient, or None if that's unknown."""
    found: bool | None = False
    for right in rights:
        if right is UNKNOWN:
            found = None
        elif not need.rights or _is_enough(str(right), (*need.rights, *kind.everything), need):
            return True
        elif not any(each in str(right) for each in kind.of_cloud) and not str(
            right
        ).lstrip().startswith("{"):
            found = None  # a policy in the account, whose text the stack doesn't contain
    return found


def _is_enough(right: str, enough: tuple[str, ...], need: NeededRight) -> bool:
    if right.lstrip().startswith("{"):
        service = need.action.partition(":")[0]
        return any(f'"{each}"' in right for each in (need.action, f"{service}:*", "*"))
    return right.rpartition("/")[2] in enough


def _rights_of(
    view: StackView, kind: IdentityResource, identity: DeclaredResource
) -> Iterator[Any]:
    """Yield the permissions that the stack grants: names, policies as text, or UNKNOWN."""
    for path in kind.rights:
        yield from _texts(identity.props.at(path))
    policies = {each.urn: each for each in view.declared if each.type == kind.policy[0]}
    tokens = {grant.token: grant for grant in kind.grants}
    for each in view.declared:
        grant = tokens.get(each.type)
        if grant is None or not _is_for(each, grant.identity, kind, identity):
            continue
        if grant.scope and _is_elsewhere(view, each, grant.scope):
            continue
        own = [policies[urn] for urn in each.sources_of(grant.rights) if urn in policies]
        if own:
            yield from (policy.props.at(kind.policy[1]) for policy in own)
        else:
            yield from _texts(each.props.at(grant.rights))


def _is_for(
    grant: DeclaredResource, path: str, kind: IdentityResource, identity: DeclaredResource
) -> bool:
    if identity.urn in grant.sources_of(path):
        return True
    named = {each for each in _texts(grant.props.at(path)) if isinstance(each, str)}
    name = identity.props.text(kind.name) or identity.name
    return any(each == name or f":{name}@" in each for each in named)


def _is_elsewhere(view: StackView, grant: DeclaredResource, path: str) -> bool:
    """Return True if a grant certainly applies to a subnet that the stack's pools don't use."""
    subnets = {
        subnet.urn: subnet.type
        for pool in view.pools
        for subnet in subnets_of_pool(view, pool) or ()
    }
    types = {each.urn: each.type for each in view.declared}
    scopes = grant.sources_of(path)
    return bool(
        scopes
        and subnets
        and {types.get(urn) for urn in scopes} == set(subnets.values())
        and not scopes & subnets.keys()
    )


def _texts(value: Any) -> Iterator[Any]:
    """Yield the texts of a property: a single text, a list, or a list of policies."""
    for each in as_list(value) or ([] if value is None or value == [] else [value]):
        inline = as_mapping(each)
        text = each if inline is None else inline.get("policy")
        yield text if text is UNKNOWN or isinstance(text, str) else json.dumps(text)


def _has_right_elsewhere(
    view: StackView, kind: IdentityResource, identity: DeclaredResource, need: NeededRight
) -> bool:
    """Return True if the add-on has its own role, another role has the permission, or the add-on is
    replaced.
    """
    for each in view.declared:
        if each.type == kind.token and each is not identity:
            if _has_right(_rights_of(view, kind, each), kind, need):
                return True
        elif each.props.text("addonName") == need.elsewhere and (
            each.props.has("serviceAccountRoleArn") is not False
            or each.props.has("podIdentityAssociations") is not False
        ):
            return True
    addons = cloud(need.cloud).cluster.addons
    others = addons.replacements.get(need.elsewhere, ()) if addons else ()
    return any(word in chart for chart in view.charts for word in others)


RULE = Rule(
    id="identity-lacks-rights",
    description="The identity of a cluster or its nodes lacks a required permission.",
    why="Nodes don't join the cluster or never become ready, but you still pay for them.",
    fix="Attach the policy or grant the role that the finding reports.",
    level="mandatory",
    is_outage=True,
    url=URL,
    needs="stack",
    check=check,
)
