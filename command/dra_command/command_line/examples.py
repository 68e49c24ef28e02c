"""Examples that `--help` shows for each subcommand; tests run them all.

What an example is for stands above it, so that the line can be pasted; what is wider than a terminal is continued as
shells continue it.
"""

from __future__ import annotations

from dra_planner.documents.snapshot import SNAPSHOT_KINDS

EXIT_STATUS = """\
exit status:
  0  everything fits            1  something does not fit, or a rule is broken
  2  the input is wrong         3  cannot tell (--allow-unknown makes it 0)
"""
_LISTED = """\
exit status:
  0  there are such rows        1  no row holds every word
  2  the input is wrong
"""
_WRITTEN = """\
exit status:
  0  it is written              2  the input is wrong
"""
_VERIFIED = """\
exit status:
  0  the nodes are as predicted 1  something differs
  2  the input is wrong         3  no node could be compared (--allow-unknown
                                   makes it 0)
"""
_TESTED = """\
exit status:
  0  every case is as expected  1  a case isn't as expected
  2  the input is wrong
"""
_SUGGESTED = """\
exit status:
  0  a fleet was found          1  something fits none of the machines
  2  the input is wrong         3  cannot tell
"""
_SERVED = """\
exit status:
  0  the client has closed it   2  the input is wrong
"""
_MIGRATED = """\
exit status:
  0  every workload can migrate 1  some pod template can't migrate
  2  the input is wrong
"""


def _snapshot(width: int = 76) -> str:
    """Return the command that takes a snapshot: its list of kinds is one word, of which no piece is indented."""
    first, *others = SNAPSHOT_KINDS
    lines = [f"    kubectl get {first}"]
    for kind in others:
        if len(lines[-1]) + len(kind) + 2 > width:
            lines[-1] += ","
            lines.append(kind)
        else:
            lines[-1] += f",{kind}"
    return "\\\n".join(lines) + " \\\n      -A -o json > cluster.json"


_SNAPSHOT = _snapshot()

_PLAN_EXAMPLES = f"""\
examples:
  the stack's own workloads on its own pools
    pulumi-dra plan --stack eks-dev
  keep the plan for `pulumi up`; in CI: is the saved plan still right?
    pulumi-dra plan --stack eks-dev --write
    pulumi-dra plan --stack eks-dev --check
  what needs fewer nodes
    pulumi-dra plan examples/workloads/ --fleet fleet.yaml \\
      --constraints fix.yaml
  what a chart renders: `plan chart/ -f prod.yaml`, or
    helm template chart/ | pulumi-dra plan - --fleet fleet.yaml
  on a running cluster
    pulumi-dra plan examples/workloads/ --context gpu-dev
  a table of verdicts
    pulumi-dra plan --stack eks-dev \\
      --matrix kubernetes=1.34,1.36 driver=25.8.1,0.4.1
  on the nodes that exist, sizing nothing; then: how many nodes more
{_SNAPSHOT}
    pulumi-dra plan examples/workloads/ --observed cluster.json
    pulumi-dra plan examples/workloads/ --fleet fleet.yaml \\
      --observed cluster.json
"""

_CHECK_EXAMPLES = """\
examples:
  rules that need no fleet
    pulumi-dra check examples/workloads/
  rules that need one
    kustomize build overlays/prod | pulumi-dra check - --stack eks-dev
  for code scanning
    pulumi-dra check examples/workloads/ --format sarif > findings.sarif
  what a change brings, and nothing else
    pulumi-dra check examples/workloads/ --diff main
  repair what needs no decision, print the rest
    pulumi-dra check examples/workloads/ --stack eks-dev --fix
  what breaks with another NVIDIA DRA driver, or with one of its feature gates
    pulumi-dra check --stack eks-dev --driver-upgrade 25.8.1 0.4.1
    pulumi-dra check --driver-upgrade 0.4.1 0.4.1+DynamicMIG
  manifests and commands in pages and scripts
    pulumi-dra check README.md docs/security.md
  older DRA objects in the form of v1: printed, or written to their files
    pulumi-dra check examples/workloads/ --rewrite
    pulumi-dra check examples/workloads/ --rewrite --in-place
"""


_RULES_EXAMPLES = """\
examples:
  run the test cases of rules; without a path, those of pulumi-dra.yaml
    pulumi-dra rules test examples/rules/
  print the fields that rules can read, with their values
    pulumi-dra rules objects examples/workloads/ --stack eks-dev

A rule is a CEL expression (docs/reference/custom-rules.md):
  rules:
    no-spot:
      for: pool                     # plan, pool, workload, or claim
      expression: pool.capacity != "spot"
      message: Spot capacity isn't allowed
      tests:
        - {name: spot, given: {pool: {capacity: spot}}, expect: fail}
"""

