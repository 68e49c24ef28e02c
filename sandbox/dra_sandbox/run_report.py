"""Print the results of an engine run as a cloud's console shows them: resources by service, and
counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dra_sandbox.run_result import PolicyViolation, ResourceStep, RunResult

# Properties that only the engine uses.
_ENGINES_OWN = ("pulumi:pulumi:", "pulumi:providers:")


def show_services(console: Console, steps: Iterable[ResourceStep]) -> None:
    """Print the resources of the steps by service, with the number of resources of each kind."""
    services: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for step in steps:
        package, module, kind = step.type.split(":", 2)
        if not step.type.startswith(_ENGINES_OWN):
            services[f"{package} {module.split('/', 1)[0]}"][kind].append(step.name)
    table = Table.grid(padding=(0, 2))
    for service, kinds in sorted(services.items()):
        parts = [
            f"{kind} ×{len(names)}" if len(names) > 1 else kind for kind, names in kinds.items()
        ]
        table.add_row(Text(f"  {service}", "cyan"), Text(", ".join(parts)))
    console.print(table)


def show_changes(console: Console, steps: Iterable[ResourceStep]) -> None:
    """Print one line for each changed resource, with the changed properties. New and deleted
    resources are printed by service.
    """
    changing = [step for step in steps if step.op not in ("same", "read", "refresh")]
    for verb, op in (("new", "create"), ("gone", "delete")):
        found = [step for step in changing if step.op == op]
        if found:
            console.print(f"{verb}:")
            show_services(console, found)
    for step in changing:
        if step.op in ("update", "replace"):
            paths = ", ".join(sorted(step.detailed) or step.diffs)
            console.print(
                Text.assemble((f"{step.op} ", "yellow"), (step.name, "bold"), f"  {paths}"),
                soft_wrap=True,
            )


def show_counts(console: Console, result: RunResult) -> None:
    """Print the number of resources for each operation, and the duration of the run."""
    counts = ", ".join(f"{count} {op}" for op, count in sorted(result.change_counts.items()))
    console.print(f"{counts or 'no resources'}  [dim]({result.seconds:.1f} s in the engine)[/]")


def show_violations(console: Console, violations: Iterable[PolicyViolation]) -> None:
    """Print the findings of a policy pack."""
    for found in violations:
        how = ("rejected by ", "red") if found.level == "mandatory" else ("advice from ", "yellow")
        console.print(Text.assemble(how, (found.policy, "bold")))
        # wrapped on terminals; other programs read one line
        console.print(Text(found.message.rstrip()), soft_wrap=not console.is_terminal)


def quote(console: Console, text: str) -> None:
    """Print the unchanged output of a tool."""
    console.print(Text(text.rstrip()), soft_wrap=True)
