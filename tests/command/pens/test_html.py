"""The HTML reports have readable colors, load and run nothing, show foreign names as text, and stay
small.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from command_project import Project
from test_formats import compare, copy_examples

from dra_command.pens.html.style import DARK, LIGHT, LINES_ON, TEXT_ON, page_style

REHEARSALS = Path(__file__).parents[2] / "planner" / "simulation" / "rehearsals"


def luminance(colour: str) -> float:
    """Return the relative luminance as defined by WCAG 2.2."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_follows_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_colors_have_sufficient_contrast(tokens: dict[str, str]) -> None:
    assert tokens.keys() == LIGHT.keys()
    for text, ground in TEXT_ON:
        assert contrast(tokens[text], tokens[ground]) >= 4.5, (text, ground)
    for line, ground in LINES_ON:
        assert contrast(tokens[line], tokens[ground]) >= 3, (line, ground)


def test_every_color_of_the_styles_is_a_token() -> None:
    style = page_style()
    assert set(re.findall(r"#[0-9a-f]{6}\b", style)) == {*LIGHT.values(), *DARK.values()}
    used = set(re.findall(r"var\(--([a-z0-9]+)\)", style))
    assert used <= LIGHT.keys()


@pytest.mark.parametrize("name", ["fits", "cannot-tell"])
def test_reports_match_the_golden_files(name: str, project: Project) -> None:
    if name == "fits":
        words = ["plan", "--stack", "dev"]
    else:
        case = yaml.safe_load(
            (REHEARSALS / "m1-small-then-whole-node.yaml").read_text(encoding="utf-8")
        )
        project.write("fleet.yaml", yaml.safe_dump(case["fleet"]))
        project.write("app.yaml", yaml.safe_dump_all(case["workloads"]))
        words = ["plan", "app.yaml", "--fleet", "fleet.yaml"]
    done = project.run(*words, "--format", "html")
    assert done.status == {"fits": 0, "cannot-tell": 3}[name]
    compare(f"plan-{name}.html", done.out)


def test_page_may_use_only_its_own_style(project: Project) -> None:
    page = project.run("plan", "--stack", "dev", "--format", "html").out
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert unescape(policy).split("; ")[:2] == [
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
    ]
    assert not re.search(
        r"<script|\son[a-z]+=|\sstyle=|https?://|url\((?!#)|@import|<link|<img|<iframe", page
    )


HOSTILE = [
    "<script src=x>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202egnp.exe",
    "a\x1b[31mred",
    "zero\u200bwidth",
    "{% set x = 7*7 %}",
    "x" * 10_000,
    "@everyone",
    "`code` |cell| [link](http://x)",
]


@pytest.mark.parametrize("form", ["html", "markdown", "text"])
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_are_shown_as_text(name: str, form: str, project: Project) -> None:
    quoted = json.dumps(name)
    project.write(
        "workloads/two-pods.yaml",
        f"""\
apiVersion: v1
kind: Pod
metadata: {{name: {quoted}, namespace: {quoted}, labels: {{app: {quoted}}}}}
spec:
  nodeSelector:
    ? {quoted}
    : {quoted}
  resourceClaims: [{{name: {quoted}, resourceClaimTemplateName: {quoted}}}]
  containers: [{{name: {quoted}, image: registry.example.com/hidden-image, env: [{{name: A, value: hidden-value}}]}}]
""",
    )
    done = project.run("plan", "workloads/two-pods.yaml", "--stack", "dev", "--format", form)
    assert (done.status, done.err) == (1, "")
    out = done.out
    assert not set(out) & {"\u202e", "\x1b", "\u200b"}
    assert "x" * 300 not in out
    assert "49" not in re.findall(r"\b49\b", out)
    assert "hidden-" not in out
    if form == "html":
        body = out[out.index("</style>") :]
        assert "<script" not in body
        assert "<img" not in body
    if form == "markdown":
        assert not re.search(r"(?<![`\\])<(script|img)", out)
        assert not re.search(r"@everyone", re.sub(r"`[^`]*`", "", out))


FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.34"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.8.1}}
pools:
"""
POOL = (
    "  - {{name: pool-{at}, machine: {machine}, count: {{min: 0, max: 40}}, zones: [us-east-1a]}}\n"
)
WORKLOAD = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: w{at}, namespace: team-{team}}}
spec:
  spec:
    devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: gpu.nvidia.com, count: {gpus}}}}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: w{at}, namespace: team-{team}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: w{at}}}}}
  template:
    metadata: {{labels: {{app: w{at}}}}}
    spec:
      nodeSelector: {{pulumi-dra/pool: pool-{pool}}}
      tolerations: [{{operator: Exists}}]
      resourceClaims: [{{name: gpu, resourceClaimTemplateName: w{at}}}]
      containers: [{{name: main, image: x, resources: {{claims: [{{name: gpu}}]}}}}]
"""


def test_report_of_many_workloads_and_pools_is_small(project: Project) -> None:
    """200 workloads on 20 pools: the report has at most half a megabyte, and most rows are
    collapsed.
    """
    machines = ["g6.12xlarge", "g6e.12xlarge", "p4d.24xlarge", "p5.48xlarge"] * 5
    pools = "".join(POOL.format(at=at, machine=machine) for at, machine in enumerate(machines))
    project.write("fleet.yaml", FLEET + pools)
    texts = (
        WORKLOAD.format(at=at, team=at % 9, gpus=1 + at % 4, replicas=1 + at % 3, pool=at % 20)
        for at in range(200)
    )
    project.write("many.yaml", "---\n".join(texts))
    words = ("plan", "many.yaml", "--fleet", "fleet.yaml", "--simulate", "off", "--format")
    page = project.run(*words, "html").out
    assert len(page.encode()) < 500_000
    assert "185 more workloads" in page
    comment = project.run(*words, "markdown").out
    assert len(comment) < 65_536
    text = project.run(*words[:-1]).out
    assert "… 185 more, " in text
    assert len(text.splitlines()) < 150


@pytest.mark.parametrize("form", ["html", "markdown"])
@pytest.mark.parametrize(
    "words",
    [("check", "workloads"), ("explain", "--stack", "dev", "--claim", "default/tesla-volta-gpu")],
    ids=["check", "explain"],
)
def test_other_commands_support_markdown_and_html(
    words: tuple[str, ...], form: str, project: Project
) -> None:
    copy_examples(project)
    done = project.run(*words, "--format", form)
    assert (done.status, done.err) == (1, "")
    compare(f"{words[0]}.{'md' if form == 'markdown' else form}", done.out)


def test_picture_is_a_self_contained_svg(project: Project) -> None:
    done = project.run("plan", "--stack", "dev", "--picture", "pools.svg")
    assert "wrote pools.svg" in done.err
    text = (project.root / "pools.svg").read_text(encoding="utf-8")
    compare("pools.svg", text)
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    used = [
        each for each in root.iter("{http://www.w3.org/2000/svg}rect") if each.get("class") == "f1"
    ]
    assert len(used) >= 2
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|<script|url\((?!#hatch)", text)


def test_message_is_explained_only_in_text_and_json(project: Project) -> None:
    done = project.run("explain", "--message", "anything", "--format", "html")
    assert done.status == 2
    assert "--message doesn't support --format html" in done.err