_EXPLAIN_EXAMPLES = """\
examples:
  why a claim fits or not, condition by condition
    pulumi-dra explain examples/workloads/ --stack eks-dev \\
      --claim default/first-gpu
    pulumi-dra explain --stack eks-dev --claim default/first-gpu \\
      --pool h100 --format json
  and with a value of the fleet changed
    pulumi-dra explain --stack eks-dev --claim default/first-gpu \\
      --what-if pools.l4.count.max=8
  a pod among all others: who holds what it requests
    pulumi-dra explain --stack eks-dev --pod default/first
  who runs on a pool, who could, who cannot and why
    pulumi-dra explain --stack eks-dev --pool h100
  what a message of the scheduler means
    pulumi-dra explain \\
      --message "0/12 nodes are available: 12 cannot allocate all claims."

A generated claim is named POD-ENTRY, a pod of a workload WORKLOAD-INDEX (the
index may be left out).
"""

_SLICES_EXAMPLES = """\
examples:
  what a machine publishes
    pulumi-dra slices --machine p5.48xlarge --driver 25.8.1 --kubernetes 1.34
    pulumi-dra slices --machine p5.48xlarge --driver 25.8.1 \\
      --compute-domains --network
  cut by MIG; would an API server take it?
    pulumi-dra slices --machine p4d.24xlarge --driver 25.8.1 \\
      --mig all-1g.5gb | kubectl apply --dry-run=server -f -
  with feature gates of the driver
    pulumi-dra slices --machine p5.48xlarge --driver 0.4.1 \\
      --kubernetes 1.36 --gate DynamicMIG=true
    pulumi-dra slices --machine g6.2xlarge --driver 0.5.0 \\
      --kubernetes 1.36 --gate ConsumableShares --consumable-shares 4
  what the nodes of a pool will publish
    pulumi-dra slices --stack eks-dev --pool h100
  Nodes and DeviceClasses too, for a scheduler simulator
    pulumi-dra slices --stack eks-dev --nodes

What another release of the driver breaks: see `pulumi-dra check --help`.
"""

_CATALOG_EXAMPLES = """\
examples:
  machines whose row holds the word
    pulumi-dra catalog machines h100
    pulumi-dra catalog machines h100 --region us-east-1
  layouts of MIG, as JSON
    pulumi-dra catalog mig a100 --format json
  learn a machine type or driver from running nodes
    pulumi-dra catalog add --from cluster.json --fleet fleet.yaml
"""

_VERIFY_EXAMPLES = f"""\
examples:
  a snapshot that you take
{_SNAPSHOT}
    pulumi-dra verify --observed cluster.json --stack eks-dev
  a snapshot that it takes itself
    pulumi-dra verify --kubeconfig ~/.kube/config --context gpu-dev \\
      --stack eks-dev
"""

_SANDBOX_EXAMPLES = """\
examples:
  what `up` would do, on simulated clouds
    pulumi-dra sandbox plan --stack eks-dev
  bring it up and keep it; again after a change
    pulumi-dra sandbox up --stack eks-dev
  and with a real API server and scheduler for kubectl
    pulumi-dra sandbox up --stack eks-dev --control-plane
  and with releases from charts of one's own
    pulumi-dra sandbox up --stack eks-dev --control-plane --charts charts/
  what is up, and its KUBECONFIG
    pulumi-dra sandbox status
  take it down; nothing is left behind
    pulumi-dra sandbox down
  plan, build, judge and destroy, every step checked
    pulumi-dra sandbox demo --stack eks-dev
  find or build what the sandbox needs
    pulumi-dra sandbox tools
  the options of one of them
    pulumi-dra sandbox up --help
"""

_REHEARSE_EXAMPLES = """\
examples:
  the stack's workloads on the real scheduler of its release
    pulumi-dra rehearse --stack eks-dev
  another release, another order of arrival
    pulumi-dra rehearse jobs/ --fleet fleet.yaml --kubernetes 1.36 \\
      --order random:7
  one pod after the other, as a page
    pulumi-dra rehearse --stack eks-dev --one-by-one --format html \\
      > rehearsal.html

Nodes and slices are as predicted, no container runs. The control plane is
built on first use, which takes minutes.
"""

_SUGGEST_EXAMPLES = """\
examples:
  the cheapest machines for these workloads
    pulumi-dra suggest examples/workloads/ --region us-east-1 > fleet.yaml
  none dearer than that per hour, or these alone
    pulumi-dra suggest examples/workloads/ --region us-central1 \\
      --max-price 12.50
    pulumi-dra suggest examples/workloads/ --region us-east-1 \\
      --machines g6e.12xlarge,p5.48xlarge
"""

