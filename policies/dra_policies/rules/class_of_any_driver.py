"""A DeviceClass that does not say whose devices it means."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for name, device_class in sorted(view.manifests.classes.items()) if view.manifests else ():
        if not any("device.driver" in selector.expression for selector in device_class.selectors):
            yield Finding(
                message=f"DeviceClass {name} has no selector on device.driver, so it means devices of every driver",
                fix="add the selector device.driver == 'gpu.nvidia.com', or that of the driver you mean",
                place=device_class.meta.place,
            )


RULE = Rule(
    id="class-of-any-driver",
    says="Every DeviceClass names the driver of its devices.",
    why="Other drivers' devices are tried too, and reading an attribute that they lack is an error that stops the pod.",
    fix="Begin its selectors with device.driver == 'gpu.nvidia.com'.",
    level="advisory",
    check=check,
)
