"""The findings of `check` in each format: one text for standard output, others for files."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from dra_command.check.code_quality import check_code_quality
from dra_command.check.github import check_github
from dra_command.check.html import check_html
from dra_command.check.json import check_json
from dra_command.check.junit import check_junit
from dra_command.check.markdown import check_markdown
from dra_command.check.sarif import check_sarif
from dra_command.check.text import print_check
from dra_command.command_line.arguments import UsageError
from dra_command.command_line.file_writer import write_whole
from dra_command.findings.check_result import CheckResult
from dra_planner.errors import SourceError

FORMATS: Final = ("text", "json", "markdown", "html", "sarif", "junit", "code-quality", "github")


def check_answer(checked: CheckResult, form: str, *, quiet: bool = False) -> str:
    """Return the findings in a format, with a newline at the end."""
    match form:
        case "json":
            return f"{check_json(checked)}\n"
        case "markdown":
            return check_markdown(checked)
        case "html":
            return check_html(checked)
        case "sarif":
            return f"{check_sarif(checked)}\n"
        case "junit":
            return f"{check_junit(checked)}\n"
        case "code-quality":
            return f"{check_code_quality(checked)}\n"
        case "github":
            return check_github(checked)
        case _:
            page = io.StringIO()
            print_check(checked, quiet=quiet, file=page)
            return page.getvalue()


def outputs_of(texts: Iterable[str]) -> dict[Path, str]:
    """Return the format of each file in `sarif=FILE,junit=FILE`. Raises UsageError for
    other text.
    """
    found: dict[Path, str] = {}
    for each in (part.strip() for text in texts for part in text.split(",")):
        form, _, file = each.partition("=")
        if not file:
            raise UsageError(
                f'--output: "{each}" doesn\'t contain a file name',
                fix="use FORMAT=FILE, for example sarif=findings.sarif",
            )
        if form not in FORMATS:
            raise UsageError(
                f'--output: "{form}" isn\'t an output format',
                fix=f"use one of these formats: {', '.join(FORMATS)}",
            )
        path = Path(file)
        if file == "-":
            raise UsageError(
                f'--output {form} needs a file name, not "-"',
                fix=f"to print to standard output, use --format {form}",
            )
        if path.is_dir():
            raise UsageError(f'--output: "{file}" is a folder', fix="use a file in this folder")
        if path in found:
            raise UsageError(
                f'--output: file "{file}" appears twice', fix="use a different file for each format"
            )
        found[path] = form
    return found


def write_outputs(checked: CheckResult, outputs: dict[Path, str]) -> None:
    """Write each file atomically. Raises SourceError if that fails."""
    for path, form in outputs.items():
        write_whole(path, check_answer(checked, form), SourceError)
