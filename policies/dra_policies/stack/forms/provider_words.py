"""Messages with the property names of a cloud's main provider → messages with the names in the
provider that a program uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from msgspec.structs import replace

from dra_planner.clouds.other_providers import FORMS
from dra_planner.clouds.other_providers.resource_form import ResourceForm
from dra_policies.rules.rule import Finding


def in_words_of_provider(finding: Finding, token: str) -> Finding:
    """Return a finding about a resource of this type with its property names translated to the
    names of the resource's provider.
    """
    names = _names(token)
    if not names:
        return finding
    return replace(
        finding, message=_renamed(finding.message, names), fix=_renamed(finding.fix, names)
    )


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return _pattern(tuple(names)).sub(lambda found: names[found[0]], text)


@cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for names. A name that is also an English word must follow a verb."""
    longest = sorted(names, key=len, reverse=True)
    words = (
        re.escape(each) if _is_code(each) else rf"(?<=\bset ){each}|(?<=\bremove ){each}"
        for each in longest
    )
    return re.compile(rf"(?<![\w.])(?:{'|'.join(words)})(?!\w)")


def _is_code(name: str) -> bool:
    return "." in name or name != name.lower()


@cache
def _names(token: str) -> Mapping[str, str]:
    """Return the names in a resource's provider, keyed by the names in the cloud's main provider,
    for the resource and then for the resources around it.
    """
    own = [form for form in FORMS if form.token == token]
    provider = token.partition(":")[0]
    around = [form for form in FORMS if form.token.partition(":")[0] == provider] if own else []
    found: dict[str, str] = {}
    for form in (*own, *around):
        for name, other in _of_form(form):
            found.setdefault(name, other)
    return {name: other for name, other in found.items() if name != other}


def _of_form(form: ResourceForm) -> Iterator[tuple[str, str]]:
    for other, name in form.names.items():
        if name:
            yield name, other
    for head, parts in form.parts.items():
        moved = form.names.get(head, head)
        for other, name in parts.items():
            yield (f"{moved}.{name}", f"{head}.{other}") if moved else (name, other)
            if head == form.names_of_pools:
                yield name, other
