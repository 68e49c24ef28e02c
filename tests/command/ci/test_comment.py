"""`pulumi-dra ci` keeps one comment up to date, tested with servers that imitate the APIs of GitHub
and GitLab.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest
from comment_host import Host, environment, running_host

from dra_command.ci import run
from dra_command.ci.comment import CommentError, Thread, find_thread

MARK = "<!-- pulumi-dra:comment -->"


@pytest.fixture(params=["github", "gitlab"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def host(kind: str) -> Iterator[Host]:
    with running_host(kind) as made:
        yield made


def thread_of(kind: str, host: Host, folder: Path) -> Thread:
    found = find_thread("auto", environment(kind, host, folder))
    assert found is not None
    return found


def test_second_run_edits_the_first_comment(kind: str, host: Host, tmp_path: Path) -> None:
    host.comments.append({"id": 1, "body": "looks good"})
    for body in ("one", "two"):
        thread_of(kind, host, tmp_path).write(MARK, body)

    assert [each["body"] for each in host.comments] == ["looks good", f"{MARK}\ntwo"]
    last = host.calls[-1]
    assert last == (
        ("PATCH", "/repos/acme/platform/issues/comments/1001")
        if kind == "github"
        else ("PUT", "/projects/5/merge_requests/7/notes/1001")
    )


def test_equal_report_changes_nothing(kind: str, host: Host, tmp_path: Path) -> None:
    for _ in range(2):
        thread_of(kind, host, tmp_path).write(MARK, "one")
    assert [method for method, _ in host.calls] == ["GET", "POST", "GET"]


def test_comment_is_found_behind_many_others(kind: str, host: Host, tmp_path: Path) -> None:
    host.comments += [{"id": number, "body": f"comment {number}"} for number in range(250)]
    host.comments.append({"id": 999, "body": f"{MARK}\nold"})
    thread_of(kind, host, tmp_path).write(MARK, "new")
    assert (len(host.comments), host.comments[-1]["body"]) == (251, f"{MARK}\nnew")


def test_named_runs_have_their_own_comments(kind: str, host: Host, tmp_path: Path) -> None:
    for name in ("a", "b", "a"):
        thread_of(kind, host, tmp_path).write(f"<!-- pulumi-dra:comment {name} -->", name)
    assert len(host.comments) == 2


def test_a_token_without_permission_is_reported(kind: str, host: Host, tmp_path: Path) -> None:
    found = find_thread("auto", environment(kind, host, tmp_path, token="wrong"))
    assert found is not None
    with pytest.raises(CommentError, match=r"returned 403") as caught:
        found.write(MARK, "one")
    assert "wrong" not in str(caught.value)


def test_a_missing_token_is_reported(kind: str, host: Host, tmp_path: Path) -> None:
    with pytest.raises(CommentError, match=r"TOKEN isn't set"):
        find_thread("auto", environment(kind, host, tmp_path, token=""))


def test_run_without_a_pull_request_has_no_comment(tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text('{"ref": "refs/heads/main"}')
    event = {
        "GITHUB_REPOSITORY": "acme/platform",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
    }
    assert find_thread("auto", event) is None
    assert find_thread("auto", {"CI_PROJECT_ID": "5"}) is None


@pytest.mark.parametrize(
    ("requested", "noted"), [("github", True), ("gitlab", True), ("auto", False)]
)
def test_comment_requested_without_a_pull_request_is_noted(
    requested: str, noted: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("GITHUB_REPOSITORY", "CI_MERGE_REQUEST_IID"):
        monkeypatch.delenv(name, raising=False)
    run._comment(argparse.Namespace(comment=requested, name=""), "report")
    errors = capsys.readouterr().err
    assert (f"--comment {requested} doesn't post a comment" in errors) == noted
