"""Node classes that select subnets by tags that no subnet has."""

from __future__ import annotations

from collections.abc import Mapping

from dra_planner.clouds import cloud
from dra_policies.unknown_values import Properties
from dra_policies.view.stack_view import DeclaredPool, StackView

_ANY = "*"


def unmatched_tags(pool: DeclaredPool, view: StackView) -> tuple[str, str] | None:
    """Return the reason why a pool's node class doesn't select any subnet, with the fix, if the
    stack declares its cluster's subnets and their tags.
    """
    settings, template = cloud(pool.cloud).node_class, pool.template
    if settings is None or template is None or not view.complete:
        return None
    path, token = settings.subnets
    terms = template.items(path)
    subnets = [each for each in view.declared if each.type == token]
    if not terms or not subnets or any(each.type == settings.tag for each in view.declared):
        return None
    if not all(_has_only_tags(term) for term in terms):
        return None
    tags = [each.props.mapping("tags") for each in subnets]
    if None in tags or any(
        _matches(term.mapping("tags") or {}, tag or {}) for term in terms for tag in tags
    ):
        return None
    key, value = next(iter((terms[0].mapping("tags") or {}).items()))
    return (
        f"its {settings.kind} selects only subnets with the tag {key}: {value}, but none of "
        "the subnets in this stack has this tag",
        f"add the tag {key}: {value} to the nodes' subnets",
    )


def _has_only_tags(term: Properties) -> bool:
    tags = term.mapping("tags")
    return bool(tags) and term.has("id") is False and None not in (tags or {}).values()


def _matches(wanted: Mapping[str, str | None], tags: Mapping[str, str | None]) -> bool:
    """Return True unless a subnet certainly lacks one of the tags. None is an unknown value."""
    return all(
        key in tags and (value in (_ANY, tags[key]) or tags[key] is None)
        for key, value in wanted.items()
    )
