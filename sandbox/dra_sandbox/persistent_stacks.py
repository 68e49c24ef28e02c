"""Stacks on simulated clouds that stay on this machine between commands.

The backend of a project is in its own folder, by default in the per-user cache. Deleting the last
stack removes the folder.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct
from rich.console import Console
from rich.text import Text

from dra_planner.fleet import read_stack
from dra_planner.planfile import plan_path, read_plan_file
from dra_planner.releases import parse_version
from dra_planner.wording import counted
from dra_sandbox.cache import cache_folder
from dra_sandbox.clouds.kubernetes.cluster import CHARTS, CONTROL_PLANE, HELM
from dra_sandbox.clouds.kubernetes.helm_releases import ReleaseNote, release_notes
from dra_sandbox.control_plane import ControlPlane, ControlPlaneError, stop
from dra_sandbox.control_plane.plane import is_kept, read_plane
from dra_sandbox.control_plane.problems import tail
from dra_sandbox.engine import Engine
from dra_sandbox.persistent_cluster import (
    daemon_pods,
    ended_components,
    open_cluster,
    planned_cluster,
    set_nodes,
    set_predicted,
)
from dra_sandbox.rehearsal.cluster import PlannedCluster
from dra_sandbox.run_report import show_changes, show_counts, show_violations
from dra_sandbox.run_result import RunResult

_MARK = "rehearsal-of"
"""File that names the project in a folder of the sandbox. A folder without it is never removed."""
_PLANES = "control-planes"


class StackRefused(Exception):
    """The request can't be fulfilled. The message contains the reason and a fix."""


