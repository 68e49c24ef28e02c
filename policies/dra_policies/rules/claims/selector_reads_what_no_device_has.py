"""A selector that reads an attribute or capacity that no NVIDIA device publishes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Final

from dra_planner.allocation.reasons.selector_changes import is_for_mig
from dra_planner.cel import Dialect, Selector, compile
from dra_planner.cel.advice.quantity_literals import invalid_literals
from dra_planner.cel.advice.version_comparisons import compared_as_text
from dra_planner.claims.manifest_claims import written_claims
from dra_planner.drivers import nvidia
from dra_planner.errors import PlannerError
from dra_planner.manifests import Manifests, selectors_of
from dra_planner.model import CelSelector
from dra_planner.releases import Features
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.known_devices import GPU_DRIVER
from dra_policies.view.stack_view import StackView

# Capacities of GPUs, MIG devices, and shared GPUs in all versions. MIG devices have memorySlice<i>.
# Source: kubernetes-sigs/dra-driver-nvidia-gpu:cmd/gpu-kubelet-plugin/deviceinfo.go, partitions.go
# @v25.3.2 to v0.4.1
CAPACITIES: Final = frozenset(
    {
        "memory",
        "multiprocessors",
        "copyEngines",
        "decoders",
        "encoders",
        "jpegEngines",
        "ofaEngines",
        "addressableMemory",
        "shares",
    }
) | {f"memorySlice{number}" for number in range(12)}


_SHORT_VERSION: Final = re.compile(r"""\bsemver\(["'](?P<version>\d+(?:\.\d+)?)["']\)""")
_SMALL: Final = 1024
_GIB: Final = 2**30
_OF_ORDER: Final = frozenset({"index", "minor", "parentIndex"})


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None or view.features is None or view.is_early:
        return
    if view.judgement is None:
        yield from _for_parts_of_whole_gpus(view.manifests)
        yield from _unknown_capacities(view.manifests)
    version = _driver_version(view)
    for selector in selectors_of(view.manifests):
        yield from _compared_as_text(selector, view.features)
        yield from _invalid_quantities(selector, view.features)
        yield from _part_of_domain(selector, view.features)
        yield from _short_versions(selector)
        for kind, name in _read(selector.expression, view.features):
            names = attribute_names(version) if kind == "attributes" else CAPACITIES
            is_gone = not version and name in names - CAPACITIES and name not in _names_today()
            if name not in names or is_gone:
                by = (
                    f"version {version} of the NVIDIA DRA driver doesn't publish"
                    if version
                    else f"the NVIDIA DRA driver doesn't publish after {_last_with(name)}"
                    if is_gone
                    else "no version of the NVIDIA DRA driver publishes"
                )
                yield Finding(
                    message=f'the selector reads device.{kind}["{GPU_DRIVER}"].{name}, which {by}',
                    fix=_compared(selector.expression, kind, name) or _fix(kind, name, version),
                    place=selector.place,
                )


def _for_parts_of_whole_gpus(manifests: Manifests) -> Iterator[Finding]:
    """Yield selectors for MIG devices in requests of the class for whole GPUs. With pools, the plan
    checks the claim.
    """
    for claim in written_claims(manifests) if GPU_DRIVER not in manifests.classes else ():
        for way in (way for request in claim.spec.requests for way in request.alternatives):
            if way.device_class_name != GPU_DRIVER:
                continue
            for selector in (each for each in way.selectors if _is_for_parts(each.expression)):
                shown = " ".join(selector.expression.split())
                yield Finding(
                    message=f"{claim.title}: selector `{shown}` selects MIG devices, but "
                    f"DeviceClass {GPU_DRIVER} matches only whole GPUs",
                    fix=f"use DeviceClass {nvidia.MIG_CLASS} and a pool with MIG devices",
                    place=selector.place,
                )


def _unknown_capacities(manifests: Manifests) -> Iterator[Finding]:
    """Yield requests for capacities that no version publishes. With pools, the plan checks the
    claim.
    """
    for claim in written_claims(manifests):
        for way in (way for request in claim.spec.requests for way in request.alternatives):
            if way.device_class_name not in (GPU_DRIVER, nvidia.MIG_CLASS):
                continue
            for name in sorted(way.capacity):
                domain, _, own = name.rpartition("/")
                if domain in ("", GPU_DRIVER) and own not in CAPACITIES:
                    yield Finding(
                        message=f"{claim.title} requests the capacity {name}, which no version of "
                        "the NVIDIA DRA driver publishes",
                        fix=_fix("capacity", own, ""),
                        place=claim.place,
                    )


def _is_for_parts(expression: str) -> bool:
    if not any(word in expression for word in ("mig", "profile", "parentUUID")):
        return False
    return is_for_mig(expression)


def _compared_as_text(selector: CelSelector, features: Features) -> Iterator[Finding]:
    """Yield comparisons of a version with text or a number. They fail on every GPU, or are true on
    every GPU.
    """
    compiled = compile(selector.expression, Dialect.of(features, "stored"))
    if not isinstance(compiled, Selector) or not _versions() & {
        path[1:3] for path in compiled.reads
    }:
        return
    for condition, better in compared_as_text(compiled.tree, _versions()):
        effect = "is true for every GPU" if " != " in condition else "causes an error for every GPU"
        yield Finding(
            message=f"selector `{condition}` compares a version with a value that isn't a "
            f"version, so it {effect}",
            fix=f"use {better}"
            if better
            else "compare versions with compareTo(semver(…)), or their parts with major()",
            place=selector.place,
        )


def _invalid_quantities(selector: CelSelector, features: Features) -> Iterator[Finding]:
    """Yield literals that aren't quantities. The API server accepts them, but they fail on every
    device.
    """
    compiled = compile(selector.expression, Dialect.of(features, "stored"))
    if not isinstance(compiled, Selector):
        return
    for text, intended in invalid_literals(compiled.tree):
        yield Finding(
            message=f'the selector contains quantity("{text}"), which isn\'t a valid quantity, so '
            "the selector fails on every device",
            fix=f'use quantity("{intended}")'
            if intended
            else 'use a number with a unit, for example quantity("20Gi")',
            place=selector.place,
        )


def _part_of_domain(selector: CelSelector, features: Features) -> Iterator[Finding]:
    """Yield reads of the driver's attributes and capacities in a part of its domain, such as
    "nvidia.com", in which no driver publishes anything.
    """
    compiled = compile(selector.expression, Dialect.of(features, "stored"))
    for path in sorted(compiled.reads) if isinstance(compiled, Selector) else ():
        kind, domain, name = (*path, "", "", "")[:3]
        known = CAPACITIES if kind == "capacity" else attribute_names("")
        if GPU_DRIVER.endswith(f".{domain}") and name in known:
            yield Finding(
                message=f'the selector reads device.{kind}["{domain}"].{name}, but the driver '
                f"publishes {name} in the domain {GPU_DRIVER}",
                fix=f'use device.{kind}["{GPU_DRIVER}"].{name}',
                place=selector.place,
            )


def _short_versions(selector: CelSelector) -> Iterator[Finding]:
    """Yield versions without three numbers, which fail on every device."""
    for found in _SHORT_VERSION.finditer(selector.expression):
        version = found["version"]
        whole = f"{version}{'.0' * (2 - version.count('.'))}"
        yield Finding(
            message=f'the selector contains semver("{version}"), but a semantic version must have '
            "three numbers (MAJOR.MINOR.PATCH), so the selector fails on every device",
            fix=f'use semver("{whole}")',
            place=selector.place,
        )


@cache
def _versions() -> frozenset[tuple[str, str]]:
    """Return the attributes with versions as values, as domain and name."""
    known = (attribute for release in nvidia.driver_releases() for attribute in release.attributes)
    return frozenset(
        (GPU_DRIVER, attribute.name) for attribute in known if attribute.type == "version"
    )


@cache
def _names_today() -> frozenset[str]:
    """Return the names that any version since the first of the current drivers publishes."""
    first = nvidia.driver_releases()[0].generation
    return frozenset(
        name
        for release in nvidia.driver_releases()
        if release.generation != first
        for name in release.own_names
    )


def _last_with(name: str) -> str:
    return [release.version for release in nvidia.driver_releases() if name in release.own_names][
        -1
    ]


def _driver_version(view: StackView) -> str:
    versions = {driver.version or "" for driver in view.drivers}
    fleet = view.judgement.fleet if view.judgement is not None else None
    options = fleet.drivers.of(nvidia.DRIVER) if fleet is not None else None
    if not versions and options is not None:
        return options.version
    return versions.pop() if len(versions) == 1 else ""


def _read(expression: str, features: Features) -> list[tuple[str, str]]:
    """Return NVIDIA's names that a selector reads, as (attributes or capacity, name)."""
    selector = compile(expression, Dialect.of(features, "stored"))
    if not isinstance(selector, Selector):
        return []
    return sorted(
        (path[0], path[2]) for path in selector.reads if len(path) == 3 and path[1] == GPU_DRIVER
    )


@cache
def attribute_names(version: str) -> frozenset[str]:
    """Return the names of all devices of a version, without the driver's domain. "" means every
    version.
    """
    try:
        releases = (nvidia.driver_release(version),) if version else nvidia.driver_releases()
    except PlannerError:
        releases = nvidia.driver_releases()
    return frozenset(name for release in releases for name in release.own_names)


def _compared(expression: str, kind: str, name: str) -> str:
    """Return the comparison of a capacity that the selector uses as an attribute and compares with
    a number, or "".

    A small number is in GiB, as guides use it, and a large one is in bytes.
    """
    if kind != "attributes" or name not in CAPACITIES:
        return ""
    read = rf"device\.attributes\[[\"']{re.escape(GPU_DRIVER)}[\"']\]\.{name}"
    found = re.search(
        rf"{read}\s*(?P<sign>>=|<=|>|<)\s*[\"']?(?P<amount>\d+)(?P<unit>[KMGT]i?)?\b", expression
    )
    if found is None:
        return ""
    amount, unit = int(found["amount"]), found["unit"] or ""
    if not unit and name == "memory":
        unit = "Gi" if amount < _SMALL or amount % _GIB == 0 else ""
        amount = amount // _GIB if unit and amount >= _GIB else amount
    compared = f'.compareTo(quantity("{amount}{unit}")) {found["sign"]} 0'
    return f'use device.capacity["{GPU_DRIVER}"].{name}{compared}, because {name} is a capacity'


def _fix(kind: str, name: str, version: str) -> str:
    if kind == "attributes" and name in CAPACITIES:
        return f'use device.capacity["{GPU_DRIVER}"].{name}, because {name} is a capacity'
    if kind == "capacity" and name in attribute_names(version):
        return f'use device.attributes["{GPU_DRIVER}"].{name}, because {name} is an attribute'
    known = attribute_names(version) if kind == "attributes" else CAPACITIES
    own = sorted(each for each in known if "/" not in each)
    near = get_close_matches(name, own, 1)
    if name in _OF_ORDER:
        return (
            "remove index, because driver versions 25.8 and later don't publish GPU indices. "
            "Instead, request a number of GPUs with count, or select one GPU by uuid"
        )
    return f'did you mean "{near[0]}"?' if near else (f"use one of these names: {', '.join(own)}")


RULE = Rule(
    id="selector-reads-what-no-device-has",
    description="A selector reads an attribute or capacity that no device has, or compares a version as "
    "text.",
    why="The selector fails at run time on every node, so the pod stays pending.",
    fix="Use a name that the driver publishes. A node's ResourceSlices list the names.",
    level="advisory",
    check=check,
)
