"""Service accounts that name an identity of the stack which nothing allows them to use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import cloud, names
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import as_mapping
from dra_policies.view.stack_view import StackView

_ACCOUNT: Final = ":ServiceAccount"


def accounts_without_grant(view: StackView) -> Iterator[Finding]:
    """Yield service accounts whose annotation names an identity that has no grant in the stack."""
    for of_cloud in map(cloud, names()):
        kind = of_cloud.federated_accounts
        if kind is None or not kind.grants or not view.complete:
            continue
        identities = {
            each.urn: each for each in view.declared if each.type == of_cloud.identity.token
        }
        granted = {
            urn
            for each in view.declared
            if each.type in kind.grants
            for urns in each.sources.values()
            for urn in urns
        }
        for account in view.objects:
            annotations = as_mapping(account.props.at("metadata.annotations")) or {}
            if not account.type.endswith(_ACCOUNT) or kind.annotation not in annotations:
                continue
            used = [urn for urn in account.sources_of("metadata") if urn in identities]
            if len(used) == 1 and used[0] not in granted:
                yield Finding(
                    message=f'Kubernetes ServiceAccount "{account.name}" uses {of_cloud.identity.kind} '
                    f'"{identities[used[0]].name}", but this stack doesn\'t declare the {kind.kind} '
                    f'that allows it, so pods of ServiceAccount "{account.name}" don\'t get the '
                    f'permissions of "{identities[used[0]].name}"',
                    fix=f"declare the {kind.kind} that allows ServiceAccount "
                    f'"{account.name}" to use {of_cloud.identity.kind} '
                    f'"{identities[used[0]].name}"',
                    urn=account.urn,
                )
