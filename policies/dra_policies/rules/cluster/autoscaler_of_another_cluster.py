"""Cluster Autoscaler charts that look for node groups of another cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import cloud, names
from dra_policies.rules.rule import Finding
from dra_policies.view.stack_view import StackView

# kubernetes/autoscaler:charts/cluster-autoscaler/README.md: groups are found by tags with this name
_CHART: Final = "chart:cluster-autoscaler"
_NAME: Final = "autoDiscovery.clusterName"


def autoscalers_of_other_clusters(view: StackView) -> Iterator[Finding]:
    """Yield charts whose values name another cluster than the stack's only cluster."""
    clusters = [
        each.props.text(cloud(name).cluster.name)
        for name in names()
        for each in view.declared
        if each.type == cloud(name).cluster.token
    ]
    for chart in view.installed_charts if len(clusters) == 1 and clusters[0] else ():
        named = chart.props.text(_NAME, "") if chart.type == _CHART else ""
        if named and named != clusters[0]:
            yield Finding(
                message=f'chart "{chart.name}" looks for node groups of cluster "{named}" '
                f'({_NAME}), but the cluster\'s name is "{clusters[0]}", so the autoscaler '
                "never changes the number of nodes",
                fix=f"set {_NAME} to {clusters[0]}",
                urn=chart.urn,
            )
