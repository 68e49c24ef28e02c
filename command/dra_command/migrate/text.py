"""The text report of a migration: the number of migrated workloads, their requirements, and the
diff.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_command.migrate.diff import unified_diff
from dra_command.pens.terminal.page import Page
from dra_command.pens.visible_text import visible
from dra_planner.migration import Migration, ObjectChange, Result, Target, TemplateOutcome
from dra_planner.wording import counted

STYLES = {
    Result.REWRITTEN: "green",
    Result.SERVED: "green",
    Result.KEPT: "yellow",
    Result.CANNOT: "red",
}
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def print_migration(
    found: Migration, target: Target, *, written: bool, quiet: bool, verbose: bool
) -> None:
    """Print the result. `quiet` prints only the workloads that can't migrate."""
    with Page() as page:
        if not quiet:
            page.text(_headline(found, written=written))
            _print_served(page, found, target)
        for each in found.templates:
            if not quiet or each.result is Result.CANNOT:
                _print_template(page, each, verbose=verbose)
        if quiet:
            return
        _print_changes(page, found.changes)
        for assumption in found.assumptions:
            page.gap()
            page.text(assumption, mark="assumed: ")
        if not written:
            _print_diff(page, found)


def _headline(found: Migration, *, written: bool) -> str:
    if not found.templates and not found.changes:
        return (
            "Nothing to migrate, because the workloads don't request devices from a device plugin."
        )
    counts = [f"{found.count(result)} {result}" for result in Result if found.count(result)]
    changed = sum(each.is_changed for each in found.files)
    files = f"{'Changed' if written else 'To change'}: {counted(changed, 'file')}."
    return (
        f"{counted(len(found.templates), 'pod template')}: {', '.join(counts) or 'none'}. {files}"
    )


def _print_served(page: Page, found: Migration, target: Target) -> None:
    """Print the resource names of rewritten pods that can stay unchanged because a DeviceClass
    serves them.
    """
    rewritten = (each for each in found.templates if each.result is Result.REWRITTEN)
    requested = {name for each in rewritten for name in each.resources}
    served = sorted((name, target.served[name]) for name in requested & target.served.keys())
    if served:
        classes = ", ".join(f"{device_class} ({name})" for name, device_class in served)
        page.gap()
        page.text(
            "Pods without a selector can also stay unchanged, because a DeviceClass serves the "
            f"resource that they request: {classes}. Rewrite only pods that need a selector, a "
            "share of a device, or a quota for a DeviceClass."
        )


def _print_template(page: Page, each: TemplateOutcome, *, verbose: bool) -> None:
    page.gap()
    of = f" ({each.pods})" if each.pods else ""
    devices = f", {counted(each.devices, 'device')} per pod" if each.devices else ""
    page.line(
        f"{each.place} {each.object}{of}: ", (each.result.value, STYLES[each.result]), devices
    )
    if each.reason:
        page.text(each.reason, indent=4)
    alternatives = each.alternatives if verbose else each.alternatives[:3]
    for alternative in alternatives:
        page.text(alternative, indent=4, mark="→ ")
    for note in each.notes:
        page.text(note, indent=4, mark="note: ")


def _print_changes(page: Page, changes: Sequence[ObjectChange]) -> None:
    for each in changes:
        page.gap()
        page.line(
            f"{each.place} {each.object}: ",
            ("changed", "green") if each.is_changed else ("change manually", "yellow"),
        )
        first, *others = each.what.splitlines()
        page.text(first, indent=4)
        for line in others:
            page.verbatim(f"      {line}")


def _print_diff(page: Page, found: Migration) -> None:
    for line in _diff_lines(found):
        page.verbatim(visible(line), _DIFF_STYLES.get(line[:1], ""))


def _diff_lines(found: Migration) -> Iterator[str]:
    for each in found.files:
        if each.is_changed:
            yield ""
            yield from unified_diff(each).splitlines()
