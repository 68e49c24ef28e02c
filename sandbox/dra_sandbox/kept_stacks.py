"""A stack that is kept on this machine between commands: put up, changed, taken down, on stand-in clouds.

Its backend lies in a folder per project, by default below the per-user cache; taking the last stack down removes it.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from dra_sandbox.cache import cache_folder
from dra_sandbox.engine import Engine
from dra_sandbox.run_report import show_changes, show_counts, show_violations
from dra_sandbox.run_result import RunResult

_MARK = "rehearsal-of"
"""File in a folder of ours that names the project; a folder without it is never removed."""


class StackRefused(Exception):
    """What was asked for cannot be done; the message says why, and what would make it possible."""


@dataclass(frozen=True, slots=True)
class KeptStacks:
    """The rehearsed stacks of one project."""

    project: Path
    folder: Path
    console: Console

    def plan(self, stack: str) -> bool:
        """Show what `up` would do; whether it would succeed."""
        engine = self._open()
        fresh = stack not in engine.stacks()
        engine.stack_init(stack)
        with self.console.status("previewing …"):
            result = engine.preview(stack, policy_pack=self._pack(engine))
        self._show(result)
        if fresh:
            engine.stack_remove(stack)
            self._remove_if_empty(engine)
        return result.ok

    def up(self, stack: str) -> bool:
        """Make the stack be as its settings say; whether that succeeded. What was there is changed, not made anew."""
        engine = self._open()
        engine.stack_init(stack)
        with self.console.status("bringing it up …"):
            result = engine.up(stack, policy_pack=self._pack(engine), skip_preview=True)
        self._show(result)
        if result.ok:
            state = "nothing to do" if result.changed_nothing else "up"
            self.console.print(f"[bold]{stack}[/]: {state}. It is kept until `sandbox down`.")
        elif not [r for r in engine.resources(stack) if r["type"] != "pulumi:pulumi:Stack"]:
            engine.stack_remove(stack, force=True)
            self._remove_if_empty(engine)
        return result.ok

    def down(self, stack: str | None, *, force: bool = False) -> bool:
        """Take `stack` down, or all of the project; whether nothing of it is left. With `force` they are forgotten."""
        if not (self.folder / _MARK).is_file():
            self.console.print("Nothing is up.")
            return True
        engine = self._open()
        there = engine.stacks()
        for name in there if stack is None else [name for name in there if name == stack]:
            if not (self._forget(engine, name) if force else self._destroy(engine, name)):
                return False
            self.console.print(f"[bold]{name}[/]: down.")
        if stack is not None and stack not in there:
            self.console.print(f"{stack} is not up.")
        self._remove_if_empty(engine)
        return True

    def _open(self) -> Engine:
        """The engine on the folder. Raises StackRefused for a folder that is somebody else's."""
        mark = self.folder / _MARK
        if not mark.is_file() and self.folder.is_dir() and any(self.folder.iterdir()):
            raise StackRefused(f"{self.folder} holds something else: give an empty folder, or a new one")
        if mark.is_file() and mark.read_text(encoding="utf-8") != str(self.project):
            raise StackRefused(
                f"{self.folder} rehearses {mark.read_text(encoding='utf-8')}: take that down, or give another folder"
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        mark.write_text(str(self.project), encoding="utf-8")
        return Engine(self.folder, self.project)

    def _destroy(self, engine: Engine, stack: str) -> bool:
        # One that was interrupted has left its lock behind.
        engine.cancel(stack)
        with self.console.status("taking it down …"):
            result = engine.destroy(stack)
        if not result.ok:
            self._show(result)
            self.console.print("What is protected stays: take the protection away first, or forget it with --force.")
            return False
        show_counts(self.console, result)
        return engine.stack_remove(stack).ok

    def _forget(self, engine: Engine, stack: str) -> bool:
        engine.cancel(stack)
        return engine.stack_remove(stack, force=True).ok

    def _remove_if_empty(self, engine: Engine) -> None:
        if not engine.stacks():
            shutil.rmtree(self.folder)

    def _pack(self, engine: Engine) -> Path | None:
        pack = engine.view / "policies"
        return pack if (pack / "PulumiPolicy.yaml").is_file() else None

    def _show(self, result: RunResult) -> None:
        show_changes(self.console, result.steps)
        show_violations(self.console, result.violations)
        if result.ok:
            show_counts(self.console, result)
            return
        for message in result.diagnostics or (result.output,):
            self.console.print(Text.assemble(("error: ", "bold red"), message), soft_wrap=True)


def stacks_folder(project: Path) -> Path:
    """Where the stacks of a project are kept when nobody says where."""
    digest = hashlib.sha256(str(project).encode()).hexdigest()[:12]
    return cache_folder() / "rehearsals" / f"{project.name}-{digest}"


def chosen_stack(project: Path, settings_folder: str, stack: str | None) -> str:
    """Return `stack` when the project has it, or its only one. Raises StackRefused with those that there are."""
    found = sorted(
        path.name.removeprefix("Pulumi.").removesuffix(".yaml")
        for path in (project / settings_folder).glob("Pulumi.*.yaml")
    )
    if stack in found:
        return stack
    if stack is None and len(found) == 1:
        return found[0]
    there = f"it has {', '.join(found)}" if found else "it has none"
    raise StackRefused(
        f"there is no stack {stack} in the project; {there}" if stack else f"say which stack with --stack; {there}"
    )
