"""`plan --quiet --suggest` prints whether it wrote the file."""

from __future__ import annotations

import pytest
from command_project import Project

from dra_command.plan import added_pools
from dra_planner.plan.suggestion.added_pools import NoAddedPools

NODES = ({"name": "mig", "machine": "p5.4xlarge", "mig": "all-3g.40gb", "count": {"max": 1}},)


def test_reason_for_not_writing_a_file_is_printed(project: Project) -> None:
    done = project.run("plan", "--stack", "dev", "--quiet", "--suggest", "s.yaml")

    assert "s.yaml isn't written, because all workloads already fit" in done.err


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (NoAddedPools(), "the workloads don't fit, even with additional pools"),
        (NoAddedPools(NODES), "the verdict with 1 × p5.4xlarge (mig: all-3g.40gb) is cannot tell"),
    ],
)
def test_missing_pools_are_reported_with_the_verdict(
    project: Project, monkeypatch: pytest.MonkeyPatch, found: NoAddedPools, reason: str
) -> None:
    monkeypatch.setattr(added_pools, "find_added_pools", lambda request: found)
    project.stack("max: 4", "max: 1")

    done = project.run("plan", "--stack", "dev", "--quiet", "--suggest", "s.yaml")

    assert done.status == 1
    assert f"s.yaml isn't written, because {reason}" in done.err
    assert not (project.root / "s.yaml").exists()
