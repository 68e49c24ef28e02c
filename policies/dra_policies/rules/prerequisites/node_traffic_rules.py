"""Security groups and firewalls that block nodes from the control plane or from registries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dra_planner.clouds import ControlPlaneGroups, NetworkFirewall, NodeNetwork, SecurityGroups
from dra_policies.rules.resource_rows import EVERYWHERE
from dra_policies.rules.row_subjects import leaves
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import UNKNOWN, Properties
from dra_policies.view.address_ranges import ranges_of, subnets_of_pool
from dra_policies.view.stack_view import DeclaredPool, DeclaredResource, StackView

Declared = Mapping[str, DeclaredResource]
HTTPS = 443


def groups_of_template(
    view: StackView, groups: SecurityGroups, pool: DeclaredPool, declared: Declared
) -> list[DeclaredResource]:
    """Return the resources from which a pool's template gets its security groups. Empty if the
    template might use other groups.
    """
    template = declared.get(pool.template_urn)
    if template is None:
        return []
    used = {urn for path in groups.used_by for urn in template.sources_of(path)}
    found = [declared[urn] for urn in sorted(used & declared.keys())]
    return found if _number_of_groups(template, groups) <= len(found) else []


def _number_of_groups(template: DeclaredResource, groups: SecurityGroups) -> int:
    """Return the number of security groups in a template. The groups of network interfaces count
    once.
    """
    direct, interfaces = groups.used_by
    listed = template.props.texts(direct) or ()
    of_interfaces = (
        len(each.texts(groups.interface_groups) or ())
        for each in template.props.items(interfaces) or ()
    )
    return max(len(listed), *of_interfaces, 0)


def outbound_rules(
    view: StackView, groups: SecurityGroups, group: DeclaredResource
) -> list[Properties] | None:
    """Return a group's rules for outbound traffic, or None if they aren't known."""
    own = group.props.items(groups.egress) if group.type == groups.token else None
    if own is None:
        return None
    rules = {token: (path, inbound) for token, path, inbound in groups.rules}
    return [*own] + [
        each.props
        for each in view.declared
        if each.type in rules
        and group.urn in each.sources_of(groups.rule_group)
        and each.props.text(rules[each.type][0]) != rules[each.type][1]
    ]


def _manages_network(view: StackView, network: NodeNetwork, groups: list[DeclaredResource]) -> bool:
    """Return True if the stack creates the network of the security groups. Otherwise, rules outside
    the stack might allow the traffic.
    """
    addresses = network.addresses
    if addresses is None:
        return False
    networks = {each.urn for each in view.declared if each.type == addresses.network_token}
    return all(networks & each.sources_of(addresses.network) for each in groups)


def groups_for_private_addresses(
    view: StackView, network: NodeNetwork, pool: DeclaredPool, declared: Declared
) -> Iterator[Finding]:
    """Yield groups that allow only private destinations, in networks without endpoints."""
    groups = network.groups
    if groups is None or network.endpoints is None:
        return
    found = groups_of_template(view, groups, pool, declared)
    rules = [outbound_rules(view, groups, each) for each in found]
    if not _manages_network(view, network, found):
        return
    if any(each.type == network.endpoints.token for each in view.declared) or None in rules:
        return
    listed = [rule for each in rules for rule in each or ()]
    if listed and not any(_reaches_out(groups, rule) for rule in listed):
        yield Finding(
            message=f'security group "{found[0].name}" of {pool.title} doesn\'t allow TCP '
            "traffic to public addresses, so its nodes can't pull images and never "
            "become ready",
            fix="add an egress rule for TCP port 443 to 0.0.0.0/0, or create VPC endpoints for the "
            "AWS services that nodes use",
            urn=found[0].urn,
        )


def _covers_https(groups: SecurityGroups, rule: Properties) -> bool:
    """Return True unless a rule certainly applies only to other protocols or ports."""
    named = [rule.text(path) for path in groups.protocols]
    if None not in named and any(named) and not set(groups.tcp) & set(named):
        return False
    first, last = (rule.count(path, -1) for path in groups.ports)
    is_for_all = first is None or last is None or first <= 0
    return is_for_all or (first or 0) <= HTTPS <= (last or 0)


def _reaches_out(groups: SecurityGroups, rule: Properties) -> bool:
    """Return True unless a rule certainly allows only other ports or private addresses."""
    if not _covers_https(groups, rule):
        return False
    if any(rule.is_given(path) is not False for path in groups.lists):
        return True
    ranges = [each for path in groups.ranges for each in leaves(rule.at(path)) if each is not None]
    return any(not isinstance(each, str) or not _is_private(each) for each in ranges)


def _is_private(text: str) -> bool:
    found = ranges_of(text)
    return bool(found) and all(each.is_private for each in found)


def groups_not_admitted(
    view: StackView, network: NodeNetwork, pool: DeclaredPool, declared: Declared
) -> Iterator[Finding]:
    """Yield node security groups whose traffic the control plane's security groups don't allow."""
    control_plane, groups = network.control_plane, network.groups
    cluster = declared.get(pool.cluster_urn)
    if control_plane is None or groups is None or cluster is None:
        return
    found = groups_of_template(view, groups, pool, declared)
    theirs = {cluster.urn, *cluster.sources_of(control_plane.of_cluster)}
    if not found or any(each.urn in theirs or each.type != groups.token for each in found):
        return
    managed = _manages_network(view, network, found)
    if not managed and cluster.props.is_given(control_plane.more_groups) is not False:
        return
    ours = {each.urn for each in found}
    if not any(_admits(each, control_plane, groups, theirs, ours) for each in view.declared):
        yield Finding(
            message="the control plane's security groups don't allow traffic from security group "
            f'"{found[0].name}" of {pool.title}, so the nodes can\'t reach the API '
            "server to join the cluster",
            fix="add the cluster's security group to the launch template, or add an ingress rule "
            f'for traffic from "{found[0].name}" to the cluster\'s security group',
            urn=found[0].urn,
            certain=managed,
        )


def _admits(
    rule: DeclaredResource,
    control_plane: ControlPlaneGroups,
    groups: SecurityGroups,
    theirs: set[str],
    ours: set[str],
) -> bool:
    """Return True if a resource might allow traffic from nodes to the control plane."""
    if rule.type == groups.token and rule.urn in theirs:
        items = rule.props.items(control_plane.ingress)
        return items is None or bool(items)
    for token, path, value, sources in control_plane.rules:
        if rule.type != token or (value and rule.props.text(path) not in (value, None)):
            continue
        if not theirs & rule.sources_of(control_plane.rule_group):
            continue
        group, *ranges = sources
        named = rule.sources_of(group)
        if ours & named or (rule.props.at(group) is UNKNOWN and not named):
            return True
        if any(rule.props.is_given(each) is not False for each in ranges):
            return True
    return False


def closed_endpoints(
    view: StackView, network: NodeNetwork, name: str, declared: Declared
) -> Iterator[Finding]:
    """Yield security groups that keep nodes from an endpoint whose name they resolve.

    terraform-aws-modules/terraform-aws-eks issue 3287.
    """
    endpoints, groups, addresses = network.endpoints, network.groups, network.addresses
    if endpoints is None or groups is None or addresses is None:
        return
    networks = {
        urn
        for pool in view.node_pools
        if pool.cloud == name
        for subnet in subnets_of_pool(view, pool) or ()
        for urn in subnet.sources_of(addresses.network)
    }
    kind, routed, default = endpoints.kind
    reported = set[str]()
    for each in view.declared:
        if (
            each.type != endpoints.token
            or not networks & each.sources_of(endpoints.network)
            or each.props.text(kind, default) in (routed, None)
            or each.props.flag(endpoints.private_names, False) is False
        ):
            continue
        service = (each.props.text(endpoints.service) or "").partition(".")[2]
        listed = each.props.texts(endpoints.groups)
        found = [declared[urn] for urn in sorted(each.sources_of(endpoints.groups) & {*declared})]
        is_known = bool(found) and len(listed or ()) <= len(found)
        if not is_known or not service.endswith(tuple(f".{part}" for part in endpoints.needed)):
            continue
        if found[0].urn not in reported and not any(
            _lets_https_in(view, network, g) for g in found
        ):
            reported.add(found[0].urn)
            yield Finding(
                message=f'security group "{found[0].name}" of endpoint "{each.name}" doesn\'t allow '
                "inbound traffic on TCP port 443, so nodes can't reach the endpoint's service and "
                "never become ready",
                fix="add an ingress rule for TCP port 443 from the network's range",
                urn=found[0].urn,
            )


def _lets_https_in(view: StackView, network: NodeNetwork, group: DeclaredResource) -> bool:
    """Return True if a security group might admit HTTPS from nodes."""
    control_plane, groups = network.control_plane, network.groups
    if control_plane is None or groups is None or group.type != groups.token:
        return True
    own = group.props.items(control_plane.ingress)
    if own is None and control_plane.ingress not in group.of_outputs:
        return True
    separate = (
        each.props
        for each in view.declared
        for token, path, value, _ in control_plane.rules
        if each.type == token
        and group.urn in each.sources_of(control_plane.rule_group)
        and (not value or each.props.text(path) in (value, None))
    )
    return any(_covers_https(groups, rule) for rule in (*(own or ()), *separate))


def closing_firewalls(
    view: StackView, firewall: NetworkFirewall, pool: DeclaredPool, declared: Declared
) -> Iterator[Finding]:
    """Yield firewall rules that deny all outbound traffic of a pool's nodes."""
    cluster = declared.get(pool.cluster_urn)
    if cluster is None:
        return
    networks = cluster.sources_of(firewall.network)
    here = cluster.props.text(firewall.network)
    tags = pool.own.texts(firewall.tags) or ()
    rules = [
        each
        for each in view.declared
        if each.type == firewall.token
        and each.props.text(firewall.direction[0]) == firewall.direction[1]
        and (
            networks & each.sources_of(firewall.network)
            or (here and each.props.text(firewall.network) == here)
        )
        and each.props.flag(firewall.is_off, False) is False
        and _is_for_nodes(each.props, firewall, tags)
    ]
    rules.sort(key=lambda each: each.props.count(*firewall.priority) or 0)
    for rule in rules:
        if rule.props.is_given(firewall.allowed) is not False:
            return
        denied = rule.props.items(firewall.denied) or ()
        ranges = rule.props.texts(firewall.destinations)
        if any(each.text("protocol") in ("all", "tcp") for each in denied) and (
            ranges == () or EVERYWHERE & set(ranges or ())
        ):
            yield Finding(
                message=f'firewall rule "{rule.name}" denies all outbound traffic from '
                f"{pool.title}, so its nodes can't reach the control plane to join "
                "the cluster",
                fix="add a rule with a lower priority number that allows the outbound traffic that "
                "nodes need",
                urn=rule.urn,
            )
            return


def _is_for_nodes(
    rule: Properties, firewall: NetworkFirewall, tags: tuple[str | None, ...]
) -> bool:
    """Return True if a rule applies to all instances, or to instances with a pool's tag."""
    listed = [rule.texts(path) for path in firewall.targets]
    if listed == [()] * len(listed):
        return True
    return bool(set(listed[0] or ()) & {tag for tag in tags if tag})
