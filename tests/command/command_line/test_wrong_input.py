"""Invalid input: one sentence with its place and fix, exit status 2, no traceback, and no partly
written files.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

import pytest
from command_project import Project

Prepare = Callable[[Project], None]
PLAN = ("plan", "--stack", "dev")
FLEET = ("plan", "workloads", "--fleet", "fleet.json")


def stack(old: str, new: str) -> Prepare:
    return lambda project: project.stack(old, new)


def workload(text: str) -> Prepare:
    return lambda project: (project.write("workloads/two-pods.yaml", text), None)[1]


def unchanged(project: Project) -> None:
    """Don't change the project."""


def empty_folder(project: Project) -> None:
    (project.root / "empty").mkdir()


def edited_plan(project: Project) -> None:
    assert project.run(*PLAN, "--write").status == 0
    path = project.root / "stacks" / "dev.plan.json"
    path.write_text(
        path.read_text(encoding="utf-8").replace('"desired": 2', '"desired": 3'), encoding="utf-8"
    )


def broken_plan(project: Project) -> None:
    project.write("stacks/dev.plan.json", '{"version": 1,')


def plan_of_tomorrow(project: Project) -> None:
    project.write("stacks/dev.plan.json", '{"version": 99}')


def latin_1(project: Project) -> None:
    (project.root / "workloads" / "two-pods.yaml").write_bytes("kind: Pod # é".encode("latin-1"))


def latin_1_stack(project: Project) -> None:
    path = project.root / "stacks" / "Pulumi.dev.yaml"
    path.write_bytes(
        path.read_bytes().replace(b"region: us-east-1\n    kube", b"region: \xe9\n    kube")
    )


def utf_16_stack(project: Project) -> None:
    path = project.root / "stacks" / "Pulumi.dev.yaml"
    path.write_text(path.read_text(encoding="utf-8"), encoding="utf-16")


def no_stacks(project: Project) -> None:
    (project.root / "stacks/Pulumi.dev.yaml").unlink()


def json_fleet(text: str) -> Prepare:
    return lambda project: (project.write("fleet.json", text), None)[1]


