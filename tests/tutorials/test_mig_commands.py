"""Commands in pages and scripts that set up MIG, directly or with the MIG manager's label."""

from __future__ import annotations

import pytest

from dra_planner.errors import Diagnostic
from dra_planner.fleet import read_fleet
from dra_planner.sources import Source
from dra_tutorials.blocks.embedded import read_embedded
from dra_tutorials.shell.commands import command_findings

ABOUT_DRA = "Claims of resource.k8s.io/v1 on p4d.24xlarge."
RESTART = "kubectl delete pod -n nvidia-dra-driver-gpu --field-selector spec.nodeName=n1 --all"


def findings_of(command: str, prose: str = ABOUT_DRA, beside: str = "") -> list[Diagnostic]:
    page = f"# MIG\n\n{prose}\n\n```bash\n{command}\n{beside}\n```\n"
    return list(command_findings(read_embedded(Source("mig.md", page)).commands, "mig.md", page))


@pytest.mark.parametrize(
    ("command", "message", "layout"),
    [
        ("nvidia-smi -i 0 -mig 1", "enables MIG mode", "CONFIGURATION"),
        ("sudo nvidia-smi --multi-instance-gpu=0", "disables MIG mode", "none"),
        ("nvidia-smi mig -cgi 9,9 -C", "partitions the node's GPUs", "3g.20gb:2"),
        (
            "nvidia-smi mig -i 0 -cgi 3g.20gb,1g.5gb+me -C",
            "partitions the node's GPUs",
            "3g.20gb:1,1g.5gb+me:1",
        ),
        ("nvidia-smi mig -cgi $PROFILES -C", "partitions the node's GPUs", "CONFIGURATION"),
        ("nvidia-smi mig -cgi", "partitions the node's GPUs", "CONFIGURATION"),
        ("nvidia-smi mig -dci && nvidia-smi -L", "deletes MIG instances", "CONFIGURATION"),
        (
            "kubectl debug node/n -it --image=busybox -- chroot /host nvidia-smi -mig 1",
            "enables MIG mode",
            "CONFIGURATION",
        ),
        (
            "kubectl label node n1 nvidia.com/mig.config=all-1g.5gb --overwrite",
            "MIG manager",
            "all-1g.5gb",
        ),
        (
            'gcloud container node-pools create p --node-labels="nvidia.com/mig.config=$X"',
            "MIG manager",
            "CONFIGURATION",
        ),
    ],
)
def test_mig_command_warns_and_suggests_the_fleets_configuration(
    command: str, message: str, layout: str
) -> None:
    (found,) = findings_of(command)
    assert found.severity == "warning"
    assert message in found.message
    assert f"set `mig: {layout}` for the pool" in found.fix


@pytest.mark.parametrize("layout", ["3g.20gb:2", "3g.20gb:1,1g.5gb+me:1", "all-1g.5gb", "none"])
def test_suggested_mig_configuration_is_valid_in_a_fleet(layout: str) -> None:
    pool = {"name": "a", "machine": "p4d.24xlarge", "count": {"max": 1}, "mig": layout}
    document = {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": "1.34",
        "systemPool": {"machine": "m7i.large"},
    }
    assert (
        read_fleet({**document, "drivers": {"nvidia": {"version": "25.8.1"}}, "pools": [pool]})
        .pools[0]
        .mig
        == layout
    )


def test_profile_numbers_are_not_interpreted_without_a_gpu() -> None:
    (found,) = findings_of("nvidia-smi mig -cgi 9,9 -C", prose="Claims of resource.k8s.io/v1.")
    assert "`mig: CONFIGURATION`" in found.fix


def test_page_about_the_device_plugin_gets_a_note_only() -> None:
    (found,) = findings_of("nvidia-smi -mig 1", prose="With the device plugin.")
    assert found.severity == "note"


@pytest.mark.parametrize(
    "command", ["nvidia-smi mig -lgip", "nvidia-smi -L", "nvidia-smi mig -lgi | grep -mig 1"]
)
def test_read_only_mig_command_has_no_finding(command: str) -> None:
    assert findings_of(command) == []


def test_mig_command_followed_by_a_driver_restart_has_no_finding() -> None:
    assert findings_of("nvidia-smi mig -cgi 9 -C", beside=RESTART) == []
