"""Service accounts that can't act as an identity of the cloud, because its trust policy or its
credential doesn't accept their tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from msgspec import Struct

from dra_planner.clouds import AddonAccount, Cloud, FederatedAccounts, cloud, names
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import UNKNOWN, as_list, as_mapping
from dra_policies.view.stack_view import DeclaredResource, StackView

_ACCOUNTS: Final = ("kubernetes:core/v1:ServiceAccount", "kubernetes:v1:ServiceAccount")
_TEMPLATES: Final = ("", "spec.template.", "spec.jobTemplate.spec.template.")
_ADDON: Final = ":Addon"
_WILD: Final = re.compile(r"[*?]")
_OPERATORS: Final = ("StringEquals", "StringLike")
_SUBJECT: Final = re.compile(r"system:serviceaccount:[^:]+:[^:]+")


class _Account(Struct, frozen=True):
    """A service account that uses an identity, with a title for messages."""

    title: str
    namespace: str
    name: str


def untrusted_accounts(view: StackView) -> Iterator[Finding]:
    """Yield the faults of every cloud's identities that service accounts use."""
    for name in names():
        kind = cloud(name).federated_accounts
        if kind is None:
            continue
        grants = [each for each in view.declared if each.type == kind.token]
        for grant in grants:
            yield from _of_policy(grant, kind)
            yield from _of_credential(view, grant, kind, cloud(name))
            yield from _without_pool(view, grant, kind, cloud(name))
        yield from _without_label(view, kind)
        yield from _unmatched(view, grants, kind, cloud(name).addon_accounts)


def _of_policy(grant: DeclaredResource, kind: FederatedAccounts) -> Iterator[Finding]:
    """Yield conditions of a policy that no token of the cluster's issuer meets."""
    text = grant.props.text(kind.subject) if kind.role else ""
    for statement in _statements(text or ""):
        principal = as_mapping(statement.get("Principal")) or {}
        provider = str(principal.get("Federated", "")).partition("oidc-provider/")[2]
        if not provider.startswith(kind.provider):
            continue
        for problem, fix in _faults(kind, statement, provider):
            yield Finding(
                message=f"{kind.kind} \"{grant.name}\" {problem}, so pods don't get the role's "
                "permissions",
                fix=fix,
                urn=grant.urn,
            )


def _faults(
    kind: FederatedAccounts, statement: Mapping[str, Any], provider: str
) -> Iterator[tuple[str, str]]:
    """Yield the faults of a statement's conditions, and their fixes."""
    for operator, key, value in _conditions(statement):
        host, _, claim = key.rpartition(":")
        if host != provider:
            yield (
                f"has the condition key {key}, but condition keys for the role's provider start with "
                f"{provider}",
                f"change every condition key so that it starts with {provider}:",
            )
            return
        if fault := _fault(kind, operator, claim, value):
            yield fault


def _fault(
    kind: FederatedAccounts, operator: str, claim: str, value: str
) -> tuple[str, str] | None:
    """Return the fault of one value in a condition, and its fix."""
    if claim == "aud" and value != kind.audience and not _WILD.search(value):
        return (
            f'accepts only the audience "{value}", but the tokens of pods have the audience '
            f"{kind.audience}",
            f'set the value of the :aud condition to "{kind.audience}"',
        )
    if claim == "sub" and operator == "StringEquals" and _WILD.search(value):
        return (
            f'compares the subject with "{value}", but StringEquals doesn\'t support wildcards',
            "use StringLike instead of StringEquals for the :sub condition",
        )
    if claim == "sub" and not _WILD.search(value) and not _SUBJECT.fullmatch(value):
        return (
            f'accepts only the subject "{value}", which isn\'t a service account',
            "set the value of the :sub condition to system:serviceaccount:NAMESPACE:NAME",
        )
    return None


