"""The digest of the workloads' manifests, which a saved plan contains."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Final

from dra_planner.documents.stream import split_stream
from dra_planner.sources import Source

_LEADING_BLANK_LINES: Final = re.compile(r"\A(?:[ \t]*\n)+")
_COMMENT: Final = re.compile(r"^[ \t]*#.*\n?", re.MULTILINE)
# a comment after a value, outside quotation marks, in one line
_TRAILING: Final = re.compile(
    r"""^(?P<value>(?:[^"'\n#]|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|(?<=[^\s])\#)*?)[ \t]+\#.*$""",
    re.VERBOSE,
)
_EXEMPTION: Final = r"""["']?pulumi-dra/ignore["']?:[ \t]*(?:"[^"\n]*"|'[^'\n]*'|[^"'\n,}]*)"""
_EXEMPTION_LINE: Final = re.compile(rf"^[ \t]*{_EXEMPTION}[ \t]*\n?", re.MULTILINE)
_ONLY_EXEMPTION: Final = re.compile(
    rf"^[ \t]*annotations:[ \t]*\{{[ \t]*{_EXEMPTION}[ \t]*\}}[ \t]*\n?"
    rf"|,?[ \t]*annotations:[ \t]*\{{[ \t]*{_EXEMPTION}[ \t]*\}}",
    re.MULTILINE,
)
_NO_ANNOTATIONS: Final = re.compile(
    r"^(?P<indent>[ \t]*)annotations:[ \t]*(?:\n(?!(?P=indent)[ \t]+\S)|\Z)", re.MULTILINE
)
_IMAGE: Final = re.compile(
    r"""^(?P<name>[ \t]*(?:-[ \t]+)?image:[ \t]*["']?[^\s"'#@]*?)  # up to a tag or digest
    (?::[\w.-]{1,128})?(?:@sha256:[0-9a-f]{1,64})?["']?[ \t]*(?:\#.*)?$""",
    re.VERBOSE,
)


def digest_documents(sources: Iterable[Source]) -> str:
    """Return `sha256:…` over the YAML documents of all sources.

    The following changes don't affect the digest: file names, the order of files and documents,
    line endings, blank space around a document, comments, annotations that exempt an object from
    rules, and tags and digests of container images. A pull request with a new image version
    therefore doesn't need a new plan.
    """
    digests = sorted(
        hashlib.sha256(document.encode("utf-8", "surrogatepass")).hexdigest()
        for source in sources
        for document in _split_documents(source.text)
    )
    return "sha256:" + hashlib.sha256("\n".join(digests).encode("ascii")).hexdigest()


def _split_documents(text: str) -> Iterator[str]:
    for document, separator in split_stream(text.replace("\r\n", "\n")):
        if separator[3:].strip() and not separator[3:].lstrip().startswith("#"):
            # the text isn't a separator, but an error that the reader reports
            document = separator + document
        document = _without_exemptions(_without_versions(_without_comments(document)))
        if document.strip():
            yield _LEADING_BLANK_LINES.sub("", document).rstrip()


def _without_comments(document: str) -> str:
    if "#" not in document:  # the expressions are slow on large documents
        return document
    return _changed_lines(_COMMENT.sub("", document), "#", _TRAILING, r"\g<value>")


def _without_versions(document: str) -> str:
    return _changed_lines(document, "image:", _IMAGE, r"\g<name>")


def _changed_lines(document: str, mark: str, pattern: re.Pattern[str], replacement: str) -> str:
    """Replace a pattern of one line in the lines that contain a mark."""
    if mark not in document:
        return document
    return "\n".join(
        pattern.sub(replacement, line) if mark in line else line for line in document.split("\n")
    )


def _without_exemptions(document: str) -> str:
    """Return a document without the annotations that exempt objects from rules."""
    if "pulumi-dra/ignore" not in document:
        return document
    without = _EXEMPTION_LINE.sub("", _ONLY_EXEMPTION.sub("", document))
    return document if without == document else _NO_ANNOTATIONS.sub("", without)
