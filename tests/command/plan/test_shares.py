"""Shares of devices in what each command prints: amounts, and how many claims a device fits."""

from __future__ import annotations

import pytest
from command_project import EXAMPLES, Project

WORKLOAD = (EXAMPLES / "shared-gpus" / "workload.yaml").read_text(encoding="utf-8")
FLEET = ("--fleet", str(EXAMPLES / "shared-gpus" / "fleet.yaml"))  # L4: 23034Mi
LARGE = WORKLOAD.replace("7Gi", "12Gi")
LIMIT = (
    "1 claim fits on a device, because it uses 12Gi of 23034Mi memory; 2 claims fit if "
    "each requests at most 11517Mi"
)
CLAIM = ("--claim", "default/server-gpu")


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(
    "command",
    [
        ("plan", "-", *FLEET),
        ("check", "-", *FLEET),
        ("explain", "-", *FLEET, *CLAIM),
        ("explain", "-", *FLEET, *CLAIM, "--format", "markdown"),
    ],
)
def test_each_command_prints_how_many_claims_fit_on_a_device(
    project: Project, command: tuple[str, ...]
) -> None:
    """Given six claims of 12Gi on at most four L4, two pods stay pending."""
    done = project.run(*command, stdin=LARGE)
    assert (done.status, LIMIT in words(done.out)) == (1, True)


def test_explain_prints_the_amounts_of_a_fitting_claim(project: Project) -> None:
    done = project.run("explain", "-", *FLEET, *CLAIM, stdin=WORKLOAD.replace("7Gi", "7G"))
    assert (
        "memory: requests 7G, rounded up by the device's request policy; consumes 6676Mi of "
        "23034Mi, 16358Mi left on gpu-0"
    ) in words(done.out)


def test_table_of_claims_lists_the_amounts(project: Project) -> None:
    done = project.run("plan", "-", *FLEET, "--detail", stdin=WORKLOAD)
    rows = [line.split() for line in done.out.splitlines() if "server-0-gpu" in line]
    assert rows == [
        [
            "default/server-0-gpu",
            "server-0",
            "gpu",
            "l4-0",
            "gpu-0",
            "7Gi",
            "of",
            "23034Mi",
            "1530Mi",
        ]
    ]


def test_json_contains_the_amounts_of_explain_and_plan(project: Project) -> None:
    json = ("--format", "json")
    explained = project.run("explain", "-", *FLEET, *CLAIM, *json, stdin=WORKLOAD).json
    planned = project.run("plan", "-", *FLEET, "--detail", *json, stdin=WORKLOAD).json
    amounts = {
        "device": "gpu-0",
        "capacity": "memory",
        "requested": "7Gi",
        "consumed": "7Gi",
        "total": "23034Mi",
        "claims_per_device": 3,
        "at_most_for_one_more": "5758Mi",
    }
    assert explained["pools"][0]["shares"] == [{**amounts, "left": "15866Mi"}]
    assert planned["claims"][0]["devices"][0]["shares"] == [{**amounts, "left": "1530Mi"}]
