"""Recipes for code: a made-up change in the files that the recipe names passes its check, an
incomplete one fails.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from textwrap import dedent, indent

import pytest
from worktree import Worktree

pytestmark = pytest.mark.recipe

Follow = Callable[[str], Worktree]
PLANNER = "planner/dra_planner"


def test_add_a_rule(follow: Follow) -> None:
    tree = follow("Add a rule")
    tree.write(
        "policies/dra_policies/rules/claims/class_name_too_long.py",
        dedent('''\
            """A DeviceClass whose name nobody can read."""

            from __future__ import annotations

            from collections.abc import Iterator

            from dra_policies.rules.rule import Finding, Rule
            from dra_policies.view.stack_view import StackView


            def check(view: StackView) -> Iterator[Finding]:
                for name, device_class in view.manifests.classes.items() if view.manifests else ():
                    if len(name) > 60:
                        yield Finding(
                            message=f"DeviceClass {name} has {len(name)} characters, so tables cut its name",
                            fix="write at most 60 characters",
                            place=device_class.meta.place,
                        )


            RULE = Rule(
                id="class-name-too-long",
                description="Every DeviceClass has a name of at most 60 characters.",
                why="Tables cut longer names.",
                fix="Choose a shorter name.",
                level="advisory",
                check=check,
            )
        '''),
    )
    registry = "policies/dra_policies/rules/registry.py"
    assert "class_name_too_long" in tree.check(rule_id="class-name-too-long"), (
        "a rule that isn't listed"
    )
    tree.insert(registry, "    class_misspelt,\n", "    class_name_too_long,\n")
    tree.insert(registry, "    class_misspelt.RULE,\n", "    class_name_too_long.RULE,\n")
    long = "long-" * 13 + "name.example.com"
    added = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": long},
        "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}]},
    }
    row = {
        "fault": "a class with a long name",
        "code": "class-name-too-long",
        "severity": "warning",
        "edit": {"long": added},
        "words": "81 characters",
        "fix": {"long/metadata/name": "short.example.com"},
    }
    tree.append("tests/policies/seeded/manifests/faults.yaml", f"- {json.dumps(row)}\n")
    assert tree.check(rule_id="class-name-too-long") == ""
    assert "class-name-too-long" in tree.read("docs/rules.md")


def test_add_an_output_format(follow: Follow) -> None:
    tree = follow("Add an output format")
    tree.append(
        "tests/command/test_formats.py",
        dedent("""

            def test_check_as_rows(project: Project) -> None:
                rows = [line.split("\\t") for line in findings_of_examples(project, "tsv").splitlines()]
                assert rows
                assert {row[0] for row in rows} <= {"error", "warning", "note"}
        """),
    )
    assert "test_check_as_rows" in tree.check(), "a format that isn't there"
    tree.write(
        "command/dra_command/check/tsv.py",
        dedent('''\
            """Findings as rows with tabs."""

            from __future__ import annotations

            from dra_command.findings.check_result import CheckResult
            from dra_command.pens.visible_text import visible


            def check_tsv(checked: CheckResult) -> str:
                """Return one row per finding: severity, code, and message."""
                rows = ((each.severity, each.code, each.message) for each in checked.diagnostics)
                return "".join("\\t".join(map(visible, row)) + "\\n" for row in rows)
        '''),
    )
    tree.replace("command/dra_command/check/options.py", '"github")', '"github", "tsv")')
    answer = "command/dra_command/check/answer.py"
    tree.replace(answer, '"github")', '"github", "tsv")')
    tree.replace(
        answer,
        "        case _:\n",
        '        case "tsv":\n            return check_tsv(checked)\n        case _:\n',
    )
    tree.replace(
        answer,
        "import print_check\n",
        "import print_check\nfrom dra_command.check.tsv import check_tsv\n",
    )
    assert tree.check() == ""


def test_change_the_text_of_a_report(follow: Follow) -> None:
    tree = follow("Change the text of a report")
    start, _, _ = tree.read("command/dra_command/check/text.py").partition(
        "    with Page(file) as page:\n"
    )
    body = """\
        with Page(file) as page:
            for each in checked.diagnostics:
                page.line(f"FINDING {each.severity} {each.code}")
            page.line(f"TOTAL {summary(checked)}")
    """
    tree.write("command/dra_command/check/text.py", start + indent(dedent(body), "    "))
    assert "FINDING error" in tree.check(), "another text than the golden file's"
    tree.run(*tree.recipe.commands[-1], REWRITE_GOLDEN="1")
    assert tree.check() == ""
    lines = tree.read("tests/command/golden/check.txt").splitlines()
    assert len(lines) > 2
    assert [line for line in lines if not line.startswith(("FINDING ", "TOTAL "))] == []


def test_add_a_workload_kind(follow: Follow) -> None:
    tree = follow("Add a workload kind")
    cases = "tests/planner/manifests/workload_cases.py"
    case = (
        '("FleetJob", manifest("made-up.example/v1", "FleetJob", f"workers: 3, '
        '{JOB_TEMPLATE}"), {"": fixed(3)}),'
    )
    start = "CASES: list[tuple[str, str, Expected]] = [\n"
    tree.replace(cases, start, f"{start}    {case}\n")
    assert "FleetJob" in tree.check(), "a kind without a row"
    row = (
        'WorkloadKind(group="made-up.example", kind="FleetJob", roles=[Role(template="template", '
        'replicas="workers")])'
    )
    row = row.replace('"template"', '"spec.template"').replace('"workers"', '"spec.workers"')
    start = "KINDS: Final[tuple[WorkloadKind, ...]] = (\n"
    tree.replace(f"{PLANNER}/manifests/workloads/kinds.py", start, f"{start}    {row},\n")
    assert tree.check() == ""


def test_add_a_scheduler_plugin(follow: Follow) -> None:
    tree = follow("Add a scheduler plugin")
    tree.write(
        f"{PLANNER}/simulation/plugins/rack_height.py",
        dedent('''\
            """RackHeight: nodes at the top of a rack."""

            from dra_planner.simulation.plugins.plugin import Plugin

            PLUGIN = Plugin(
                name="RackHeight",
                order=160,
                weight=50,
                labels=frozenset({"made-up.example/height"}),
                by_node=lambda kind, node: int(node.meta.labels.get("made-up.example/height", "0")),
            )
        '''),
    )
    assert "RackHeight" in tree.check(), "a weight that isn't upstream's"
    weights = '    "ImageLocality": 1,\n'
    tree.replace(
        "tests/planner/simulation/test_plugins.py", weights, f'{weights}    "RackHeight": 50,\n'
    )
    tree.append(
        "tests/planner/simulation/test_scheduling.py",
        dedent("""

            def test_a_pod_goes_to_the_top_of_a_rack():
                nodes = [offer(f"n{height}", labels={"made-up.example/height": str(height)}) for height in range(3)]
                assert pods_by_node([workload(shape(), 2)], nodes) == {"w0": {"n2": 2}}
        """),
    )
    assert tree.check() == ""


def test_add_a_cel_function(follow: Follow) -> None:
    tree = follow("Add a CEL function")
    case = {
        "expression": "device.driver.madeUpReversed() == 'moc.aidivn.upg'",
        "device": "h100",
        "expect": "match",
        "source": "made up",
    }
    tree.append("tests/planner/cel/cases/libraries.yaml", f"- {json.dumps(case)}\n")
    assert "madeUpReversed" in tree.check(function="madeUpReversed"), (
        "a function that isn't declared"
    )
    declared = "string_upper_ascii (string).upperAscii() string\n"
    rows = f"{PLANNER}/cel/checking/overload_rows.py"
    tree.replace(
        rows, declared, f"{declared}string_made_up_reversed (string).madeUpReversed() string\n"
    )
    assert "unsupported" in tree.check(function="madeUpReversed"), (
        "a function that isn't implemented"
    )
    strings = f"{PLANNER}/cel/libraries/strings.py"
    start = re.search(r"^FUNCTIONS: .* = \{\n", tree.read(strings), re.MULTILINE)
    assert start
    implemented = '    "string_made_up_reversed": lambda text: text[::-1],\n'
    tree.replace(strings, start[0], start[0] + implemented)
    assert tree.check(function="madeUpReversed") == ""


def test_add_a_kubernetes_minor_version(follow: Follow) -> None:
    """1.38 is released, and 1.39 is its preview then."""
    tree = follow("Add a Kubernetes minor version")
    table = f"{PLANNER}/releases/table.py"
    text = tree.read(table)
    last = text[text.index("_1_37: Final = Features(") : text.index("RELEASES: Final")]
    released = last.replace("_1_37", "_1_38").replace("minor=37", "minor=38")
    text = text.replace("_1_36, _1_37)", "_1_36, _1_37, _1_38)").replace(last, last + released)
    text, previews = re.subn(
        r"\{38: \(.*\)\}",
        '{39: ("1.39.0-alpha.1", replace(_1_38, minor=39, latest_patch=0))}',
        text,
    )
    assert previews == 1
    tree.write(table, text)
    assert "39" in tree.check(), "a minor version without an allocator"
    behavior = "Behaviour(charges_admin_access=True),\n"
    tree.insert(f"{PLANNER}/allocation/behaviour.py", f"    38: {behavior}", f"    39: {behavior}")
    assert "39" in tree.check(), "a minor version without a CEL library"
    tree.replace(f"{PLANNER}/cel/dialect.py", "38: _1_37}", "38: _1_37, 39: _1_37}")
    assert "39" in tree.check(), "a minor version without API types"
    types = f"{PLANNER}/manifests/schema/types.json"
    newest = re.search(r'"1\.38": "k8s\.io/api [^"]+"', tree.read(types))
    assert newest
    tree.replace(types, newest[0], f'{newest[0]},\n  "1.39": "k8s.io/api v0.39.0-alpha.1"')
    assert tree.check() == ""


def test_add_a_component_input(follow: Follow) -> None:
    tree = follow("Add a component input")
    inputs = "components/pulumi_dra/gke/pool/gpu_pool_inputs.py"
    start = "CASES: list[tuple[str, dict[str, Any], str, str]] = [\n"
    case = '    ("GkeGpuPool", {"rack_height": 50}, "rack_height", "must be between 1 and 48, not 50"),\n'
    tree.insert("tests/components/test_bad_inputs.py", start, case)
    declared = "    rack_height: NotRequired[int]\n"
    described = '    """Position of the nodes in their rack, from 1 to 48. Default 1."""\n'
    tree.insert(inputs, '    """Billing labels for the machines."""\n', declared + described)
    tree.insert(
        inputs, "    resource_labels: dict[str, pulumi.Input[str]]\n", "    rack_height: int\n"
    )
    checked = '        rack_height=read.whole("rack_height", 1, least=1, most=48),\n'
    tree.insert(inputs, "        resource_labels=read_resource_labels(read),\n", checked)
    assert tree.check(input="rack_height") == ""
    schema = json.loads(tree.read("docs/schema/components.json"))
    assert "rackHeight" in schema["resources"]["pulumi-dra:index:GkeGpuPool"]["inputProperties"]
    assert "rack_height" in tree.read("components/pulumi_dra/platform/platform_options.py")


def test_make_a_release(follow: Follow) -> None:
    tree = follow("Make a release")
    tree.replace("pyproject.toml", 'version = "1.0.0rc1"', 'version = "1.0.1"')
    assert "1.0.1" in tree.check(), "a policy pack of another version"
    tree.replace("policies/PulumiPolicy.yaml", "version: 1.0.0-rc.1", "version: 1.0.1")
    assert "no section 1.0.1" in tree.check(), "a changelog without the version"
    tree.replace("CHANGELOG.md", "## 1.0.0rc1 (", "## 1.0.1 (")
    assert tree.check() == ""
