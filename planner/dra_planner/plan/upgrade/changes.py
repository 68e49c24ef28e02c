"""Effects of another NVIDIA driver version on manifests: breaking and semantic changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.cel import Dialect, Selector, compile
from dra_planner.drivers.nvidia import (
    GPU_DRIVER,
    DriverChange,
    DriverRelease,
    PublishingSettings,
    changes_read,
    compare_releases,
    driver_release,
    unknown_gate,
)
from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests import Manifests, selectors_of
from dra_planner.model import ClaimSpec, DeviceConfiguration, ResourceClaim, ResourceClaimTemplate
from dra_planner.plan.upgrade.situation import Situation
from dra_planner.quantity import Quantity, QuantityError
from dra_planner.releases import Features

CODE = "driver-upgrade"
_STOPS = (
    "attribute-renamed",
    "attribute-removed",
    "class-removed",
    "config-refused",
    "not-installable",
)
_OF_THE_INSTALLATION = (
    "chart-renamed",
    "names-changed",
    "devices-changed",
    "not-installable",
    "no-way-back",
)
_UNKNOWN = Situation()
_EXTENDED_RESOURCE = "nvidia.com/gpu"
_SHARES = "ConsumableShares"
_THRESHOLD = re.compile(r"""quantity\(\s*["']([^"']*)["']\s*\)""")
_MEBIBYTE = 2**20


class Noticed(Struct, frozen=True):
    """A change, with the place and the object that it affects."""

    change: DriverChange
    place: Place
    who: str
    is_certain: bool = True


def judge_upgrade(
    manifests: Manifests,
    features: Features,
    old: str,
    new: str,
    fleet: PublishingSettings | None = None,
    here: Situation = _UNKNOWN,
) -> tuple[Diagnostic, ...]:
    """Return the breaking and semantic changes: errors and warnings at affected places, and notes
    for all other changes.

    `old` and `new` are `VERSION[+GATE…]`. The feature gates of a fleet's settings are added to
    both. Changes of the installation that don't affect the fleet or cluster `here` are excluded.
    Raises CatalogError for an unknown version or feature gate.
    """
    before, old_settings = parse_release(old)
    after, new_settings = parse_release(new)
    missing: list[Diagnostic] = []
    if fleet is not None:
        old_settings, new_settings = (
            _both(fleet, old_settings, before),
            _both(fleet, new_settings, after),
        )
        missing = [_missing_gate(gate, after) for gate in fleet.gates if not after.has_gate(gate)]
    changes = compare_releases(before, after, old_settings=old_settings, new_settings=new_settings)
    noticed = tuple(dict.fromkeys(_notice(changes, manifests, features)))
    known = {each.change for each in noticed}
    remarks = (
        _remark(change, here) for change in changes if change not in known and here.concerns(change)
    )
    return (*missing, *(_finding(each) for each in noticed), *remarks)


def _both(
    fleet: PublishingSettings, requested: PublishingSettings, release: DriverRelease
) -> PublishingSettings:
    """Return the requested settings combined with the fleet's settings that the version
    supports.
    """
    gates = {gate: value for gate, value in fleet.gates.items() if release.has_gate(gate)} | dict(
        requested.gates
    )
    return replace(
        fleet, gates=gates, consumable_shares=requested.consumable_shares or fleet.consumable_shares
    )


def _missing_gate(gate: str, release: DriverRelease) -> Diagnostic:
    message = (
        f"the fleet sets the {gate} feature gate, which {release.version} doesn't have, so the "
        "driver doesn't start"
    )
    return Diagnostic("error", CODE, message, fix=f"remove {gate} from drivers.nvidia.featureGates")


def parse_release(text: str) -> tuple[DriverRelease, PublishingSettings]:
    """Return the version and settings in `VERSION[+GATE…]`.

    Raises CatalogError for an unknown version or feature gate.
    """
    version, *gates = text.split("+")
    release = driver_release(version)
    for gate in gates:
        if not release.has_gate(gate):
            raise unknown_gate(gate, release)
    shares = "unlimited" if _SHARES in gates else ""
    return release, PublishingSettings(gates=dict.fromkeys(gates, True), consumable_shares=shares)


def _notice(
    changes: tuple[DriverChange, ...], manifests: Manifests, features: Features
) -> Iterator[Noticed]:
    """Yield the changes that something in the manifests depends on."""
    yield from _notice_in_selectors(changes, manifests, features)
    owners: list[ResourceClaim | ResourceClaimTemplate] = [
        *manifests.claims.values(),
        *manifests.templates.values(),
    ]
    for owner in owners:
        kind = type(owner).__name__
        for change, who in _notice_in_spec(changes, owner.spec, frozenset(manifests.classes)):
            yield Noticed(change, owner.meta.place, f"{kind} {owner.meta.name} {who}")
    for device_class in manifests.classes.values():
        for change, who in _notice_in_config(changes, device_class.config):
            yield Noticed(change, device_class.meta.place, f"DeviceClass {device_class.name} {who}")
    yield from _notice_in_workloads(changes, manifests)


def _notice_in_selectors(
    changes: tuple[DriverChange, ...], manifests: Manifests, features: Features
) -> Iterator[Noticed]:
    for selector in selectors_of(manifests):
        exact, wide = _names_read(selector.expression, features)
        for change in changes_read(changes, exact):
            if _distinguishes(selector.expression, change.between):
                yield Noticed(change, selector.place, "the selector reads this attribute")
        for change in changes:
            if change.breaks and change.name.startswith(wide):
                yield Noticed(
                    change,
                    selector.place,
                    "the selector reads every attribute in the domain",
                    is_certain=False,
                )


def _notice_in_workloads(
    changes: tuple[DriverChange, ...], manifests: Manifests
) -> Iterator[Noticed]:
    """Yield changes of the class that serves extended resources, for pods that request them."""
    for workload in manifests.workloads:
        containers = chain.from_iterable(
            each.template.spec.containers for each in workload.pod_sets
        )
        if any(_EXTENDED_RESOURCE in {*each.requests, *each.limits} for each in containers):
            for change in changes:
                if change.kind == "class-changed":
                    yield Noticed(
                        change, workload.meta.place, f"{workload.ref} requests {_EXTENDED_RESOURCE}"
                    )


def _distinguishes(expression: str, between: Iterable[tuple[int, int]]) -> bool:
    """Return whether a selector's result for capacities can differ before and after, because a
    threshold is between the two values.
    """
    try:
        thresholds = [Quantity.parse(text).value for text in _THRESHOLD.findall(expression)]
    except QuantityError:
        return True
    ranges = [(lesser * _MEBIBYTE, greater * _MEBIBYTE) for lesser, greater in between]
    if not ranges or not thresholds:
        return True
    return any(lesser <= each <= greater for each in thresholds for lesser, greater in ranges)


def _notice_in_spec(
    changes: tuple[DriverChange, ...], spec: ClaimSpec, own_classes: frozenset[str]
) -> Iterator[tuple[DriverChange, str]]:
    for constraint in spec.constraints:
        name = constraint.match_attribute or constraint.distinct_attribute or ""
        for change in changes_read(changes, [name]):
            yield change, f"has a constraint on {name}"
    used = {way.device_class_name for request in spec.requests for way in request.alternatives}
    for change in changes:
        if change.kind == "class-removed" and change.name in used - own_classes:
            yield change, f"uses the class {change.name}"
    yield from _notice_in_config(changes, spec.config)


def _notice_in_config(
    changes: tuple[DriverChange, ...], configurations: Iterable[DeviceConfiguration]
) -> Iterator[tuple[DriverChange, str]]:
    for each in configurations:
        sharing = each.parameters.get("sharing") if each.driver == GPU_DRIVER else None
        strategy = sharing.get("strategy") if isinstance(sharing, Mapping) else None
        for change in changes:
            if change.kind == "config-refused" and change.name == strategy:
                yield change, f"is configured with sharing.strategy {strategy}"


def _names_read(expression: str, features: Features) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the qualified names that a selector reads, and prefixes of names if it can
    read any.
    """
    selector = compile(expression, Dialect.of(features, "stored"))
    if not isinstance(selector, Selector):
        return frozenset(), ()
    paths = [path for path in selector.reads if path[:1] in ((), ("attributes",), ("capacity",))]
    exact = frozenset(f"{path[1]}/{path[2]}" for path in paths if len(path) == 3)
    wide = tuple(f"{path[1]}/" if len(path) == 2 else "" for path in paths if len(path) < 3)
    return exact, wide


def _finding(noticed: Noticed) -> Diagnostic:
    change = noticed.change
    stops = change.kind in _STOPS and noticed.is_certain
    message = f"{change.message} ({noticed.who})"
    return Diagnostic("error" if stops else "warning", CODE, message, noticed.place, change.fix)


def _remark(change: DriverChange, here: Situation) -> Diagnostic:
    if change.kind == "not-installable":
        return Diagnostic("error", CODE, change.message, fix=change.fix)
    if change.breaks and change.kind in _OF_THE_INSTALLATION:
        return Diagnostic("warning", CODE, here.message_of(change), fix=change.fix)
    # these manifests don't read it, so there is nothing to fix
    return Diagnostic("note", CODE, change.message)
