"""Notes for authors of claims about the drivers of the requested devices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations

from msgspec import Struct

from dra_planner.claims.manifest_claims import (
    WrittenClaim,
    pod_sets_with_claims,
    written_claims,
)
from dra_planner.claims.requested_drivers import driver_of_request
from dra_planner.drivers.protocol.notes import DriverNote, driver_notes
from dra_planner.model import DeviceClass, DeviceRequest, WorkloadRef
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.wording import listed, verb

_CODE = "worth-knowing"


class _ClaimDrivers(Struct, frozen=True):
    """A claim's requests, and the driver of each request (absent if unknown)."""

    claim: WrittenClaim
    drivers: Mapping[str, str]

    def of(self, domain: str) -> list[DeviceRequest]:
        return [each for each in self.claim.spec.requests if self.drivers.get(each.name) == domain]

    def reads(self, domain: str, name: str) -> bool:
        word = re.compile(rf"\b{re.escape(name)}\b")
        ways = (way for request in self.of(domain) for way in request.alternatives)
        return any(word.search(each.expression) for way in ways for each in way.selectors)

    def joins(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield each constraint's attribute, and the drivers of the requests that it covers."""
        for each in self.claim.spec.constraints:
            names = each.requests or tuple(request.name for request in self.claim.spec.requests)
            covered = frozenset(self.drivers[name] for name in names if name in self.drivers)
            if each.match_attribute and len(covered) > 1:
                yield each.match_attribute, covered


def find_driver_notes(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield the notes on drivers for each claim, once for all of its workloads."""
    classes = {**situation.classes, **situation.manifests.classes}
    claims = [
        _ClaimDrivers(claim, _drivers(claim, classes))
        for claim in written_claims(situation.manifests)
        if claim.users
    ]
    tainted = _tainted(situation)
    tolerant = {
        workload.ref
        for workload, pods in pod_sets_with_claims(situation.manifests)
        if pods.template.spec.tolerations
    }
    users: dict[tuple[str, str], dict[WorkloadRef, None]] = {}
    for each in claims:
        expects_taints = not tolerant.isdisjoint(each.claim.users)
        on_tainted = set(each.drivers.values()) if expects_taints else tainted
        for text, fix in _notes(each, situation, on_tainted):
            users.setdefault((text, fix), {}).update(dict.fromkeys(each.claim.users))
    for (text, fix), refs in users.items():
        yield Blocker(code=_CODE, message=text, fix=fix, workloads=tuple(refs), verdict="fits")


def _notes(
    claim: _ClaimDrivers, situation: ClusterSituation, tainted: set[str]
) -> Iterator[tuple[str, str]]:
    minor = situation.features.minor
    cloud = situation.cloud.name if situation.cloud is not None else ""
    for domain in dict.fromkeys(claim.drivers.values()):
        for note in driver_notes(domain):
            if note.holds_in(minor, cloud) and _concerns(note, claim, tainted):
                yield f"{domain}: {note.text}", note.fix
    for attribute, drivers in claim.joins():
        yield from _sound_joins(attribute, drivers, situation)


def _concerns(note: DriverNote, claim: _ClaimDrivers, tainted: set[str]) -> bool:
    if note.when == "requested":
        return True
    if note.when == "reads":
        return claim.reads(note.driver, note.name)
    if note.when == "joined":
        return any(note.driver in each and note.name in ("", name) for name, each in claim.joins())
    if note.when == "mixed":
        return len(set(claim.drivers.values())) > 1
    return note.driver in tainted


def _sound_joins(
    attribute: str, drivers: frozenset[str], situation: ClusterSituation
) -> Iterator[tuple[str, str]]:
    """Yield whether both drivers publish the attribute of a constraint, for drivers with known
    devices.
    """
    publishing = _publishers(situation)
    for one, other in combinations(sorted(drivers & publishing.keys()), 2):
        silent = [each for each in (one, other) if attribute not in publishing[each]]
        if not silent:
            yield (
                (
                    f"{one} and {other} both publish {attribute}, so the constraint applies to "
                    "devices of both drivers"
                ),
                "",
            )
        else:
            text = (
                f"{listed(silent)} {verb(len(silent), 'do')}n't publish {attribute}, and "
                "devices without this attribute never satisfy a constraint on it"
            )
            yield text, "use an attribute that both drivers publish, or remove the constraint"


def _publishers(situation: ClusterSituation) -> dict[str, set[str]]:
    """Return the full names of the attributes of each driver's devices."""
    found: dict[str, set[str]] = {}
    for part in (part for offer in situation.offers for part in offer.slices):
        names = (name for device in part.devices for name in device.attributes)
        own = (name if "/" in name else f"{part.driver}/{name}" for name in names)
        found.setdefault(part.driver, set()).update(own)
    return found


def _tainted(situation: ClusterSituation) -> set[str]:
    return {part.driver for offer in situation.offers if offer.node.taints for part in offer.slices}


def _drivers(claim: WrittenClaim, classes: Mapping[str, DeviceClass]) -> dict[str, str]:
    found: dict[str, str] = {}
    for request in claim.spec.requests:
        domains = {driver_of_request(way, classes) for way in request.alternatives} - {""}
        if len(domains) == 1:
            found[request.name] = domains.pop()
    return found
