"""Manifests and commands inside Markdown pages and shell scripts, each on its original line.

A page becomes the YAML stream of its manifests, and all other lines become empty, so that every
finding has the line number of the page. Only blocks with an apiVersion are manifests. Other YAML
and the output of commands are returned separately.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from markdown_it import MarkdownIt
from msgspec import Struct
from msgspec.structs import replace

from dra_planner.sources import SCRIPT_SUFFIXES, Source
from dra_tutorials.blocks.diffs import after_diff
from dra_tutorials.blocks.markup import (
    ASCIIDOC,
    RESTRUCTURED,
    Marked,
    asciidoc_blocks,
    directive_blocks,
)
from dra_tutorials.blocks.shown_output import Shown, without_output

_MARKDOWN: Final = MarkdownIt("commonmark").disable(["code", "html_block"])
"""MkDocs pages indent code fences below a note or a tab, and other pages put a code fence directly
below an HTML tag.
"""
_LANGUAGE: Final = re.compile(r"[\w+-]*")
_FENCE: Final = re.compile(r"\s*(?:>\s?)*(?:`{3,}|~{3,})")
_HEREDOC: Final = re.compile(r"<<(?P<tabs>-?)\s*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)")
_TABS: Final = re.compile(r"\t*")
_KUBECTL: Final = re.compile(r"\bkubectl\b[^|;&]*")
_NAMESPACE: Final = re.compile(
    r"""(?<=\s)(?:--namespace(?:=|\s+)|-n(?:=|\s*))["']?(?P<namespace>[^\s"']+)"""
)
_ASSIGNED: Final = re.compile(
    r"""^\s*(?:export\s+)?(?P<name>\w+)=["']?(?P<value>[a-z0-9][a-z0-9-]*)["']?\s*(?:#.*)?$"""
)
_MANIFEST: Final = re.compile(r"^\s*(?:\{\s*)?[\"']?apiVersion[\"']?\s*:", re.MULTILINE)
_SHELL: Final = frozenset(
    {
        "bash",
        "sh",
        "shell",
        "console",
        "zsh",
        "shell-session",
        "sh-session",
        "terminal",
        "azurecli",
        "azurecli-interactive",
        "shellsession",
    }
)
_PLAIN: Final = frozenset({"", "text", "none", "plaintext", "output", "log"})
_TERRAFORM: Final = frozenset({"hcl", "terraform", "tf"})
_PROGRAM: Final = re.compile(
    r"^\s*(?:[$>#]\s+)?(?:sudo\s+)?(?:kubectl|oc|helm|gcloud|az|aws|eksctl|minikube|kind|kubeadm)\s+[a-z-]",
    re.MULTILINE,
)
_YAML: Final = frozenset({"yaml", "yml"})
_DATA: Final = _YAML | {"", "json"}
_DIFF: Final = frozenset({"diff", "patch"})
_FLAGS: Final = re.compile(r"(?:\s*(?:-\s+)?--[a-z][\w-]*[= ]\S+\s*(?:#.*)?|\s*#.*|\s*)")
_INDENTED: Final = re.compile(r"(?: {4}|\t)[ \t]*\S")
_BEGINS_OBJECT: Final = re.compile(
    r"(?:\s*(?:#.*|---.*)?\n)*\s*(?:\{\s*)?[\"']?(?:apiVersion|kind)[\"']?\s*:(?:\s|$)"
)
_BEHIND: Final = re.compile(r"\\[ \t]+#.*$")
"""A comment after the backslash that should continue a line. The backslash escapes the space
instead, so the command ends on this line.
"""
_PROMPT: Final = re.compile(r"^\s*[$>]\s+(?=\S)")


class ShellCommand(Struct, frozen=True):
    """A shell command with its continued lines joined, and its first line number (from 1)."""

    text: str
    line: int
    # the line of a comment between its lines, after which a shell runs the rest as another command
    cut: int = 0


