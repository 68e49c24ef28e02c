"""Pod identities that pods can't use: no chart in the namespace has their service account, or their
role doesn't trust the service that gives identities to pods.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from dra_planner.clouds import AddonAccount, ClusterResource, IdentityResource, PodIdentity
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import UNKNOWN
from dra_policies.view.stack_view import StackView

_ACCOUNT = "kubernetes:core/v1:ServiceAccount"
_ADDON = ":Addon"
_ALIKE = 0.6
"""A service account whose name is less similar than this belongs to another program, for example to
an add-on.
"""


def misnamed_accounts(view: StackView, kind: PodIdentity | None) -> Iterator[Finding]:
    """Yield identities whose service account doesn't exist, in a namespace with a chart that
    doesn't get an identity.

    If a chart's service account has annotations, the chart might get its identity in another way.
    """
    if kind is None:
        return
    releases = {each.urn: each for each in view.objects}
    given = [
        (each, each.props.text(kind.namespace), each.props.text(kind.account))
        for each in view.declared
        if each.type == kind.token
    ]
    existing = {
        (each.props.text("metadata.namespace", "default"), each.props.text("metadata.name"))
        for each in view.objects
        if each.type == _ACCOUNT
    }
    used = dict[tuple[str, str], str]()
    for chart in view.installed_charts:
        name = chart.props.text("serviceAccount.name")
        release = releases.get(chart.urn)
        namespace = release.props.text("namespace") if release is not None else None
        if name and namespace and chart.props.has("serviceAccount.annotations") is False:
            used[namespace, name] = chart.name
    names = {(namespace, account) for _, namespace, account in given}
    for each, namespace, account in given:
        if namespace is None or account is None or (namespace, account) in {*existing, *used}:
            continue
        without = [
            wanted for there, wanted in used if there == namespace and (there, wanted) not in names
        ]
        for wanted in get_close_matches(account, without, n=1, cutoff=_ALIKE):
            yield Finding(
                message=f'Pod Identity association "{each.name}" applies to service account "{account}", '
                f'but chart "{used[namespace, wanted]}" uses "{wanted}", so the chart\'s '
                "pods don't get the identity's permissions",
                fix=f'set {kind.account} to "{wanted}"',
                urn=each.urn,
            )


def untrusting_roles(
    view: StackView, kind: PodIdentity, identity: IdentityResource
) -> Iterator[Finding]:
    """Yield pod identities with a role of the stack whose trust policy doesn't name the service
    that gives identities to pods, or doesn't allow it to tag the session.
    """
    if not kind.trusted:
        return
    roles = {each.urn: each for each in view.declared if each.type == identity.token}
    for each in view.declared:
        named = each.sources_of(kind.identity) & roles.keys() if each.type == kind.token else ()
        for role in (roles[urn] for urn in named):
            policy = role.props.text(identity.trust)
            title = f'{identity.kind} "{role.name}" of Pod Identity association "{each.name}"'
            if policy and kind.trusted not in policy:
                yield Finding(
                    message=f"{title} doesn't trust {kind.trusted}, so EKS rejects the association",
                    fix=f"in the role's {identity.trust}, allow the service {kind.trusted} to "
                    "assume the role and tag the session",
                    urn=role.urn,
                )
            elif policy and not re.search(rf"{kind.session}|sts:\*|\"\*\"", policy):
                yield Finding(
                    message=f"{title} doesn't allow {kind.trusted} to perform {kind.session}, so "
                    "EKS rejects the association",
                    fix=f"in the role's {identity.trust}, add the action {kind.session}",
                    urn=role.urn,
                )


def clusters_without_agent(
    view: StackView, kind: PodIdentity, cluster: ClusterResource
) -> Iterator[Finding]:
    """Yield clusters whose add-ons the stack declares, but not the agent that pod identities need.

    Without add-ons in the stack, another program may install all of them.
    """
    used = [each for each in view.declared if each.type == kind.token]
    clusters = [each for each in view.declared if each.type == cluster.token]
    path, value = kind.built_in
    has_agent = any(
        kind.agent in (each.props.text("addonName") or "", each.props.text("chart") or "")
        for each in (*view.declared, *view.objects)
    ) or any(kind.agent in chart for chart in view.charts)
    has_addons = any(each.type.endswith(_ADDON) for each in view.declared)
    if not used or has_agent or not has_addons:
        return
    for each in clusters:
        if each.props.at(path) != value and each.props.at(path) is not UNKNOWN:
            yield Finding(
                message=f'Pod Identity association "{used[0].name}" needs the add-on {kind.agent}, which this '
                f'stack doesn\'t install in cluster "{each.name}"',
                fix=f"declare the add-on {kind.agent}",
                urn=used[0].urn,
                certain=False,
            )


def accounts_of_other_addons(
    view: StackView, kind: PodIdentity, known: tuple[AddonAccount, ...]
) -> Iterator[Finding]:
    """Yield add-ons that give an identity to a service account that the add-on doesn't have."""
    for addon in view.declared if kind.addon else ():
        accounts = [
            each.name for each in known if each.addon == (addon.props.text("addonName") or "")
        ]
        for item in (addon.props.items(kind.addon) or ()) if accounts else ():
            name = item.text("serviceAccount")
            if name and name not in accounts:
                yield Finding(
                    message=f'add-on "{addon.name}" gives its role to service account "{name}", but the '
                    f"add-on's pods use \"{accounts[0]}\", so they don't get the role's permissions",
                    fix=f'set serviceAccount to "{accounts[0]}"',
                    urn=addon.urn,
                )
