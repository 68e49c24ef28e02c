"""Picture of the README: a plan's verdict, one reason, and the devices of each pool, drawn from the
plan's JSON.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from msgspec import Struct

WIDTH = 760
LABELS = "ABCDEFGH"
SIZE = 26
FONT = 'system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif'
SIGNS = {
    "fits": ("ok", "M7.8 13.5l3.7 3.7 7.1-7.7"),
    "does-not-fit": ("bad", "M8.5 8.5l9 9M17.5 8.5l-9 9"),
    "cannot-tell": ("doubt", "M9.3 10.2c.4-4.6 7.4-4.2 7.3-.2c0 2.7-3.6 2.6-3.6 5.4M13 18.6v.4"),
}
QUANTITY = re.compile(r'quantity\("([^"]+)"\)')


class NodeDevices(Struct, frozen=True):
    """Devices that one node of a pool publishes."""

    count: int
    product: str
    memory: str


def verdict_picture(
    plan: dict[str, Any], headline: str, devices: dict[str, NodeDevices], tokens: dict[str, str]
) -> str:
    """Return the picture as SVG without external files.

    `plan` is the output of `plan --format json`, `headline` is the verdict that the command prints,
    and `devices` has an entry for each pool. Raises StopIteration if no workload is kept off a pool
    by a selector.
    """
    refused, reason = _nearest_miss(plan, devices)
    before, after = (QUANTITY.findall(reason["changes"][0][key])[0] for key in ("before", "after"))
    short = devices[reason["pool"]]
    message = (
        f"{_name(refused)} requests at least {before} of GPU memory, but each {short.product} "
        f"publishes {after}."
    )
    labels = {_name(each): LABELS[at] for at, each in enumerate(plan["workloads"])}
    rows = [
        _pool_row(pool, plan, devices[pool["name"]], labels, 112 + at * 48)
        for at, pool in enumerate(plan["pools"])
    ]
    bottom = 112 + len(rows) * 48
    legend = " · ".join(
        f"{labels[_name(each)]} {_name(each)}: {_pods(each)}" for each in plan["workloads"]
    )
    fix = f'Fix: write quantity("{after}") instead of quantity("{before}").'
    color, sign = SIGNS[plan["verdict"]]
    height = bottom + 60
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="t d">',
            f'<title id="t">{escape(headline)}</title>',
            f'<desc id="d">{escape(f"{message} {fix} {legend}.")}</desc>',
            _style(tokens),
            f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8" '
            f'fill="{tokens["paper"]}" stroke="{tokens["line"]}"/>',
            f'<g transform="translate(24 22)" fill="none" stroke="{tokens[color]}" '
            'stroke-linecap="round">'
            f'<circle cx="13" cy="13" r="11.8" stroke-width="2.2"/><path d="{sign}" '
            'stroke-width="2.6"/></g>',
            _text(60, 43, headline, "v", fill=tokens[color]),
            _text(24, 78, message),
            *rows,
            _text(24, bottom + 10, legend, "s"),
            _text(24, bottom + 38, fix, "h"),
            "</svg>",
            "",
        ]
    )


def _nearest_miss(
    plan: dict[str, Any], devices: dict[str, NodeDevices]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the first pending workload, and the reason of the pool whose devices have the most
    memory.
    """
    refused = next(each for each in plan["workloads"] if each["pending"])
    reasons = [
        each
        for each in refused["reasons"]
        if each["code"] == "selector-mismatch" and each["changes"]
    ]
    return refused, max(
        reasons, key=lambda each: int(devices[each["pool"]].memory.removesuffix("Mi"))
    )


def _pool_row(
    pool: dict[str, Any],
    plan: dict[str, Any],
    each_node: NodeDevices,
    labels: dict[str, str],
    top: int,
) -> str:
    """Draw the devices of the planned nodes, or of one dashed node if the plan needs none."""
    users = [
        labels[_name(workload)]
        for workload in plan["workloads"]
        for placed in workload["placements"]
        if placed["pool"] == pool["name"]
        for _ in range(placed["pods"])
    ]
    nodes = pool["recommended"]
    drawn = [
        _device(
            300 + at * (SIZE + 4) + at // each_node.count * 8,
            top,
            users[at] if at < len(users) else "",
            nodes > 0,
        )
        for at in range(max(nodes, 1) * each_node.count)
    ]
    size = f"{each_node.count} × {each_node.memory} per node"
    return "".join(
        [
            _text(24, top + 11, f"{pool['name']}: {nodes} of {pool['nodes']['max']} nodes", "h"),
            _text(24, top + 28, f"{pool['machine']} · {size}", "s"),
            *drawn,
        ]
    )


def _device(x: int, y: int, label: str, is_planned: bool) -> str:
    kind = "a" if label else "d"
    return f'<rect class="{kind}" x="{x}.5" y="{y}.5" width="{SIZE}" height="{SIZE}" rx="3"/>' + (
        _text(x + SIZE // 2, y + 18, label, "g") if label and is_planned else ""
    )


def _name(workload: dict[str, Any]) -> str:
    return f"{workload['kind']} {workload['namespace']}/{workload['name']}"


def _pods(workload: dict[str, Any]) -> str:
    pending, placed = workload["pending"], workload["placed"]
    return " and ".join(
        f"{count} pods {state}"
        for count, state in ((placed, "placed"), (pending, "pending"))
        if count
    )


def _text(x: int, y: int, text: str, kind: str = "", *, fill: str = "") -> str:
    written = "".join(
        f' {key}="{value}"'
        for key, value in (("class", kind), ("style", fill and f"fill:{fill}"))
        if value
    )
    return f'<text x="{x}" y="{y}"{written}>{escape(text)}</text>'


def _style(tokens: dict[str, str]) -> str:
    return (
        f"<style>text{{font-family:{FONT};fill:{tokens['ink']};font-size:14px}}"
        f".v{{font-size:22px;font-weight:650}}.h{{font-weight:650}}.s{{fill:{tokens['soft']};font-size:13px}}"
        f".g{{font-size:12px;font-weight:650;text-anchor:middle;fill:{tokens['u1ink']}}}"
        f".a{{fill:{tokens['u1']}}}.d{{fill:none;stroke:{tokens['edge']};stroke-dasharray:4 "
        "3}</style>"
    )
