"""Automatic repairs of values: a value is rewritten only if its meaning is clear. All other text
doesn't change.
"""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dra_planner.manifests.amount_units import corrected_amount, is_amount
from dra_planner.manifests.fixing import add_tolerations, fix_values
from dra_planner.manifests.fixing.comparisons import with_compare_to
from dra_planner.plan import check_selector
from dra_planner.releases import features_of
from dra_planner.sources import Source

FEATURES = features_of(36)
READ = 'device.capacity["gpu.nvidia.com"].memory'
IN_DOUBLE_QUOTES = '"' + f'{READ} > quantity("4Gi")'.replace('"', r"\"") + '"'
TOLERATION = {
    "key": "nvidia.com/gpu",
    "operator": "Equal",
    "value": "present",
    "effect": "NoSchedule",
}


def is_refused(text: str) -> bool:
    return check_selector(text, FEATURES) is not None


@pytest.mark.parametrize(
    ("written", "corrected"),
    [
        ("4GB", "4G"), ("4gb", "4G"), ("80GiB", "80Gi"), ("80 GiB", "80Gi"), ("80gi", "80Gi"), ("80GI", "80Gi"),
        ("1.5TB", "1.5T"), ("512K", "512k"), ("512KB", "512k"), ("100mb", "100M"), ("100mib", "100Mi"), ("40 G", "40G"),
    ],
)  # fmt: skip
def test_unambiguous_units_are_corrected(written: str, corrected: str) -> None:
    assert corrected_amount(written) == corrected


@pytest.mark.parametrize(
    "written", ["4Gi", "500m", "2", "1e3", "4Gb", "100 m", "much", "", "GB", "4XB", "4G B"]
)
def test_valid_or_ambiguous_amounts_are_unchanged(written: str) -> None:
    assert corrected_amount(written) == ""


@given(st.text(max_size=12))
def test_corrected_amount_is_valid_and_final(text: str) -> None:
    made = corrected_amount(text)
    assert made == "" or (is_amount(made) and corrected_amount(made) == "")


@pytest.mark.parametrize(
    ("written", "corrected"),
    [
        (f'{READ} >= quantity("40Gi")', f'{READ}.compareTo(quantity("40Gi")) >= 0'),
        (f"{READ}<quantity('40Gi')", f"{READ}.compareTo(quantity('40Gi')) < 0"),
        (f'quantity("40Gi") <= {READ}', f'quantity("40Gi").compareTo({READ}) <= 0'),
        (
            f'{READ} > quantity("1Gi") && {READ} < quantity("9Gi")',
            f'{READ}.compareTo(quantity("1Gi")) > 0 && {READ}.compareTo(quantity("9Gi")) < 0',
        ),
        (
            'device.attributes["gpu.nvidia.com"].driverVersion >= semver("570.1.0")',
            'device.attributes["gpu.nvidia.com"].driverVersion.compareTo(semver("570.1.0")) >= 0',
        ),
    ],
)
def test_comparison_operator_becomes_compare_to(written: str, corrected: str) -> None:
    assert with_compare_to(written) == corrected
    assert is_refused(written)
    assert not is_refused(corrected)
    assert with_compare_to(corrected) == corrected


def source(*lines: str) -> Source:
    return Source("m.yaml", "\n".join(lines) + "\n")


def claim(expression: str) -> Source:
    return source(
        "spec:",
        "  devices:",
        "    requests:",
        "    - exactly:",
        "        selectors:  # one",
        f"        - cel: {{expression: {expression}}}  # why",
    )


@pytest.mark.parametrize(
    ("written", "now"),
    [
        (f"'{READ}.compareTo(quantity(\"4GB\")) > 0'", f'{READ}.compareTo(quantity("4G")) > 0'),
        (f"'{READ} >= quantity(\"40GB\")'", f'{READ}.compareTo(quantity("40G")) >= 0'),
        (IN_DOUBLE_QUOTES, f'{READ}.compareTo(quantity("4Gi")) > 0'),
    ],
    ids=["only a unit", "single quotes, unit and sign", "double quotes"],
)
def test_quotes_and_comments_of_a_selector_are_preserved(written: str, now: str) -> None:
    fixed = fix_values(claim(written), is_refused)

    (request,) = yaml.safe_load(fixed.text)["spec"]["devices"]["requests"]
    assert request["exactly"]["selectors"][0]["cel"]["expression"] == now
    assert "  # one\n" in fixed.text
    assert fixed.text.endswith("}  # why\n")
    assert [repair.line for repair in fixed.repairs] == [6]
    assert fix_values(Source("m.yaml", fixed.text), is_refused).repairs == ()


@pytest.mark.parametrize(
    "expression",
    [
        f"'{READ}.compareTo(quantity(\"40Gi\")) >= 0'",
        "'device.driver >= quantity(\"40Gi\")'",  # no better form is known
        "'device.driver == '",
    ],
)
def test_other_selectors_are_unchanged(expression: str) -> None:
    given_source = claim(expression)

    assert fix_values(given_source, is_refused).text == given_source.text


@pytest.mark.parametrize(
    "tolerations",
    [
        [],
        ["  tolerations: []"],
        ["  tolerations:"],
        ["  tolerations: [{key: a, operator: Exists}]  # kept"],
        ["  tolerations:  # kept", "  - key: a", "    operator: Exists"],
        ["  tolerations:", "    - {key: a, operator: Exists}  # kept", "  priority: 1"],
    ],
    ids=["none", "an empty list", "nothing", "in brackets", "a block", "a block that is indented"],
)
def test_toleration_is_added(tolerations: list[str]) -> None:
    text = source(
        "kind: Pod",
        "spec:",
        *tolerations,
        "  containers:",
        "  - name: main  # the one",
        "  resourceClaims:",
        "  - name: gpu",
        "    resourceClaimName: one  # kept",
    )
    before = yaml.safe_load(text.text)

    fixed = add_tolerations(text, [(1, TOLERATION)])

    after = yaml.safe_load(fixed.text)
    assert after["spec"].pop("tolerations") == [
        *(before["spec"].pop("tolerations", None) or []),
        TOLERATION,
    ]
    assert after == before
    assert fixed.text.count("# ") == text.text.count("# ")


def test_toleration_in_json_is_added_as_json() -> None:
    text = (
        '{"kind": "Pod", "spec": {"resourceClaims": [{"name": "a"}], "containers": [{"name": '
        '"c"}]}}'
    )

    fixed = add_tolerations(Source("m.json", text), [(1, TOLERATION)])

    assert yaml.safe_load(fixed.text)["spec"]["tolerations"] == [TOLERATION]
    assert '"tolerations": [{"key": "nvidia.com/gpu"' in fixed.text


def test_pods_without_claims_get_no_toleration() -> None:
    text = source("kind: Pod", "spec:", "  containers: [{name: c}]", "---", "kind: Pod", "spec:",
                  "  resourceClaims: [{name: gpu}]", "  containers: [{name: c}]")  # fmt: skip

    assert add_tolerations(text, [(1, TOLERATION)]).text == text.text
    assert add_tolerations(text, [(5, TOLERATION)]).text.startswith(
        text.text.partition("---")[0] + "---"
    )
