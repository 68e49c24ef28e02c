"""MIG at boot, in bash: the script with a simulated `nvidia-smi`, and the installer with a
simulated `systemctl`.
"""

import json
import os
import subprocess
from base64 import b64decode
from collections.abc import Callable
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

from pulumi_dra.eks import EksGpuPool
from pulumi_dra.eks.boot.mig import PROGRAM_PATH, UNIT, mig_installer, mig_program

GOLDEN = Path(__file__).parent / "golden" / "mig-user-data.txt"

# Keeps the mode and instances of each GPU in a file, prints tables in the real format, and records
# changes.
NVIDIA_SMI = """\
#!/usr/bin/env python3
import json, os, sys
path = os.environ["GPUS"]
state = json.load(open(path))
args = sys.argv[1:]
if args == ["-L"]:
    raise SystemExit(state.get("driver", 0))
gpu = state["gpus"][args[args.index("-i") + 1]]
if "--query-gpu=mig.mode.current" in args:
    print(gpu["mode"])
    raise SystemExit
rows = [f"|   0  MIG {name:18} 19        7          0:1     |" for name in gpu["instances"]]
if "-lgi" in args or "-lci" in args:
    print(chr(10).join(rows) if rows else "No GPU instances found: Not Found")
    raise SystemExit(0 if rows else 6)
state["calls"].append(" ".join(args))
if "-mig" in args:
    gpu["mode"] = "Disabled" if gpu["needs_reset"] else "Enabled"
elif "--gpu-reset" in args:
    gpu["mode"] = "Enabled" if gpu["needs_reset"] == "once" else "Disabled"
elif "-dgi" in args:
    gpu["instances"] = []
elif "-cgi" in args:
    wanted = args[args.index("-cgi") + 1].split(",")
    gpu["instances"] = wanted[: gpu["room"]]
json.dump(state, open(path, "w"))
"""
SYSTEMCTL = """\
#!/bin/bash
echo "$*" >>"$SYSTEMCTL_CALLS"
[ "$1" != start ] || [ "$2" != "$FAILING" ]
"""
WHOLE = {"mode": "Disabled", "instances": [], "needs_reset": "", "room": 7}


class Node:
    """A machine with GPUs, on which scripts run."""

    def __init__(self, folder: Path, **gpus: dict[str, Any]) -> None:
        self._folder, self._gpus = folder, folder / "gpus.json"
        self._write(
            {
                "gpus": {name.removeprefix("gpu"): {**WHOLE, **gpu} for name, gpu in gpus.items()},
                "calls": [],
            }
        )
        for name, text in (("nvidia-smi", NVIDIA_SMI), ("systemctl", SYSTEMCTL)):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)

    def run(self, script: str, failing: str = "") -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": f"{self._folder}:{os.environ['PATH']}",
            "GPUS": str(self._gpus),
            "SYSTEMCTL_CALLS": str(self._folder / "systemctl.calls"),
            "FAILING": failing,
            "DRIVER_SECONDS": os.environ.get("DRIVER_SECONDS", "300"),
        }
        return subprocess.run(
            ["bash", "-c", script], env=environment, text=True, capture_output=True, check=False
        )

    def gpu(self, name: str) -> dict[str, Any]:
        return json.loads(self._gpus.read_text())["gpus"][name]

    def calls(self) -> list[str]:
        """Return the changes since the last call."""
        state = json.loads(self._gpus.read_text())
        self._write({**state, "calls": []})
        return state["calls"]

    def _write(self, state: dict[str, Any]) -> None:
        self._gpus.write_text(json.dumps(state))


def test_instances_are_created_once_and_again_after_a_reboot(tmp_path: Path) -> None:
    node, program = Node(tmp_path, gpu0={}, gpu1={}), mig_program([["3g.40gb", "4g.40gb"], None])
    assert node.run(program).returncode == 0
    assert node.gpu("0")["instances"] == ["3g.40gb", "4g.40gb"]
    assert node.gpu("1") == WHOLE
    node.calls()
    assert node.run(program).returncode == 0
    assert node.calls() == []
    # MIG mode remains, but the instances are deleted
    node = Node(tmp_path, gpu0={"mode": "Enabled"}, gpu1={})
    assert node.run(program).returncode == 0
    assert node.gpu("0")["instances"] == ["3g.40gb", "4g.40gb"]
    assert not any("-mig" in call for call in node.calls())


