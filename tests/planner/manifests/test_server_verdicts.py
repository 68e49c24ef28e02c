"""The answers of real API servers 1.34.3, 1.35.4, 1.36.3, and 1.37.0, compared with the findings of
this project.

The files in `cases/` contain our own manifests and the servers' answers with default feature gates:
`create` for strict field validation (as in kubectl), `lenient` and `apply` (server-side) if they
differ, and `stored` for changes by storing. A verdict is `accepted`, or the reason and the invalid
fields. If all minor versions agree, the file contains one verdict. `gates` contains the planner's
features that differ from the default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_planner.errors import ManifestError
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import KubernetesObject, read_objects
from dra_planner.manifests.validation.context import Context, ExistingObjects
from dra_planner.manifests.validation.stored_form import changes, stored_form
from dra_planner.manifests.validation.verdict import ServerAnswer, judge
from dra_planner.plan import check_selector
from dra_planner.releases import RELEASES, features_of
from dra_planner.sources import Source

FOLDER = Path(__file__).parent / "cases"
MINORS = tuple(RELEASES)
MINORS_OF_TEXTS = (34, 35, 36)  # for which kubectl was run
TEXT_GROUPS = ("yaml", "yaml-dialect")
MODES = {"create": "strict", "lenient": "lenient", "apply": "apply", "limited": "strict"}

# Not modelled, and why: (case, mode).
EXCEPTIONS = {
    ("e05", "create"): "objects of other kinds are taken as they are, whatever their metadata hold",
    (
        "036",
        "apply",
    ): "server-side apply turns 2^63 into -2^63 on its way to the validation of the count",
}


def load(group: str) -> list[dict[str, Any]]:
    text = (FOLDER / f"{group}.yaml").read_text("utf-8")
    cases: list[dict[str, Any]] = yaml.load(text, Loader=yaml.CSafeLoader)
    return cases


GROUPS = sorted(path.stem for path in FOLDER.glob("*.yaml"))
CASES = [(group, case) for group in GROUPS for case in load(group)]


def expand(text: str, case: Mapping[str, Any]) -> str:
    for name, rule in (case.get("expand") or {}).items():
        parts = [rule["each"].replace("{i}", str(index)) for index in range(rule["count"])]
        text = text.replace(f"@{name}@", rule.get("join", ", ").join(parts))
    return text


def objects_of(text: str) -> list[KubernetesObject]:
    return read_objects(read_documents([Source("case.yaml", text)])[0])


def cluster_of(objects: list[KubernetesObject], *, limited: bool) -> ExistingObjects:
    kinds: dict[str, list[KubernetesObject]] = {}
    for item in objects:
        kinds.setdefault(item.kind, []).append(item)
    namespaces = {
        item.name: item.metadata.get("labels") or {} for item in kinds.get("Namespace", ())
    }
    quotas = [dict(item.data) for item in kinds.get("ResourceQuota", ())]
    priorities = kinds.get("PriorityClass", ())
    for quota in quotas:
        quota.setdefault("status", {"used": dict.fromkeys(quota["spec"]["hard"], "0")})
    return ExistingObjects(
        namespaces={"default": {}, **namespaces},
        priority_classes={item.name: int(item.data["value"]) for item in priorities},
        non_preempting=frozenset(
            item.name for item in priorities if item.data.get("preemptionPolicy") == "Never"
        ),
        default_priority=next(
            (item.name for item in priorities if item.data.get("globalDefault")), ""
        ),
        classes={
            item.name: str((item.data.get("spec") or {}).get("extendedResourceName") or "")
            for item in kinds.get("DeviceClass", ())
        },
        quotas=quotas,
        complete=True,
        limited_priorities=limited,
    )


def context_of(
    case: Mapping[str, Any], minor: int, *, limited: bool = False
) -> tuple[Context, list[KubernetesObject]]:
    given = objects_of(expand(case.get("given") or "", case))
    cluster = cluster_of(given, limited=limited)
    features = features_of(minor).with_gates(**(case.get("gates") or {}))
    return Context(features=features, cluster=cluster, check_selector=check_selector), given


def answer(case: Mapping[str, Any], minor: int, key: str) -> ServerAnswer:
    context, given = context_of(case, minor, limited=key == "limited")
    (item,) = objects_of(expand(case["manifest"], case))
    existing = None
    if case.get("change"):
        (old,) = [each for each in given if (each.kind, each.name) == (item.kind, item.name)]
        existing = stored_form(old, context)
    return judge(item, context, mode=MODES[key], existing=existing)  # type: ignore[arg-type]


def wanted(case: Mapping[str, Any], key: str, minor: int) -> Any:
    """Return a server's answer, or None if the server wasn't asked."""
    value = case.get(key)
    if isinstance(value, dict) and any(name.startswith("1.") for name in value):
        return value.get(f"1.{minor}")
    return value


def ids(param: Any) -> str:
    if isinstance(param, dict):
        return str(param["id"])
    return str(param)


def cases_of(keys: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any], str, int]]:
    for group, case in CASES:
        for key in keys if group not in TEXT_GROUPS else ():
            for minor in MINORS:
                if wanted(case, key, minor) is not None:
                    yield group, case, key, minor


@pytest.mark.parametrize(("group", "case", "key", "minor"), list(cases_of(tuple(MODES))), ids=ids)
def test_verdict_matches_the_servers(
    group: str, case: dict[str, Any], key: str, minor: int
) -> None:
    if (case["id"], key) in EXCEPTIONS:
        pytest.xfail(EXCEPTIONS[case["id"], key])
    expected, verdict = wanted(case, key, minor), answer(case, minor, key)
    if expected == "accepted":
        assert verdict.violations == ()
    assert (verdict.reason or "accepted") == (
        expected if isinstance(expected, str) else expected["reason"]
    )


def with_errors() -> Iterator[tuple[str, dict[str, Any], str, int]]:
    for group, case, key, minor in cases_of(tuple(MODES)):
        expected = wanted(case, key, minor)
        if isinstance(expected, dict) and "errors" in expected:
            yield group, case, key, minor


@pytest.mark.parametrize(("group", "case", "key", "minor"), list(with_errors()), ids=ids)
def test_fields_of_errors_match_the_servers(
    group: str, case: dict[str, Any], key: str, minor: int
) -> None:
    if (case["id"], key) in EXCEPTIONS:
        pytest.xfail(EXCEPTIONS[case["id"], key])
    errors = wanted(case, key, minor)["errors"]
    found = {
        (violation.field, violation.reason) for violation in answer(case, minor, key).violations
    }
    if "any_of" in errors[0]:
        assert {field for field, _ in found} & set(errors[0]["any_of"])
        return
    expected = {(error["field"], error["reason"]) for error in errors}
    if key == "apply" and len(expected) == 1:  # the server stops at the first
        assert expected <= found
    else:
        assert found == expected


def stored_cases() -> Iterator[tuple[dict[str, Any], str, int]]:
    for group, case in CASES:
        for key, stored in (("create", "stored"), ("lenient", "lenient_stored")):
            for minor in MINORS if group not in TEXT_GROUPS else ():
                given = wanted(case, key, minor)
                if (
                    given == "accepted"
                    or (given is None and wanted(case, "create", minor) == "accepted")
                ) and (stored == "stored" or case.get(stored)):
                    yield case, stored, minor


DEVICE_FIELDS = re.compile(
    r"resourceClaims|resources|priority|preemptionPolicy|^metadata.namespace$|^spec\.hard"
)


@pytest.mark.parametrize(("case", "key", "minor"), list(stored_cases()), ids=ids)
def test_dropped_and_default_fields_match_the_servers(
    case: dict[str, Any], key: str, minor: int
) -> None:
    context, _ = context_of(case, minor)
    (item,) = objects_of(expand(case["manifest"], case))
    if case.get("change") and not case.get(key):
        return  # unchanged objects weren't recorded
    found: dict[str, dict[str, Any]] = {"dropped": {}, "defaulted": {}, "rewritten": {}}
    for path, what, sent, stored in changes(item.data, stored_form(item, context)):
        if item.group == "resource.k8s.io" or DEVICE_FIELDS.search(path):
            found[what][path] = {"sent": sent, "stored": stored} if what == "rewritten" else stored
    expected = wanted(case, key, minor) or {}
    assert sorted(found["dropped"]) == sorted(expected.get("dropped", ()))
    assert found["rewritten"] == (expected.get("rewritten") or {})
    filled, more = expected.get("defaulted") or {}, expected.get("defaulted_more", 0)
    assert len(found["defaulted"]) == len(filled) + more
    for path, value in filled.items():
        assert path in found["defaulted"]
        assert value == "<now>" or found["defaulted"][path] == value


TEXTS = [
    (case, minor) for group, case in CASES if group in TEXT_GROUPS for minor in MINORS_OF_TEXTS
]


def unreadable(text: str) -> ManifestError | None:
    try:
        objects_of(text)
    except ManifestError as error:
        return error
    return None


@pytest.mark.parametrize(("case", "minor"), TEXTS, ids=ids)
def test_text_is_read_as_kubectl_reads_it(case: dict[str, Any], minor: int) -> None:
    context = Context(
        features=features_of(minor),
        cluster=ExistingObjects(namespaces={"default": {}}, complete=True),
        check_selector=check_selector,
    )
    if unreadable(case["manifest"]) is not None:
        assert case["create"] != "accepted"
        return
    objects = objects_of(case["manifest"])
    verdicts = [judge(item, context) for item in objects]
    accepted = bool(objects) and all(verdict.accepted for verdict in verdicts)
    assert accepted == (case["create"] == "accepted"), verdicts
    if accepted:
        stored = [stored_form(item, context) for item in objects]
        results = [
            {key: value for key, value in data.items() if key != "apiVersion"} for data in stored
        ]
        assert results == wanted(case, "result", minor)
