"""Device plugins of multi-node networks that are too old for a pool's machine type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.catalog.network_plugins import NetworkPlugin, plugins_of_machine
from dra_policies.rules.pools.machine_network_unused import attaches_network
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import Properties
from dra_policies.view.pool_machines import machine_names
from dra_policies.view.stack_view import StackView

_DAEMON_SET: Final = "kubernetes:apps/v1:DaemonSet"
_CONTAINERS: Final = "spec.template.spec.containers"
_ADVERTISES: Final = (
    "advertises NVLink controllers of {machine} as network interfaces, so pods get devices that "
    "NCCL can't use"
)
_DOES_NOT_RUN: Final = (
    "doesn't support {machine}, so it doesn't run on nodes of this type, and pods that request "
    "network interfaces stay pending"
)


def outdated_plugins(view: StackView) -> Iterator[Finding]:
    """Yield plugins that don't run on a pool's nodes, or that advertise the wrong devices there."""
    rows = {
        row: name
        for pool in view.node_pools
        if attaches_network(pool, view)
        for name in machine_names(pool)
        for row in plugins_of_machine(name)
    }
    releases = {each.urn: each for each in view.objects} if rows else {}
    for chart in view.installed_charts:
        release = releases.get(chart.urn)
        version = (release.props.text("version") if release is not None else None) or ""
        for row, machine in rows.items():
            if chart.type == f"chart:{row.chart}" and (
                fault := _chart_fault(row, version, chart.props)
            ):
                plugin = f'{row.chart} {version} (release "{chart.name}")'
                yield _finding(
                    plugin, fault, machine, f"chart version {row.first_chart}", chart.urn
                )
    for each in view.objects if rows else ():
        for container in each.props.items(_CONTAINERS) or () if each.type == _DAEMON_SET else ():
            image, _, tag = (container.text("image") or "").rpartition(":")
            for row, machine in rows.items():
                if image.rpartition("/")[2] == row.chart and row.image_is_older(tag):
                    yield _finding(
                        f'{row.chart} {tag} (DaemonSet "{each.name}")',
                        _ADVERTISES,
                        machine,
                        f"image version {row.first_image}",
                        each.urn,
                    )


def _chart_fault(row: NetworkPlugin, version: str, values: Properties) -> str:
    """Return the fault of a chart version, or "" if no fault is certain. Values can set another
    image and another list of machine types.
    """
    if row.first_image:
        has_image = values.has("image.tag")
        tag = values.text("image.tag") or ""
        is_old = row.image_is_older(tag) if has_image else row.chart_is_older(version)
        return _ADVERTISES if is_old and has_image is not None else ""
    is_listed = values.has("supportedInstanceLabels") is not False
    return _DOES_NOT_RUN if row.chart_is_older(version) and not is_listed else ""


def _finding(plugin: str, fault: str, machine: str, first: str, urn: str) -> Finding:
    return Finding(
        message=f"{plugin} {fault.format(machine=machine)}",
        fix=f"use {first} or later",
        urn=urn,
    )
