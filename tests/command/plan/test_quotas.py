"""`plan --quotas FILE` plans within the account's quotas, and prints the request that is
missing.
"""

from __future__ import annotations

import json

import pytest
from command_project import Project


def export(limit: float) -> str:
    row = {
        "QuotaCode": "L-DB2E81BA",
        "QuotaName": "Running On-Demand G and VT instances",
        "Value": limit,
    }
    return json.dumps({"Quotas": [row]})


def test_quota_that_is_too_small_is_reported_with_the_request_command(
    project: Project,
) -> None:
    project.write("quotas.json", export(8))
    small = project.run("plan", "--stack", "dev", "--quotas", "quotas.json")
    assert small.status == 1
    assert (
        "the plan needs 16 vCPUs, but the account's limit is 8, so 8 are missing. To request an "
        "increase, run `aws" in small.err
    )
    assert "--quota-code L-DB2E81BA --desired-value 16 --region us-east-1" in small.err
    project.write("quotas.json", export(16))  # as requested
    enough = project.run("plan", "--stack", "dev", "--quotas", "quotas.json")
    assert enough.status == 0
    assert "are missing" not in enough.err
    assert "pools need 32 at their maximum size" in enough.err


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        ("{}", "isn't an export of account quotas",
         "save the output of `aws service-quotas list-service-quotas --service-code ec2`, "
         "`az vm list-usage`, or `gcloud compute regions describe`"),
        (json.dumps({"quotas": [{"metric": "NVIDIA_L4_GPUS", "limit": 1}]}), "contains quotas for GKE",
         "pass the quotas of the fleet's account"),
    ],
)  # fmt: skip
def test_other_files_are_wrong_input(text: str, message: str, fix: str, project: Project) -> None:
    project.write("quotas.json", text)
    done = project.run("plan", "--stack", "dev", "--quotas", "quotas.json")
    assert done.status == 2
    assert message in done.err
    assert fix in done.err
    project.write("quotas.json", export(64))
    assert project.run("plan", "--stack", "dev", "--quotas", "quotas.json").status == 0


def test_quotas_are_not_part_of_a_saved_plan(project: Project) -> None:
    project.write("quotas.json", export(64))
    done = project.run("plan", "--stack", "dev", "--quotas", "quotas.json", "--write")
    assert done.status == 2
    assert "use --fleet or --stack, without --observed, --write, or --check" in done.err
