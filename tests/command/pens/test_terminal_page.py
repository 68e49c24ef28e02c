"""Text in a pipe: the output is identical with and without Rich, and Rich is used only for wrapping
and colors.
"""

from __future__ import annotations

import io
import re
import string
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from dra_command.pens.terminal.page import Page, print_note
from dra_command.pens.terminal.plain_pen import plain_paragraph, plain_table
from dra_command.pens.terminal.rich_pen import RichPen
from dra_command.pens.terminal.wrapping import wrapped

SIGNS = string.ascii_letters + string.digits + string.punctuation + "  éß–—‘’“”…·→≤≥×−"
CELLS = st.text(SIGNS, max_size=12)
WIDTH = 60


def rich_pen() -> RichPen:
    return RichPen(io.StringIO(), WIDTH)


@given(st.lists(st.text(SIGNS, max_size=30), max_size=12).map("".join))
def test_paragraph_equals_the_one_of_rich(text: str) -> None:
    plain = plain_paragraph(text, WIDTH)
    if plain is not None:
        assert plain == rich_pen().paragraph([text], folds=True)


def test_long_paragraph_needs_no_rich() -> None:
    assert plain_paragraph("word " * 20, 24) == ["word word word word word"] * 4


@given(st.data(), st.integers(1, 4))
def test_table_equals_the_one_of_rich(data: st.DataObject, columns: int) -> None:
    row = st.lists(CELLS, min_size=columns, max_size=columns)
    heads, rows = data.draw(row), data.draw(st.lists(row, min_size=1, max_size=4))
    right = data.draw(st.sets(st.integers(0, columns - 1)))
    plain = plain_table(heads, rows, right, WIDTH)
    if plain is not None:
        assert plain == rich_pen().table(heads, rows, right, {})


def test_number_headings_are_wrapped_before_names() -> None:
    """A table of scenarios lost its first column at 80 columns."""
    heads = (
        "scenario",
        "do not fit at all",
        "can't be evaluated",
        "difference from as-is",
        "USD per hour",
    )
    lines = rich_pen().table(
        heads, [("kubernetes", "2", "1", "+102.1%", "1,234.56")], {1, 2, 3, 4}, {}
    )
    assert lines[-1].split() == ["kubernetes", "2", "1", "+102.1%", "1,234.56"]
    assert max(map(len, lines)) <= WIDTH


def test_long_names_above_numbers_are_wrapped() -> None:
    """A matrix of pools with long names lost its first columns."""
    heads = ("kubernetes", "inference-l4-general-demand", "training-h100-capacity-block")
    lines = rich_pen().table(heads, [("1.36", "2 of 3", "1 of 1")], {1, 2}, {})
    assert lines[-1].split("  ")[0] == "1.36"
    assert max(map(len, lines)) <= WIDTH
    assert (
        RichPen(io.StringIO(), 40).table(heads, [("1.36", "2", "1")], {1, 2}, {})[-1][:4] == "1.36"
    )


@pytest.mark.parametrize(
    "text", ["two\nlines", "tab\there", "漢字", "e\u0301", "👍", "x" * (WIDTH + 1)]
)
def test_text_of_unknown_width_is_left_to_rich(text: str) -> None:
    assert plain_paragraph(text, WIDTH) is None
    assert plain_table([text], [], (), WIDTH) is None


def test_every_narrow_character_has_one_column() -> None:
    taken = [
        sign for sign in map(chr, range(0x3000)) if plain_paragraph(f"{sign}.", WIDTH) is not None
    ]
    assert len(taken) > 500
    assert all(cell_len(sign) == 1 for sign in taken)


def test_wide_characters_are_aligned() -> None:
    file = io.StringIO()
    with Page(file) as page:
        page.table(["name", "n"], [["漢字", "1"], ["abcd", "22"]], numbers=[1])
    assert file.getvalue().splitlines()[2:] == ["漢字   1", "abcd  22"]


