"""Pictures of the README and the guide, drawn from runs of the command.

`python docs/pictures.py` writes them. They contain no dates or random IDs, so a new picture is
identical to the old one.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from unittest.mock import patch

import yaml
from verdict_picture import NodeDevices, verdict_picture

from dra_command.__main__ import main as command
from dra_command.pens.html.style import DARK, LIGHT

ROOT = Path(__file__).parents[1]
FLEET = ("--fleet", "examples/eighty-gi/fleet.yaml")
SHOWN = ("plan", "examples/eighty-gi", *FLEET)
DRAWN = {"docs/guide/devices.svg": ("plan", "--stack", "eks-dev", "--quiet")}


def printed(*words: str) -> str:
    """Return what a command prints to standard output, without color."""
    out = io.StringIO()
    with (
        contextlib.chdir(ROOT),
        patch.dict(os.environ, {"COLUMNS": "80", "NO_COLOR": "1"}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        command(words)
    return out.getvalue()


def node_devices(pool: str) -> NodeDevices:
    """Return the devices that a node of a pool will publish."""
    slices = yaml.safe_load_all(printed("slices", *FLEET, "--pool", pool))
    devices = [device for each in slices for device in each["spec"]["devices"]]
    product = devices[0]["attributes"]["productName"]["string"].removeprefix("NVIDIA ").split()[0]
    return NodeDevices(len(devices), product, devices[0]["capacity"]["memory"]["value"])


def verdict_pictures() -> dict[str, str]:
    """Return the README's pictures by file name: one for light pages and one for dark pages."""
    plan = json.loads(printed(*SHOWN, "--format", "json"))
    devices = {pool["name"]: node_devices(pool["name"]) for pool in plan["pools"]}
    headline = printed(*SHOWN, "--quiet").splitlines()[0].partition(" ")[2].partition(" in ")[0]
    return {
        f"plan-{name}.svg": verdict_picture(plan, headline, devices, tokens)
        for name, tokens in (("light", LIGHT), ("dark", DARK))
    }


def main() -> None:
    """Write every picture."""
    for name, text in verdict_pictures().items():
        (ROOT / "docs" / name).write_text(text, encoding="utf-8")
    for target, words in DRAWN.items():
        with contextlib.chdir(ROOT), contextlib.redirect_stdout(io.StringIO()):
            command((*words, "--picture", target))


if __name__ == "__main__":
    sys.exit(main())
