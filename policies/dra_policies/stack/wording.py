"""What is said in the words of a fleet's file, said to a stack that has none: what the same is in
its resources.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from dra_policies.rules.rule import Finding

_SETTINGS: Final = re.compile(r"(?:`drivers\.nvidia\.[\w.]+=\w+`(?: and )?)+ in the fleet")
_SETTING: Final = re.compile(r"`drivers\.nvidia\.([\w.]+)=(\w+)`")
_VALUES: Final = {"computeDomains": "resources.computeDomains.enabled"}
"""Settings of the fleet that the chart calls otherwise."""
_WORDS: Final = (
    (r"set `drivers\.\w+=true` in the fleet", "install the driver that brings it"),
    (r", or add it to the fleet's deviceClasses", ""),
    (
        r"labels that the fleet sets: pulumi-dra/pool, or labels of the pool",
        "labels of the pool",
    ),
    (r"\badd a pool to the fleet\b", "declare a pool"),
    (r"\bdrivers\.nvidia\.version: ", "the driver's release: "),
    (r"\bdrivers\.nvidia\.featureGates: ", "the driver's feature gates: "),
    (r"\bdrivers\.nvidia\.(\w+): ", r"the driver's \1: "),
)
_FLEET: Final = re.compile(r"fleet|drivers\.")
_POOL: Final = re.compile(r"\bpools\[(\d+)\](\.\w+)*: ")


def in_stack_words(text: str) -> str:
    """Return a sentence without words that only a fleet's file has."""
    if _FLEET.search(text) is None:
        return text
    text = _SETTINGS.sub(_as_values, text)
    for words, instead in _WORDS:
        text = re.sub(words, instead, text)
    return text


def _as_values(found: re.Match[str]) -> str:
    """Return settings of the fleet as values of the driver's chart."""
    values = [f"{_VALUES.get(name, name)}: {value}" for name, value in _SETTING.findall(found[0])]
    return f"{' and '.join(values)} among the values of the driver's chart"


def with_titles(text: str, titles: Sequence[str]) -> str:
    """Return a sentence with each pool by its title, where a fleet's file is told by the index in
    its list.
    """
    return _POOL.sub(lambda found: f"{titles[int(found[1])]}: ", text)


def of_stack(finding: Finding) -> Finding:
    """Return a finding for a stack that has no plan."""
    message, fix = in_stack_words(finding.message), in_stack_words(finding.fix)
    return (
        finding
        if (message, fix) == (finding.message, finding.fix)
        else replace(finding, message=message, fix=fix)
    )
