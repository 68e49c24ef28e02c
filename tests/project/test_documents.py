"""Everything that README, CONTRIBUTING, help texts, and `docs/` refer to exists: links, paths,
tests, make targets, and commands.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from dra_command.__main__ import main
from dra_command.command_line.arguments import parse
from dra_command.command_line.examples import EXAMPLES

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/**/*.md")),
)
OUTPUTS = {"build"}  # outputs of make, which may not exist yet
TOP = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")} | {".ci"}
TOP -= OUTPUTS
MADE_UP = re.compile(r"[<>*{}…]|\b[A-Z]{3,}\b|^\.\./|YYYY|\bfoo\b")
ANSWERS = (0, 1, 3)  # exit codes of a command that had valid input; 2 means invalid input


class Code(NamedTuple):
    """Code on a page: a line of a fenced block, or the text between backticks."""

    page: str
    line: int
    text: str
    fenced: bool

    def __str__(self) -> str:
        return f"{self.page}:{self.line} {self.text}"


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, with continued shell lines joined."""
    return text.replace("\\\n", " ").splitlines()


def code_of(page: str) -> Iterator[Code]:
    fenced = False
    for number, line in enumerate(lines_of((ROOT / page).read_text(encoding="utf-8")), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced:
            yield Code(page, number, line, True)
        else:
            yield from (Code(page, number, text, False) for text in re.findall(r"`([^`]+)`", line))


CODE = [code for page in PAGES for code in code_of(page)]
HELP = [
    Code(f"{command} --help", number, line.strip(), True)
    for command, examples in EXAMPLES.items()
    for number, line in enumerate(lines_of(examples), start=1)
]


def commands_of(code: Code) -> Iterator[list[str]]:
    """Yield the words after `pulumi-dra` of each such command in a line, up to a pipe, a
    redirection or a comment.
    """
    for found in re.finditer(r"(?:^|\| )pulumi-dra ([^|>#]+)", code.text):
        words = shlex.split(found[1])
        if words and words[0] in EXAMPLES and "…" not in found[1]:
            yield words


NAMED = {" ".join(words): words for code in (*CODE, *HELP) for words in commands_of(code)}
WHOLE = {
    " ".join(words): words for code in (*CODE, *HELP) if code.fenced for words in commands_of(code)
}


IN_HELP = {" ".join(words) for code in HELP for words in commands_of(code)}
"""Run by the tests of help."""


def anchors_of(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES)
def test_link_targets_exist(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", (ROOT / page).read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        assert path.exists(), f"{page} links to {target}"
        assert not anchor or anchor in anchors_of(path), f"{page} links to {target}"


@pytest.mark.parametrize("page", PAGES)
def test_headings_and_tables_start_on_a_new_line(page: str) -> None:
    """A heading or a table at the end of a paragraph is shown as text."""
    lines = re.sub(
        r"^```.*?^```$",
        "",
        (ROOT / page).read_text(encoding="utf-8"),
        flags=re.DOTALL | re.MULTILINE,
    ).splitlines()
    assert [line for line in lines if re.search(r"\S #{2,4} [A-Z]", line)] == []
    heads = [above for above, line in pairwise(lines) if re.match(r"\| *:?-+", line)]
    assert [head for head in heads if not head.startswith("|")] == []


def test_repository_paths_in_documents_exist() -> None:
    missing = []
    for code in CODE:
        for word in re.split(r"[\s,;:()\"'=@]+", code.text):
            path = word.partition("::")[0].rstrip("/.")
            ours = "/" in path and path.split("/")[0] in TOP and not MADE_UP.search(path)
            if ours and not any(ROOT.glob(path)) and not any(ROOT.glob(f"tests/{path}")):
                missing.append(f"{path} in {code}")
    assert not missing


def test_tests_in_documents_exist() -> None:
    missing = []
    for code in CODE:
        for file, name in re.findall(r"([\w/]+\.py)::(\w+)", code.text):
            found = [path for path in (ROOT / file, ROOT / "tests" / file) if path.exists()]
            if not found or f"def {name}(" not in found[0].read_text(encoding="utf-8"):
                missing.append(str(code))
    assert not missing


def test_make_targets_in_documents_exist() -> None:
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    named = {
        (target, str(code))
        for code in CODE
        for target in re.findall(r"(?:^|; )make ([a-z-]+)", code.text)
    }
    assert len(named) > 5
    assert not [where for target, where in named if target not in targets]


@pytest.mark.parametrize("line", WHOLE)
def test_commands_in_documents_are_parsed(line: str) -> None:
    assert parse(WHOLE[line]) is not None or "--help" in WHOLE[line]


@pytest.mark.parametrize("line", NAMED)
def test_options_in_documents_exist(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    command, *rest = NAMED[line]
    if command == "sandbox":  # its options belong to its own subcommands
        return
    parse([command, "--help"])
    known = set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out))
    assert {word.partition("=")[0] for word in rest if word.startswith("--")} <= known


def test_subcommands_in_documents_exist() -> None:
    named = {
        found for code in CODE for found in re.findall(r"(?:^|\| )pulumi-dra ([a-z]+)", code.text)
    }
    assert named <= set(EXAMPLES)
    assert {"plan", "check", "explain"} <= named


def runs_alone(words: list[str]) -> bool:
    """Return whether a command needs only the project: no standard input, cluster, file, or
    repository of the reader, and no control plane, which takes minutes to build.
    """
    if words[0] in ("sandbox", "rehearse", "mcp", "diff") or {
        "-",
        "--kubeconfig",
        "--context",
        "--help",
        "--diff",
    } & set(words):
        return False
    files = [
        word for word in words if re.search(r"/|\.(ya?ml|json)$", word) and not word.startswith("-")
    ]
    return not MADE_UP.search(" ".join(words)) and all((ROOT / file).exists() for file in files)


@pytest.mark.long
@pytest.mark.parametrize(
    "line", [line for line, words in WHOLE.items() if line not in IN_HELP and runs_alone(words)]
)
def test_commands_in_documents_run(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("stacks", "examples"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("node_modules")
        )
    monkeypatch.chdir(tmp_path)
    status = main(WHOLE[line])
    printed = capsys.readouterr()
    assert status in ANSWERS, printed.err
    assert printed.out or printed.err