def _statements(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the statements of a policy that allow something."""
    try:
        policy = as_mapping(json.loads(text)) or {}
    except ValueError:
        return
    listed = policy.get("Statement", [])
    for each in map(as_mapping, as_list(listed) or [listed]):
        if each and each.get("Effect") == "Allow":
            yield each


def _conditions(statement: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield operator, key, and value of each condition on texts."""
    for operator, keys in (as_mapping(statement.get("Condition")) or {}).items():
        for key, value in (as_mapping(keys) or {}).items() if operator in _OPERATORS else ():
            for each in as_list(value) or [value]:
                if isinstance(each, str):
                    yield operator, key, each


def _of_credential(
    view: StackView, grant: DeclaredResource, kind: FederatedAccounts, of_cloud: Cloud
) -> Iterator[Finding]:
    """Yield a credential for a cluster's issuer with a subject or an audience that no token has."""
    if not kind.issuer:
        return
    clusters = {each.urn for each in view.declared if each.type == of_cloud.cluster.token}
    issuer = grant.props.text(kind.issuer)
    if not (grant.sources_of(kind.issuer) & clusters or kind.provider in (issuer or "")):
        return
    title = f'{kind.kind} "{grant.name}"'
    subject = grant.props.text(kind.subject)
    if subject and not re.search(kind.pattern, subject):
        yield Finding(
            message=f'{title} accepts only the subject "{subject}", which isn\'t a service '
            "account, so pods can't sign in",
            fix=f'set {kind.subject} to "system:serviceaccount:NAMESPACE:NAME"',
            urn=grant.urn,
        )
    listed = grant.props.texts(kind.audiences) or ()
    if listed and not any(each is None or each.startswith(kind.audience) for each in listed):
        yield Finding(
            message=f'{title} accepts only the audience "{listed[0]}", but the tokens of pods have '
            f"the audience {kind.audience}, so pods can't sign in",
            fix=f'set {kind.audiences} to ["{kind.audience}"]',
            urn=grant.urn,
        )


def _without_pool(
    view: StackView, grant: DeclaredResource, kind: FederatedAccounts, of_cloud: Cloud
) -> Iterator[Finding]:
    """Yield a grant for an identity pool that no cluster of the stack enables."""
    path, end = kind.pool
    text = grant.props.text(kind.subject) or ""
    clusters = [each for each in view.declared if each.type == of_cloud.cluster.token]
    lacking = [each for each in clusters if each.props.is_given(path) is False]
    automatic = [each for each in clusters if each.props.flag("enableAutopilot", default=False)]
    if not path or not re.search(kind.pattern, text) or automatic or lacking != clusters:
        return
    for cluster in clusters[:1]:
        pool = text.partition(":")[2].partition("[")[0]
        yield Finding(
            message=f'{kind.kind} "{grant.name}" refers to identity pool {pool}, which isn\'t '
            f'enabled on cluster "{cluster.name}". Unless the identity pool is enabled on another '
            f"cluster in the project, {of_cloud.title} rejects the member",
            fix=f'set the cluster\'s {path}.workloadPool to "{pool.partition(".")[0]}{end}"',
            urn=grant.urn,
            certain=False,
        )


def _without_label(view: StackView, kind: FederatedAccounts) -> Iterator[Finding]:
    """Yield workloads whose pods lack the label that they need to get a token."""
    annotated = _annotated(view, kind) if kind.pod_label else ()
    accounts = {(account.namespace, account.name) for account, _ in annotated}
    label = kind.pod_label.replace(".", "%2E")
    for each in view.objects if accounts else ():
        namespace = each.props.text("metadata.namespace", "default") or ""
        for path in _TEMPLATES:
            spec = each.props.below(f"{path}spec")
            name = spec.text("serviceAccountName")
            is_pod = spec.has("containers") is True
            labels = each.props.below(f"{path}metadata.labels")
            if (
                is_pod
                and name
                and (namespace, name) in accounts
                and labels.values is not UNKNOWN
                and labels.has(label) is False
            ):
                owner = each.props.text("metadata.name") or each.name
                yield Finding(
                    message=f"the pods of {each.type.rpartition(':')[2]} {namespace}/{owner} use "
                    f"service account {namespace}/{name}, but don't have the label {kind.pod_label}, so "
                    "they don't get a token for the service account's identity",
                    fix=f'set the pods\' label {kind.pod_label} to "true"',
                    urn=each.urn,
                )


def _unmatched(
    view: StackView,
    grants: list[DeclaredResource],
    kind: FederatedAccounts,
    known: tuple[AddonAccount, ...],
) -> Iterator[Finding]:
    """Yield service accounts whose identity allows only other service accounts."""
    for account, identity in (*_annotated(view, kind), *_of_addons(view, kind, known)):
        for grant in grants:
            allowed = _allowed(grant, kind)
            if not allowed or not _is_identity(grant, kind, identity):
                continue
            if not any(
                fnmatchcase(account.namespace, namespace) and fnmatchcase(account.name, name)
                for namespace, name in allowed
            ):
                wrong, right = ":".join(allowed[0]), f"{account.namespace}:{account.name}"
                mark = "/" if kind.pool[0] else ":"
                others, own = wrong.replace(":", "/"), right.replace(":", "/")
                yield Finding(
                    message=f'{account.title} uses {kind.kind} "{grant.name}", but only service '
                    f"account {others} can assume this role, so pods of {own} don't get the "
                    "role's permissions"
                    if kind.role
                    else f'{kind.kind} "{grant.name}" allows only service account {others} to use '
                    f"the identity, so pods of {account.title} don't get the identity's permissions",
                    fix=f"in the {kind.subject} property, replace {wrong.replace(':', mark)} with "
                    f"{right.replace(':', mark)}",
                    urn=grant.urn,
                )


def _allowed(grant: DeclaredResource, kind: FederatedAccounts) -> list[tuple[str, str]]:
    text = grant.props.text(kind.subject) or ""
    return [(each["namespace"], each["name"]) for each in re.finditer(kind.pattern, text)]


def _is_identity(grant: DeclaredResource, kind: FederatedAccounts, identity: object) -> bool:
    """Return whether a service account's identity, a text or URNs, belongs to a grant."""
    if isinstance(identity, frozenset):
        return grant.urn in identity
    name = grant.props.text(kind.identity) if kind.identity else ""
    return bool(name) and (str(identity).endswith(f"/{name}") or str(identity) in str(name))


def _annotated(view: StackView, kind: FederatedAccounts) -> Iterator[tuple[_Account, object]]:
    """Yield service accounts with the identity that they name."""
    path = f"metadata.annotations.{kind.annotation.replace('.', '%2E')}"
    for each in view.objects:
        if each.type not in _ACCOUNTS:
            continue
        namespace, name = (
            each.props.text("metadata.namespace", "default"),
            each.props.text("metadata.name"),
        )
        identity = each.props.text(path)
        if namespace and name and identity:
            yield _Account(f"service account {namespace}/{name}", namespace, name), identity


def _of_addons(
    view: StackView, kind: FederatedAccounts, known: tuple[AddonAccount, ...]
) -> Iterator[tuple[_Account, object]]:
    """Yield the service accounts of add-ons with the identity that the add-on's property names."""
    accounts = {each.addon: each for each in known}
    for each in view.declared if kind.role else ():
        account = accounts.get(each.props.text("addonName") or "")
        if not each.type.endswith(_ADDON) or account is None:
            continue
        title = f'add-on "{each.name}" ({account.namespace}/{account.name})'
        identity = each.sources_of(kind.role) or each.props.text(kind.role)
        if identity:
            yield _Account(title, account.namespace, account.name), identity
