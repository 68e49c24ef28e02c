"""Values that the driver's chart ignores without a word: dotted keys, and keys with a slip of the pen."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.catalog.chart_values import meant_key
from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import StackView
from dra_policies.unknowns import as_mapping


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers:
        for key in as_mapping(driver.values.values if driver.values else None) or {}:
            meant = meant_key(key)
            if meant:
                yield Finding(
                    message=f'{driver.title}: its chart has no value "{key}", and ignores it',
                    fix=f"write {meant}",
                    urn=driver.urn,
                )


RULE = Rule(
    id="driver-key-ignored",
    says="The driver's chart knows every value that it is given.",
    why="Helm takes unknown values without a word, so the driver runs as if they had not been written.",
    fix="Nest dotted keys, and spell keys as the chart does.",
    level="advisory",
    check=check,
)
