"""Messages with terms from a fleet file → messages for a stack without a fleet file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from dra_policies.rules.rule import Finding

_SETTINGS: Final = re.compile(r"(?:`drivers\.nvidia\.[\w.]+=\w+`(?: and )?)+ in the fleet")
_SETTING: Final = re.compile(r"`drivers\.nvidia\.([\w.]+)=(\w+)`")
_VALUES: Final = {"computeDomains": "resources.computeDomains.enabled"}
"""Fleet settings for which the chart uses another name."""
_WORDS: Final = (
    (r"set `drivers\.\w+=true` in the fleet", "install the driver that provides it"),
    (r", or add the class to the fleet's deviceClasses", ""),
    (
        r"labels that the fleet sets: pulumi-dra/pool, or the pool's labels",
        "the pool's labels",
    ),
    (r"\badd a pool to the fleet\b", "declare a pool"),
    (r"(?<![\w-])drivers\.nvidia\.version(?=:? )", "the driver's version"),
    (r"(?<![\w-])drivers\.nvidia\.featureGates(?=:? )", "the driver's feature gates"),
    (r"(?<![\w-])drivers\.nvidia\.(\w+)(?=:? )", r"the driver's \1"),
)
_FLEET: Final = re.compile(r"fleet|drivers\.")
_POOL: Final = re.compile(r"\bpools\[(\d+)\](\.\w+)*(?=:? )")


def in_stack_words(text: str) -> str:
    """Return a sentence without terms that exist only in a fleet file."""
    if _FLEET.search(text) is None:
        return text
    text = _SETTINGS.sub(_as_values, text)
    for words, instead in _WORDS:
        text = re.sub(words, instead, text)
    return text


def _as_values(found: re.Match[str]) -> str:
    """Return fleet settings as values of the driver's chart."""
    values = [f"{_VALUES.get(name, name)} to {value}" for name, value in _SETTING.findall(found[0])]
    return f"{' and '.join(values)} in the driver's chart values"


def with_titles(text: str, titles: Sequence[str]) -> str:
    """Return a sentence with each pool's title instead of its index in a fleet file's list."""
    return _POOL.sub(lambda found: titles[int(found[1])], text)


def of_stack(finding: Finding) -> Finding:
    """Return a finding with terms that also apply to a stack without a plan."""
    message, fix = in_stack_words(finding.message), in_stack_words(finding.fix)
    return (
        finding
        if (message, fix) == (finding.message, finding.fix)
        else replace(finding, message=message, fix=fix)
    )
