"""A DeviceClass that doesn't select a driver."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.drivers.nvidia import MIG_CLASS
from dra_planner.model import DeviceClass
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.known_devices import GPU_DRIVER
from dra_policies.view.stack_view import StackView

_OF_MIG: Final = re.compile(r"(?<![a-z])mig(?![a-z])")
_DOMAIN: Final = re.compile(r"""device\.(?:attributes|capacity)\[["']([\w.-]+)["']\]""")
_STANDARD: Final = "kubernetes.io"
"""The domain of attributes that drivers share."""
_OF_PARTS: Final = re.compile(r"(?i)\b(?:type|parentUUID|\w*profile)\b")


def check(view: StackView) -> Iterator[Finding]:
    for name, device_class in sorted(view.manifests.classes.items()) if view.manifests else ():
        if not any("device.driver" in selector.expression for selector in device_class.selectors):
            driver = next(iter(_named_drivers(device_class)), GPU_DRIVER)
            yield Finding(
                message=f'DeviceClass "{name}" doesn\'t have a selector for device.driver, so it matches the '
                "devices of every driver",
                fix=f"add the selector device.driver == '{driver}', or a selector for another "
                "driver",
                place=device_class.meta.place,
            )
        elif _OF_MIG.search(name) and not any(
            _is_for_parts(each.expression) for each in device_class.selectors
        ):
            yield Finding(
                message=f'DeviceClass "{name}" also matches whole GPUs, because its '
                "selectors don't require the type mig",
                fix=f"add the selector device.attributes['{GPU_DRIVER}'].type == 'mig', or use "
                f"DeviceClass {MIG_CLASS}",
                place=device_class.meta.place,
            )


def _named_drivers(device_class: DeviceClass) -> list[str]:
    """Return the drivers that a class names: in its configuration, and as the domains that its
    selectors read.
    """
    read = (
        domain for each in device_class.selectors for domain in _DOMAIN.findall(each.expression)
    )
    named = [*(each.driver for each in device_class.config), *read]
    return [each for each in dict.fromkeys(named) if not each.endswith(_STANDARD)]


def _is_for_parts(expression: str) -> bool:
    """Return whether a selector reads facts that only MIG devices have, or their type, or selects
    another driver.
    """
    return (
        GPU_DRIVER not in expression.replace(MIG_CLASS, "")
        or _OF_PARTS.search(expression) is not None
    )


RULE = Rule(
    id="class-of-any-driver",
    description="A DeviceClass matches devices of every driver, or a DeviceClass for MIG devices also "
    "matches whole GPUs.",
    why="The scheduler also evaluates other drivers' devices. If a selector reads an attribute "
    "that these devices lack, the error keeps the pod pending.",
    fix=f"Start the selectors with device.driver == '{GPU_DRIVER}'.",
    level="advisory",
    check=check,
)