def test_other_instances_are_replaced(tmp_path: Path) -> None:
    node = Node(tmp_path, gpu0={"mode": "Enabled", "instances": ["7g.80gb"]})
    assert node.run(mig_program([["1g.10gb"] * 7])).returncode == 0
    assert node.gpu("0")["instances"] == ["1g.10gb"] * 7


def test_mig_mode_without_instances_is_enabled(tmp_path: Path) -> None:
    node = Node(tmp_path, gpu0={})
    assert node.run(mig_program([[]])).returncode == 0
    assert (node.gpu("0")["mode"], node.gpu("0")["instances"]) == ("Enabled", [])


def test_a_pending_mode_is_applied_by_a_reset(tmp_path: Path) -> None:
    node = Node(tmp_path, gpu0={"needs_reset": "once"})
    assert node.run(mig_program([["7g.80gb"]])).returncode == 0
    assert "-i 0 --gpu-reset" in node.calls()


@pytest.mark.parametrize(
    ("gpu", "message"),
    [
        pytest.param(
            {"needs_reset": "always"},
            "GPU 0: MIG mode cannot be turned on",
            id="the mode stays off",
        ),
        pytest.param({"room": 3}, "GPU 0 doesn't have its MIG instances", id="fewer instances"),
    ],
)
def test_configuration_that_fails_is_an_error(
    tmp_path: Path, gpu: dict[str, Any], message: str
) -> None:
    done = Node(tmp_path, gpu0=gpu).run(mig_program([["1g.10gb"] * 7]))
    assert done.returncode == 1
    assert message in done.stderr


@pytest.mark.parametrize("failing", ["", UNIT])
def test_installer_starts_the_unit_and_a_failed_node_does_not_join(
    tmp_path: Path, failing: str
) -> None:
    script = mig_installer([["7g.80gb"]]).replace("/usr/local/sbin", str(tmp_path))
    done = Node(tmp_path).run(script.replace("/etc/systemd/system", str(tmp_path)), failing)
    calls = (tmp_path / "systemctl.calls").read_text().splitlines()
    assert calls[:4] == [
        "daemon-reload",
        f"enable {UNIT}",
        "stop nvidia-persistenced.service",
        f"start {UNIT}",
    ]
    assert calls[4:] == (
        ["mask --runtime --now nodeadm-run.service"]
        if failing
        else ["start nvidia-persistenced.service"]
    )
    assert done.returncode == (1 if failing else 0)
    installed = tmp_path / Path(PROGRAM_PATH).name
    assert installed.read_text() == mig_program([["7g.80gb"]])
    assert os.access(installed, os.X_OK)
    assert "RequiredBy=nodeadm-run.service" in (tmp_path / UNIT).read_text()


def test_user_data_configures_mig(declare: Callable[..., Any]) -> None:
    declared = declare(
        lambda: EksGpuPool(
            "a100",
            {
                "cluster_name": "dev",
                "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
                "subnet_ids": ["subnet-a"],
                "machine": "p4d.24xlarge",
                "max_nodes": 1,
                "mig_layout": "0=all-1g.5gb;1=all-balanced",
            },
        )
    )
    document = b64decode(declared.one("LaunchTemplate").inputs["userData"])
    (part,) = message_from_bytes(document).get_payload()
    assert part.get_content_type() == "text/x-shellscript"
    assert subprocess.run(["bash", "-n", "-c", part.get_payload()], check=False).returncode == 0
    if os.environ.get("REWRITE_GOLDEN"):
        GOLDEN.write_bytes(document)
    assert document == GOLDEN.read_bytes()


def test_driver_that_never_responds_fails_with_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = Node(tmp_path, gpu0={})
    state = json.loads((tmp_path / "gpus.json").read_text())
    (tmp_path / "gpus.json").write_text(json.dumps({**state, "driver": 9}))
    monkeypatch.setenv("DRIVER_SECONDS", "0")
    done = node.run(mig_program([["7g.80gb"]]))
    assert done.returncode == 1
    assert "The NVIDIA driver doesn't answer" in done.stderr
    assert node.gpu("0") == WHOLE
