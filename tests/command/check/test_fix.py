"""`check --fix`: files are repaired if no decision is needed, the repairs are listed, and the files
are checked again.
"""

from __future__ import annotations

import pytest
import yaml
from command_project import EXAMPLES, Project

REQUEST = """\
        - name: gpu   # the only one
          deviceClassName: gpu.nvidia.com
          selectors:
            - cel:
                expression: device.capacity["gpu.nvidia.com"].memory >= quantity("20Gi")
"""
EXACTLY = """\
        - name: gpu   # the only one
          exactly:
            deviceClassName: gpu.nvidia.com
            selectors:
              - cel:
                  expression: device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("20Gi")) >= 0
"""
OLD = f"""\
# what the pod takes
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaimTemplate
metadata: {{name: one}}
spec:
  spec:
    devices:
      requests:
{REQUEST}---
apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
  resourceClaims: [{{name: gpu, resourceClaimTemplateName: one}}]
  containers:
    - name: main
      image: registry.example/cuda:1
      resources:
        requests: {{memory: 4GB}}   # enough
        claims: [{{name: gpu}}]
"""
TOLERATION = """\
  tolerations:
    - key: nvidia.com/gpu
      operator: Equal
      value: present
      effect: NoSchedule
"""
NOW = (
    OLD.replace("k8s.io/v1beta1", "k8s.io/v1").replace(REQUEST, EXACTLY).replace("4GB", "4G")
    + TOLERATION
)


@pytest.fixture
def old(project: Project) -> Project:
    """A project with one file that has a fault of every kind that can be repaired."""
    (project.root / "workloads" / "two-pods.yaml").unlink()
    project.write("workloads/old.yaml", OLD)
    return project


def text_of(project: Project, path: str = "workloads/old.yaml") -> str:
    return (project.root / path).read_text(encoding="utf-8")


def test_every_kind_of_fix_preserves_comments_and_formatting(old: Project) -> None:
    assert old.run("check", "--stack", "dev").status == 1

    done = old.run("check", "--stack", "dev", "--fix")

    assert text_of(old) == NOW
    assert done.status == 0
    for change in (
        'workloads/old.yaml:13: `device.capacity["gpu.nvidia.com"].memory >= quantity("20Gi")` →',
        "workloads/old.yaml:24: memory: 4GB → 4G\n",
        (
            "workloads/old.yaml:2: ResourceClaimTemplate one: resource.k8s.io/v1beta1 → "
            "resource.k8s.io/v1\n"
        ),
        (
            'tolerations: {key: nvidia.com/gpu, operator: Equal, value: "present", effect: '
            "NoSchedule}\n"
        ),
        "1 file changed\n",
        "No findings",
    ):
        assert change in done.out


def test_second_fix_changes_nothing(old: Project) -> None:
    old.run("check", "--stack", "dev", "--fix")

    again = old.run("check", "--stack", "dev", "--fix")

    assert text_of(old) == NOW
    assert "changed" not in again.out


def test_toleration_is_not_added_without_pools(old: Project) -> None:
    old.run("check", "workloads", "--fix")

    assert text_of(old) == NOW.partition("  tolerations:")[0]


def test_unfixable_findings_are_reported(old: Project) -> None:
    other = OLD.replace("one", "two").replace("name: p}", "name: q}").replace("image", "imag")
    old.write("workloads/other.yaml", other)

    done = old.run("check", "workloads", "--fix", "--format", "json")

    assert done.status == 1
    assert {each["file"] for each in done.json["diagnostics"]} == {"workloads/other.yaml"}
    assert "workloads/old.yaml:24: memory: 4GB → 4G" in done.err
    assert yaml.safe_load_all(text_of(old, "workloads/other.yaml"))


def test_toleration_that_does_not_help_is_reverted(old: Project) -> None:
    """The finding's fix contains more than the toleration, so it needs a decision."""
    text = NOW.partition("  tolerations:")[0].replace('quantity("20Gi")', 'quantity("900Gi")')
    old.write("workloads/old.yaml", text)

    old.run("check", "--stack", "dev", "--fix")

    assert text_of(old) == text


