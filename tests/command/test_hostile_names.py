"""Names and values from untrusted files: wherever the command prints them, they can't run code,
hide text, or fill the screen.
"""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
import yaml
from command_project import Done, Project

HOSTILE = {
    "markup": "<script>alert(1)</script>",
    "an attribute": '"><img src=x onerror=alert(1)>',
    "right-to-left text": "\u202egnp.exe\u2066",
    "a terminal color sequence": "a\x1b[31mred\x07",
    "zero-width characters": "zero\u200bwidth\ufeff",
    "a template": "{{ 1234*4321 }}",
    "ten thousand letters": "x" * 10_000,
    "a mention": "@everyone",
    "markdown": "`code` |cell| [link](http://evil.example)",
    "a workflow command": "::set-output name=a::b\n::error::c",
    "half a surrogate pair": "\ud83d",
}
SECRET = (
    "hidden-image",
    "hidden-value",
    "hidden-argument",
    "hidden-annotation",
    "hidden-config",
    "hidden-parameter",
)
FORMATS = {
    "plan": ("text", "markdown", "html", "json"),
    "check": ("text", "markdown", "html", "json", "sarif", "junit", "github"),
    "explain": ("text", "markdown", "html", "json"),
}
FOR_PEOPLE = ("text", "markdown", "html", "github")


def claim_template(name: str) -> dict[str, object]:
    text = json.dumps(name)
    selector = f'device.attributes["gpu.nvidia.com"].productName == {text}'
    config = {
        "driver": "other.example.com",
        "parameters": {"apiVersion": "v1", "kind": "A", "a": "hidden-parameter"},
    }
    requests = [
        {
            "name": "gpu",
            "exactly": {
                "deviceClassName": "gpu.nvidia.com",
                "selectors": [{"cel": {"expression": selector}}],
            },
        }
    ]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {
            "name": "one",
            "labels": {"a": name},
            "annotations": {"a": f"hidden-annotation {name}"},
        },
        "spec": {"spec": {"devices": {"requests": requests, "config": [{"opaque": config}]}}},
    }


def pod(name: str) -> dict[str, object]:
    container = {
        "name": name,
        "image": "registry.example.com/hidden-image",
        "env": [{"name": "A", "value": "hidden-value"}],
        "args": ["hidden-argument"],
        "resources": {"claims": [{"name": "gpu"}], "limits": {"cpu": name}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "p",
            "labels": {"app": name},
            "annotations": {name: "hidden-annotation"},
        },
        "spec": {
            "nodeSelector": {name: name},
            "tolerations": [{"key": name, "value": name, "operator": name}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}],
            "containers": [container],
        },
    }


def others(name: str) -> list[dict[str, object]]:
    """Return an object of an unknown kind, and one that fits no schema."""
    return [
        {
            "apiVersion": name,
            "kind": name,
            "metadata": {"name": name, "namespace": name},
            "spec": {"replicas": name},
        },
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name},
            "data": {"a": "hidden-config"},
            name: 1,
        },
    ]


def text_of(documents: list[dict[str, object]]) -> str:
    return "---\n".join(json.dumps(document) + "\n" for document in documents)


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("command", FORMATS)
def test_hostile_names_are_escaped(name: str, command: str, project: Project) -> None:
    project.write("workloads/m.yaml", text_of([claim_template(name), pod(name), *others(name)]))
    for form in FORMATS[command]:
        words = ["--claim", "default/p-gpu"] if command == "explain" else []
        done = project.run(command, "--stack", "dev", *words, "--format", form)
        assert done.status in (0, 1, 2, 3), (form, done.err)
        look_at(done, form)


def look_at(done: Done, form: str) -> None:
    printed = done.out + done.err
    assert "Traceback" not in printed
    assert not [word for word in SECRET if word in printed], form
    if form in FOR_PEOPLE:
        assert not set(printed) & set("\u202e\u2066\x1b\x07\u200b\ufeff\ud83d"), form
        assert "x" * 300 not in printed, form
    assert not set(done.err) & set("\u202e\u2066\x1b\x07\u200b\ufeff\ud83d"), form
    if form == "html" and done.out:
        body = done.out[done.out.index("</style>") :]
        assert "<script" not in body
        assert "<img" not in body
        assert str(1234 * 4321) not in body
    if form == "markdown":
        spans = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", printed, flags=re.DOTALL)
        assert not re.search(r"(?<!\\)<(script|img)", spans)
        assert "@everyone" not in spans
        assert not re.search(r"(?<!\\)\]\(http", spans)
    if form == "github":
        commands = [line for line in done.out.splitlines() if line.startswith("::")]
        assert not [line for line in commands if line.startswith(("::set-output", "::error::c"))]
    if form == "junit" and done.out:
        ElementTree.fromstring(done.out)
    if form in ("json", "sarif") and done.out:
        done.out.encode("utf-8")
        json.loads(done.out)


