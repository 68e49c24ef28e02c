"""Customer-managed keys for node disks that the cloud isn't allowed to use."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import DiskKeys, cloud, names
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import has_unknown
from dra_policies.view.stack_view import DeclaredResource, StackView


def check(view: StackView) -> Iterator[Finding]:
    for name in names() if view.complete else ():
        keys = cloud(name).disk_keys
        if keys is None:
            continue
        used = {
            urn
            for each in view.declared
            for token, path in keys.used_by
            if each.type == token
            for urn in each.sources_of(path)
        }
        for key in view.declared:
            if key.urn in used and key.type in keys.tokens and not _may_be_granted(view, key, keys):
                yield Finding(
                    message=f'key "{key.name}" encrypts node disks, but the stack doesn\'t '
                    f"allow {keys.identity} to use it, so nodes don't start",
                    fix=keys.fix,
                    urn=key.urn,
                )


def _may_be_granted(view: StackView, key: DeclaredResource, keys: DiskKeys) -> bool:
    """Return True unless the key certainly has neither a policy with the identity nor a grant."""
    path, word = keys.policy
    policy = key.props.text(path) if path else ""
    if policy is None or (policy and word in policy):
        return True
    around = {key.urn, *(urn for urns in key.sources.values() for urn in urns)}
    grants = dict(keys.grants)
    return any(
        around & each.sources_of(grants[each.type]) and _may_name(each, keys)
        for each in view.declared
        if each.type in grants
    )


def _may_name(grant: DeclaredResource, keys: DiskKeys) -> bool:
    """Return False if a grant certainly has another identity than the cloud's."""
    named = [grant.props.at(path) for path in keys.grantees if grant.props.has(path) is not False]
    return not named or any(has_unknown(each) or keys.policy[1] in str(each) for each in named)


RULE = Rule(
    id="disk-key-not-granted",
    description="The cloud isn't allowed to use the key that encrypts node disks.",
    why="The cloud can't attach the disk, so nodes fail to start.",
    fix="Grant the permission before you create the pool.",
    level="mandatory",
    is_outage=True,
    url="https://docs.aws.amazon.com/autoscaling/ec2/userguide/key-policy-requirements-EBS-encryption.html",
    needs="stack",
    check=check,
)
