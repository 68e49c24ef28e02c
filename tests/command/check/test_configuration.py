"""`check` applies `pulumi-dra.yaml` and the exemptions next to objects."""

from __future__ import annotations

import pytest
from command_project import Done, Project
from msgspec.structs import replace

from dra_policies.rules import OF_MANIFESTS

SHARED = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{operator: Exists}]
      resourceClaims: [{name: c, resourceClaimName: one}]
      containers: [{name: main, image: i, resources: {claims: [{name: c}]}}]
"""
RULE = "claim-shared-by-replicas"
FIX = (
    "report this error and its message; to continue, set the level of rule-could-not-run to "
    "advisory"
)
EXEMPT = f"""\
exemptions:
  - rule: {RULE}
    object: Deployment default/web
    reason: replicas read one model
"""


@pytest.fixture
def shared(project: Project) -> Project:
    """A project whose only manifest breaks one advisory rule."""
    (project.root / "workloads" / "two-pods.yaml").unlink()
    project.write("workloads/web.yaml", SHARED)
    return project


def codes(done: Done) -> list[tuple[str, str]]:
    return [(each["severity"], each["code"]) for each in done.json["diagnostics"]]


def checked(project: Project, *words: str) -> Done:
    return project.run("check", "workloads", "--format", "json", *words)


def test_rule_reports_without_a_configuration(shared: Project) -> None:
    assert codes(checked(shared)) == [("warning", RULE)]


@pytest.mark.parametrize(
    ("level", "severities", "status"),
    [("mandatory", ["error"], 1), ("advisory", ["warning"], 0), ("disabled", [], 0)],
)
def test_level_sets_severity_and_status(
    shared: Project, level: str, severities: list[str], status: int
) -> None:
    shared.write("pulumi-dra.yaml", f"rules: {{{RULE}: {level}}}\n")

    done = checked(shared)

    assert [severity for severity, _ in codes(done)] == severities
    assert done.status == status
    assert (RULE in done.json["judged"]) is (level != "disabled")


def test_rule_can_be_disabled(project: Project) -> None:
    plain = checked(project, "--stack", "dev").json
    project.write("pulumi-dra.yaml", "rules: {pod-fits-no-system-pool: disabled}\n")

    configured = checked(project, "--stack", "dev").json

    assert "pod-fits-no-system-pool" in plain["judged"]
    assert "pod-fits-no-system-pool" not in configured["judged"]


@pytest.mark.parametrize("where", ["pulumi-dra.yaml", "workloads/pulumi-dra.yaml"])
def test_exemption_is_found_in_a_parent_folder(shared: Project, where: str) -> None:
    shared.write(where, EXEMPT)

    done = checked(shared)

    assert codes(done) == []
    (exempted,) = done.json["exempted"]
    assert (exempted["code"], exempted["reason"]) == (RULE, "replicas read one model")
    assert exempted["by"] == f"{where}:2 exemptions[0]"
    assert "1 finding exempted." in " ".join(shared.run("check", "workloads").out.split())
    listed = " ".join(shared.run("check", "workloads", "--verbose").out.split())
    assert f"exempted {RULE}: " in listed
    assert f"replicas read one model ({exempted['by']})" in listed


def test_search_stops_at_the_root_of_a_repository(shared: Project) -> None:
    shared.write("pulumi-dra.yaml", EXEMPT)
    shared.write("workloads/.git/HEAD", "")

    assert codes(checked(shared)) == [("warning", RULE)]


def test_config_option_selects_another_file(shared: Project) -> None:
    shared.write("pulumi-dra.yaml", "rules: {}\n")
    shared.write("strict.yaml", EXEMPT)

    assert codes(checked(shared, "--config", "strict.yaml")) == []


def test_paths_with_different_configurations_are_rejected(shared: Project) -> None:
    shared.write("workloads/pulumi-dra.yaml", EXEMPT)
    shared.write("other/pulumi-dra.yaml", EXEMPT)
    shared.write("other/web.yaml", SHARED)

    done = shared.run("check", "workloads", "other")

    assert done.status == 2
    assert "two configuration files apply" in done.err


@pytest.mark.parametrize(
    ("pattern", "excuses"),
    [
        ("Deployment default/*", True),
        ("*", True),
        ("Deployment prod/web", False),
        ("Deployment web", False),
    ],
)
def test_exemptions_match_objects_by_pattern(shared: Project, pattern: str, excuses: bool) -> None:
    shared.write("pulumi-dra.yaml", EXEMPT.replace("Deployment default/web", f'"{pattern}"'))

    assert (("warning", RULE) not in codes(checked(shared))) is excuses


def test_expired_exemption_is_reported_and_has_no_effect(shared: Project) -> None:
    shared.write("pulumi-dra.yaml", EXEMPT + "    expires: 2026-03-31\n")

    last_day = checked(shared, "--today", "2026-03-31")
    day_after = checked(shared, "--today", "2026-04-01")

    assert codes(last_day) == []
    assert codes(day_after) == [("warning", "exemption-without-effect"), ("warning", RULE)]
    stale = day_after.json["diagnostics"][0]
    assert (stale["file"], stale["line"]) == ("pulumi-dra.yaml", 2)
    assert stale["message"].endswith(
        f"Deployment default/web from rule {RULE} expired on 2026-03-31"
    )


def test_exemption_without_effect_is_reported(shared: Project) -> None:
    shared.write("pulumi-dra.yaml", EXEMPT.replace(RULE, "claim-without-container"))

    done = checked(shared)

    assert codes(done) == [("warning", "exemption-without-effect"), ("warning", RULE)]
    assert (
        "has no effect, because the rule doesn't report this object"
        in done.json["diagnostics"][0]["message"]
    )


def test_exemption_for_a_missing_object_is_a_note(shared: Project) -> None:
    shared.write("pulumi-dra.yaml", EXEMPT.replace("default/web", "default/gone"))

    assert codes(checked(shared)) == [("warning", RULE), ("note", "exemption-without-effect")]


def test_note_suggests_the_objects_that_the_rule_reports(shared: Project) -> None:
    shared.write("pulumi-dra.yaml", EXEMPT.replace("default/web", "default/gone"))

    note = checked(shared).json["diagnostics"][1]

    assert note["fix"].endswith("; the rule reports Deployment default/web")


def test_configuration_with_another_extension_is_an_error(shared: Project) -> None:
    shared.write("pulumi-dra.yml", "rules: {}\n")

    done = checked(shared)

    assert done.status == 2
    assert "pulumi-dra.yml has no effect" in done.json["error"]["message"]


def test_exemption_from_a_skipped_rule_is_not_reported(
    shared: Project,
) -> None:
    shared.write("pulumi-dra.yaml", EXEMPT.replace(RULE, "claim-fits-no-pool"))

    assert codes(checked(shared)) == [("warning", RULE)]


def test_exempted_misfit_does_not_fail_the_check(project: Project) -> None:
    text = (project.root / "workloads" / "two-pods.yaml").read_text(encoding="utf-8")
    project.stack("max: 4", "max: 1")
    project.write("workloads/two-pods.yaml", text.replace("replicas: 2", "replicas: 9"))
    assert project.run("check", "--stack", "dev").status == 1
    project.write(
        "pulumi-dra.yaml",
        "exemptions: [{rule: pool-maximum-too-small, object: '*', reason: bought by hand}]\n",
    )

    done = project.run("check", "--stack", "dev", "--format", "json")

    assert (done.json["verdict"], done.status, codes(done)) == ("fits", 0, [])
    assert {each["code"] for each in done.json["exempted"]} == {"pool-maximum-too-small"}


def test_excluded_files_are_skipped(shared: Project) -> None:
    shared.write("workloads/charts/other.yaml", SHARED)
    shared.write("pulumi-dra.yaml", EXEMPT + "exclude: [charts]\n")

    assert codes(checked(shared)) == []


def test_threshold_changes_a_rule(project: Project) -> None:
    project.write(
        "workloads/near.yaml",
        """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: near}
