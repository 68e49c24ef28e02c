"""Huge pages at boot of an EKS node: the script runs in bash on a copy of the kernel's folder, and
other units wait for it.
"""

import subprocess
from base64 import b64decode
from collections.abc import Callable
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

from pulumi_dra.eks import EksGpuPool
from pulumi_dra.eks.boot.huge_pages import FOLDER, UNIT, huge_pages_program


def boot(
    folder: Path, pages: dict[str, int], *, room: dict[str, int]
) -> subprocess.CompletedProcess[str]:
    """Run the program on a kernel with free memory for this number of pages of each size (in KiB).

    A kernel file contains the actual number of pages, which can be lower than requested. The
    program reads it through `cat`.
    """
    for size in room:
        (folder / f"hugepages-{size}kB").mkdir()
    caps = "".join(f"*-{size}kB/*) most={count};; " for size, count in room.items())
    kernel = (
        'cat() { local most; case "$1" in '
        + caps
        + 'esac; n=$(<"$1"); echo $((n < most ? n : most)); }\n'
    )
    program = kernel + huge_pages_program(pages).replace(FOLDER, str(folder))
    return subprocess.run(["bash", "-c", program], text=True, capture_output=True, check=False)


def test_huge_pages_of_all_sizes_are_reserved(tmp_path: Path) -> None:
    done = boot(tmp_path, {"2Mi": 4096, "1Gi": 2}, room={"2048": 10_000, "1048576": 4})
    assert (done.returncode, done.stderr) == (0, "")
    reserved = {
        each.parent.name: each.read_text().strip() for each in tmp_path.glob("*/nr_hugepages")
    }
    assert reserved == {"hugepages-2048kB": "4096", "hugepages-1048576kB": "2"}


@pytest.mark.parametrize(
    "room", [{"2048": 4095}, {}], ids=["fewer", "a size that the processor doesn't support"]
)
def test_node_with_too_few_huge_pages_fails(tmp_path: Path, room: dict[str, int]) -> None:
    done = boot(tmp_path, {"2Mi": 4096}, room=room)
    assert done.returncode == 1
    assert ("4095 of 4096 huge pages of 2048 kB could be reserved" in done.stderr) == bool(room)


def test_huge_pages_are_reserved_at_every_boot_before_joining(declare: Callable[..., Any]) -> None:
    needed = {
        "cluster_name": "dev",
        "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
        "subnet_ids": ["subnet-a"],
        "machine": "g6.2xlarge",
        "max_nodes": 4,
    }
    declared = declare(lambda: EksGpuPool("l4", {**needed, "huge_pages_2mi": 1024}))
    (script,) = message_from_bytes(
        b64decode(declared.one("LaunchTemplate").inputs["userData"])
    ).get_payload()
    text = script.get_payload()
    assert script.get_content_type() == "text/x-shellscript"
    assert "reserve 2048 1024" in text
    for line in (
        "Before=nodeadm-run.service kubelet.service",
        "RequiredBy=nodeadm-run.service",
        f"enable {UNIT}",
    ):
        assert line in text
    assert "systemctl mask --runtime --now nodeadm-run.service" in text