_INIT_EXAMPLES = """\
examples:
  the cheapest machines for a first claim, or for your workloads
    pulumi-dra init gpus --region us-east-1
    pulumi-dra init gpus --region us-central1 --workloads examples/workloads
  the GPU nodes of a running cluster, from a snapshot
    pulumi-dra init gpus --observed cluster.json
  from a stack: `pulumi stack export --file state.json`
    pulumi-dra init gpus --state state.json --ci gitlab
  from Terraform: `terraform show -json > plan.json`
    pulumi-dra init gpus --from plan.json
  a Pulumi project with a stack, its plan, and the policy pack
    pulumi-dra init gpus --stack prod --region us-east-1
    pulumi-dra init gpus --stack prod --fleet fleet.yaml
"""

_EXPORT_EXAMPLES = """\
examples:
  NodePools and EC2NodeClasses, with the nodes of the saved plan
    pulumi-dra export --to karpenter --stack eks-dev
  variables of the Terraform module for the cloud
    pulumi-dra export --to terraform --fleet fleet.yaml \\
      > gpus.auto.tfvars.json
  MachinePools of Cluster API
    pulumi-dra export --to cluster-api --stack eks-dev --cluster ml
"""

_CI_EXAMPLES = """\
examples:
  every stack of a repository
    pulumi-dra ci --stack eks-dev,gke-dev --comment none
  only findings that the change adds, as SARIF too
    pulumi-dra ci --stack eks-dev --diff origin/main --sarif findings.sarif

In GitHub Actions, set GITHUB_TOKEN (pull-requests: write) for the comment. In
GitLab CI, set GITLAB_TOKEN (scope api).
"""

_PORTFOLIO_EXAMPLES = """\
examples:
  every stack in every scenario
    pulumi-dra portfolio examples/portfolio/portfolio.yaml
    pulumi-dra portfolio examples/portfolio/portfolio.yaml \\
      --format html > portfolio.html
  one of its plans, whole
    pulumi-dra portfolio examples/portfolio/portfolio.yaml \\
      --cell eks-dev/growth-2
  a share of its stacks, and how long all would take
    pulumi-dra portfolio examples/portfolio/portfolio.yaml --sample 10%

Answers are kept: a run that was interrupted continues, and what has not
changed is not computed again. A Dask cluster that runs is joined with
--scheduler tcp://HOST:8786 (docs/portfolio.md).
"""

_MIGRATE_EXAMPLES = """\
examples:
  what becomes of each workload, and a diff
    pulumi-dra migrate examples/device-plugin/ --fleet fleet.yaml
  change the files
    pulumi-dra migrate examples/device-plugin/ --fleet fleet.yaml --write
  the device plugin time-slices each GPU into four units
    pulumi-dra migrate examples/device-plugin/ --shared nvidia.com/gpu=4
  a patch for review
    pulumi-dra migrate examples/device-plugin/ --format diff > claims.patch

Comments and formatting stay. A second run changes nothing.
"""

_MCP_EXAMPLES = """\
examples:
  serve the manifests and fleets of a repository
    pulumi-dra mcp --root ~/platform
  in a client's settings: command pulumi-dra, arguments mcp --root FOLDER
"""

_COMPLETION_EXAMPLES = """\
examples:
  bash, zsh (with fpath+=(~/.zfunc) before compinit), fish
    pulumi-dra completion bash \\
      > ~/.local/share/bash-completion/completions/pulumi-dra
    pulumi-dra completion zsh > ~/.zfunc/_pulumi-dra
    pulumi-dra completion fish > ~/.config/fish/completions/pulumi-dra.fish
"""

EXAMPLES = {
    "plan": _PLAN_EXAMPLES,
    "check": _CHECK_EXAMPLES,
    "rules": _RULES_EXAMPLES,
    "explain": _EXPLAIN_EXAMPLES,
    "slices": _SLICES_EXAMPLES,
    "catalog": _CATALOG_EXAMPLES,
    "verify": _VERIFY_EXAMPLES,
    "sandbox": _SANDBOX_EXAMPLES,
    "rehearse": _REHEARSE_EXAMPLES,
    "suggest": _SUGGEST_EXAMPLES,
    "init": _INIT_EXAMPLES,
    "export": _EXPORT_EXAMPLES,
    "ci": _CI_EXAMPLES,
    "portfolio": _PORTFOLIO_EXAMPLES,
    "migrate": _MIGRATE_EXAMPLES,
    "mcp": _MCP_EXAMPLES,
    "completion": _COMPLETION_EXAMPLES,
}
EXIT_STATUSES = {
    "slices": _WRITTEN,
    "catalog": _LISTED,
    "rules": _TESTED,
    "verify": _VERIFIED,
    "suggest": _SUGGESTED,
    "init": _WRITTEN,
    "export": _WRITTEN,
    "migrate": _MIGRATED,
    "mcp": _SERVED,
    "completion": _WRITTEN,
}
"""Those of the subcommands whose answer is no verdict on workloads; EXIT_STATUS is for the others."""
