"""Claims as custom rules read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.cel import ALL, Dialect, Selector, compile
from dra_planner.cel.values import MapValue
from dra_planner.errors import NOWHERE, Place
from dra_planner.manifests import Manifests
from dra_planner.model import ClaimSpec, ObjectKey
from dra_planner.records import equality
from dra_planner.releases import MAXIMUM_MINOR, features_of
from dra_policies.configuration.custom.object_values import object_value

_DIALECT: Final = Dialect.of(features_of(MAXIMUM_MINOR))


@equality(ignored=("place",), unhashed=("labels",))
class NamedClaim(Struct, frozen=True, kw_only=True):
    """A claim or a template; `labels` are None if only a plan file describes it."""

    kind: str
    key: ObjectKey
    spec: ClaimSpec
    labels: Mapping[str, str] | None
    place: Place = NOWHERE

    @property
    def title(self) -> str:
        return f"{self.kind or 'claim'} {self.key}"


def written_claims(manifests: Manifests | None) -> tuple[NamedClaim, ...]:
    """Return the claims and templates among the manifests."""
    if manifests is None:
        return ()
    kinds: tuple[tuple[str, Iterable[Any]], ...] = (
        ("ResourceClaim", manifests.claims.values()),
        ("ResourceClaimTemplate", manifests.templates.values()),
    )
    return tuple(
        NamedClaim(
            kind=kind,
            key=each.meta.key,
            spec=each.spec,
            labels=each.meta.labels,
            place=each.meta.place,
        )
        for kind, objects in kinds
        for each in objects
    )


def claim_value(claim: NamedClaim) -> MapValue:
    """Return the claim with its requests."""
    values: dict[str, Any] = {
        "kind": claim.kind,
        "namespace": claim.key.namespace,
        "name": claim.key.name,
        "requests": list(_requests(claim.spec)),
    }
    if claim.labels is not None:
        values["labels"] = MapValue.of_strings(dict(claim.labels))
    return object_value("Claim", values, claim.title)


def devices_of(claim: NamedClaim) -> int:
    """Return the number of devices that a claim requests: the largest alternative, and 1 for all
    devices of a node.
    """
    return sum(
        max(
            (each.count for each in request.alternatives),
            default=0,
        )
        for request in claim.spec.requests
    )


def _requests(spec: ClaimSpec) -> Iterator[MapValue]:
    for request in spec.requests:
        ways = [("", request.exactly)] if request.exactly is not None else []
        for alternative, way in (*ways, *((each.name, each) for each in request.first_available)):
            yield object_value(
                "Request",
                {
                    "name": request.name,
                    "alternative": alternative,
                    "deviceClass": way.device_class_name,
                    "count": 0 if way.allocation_mode == "All" else way.count,
                    "adminAccess": way.admin_access,
                    "selectors": [each.expression for each in way.selectors],
                    "reads": _reads([each.expression for each in way.selectors], way.capacity),
                },
                f"request {request.name}",
            )


def _reads(selectors: Iterable[str], capacity: Iterable[str]) -> list[str] | None:
    """Return the names that a request reads; None if a selector can't be compiled, or if it reads
    computed names.
    """
    names = {f"capacity/{name}" for name in capacity}
    for text in selectors:
        selector = compile(text, _DIALECT)
        if not isinstance(selector, Selector) or selector.reads == ALL:
            return None
        names |= {"/".join(path) for path in selector.reads}
    return sorted(names)
