"""A misspelled class of a claim, or a misspelled driver of a class."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from dra_planner.claims.manifest_claims import written_claims
from dra_planner.drivers import known_classes as classes_of_drivers
from dra_planner.drivers.nvidia import CHART_CLASSES
from dra_planner.drivers.protocol.misspelled_names import intended_name
from dra_planner.model import DeviceClass
from dra_planner.sources import has_embedded, is_terraform
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

_DRIVER: Final = re.compile(r"""device\.driver\s*==\s*(['"])([^'"]+)\1""")


def check(view: StackView) -> Iterator[Finding]:
    manifests = view.manifests
    if manifests is None:
        return
    known = known_classes(view)
    for claim in written_claims(manifests):
        names = {
            exact.device_class_name
            for request in claim.spec.requests
            for exact in request.alternatives
        }
        for name in sorted(names - known):
            intended = intended_name(name, known)
            if intended:
                yield Finding(
                    message=f'{claim.title} requests DeviceClass "{name}", which isn\'t defined',
                    fix=f"set deviceClassName to {intended}",
                    place=claim.place,
                )
            elif _may_be_unknown(view, claim.place.file) and name not in classes_of_drivers():
                yield Finding(
                    message=f'{claim.title} requests DeviceClass "{name}", which is neither in '
                    "the manifests nor installed by a known driver",
                    fix="add a manifest for the DeviceClass to these files, unless the cluster "
                    "already has it",
                    place=claim.place,
                    remark=True,
                )

    for name, device_class in sorted(manifests.classes.items()):
        for driver in _selected_drivers(device_class):
            intended = intended_name(driver, _drivers())
            if intended:
                yield Finding(
                    message=f'DeviceClass "{name}" selects devices of driver "{driver}", which '
                    "isn't installed",
                    fix=f"change the selector of the DeviceClass to device.driver == '{intended}'",
                    place=device_class.meta.place,
                )


def _may_be_unknown(view: StackView, file: str) -> bool:
    """Return whether no other finding reports a claim's unknown class in this file. If there are
    pools, the verdict reports it. On a page, the class can be one that the reader already has.
    """
    is_manifest = bool(file) and not has_embedded(file) and not is_terraform(file)
    return view.judgement is None and is_manifest


def _selected_drivers(device_class: DeviceClass) -> Iterator[str]:
    for selector in device_class.selectors:
        yield from (found[2] for found in _DRIVER.finditer(selector.expression))


@cache
def _drivers() -> frozenset[str]:
    return frozenset(known.driver for known in classes_of_drivers().values())


def known_classes(view: StackView) -> frozenset[str]:
    """Return the classes that the driver's charts, the fleet, and the manifests define."""
    return frozenset(
        (*CHART_CLASSES, *view.classes, *(view.manifests.classes if view.manifests else ()))
    )


RULE = Rule(
    id="class-misspelt",
    description="A claim uses a DeviceClass that isn't defined, or a DeviceClass selects an unknown "
    "driver.",
    why="The API server doesn't check whether the DeviceClass exists. Until the DeviceClass "
    "exists, the pod stays pending.",
    fix="Use the name of a declared DeviceClass.",
    level="advisory",
    check=check,
)