@pytest.mark.parametrize(
    "name", [name for key, name in HOSTILE.items() if key != "half a surrogate pair"]
)
def test_command_line_arguments_are_escaped(name: str, project: Project) -> None:
    project.write("m.yaml", text_of([pod("a")]))
    for words in (
        ("explain", "m.yaml", "--stack", "dev", "--claim", f"default/{name}"),
        ("explain", "m.yaml", "--stack", "dev", "--claim", "default/p-gpu", "--pool", name),
        (
            "explain",
            "m.yaml",
            "--stack",
            "dev",
            "--claim",
            "default/p-gpu",
            "--what-if",
            f"{name}=1",
        ),
        ("explain", "--message", f"0/1 nodes are available: {name}"),
        ("plan", name.replace("/", "")[:200], "--stack", "dev"),
        ("plan", "m.yaml", "--stack", name.replace("/", "")[:200]),
        ("plan", "m.yaml", "--stack", "dev", "--kubernetes", name),
        ("check", "m.yaml", "--select", name),
        (name,),
    ):
        done = project.run(*words)
        printed = done.out + done.err
        assert done.status == 2 or words[1] == "--message", (words[0], done)
        assert not set(printed) & set("\u202e\u2066\x1b\x07\u200b\ufeff"), words
        assert "x" * 300 not in printed, words


@pytest.mark.parametrize("name", ["a\x1b[31m.yaml", "\u202egnp.yaml", "<img>.yaml", "a\nb.yaml"])
def test_file_names_are_escaped(name: str, project: Project) -> None:
    project.write(
        f"w/{name}", yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}})
    )
    for form in FORMATS["check"]:
        done = project.run("check", "w", "--format", form)
        assert done.status == 1
        look_at(done, form)


# One name that contains all of them, so any effect of them would be visible in any place.
EVERYTHING = " ".join(
    name
    for key, name in HOSTILE.items()
    if key not in ("ten thousand letters", "half a surrogate pair")
)
STRANGE = {"everything": EVERYTHING, "ten thousand letters": HOSTILE["ten thousand letters"]}


def cluster(name: str) -> list[dict[str, object]]:
    """Return a snapshot whose nodes, slices, and devices have this name."""
    labels = {"pulumi-dra/pool": "l4", "node.kubernetes.io/instance-type": "g6.2xlarge", name: name}
    status = {"allocatable": {"cpu": name, "memory": "8Gi"}, "nodeInfo": {"kubeletVersion": name}}
    metadata = {"name": name, "labels": labels | {"topology.kubernetes.io/region": "us-east-1"}}
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    device = {"name": name, "attributes": {"productName": {"string": name}}}
    spec = {"driver": "gpu.nvidia.com", "nodeName": name, "pool": pool, "devices": [device]}
    return [
        {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status},
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": name},
            "spec": spec,
        },
    ]


@pytest.mark.parametrize("name", STRANGE.values(), ids=STRANGE)
def test_other_commands_escape_names(name: str, project: Project) -> None:
    project.write("w/m.yaml", text_of([claim_template(name), pod(name), *others(name)]))
    project.write("cluster.yaml", text_of(cluster(name)))
    stacks = [{"stack": "stacks/Pulumi.dev.yaml", "workloads": ["w"], "labels": {"a": name}}]
    project.write(
        "stacks.yaml",
        json.dumps({"stacks": stacks, "scenarios": [{"name": name[:99], "replicas": 2}]}),
    )
    project.write("Pulumi.yaml", "{name: p, runtime: python}")
    commands = [
        ("suggest", "w", "--region", "us-east-1", "--machines", "g6.2xlarge", "-q"),
        ("suggest", "w", "--region", name),
        ("verify", "--observed", "cluster.yaml", "--stack", "dev"),
        ("plan", "w", "--observed", "cluster.yaml"),
        ("init", "new", "--observed", "cluster.yaml"),
        ("init", "new", "--region", "us-east-1", "--workloads", "w", "--ci", name),
        ("portfolio", "stacks.yaml", "--format", "html"),
        ("portfolio", "stacks.yaml", "--cell", name),
        ("slices", "--stack", "dev", "--pool", name),
        ("rehearse", "w", "--stack", "dev", "--scenario", name),
        ("rehearse", "w", "--stack", "dev", "--order", name),
        ("sandbox", "up", "--stack", name),
        ("sandbox", "tools", "--kubernetes", name),
    ]
    for words in commands:
        done = project.run(*words)
        assert done.status in (0, 1, 2, 3), (words[0], done.err)
        look_at(done, "html" if "html" in words else "text")
