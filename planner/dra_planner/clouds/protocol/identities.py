"""Identities that clusters and nodes act as, and the resources that grant rights to them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantResource:
    """A resource that grants rights: its type, the property that names identities, and the
    property that names rights, or holds a policy as text.
    """

    token: str
    identity: str
    rights: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityResource:
    """A resource that is an identity.

    `rights` are its own properties that name rights or hold policies as text, `trust` the one that
    says who may act as it. `policy` is a resource that is a set of rights, and its text.
    `grants` are the resources that grant rights. `everything` are rights that include all others.
    `of_cloud` is in the names of rights whose contents the cloud defines.
    """

    token: str
    kind: str  # "role", in messages
    name: str
    rights: tuple[str, ...] = ()
    trust: str = ""
    policy: tuple[str, str] = ("", "")
    grants: tuple[GrantResource, ...]
    everything: tuple[str, ...] = ()
    of_cloud: str = ""
