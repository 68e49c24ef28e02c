"""Deploy an example platform in the sandbox with its language's host: preview, up, an up without
changes, and destroy.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml

from dra_sandbox.engine import Engine
from dra_sandbox.run_result import RunResult

PROJECT = Path(__file__).resolve().parents[2]
PLANNED = PROJECT / "examples/platform-python/stacks"
"""A fleet and its plan."""
STACK = "dev"


class Failed(Exception):
    """A step failed. The message contains the output."""


def place(folder: Path, language: str) -> Path:
    """Make `folder` look like the checkout around one example, including the plan of the example.
    Return the path of the example.
    """
    example = folder / "examples" / f"platform-{language}"
    shutil.copytree(PROJECT / "examples" / example.name, example)
    for name in ("components", ".venv"):
        (folder / name).symlink_to(PROJECT / name)
    settings = yaml.safe_load((PLANNED / "Pulumi.dev.yaml").read_text())["config"]
    shutil.copy(PLANNED / "dev.plan.json", example / "fleet.plan.json")
    region = {"config": {"aws:region": settings["aws:region"]}}
    (example / f"Pulumi.{STACK}.yaml").write_text(yaml.safe_dump(region))
    return example


def deploy(example: Path, hosts: Path, *, install: bool) -> None:
    """Create and delete the example's resources. Raises Failed if a step fails. The engine's view
    of the project must contain `../../components`, as the example's folder does.
    """
    engine = Engine(example.parents[1] / "work", example, language_hosts=[hosts])
    engine.stack_init(STACK)
    if install:
        _must(engine.install())
    preview = _must(engine.preview(STACK))
    up = _must(engine.up(STACK, skip_preview=True))
    if preview.change_counts.get("create") != up.change_counts.get("create"):
        raise Failed(
            f"the preview planned {preview.change_counts}, but up applied {up.change_counts}"
        )
    outputs = engine.outputs(STACK)
    if outputs["poolMaxNodes"] != {"l4": 4} or "get-token" not in outputs["kubeconfig"]:
        raise Failed(f"the outputs are {outputs}")
    again = _must(engine.up(STACK, skip_preview=True))
    if not again.changed_nothing:
        raise Failed(f"a second up changed something: {again.change_counts}\n{again.output}")
    _must(engine.destroy(STACK))
    if left := engine.resources(STACK):
        raise Failed(f"{len(left)} resources remain")
    print(
        f"  {up.change_counts['create']} resources created, unchanged by a second up, and deleted",
        flush=True,
    )


def _must(result: RunResult) -> RunResult:
    if not result.ok:
        raise Failed(f"{' '.join(result.command[:3])} failed:\n{result.output}")
    return result
