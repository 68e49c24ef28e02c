"""An image of the driver that is of another release than its chart."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers:
        tag = driver.values.text("image.tag") if driver.values and driver.version else ""
        if tag and tag.partition("@")[0].removeprefix("v") != driver.version:
            yield Finding(
                message=f'{driver.title} is of version {driver.version}, and its image of "{tag}": such a pair is not '
                "tested by anyone",
                fix="remove image.tag from its values",
                urn=driver.urn,
            )


RULE = Rule(
    id="driver-image-differs",
    says="The driver's image is of the release of its chart.",
    why="The chart gives arguments and permissions that another image may not know.",
    fix="Leave the tag of the image to the chart.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
