"""Clusters that disable the add-ons that the cloud installs by default, without a replacement."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import Cloud, ClusterAddons, cloud, names
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import DeclaredResource, StackView


def check(view: StackView) -> Iterator[Finding]:
    for name in names() if view.complete else ():
        of_cloud = cloud(name)
        yield from _without_network(view, of_cloud)
        addons = of_cloud.cluster.addons
        for cluster in view.declared if addons is not None else ():
            assert addons is not None
            managed = cluster.props.flag(addons.managed, False)
            is_own = (
                cluster.type == of_cloud.cluster.token
                and cluster.props.flag(addons.by_default, True) is False
            )
            if not is_own or managed is not False:
                continue
            for addon, consequence in addons.needed.items():
                if _installs(view, addons, addon) is False:
                    yield Finding(
                        message=f'cluster "{cluster.name}" disables the default add-ons '
                        f"({addons.by_default} is false), but this stack doesn't "
                        f"install {addon}, so {consequence}",
                        fix=f"declare the {addon} add-on, or create a new cluster with "
                        f"{addons.by_default} set to true",
                        urn=cluster.urn,
                        certain=bool(view.pools),
                    )


def _without_network(view: StackView, of_cloud: Cloud) -> Iterator[Finding]:
    """Yield clusters in which nothing installs the pod network."""
    path, value, words = of_cloud.cluster.own_network
    for cluster in view.declared if path else ():
        if cluster.type != of_cloud.cluster.token or cluster.props.text(path) != value:
            continue
        if not any(_is_called(each, words) for each in view.objects):
            yield Finding(
                message=f'cluster "{cluster.name}" sets {path} to {value}, but this stack '
                "doesn't install a network plugin, so nodes never become ready",
                fix=f"install a network plugin, or create a new cluster that doesn't set {path}",
                urn=cluster.urn,
                certain=view.installs_charts,
            )


def _installs(view: StackView, addons: ClusterAddons, addon: str) -> bool | None:
    """Return whether a stack declares an add-on or a replacement of it, or None if a name isn't
    known.
    """
    declared = [each.props.text(addons.name) for each in view.declared if each.type == addons.token]
    if addon in declared or any(_replaces(each, addons, addon) for each in view.objects):
        return True
    return None if None in declared else False


def _replaces(each: DeclaredResource, addons: ClusterAddons, addon: str) -> bool:
    """Return whether a chart or an object in the cluster is named like the add-on or a replacement
    of it.
    """
    return _is_called(each, (addon, *addons.replacements.get(addon, ())))


def _is_called(each: DeclaredResource, words: tuple[str, ...]) -> bool:
    texts = (
        each.name,
        each.props.text("chart"),
        each.props.text("metadata.name"),
        each.props.text("url"),
    )
    return any(word in text for text in texts if text for word in words)


RULE = Rule(
    id="cluster-addon-missing",
    description="A cluster without default add-ons lacks a network plugin or DNS.",
    why="Without a network plugin, nodes never become ready. Without DNS, pods can't find "
    "services.",
    fix="Declare the add-ons.",
    level="mandatory",
    is_outage=True,
    url="https://docs.aws.amazon.com/eks/latest/userguide/eks-add-ons.html",
    needs="stack",
    check=check,
)
