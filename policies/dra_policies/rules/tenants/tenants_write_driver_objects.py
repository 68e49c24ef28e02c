"""Roles that let ordinary users change objects of drivers and administrators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.wording import listed, noun
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import Properties
from dra_policies.view.stack_view import DeclaredResource, StackView

GROUP: Final = "resource.k8s.io"
_WRITES: Final = frozenset({"create", "update", "patch", "delete", "deletecollection", "*"})
_OWNED: Final = {
    "deviceclasses": ("change DeviceClasses for all users",),
    "resourceslices": ("publish nonexistent devices", "hide existing devices"),
    "resourceclaims/status": ("allocate any device to a claim",),
    "resourceclaims/binding": ("allocate any device to a claim",),
    "resourceclaims/driver": ("act as a driver",),
    "devicetaintrules": ("taint any user's devices", "evict the pods that use them"),
}
_KINDS: Final = (":Role", ":ClusterRole")
_REACH: Final = {
    "Role": " in its namespace, including write access to the status of ResourceClaims",
    "ClusterRole": ", including write access to DeviceClasses and ResourceSlices",
}
"""The permissions that a role can gain at most, by its kind."""
_BINDINGS: Final = (":RoleBinding", ":ClusterRoleBinding")
_EVERYBODY: Final = ("system:authenticated", "system:serviceaccounts", "system:unauthenticated")
_ADMINS: Final = ("cluster-admin", "admin")
_NOBODY: Final = "system:anonymous"
_OF_RIGHTS: Final = frozenset({"escalate", "bind", "impersonate"})


def check(view: StackView) -> Iterator[Finding]:
    if not view.wants_devices:
        # if the stack doesn't contain anything for claims, this pack doesn't check permissions for
        # all resources
        return
    trusted = _bound_to_systems(view)
    for each in view.objects:
        if (
            each.type.endswith(_KINDS)
            and each.props.text("metadata.name", each.name) not in trusted
        ):
            kind = each.type.rpartition(":")[2]
            given = dict(_given(each.props))
            if rights := sorted(_rights(each.props)):
                yield Finding(
                    message=f'{kind} "{each.name}" allows the {noun(len(rights), "verb")} '
                    f"{' and '.join(rights)}, so "
                    f"anyone with this role can gain any permission{_REACH[kind]}",
                    fix=f"remove {' and '.join(rights)} from the role's verbs",
                    urn=each.urn,
                )
            if given:
                abuses = dict.fromkeys(each for group in given.values() for each in group)
                yield Finding(
                    message=f'{kind} "{each.name}" grants write access to {listed(given)}, '
                    f"so anyone with this role can {listed(abuses)}",
                    fix=f"remove {listed(given)} from the role's rules, because ordinary users "
                    "need only resourceclaims and resourceclaimtemplates",
                    urn=each.urn,
                )
        if each.type.endswith(_BINDINGS):
            yield from _to_everybody(each)


def _given(props: Properties) -> Iterator[tuple[str, tuple[str, ...]]]:
    for rule in props.items("rules") or ():
        groups, resources, verbs = (
            rule.texts("apiGroups"),
            rule.texts("resources"),
            rule.texts("verbs"),
        )
        if groups is None or resources is None or verbs is None:
            continue
        if {GROUP, "*"} & set(groups) and _WRITES & set(verbs):
            wide = "*" in resources
            yield from (
                (name, reason)
                for name, reason in _OWNED.items()
                if name in resources or (wide and name in _FIRST)
            )


def _rights(props: Properties) -> Iterator[str]:
    """Yield the verbs with which a role can gain more permissions: on roles, and on users."""
    for rule in props.items("rules") or ():
        resources, verbs = rule.texts("resources"), rule.texts("verbs")
        if resources is None or verbs is None:
            continue
        if {"roles", "clusterroles", "users", "groups", "serviceaccounts"} & set(resources):
            yield from (verb for verb in verbs if verb in _OF_RIGHTS)


_FIRST: Final = ("deviceclasses", "resourceslices")


def _bound_to_systems(view: StackView) -> frozenset[str | None]:
    """Return the roles that only service accounts have: controllers and drivers."""
    bound: dict[str | None, bool] = {}
    for each in view.objects:
        if each.type.endswith(_BINDINGS):
            name = each.props.text("roleRef.name")
            subjects = each.props.items("subjects") or ()
            systems = bool(subjects) and all(
                subject.text("kind") == "ServiceAccount" for subject in subjects
            )
            bound[name] = bound.get(name, True) and systems
    return frozenset(name for name, systems in bound.items() if systems)


def _to_everybody(binding: DeclaredResource) -> Iterator[Finding]:
    role = binding.props.text("roleRef.name")
    for subject in binding.props.items("subjects") or ():
        kind, name = subject.text("kind"), subject.text("name")
        if kind == "ServiceAccount" and name == "default" and role == _ADMINS[0]:
            namespace = subject.text("namespace")
            where = f"namespace {namespace}" if namespace else "its namespace"
            yield Finding(
                message=f'{binding.type.rpartition(":")[2]} "{binding.name}" grants {role} '
                f"to the default service account in {where}, so every pod that doesn't set "
                "serviceAccountName gets this role",
                fix="create a dedicated service account for the pods that need the role",
                urn=binding.urn,
            )
        everybody = (kind == "Group" and name in _EVERYBODY) or (kind == "User" and name == _NOBODY)
        if everybody and role in _ADMINS:
            yield Finding(
                message=f'{binding.type.rpartition(":")[2]} "{binding.name}" grants {role} to '
                f"{name}",
                fix="bind the role only to users or groups that need it",
                urn=binding.urn,
            )


RULE = Rule(
    id="tenants-write-driver-objects",
    description="Tenants can change DeviceClasses, ResourceSlices, or allocations.",
    why="DeviceClasses and ResourceSlices affect all users. Changes can take devices from other "
    "users or give access to all devices.",
    fix="Give tenants access only to resourceclaims and resourceclaimtemplates.",
    level="advisory",
    needs="stack",
    check=check,
)
