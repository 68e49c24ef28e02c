"""`pulumi-dra ci`: run `plan` and `check` on every stack, print findings, and comment on the
change.

Each subcommand runs in its own process, as if a person ran it, so the pipeline shows the same
output as a terminal.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_command.ci.comment import MOST_CHARACTERS, CommentError, find_thread
from dra_command.ci.failures import failure_report, failures_of, print_annotations
from dra_command.ci.findings_files import SuitePart, write_code_quality, write_junit, write_sarif
from dra_command.command_line.arguments import UsageError
from dra_command.command_line.errors_file import ERRORS_FILE
from dra_command.command_line.exit_status import Status
from dra_command.findings.invalid_input import invalid_input
from dra_planner.errors import Diagnostic, PlannerError
from dra_planner.planfile import plan_path

_WORST_FIRST: Final = (Status.WRONG_INPUT, Status.BROKEN, Status.CANNOT_TELL)
_OWN_OPTIONS: Final = ("--output=", "--format=")
"""Options that control this command and not the subcommands."""
_ERROR: Final = "pulumi-dra: "
"""The start of a line of standard error that contains an error."""
_TOO_LONG: Final = "The report is too long for a comment. See the run's log.\n"


class _Done(Struct, frozen=True):
    """The exit status of a subcommand, its part of the report, the text to print, its errors and
    notes, and why it ended without its whole report.
    """

    status: int
    out: str = ""
    shown: str = ""
    err: str = ""
    failures: tuple[Diagnostic, ...] = ()

    @property
    def errors(self) -> str:
        """The errors that the subcommand printed, without notes."""
        lines = self.err.splitlines()
        return "\n".join(line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR))


def run(values: argparse.Namespace) -> int:
    """Plan and check everything, write the comment, and return the worst exit status. Also reports
    wrong options, and files that can't be written, in the comment. Raises PlannerError for them.
    """
    try:
        return _run(values)
    except PlannerError as error:
        failures = invalid_input(error)
        print_annotations(failures)
        _publish(values, failure_report(failures))
        raise


def _run(values: argparse.Namespace) -> int:
    stacks = [name for name in dict.fromkeys(values.stack.split(",")) if name]
    if not (stacks or values.fleet or values.paths):
        raise UsageError(
            "`ci` needs a stack, or manifests and a fleet",
            fix="use --stack NAME, or PATH with --fleet FILE",
        )
    if values.stack.endswith(",") and values.paths:
        raise UsageError(
            f"--stack {values.stack} ends with a comma",
            fix=f"remove the space after the comma: --stack {values.stack}{values.paths[0]}",
        )
    if len(stacks) > 1 and values.paths:
        raise UsageError(
            "PATH can't be combined with several stacks",
            fix="remove PATH, and list the workloads in each stack's pulumi-dra:workloads",
        )
    if values.write_baseline:
        return _write_baseline(values, stacks or [""])
    with ThreadPoolExecutor(os.cpu_count()) as threads, tempfile.TemporaryDirectory() as scratch:
        running = {
            name: threads.submit(_check, values, name, Path(scratch), of_several=len(stacks) > 1)
            for name in stacks or [""]
        }
        plan = _plan(values, stacks) if stacks or values.fleet else None
        checks: dict[str, _Done] = {}
        for name, check in running.items():
            checks[name] = check.result()
            print(checks[name].shown, end="", flush=True)
        done = [*([plan] if plan else []), *checks.values()]
        # `plan` and `check` both report wrong input
        failures = tuple(dict.fromkeys(found for each in done for found in each.failures))
        print_annotations(failures)
        _print_errors(done)
        _write_findings(values, plan, checks, Path(scratch))
        parts = (failure_report(failures), *(each.out for each in done))
        _publish(values, "\n".join(part for part in parts if part))
    return _worst({each.status for each in done})


def _worst(statuses: set[int]) -> int:
    unexpected = statuses - {Status.FITS, *_WORST_FIRST}
    worst = next((status for status in _WORST_FIRST if status in statuses), Status.FITS)
    return next(iter(unexpected), worst)


def _write_baseline(values: argparse.Namespace, stacks: list[str]) -> int:
    """Write the findings of all stacks to one baseline, one stack after the other."""
    runs: list[_Done] = []
    for name in stacks:
        options = ["--config", values.config] if values.config else []
        options += ["--write-baseline", values.write_baseline]
        done = _pulumi_dra("check", *values.paths, *_capacity(values, name), *options)
        print(done.out, end="", flush=True)
        runs.append(done)
    _print_errors(runs)
    return _worst({each.status for each in runs})


def _capacity(values: argparse.Namespace, stack: str) -> list[str]:
    return ["--stack", stack] if stack else ["--fleet", values.fleet] if values.fleet else []


def _plan(values: argparse.Namespace, stacks: list[str]) -> _Done:
    """Plan all stacks as one report. If a stack has a saved plan, a stale or missing plan fails.
    `check` decides whether a workload that doesn't fit fails the run, because it knows the
    exemptions and baselines.
    """
    has_saved = not values.paths and any(plan_path(name).is_file() for name in stacks)
    options = ["--fail-on=stale", *(["--check"] if has_saved else [])]
    options += [f"--config={values.config}"] if values.config else []
    capacity = _capacity(values, ",".join(stacks))
    done = _pulumi_dra("plan", *values.paths, *capacity, "--format", "markdown", *options)
    print(_head(done.out), end="", flush=True)
    is_ignored = values.fail_on == "never" and done.status == Status.BROKEN
    return replace(done, status=Status.FITS if is_ignored else done.status)


def _head(report: str) -> str:
    """Return the part of a Markdown report before the folded details: the verdict, the table of
    stacks, and the reasons.
    """
    head = report.partition("<details>")[0].partition("-->\n")[2]
    return head.strip("#\n ") + "\n\n" if head else ""


def _check(values: argparse.Namespace, name: str, scratch: Path, *, of_several: bool) -> _Done:
    """Check a stack, or the manifests."""
    markdown = scratch / f"check-{name}.md"
    outputs = [f"markdown={markdown}"]
    for form, file in (
        ("sarif", values.sarif),
        ("junit", values.junit),
        ("code-quality", values.code_quality),
    ):
        if file:
            outputs.append(f"{form}={_part(scratch, name, form)}")
    options = [
        f"--{option}={value}"
        for option, value in (
            ("config", values.config),
            ("baseline", values.baseline),
            ("diff", values.diff),
            ("fail-on", values.fail_on),
            ("output", ",".join(outputs)),
            ("format", "github" if os.environ.get("GITHUB_ACTIONS") else "text"),
        )
        if value
    ]
    done = _pulumi_dra(
        "check", *values.paths, *_capacity(values, name), *options, *_allowing(values)
    )
    shown = f"Stack {name}:\n{done.out}\n" if of_several else done.out
    title = f"\n**Stack {name}**\n\n" if of_several else ""
    report = ""
    if not done.failures:
        with suppress(OSError):
            report = title + markdown.read_text(encoding="utf-8")
    return replace(done, out=report, shown=shown)


def _write_findings(
    values: argparse.Namespace, plan: _Done | None, checks: Mapping[str, _Done], scratch: Path
) -> None:
    """Write the findings of all stacks to the files that the options name."""
    if values.sarif:
        parts = {name: _part(scratch, name, "sarif") for name in checks}
        write_sarif(Path(values.sarif), parts, values.name)
    if values.code_quality:
        parts = {name: _part(scratch, name, "code-quality") for name in checks}
        write_code_quality(Path(values.code_quality), parts.values())
    if values.junit:
        suites = [SuitePart("plan", plan.status, plan.errors)] if plan else []
        suites += [
            SuitePart(
                f"check --stack {name}" if name else "check",
                done.status,
                done.errors,
                _part(scratch, name, "junit"),
            )
            for name, done in checks.items()
        ]
        write_junit(Path(values.junit), suites)


def _part(scratch: Path, stack: str, form: str) -> Path:
    return scratch / f"check-{stack}.{form}"


def _allowing(values: argparse.Namespace) -> list[str]:
    return ["--allow-unknown"] if values.allow_unknown else []


def _pulumi_dra(*words: str) -> _Done:
    """Run a subcommand. Before it starts, print its command line to standard error, because the
    subcommand can take seconds.
    """
    shown = [word for word in words if not word.startswith(_OWN_OPTIONS)]
    # a single write, so that the lines of concurrent subcommands don't mix
    sys.stderr.write(f"running: {shlex.join(['pulumi-dra', *shown])}\n")
    sys.stderr.flush()
    line = [sys.executable, "-P", "-m", "dra_command", *words]
    with tempfile.TemporaryDirectory() as folder:
        errors = Path(folder) / "errors.json"
        done = subprocess.run(
            line,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            env={**os.environ, ERRORS_FILE: str(errors)},
        )
        failures = failures_of(words[0], done.returncode, errors, done.stderr)
    return _Done(done.returncode, done.stdout, err=done.stderr, failures=failures)


def _print_errors(runs: Iterable[_Done]) -> None:
    """Print errors and notes once, because `plan` and `check` both report wrong input."""
    for line in dict.fromkeys(line for each in runs for line in each.err.splitlines()):
        print(line, file=sys.stderr, flush=True)


def _publish(values: argparse.Namespace, report: str) -> None:
    """Add the report to the summary, and write the comment."""
    _summarize(report)
    _comment(values, report)


def _summarize(report: str) -> None:
    """Add the report to the summary of a GitHub run."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path and report:
        with open(path, "a", encoding="utf-8") as file:
            file.write(report)


def _comment(values: argparse.Namespace, report: str) -> None:
    """Write the comment. If the token doesn't have permission (for example, in a fork), print a
    warning instead of failing.
    """
    if values.comment == "none" or not report:
        return
    mark = f"<!-- pulumi-dra:comment {values.name} -->".replace("  ", " ")
    try:
        thread = find_thread(values.comment, os.environ)
        if thread is not None:
            thread.write(mark, report if len(report) <= MOST_CHARACTERS else _TOO_LONG)
        elif values.comment != "auto":
            print(
                f"note: --comment {values.comment} doesn't post a comment, because this run "
                "isn't for a pull request or merge request",
                file=sys.stderr,
            )
    except CommentError as error:
        print(f"note: the comment wasn't updated, because {error}", file=sys.stderr)