class Embedded(Struct, frozen=True):
    """The contents of a page or script: its manifests as a YAML stream with the same line numbers,
    and its commands.
    """

    manifests: Source
    commands: tuple[ShellCommand, ...]
    others: tuple[Source, ...] = ()  # blocks of YAML that aren't manifests, on the same lines
    # blocks that may be YAML: code fences without a language, and heredocs
    unlabelled: tuple[Source, ...] = ()
    shown: tuple[Shown, ...] = ()  # output of commands
    programs: tuple[ShellCommand, ...] = ()  # blocks of Terraform code


class CodeBlock(Struct, frozen=True):
    """Lines in one language. `first` is the number of the first line (from 0), and `namespace` is
    the namespace that kubectl gets.

    `indent` is the text before each line on the page. In a block that `expands`, a shell replaces
    variables with their values.
    """

    lines: list[str]
    first: int
    is_shell: bool
    language: str = ""
    namespace: str = ""
    indent: str = ""
    expands: bool = False


def read_embedded(source: Source) -> Embedded:
    """Return the manifests, commands, and other blocks in a page or script."""
    lines = source.text.splitlines()
    blank = [""] * len(lines)
    commands: list[ShellCommand] = []
    others: list[Source] = []
    unlabelled: list[Source] = []
    shown: list[Shown] = []
    programs: list[ShellCommand] = []
    namespaces: list[tuple[int, int, str]] = []
    is_page = not _is_script(source)
    for block in _blocks(source):
        if block.language in _TERRAFORM:
            programs.append(ShellCommand("\n".join(block.lines), block.first + 1))
            continue
        if is_page:
            kept, found = without_output(block.lines, block.first)
            block = replace(block, lines=kept)
            shown += found
        if not block.is_shell:
            _place(blank, block)
            text = "\n".join(block.lines)
            if not _MANIFEST.search(text):
                (others if block.language in _YAML else unlabelled).append(
                    _apart(source.name, block)
                )
            continue
        for inner in _heredocs(block):
            _place(blank, inner)
            if inner.namespace:
                namespaces.append(
                    (inner.first + 1, inner.first + len(inner.lines), inner.namespace)
                )
            if not _MANIFEST.search("\n".join(inner.lines)):
                unlabelled.append(_apart(source.name, inner))
        commands += _commands(block)
    manifests = Source(source.name, "\n".join(blank) + "\n", namespaces=tuple(namespaces))
    return Embedded(
        manifests,
        tuple(commands),
        tuple(others),
        tuple(unlabelled),
        shown=tuple(shown),
        programs=tuple(programs),
    )


def manifest_blocks(source: Source) -> Iterator[CodeBlock]:
    """Yield the blocks and heredocs of a page or script that contain objects, in order. Output of
    commands and diffs are excluded.
    """
    for block in _blocks(source):
        if block.language in _TERRAFORM | _DIFF:
            continue
        if not _is_script(source):
            block = replace(block, lines=without_output(block.lines, block.first)[0])
        for inner in _heredocs(block) if block.is_shell else (block,):
            if _MANIFEST.search("\n".join(inner.lines)):
                yield inner


def _blocks(source: Source) -> Iterator[CodeBlock]:
    lines = source.text.splitlines()
    name = source.name.lower()
    if _is_script(source):
        return iter([CodeBlock(lines, 0, True)])
    if name.endswith(ASCIIDOC):
        return _marked(asciidoc_blocks(lines))
    return _marked(directive_blocks(lines)) if name.endswith(RESTRUCTURED) else _fenced(source.text)


def _marked(blocks: Iterable[Marked]) -> Iterator[CodeBlock]:
    """Yield the blocks of an AsciiDoc or reStructuredText page whose languages can contain objects
    or commands.
    """
    for each in blocks:
        block = _of_language(each.lines, each.first, each.language, each.indent)
        if block is not None:
            yield block