class KeptStacks(Struct, frozen=True):
    """The running sandbox stacks of one project."""

    project: Path
    folder: Path
    console: Console
    kubernetes: str = ""
    """Kubernetes version of the control plane that `up` starts. Default: the fleet's version."""
    helm: Path | None = None
    """Helm command that renders the charts of releases on a control plane. Without it, releases are
    only recorded.
    """
    charts: Path | None = None
    """Folder of charts that take precedence over published ones."""

    def plan(self, stack: str) -> bool:
        """Preview `up`, and return True if it would succeed."""
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

    def up(self, stack: str, *, on_control_plane: bool = False) -> bool:
        """Create or update the stack to match its settings, and return True on success.

        With `on_control_plane`, the cluster of the stack is a real control plane with the nodes of
        its plan. Raises ControlPlaneError if the control plane can't be started.
        """
        is_real = on_control_plane or is_kept(self._plane_folder(stack))
        cluster = self._planned_cluster(stack) if is_real else None
        plane = self._open_cluster(stack) if is_real else None
        engine = self._open(plane)
        engine.stack_init(stack)
        if plane is not None and cluster is not None:
            set_nodes(plane, cluster)
        with self.console.status("creating the stack …"):
            result = engine.up(stack, policy_pack=self._pack(engine), skip_preview=True)
        self._show(result)
        if result.ok:
            state = "nothing to do" if result.changed_nothing else "up"
            self.console.print(f"[bold]{stack}[/]: {state}. It runs until `sandbox down`.")
            if plane is not None and cluster is not None:
                set_predicted(plane, cluster)
                self._show_cluster(plane, len(cluster.nodes))
        elif not [r for r in engine.resources(stack) if r["type"] != "pulumi:pulumi:Stack"]:
            engine.stack_remove(stack, force=True)
            stop(self._plane_folder(stack))
            self._remove_if_empty(engine)
        return result.ok

    def down(self, stack: str | None, *, force: bool = False) -> bool:
        """Delete `stack`, or all stacks of the project, and return True if no stack is left.

        With `force`, the stacks are removed without deleting their resources.
        """
        if not (self.folder / _MARK).is_file():
            self.console.print("No stack is running.")
            return True
        stacks = self._open().stacks()
        there = self._with_planes(stacks)
        for name in there if stack is None else [name for name in there if name == stack]:
            # If its control plane isn't running, only the resources that the engine can delete are
            # deleted.
            engine = self._open(self._whole_plane(name))
            if name in stacks and not (
                self._forget(engine, name) if force else self._destroy(engine, name)
            ):
                return False
            stop(self._plane_folder(name))
            self.console.print(f"[bold]{name}[/]: down.")
        if stack is not None and stack not in there:
            self.console.print(f"{stack} isn't running.")
        self._remove_if_empty(self._open())
        return True

    def status(self) -> None:
        """Print the running stacks, and for each control plane its running components and its
        KUBECONFIG.
        """
        if not (self.folder / _MARK).is_file():
            self.console.print("No stack is running.")
            return
        stacks = self._open().stacks()
        for name in self._with_planes(stacks):
            state = (
                "up."
                if name in stacks
                else "a control plane without a stack, left by an interrupted run."
            )
            self.console.print(f"[bold]{name}[/]: {state}")
            if is_kept(self._plane_folder(name)):
                plane = read_plane(self._plane_folder(name).resolve())
                ended = ended_components(plane)
                runs = f"no longer running: {', '.join(ended)}" if ended else "everything runs"
                self.console.print(
                    f"  Kubernetes {plane.version} at {plane.server}: {runs}", soft_wrap=True
                )
                self.console.print(f"  export KUBECONFIG={plane.kubeconfig}", soft_wrap=True)

    def logs(self, stack: str, component: str, lines: int) -> None:
        """Print the last log lines of a component of the stack's control plane. Raises
        ControlPlaneError if the stack has no control plane, and StackRefused for an unknown
        component.
        """
        plane = read_plane(self._plane_folder(stack).resolve())
        if component and component not in plane.components:
            raise StackRefused(
                f"{component} isn't a component of the control plane; use one of "
                f"{', '.join(plane.components)}"
            )
        for name in [component] if component else plane.components:
            self.console.print(
                Text.assemble((name, "bold"), tail(plane.log(name), lines)), soft_wrap=True
            )

    def _plane_folder(self, stack: str) -> Path:
        return self.folder / _PLANES / stack

    def _with_planes(self, stacks: Iterable[str]) -> list[str]:
        """Return the stacks, including stacks that only have a control plane because `up` was
        interrupted.
        """
        return sorted({*stacks, *(path.name for path in (self.folder / _PLANES).glob("*"))})

    def _open_cluster(self, stack: str) -> ControlPlane:
        """Return the control plane of a stack, and start it if necessary."""
        minor = (
            parse_version(self.kubernetes)
            if self.kubernetes
            else read_stack(stack, self.project).fleet.minor
        )
        self._claim()
        with self.console.status("starting the control plane …"):
            return open_cluster(self._plane_folder(stack), minor)

    def _whole_plane(self, stack: str) -> ControlPlane | None:
        """Return the control plane of a stack if all its components are running."""
        folder = self._plane_folder(stack)
        try:
            plane = read_plane(folder.resolve()) if is_kept(folder) else None
        except ControlPlaneError:
            return None
        return plane if plane is not None and not ended_components(plane) else None

    def _planned_cluster(self, stack: str) -> PlannedCluster:
        """Return the cluster that the plan of a stack builds. Raises PlannerError if the plan is
        missing or invalid.
        """
        plan = read_plan_file(plan_path(stack, self.project), stack=stack)
        catalog = plan.fleet.catalog
        return planned_cluster(read_stack(stack, self.project, catalog=catalog).fleet, plan)

    def _show_cluster(self, plane: ControlPlane, nodes: int) -> None:
        self.console.print(
            f"Kubernetes {plane.version} with {nodes} nodes at {plane.server}", soft_wrap=True
        )
        for note in release_notes(plane.folder):
            sentence = _sentence(note, daemon_pods(plane, note.namespace, note.name))
            self.console.print(Text(f"  {sentence}"), soft_wrap=not self.console.is_terminal)
        self.console.print(f"  export KUBECONFIG={plane.kubeconfig}", soft_wrap=True)

    def _open(self, plane: ControlPlane | None = None) -> Engine:
        """Return the engine for the folder.

        If a control plane is passed, it becomes the stack's cluster.
        """
        self._claim()
        environment = {CONTROL_PLANE: str(plane.folder)} if plane is not None else {}
        environment |= {HELM: str(self.helm)} if self.helm else {}
        environment |= {CHARTS: str(self.charts)} if self.charts else {}
        return Engine(self.folder, self.project, environment=environment)

    def _claim(self) -> None:
        """Mark the folder as the project's. Raises StackRefused if it belongs to something else."""
        mark = self.folder / _MARK
        if self.folder.exists() and not self.folder.is_dir():
            raise StackRefused(f"{self.folder} isn't a folder; use an empty or new folder")
        if not mark.is_file() and self.folder.is_dir() and any(self.folder.iterdir()):
            raise StackRefused(f"{self.folder} contains other files; use an empty or new folder")
        if mark.is_file() and mark.read_text(encoding="utf-8") != str(self.project):
            raise StackRefused(
                f"{self.folder} already belongs to {mark.read_text(encoding='utf-8')}; delete "
                "this stack with `sandbox down`, or use another folder"
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            mark.write_text(str(self.project), encoding="utf-8")
        except OSError as error:
            raise StackRefused(f"can't write to {self.folder}: {error.strerror}") from error

    def _destroy(self, engine: Engine, stack: str) -> bool:
        # An interrupted operation has left its lock behind.
        engine.cancel(stack)
        with self.console.status("deleting the stack …"):
            result = engine.destroy(stack)
        if not result.ok:
            self._show(result)
            self.console.print(
                "Protected resources remain. Remove their protection first, or delete the stack "
                "with --force."
            )
            return False
        show_counts(self.console, result)
        return engine.stack_remove(stack).ok

    def _forget(self, engine: Engine, stack: str) -> bool:
        engine.cancel(stack)
        return engine.stack_remove(stack, force=True).ok

    def _remove_if_empty(self, engine: Engine) -> None:
        if not self._with_planes(engine.stacks()):
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


def _sentence(note: ReleaseNote, daemons: int) -> str:
    """Return a sentence about the result of a release."""
    if note.recorded_because:
        return (
            f"release {note.name} is in the stack's state, but isn't installed, because "
            f"{note.recorded_because}"
        )
    objects = ", ".join(f"{count} {kind}" for kind, count in note.objects.items())
    pods = f"; its DaemonSets have {counted(daemons, 'pod')}" if "DaemonSet" in note.objects else ""
    return f"release {note.name}: Helm installed {note.chart} ({objects}){pods}"


def stacks_folder(project: Path) -> Path:
    """Return the default folder for the stacks of a project."""
    digest = hashlib.sha256(str(project).encode()).hexdigest()[:12]
    return cache_folder() / "rehearsals" / f"{project.name}-{digest}"


def chosen_stack(project: Path, settings_folder: str, stack: str | None) -> str:
    """Return `stack` if the project has it, or the project's only stack. Raises StackRefused, which
    lists the existing stacks.
    """
    found = sorted(
        path.name.removeprefix("Pulumi.").removesuffix(".yaml")
        for path in (project / settings_folder).glob("Pulumi.*.yaml")
    )
    if stack in found:
        return stack
    if stack is None and len(found) == 1:
        return found[0]
    there = f"it has {', '.join(found)}" if found else "the project doesn't have stacks"
    raise StackRefused(
        f"stack {stack} isn't in the project; {there}"
        if stack
        else f"choose a stack with --stack; {there}"
    )
