"""Clusters whose control plane subnets are in fewer zones than the cloud requires."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud, names
from dra_policies.rules.rule import Finding
from dra_policies.view.stack_view import StackView


def too_few_zones(view: StackView) -> Iterator[Finding]:
    """Yield clusters for which the stack contains all subnets, but in too few zones."""
    for name in names() if view.complete else ():
        of_cloud = cloud(name)
        paths, addresses = of_cloud.cluster, of_cloud.node_network.addresses
        if addresses is None or not paths.subnets:
            continue
        for cluster in view.declared:
            if cluster.type != paths.token:
                continue
            urns = cluster.sources_of(paths.subnets)
            zones = [
                each.props.text(addresses.zone)
                for each in view.declared
                if each.urn in urns and each.type == addresses.token
            ]
            listed = cluster.props.texts(paths.subnets)
            # before the subnets exist, a program might only know which resources the list comes
            # from
            number = len(urns) if listed is None else len(listed)
            is_known = number <= len(zones) and all(zones)
            if is_known and zones and len(set(zones)) < paths.least_zones:
                yield Finding(
                    message=f'cluster "{cluster.name}": its subnets are all in zone {zones[0]}, but '
                    f"{of_cloud.title} requires subnets in {paths.least_zones} zones",
                    fix=f"add a subnet in another zone to {paths.subnets}",
                    urn=cluster.urn,
                )
