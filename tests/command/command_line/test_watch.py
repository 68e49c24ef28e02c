"""`--watch` runs again after a change, and only then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_project import EXAMPLES, Project

FLAT = "exactly: {deviceClassName: gpu.nvidia.com}"
CLAIM = (
    "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: one}\n"
    "spec: {devices: {requests: [{name: gpu, %s}]}}\n"
)


def wait_for(file: Path, text: str, times: int) -> None:
    until = time.monotonic() + 60
    while file.read_text().count(text) < times:
        assert time.monotonic() < until, file.read_text()
        time.sleep(0.05)


def test_change_runs_the_check_again(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    claim, out = tmp_path / "claim.yaml", tmp_path.parent / f"{tmp_path.name}.txt"
    claim.write_text(CLAIM % FLAT)
    with out.open("w") as log:
        running = subprocess.Popen(
            [sys.executable, "-m", "dra_command", "check", "claim.yaml", "--watch"],
            cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT, env=dict(os.environ),
            # a shell that runs the tests in the background ignores SIGINT, and children inherit it
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        try:
            wait_for(out, "watching claim.yaml", 1)
            assert out.read_text().count("No findings") == 1
            time.sleep(0.5)  # the watcher has started, and nothing runs without a change
            assert out.read_text().count("No findings") == 1
            claim.write_text(CLAIM % "deviceClassName: gpu.nvidia.com")
            wait_for(out, "1 error", 1)
            claim.write_text(CLAIM % FLAT)
            wait_for(out, "No findings", 2)
        finally:
            running.send_signal(signal.SIGINT)
            assert running.wait(30) in (0, 130)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-"], "--watch supports only files"),
        (["--context", "gpu"], "--watch supports only files"),
        (["gone"], "--watch needs files to watch"),
    ],
)
def test_unsupported_watch_is_rejected(words: list[str], message: str, tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    done = Project(tmp_path).run("plan", *words, "--watch")
    assert (done.status, message in done.err) == (2, True)


@pytest.mark.parametrize("words", [["workloads"], ["--fleet", "fleet.yaml"], ["--stack", "dev"]])
def test_watch_fix_names_watchable_files(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without files, expect a fix. With the files that it names, expect a run, followed by waiting
    for changes.
    """
    watchfiles = pytest.importorskip("watchfiles")
    watched: list[str] = []
    monkeypatch.setattr(
        watchfiles, "watch", lambda *folders, **_: iter(watched.extend(folders) or ())
    )
    monkeypatch.setattr(subprocess, "run", lambda line, check: subprocess.CompletedProcess(line, 0))
    project = Project(tmp_path)
    project.stack()
    project.write("workloads/claim.yaml", CLAIM % FLAT)
    project.write("fleet.yaml", "{}")
    assert (
        "; pass files or folders, --fleet, or --stack" in project.run("plan", "gone", "--watch").err
    )
    assert project.run("plan", *words, "--watch").status == 0
    assert watched == ["." if words[-1] == "dev" else words[-1]]


def test_missing_watch_extra_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    done = Project(tmp_path).run("check", str(EXAMPLES / "workloads"), "--watch")
    assert (done.status, '[watch]"' in done.err) == (2, True)
