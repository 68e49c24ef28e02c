"""A project in a scratch folder, and the command run in it as a user runs it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from msgspec import Struct

from dra_command.__main__ import main

EXAMPLES = Path(__file__).parents[2] / "examples"

STACK = """\
config:
  aws:region: us-east-1
  pulumi-dra:workloads:
    - workloads
  pulumi-dra:fleet:
    cloud: eks
    region: us-east-1
    kubernetes: "1.34"
    systemPool:
      machine: m7i.large
    drivers:
      nvidia:
        version: 25.8.1
    pools:
      - name: l4
        machine: g6.2xlarge
        count: {min: 0, max: 4}
"""


class Done(Struct, frozen=True):
    """The files and output of a run."""

    status: int
    out: str
    err: str  # without notes, which depend on the date
    notes: tuple[str, ...] = ()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Project(Struct, frozen=True):
    """A folder with one stack, `dev`, and its workloads."""

    root: Path

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def stack(self, old: str = "", new: str = "", *, name: str = "dev") -> None:
        """Write the stack with one text replaced by another."""
        assert old in STACK
        self.write(f"stacks/Pulumi.{name}.yaml", STACK.replace(old, new, 1) if old else STACK)

    def run(self, *words: str, stdin: str = "", **environment: str) -> Done:
        """Run the command in this process."""
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self.root),
            patch.dict(os.environ, {"COLUMNS": "120", **environment}),
            patch.object(sys, "stdin", io.StringIO(stdin)),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            status = main(words)
        lines = err.getvalue().splitlines(keepends=True)
        notes = tuple(
            line.strip().removeprefix("note: ") for line in lines if line.startswith("note: ")
        )
        others = "".join(line for line in lines if not line.startswith("note: "))
        return Done(status, out.getvalue(), others, notes)

    def run_apart(self, *words: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
        """Run the command in a separate process."""
        return subprocess.run(
            [sys.executable, "-m", "dra_command", *words], cwd=self.root, check=False, **options
        )


def stack_state() -> dict[str, Any]:
    """Return the exported state of a stack that another program created."""

    def row(kind: str, name: str, inputs: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {
            "urn": f"urn:pulumi:prod::other::{kind}::{name}",
            "type": kind,
            "inputs": inputs,
            **more,
        }

    cluster = row(
        "aws:eks/cluster:Cluster",
        "main",
        {
            "version": "1.35",
            "region": "us-east-1",
            "tags": {
                "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
                "ciphertext": "v1:secret",
            },
        },
    )
    pool = {
        "instanceTypes": ["g6.2xlarge"],
        "labels": {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.dra": "true", "team": "a"},
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
        "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 3},
    }
    driver = {
        "chart": "nvidia-dra-driver-gpu",
        "version": "25.8.1",
        "values": {"gpuResourcesEnabledOverride": True},
    }
    rows = [
        cluster,
        row(
            "aws:eks/nodeGroup:NodeGroup",
            "gpus",
            pool,
            propertyDependencies={"clusterName": [cluster["urn"]]},
        ),
        row("aws:eks/nodeGroup:NodeGroup", "old", {"instanceTypes": ["p4d.24xlarge"]}, delete=True),
        row("kubernetes:helm.sh/v3:Release", "driver", driver),
    ]
    return {"version": 3, "deployment": {"resources": rows}}
