"""A driver image whose version differs from its chart's version."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers:
        tag = driver.values.text("image.tag") if driver.values and driver.version else ""
        if tag and tag.partition("@")[0].removeprefix("v") != driver.version:
            yield Finding(
                message=f"{driver.title} combines chart version {driver.version} with image tag "
                f'"{tag}", which is untested',
                fix="remove image.tag from the release's values",
                urn=driver.urn,
            )


RULE = Rule(
    id="driver-image-differs",
    description="The driver image doesn't match the chart version.",
    why="The chart sets arguments and permissions that a different image version might not "
    "support.",
    fix="Remove the image tag from the values.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