def test_each_pod_of_a_file_is_fixed_or_reported(old: Project) -> None:
    fits = NOW.partition("  tolerations:")[0]
    larger = fits.replace('quantity("20Gi")', 'quantity("900Gi")')
    larger = larger.replace("one", "two").replace("name: p}", "name: q}")
    old.write("workloads/old.yaml", f"{larger}---\n{fits}")

    done = old.run("check", "--stack", "dev", "--fix")

    assert text_of(old) == f"{larger}---\n{NOW}"
    assert done.status == 1


def test_fixes_independent_of_a_fault_are_written(old: Project) -> None:
    old.write(
        "workloads/old.yaml",
        OLD.replace("          deviceC", "          bogus: 1\n          deviceC"),
    )

    done = old.run("check", "workloads", "--fix")

    assert "apiVersion: resource.k8s.io/v1\n" in text_of(old)
    assert EXACTLY.partition("exactly:")[2] in text_of(old)
    assert 'unknown field "spec.spec.devices.requests[0].bogus"' in " ".join(done.out.split())
    assert done.status == 1


@pytest.mark.parametrize(
    ("was", "now", "reason"),
    [
        ("4GB", "4Gb", "memory: 4Gb is ambiguous; use 4G or 4Gi"),
        ("4GB", "&m 4GB", "memory: 4GB → 4G: uses YAML anchors"),
        ("memory: 4GB", "&a memory: 4Gi", "tolerations: {key: nvidia.com/gpu"),
        ("v1beta1\n", "v1beta1 # {}\napiVersion: v1\n", "ResourceClaimTemplate one: "),
    ],
)
def test_fix_that_is_not_written_has_a_reason(
    old: Project, was: str, now: str, reason: str
) -> None:
    old.write("workloads/old.yaml", OLD.replace(was, now))

    done = old.run("check", "--stack", "dev", "--fix")

    lines = [each for each in done.out.splitlines() if each.startswith("not fixed: workloads/old")]
    assert any(reason in each for each in lines), done.out


def test_other_files_are_unchanged(old: Project) -> None:
    chart = OLD.replace("name: one", "name: {{ .Values.name }}")
    old.write("workloads/chart/Chart.yaml", "name: c\nversion: 1.0.0\napiVersion: v2\n")
    old.write("workloads/chart/templates/a.yaml", chart)
    old.write("workloads/page.md", f"```yaml\n{OLD}```\n")

    old.run("check", "workloads", "workloads/page.md", "--fix")

    assert text_of(old, "workloads/chart/templates/a.yaml") == chart
    assert text_of(old, "workloads/page.md") == f"```yaml\n{OLD}```\n"


def test_valid_examples_are_unchanged(project: Project) -> None:
    texts = {
        path.name: path.read_text(encoding="utf-8")
        for path in (EXAMPLES / "workloads").glob("*.yaml")
    }
    for name, text in texts.items():
        project.write(f"workloads/{name}", text)

    done = project.run("check", "workloads", "--fix")

    assert "changed" not in done.out
    assert {name: text_of(project, f"workloads/{name}") for name in texts} == texts


def test_file_modes_and_links_are_preserved(old: Project) -> None:
    file = old.root / "workloads" / "old.yaml"
    file.chmod(0o640)
    (old.root / "link.yaml").symlink_to(file)

    old.run("check", "link.yaml", "--fix")

    assert (old.root / "link.yaml").is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert "resource.k8s.io/v1\n" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("-",),
            (
                "--fix can't change standard input; to print the changed manifests, use "
                "`pulumi-dra check --rewrite -`"
            ),
        ),
        (("workloads", "--rewrite"), "--rewrite and --fix can't be combined"),
        (("workloads", "--write-baseline", "a.json"), "can't be combined; use only one of them"),
        (("gone.yaml",), "gone.yaml doesn't exist"),
        ((), "this command needs manifests"),
    ],
)
def test_wrong_input_is_rejected(old: Project, words: tuple[str, ...], message: str) -> None:
    done = old.run("check", *words, "--fix", stdin=OLD)

    assert done.status == 2
    assert message in done.err
    assert text_of(old) == OLD