def _of_language(inside: list[str], first: int, language: str, indent: str) -> CodeBlock | None:
    """Return a block, prepared according to its language, or None if the language can't contain
    manifests or commands.
    """
    if language in _DIFF:
        inside = list(after_diff(inside))
    if language not in _SHELL | _DATA | _PLAIN | _TERRAFORM | _DIFF:
        return None
    if language in _YAML and (more := _indent_of_all(inside)):
        inside, indent = [line.removeprefix(more) for line in inside], indent + more
    return CodeBlock(inside, first, _are_commands(inside, language), language, indent=indent)


def _is_script(source: Source) -> bool:
    return source.name.lower().endswith(SCRIPT_SUFFIXES)


def _apart(name: str, block: CodeBlock) -> Source:
    return Source(name, "\n" * block.first + "\n".join(block.lines))


def _fenced(text: str) -> Iterator[CodeBlock]:
    """Yield the code blocks in a Markdown page: code fences, and indented lines that contain
    objects or commands.
    """
    lines = text.splitlines()
    at = 0
    for fence in _MARKDOWN.parse(text):
        if fence.type != "fence" or fence.map is None:
            continue
        first, end = fence.map
        yield from _indented_blocks(lines, at, first)
        inside = fence.content.splitlines()
        block = _of_language(
            inside, first + 1, _language(fence.info), _indent_before(lines, first + 1, inside)
        )
        if block is not None:
            yield block
        at = end
    yield from _indented_blocks(lines, at, len(lines))


def _language(info: str) -> str:
    """Return the language in the first line of a code fence, without the options that some
    renderers support.
    """
    found = _LANGUAGE.match(info.strip())
    return found[0].lower() if found is not None else ""


def _indent_before(lines: list[str], first: int, inside: list[str]) -> str:
    """Return the text before each line of a code fence: the indentation of a list, or the marks of
    a block quote.
    """
    for raw, line in zip(lines[first:], inside, strict=False):
        if line.strip():
            return raw.removesuffix(line)
    return ""


def _indented_blocks(lines: list[str], at: int, end: int) -> Iterator[CodeBlock]:
    while at < end:
        block = _indented(lines[:end], at)
        if block is not None:
            yield block
        at += len(block.lines) if block is not None else 1


def _indent_of_all(lines: Iterable[str]) -> str:
    """Return the leading spaces that all nonempty lines have in common."""
    begun = [line[: len(line) - len(line.lstrip(" "))] for line in lines if line.strip()]
    return min(begun, key=len, default="")


def _are_commands(lines: list[str], language: str) -> bool:
    """Return whether a block contains shell commands: its language is a shell and it doesn't begin
    like an object, it has no language and a line begins with a known program, or it consists only
    of a component's flags.
    """
    text = "\n".join(lines)
    if language in _SHELL:
        return _BEGINS_OBJECT.match(text) is None
    if text.strip() and all(map(_FLAGS.fullmatch, lines)) and "--" in text:
        return True
    if (
        language in _PLAIN
        and _PROGRAM.match(text.lstrip("\n")) is not None
        and _HEREDOC.search(text) is not None
    ):
        return True
    return (
        language in _PLAIN and _MANIFEST.search(text) is None and _PROGRAM.search(text) is not None
    )


def _indented(lines: list[str], at: int) -> CodeBlock | None:
    """Return the indented code block that begins here, which is Markdown's syntax for code without
    fences. Return None if there is no such block, or if it contains neither objects nor commands,
    because text below a list item is also indented.
    """
    if (at and lines[at - 1].strip()) or not _INDENTED.match(lines[at]):
        return None
    end = next((n for n in range(at, len(lines)) if _ends_indented(lines, at, n)), len(lines))
    while end > at and not lines[end - 1].strip():
        end -= 1
    begun = [re.match(r"[ \t]*", line) for line in lines[at:end] if line.strip()]
    indent = min((found[0] for found in begun if found is not None), key=len, default="")
    inside = [line.removeprefix(indent) for line in lines[at:end]]
    is_shell = _are_commands(inside, "")
    if not is_shell and _BEGINS_OBJECT.match("\n".join(inside)) is None:
        return None
    return CodeBlock(inside, at, is_shell, indent=indent)