CASES: list[tuple[str, Prepare, tuple[str, ...], tuple[str, ...]]] = [
    (
        "count is text",
        stack("{min: 0, max: 4}", "many"),
        PLAN,
        ("stacks/Pulumi.dev.yaml:17", "pools[0].count"),
    ),
    (
        "unknown key",
        stack("count:", "conut:"),
        PLAN,
        ("stacks/Pulumi.dev.yaml:17", "conut", 'did you mean "count"?'),
    ),
    (
        "unknown machine",
        stack("g6.2xlarge", "g6.2xlrage"),
        PLAN,
        ("Pulumi.dev.yaml:16", "g6.2xlrage", "g6.2xlarge"),
    ),
    (
        "min above max",
        stack("min: 0, max: 4", "min: 5, max: 4"),
        PLAN,
        ("Pulumi.dev.yaml:17", "minimum (5) exceeds"),
    ),
    (
        "Kubernetes 1.33",
        stack('"1.34"', '"1.33"'),
        PLAN,
        (
            "Pulumi.dev.yaml:8",
            "1.33",
            "use a version from 1.34 (the first with resource.k8s.io/v1) to",
        ),
    ),
    ("a version as a number", stack('"1.34"', "1.34"), PLAN, ("Pulumi.dev.yaml:8", "in quotes")),
    (
        "unknown cloud",
        stack("cloud: eks", "cloud: azure"),
        PLAN,
        ("Pulumi.dev.yaml:6", "use aks, eks, or gke"),
    ),
    ("unknown driver", stack("25.8.1", "99.1.0"), PLAN, ("Pulumi.dev.yaml:13", "99.1.0", "known")),
    (
        "another region",
        stack("aws:region: us-east-1", "aws:region: eu-west-1"),
        PLAN,
        ("Pulumi.dev.yaml:2", "eu-west-1"),
    ),
    (
        "open endpoint",
        stack("    systemPool:", "    endpoint: {publicAccessCidrs: [0.0.0.0/0]}\n    systemPool:"),
        PLAN,
        ("Pulumi.dev.yaml:9", "opens the API server"),
    ),
    (
        "stack is not valid YAML",
        stack("config:", "config: ]"),
        PLAN,
        ("Pulumi.dev.yaml:1", "can't be read as YAML"),
    ),
    (
        "a NUL character in the stack",
        stack("cloud: eks", "cloud: \0eks"),
        PLAN,
        ("Pulumi.dev.yaml:6", "control characters"),
    ),
    (
        "a bell in the stack",
        stack("cloud: eks", "cloud: \aeks"),
        PLAN,
        ("Pulumi.dev.yaml:6", "control characters"),
    ),
    (
        "a stack in Latin-1",
        latin_1_stack,
        PLAN,
        ("Pulumi.dev.yaml:7", "isn't UTF-8", "save the file as UTF-8"),
    ),
    (
        "a stack in UTF-16",
        utf_16_stack,
        PLAN,
        ("Pulumi.dev.yaml", "is UTF-16", "save the file as UTF-8"),
    ),
    (
        "half a surrogate pair",
        stack("cloud: eks", 'cloud: "\\ud800"'),
        PLAN,
        ("Pulumi.dev.yaml:6", "Unicode"),
    ),
    (
        "half a pair in JSON",
        json_fleet('{"cloud": "\\ud800"}'),
        FLEET,
        ("fleet.json:1", "half of a surrogate pair"),
    ),
    (
        "broken JSON",
        json_fleet('{"cloud": eks,,}'),
        FLEET,
        ("fleet.json:1", "can't be read as YAML"),
    ),
    (
        "a duplicate key",
        stack("cloud: eks", "cloud: eks\n    cloud: gke"),
        PLAN,
        ("dev.yaml:7", '"cloud" appears twice'),
    ),
    (
        "a merge that overrides",
        stack("cloud: eks", "cloud: eks\n    <<: {cloud: gke}"),
        PLAN,
        ("dev.yaml:7", "move the merge key (<<) to the beginning of the mapping"),
    ),
    (
        "an unknown anchor",
        stack("cloud: eks", "cloud: *eks"),
        PLAN,
        ("dev.yaml:6", "define &eks before *eks"),
    ),
    (
        "a tag",
        stack("cloud: eks", "cloud: !cloud eks"),
        PLAN,
        ("dev.yaml:6", "put the whole value in quotes"),
    ),
    (
        "two documents",
        stack("config:", "config: {}\n---\nother:"),
        PLAN,
        ("dev.yaml:2", "must contain only one document"),
    ),
    (
        "a tab",
        stack("      machine: m7i", "\tmachine: m7i"),
        PLAN,
        ("dev.yaml:10", "indent"),
    ),
    (
        "no such stack",
        unchanged,
        ("plan", "--stack", "prod"),
        ('"prod"', "use stack dev"),
    ),
    (
        "no such fleet file",
        unchanged,
        ("plan", "workloads", "--fleet", "fleet.yaml"),
        ("fleet.yaml", "doesn't exist"),
    ),
    (
        "no such manifest",
        unchanged,
        ("plan", "wokloads", "--stack", "dev"),
        ("wokloads", "doesn't exist", "workloads"),
    ),
    (
        "an empty or new folder",
        empty_folder,
        ("plan", "empty", "--stack", "dev"),
        ("empty", ".json file"),
    ),
    (
        "a folder without manifests in the stack",
        stack("- workloads", "- nowhere"),
        PLAN,
        ("nowhere", "doesn't exist"),
    ),
    (
        "broken YAML",
        workload("kind: Pod\nmetadata: {name: [}\n"),
        PLAN,
        ("workloads/two-pods.yaml:2",),
    ),
    ("not UTF-8", latin_1, PLAN, ("workloads/two-pods.yaml:1", "UTF-8")),
    (
        "no Kubernetes object",
        workload("- just\n- a list\n"),
        PLAN,
        ("workloads/two-pods.yaml", "doesn't contain a manifest"),
    ),
    (
        "no saved plan",
        unchanged,
        (*PLAN, "--check"),
        ("stacks/dev.plan.json doesn't exist", "--write"),
    ),
    (
        "a plan edited by hand",
        edited_plan,
        (*PLAN, "--check"),
        ("stacks/dev.plan.json", "changed it by hand", "--write"),
    ),
    (
        "a broken plan",
        broken_plan,
        (*PLAN, "--check"),
        ("stacks/dev.plan.json:1", "isn't valid JSON", "--write"),
    ),
    (
        "a plan of a newer version",
        plan_of_tomorrow,
        (*PLAN, "--check"),
        ("stacks/dev.plan.json", "version 99", "version 1"),
    ),
    (
        "no pools at all",
        unchanged,
        ("plan", "workloads"),
        ("a plan needs pools", "this folder has these stacks: dev"),
    ),
    (
        "no stacks at all",
        no_stacks,
        ("plan", "workloads"),
        ("a plan needs pools", "creates a fleet"),
    ),
    (
        "a stack outside a project",
        no_stacks,
        (*PLAN,),
        ("doesn't exist", "run the command in the project folder, or pass --fleet FILE"),
    ),
    (
        "a version set twice",
        unchanged,
        (
            "explain",
            "--stack",
            "dev",
            "--pool",
            "l4",
            "--what-if",
            "kubernetes=1.36",
            "--kubernetes",
            "1.35",
        ),
        ("both --what-if and --kubernetes set the version", "remove --kubernetes"),
    ),
    ("no manifests", unchanged, ("check",), ("this command needs manifests", "pass a file")),
    (
        "--write without a stack",
        unchanged,
        ("plan", "workloads", "--write"),
        ("--write needs --stack",),
    ),
    (
        "--write of other manifests",
        unchanged,
        (*PLAN, "workloads", "--write"),
        ("so PATH isn't supported",),
    ),
    ("an unknown option", unchanged, (*PLAN, "--fast"), ("--fast", "--help")),
    ("an unknown subcommand", unchanged, ("plna",), ("plna", "pulumi-dra plan")),
    ("an unknown format", unchanged, (*PLAN, "--format", "xml"), ("xml", "json")),
    (
        "an old version",
        unchanged,
        (*PLAN, "--kubernetes", "1.20"),
        ("1.20", "use a version from 1.34 (the first with resource.k8s.io/v1) to"),
    ),
    (
        "no version",
        unchanged,
        (*PLAN, "--kubernetes", "new"),
        ('"new" isn\'t a Kubernetes version',),
    ),
    (
        "a folder for the fleet",
        unchanged,
        ("plan", "workloads", "--fleet", "stacks"),
        ("stacks", "is a folder"),
    ),
    (
        "a picture that is not SVG",
        unchanged,
        (*PLAN, "--picture", "pools.png"),
        ("pools.png", "ends in .svg"),
    ),
    (
        "an unknown rule",
        unchanged,
        ("check", "workloads", "--select", ""),
        ("--select is empty",),
    ),
    (
        "everything excluded",
        unchanged,
        ("check", "workloads", "--exclude", "*"),
        ("the exclusions match every file", "exclude"),
    ),
    (
        "a cloud without a table",
        unchanged,
        ("catalog", "machines", "--cloud", "azur"),
        ('"azur"', "eks"),
    ),
    (
        "init with a file as the folder",
        unchanged,
        ("init", "stacks/Pulumi.dev.yaml/gpus", "--region", "us-east-1"),
        ("because it's a file", "another folder"),
    ),
    (
        "init with an old version",
        unchanged,
        ("init", "gpus", "--region", "us-east-1", "--kubernetes", "1.20"),
        ("1.20", "use a version from 1.34 (the first with resource.k8s.io/v1) to"),
    ),
    (
        "unknown machine types",
        unchanged,
        ("init", "gpus", "--region", "us-east-1", "--machines", ","),
        ("--machines is empty",),
    ),
    (
        "machine types for an existing cluster",
        unchanged,
        ("init", "gpus", "--observed", "x", "--machines", "g6.xlarge"),
        ("--machines can't be combined with --observed", "remove --machines"),
    ),
    (
        "a region of another cloud",
        unchanged,
        ("suggest", "workloads", "--cloud", "gke", "--region", "us-east-1"),
        ('"us-east-1" isn\'t a region of GKE', "us-central1"),
    ),
    (
        "a sandbox without a project",
        unchanged,
        ("sandbox", "down", "--project", "workloads"),
        ("Pulumi.yaml isn't in", "use --project"),
    ),
    ("a sandbox without a subcommand", unchanged, ("sandbox",), ("pulumi-dra sandbox: ", "--help")),
]

