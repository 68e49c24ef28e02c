"""Installers on Container-Optimized OS with a driver version that an image version may not list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.catalog.installer_drivers import qualified_on
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

URL: Final = "https://docs.cloud.google.com/container-optimized-os/docs/how-to/run-gpus"


def check(view: StackView) -> Iterator[Finding]:
    for installer in view.installers:
        if not installer.version:
            continue
        milestones = qualified_on(installer.version)
        yield Finding(
            message=f"{installer.title} installs NVIDIA driver {installer.version}, which "
            + (
                f"only images of {milestones} list"
                if milestones
                else "isn't known to be listed by any image"
            )
            + ", so after an upgrade of the nodes it may crash-loop",
            fix="install the version default, or check the images that the release channel will "
            "bring",
            urn=installer.urn,
            remark=bool(milestones),
        )


RULE = Rule(
    id="installed-driver-fails",
    says="A driver installer names a version that the node image may not list.",
    why="Container-Optimized OS installs only listed versions; without a driver, nodes publish no "
    "devices.",
    fix="Install the image's default version.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)