def _ends_indented(lines: list[str], first: int, at: int) -> bool:
    """Return whether a line isn't part of the indented block that begins at `first`, because the
    line is text or begins another block.
    """
    line = lines[at]
    if not line.strip():
        return False
    if not _INDENTED.match(line) or _FENCE.match(line):
        return True
    begins_anew = at > first and not lines[at - 1].strip()
    return begins_anew and (_PROGRAM.match(line) or _BEGINS_OBJECT.match(line)) is not None


def _heredocs(block: CodeBlock) -> Iterator[CodeBlock]:
    at = 0
    while at < len(block.lines):
        start = _HEREDOC.search(block.lines[at])
        at += 1
        if start is None:
            continue
        end = next(
            (n for n in range(at, len(block.lines)) if block.lines[n].strip() == start["end"]),
            len(block.lines),
        )
        inside = [line.lstrip("\t") if start["tabs"] else line for line in block.lines[at:end]]
        tabs = _TABS.match(block.lines[at] if at < end else "")[0] if start["tabs"] else ""  # type: ignore[index]
        yield CodeBlock(
            inside,
            block.first + at,
            False,
            namespace=_namespace(block.lines[:at]),
            indent=block.indent + tabs,
            expands=not start["quote"],
        )
        at = end + 1


def _namespace(lines: list[str]) -> str:
    """Return the namespace that the last of these lines passes to kubectl, including lines that it
    continues.

    Return "" if there is no namespace, or if only the shell knows its value.
    """
    command = lines[-1]
    for line in reversed(lines[:-1]):
        if not line.rstrip().endswith("\\"):
            break
        command = f"{line.rstrip()[:-1]} {command}"
    given = [
        found["namespace"]
        for part in _KUBECTL.findall(command)
        for found in _NAMESPACE.finditer(part)
    ]
    namespace = given[-1] if given else ""
    if "$" not in namespace:
        return namespace
    values = {
        found["name"]: found["value"] for found in map(_ASSIGNED.match, lines) if found is not None
    }
    return values.get(namespace.strip("${}"), "")


def _place(blank: list[str], block: CodeBlock) -> None:
    """Write a block of manifests to its lines, and a separator to the line above it."""
    if not _MANIFEST.search("\n".join(block.lines)):
        return
    blank[block.first : block.first + len(block.lines)] = block.lines
    if block.first:
        blank[block.first - 1] = "---"


def _commands(block: CodeBlock) -> Iterator[ShellCommand]:
    skipped = {
        n
        for inner in _heredocs(block)
        for n in range(inner.first, inner.first + len(inner.lines) + 1)
    }
    text, begin, cut = "", 0, 0
    for number, line in enumerate(block.lines, block.first):
        if number in skipped:
            continue
        if (
            text
            and line.lstrip().startswith("#")
            and _goes_on(block.lines[number - block.first + 1 :])
        ):
            cut = cut or number + 1
            continue
        if (behind := _BEHIND.search(line)) is not None and _goes_on(
            block.lines[number - block.first + 1 :]
        ):
            cut = cut or number + 1
            line = line[: behind.start()] + "\\"
        begin = begin if text else number
        text += _PROMPT.sub("", line).rstrip() if not text else " " + line.strip()
        if text.endswith("\\"):
            text = text.removesuffix("\\").rstrip()
            continue
        if text.strip() and not text.lstrip().startswith("#"):
            yield ShellCommand(text.strip(), begin + 1, cut)
        text, cut = "", 0
    if text.strip():
        yield ShellCommand(text.strip(), begin + 1, cut)


def _goes_on(lines: list[str]) -> bool:
    """Return whether the next line that isn't a comment begins with an option, because no command
    begins with an option.
    """
    return next(
        (line.lstrip() for line in lines if not line.lstrip().startswith("#")), ""
    ).startswith("-")
