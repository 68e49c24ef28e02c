"""The page `docs/tables.md` describes every column, and every table matches the page."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from msgspec import Struct

import dra_planner

DATA = Path(dra_planner.__file__).parent / "data"
PAGE = Path(__file__).parents[3] / "docs" / "tables.md"
TABLES = sorted(path.stem for path in DATA.glob("*.csv"))
EVERYWHERE = "Columns of every table"

FORMS = {
    "string": r".+",
    "integer": r"\d+",
    "decimal": r"\d+(\.\d+)?",
    "fraction": r"\d+/\d+|0?\.\d+",
    "flag": r"yes|no",
    "date": r"\d{4}-\d\d-\d\d",
    "version": r"\d+(\.\d+)+",
    "list": r"\S+( \S+)*",
}


class Column(Struct, frozen=True):
    form: str
    optional: bool
    meaning: str
    only_in: tuple[str, ...]


def read_page() -> dict[str, dict[str, Column]]:
    """Return the columns of each table by name, and the columns that any table can have under
    `EVERYWHERE`.
    """
    described: dict[str, dict[str, Column]] = {}
    tables: list[str] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            tables = line[3:].split(" · ")
        elif line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            column = Column(
                form=re.sub(r"^optional:? ", "", cells[1]),
                optional=cells[1].startswith("optional"),
                meaning=cells[2] + cells[3],
                only_in=tuple(cells[4].split()) if len(cells) > 4 else (),
            )
            for table in column.only_in or tables:
                described.setdefault(table, {})[cells[0].strip("`")] = column
    return described


DESCRIBED = read_page()


def rows_of(table: str) -> list[dict[str, str]]:
    with (DATA / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def accepts(column: Column, text: str) -> bool:
    if text == "":
        return column.optional
    if column.form.startswith("one of "):
        return text in column.form.removeprefix("one of ").split(", ")
    return re.fullmatch(FORMS[column.form], text) is not None


def test_exactly_the_existing_tables_are_described() -> None:
    assert sorted(DESCRIBED.keys() - {EVERYWHERE}) == TABLES


@pytest.mark.parametrize("table", TABLES)
def test_columns_match_the_page(table: str) -> None:
    shared = DESCRIBED[EVERYWHERE].keys() - DESCRIBED[table].keys()
    columns = list(rows_of(table)[0])
    assert set(columns) - shared == set(DESCRIBED[table])
    assert len(columns) == len(set(columns))


@pytest.mark.parametrize("table", TABLES)
def test_every_cell_has_the_type_of_its_column(table: str) -> None:
    described = {**DESCRIBED[EVERYWHERE], **DESCRIBED[table]}
    odd = [
        f"{table}.{name}: {text!r} is not of type {described[name].form}"
        for row in rows_of(table)
        for name, text in row.items()
        if not accepts(described[name], text)
    ]
    assert not odd, odd[:10]


@pytest.mark.parametrize("table", [*TABLES, EVERYWHERE])
def test_numbers_have_a_unit_or_a_meaning(table: str) -> None:
    bare = [
        name
        for name, column in DESCRIBED[table].items()
        if column.form in ("integer", "decimal", "fraction") and not column.meaning
    ]
    assert not bare
