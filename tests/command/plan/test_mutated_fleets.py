"""The command reads fleet files with random damage: it prints a result or an error for invalid
input, and never crashes.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest
from command_project import STACK, Project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dra_command.__main__ import INTERNAL_ERROR, main

PIECES = [
    b"\x00",
    b"\x07",
    b"\x7f",
    b"\xc2\x85",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xe9",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x91\x8d",
    b'"\\ud800"',
    b'"\\0"',
    b"\t",
    b"\r",
    b"\n",
    b"\n---\n",
    b"\n...\n",
    b"%YAML 1.1\n",
    b"&a ",
    b"*a",
    b"&a [*a]",
    b"<<: *a\n",
    b"<<: {cloud: gke}\n",
    b"? ",
    b"- ",
    b": ",
    b", ",
    b"{",
    b"}",
    b"[",
    b"]",
    b"{" * 300,
    b"!!int ",
    b"!!binary ",
    b"!x ",
    b"!!set {",
    b"|\n",
    b">-\n",
    b"#",
    b"'",
    b'"',
    b"~",
    b".nan",
    b".inf",
    b"-1",
    b"1e999",
    b"0x",
    b"9" * 30,
    b"2026-13-45",
    b"12:30",
    b"yes",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"{{ x }}",
    b"cloud: eks\n",
    b"    cloud: gke\n",
    b"    pools: []\n",
]
DAMAGE = st.lists(
    st.tuples(
        st.integers(0, len(STACK)),
        st.integers(0, 12),
        st.sampled_from(PIECES) | st.binary(max_size=3),
    ),
    min_size=1,
    max_size=3,
)


def damaged(text: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for begin, length, piece in edits:
        text = text[:begin] + piece + text[begin + length :]
    return text


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(DAMAGE)
def test_damaged_stack_causes_no_internal_error(
    project: Project, edits: list[tuple[int, int, bytes]]
) -> None:
    path = project.root / "stacks" / "Pulumi.dev.yaml"
    path.write_bytes(damaged(STACK.encode(), edits))
    status, errors = ended(project.root)
    assert status in range(4), (status, errors)
    assert status != 2 or errors.startswith("pulumi-dra: ")


@pytest.mark.parametrize("piece", PIECES, ids=repr)
@pytest.mark.parametrize("place", [b"config:", b"us-east-1", b"25.8.1", b"4}"])
def test_odd_value_anywhere_causes_no_internal_error(
    project: Project, piece: bytes, place: bytes
) -> None:
    path = project.root / "stacks" / "Pulumi.dev.yaml"
    for text in (
        STACK.encode().replace(place, piece),
        STACK.encode().replace(place, place + piece),
    ):
        path.write_bytes(text)
        status, errors = ended(project.root)
        assert status != INTERNAL_ERROR, errors


def ended(root: Path) -> tuple[int, str]:
    """Run the command like a process, with streams that support only UTF-8."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with contextlib.chdir(root), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(["slices", "--stack", "dev"])
        err.flush()
    assert isinstance(err.buffer, io.BytesIO)
    return status, err.buffer.getvalue().decode()