@pytest.mark.parametrize(("variables", "coloured"), [({}, False), ({"FORCE_COLOR": "1"}, True)])
def test_piped_output_has_colors_only_if_forced(variables: dict[str, str], coloured: bool) -> None:
    code = (
        "from dra_command.pens.terminal.page import Page\nwith Page() as page: "
        "page.line(('fits', 'green'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=variables
    )
    assert ("\x1b[" in done.stdout) is coloured


def test_long_expressions_are_divided_between_names_and_strings() -> None:
    expression = (
        'device.attributes["gpu.nvidia.com"].productName.lowerAscii().matches("^.*h100 80gb.*$")'
    )
    file = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "60")
        with Page(file) as page:
            page.text(f"because `{expression}` is false", indent=2)

    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    assert all(line.count('"') % 2 == 0 for line in lines)
    words = "".join(line.strip() for line in lines)
    assert expression.replace(" ", "") in words.replace(" ", "")


@pytest.mark.parametrize("forced", ["", "1"])
def test_colored_paragraphs_divide_expressions_in_the_same_places(
    forced: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings broke expressions inside names."""
    expression = 'device.attributes["gpu.nvidia.com"].productName.lowerAscii().startsWith("nvidia")'
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("FORCE_COLOR", forced)
    file = io.StringIO()
    with Page(file) as page:
        page.line("claims.yaml:12 ", ("error", "red"), f" selector: `{expression}` is false")

    lines = re.sub("\x1b.*?m", "", file.getvalue()).splitlines()
    assert lines == [
        "claims.yaml:12 error selector: `device.attributes[",
        '"gpu.nvidia.com"].productName.lowerAscii().startsWith(',
        '"nvidia")` is false',
    ]
    assert ("\x1b[31merror" in file.getvalue()) == bool(forced)


def test_long_field_paths_are_divided_between_names() -> None:
    path = "spec.spec.devices.requests[0].exactly.selectors[0].cel.expression"
    assert rich_pen().paragraph([f"a.yaml:1 {path} error"], folds=True) == [
        "a.yaml:1 spec.spec.devices.requests[0].exactly.selectors[0]",
        ".cel.expression error",
    ]


def test_long_names_are_divided_after_slashes_and_hyphens() -> None:
    """Findings broke names inside words."""
    name = "recommendations-production/ranking-inference-service-canary-blue-claim"
    lines = [
        "claim recommendations-production/",
        "ranking-inference-service-canary-blue-",
        "claim x",
    ]
    assert RichPen(io.StringIO(), 40).paragraph([f"claim {name} x"], folds=True) == lines
    assert wrapped(f"claim {name} x", 40) == lines
    address = f"https://example.com/{name}"
    assert wrapped(f"see {address}", 40) == ["see", address]


@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), ('"', '"'), ("`", "`"), ("('", "')"), ('("', '"),'), ("(", ").")],
)
def test_quoted_paths_are_divided_like_other_paths(before: str, after: str) -> None:
    path = f"{before}clusters/production-eu-west-2/recommendations/workloads/ranking.yaml{after}"
    assert wrapped(f"the file {path} is empty", 60) == [
        f"the file {before}clusters/production-eu-west-2/recommendations/",
        f"workloads/ranking.yaml{after} is empty",
    ]


def test_short_code_is_not_divided_on_narrow_terminals() -> None:
    text = "remove this: `attributes.brand == 'Tesla'` or `x == 1`"
    lines = ["remove this:", "`attributes.brand == 'Tesla'` or `x == 1`"]
    assert wrapped(text, 41) == lines
    assert wrapped(f"{'word ' * 10}{text}", 80)[0].endswith("this: `attributes.brand")


class Terminal(io.StringIO):
    """A terminal for what would be standard error."""

    def isatty(self) -> bool:
        return True


def test_notes_are_wrapped_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    note = "note: " + "word " * 20 + "end"
    written: list[str] = []
    for file in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", file)
        print_note(note)
        written.append(file.getvalue())
    assert max(map(len, written[0].splitlines())) <= 60
    assert " ".join(written[0].split()) == note
    assert written[1] == f"{note}\n"
    file = Terminal()
    print_note(note, file)
    assert file.getvalue() == written[0]
