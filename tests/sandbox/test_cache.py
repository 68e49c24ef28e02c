"""The per-user cache: files are stored completely or not at all, and only once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from dra_sandbox.cache import CacheUnusable, cache_folder, obtain


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return cache_folder()


def test_the_cache_follows_the_base_directory_specification(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache_folder() == tmp_path / "pulumi-dra"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "pulumi-dra"


def test_an_unwritable_cache_is_reported_with_a_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    with pytest.raises(CacheUnusable, match="set XDG_CACHE_HOME"):
        cache_folder()


def test_a_cached_item_is_not_created_again(cache: Path) -> None:
    made: list[Path] = []

    for _ in range(2):
        obtain(cache / "tools" / "a-1", lambda staging: made.append(staging))

    assert len(made) == 1
    assert [path.name for path in (cache / "tools").iterdir()] == ["a-1"]


def test_an_interrupted_attempt_leaves_no_files_and_can_be_repeated(cache: Path) -> None:
    def interrupted(staging: Path) -> None:
        (staging / "half").write_text("")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        obtain(cache / "tools" / "a-1", interrupted)
    assert list((cache / "tools").iterdir()) == []

    # A killed process can't clean up, so the next one does.
    (cache / "tools" / ".a-1.killed").mkdir()
    obtain(cache / "tools" / "a-1", lambda staging: (staging / "whole").touch())
    assert [path.name for path in (cache / "tools").rglob("*")] == ["a-1", "whole"]


def test_of_two_simultaneous_processes_the_second_reports_that_it_waits(cache: Path) -> None:
    first_is_in, second_waits = threading.Event(), threading.Event()
    made: list[str] = []

    def slowly(staging: Path) -> None:
        first_is_in.set()
        assert second_waits.wait(20)
        made.append("first")

    first = threading.Thread(target=obtain, args=(cache / "tools" / "a-1", slowly))
    first.start()
    assert first_is_in.wait(20)
    obtain(cache / "tools" / "a-1", lambda staging: made.append("second"), second_waits.set)
    first.join()

    assert made == ["first"]
