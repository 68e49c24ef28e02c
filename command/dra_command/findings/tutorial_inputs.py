"""Pages, scripts, and files of other tools among the inputs, which the dra_tutorials package
reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from dra_command.inputs.command_inputs import CommandInputs
from dra_command.inputs.skipped_files import has_chart_defaults
from dra_planner.errors import Diagnostic
from dra_planner.manifests import Manifests
from dra_planner.releases import MAXIMUM_MINOR, Features, features_of, parse_version
from dra_planner.sources import Source, has_embedded, is_terraform
from dra_policies.rules import OF_MANIFESTS, check_all, view_of
from dra_tutorials.fragments.evaluation import Evaluation
from dra_tutorials.page_manifests import extract_manifests

_RULES: Final = frozenset(
    {
        "selector-cannot-be-checked",
        "selector-reads-what-no-device-has",
        "selector-just-misses-a-gpu",
        "claim-asks-for-too-many-devices",
        "constraint-names-no-attribute",
        "configuration-ignored",
        "driver-config-refused",
        "class-misspelt",
        "device-of-another-driver",
    }
)
"""Rules that check only objects in the text, and not missing objects."""


def extract_tutorials(inputs: CommandInputs) -> tuple[CommandInputs, tuple[Diagnostic, ...]]:
    """Return the inputs with the manifests of pages and scripts, and findings about other parts of
    these files. The default values of charts aren't checked, unless the user passes only them.
    """
    if not any(map(_may_hold_others, inputs.sources)):
        return inputs, ()
    minor = inputs.kubernetes or (inputs.fleet.kubernetes if inputs.fleet is not None else "")
    features = features_of(parse_version(minor) if minor else MAXIMUM_MINOR)
    defaults = tuple(each for each in inputs.sources if has_chart_defaults(each.name))
    others = tuple(each for each in inputs.sources if each not in defaults)
    if not others:
        defaults, others = (), defaults
    sources, found = extract_manifests(others, fragment_evaluation(features))
    return replace(inputs, sources=(*sources, *defaults)), found


def fragment_evaluation(features: Features) -> Evaluation:
    """Return the context in which parts of objects on a page are evaluated."""
    return Evaluation(features, _rule_findings)


def _rule_findings(manifests: Manifests, features: Features) -> Iterable[Diagnostic]:
    return check_all(
        view_of(manifests, features), [rule for rule in OF_MANIFESTS if rule.id in _RULES]
    )


def _may_hold_others(source: Source) -> bool:
    return has_embedded(source.name) or is_terraform(source.name) or "apiVersion" not in source.text
