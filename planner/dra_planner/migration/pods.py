"""The claim of a pod whose containers request extended resources.

kube-scheduler creates the same claim for such a pod if a DeviceClass serves the resource names, so
a migrated pod holds as many devices as before. Source:
kubernetes/kubernetes:pkg/scheduler/framework/plugins/dynamicresources/
extendeddynamicresources.go@v1.37.2 (createRequestsAndMappings).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.plain_values import blocks, number
from dra_planner.drivers.protocol.device_plugin import Counterpart

_LONGEST_NAME: Final = 63


class ContainerNeed(Struct, frozen=True, kw_only=True):
    """One container's requests of device plugins: counts by resource name.

    `ends` is set for init containers that end before the other containers start.
    """

    name: str
    counts: Mapping[str, int]
    ends: bool = False


class PodClaim(Struct, frozen=True, kw_only=True):
    """The claim of a pod: its requests in API form, and the requests that each container names, by
    container.
    """

    requests: Sequence[Mapping[str, Any]]
    named: Mapping[str, Sequence[str]] = {}
    devices: int = 0


def needs_of_containers(
    spec: Mapping[str, Any], is_device: Callable[[str], bool]
) -> tuple[ContainerNeed, ...]:
    """Return the device plugin resources that the containers of a pod spec request, starting with
    init containers.

    Missing requests default to limits, as in the API server. A quantity of 0 doesn't count as a
    request.
    """
    found = []
    for key in ("initContainers", "containers"):
        for container in blocks(spec, key):
            ends = key == "initContainers" and container.get("restartPolicy") != "Always"
            counts = device_counts(container.get("resources"), is_device)
            found.append(
                ContainerNeed(name=str(container.get("name", "")), counts=counts, ends=ends)
            )
    return tuple(found)


def device_counts(resources: Any, is_device: Callable[[str], bool]) -> dict[str, int]:
    """Return the counts of extended resources in a container's `resources`, from requests and
    limits.
    """
    counts: dict[str, int] = {}
    for section in ("limits", "requests"):
        amounts = resources.get(section) if isinstance(resources, Mapping) else None
        for name, amount in amounts.items() if isinstance(amounts, Mapping) else ():
            count = number(amount) if is_device(str(name)) else None
            if count is not None and count > 0:
                counts[str(name)] = count
    return counts


def claim_of(needs: Sequence[ContainerNeed], counterparts: Mapping[str, Counterpart]) -> PodClaim:
    """Return the claim that holds as many devices as the containers requested.

    Containers that run as long as the pod get their own devices. Init containers that end use the
    devices of later containers. If the largest of them needs more devices, the claim has one
    additional request, which only init containers use.
    """
    requests: list[Mapping[str, Any]] = []
    named: dict[str, list[str]] = {}
    devices = 0
    for resource in sorted({name for need in needs for name in need.counts}):
        counterpart = counterparts[resource]
        lasting = [need for need in needs if not need.ends and need.counts.get(resource)]
        several = len({name for need in needs for name in need.counts}) > 1
        names = {}
        for need in lasting:
            names[need.name] = _name(need.name, f"-{counterpart.noun}" if several else "")
            requests.append(counterpart.request(names[need.name], need.counts[resource]))
            named.setdefault(need.name, []).append(names[need.name])
        total = sum(need.counts[resource] for need in lasting)
        extra, neediest = _beyond(needs, resource, total)
        if extra:
            requests.append(counterpart.request(_name(neediest, "-more"), extra))
        for index, need in enumerate(needs):
            if need.ends and (count := need.counts.get(resource)):
                more = [_name(neediest, "-more")] if extra else []
                named.setdefault(need.name, []).extend(
                    _reused(needs[index:], resource, count, names, more)
                )
        devices += total + extra
    return PodClaim(requests=requests, named=named, devices=devices)


def _beyond(needs: Sequence[ContainerNeed], resource: str, total: int) -> tuple[int, str]:
    """Return how many devices the ending init container with the largest need requests in addition
    to later containers, and its name.
    """
    extra, neediest, sidecars = 0, "", 0
    for need in needs:
        count = need.counts.get(resource, 0)
        if not need.ends:
            sidecars += count
        elif count + sidecars - total > extra:
            extra, neediest = count + sidecars - total, need.name
    return extra, neediest


def _reused(
    later: Sequence[ContainerNeed],
    resource: str,
    count: int,
    names: Mapping[str, str],
    more: Sequence[str],
) -> list[str]:
    """Return the requests of later containers that hold `count` devices together, plus `more` if
    they hold fewer.
    """
    found, left = [], count
    for need in later:
        held = 0 if need.ends else need.counts.get(resource, 0)
        if left > 0 and held:
            found.append(names[need.name])
            left -= held
    return [*found, *(more if left > 0 else ())]


def _name(container: str, suffix: str) -> str:
    """Return a request name: a DNS label of at most 63 characters."""
    return f"{container[: _LONGEST_NAME - len(suffix)].rstrip('-')}{suffix}"
