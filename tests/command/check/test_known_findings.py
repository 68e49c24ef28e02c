"""`check --baseline` and `check --diff`: earlier findings aren't reported again."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from command_project import Done, Project

BROKEN = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: NAME}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, cuont: 1}}]}}
"""


def broken(*names: str) -> str:
    return "---\n".join(BROKEN.replace("NAME", name) for name in names)


@pytest.fixture
def failing(project: Project) -> Project:
    """A project with a claim that the API server rejects."""
    project.write("workloads/claims.yaml", broken("one"))
    return project


def checked(project: Project, *words: str) -> Done:
    return project.run("check", "workloads", "--format", "json", *words)


def errors(done: Done) -> list[str]:
    return [
        each["message"].partition(":")[0]
        for each in done.json["diagnostics"]
        if each["severity"] == "error"
    ]


class TestABaseline:
    def test_findings_in_the_baseline_are_not_reported(self, failing: Project) -> None:
        assert checked(failing).status == 1
        written = failing.run("check", "workloads", "--write-baseline", "known.json")

        done = checked(failing, "--baseline", "known.json")

        assert (written.status, written.out) == (0, "known.json: 1 finding\n")
        assert (done.status, errors(done), done.json["known"]) == (0, [], 1)
        text = failing.run("check", "workloads", "--baseline", "known.json").out
        assert "; 1 finding known before." in " ".join(text.split())

    def test_lines_may_move_and_new_findings_are_reported(self, failing: Project) -> None:
        failing.run("check", "workloads", "--write-baseline", "known.json")
        failing.write("workloads/claims.yaml", "# a comment\n\n" + broken("one", "two"))

        done = checked(failing, "--baseline", "known.json")

        assert (done.status, errors(done), done.json["known"]) == (
            1,
            ["ResourceClaim default/two"],
            1,
        )

    def test_paths_may_be_written_differently(self, failing: Project) -> None:
        failing.run("check", "workloads", "--write-baseline", "known.json")

        for path in ("./workloads", str(failing.root / "workloads"), "workloads/claims.yaml"):
            assert failing.run("check", path, "--baseline", "known.json").status == 0

    def test_resolved_findings_are_a_note(self, failing: Project) -> None:
        failing.run("check", "workloads", "--write-baseline", "known.json")
        failing.write("workloads/claims.yaml", broken("one").replace("cuont", "count"))

        done = checked(failing, "--baseline", "known.json")
        elsewhere = failing.run(
            "check", "workloads/two-pods.yaml", "--baseline", "known.json", "--format", "json"
        )

        assert [(each["code"], each["message"]) for each in done.json["diagnostics"]] == [
            ("baseline-outdated", "1 finding in the baseline is resolved")
        ]
        assert elsewhere.json["diagnostics"] == []

    def test_misfit_in_the_baseline_does_not_fail_the_check(self, project: Project) -> None:
        project.stack("max: 4", "max: 1")
        assert project.run("check", "--stack", "dev").status == 1
        project.run("check", "--stack", "dev", "--write-baseline", "known.json")

        done = project.run(
            "check", "--stack", "dev", "--baseline", "known.json", "--format", "json"
        )

        assert (done.status, done.json["verdict"]) == (0, "fits")

    def test_baseline_is_deterministic(self, failing: Project) -> None:
        for name in ("a.json", "b.json"):
            failing.run("check", "workloads", "--write-baseline", name)

        assert (failing.root / "a.json").read_text() == (failing.root / "b.json").read_text()

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "isn't a baseline file"),
            ("[]", "isn't a baseline file"),
            ('{"version": 2, "findings": []}', "known.json isn't a baseline file (version)"),
            ('{"version": 1, "findings": [{"fingerprint": "x"}]}', "findings.0"),
        ],
    )
    def test_invalid_baseline_is_wrong_input(
        self, failing: Project, text: str, message: str
    ) -> None:
        failing.write("known.json", text)

        done = failing.run("check", "workloads", "--baseline", "known.json")

        assert done.status == 2
        assert message in done.err

    def test_missing_file_is_reported(self, failing: Project) -> None:
        assert (
            "gone.json doesn't exist"
            in failing.run("check", "workloads", "--baseline", "gone.json").err
        )
        assert (
            "can't be written"
            in failing.run("check", "workloads", "--write-baseline", "gone/a.json").err
        )


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", "-C", str(root), *identity, *words], check=True, capture_output=True)


