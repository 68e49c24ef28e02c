"""Check commands that create clusters and nodes, or install software on them.

Each row of the table `command_rows` describes one problem. docs/tables.md documents its columns.
The same rows check equivalent files, such as the configurations of eksctl and kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from dra_planner.catalog import machines
from dra_planner.catalog.tables import read_table
from dra_planner.clouds import names
from dra_planner.errors import Severity
from dra_planner.releases import MINIMUM_MINOR

_MINOR: Final = re.compile(r"(?:^|[:v])1\.(\d+)(?:\D|$)")
_MACHINE_OPTIONS: Final = "--node-type|-t|--instance-types|--machine-type|--node-vm-size|-s"
RowFinding = tuple[Severity, str, str, str]  # severity, code, message, fix


class CommandLine(Struct, frozen=True, kw_only=True):
    """One command: its words without options, and the values of each option in order ("" for an
    option without a value).
    """

    program: str
    words: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]

    def values(self, names: str) -> tuple[str, ...]:
        """Return the values of several options, which are separated by "|"."""
        return tuple(value for name in names.split("|") for value in self.options.get(name, ()))


class CommandRow(Struct, frozen=True, kw_only=True):
    """One row of the table. The fields have the names of its columns."""

    code: str
    severity: Severity
    program: str
    words: str
    nodes: str
    option: str
    wrong: str
    value: str
    when: str
    unless: str
    problem: str
    fix: str


def broken_rows(command: CommandLine, page: str) -> Iterator[RowFinding]:
    """Yield the rows of the table that apply to one command."""
    for row in _rows_of(command.program):
        wrong = _JUDGES[row.wrong](row, command) if _is_about(row, command, page) else None
        if wrong is None:
            continue
        severity, problem, fix = (
            row.severity,
            row.problem.format(value=wrong),
            row.fix.format(minimum=f"1.{MINIMUM_MINOR}"),
        )
        files = command.values("-f|--values") if row.program == "helm" else ()
        if files:
            severity, problem = "note", f"{problem}, unless {', '.join(files)} sets it"
        yield severity, row.code, problem, fix


@cache
def _rows_of(program: str) -> tuple[CommandRow, ...]:
    columns = CommandRow.__annotations__
    rows = ({name: each[name] for name in columns} for each in read_table("command_rows"))
    return tuple(CommandRow(**each) for each in rows if each["program"] == program)  # type: ignore[arg-type]  # severity is one


def _is_about(row: CommandRow, command: CommandLine, page: str) -> bool:
    words = row.words.split()
    return (
        list(command.words[: len(words)]) == words
        and (not row.nodes or _makes_gpu_nodes(command))
        and (not row.when or re.search(row.when, page) is not None)
        and (not row.unless or re.search(row.unless, page) is None)
    )


def _makes_gpu_nodes(command: CommandLine) -> bool:
    """Return True if a command creates nodes with GPUs: it attaches GPUs, or names a machine type
    with GPUs.
    """
    if any("nvidia" in value for value in command.values("--accelerator")):
        return True
    named = [
        name for value in command.values(_MACHINE_OPTIONS) for name in re.split(r"[,\s]+", value)
    ]
    return any(name in _gpu_machines() for name in named)


@cache
def _gpu_machines() -> frozenset[str]:
    found = (machine for name in names() for machine in machines(name))
    return frozenset(
        each.name
        for each in found
        if each.accelerator is not None and each.accelerator.vendor == "nvidia"
    )


def _is(row: CommandRow, command: CommandLine) -> str | None:
    return next((value for value in command.values(row.option) if value == row.value), None)


def _matches(row: CommandRow, command: CommandLine) -> str | None:
    values = command.values(row.option) if row.option else command.words[len(row.words.split()) :]
    return next((value for value in values if re.fullmatch(row.value, value)), None)


def _differs(row: CommandRow, command: CommandLine) -> str | None:
    values = [
        value
        for value in command.values(row.option)
        if value and "$" not in value and "<" not in value
    ]
    return next((value for value in values if not re.fullmatch(row.value, value)), None)


def _is_set(row: CommandRow, command: CommandLine) -> str | None:
    values = command.values(row.option)
    return values[0] if values and values[0] != "false" else None


def _lacks(row: CommandRow, command: CommandLine) -> str | None:
    values = [part for value in command.values(row.option) for part in re.split(r"[,\s]+", value)]
    return None if row.value in values or any("$" in value for value in values) else ""


def _older(row: CommandRow, command: CommandLine) -> str | None:
    for value in command.values(row.option):
        found = _MINOR.search(value)
        if found is not None and int(found[1]) < MINIMUM_MINOR:
            return f"1.{found[1]}"
    return None


def _chart(row: CommandRow, command: CommandLine) -> str | None:
    wanted = re.compile(rf"(?:^|/){re.escape(row.value)}(?:[:@-].*)?$")
    return next((word for word in command.words[1:] if wanted.search(word)), None)


_JUDGES: Final[dict[str, Callable[[CommandRow, CommandLine], str | None]]] = {
    "is": _is,
    "matches": _matches,
    "differs": _differs,
    "set": _is_set,
    "lacks": _lacks,
    "older": _older,
    "chart": _chart,
    "always": lambda row, command: "",
}
