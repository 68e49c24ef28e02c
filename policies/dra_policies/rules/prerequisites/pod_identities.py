"""Pod identities that pods can't use: no chart in the namespace has their service account, or their
role doesn't trust the service that gives identities to pods.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from dra_planner.clouds import IdentityResource, PodIdentity
from dra_policies.rules.rule import Finding
from dra_policies.view.stack_view import StackView

_ACCOUNT = "kubernetes:core/v1:ServiceAccount"
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
                message=f'pod identity "{each.name}" applies to service account {account}, '
                f'but chart "{used[namespace, wanted]}" uses {wanted}, so the chart\'s '
                "pods don't get the identity's permissions",
                fix=f"set {kind.account} to {wanted}",
                urn=each.urn,
            )


def untrusting_roles(
    view: StackView, kind: PodIdentity, identity: IdentityResource
) -> Iterator[Finding]:
    """Yield pod identities with a role of the stack whose trust policy doesn't name the service
    that gives identities to pods.
    """
    if not kind.trusted:
        return
    roles = {each.urn: each for each in view.declared if each.type == identity.token}
    for each in view.declared:
        named = each.sources_of(kind.identity) & roles.keys() if each.type == kind.token else ()
        for role in (roles[urn] for urn in named):
            policy = role.props.text(identity.trust)
            if policy and kind.trusted not in policy:
                yield Finding(
                    message=f'{identity.kind} "{role.name}" of pod identity "{each.name}" doesn\'t '
                    f"trust {kind.trusted}, so the cloud rejects the pod identity",
                    fix=f"in the role's {identity.trust}, allow the service {kind.trusted} to "
                    "assume the role and to tag the session",
                    urn=role.urn,
                )
