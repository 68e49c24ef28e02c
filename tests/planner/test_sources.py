"""Sources: the texts that a path names, errors, and the digest of their documents."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dra_planner import sources
from dra_planner.errors import SourceError
from dra_planner.sources import Source, read_sources

POD = "kind: Pod\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in (
        "w/b.yaml",
        "w/a.yml",
        "w/deep/c.json",
        "w/.hidden/x.yaml",
        "w/.y.yaml",
        "w/note.txt",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n{POD}")
    (tmp_path / "w" / "kustomization.yaml").write_text("resources: [b.yaml]\n")
    return tmp_path


def names(*paths: str | Path) -> list[str]:
    return [source.name for source in read_sources(paths)]


def test_a_folder_stands_for_the_manifests_below_it_sorted_without_hidden_ones(tree: Path) -> None:
    assert names("w") == ["w/a.yml", "w/b.yaml", "w/deep/c.json"]


def test_a_file_named_twice_is_read_once(tree: Path) -> None:
    assert names("w", "w/b.yaml", Path("w/deep")) == ["w/a.yml", "w/b.yaml", "w/deep/c.json"]


def test_a_named_file_is_read_whatever_it_is_called(tree: Path) -> None:
    assert names("w/note.txt", "w/.y.yaml") == ["w/.y.yaml", "w/note.txt"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("w/*.yaml", ["w/b.yaml"]),
        ("w/**/*.json", ["w/deep/c.json"]),
        ("w/*", ["w/a.yml", "w/b.yaml", "w/deep/c.json"]),
    ],
)
def test_globs(tree: Path, pattern: str, expected: list[str]) -> None:
    assert names(pattern) == expected


def test_a_file_whose_name_looks_like_a_glob_is_that_file(tree: Path) -> None:
    (tree / "w" / "[x].yaml").write_text(POD)
    assert names("w/[x].yaml") == ["w/[x].yaml"]


def test_standard_input() -> None:
    assert read_sources(["-"], stdin=io.StringIO("kind: Pod")) == (Source("<stdin>", "kind: Pod"),)


def test_a_byte_order_mark_is_no_part_of_the_text(tree: Path) -> None:
    (tree / "bom.yaml").write_bytes(b"\xef\xbb\xbfkind: Pod\n")
    assert read_sources(["bom.yaml"])[0].text == POD


def test_a_link_that_leads_back_to_its_folder_does_not_go_round_for_ever(tree: Path) -> None:
    os.symlink(tree / "w", tree / "w" / "deep" / "again")
    assert names("w") == ["w/a.yml", "w/b.yaml", "w/deep/c.json"]


def fails(*paths: str, stdin: str = "") -> SourceError:
    with pytest.raises(SourceError) as caught:
        read_sources(paths, stdin=io.StringIO(stdin))
    return caught.value


def test_a_missing_file_names_its_nearest_neighbours(tree: Path) -> None:
    error = fails("w/bb.yaml")
    assert str(error).startswith(
        "w/bb.yaml: doesn't exist; use one of the similar names in w: b.yaml"
    )


def test_a_missing_folder_names_the_neighbours_of_the_part_that_is_missing(tree: Path) -> None:
    assert str(fails("w/dep/c.json")) == (
        "w/dep/c.json: doesn't exist; use one of the similar names in w: deep"
    )


def test_every_path_at_fault_is_reported(tree: Path) -> None:
    (tree / "latin.yaml").write_bytes(b"a: 1\nb: \xe9\n")
    error = fails("w/zzz.yaml", "latin.yaml")
    assert [other.message for other in error.others] == ["isn't UTF-8 (byte 0xe9)"]
    assert error.others[0].place.line == 2


@pytest.mark.parametrize(
    ("content", "message", "fix"),
    [
        ({}, "doesn't contain a *.yaml, *.yml, or *.json file", "pass the folder"),
        ({"kustomization.yaml": "x"}, "doesn't contain a rendered manifest", "kustomize build e"),
        ({"Chart.yml": "x"}, None, ""),
        ({"README.md": "x"}, "doesn't contain a *.yaml, *.yml, or *.json file", ""),
    ],
    ids=["empty", "kustomization", "another yaml", "no manifest"],
)
def test_a_folder_without_manifests(
    tree: Path, content: dict[str, str], message: str | None, fix: str
) -> None:
    (tree / "e").mkdir()
    for name, text in content.items():
        (tree / "e" / name).write_text(text)
    if message is None:
        assert len(names("e")) == 1
        return
    error = fails("e")
    assert (error.message, error.place.file) == (message, "e")
    assert fix in error.fix


def test_a_pattern_without_match_and_one_that_matches_no_manifest(tree: Path) -> None:
    assert fails("w/*.nope").message == "no file matches"
    assert fails("w/*.txt").message == "none of the 1 matches is a manifest"


def test_a_url_is_refused_with_the_command_that_fetches_it() -> None:
    assert (
        fails("https://example.com/x.yaml").fix
        == "download the file first: curl -L https://example.com/x.yaml | pulumi-dra plan -"
    )


def test_empty_standard_input() -> None:
    assert fails("-", stdin=" \n").message == "standard input is empty"


def test_utf_16(tree: Path) -> None:
    (tree / "u.yaml").write_bytes("kind: Pod".encode("utf-16"))
    assert fails("u.yaml").message == "is UTF-16, not UTF-8"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file(tree: Path) -> None:
    (tree / "w" / "b.yaml").chmod(0)
    told = fails("w/b.yaml")
    assert told.message == "can't be read: Permission denied"
    assert told.fix == "make the file readable by your user"
    (tree / "w" / "b.yaml").chmod(0o644)
    assert names("w/b.yaml") == ["w/b.yaml"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder(tree: Path) -> None:
    (tree / "w" / "deep").chmod(0)
    told = fails("w/deep")
    assert told.message == "can't be read: Permission denied"
    assert told.fix == "make the folder readable by your user"
    (tree / "w" / "deep").chmod(0o755)
    assert names("w/deep") == ["w/deep/c.json"]


def test_limits(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_FILES", 2)
    assert fails("w").message == "the inputs contain more than 2 files"
    monkeypatch.setattr(sources, "MAX_FILES", 100)
    monkeypatch.setattr(sources, "MAX_TOTAL_BYTES", 40)
    assert "all manifests together" in fails("w").message
    monkeypatch.setattr(sources, "MAX_FILE_BYTES", 4)
    assert fails("w/a.yml").message.startswith("is larger than")


def test_reading_sources_imports_no_yaml() -> None:
    code = (
        "import sys, dra_planner.sources; print([m for m in ('yaml', 'pydantic', 'lark') if m "
        "in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
