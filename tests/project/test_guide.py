"""The guide shows the real output of its commands: each one runs in a copy of the project, in the
order of its page.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dra_command.__main__ import main

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "docs/index.md", *sorted((ROOT / "docs/guide").glob("*.md")))
BLOCK = re.compile(
    r"(?<=```console\n)\$ pulumi-dra (?P<words>(?:.*\\\n)*.*)\n(?P<shown>(?:.*\n)*?)(?=```\n)"
)

FENCED = re.compile(r"^ *```(?:sh|console)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("examples", "stacks"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    # The note depends on how the project is installed in the environment of the tests.
    monkeypatch.setattr("dra_command.init.install_source.index_note", lambda _: "")
    for name, value in {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def printed(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the output of a command on a terminal with 80 columns."""
    main(shlex.split(words.replace("\\\n", " ")))
    captured = capsys.readouterr()
    return "".join(f"{line.rstrip()}\n" for line in (captured.out + captured.err).splitlines())


@pytest.mark.long
@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_shows_the_real_output_of_its_commands(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = page.read_text(encoding="utf-8")
    shown = {block["words"]: block["shown"] for block in BLOCK.finditer(text)}
    real = {words: printed(words, capsys) for words in shown}
    if os.environ.get("REWRITE_GOLDEN"):
        page.write_text(
            BLOCK.sub(lambda b: f"$ pulumi-dra {b['words']}\n{real[b['words']]}", text),
            encoding="utf-8",
        )
        return
    assert text.count("```console\n") == len(shown)
    assert shown == real


def in_toctrees(index: str) -> Iterator[str]:
    for tree in re.findall(r"```\{toctree\}\n(.*?)```", index, re.DOTALL):
        yield from (line for line in tree.splitlines() if line and not line.startswith(":"))


def test_every_page_is_in_a_toctree() -> None:
    docs = ROOT / "docs"
    listed = {
        page
        for entry in in_toctrees((docs / "index.md").read_text(encoding="utf-8"))
        for page in docs.glob(f"{entry}.md")
    }
    assert listed == {page for page in docs.rglob("*.md") if page.name != "index.md"}


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.stem)
def test_pages_with_examples_name_the_folder_to_run_them_in(page: Path) -> None:
    """The examples are only in a checkout, so their commands fail in all other folders."""
    text = page.read_text(encoding="utf-8")
    commands = re.findall(r"^(?:\$ )?pulumi-dra (?:.*\\\n)*.*", "".join(FENCED.findall(text)), re.M)
    in_repository = page.parent.name == "guide" and re.search("--stack (eks|gke|aks)-dev", text)
    if in_repository or any(" examples/" in command for command in commands):
        assert re.search(r"\ba\s+checkout\b", text)


def test_sharing_page_shows_the_manifests_of_its_examples() -> None:
    """The commands of the page plan the examples, so its manifests must be the ones of the
    examples.
    """
    page = (ROOT / "docs/guide/sharing.md").read_text(encoding="utf-8")
    examples = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*/workload.yaml")
    )
    shown = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(shown) == 2
    assert all(each in examples for each in shown)
