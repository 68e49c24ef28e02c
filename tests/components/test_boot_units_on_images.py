"""The boot units of a pool together with the driver units of EKS images, verified by systemd."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from pulumi_dra.eks.boot import huge_pages, mig

SYSTEMD_ANALYZE = shutil.which("systemd-analyze")
pytestmark = pytest.mark.skipif(
    SYSTEMD_ANALYZE is None, reason="needs systemd-analyze (package systemd)"
)

# The ordering and requirements of units in each generation of EKS' AL2023 NVIDIA images; all units
# are one-shots here (awslabs/amazon-eks-ami:templates/al2023/runtime@81fec2e, @95a9164, and
# @c087c7f).
_EVERY_IMAGE = {
    "cloud-final": {},
    "nodeadm-config": {},
    "nodeadm-run": {
        "After": "nodeadm-config.service cloud-final.service",
        "Requires": "nodeadm-config.service",
    },
    "kubelet": {},
    "nvidia-persistenced": {},
    "nvidia-fabricmanager": {},
    "set-nvidia-clocks": {
        "After": "nvidia-persistenced.service",
        "Requires": "nvidia-persistenced.service",
    },
}
_KMOD_LOAD = {
    "nvidia-kmod-load": {"Before": "nvidia-fabricmanager.service nvidia-persistenced.service"},
}
_RESOLVE = {
    "nvidia-driver-resolve": {
        "DefaultDependencies": "no",
        "After": "local-fs.target",
        "RefuseManualStart": "yes",
    },
}
_OVERLAYS = {
    **_RESOLVE,
    "nvidia-setup": {
        "After": "nvidia-driver-resolve.service",
        "Before": "nvidia-persistenced.service nvidia-fabricmanager.service",
        "RefuseManualStart": "yes",
    },
}
_COPIES = {
    **_RESOLVE,
    "nvidia-usr-copy@": {"After": "nvidia-driver-resolve.service"},
    "nvidia-package-install": {
        "After": "nvidia-usr-copy@bin.service",
        "Requires": "nvidia-usr-copy@bin.service",
        "Before": "cloud-final.service",
        "RefuseManualStart": "yes",
    },
    "nvidia-setup": {
        "After": "nvidia-usr-copy@bin.service",
        "Wants": "nvidia-usr-copy@bin.service",
        "Before": "nvidia-persistenced.service nvidia-fabricmanager.service",
        "RefuseManualStart": "yes",
    },
}
GENERATIONS = {
    "driver built at boot": _KMOD_LOAD,
    "driver trees as overlays": _OVERLAYS,
    "driver trees as copies": _COPIES,
    "a new loader": {"gpu-modules": {}},
}


def _verify(folder: Path, image: Mapping[str, Mapping[str, str]], unit: str, text: str) -> str:
    """Return systemd's complaints about a unit and nodeadm-run on an image, "" for none."""
    for name, rules in {**_EVERY_IMAGE, **image}.items():
        lines = [f"{key}={value}" for key, value in rules.items()]
        service = ["[Service]", "Type=oneshot", "ExecStart=/bin/true"]
        (folder / f"{name}.service").write_text("\n".join(["[Unit]", *lines, *service]) + "\n")
    program = next(
        line.removeprefix("ExecStart=")
        for line in text.splitlines()
        if line.startswith("ExecStart=")
    )
    (folder / unit).write_text(text.replace(program, "/bin/true"))
    # The links that `systemctl enable` creates.
    (folder / "nodeadm-run.service.requires").mkdir()
    (folder / "nodeadm-run.service.requires" / unit).symlink_to(f"../{unit}")
    done = subprocess.run(
        [
            str(SYSTEMD_ANALYZE),
            "verify",
            "--man=no",
            str(folder / unit),
            str(folder / "nodeadm-run.service"),
        ],
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:"},
        text=True,
        capture_output=True,
        check=False,
    )
    ours = [
        line
        for line in done.stderr.splitlines()
        if unit in line or "nodeadm-run" in line or "cycle" in line
    ]
    return "\n".join(ours)


@pytest.mark.parametrize("image", GENERATIONS.values(), ids=GENERATIONS)
@pytest.mark.parametrize("module", [mig, huge_pages], ids=["MIG", "huge pages"])
def test_systemd_accepts_the_units_on_every_image(
    tmp_path: Path, module: object, image: dict[str, dict[str, str]]
):
    assert _verify(tmp_path, image, module.UNIT, module.UNIT_TEXT) == ""


def test_systemd_rejects_a_unit_that_requires_another_images_loader(tmp_path: Path) -> None:
    required = mig.UNIT_TEXT.replace("After=", "Requires=nvidia-kmod-load.service\nAfter=")
    assert "nvidia-kmod-load.service not found" in _verify(tmp_path, _OVERLAYS, mig.UNIT, required)


def test_systemd_rejects_a_unit_that_runs_after_nodeadm(tmp_path: Path) -> None:
    late = mig.UNIT_TEXT.replace("After=", "After=nodeadm-run.service ")
    assert "cycle" in _verify(tmp_path, _OVERLAYS, mig.UNIT, late)