# Those that end with status 2 and leave the format to the caller.
FAULTS = [
    case
    for case in CASES
    if case[0] not in {"no saved plan", "an unknown format"}
    and case[2][0] not in {"init", "suggest", "sandbox"}
]


@pytest.mark.parametrize(
    ("case", "prepare", "words", "expected"), CASES, ids=[case[0] for case in CASES]
)
def test_error_has_place_and_fix(
    case: str,
    prepare: Prepare,
    words: tuple[str, ...],
    expected: tuple[str, ...],
    project: Project,
) -> None:
    prepare(project)
    before = sorted(project.root.rglob("*"))
    done = project.run(*words)
    assert done.status == (1 if case == "no saved plan" else 2)
    assert all(part in done.err for part in expected), done.err
    assert "Traceback" not in done.err
    assert sorted(project.root.rglob("*")) == before


@pytest.mark.parametrize(
    ("case", "prepare", "words", "expected"), FAULTS, ids=[case[0] for case in FAULTS]
)
def test_error_is_printed_as_json(
    case: str,
    prepare: Prepare,
    words: tuple[str, ...],
    expected: tuple[str, ...],
    project: Project,
) -> None:
    prepare(project)
    done = project.run(*words, "--format", "json")
    assert done.status == 2
    assert done.err == ""
    answer = done.json
    assert answer["version"] == 1
    assert set(answer["error"]) == {"file", "line", "path", "message", "fix"}
    everything = " ".join(
        str(value) for fault in (answer["error"], *answer["others"]) for value in fault.values()
    )
    assert all(part.split(":")[0] in everything for part in expected), everything


