"""Faults of a fleet's DeviceClasses: rejected, useless, or different from the manifests' classes.

If fleet and manifests both define a class, the fleet's definition applies in the cluster, because
Pulumi creates it before manifests are applied and restores it with every update. So plans use the
fleet's definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from dra_planner.allocation import open_offer
from dra_planner.cel import Dialect, RejectedSelector, compile
from dra_planner.cel.syntax.printer import spell
from dra_planner.errors import Diagnostic, Place
from dra_planner.fleet import Fleet
from dra_planner.model import CelSelector, DeviceClass
from dra_planner.offers import Offer
from dra_planner.plan.reading import check_selector
from dra_planner.releases import Features
from dra_planner.wording import listed

REFUSED, MATCHES_NOTHING, DIFFERS = "class-refused", "class-matches-nothing", "class-differs"


class ClassSources(Struct, frozen=True):
    """The DeviceClasses by name that the fleet and the manifests define."""

    of_fleet: Mapping[str, DeviceClass]
    of_manifests: Mapping[str, DeviceClass]

    @property
    def in_cluster(self) -> dict[str, DeviceClass]:
        """The classes that the cluster will have."""
        return {**self.of_manifests, **self.of_fleet}


def find_class_faults(
    fleet: Fleet, sources: ClassSources, offers: Iterable[Offer], features: Features
) -> Iterator[Diagnostic]:
    """Yield the errors in a fleet's classes, its custom ones first.

    A class that matches no device is an error if it names a driver with predicted devices.
    Otherwise it's a warning, because the fleet may have an unknown driver.
    """
    refused: set[str] = set()
    for index, own in enumerate(fleet.device_classes):
        for number, expression in enumerate(own.selectors):
            refusal = check_selector(expression, features)
            if refusal is not None:
                refused.add(own.name)
                path = f"deviceClasses[{index}].selectors[{number}]"
                message = (
                    f'the selector `{_short(expression)}` of DeviceClass "{own.name}" in the '
                    f"fleet is invalid: {refusal.detail}"
                )
                fix = refusal.fix or "correct the selector in the fleet"
                yield Diagnostic("error", REFUSED, message, Place(path=path), fix)
    own_names = {own.name: index for index, own in enumerate(fleet.device_classes)}
    sound = [sources.of_fleet[name] for name in own_names if name not in refused]
    for each, is_certain in _matching_nothing(sound, sources, offers, features):
        message = f'DeviceClass "{each.name}" in the fleet doesn\'t match any device in any pool'
        message += (
            ""
            if is_certain
            else ", and doesn't select a driver with devices that the plan can predict"
        )
        fix = (
            "change its selectors, add a pool with such devices, or remove the class from the fleet"
        )
        place = Place(path=f"deviceClasses[{own_names[each.name]}]")
        yield Diagnostic("error" if is_certain else "warning", MATCHES_NOTHING, message, place, fix)
    for name, given in sorted(sources.of_manifests.items()):
        of_fleet = sources.of_fleet.get(name)
        if of_fleet is not None and not _are_alike(of_fleet, given, features):
            where = f"deviceClasses[{own_names[name]}]" if name in own_names else "drivers"
            yield _difference(of_fleet, given, where)


def _matching_nothing(
    classes: list[DeviceClass], sources: ClassSources, offers: Iterable[Offer], features: Features
) -> Iterator[tuple[DeviceClass, bool]]:
    """Yield the classes that certainly match no device, each with whether it names the driver of
    some device.
    """
    if not classes:
        return
    nodes = [open_offer(offer, sources.in_cluster, features) for offer in offers]
    devices = [device for node in nodes for device in node.template.candidates]
    drivers = {device.driver for device in devices}
    for each in classes:
        possible = list(devices)
        for selector in each.selectors:
            compiled = compile(selector.expression, Dialect.of(features, "stored"))
            if isinstance(compiled, RejectedSelector):
                continue  # not supported, so it's unknown which devices it matches
            outcomes = compiled.outcomes(possible)
            possible = [
                device
                for device, outcome in zip(possible, outcomes, strict=True)
                if outcome.verdict in ("match", "unknown")
            ]
        if not possible:
            text = " ".join(selector.expression for selector in each.selectors)
            yield each, any(driver in text for driver in drivers)


def _are_alike(one: DeviceClass, other: DeviceClass, features: Features) -> bool:
    return (
        _spellings(one.selectors, features) == _spellings(other.selectors, features)
        and one.config == other.config
        and one.extended_resource_name == other.extended_resource_name
    )


def _spellings(selectors: Iterable[CelSelector], features: Features) -> frozenset[str]:
    """Yield the classes that certainly match no device, and whether each names the driver of some
    device.
    """
    spellings: set[str] = set()
    for selector in selectors:
        compiled = compile(selector.expression, Dialect.of(features, "stored"))
        plain = " ".join(selector.expression.split())
        spellings.add(
            plain if isinstance(compiled, RejectedSelector) else spell(compiled.tree) or plain
        )
    return frozenset(spellings)


def _difference(of_fleet: DeviceClass, given: DeviceClass, where: str) -> Diagnostic:
    message = (
        f'DeviceClass "{given.name}" differs between the fleet and the manifests ({where}): '
        f"{_contents(of_fleet)} in the fleet, {_contents(given)} in the manifests. The plan uses the "
        "fleet's class, because Pulumi creates it"
    )
    fix = "remove the class from the manifests, or make the two classes identical"
    return Diagnostic("error", DIFFERS, message, given.meta.place, fix)


def _contents(given: DeviceClass) -> str:
    parts = [f"`{_short(selector.expression)}`" for selector in given.selectors]
    parts += [f"configuration for {each.driver}" for each in given.config]
    if given.extended_resource_name:
        parts.append(f"extended resource {given.extended_resource_name}")
    return listed(parts) or "no selector"


def _short(expression: str) -> str:
    text = " ".join(expression.split())
    return text if len(text) <= 80 else f"{text[:79]}…"