@pytest.fixture
def committed(failing: Project) -> Project:
    """The project as the first commit of a repository."""
    git(failing.root, "init", "-q", "-b", "main")
    git(failing.root, "add", ".")
    git(failing.root, "commit", "-q", "-m", "first")
    return failing


class TestADifference:
    def test_existing_findings_are_not_reported(self, committed: Project) -> None:
        assert checked(committed).status == 1
        assert (
            checked(committed, "--diff", "main").status,
            errors(checked(committed, "--diff", "main")),
        ) == (0, [])

    def test_new_findings_are_reported(self, committed: Project) -> None:
        committed.write("workloads/claims.yaml", broken("zero", "one"))
        committed.write("workloads/more.yaml", broken("more"))

        done = checked(committed, "--diff", "main")

        assert done.status == 1
        assert errors(done) == ["ResourceClaim default/zero", "ResourceClaim default/more"]
        assert done.json["known"] == 1

    def test_smaller_fleet_is_a_change(self, committed: Project) -> None:
        assert (
            committed.run(
                "check", "workloads/two-pods.yaml", "--stack", "dev", "--diff", "main"
            ).status
            == 0
        )
        committed.stack("max: 4", "max: 1")

        done = committed.run(
            "check",
            "workloads/two-pods.yaml",
            "--stack",
            "dev",
            "--diff",
            "main",
            "--format",
            "json",
        )

        assert [each["code"] for each in done.json["diagnostics"]] == ["pool-maximum-too-small"]
        assert (done.status, done.json["verdict"]) == (1, "does-not-fit")

    def test_relative_and_absolute_paths_are_compared(self, committed: Project) -> None:
        below = Project(committed.root / "workloads")

        assert below.run("check", ".", "--diff", "main").status == 0
        assert (
            committed.run("check", str(committed.root / "workloads"), "--diff", "main").status == 0
        )
        assert below.run("check", "../workloads/claims.yaml", "--diff", "main").status == 0

    def test_new_folder_is_compared(self, committed: Project) -> None:
        committed.write("new/claims.yaml", broken("one"))

        assert errors(committed.run("check", "new", "--diff", "main", "--format", "json")) == [
            "ResourceClaim default/one"
        ]

    def test_base_that_cannot_be_checked_has_a_note(self, committed: Project) -> None:
        (committed.root / "workloads" / "two-pods.yaml").unlink()
        committed.write("workloads/claims.yaml", "kind: [\n")
        git(committed.root, "add", "-A")
        git(committed.root, "commit", "-q", "-m", "broken")
        committed.write("workloads/claims.yaml", broken("one"))

        done = checked(committed, "--diff", "HEAD")

        assert errors(done) == ["ResourceClaim default/one"]
        (note,) = (each for each in done.json["diagnostics"] if each["code"] == "base-not-checked")
        assert note["message"].startswith('"HEAD" can\'t be checked (')

    def test_working_tree_is_unchanged(self, committed: Project) -> None:
        committed.write("workloads/more.yaml", broken("more"))
        checked(committed, "--diff", "main")

        done = subprocess.run(
            ["git", "-C", str(committed.root), "status", "--porcelain"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "?? workloads/more.yaml\n"

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--diff", "nowhere"), "git can't find the ref"),
            (("--diff", "--output=x"), "expected one argument"),
            (("--diff", "main", "--baseline", "a.json"), "not allowed with"),
        ],
    )
    def test_wrong_refs_are_rejected(
        self, committed: Project, words: tuple[str, ...], message: str
    ) -> None:
        done = committed.run("check", "workloads", *words)

        assert done.status == 2
        assert message in done.err

    def test_standard_input_cannot_be_compared(self, committed: Project) -> None:
        done = committed.run("check", "-", "--diff", "main", stdin=broken("one"))

        assert done.status == 2
        assert "pass files or folders" in done.err

    def test_diff_outside_a_repository_is_an_error(self, failing: Project) -> None:
        done = failing.run(
            "check", "workloads", "--diff", "main", GIT_CEILING_DIRECTORIES=str(failing.root.parent)
        )

        assert done.status == 2
        assert "git can't find a repository in the current folder" in done.err


def test_written_baseline_matches_its_schema(failing: Project) -> None:
    failing.run("check", "workloads", "--write-baseline", "known.json")

    document = json.loads((failing.root / "known.json").read_text(encoding="utf-8"))
    schema = json.loads(
        (Path(__file__).parents[3] / "docs/schema/baseline.json").read_text(encoding="utf-8")
    )
    assert set(document) == set(schema["properties"])
    assert set(document["findings"][0]) == set(schema["$defs"]["KnownFinding"]["properties"])
