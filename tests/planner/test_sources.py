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


def test_folder_contains_its_visible_manifests_in_order(tree: Path) -> None:
    assert names("w") == ["w/a.yml", "w/b.yaml", "w/deep/c.json"]


def test_file_passed_twice_is_read_once(tree: Path) -> None:
    assert names("w", "w/b.yaml", Path("w/deep")) == ["w/a.yml", "w/b.yaml", "w/deep/c.json"]


def test_explicitly_passed_file_is_read_with_any_name(tree: Path) -> None:
    assert names("w/note.txt", "w/.y.yaml") == ["w/.y.yaml", "w/note.txt"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("w/*.yaml", ["w/b.yaml"]),
        ("w/**/*.json", ["w/deep/c.json"]),
        ("w/*", ["w/a.yml", "w/b.yaml", "w/deep/c.json"]),
    ],
)
def test_globs_are_expanded(tree: Path, pattern: str, expected: list[str]) -> None:
    assert names(pattern) == expected


def test_file_name_that_looks_like_a_glob_is_a_file(tree: Path) -> None:
    (tree / "w" / "[x].yaml").write_text(POD)
    assert names("w/[x].yaml") == ["w/[x].yaml"]


def test_standard_input_is_read() -> None:
    assert read_sources(["-"], stdin=io.StringIO("kind: Pod")) == (Source("<stdin>", "kind: Pod"),)


def test_byte_order_mark_is_removed(tree: Path) -> None:
    (tree / "bom.yaml").write_bytes(b"\xef\xbb\xbfkind: Pod\n")
    assert read_sources(["bom.yaml"])[0].text == POD


def test_recursive_link_does_not_loop(tree: Path) -> None:
    os.symlink(tree / "w", tree / "w" / "deep" / "again")
    assert names("w") == ["w/a.yml", "w/b.yaml", "w/deep/c.json"]


def fails(*paths: str, stdin: str = "") -> SourceError:
    with pytest.raises(SourceError) as caught:
        read_sources(paths, stdin=io.StringIO(stdin))
    return caught.value


def test_missing_file_lists_similar_names(tree: Path) -> None:
    error = fails("w/bb.yaml")
    assert str(error).startswith("w/bb.yaml doesn't exist; did you mean w/b.yaml")


def test_missing_folder_lists_similar_names(tree: Path) -> None:
    assert str(fails("w/dep/c.json")) == ("w/dep/c.json doesn't exist; did you mean w/deep?")


def test_every_invalid_path_is_reported(tree: Path) -> None:
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
    ids=["empty", "kustomization", "another yaml", "not a manifest"],
)
def test_folder_without_manifests_is_explained(
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


def test_pattern_without_manifests_is_explained(tree: Path) -> None:
    assert fails("w/*.nope").message == "no file matches"
    assert fails("w/*.txt").message == "the only match isn't a manifest"


def test_url_is_rejected_with_the_command_that_downloads_it() -> None:
    assert (
        fails("https://example.com/x.yaml").fix
        == "download the file first: `curl -L https://example.com/x.yaml | pulumi-dra plan -`"
    )


def test_empty_standard_input_is_an_error() -> None:
    assert fails("-", stdin=" \n").message == "standard input is empty"


def test_utf_16_is_an_error(tree: Path) -> None:
    (tree / "u.yaml").write_bytes("kind: Pod".encode("utf-16"))
    assert fails("u.yaml").message == "is UTF-16, not UTF-8"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_is_an_error(tree: Path) -> None:
    (tree / "w" / "b.yaml").chmod(0)
    error = fails("w/b.yaml")
    assert error.message == "can't be read: Permission denied"
    assert error.fix == "make the file readable by your user"
    (tree / "w" / "b.yaml").chmod(0o644)
    assert names("w/b.yaml") == ["w/b.yaml"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_folder_is_an_error(tree: Path) -> None:
    (tree / "w" / "deep").chmod(0)
    error = fails("w/deep")
    assert error.message == "can't be read: Permission denied"
    assert error.fix == "make the folder readable by your user"
    (tree / "w" / "deep").chmod(0o755)
    assert names("w/deep") == ["w/deep/c.json"]


def test_size_limits_are_enforced(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize(
    "text",
    [
        "name: {{ .Values.name }}",
        "name: ${NAME}",
        "$patch: delete",
        "image: __IMAGE__",
        "- name: spark-kubernetes-driver",
        "apiVersion: builtin",
        "name: etcd",
        "  name: kube-scheduler",
        'name: "$(NAME)"',
        "name: <your-name>",
        "name: MY_CLUSTER_NAME",
    ],
)
def test_text_that_another_tool_completes_may_be_unfinished(text: str) -> None:
    assert sources.may_be_unfinished(f"a: 1\n{text}\n")


@pytest.mark.parametrize(
    "text",
    ["hostname: kube-1", "my_name: etcd", "xspark-kubernetes-a", "builtins: 1", "notbuiltin: 1"],
)
def test_word_that_contains_such_a_word_is_finished(text: str) -> None:
    assert not sources.may_be_unfinished(f"a: 1\n{text}\n")
