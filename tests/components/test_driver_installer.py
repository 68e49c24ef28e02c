"""The driver installer on GKE: the effect of its script on a node, tested with bash."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pulumi
import pytest

from pulumi_dra.dra.nvidia.driver_installer import INSTALL, DriverInstaller, installer_spec


@pytest.mark.parametrize(
    ("loaded", "output"),
    [
        pytest.param("", "installs --version=580.95.05", id="nothing is loaded"),
        pytest.param(
            "580.95.05",
            "driver 580.95.05 is loaded",
            id="loaded already, at a later start of the pod",
        ),
        pytest.param(
            "570.1", "stays until the node restarts; asked for: 580.95.05", id="another version"
        ),
    ],
)
def test_loaded_driver_is_not_reinstalled(tmp_path: Path, loaded: str, output: str) -> None:
    installer = tmp_path / "cos-gpu-installer"
    installer.write_text('#!/bin/bash\necho "$1s $2"\n')
    installer.chmod(0o755)
    if loaded:
        (tmp_path / "version").write_text(f"{loaded}\n")
    script = INSTALL.replace("/cos-gpu-installer", str(installer)).replace(
        "/sys/module/nvidia/version", str(tmp_path / "version")
    )
    environment = {"PATH": os.environ["PATH"], "DRIVER_VERSION": "580.95.05"}
    done = subprocess.run(
        ["bash", "-c", script], env=environment, text=True, capture_output=True, check=True
    )
    assert output in done.stdout
    assert ("installs" in done.stdout) is not bool(loaded)


def test_pod_installs_the_requested_driver_version() -> None:
    (install,) = installer_spec("580.95.05", "mirror.example/pause")["template"]["spec"][
        "initContainers"
    ]
    assert install["command"] == ["bash", "-c", INSTALL]
    assert {"name": "DRIVER_VERSION", "value": "580.95.05"} in install["env"]


@pytest.mark.parametrize(
    ("driver", "warned"),
    [
        ("580.173.02", "COS 125 and 129"),
        ("575.57.08", "listed for any known"),
        ("latest", ""),
    ],
)
def test_version_that_an_image_may_not_support_is_reported(
    declare: Any, monkeypatch: pytest.MonkeyPatch, driver: str, warned: str
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi, "warn", lambda text, *_: warnings.append(text))
    declare(lambda: DriverInstaller("installer", {"driver": driver}))
    assert [warned in text for text in warnings] == ([True] if warned else [])