spec:
  spec:
    devices:
      requests:
        - name: gpu
          exactly:
            deviceClassName: gpu.nvidia.com
            selectors:
              - cel: {expression: 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0'}
""",
    )
    near = ("warning", "selector-just-misses-a-gpu")
    assert near in codes(checked(project))

    project.write("pulumi-dra.yaml", "thresholds: {selector-just-misses-a-gpu: 0}\n")

    assert near not in codes(checked(project))


class TestBesideTheObject:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (
                "  name: web\n",
                f"  name: web\n  annotations: {{pulumi-dra/ignore: {RULE} — one model}}\n",
            ),
            ("  replicas: 3\n", f"  replicas: 3  # pulumi-dra: ignore {RULE} — one model\n"),
            (
                "apiVersion: apps/v1\n",
                f"# pulumi-dra: ignore {RULE}: one model\napiVersion: apps/v1\n",
            ),
            (
                "\nspec:\n",
                f"\n# pulumi-dra: ignore {RULE}, claim-fits-no-pool - one model\nspec:\n",
            ),
        ],
        ids=["annotation", "at the end of a line", "above the object", "inside the object"],
    )
    def test_comment_exempts_its_object(self, shared: Project, old: str, new: str) -> None:
        shared.write("workloads/web.yaml", SHARED.replace(old, new))

        done = checked(shared)

        assert codes(done) == []
        assert [each["reason"] for each in done.json["exempted"]] == ["one model"]

    def test_comment_next_to_another_object_has_no_effect(self, shared: Project) -> None:
        shared.write("workloads/web.yaml", f"# pulumi-dra: ignore {RULE} — one model\n{SHARED}")

        assert codes(checked(shared)) == [
            ("warning", "exemption-without-effect"),
            ("warning", RULE),
        ]

    def test_comment_above_a_list_item_belongs_to_the_item(self, shared: Project) -> None:
        first, second = (part.replace("\n", "\n    ").strip() for part in SHARED.split("---\n"))
        comment = f"  # pulumi-dra: ignore {RULE} — one model\n"
        shared.write(
            "workloads/web.yaml",
            f"apiVersion: v1\nkind: List\nitems:\n  - {first}\n{comment}  - {second}\n",
        )

        assert codes(checked(shared)) == []

    def test_comment_can_expire(self, shared: Project) -> None:
        line = f"# pulumi-dra: ignore {RULE} until 2026-03-31 — one model\nspec:\n  replicas"
        shared.write("workloads/web.yaml", SHARED.replace("spec:\n  replicas", line))

        assert codes(checked(shared, "--today", "2026-03-31")) == []
        assert ("warning", RULE) in codes(checked(shared, "--today", "2026-04-01"))

    @pytest.mark.parametrize(
        ("exemption", "message"),
        [
            (RULE, '" needs a rule and a reason'),
            ("claim-shared-by-replica — why", 'rule "claim-shared-by-replica" doesn\'t exist'),
            (f"{RULE} until tomorrow — why", '"tomorrow" isn\'t a date'),
        ],
    )
    def test_invalid_comment_is_reported_at_its_line(
        self, shared: Project, exemption: str, message: str
    ) -> None:
        commented = f"  name: web # pulumi-dra: ignore {exemption}\n"
        shared.write("workloads/web.yaml", SHARED.replace("  name: web\n", commented))

        done = checked(shared)

        assert codes(done) == [("warning", "exemption-without-effect"), ("warning", RULE)]
        assert message in done.json["diagnostics"][0]["message"]
        assert done.json["diagnostics"][0]["line"] == 9


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("rule: {}\n", "pulumi-dra.yaml:1 rule", 'did you mean "rules"?'),
        ("rules:\n  claim-fits-nopool: advisory\n", "pulumi-dra.yaml:2 rules.claim-fits-nopool", "claim-fits-no-pool"),
        ("rules: {claim-fits-no-pool: off}\n", "pulumi-dra.yaml:1", "disabled, remediate, or a mapping"),
        ("rules: {unknown-field: advisory}\n", "pulumi-dra.yaml:1", 'use "object-is-refused", the rule that'),
        ("rules: []\n", "pulumi-dra.yaml:1 rules", "must be a mapping"),
        ("- a\n", "pulumi-dra.yaml:1", "must be a mapping, not a list"),
        ("just text\n", "pulumi-dra.yaml", "must be a mapping, not text"),
        ("thresholds: {claim-fits-no-pool: 3}\n", "pulumi-dra.yaml:1", "doesn't have a threshold"),
        ("thresholds: {selector-just-misses-a-gpu: 99}\n", "pulumi-dra.yaml:1", "must be between 0 and 50, not 99"),
        ("thresholds: {selector-just-misses-a-gpu: much}\n", "pulumi-dra.yaml:1", '"much"'),
        ("exclude: charts\n", "pulumi-dra.yaml:1 exclude", "must be a list"),
        (EXEMPT.replace("    reason: replicas read one model\n", ""), "exemptions[0].reason", "is missing"),
        (EXEMPT.replace("replicas read one model", '" "'), "pulumi-dra.yaml:4", "must not be empty"),
        (EXEMPT + "    expires: soon\n", "pulumi-dra.yaml:5", '"soon" isn\'t a date'),
        (EXEMPT + "    until: 2026-01-01\n", "pulumi-dra.yaml:5", "isn't a key of the configuration"),
        ("rules: {a: b\n", "pulumi-dra.yaml", "can't be read as YAML"),
    ],
)  # fmt: skip
def test_wrong_configuration_is_wrong_input(
    shared: Project, text: str, place: str, message: str
) -> None:
    shared.write("pulumi-dra.yaml", text)

    done = shared.run("check", "workloads")

    assert done.status == 2
    assert place in done.err
    assert message in done.err


def test_empty_file_changes_nothing(shared: Project) -> None:
    shared.write("pulumi-dra.yaml", "# nothing yet\n")

    assert codes(checked(shared)) == [("warning", RULE)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--config", "gone.yaml"), "gone.yaml doesn't exist"),
        (("--config", "workloads"), "workloads is a folder"),
        (("--today", "yesterday"), '"yesterday" isn\'t a date'),
    ],
)
def test_wrong_options_are_rejected(shared: Project, words: tuple[str, ...], message: str) -> None:
    done = shared.run("check", "workloads", *words)

    assert done.status == 2
    assert message in done.err


def test_other_commands_ignore_exemptions(project: Project) -> None:
    project.write("workloads/pulumi-dra.yaml", EXEMPT)

    assert project.run("plan", "--stack", "dev").status == 0


def test_exception_in_an_advisory_rule_does_not_fail_the_check(
    shared: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raises(_: object) -> list[object]:
        raise ZeroDivisionError("division by zero")

    broken = tuple(
        replace(rule, check=raises) if rule.id == RULE else rule for rule in OF_MANIFESTS
    )
    for module in ("findings.evaluation", "findings.project_configuration"):
        monkeypatch.setattr(f"dra_command.{module}.OF_MANIFESTS", broken)
    done = checked(shared)
    (finding,) = done.json["diagnostics"]
    assert (done.status, finding["severity"], finding["code"]) == (1, "error", "rule-could-not-run")
    assert finding["fix"] == FIX
    assert finding["message"].startswith(
        f"rule {RULE} failed with ZeroDivisionError at test_configuration.py:"
    )
    shared.write("pulumi-dra.yaml", "rules: {rule-could-not-run: advisory}\n")
    done = checked(shared)
    assert (done.status, codes(done)) == (0, [("warning", "rule-could-not-run")])
