"""A plan, or the plans of several stacks, as a comment on a pull request.

The first line is a mark by which later runs find and edit the comment. The comment starts with the
verdicts and the workloads that don't fit, with fixes as a diff. Everything else is collapsed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from dra_command.claim_report.joint_fix import joint_fix_title
from dra_command.claim_report.terms import failing_tables
from dra_command.pens.amounts import signed
from dra_command.pens.markdown import (
    block,
    code,
    details,
    diagnostic_lines,
    html_code,
    joined,
    safe,
    table_lines,
)
from dra_command.pens.signs import DRAWN
from dra_command.pens.table import Table
from dra_command.pens.verdict_words import (
    VERDICT_AFTER_A_NAME,
    VERDICT_WORDS,
    stalls_in_words,
)
from dra_command.plan_report.alternatives import alternative_lines
from dra_command.plan_report.cost_detail import detail_tables
from dra_command.plan_report.cost_sentences import costs
from dra_command.plan_report.difference import difference_line, difference_table
from dra_command.plan_report.findings import diagnostics
from dra_command.plan_report.guards import guards_table, rules_table, without_guards
from dra_command.plan_report.headline import headline, setting
from dra_command.plan_report.obstacles import Obstacle, obstacles
from dra_command.plan_report.simulation_sentences import simulation
from dra_command.plan_report.tables.devices import device_table
from dra_command.plan_report.tables.orders import order_table
from dra_command.plan_report.tables.pools import pool_table
from dra_command.plan_report.tables.view import PlanView
from dra_command.plan_report.tables.workloads import workload_table
from dra_planner.catalog import HOURS_PER_MONTH
from dra_planner.plan import Plan
from dra_planner.plan.explanation.claims import explain_failing
from dra_planner.plan.saved.difference import PlanDifference
from dra_planner.wording import counted

MARK: Final = "<!-- pulumi-dra:plan -->"
_MOST_FINDINGS: Final = 5
_SEVERITIES: Final = ("warning", "note")
_WIDTH: Final = 100


class StackPlan(NamedTuple):
    """The plan of one stack, its difference from the saved plan, and the commands that explain
    misfits, each with its subject. The name is "" for a fleet without a stack. `stale` is why the
    saved plan is stale, or "".
    """

    stack: str
    plan: Plan
    difference: PlanDifference | None = None
    commands: tuple[tuple[str, str], ...] = ()
    stale: str = ""


def plan_markdown(
    stacks: Sequence[StackPlan], invalid: Sequence[str] = (), *, detail: bool = False
) -> str:
    """Return the comment, with a newline at its end. `invalid` are the names of stacks that can't
    be planned. `detail` adds the devices of each claim.
    """
    head = [
        MARK,
        f"### GPU capacity plan: {safe(_title(stacks, len(invalid)))}",
        "",
        *table_lines(_summary(stacks, invalid), title=False),
    ]
    head += [f"**Stale plan.** {safe(stack.stale)}\n" for stack in stacks if stack.stale]
    findings: list[list[str]] = [
        list(lines) for stack in stacks for lines in _findings(stack, len(stacks) > 1)
    ]
    for lines in findings[:_MOST_FINDINGS]:
        head += lines
    for stack in stacks:
        head += _commands(stack)
        head += _guards(stack, len(stacks) > 1)
    folded = []
    if findings[_MOST_FINDINGS:]:
        more = [line for lines in findings[_MOST_FINDINGS:] for line in lines]
        folded.append(details(f"{counted(len(findings) - _MOST_FINDINGS, 'more finding')}", more))
    for stack in stacks:
        folded += _folded(stack, len(stacks) > 1, detail=detail)
    return joined(head, folded, _foot(stacks))


def _guards(stack: StackPlan, named: bool) -> Iterator[str]:
    """Yield the guards of a plan, and the result without guards."""
    table, guarded = guards_table(stack.plan), stack.plan.guarded
    if table is None or guarded is None:
        return
    where = f"{code(stack.stack)}: " if named else ""
    sentence = without_guards(guarded)
    yield f"{where}**Guards make the scheduler follow the plan.** W{safe(sentence[1:])}."
    yield ""
    yield from table_lines(table, title=False)


def _title(stacks: Sequence[StackPlan], invalid: int) -> str:
    number = len(stacks) + invalid
    if number == 1:
        return headline(stacks[0].plan)
    fits = sum(stack.plan.verdict == "fits" for stack in stacks)
    return f"{fits} of {number} stacks {'fits' if fits == 1 else 'fit'}"


def _summary(stacks: Sequence[StackPlan], invalid: Sequence[str]) -> Table:
    rows: list[tuple[str, ...]] = []
    for stack, plan, difference, _, stale in stacks:
        sign = DRAWN.of(plan.verdict)
        verdict = f"{sign} {VERDICT_WORDS[plan.verdict]}"
        pending = sum(each.pending for each in plan.workloads)
        if pending:
            verdict += f", {pending} of {counted(plan.pods, 'pod')} pending"
        if plan.stalled:
            verdict += f", {stalls_in_words(len(plan.stalled))}"
        nodes = sum(pool.nodes.desired for pool in plan.pools)
        cost = ("unknown", "unknown")
        if plan.cost is not None:
            cost = (
                f"{plan.cost.hourly_usd:,.2f}",
                f"{plan.cost.hourly_usd * HOURS_PER_MONTH:,.0f}",
            )
        rows.append(
            (
                *((f"`{stack}`",) if stack else ()),
                verdict,
                str(nodes),
                *cost,
                _change(difference, stale),
            )
        )
    rows += [(f"`{name}`", "✕ invalid input", *[""] * 4) for name in invalid]
    heads = (
        *(("Stack",) if stacks[0].stack else ()),
        "Verdict",
        "GPU nodes",
        "USD/h",
        "USD/month",
        "Changes from the saved plan",
    )
    return Table("", heads, tuple(rows), frozenset(range(len(heads) - 4, len(heads))))


def _change(difference: PlanDifference | None, stale: str) -> str:
    if difference is None:
        return "none saved"
    if difference.is_empty:
        return "stale" if stale else "no difference"
    money = "unknown" if difference.hourly_usd is None else signed(difference.hourly_usd)
    noun = "node" if abs(difference.nodes) == 1 else "nodes"
    return f"{difference.nodes:+d} {noun}, {money}"


# -- workloads that don't fit


def _findings(stack: StackPlan, named: bool) -> Iterator[Iterable[str]]:
    """Yield paragraphs with the reasons why each workload can't run, and the problems with each
    object.
    """
    where = f"{code(stack.stack)}: " if named else ""
    for obstacle in obstacles(stack.plan, every=False):
        yield _obstacle(obstacle, where)
    for each in diagnostics(stack.plan):
        if each.severity == "error":
            yield diagnostic_lines(each, where)
    joint = stack.plan.joint_fix
    raised = [] if joint is not None else list(_raised(stack.plan))
    if joint is not None:
        steps = (f"- {safe(step)}" for step in joint.steps)
        yield [f"{where}{joint_fix_title(joint)}", "", *steps, ""]
    if raised:
        yield [
            f"{where}Without rollouts, these maximums are enough for all pods that fit on a node:",
            *block(raised, "diff"),
            "",
        ]


def _commands(stack: StackPlan) -> Iterator[str]:
    """Yield the commands that print all failing conditions, because the report contains only the
    first one on each pool.
    """
    shown = stack.commands[:_MOST_FINDINGS]
    for subject, command in shown:
        yield f"- {safe(subject)}: {code(command)}"
    if shown:
        yield ""


def _obstacle(obstacle: Obstacle, where: str) -> Iterator[str]:
    sign = DRAWN.of(obstacle.verdict)
    verdict = VERDICT_AFTER_A_NAME[obstacle.verdict]
    state = "" if obstacle.state == verdict else f", {safe(obstacle.state)}"
    yield f"**{sign} {where}{safe(obstacle.subject)} {verdict}**{state}."
    changed: list[str] = []
    for what, fix in obstacle.lines:
        yield f"- {safe(what)}" + (f"<br>→ {safe(fix)}" if fix else "")
    for before, after in obstacle.changes:
        changed += [f"-{before}", *([f"+{after}"] if after else [])]
    yield ""
    if changed and obstacle.changed_for:
        yield from (f"Change for pool {safe(obstacle.changed_for)}:", "")
    if changed:
        yield from (*block(changed, "diff"), "")


def _raised(plan: Plan) -> Iterator[str]:
    """Yield the maximums that are too small, as set in the fleet, and the values that would be
    large enough.
    """
    for pool in plan.pools:
        if pool.enough > pool.maximum:
            fixed = pool.minimum == pool.maximum
            yield f" - name: {pool.name}"
            for sign, most in (("-", pool.maximum), ("+", pool.enough)):
                yield f"{sign}  count: {most if fixed else f'{{min: {pool.minimum}, max: {most}}}'}"


# -- what is folded


def _folded(stack: StackPlan, named: bool, *, detail: bool) -> Iterator[list[str]]:
    plan, difference = stack.plan, stack.difference
    where = f"{html_code(stack.stack)}: " if named else ""
    view = PlanView.of(plan, DRAWN, width=_WIDTH)
    if difference is not None and not difference.is_empty:
        lines = [*table_lines(difference_table(difference), title=False)]
        yield details(f"{where}{difference_line(difference)}: why", lines)
    if plan.running != "fits":
        yield from _terms(plan, where)
    orders = order_table(view)
    if orders is not None:
        lines = [*table_lines(_as_code(orders, 1), title=False), *_paragraphs(simulation(plan))]
        yield details(f"{where}pod arrival orders", lines)
    workloads = list(table_lines(workload_table(view), title=False)) if plan.workloads else []
    if workloads:
        yield details(f"{where}workloads ({len(plan.workloads)})", workloads)
    drawn = device_table(view)
    devices = list(table_lines(_as_code(drawn, 2), title=False)) if drawn is not None else []
    pools = table_lines(
        _as_code(pool_table(view), 2) if plan.fleet is not None else pool_table(view), title=False
    )
    yield details(
        f"{where}{'pools' if plan.fleet is not None else 'nodes'} ({len(plan.pools)}) and devices",
        [
            *pools,
            *devices,
            *_paragraphs(alternative_lines(plan)),
            *_paragraphs((*(() if orders is not None else simulation(plan)), *costs(plan))),
        ],
    )
    others = [each for each in diagnostics(plan) if each.severity != "error"]
    if others:
        lines = [line for each in others for line in diagnostic_lines(each)]
        counts = {kind: [each.severity for each in others].count(kind) for kind in _SEVERITIES}
        title = " and ".join(counted(count, kind) for kind, count in counts.items() if count)
        yield details(f"{where}{title}", lines)
    rules = rules_table(plan)
    if rules is not None:
        yield details(
            f"{where}{counted(len(rules.rows), 'steering rule')}", table_lines(rules, title=False)
        )
    if detail:
        for table in detail_tables(plan, view.filled):
            yield details(f"{where}{table.title.lower()}", table_lines(table, title=False))
    if plan.assumptions:
        lines = [*(f"- {safe(each)}" for each in plan.assumptions), ""]
        yield details(f"{where}{counted(len(plan.assumptions), 'assumption')}", lines)


def _terms(plan: Plan, where: str) -> Iterator[list[str]]:
    for workload, table in failing_tables(explain_failing(plan.judgement), DRAWN, 4):
        rows = tuple((f"`{row[0]}`", *row[1:]) for row in table.rows)
        shown = Table(table.title, table.heads, rows)
        yield details(
            f"{where}the {html_code(table.heads[0])} of {html_code(workload)}, condition by "
            "condition",
            table_lines(shown, title=False),
        )


def _as_code(table: Table, column: int) -> Table:
    """Return the table with one column as code, so that the signs in this column are aligned."""
    rows = tuple(
        (*row[:column], f"`{row[column]}`" if row[column] else "", *row[column + 1 :])
        for row in table.rows
    )
    return Table(table.title, table.heads, rows, table.numbers, table.note)


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from (safe(line), "")


def _foot(stacks: Sequence[StackPlan]) -> list[str]:
    plan = stacks[0].plan
    named = any(stack.stack for stack in stacks)
    stack = stacks[0].stack if len(stacks) == 1 else "NAME"
    same = f"the same as `pulumi-dra plan --stack {stack}`" if named else ""
    settings = list(dict.fromkeys(setting(stack.plan) for stack in stacks))[:3]
    text = " · ".join(safe(each) for each in (*settings, f"{plan.level} demand", same) if each)
    return [f"<sub>{text}</sub>", ""]
