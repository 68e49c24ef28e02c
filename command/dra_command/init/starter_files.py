"""Files that `init` writes along with a fleet: a sample workload, and checks for continuous
integration.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Final

from msgspec import Struct

from dra_command.command_line.installation import installed_from
from dra_command.init.install_source import requirement_of
from dra_command.init.repository import repository_root

WORKLOADS: Final = "workloads"
FIRST_CLAIM_FILE: Final = f"{WORKLOADS}/first-claim.yaml"

FIRST_CLAIM: Final = """\
# One pod with its own GPU. Kubernetes creates a claim for each pod from the template,
# and the toleration lets the pod run on GPU nodes.
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: one-gpu
spec:
  spec:
    devices:
      requests:
        - name: gpu
          exactly:
            deviceClassName: gpu.nvidia.com
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: first-claim
spec:
  replicas: 1
  selector:
    matchLabels: {app: first-claim}
  template:
    metadata:
      labels: {app: first-claim}
    spec:
      containers:
        - name: main
          image: ubuntu:24.04
          command: [sh, -c, nvidia-smi -L && sleep infinity]
          resources:
            requests: {cpu: "1", memory: 4Gi}
            claims:
              - name: gpu
      resourceClaims:
        - name: gpu
          resourceClaimTemplateName: one-gpu
      tolerations:
        - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
"""

_GITHUB = """\
# Fails if claims don't fit the planned pools, or if manifests break a rule. Updates one comment on the pull request.
name: {name}
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
  pull-requests: write # for the comment
{permissions}defaults:
  run:
    working-directory: {folder}
jobs:
  plan:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
{history}      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - uses: actions/cache@v4
        with:
          path: |
            ~/.cache/pip
            ~/.cache/pulumi-dra/shared
          key: pulumi-dra-${{{{ runner.os }}}}-${{{{ hashFiles('{path}') }}}}
      - run: pip install {install}
      - run: pulumi-dra ci {arguments}
        env:
          GITHUB_TOKEN: ${{{{ github.token }}}}
{upload}"""

_GITLAB = """\
# Fails if claims don't fit the planned pools, or if manifests break a rule. If GITLAB_TOKEN
# contains a token with the api scope, updates one comment on the merge request.
# In .gitlab-ci.yml: include: [{{local: {name}.gitlab-ci.yml}}]
{name}:
  image: python:3.12
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  variables:
{history}    PIP_CACHE_DIR: $CI_PROJECT_DIR/.cache/pip
  cache:
    key: pulumi-dra
    paths: [.cache/pip]
  script:
    - cd {folder}
    - pip install {install}
    - pulumi-dra ci {arguments} --junit pulumi-dra.xml --code-quality pulumi-dra.json
  artifacts:
    when: always
    reports:
      junit: {folder}/pulumi-dra.xml
      codequality: {folder}/pulumi-dra.json
"""

_CI: Final = {
    "github": (".github/workflows/{name}.yml", _GITHUB),
    "gitlab": ("{name}.gitlab-ci.yml", _GITLAB),
}
_HISTORY: Final = {
    "github": "        with:\n          fetch-depth: 0 # fetch all branches, because --diff "
    "compares with another branch\n",
    "gitlab": '    GIT_DEPTH: "0" # fetch all branches, because --diff compares with another '
    "branch\n",
}
_SARIF: Final = "pulumi-dra.sarif"
_UPLOAD: Final = """\
      - uses: github/codeql-action/upload-sarif@v3
        if: always()
        with:
          sarif_file: {file}
"""

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9]+")
CI_NAMES: Final = {"github": "GitHub", "gitlab": "GitLab"}


class CheckedFiles(Struct, frozen=True, kw_only=True):
    """The target of a CI workflow's checks: manifests with the pools that an option names, or a
    stack with its saved plan. `baseline` and `diff` limit the findings, and `sarif` uploads them.
    """

    workloads: str = ""
    fleet: str = ""
    stack: str = ""
    baseline: str = ""
    diff: str = ""
    sarif: bool = False

    @property
    def arguments(self) -> str:
        """The arguments of `ci`."""
        capacity = (
            f"--stack {shlex.quote(self.stack)}"
            if self.stack
            else f"{self.workloads} --fleet {self.fleet}"
        )
        options = {"--baseline": self.baseline, "--diff": self.diff}
        options["--sarif"] = _SARIF if self.sarif else ""
        words = [word for name, value in options.items() if value for word in (name, value)]
        return f"{capacity} {shlex.join(words)}".rstrip()


def ci_files(kind: str, checked: CheckedFiles, folder: Path, install: str = "") -> dict[str, str]:
    """Return the file that runs the checks for each change, by its path from `folder`; empty for
    "none".

    `install` is the requirement that pip installs in CI. The default is the source of this
    installation. CI systems read their files from the root of the repository, which can be a parent
    of the folder.
    """
    if kind == "none":
        return {}
    path, text = _CI[kind]
    root = repository_root(folder)
    below = os.path.relpath(folder.resolve(), root)
    own = _NOT_IN_A_NAME.sub("-", below).strip("-")  # prevents two folders from sharing a workflow
    stacks = checked.stack.replace(",", "-")
    run = "-".join(filter(None, (own, stacks)))
    name = f"pulumi-dra-{run}" if run else "pulumi-dra"
    # without a name, the workflows of two folders or stacks would overwrite each other's comment
    arguments = f"{checked.arguments} --name {run}" if run else checked.arguments
    filled = text.format(
        name=name,
        folder=shlex.quote(below),
        install=shlex.quote(requirement_of(install, folder) if install else installed_from()),
        arguments=arguments,
        path=path.format(name=name),
        history=_HISTORY[kind] if checked.diff else "",
        permissions="  security-events: write # for code scanning\n" if checked.sarif else "",
        upload=_UPLOAD.format(file=os.path.normpath(os.path.join(below, _SARIF)))
        if checked.sarif
        else "",
    )
    return {os.path.relpath(root / path.format(name=name), folder.resolve()): filled}
