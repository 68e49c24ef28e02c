"""Run the main workflow: plan, preview, up, up without changes, a rejected stack, and destroy.

The demo uses the same commands as a user, on a local backend with simulated clouds. Each step
states its expected result, and the demo fails if the result differs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, field
from rich.console import Console
from rich.text import Text

from dra_planner.fleet import read_stack, stack_names
from dra_sandbox.engine import Engine
from dra_sandbox.run_report import quote, show_counts, show_services, show_violations
from dra_sandbox.run_result import RunResult

RECORD = "pulumi-dra:index:CapacityPlan"
_EXIT_DOES_NOT_FIT = 1
_TOO_SMALL = "-too-small"


class StepFailed(Exception):
    """A step had an unexpected result. The message describes it, and `details` contains the output
    of the tools.
    """

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(message)
        self.details = details


class Demo(Struct):
    """One run, with its folder and its output stream."""

    engine: Engine
    pack: Path
    console: Console
    _number: int = 0
    _started: float = field(default_factory=time.monotonic)

    def run(self, stack: str, refused: str | None) -> None:
        """Run every step for `stack`, and the rejection of the stack `refused`, if there is one.
        Raises StepFailed at the first unexpected result.
        """
        self._step(
            f"Plan: find the claims that fit and the number of nodes ({stack})",
            lambda: self._plan(stack),
        )
        self._step("Preview: the policy pack checks the stack", lambda: self._preview(stack))
        self._step("Up: create the stack, and check it again", lambda: self._up(stack))
        self._step("Up again: nothing changes", lambda: self._up_again(stack))
        self._step("Analyze: check the exported state again", lambda: self._analyze(stack))
        if refused is not None:
            self._step(
                f"Plan a stack that is too small ({refused})",
                lambda: self._plan(refused, fits=False),
            )
            self._step(
                "Preview: the policy pack rejects the stack", lambda: self._refused_preview(refused)
            )
            self._step(
                "Up without a preview: the policy pack rejects the stack before Pulumi "
                "creates resources",
                lambda: self._refused_up(refused),
            )
        self._step("Destroy: delete all resources", lambda: self._destroy(stack))
        total = time.monotonic() - self._started
        self.console.print(f"\n[bold green]Every step behaved as expected[/], in {total:.0f} s.")

    def _step(self, title: str, action: Callable[[], None]) -> None:
        self._number += 1
        self.console.print()
        self.console.rule(f"[bold]{self._number}. {title}[/]", align="left")
        started = time.monotonic()
        if self.console.is_terminal:
            with self.console.status("running …"):
                action()
        else:
            action()
        self.console.print(f"[dim]{time.monotonic() - started:.1f} s[/]")

    def _plan(self, stack: str, *, fits: bool = True) -> None:
        command = ["pulumi-dra", "plan", "--stack", stack, "--write"]
        self.console.print(f"[dim]$ {' '.join(command)}[/]")
        done = subprocess.run(
            [sys.executable, "-m", "dra_command", *command[1:]],
            cwd=self.engine.view,
            env={**os.environ, "COLUMNS": str(self.console.width)},
            capture_output=True,
            text=True,
            check=False,
        )
        quote(self.console, done.stdout)
        errors = done.stderr.strip()
        written = self.engine.settings_folder / f"{stack}.plan.json"
        if not written.is_file():
            raise StepFailed(
                f"the plan file {written.name} wasn't written (exit status {done.returncode})",
                errors,
            )
        if fits and done.returncode != 0:
            raise StepFailed(f"the plan exited with status {done.returncode} instead of 0", errors)
        if not fits and done.returncode != _EXIT_DOES_NOT_FIT:
            raise StepFailed(
                f"the plan doesn't fit, but the command exited with status {done.returncode} "
                "instead of 1",
                errors,
            )

    def _preview(self, stack: str) -> None:
        self.engine.stack_init(stack)
        self._print_command("preview", stack)
        result = self.engine.preview(stack, policy_pack=self.pack)
        self._must_succeed(result)
        self._must_record_first(result)
        show_services(self.console, result.steps)
        show_counts(self.console, result)

    def _up(self, stack: str) -> None:
        self._print_command("up", stack)
        result = self.engine.up(stack, policy_pack=self.pack, skip_preview=True)
        self._must_succeed(result)
        self._must_record_first(result)
        show_counts(self.console, result)

    def _up_again(self, stack: str) -> None:
        self._print_command("up", stack)
        result = self.engine.up(stack, policy_pack=self.pack, skip_preview=True)
        self._must_succeed(result)
        if not result.changed_nothing:
            changed = [
                f"{step.op} {step.urn}: {dict(step.detailed)}"
                for step in result.steps
                if step.op != "same"
            ]
            raise StepFailed("the second `up` changes resources", "\n".join(changed))
        show_counts(self.console, result)

    def _analyze(self, stack: str) -> None:
        state = self.engine.work_dir / f"{stack}.state.json"
        state.write_text(json.dumps(self.engine.export(stack)), encoding="utf-8")
        self.console.print(
            f"[dim]$ pulumi policy analyze --file {state.name} --policy-pack {self.pack.name}[/]"
        )
        result = self.engine.policy_analyze(state, self.pack)
        self._must_succeed(result)
        self.console.print("The pack accepts the stack.")

    def _refused_preview(self, stack: str) -> None:
        self.engine.stack_init(stack)
        self._print_command("preview", stack)
        self._must_be_refused(self.engine.preview(stack, policy_pack=self.pack))

    def _refused_up(self, stack: str) -> None:
        self._print_command("up --skip-preview", stack)
        self._must_be_refused(self.engine.up(stack, policy_pack=self.pack, skip_preview=True))
        made = self._resources_of_clouds(stack)
        if made:
            raise StepFailed(f"{len(made)} resources were created", "\n".join(made))
        self.console.print("Nothing was created: the state contains only the stack.")
        self._must_succeed(self.engine.stack_remove(stack, force=True))

    def _destroy(self, stack: str) -> None:
        self._print_command("destroy", stack, judged=False)
        result = self.engine.destroy(stack)
        self._must_succeed(result)
        left = self._resources_of_clouds(stack)
        if left:
            raise StepFailed(f"{len(left)} resources are left", "\n".join(left))
        show_counts(self.console, result)
        self._must_succeed(self.engine.stack_remove(stack))

    def _must_succeed(self, result: RunResult) -> None:
        if not result.ok:
            raise StepFailed(
                f"`{_shown(result)}` ended with status {result.exit_code}", result.output
            )

    def _must_record_first(self, result: RunResult) -> None:
        """Check that all billed resources wait for the plan record."""
        order = [step.type for step in result.steps if not step.type.startswith("pulumi:pulumi:")]
        cloud = next(
            (index for index, kind in enumerate(order) if _is_of_a_cloud(kind)), len(order)
        )
        if RECORD not in order[:cloud]:
            raise StepFailed(
                f"{RECORD} must be registered before the first cloud resource", "\n".join(order)
            )

    def _must_be_refused(self, result: RunResult) -> None:
        mandatory = [found for found in result.violations if found.level == "mandatory"]
        if result.ok or not mandatory:
            raise StepFailed(f"the pack didn't reject `{_shown(result)}`", result.output)
        show_violations(self.console, mandatory)

    def _resources_of_clouds(self, stack: str) -> list[str]:
        return [
            found["urn"] for found in self.engine.resources(stack) if _is_of_a_cloud(found["type"])
        ]

    def _print_command(self, verb: str, stack: str, *, judged: bool = True) -> None:
        pack = f" --policy-pack {self.pack.name}" if judged else ""
        self.console.print(f"[dim]$ pulumi {verb} --stack {stack}{pack}[/]")


def run_demo(project: Path, stack: str, work_dir: Path | None) -> int:
    """Run the demo for one stack.

    Return 0 if every step succeeds, 1 if one fails, and 2 if the project doesn't have the stack.
    Without `work_dir`, a temporary folder is used, which is kept only after a failure.
    """
    # A pipe doesn't have a width, and the tables need more than the default of 80 columns.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    settings = project / "stacks" / f"Pulumi.{stack}.yaml"
    if not settings.is_file():
        console.print(
            f"error: the stack {stack} wasn't found, because {settings} doesn't exist", style="red"
        )
        return 2
    scratch = work_dir or Path(tempfile.mkdtemp(prefix="pulumi-dra-demo-"))
    console.print(
        Text(
            f"Project {project}: plan, preview, create, and destroy the stack {stack} with "
            "the real Pulumi engine,\non a local backend and simulated clouds in "
            f"{scratch}.\nThe demo takes about a minute. On the first run, building the "
            "engine after the plan takes a few more minutes."
        ),
        soft_wrap=True,
    )
    keep = work_dir is not None
    try:
        engine = Engine(scratch, project)
        Demo(engine, engine.view / "policies", console).run(stack, refused_stack(stack, project))
    except StepFailed as failure:
        keep = True
        console.print(Text.assemble(("failed: ", "bold red"), str(failure)), soft_wrap=True)
        console.print(Text(failure.details), soft_wrap=True)
        console.print(Text(f"Kept the scratch folder: {scratch}"), soft_wrap=True)
        return 1
    finally:
        if not keep:
            shutil.rmtree(scratch)
    return 0


def refused_stack(stack: str, project: Path) -> str | None:
    """Return the stack of the same cloud that must be rejected, `<cloud>-too-small`, or None if
    the project has none. Raises PlannerError if the fleet can't be read.
    """
    if not any(name.endswith(_TOO_SMALL) for name in stack_names(project)):
        return None
    name = f"{read_stack(stack, project).fleet.cloud}{_TOO_SMALL}"
    return name if name in stack_names(project) else None


def _is_of_a_cloud(kind: str) -> bool:
    return kind.startswith(("aws:", "gcp:", "kubernetes:"))


def _shown(result: RunResult) -> str:
    """Return the command as a user would type it, without options that only programs need."""
    return " ".join(result.command[:4])