def test_all_faults_of_a_fleet_are_reported_together(project: Project) -> None:
    project.stack("count: {min: 0, max: 4}", "count: {min: 5, max: 4}\n        colour: red")
    done = project.run(*PLAN)
    assert done.status == 2
    assert len(done.err.strip().splitlines()) == 2
    assert "colour" in done.err
    assert "minimum (5)" in done.err


def test_stale_plan_is_not_wrong_input(project: Project) -> None:
    assert project.run(*PLAN, "--write").status == 0
    current = project.run(*PLAN, "--check")
    assert (current.status, current.err) == (
        0,
        "stacks/dev.plan.json is current\n",
    )
    assert project.run(*PLAN, "--check", "--quiet").err == ""
    project.stack("max: 4", "max: 3")
    done = project.run(*PLAN, "--check")
    assert done.status == 1
    assert "is stale: the fleet has changed" in done.err
    assert "--write" in done.err


def test_closed_pipe_is_not_an_error(project: Project) -> None:
    read, write = os.pipe()
    os.close(read)
    done = project.run_apart(*PLAN, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_interrupt_prints_one_word(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    import dra_command.plan.run

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(dra_command.plan.run, "run", interrupted)
    done = project.run(*PLAN)
    assert (done.status, done.err) == (130, "interrupted\n")


def test_internal_error_prints_its_place_on_request(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dra_command.plan.run

    def faulty(*_: object) -> int:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(dra_command.plan.run, "run", faulty)
    done = project.run(*PLAN)
    assert done.status == 70
    assert (
        "internal error: ZeroDivisionError: division by zero "
        "(command_line/test_wrong_input.py:" in done.err
    )
    assert "; please report this error with the input that caused it\n" in done.err
    assert "Traceback" not in done.err
    again = project.run(*PLAN, "--verbose")
    assert again.status == 70
    assert "in faulty" in again.err


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (("plna", "--stack", "dev"), "did you mean `pulumi-dra plan`?"),
        (("plan", "--stak", "dev"), "did you mean `--stack`?"),
        (("plan", "--demmand=peak"), "did you mean `--demand`?"),
        (("check", "x.yaml", "--format", "sarf"), "did you mean `--format sarif`?"),
        (("catalog", "machine"), "did you mean `machines`?"),
        (("plan", "--zzz"), "see `pulumi-dra plan --help`"),
        (("zzz",), "see `pulumi-dra --help`"),
    ],
)
def test_likely_argument_is_suggested(
    words: tuple[str, ...], suggestion: str, project: Project
) -> None:
    done = project.run(*words)
    assert (done.status, done.out) == (2, "")
    assert done.err.endswith(f"{suggestion}\n")


def test_arguments_may_follow_options(project: Project) -> None:
    before, behind = ("h200", "--cloud", "eks"), ("--cloud", "eks", "h200")
    assert (
        project.run("catalog", "machines", *behind).out
        == project.run("catalog", "machines", *before).out
    )
    assert "p5en.48xlarge" in project.run("catalog", "machines", *behind).out
    split = ("check", "workloads/two-pods.yaml", "--format", "json", "missing.yaml")
    assert project.run(*split).json["error"]["file"] == "missing.yaml"
