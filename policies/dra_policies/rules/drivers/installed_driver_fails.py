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
            message=f"{installer.title} installs NVIDIA driver {installer.version}, but "
            + (
                f"only {milestones} images support this version"
                if milestones
                else "no known node image supports this version"
            )
            + ", so the installer might crash-loop after a node upgrade",
            fix="install the `default` version, or a version that the node images of your release "
            "channel support",
            urn=installer.urn,
            remark=bool(milestones),
        )


RULE = Rule(
    id="installed-driver-fails",
    description="A driver installer uses a driver version that the node image might not support.",
    why="Container-Optimized OS installs only the driver versions that the image lists. "
    "Without a driver, nodes don't publish devices.",
    fix="Install the image's default version.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)
