"""Examples in the `--help` of each subcommand. Tests run them all.

A comment is above its command, so that the line can be pasted. Lines wider than a terminal end with
a backslash.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_planner.documents.snapshot import (
    GUARD_OWNERS,
    GUARD_POLICIES,
    SNAPSHOT_KINDS,
    VERIFIED_KINDS,
)

EXIT_STATUS = """\
exit status:
  0  all workloads fit          1  a workload doesn't fit, or a rule is violated
  2  invalid input              3  cannot tell (--allow-unknown makes it 0)
"""
_LISTED = """\
exit status:
  0  rows found                 1  no row contains all words
  2  invalid input
"""
_WRITTEN = """\
exit status:
  0  success                    2  invalid input
"""
_VERIFIED = """\
exit status:
  0  matches the plan           1  differs, or planned pods are pending
  2  invalid input              3  no node to compare (0 with
                                   --allow-unknown)
"""
_TESTED = """\
exit status:
  0  every test case passes     1  a test case fails
  2  invalid input
"""
_SUGGESTED = """\
exit status:
  0  fleet found                1  no machine type fits a workload
  2  invalid input              3  cannot tell
"""
_COMPARED = """\
exit status:
  0  nothing is worse than before  1  something no longer fits
  2  invalid input                 3  cannot tell if something still fits
                                      (--allow-unknown makes it 0)
"""
_SERVED = """\
exit status:
  0  closed by the client       2  invalid input
"""
_MIGRATED = """\
exit status:
  0  every workload can migrate  1  a pod template can't migrate
  2  invalid input
"""


def _snapshot(kinds: Sequence[str], width: int = 76) -> str:
    """Return the command that takes a snapshot. Its list of kinds is a single word, so the lines
    that continue the list aren't indented.
    """
    first, *others = kinds
    lines = [f"    kubectl get {first}"]
    for kind in others:
        if len(lines[-1]) + len(kind) + 2 > width:
            lines[-1] += ","
            lines.append(kind)
        else:
            lines[-1] += f",{kind}"
    return "\\\n".join(lines) + " \\\n      -A -o json > cluster.json"


_SNAPSHOT = _snapshot(SNAPSHOT_KINDS)
_VERIFIED_SNAPSHOT = _snapshot((*VERIFIED_KINDS, *GUARD_OWNERS, *GUARD_POLICIES))

_PLAN_EXAMPLES = f"""\
examples:
  plan the stack's workloads on its pools
    pulumi-dra plan --stack eks-dev
  save the plan for `pulumi up`, and check in CI that it's current
    pulumi-dra plan --stack eks-dev --write
    pulumi-dra plan --stack eks-dev --check
  write constraints that reduce the number of nodes
    pulumi-dra plan examples/workloads/ --fleet fleet.yaml \\
      --constraints fix.yaml
  plan a rendered chart: `plan chart/ -f prod.yaml`, or
    helm template chart/ | pulumi-dra plan - --fleet fleet.yaml
  plan on a running cluster
    pulumi-dra plan examples/workloads/ --context gpu-dev
  compare verdicts in a table
    pulumi-dra plan --stack eks-dev \\
      --matrix kubernetes=1.34,1.36 driver=25.8.1,0.4.1
  plan on existing nodes; with a fleet, also report additional nodes
{_SNAPSHOT}
    pulumi-dra plan examples/workloads/ --observed cluster.json
    pulumi-dra plan examples/workloads/ --fleet fleet.yaml \\
      --observed cluster.json
"""

_DIFF_EXAMPLES = """\
examples:
  compare the working tree with a git ref
    pulumi-dra diff main --stack eks-dev
  compare two refs in Markdown, for example for a pull request comment
    pulumi-dra diff v1 main --stack eks-dev --format markdown
  compare two fleets for the same workloads
    pulumi-dra diff fleet.yaml larger.yaml --workloads examples/workloads/
  compare two stacks, or two plan files
    pulumi-dra diff eks-dev gke-dev
    pulumi-dra diff stacks/eks-dev.plan.json stacks/gke-dev.plan.json

Both sides use current prices.
"""

_CHECK_EXAMPLES = """\
examples:
  check without a fleet
    pulumi-dra check examples/workloads/
  check with a fleet
    kustomize build overlays/prod | pulumi-dra check - --stack eks-dev
  write findings for code scanning
    pulumi-dra check examples/workloads/ --format sarif > findings.sarif
  report only findings that aren't in main
    pulumi-dra check examples/workloads/ --diff main
  fix problems that don't need a decision, and print the rest
    pulumi-dra check examples/workloads/ --stack eks-dev --fix
  report claims that fail with another driver version or feature gate
    pulumi-dra check --stack eks-dev --driver-upgrade 25.8.1 0.4.1
    pulumi-dra check --driver-upgrade 0.4.1 0.4.1+DynamicMIG
  check manifests and commands in Markdown files and scripts
    pulumi-dra check README.md docs/security.md
  convert older DRA objects to v1, and print or change the files
    pulumi-dra check examples/workloads/ --rewrite
    pulumi-dra check examples/workloads/ --rewrite --in-place
"""


_RULES_EXAMPLES = """\
examples:
  run the test cases of rules; without a path, the rules in pulumi-dra.yaml
    pulumi-dra rules test examples/rules/
  print the fields that rules can read, with their values
    pulumi-dra rules objects examples/workloads/ --stack eks-dev

A rule is a CEL expression (docs/reference/custom-rules.md):
  rules:
    no-spot:
      for: pool  # plan, pool, workload, or claim
      expression: pool.capacity != "spot"
      message: Spot capacity isn't allowed
      tests:
        - name: spot
          given: {pool: {capacity: spot}}
          expect: fail
"""

_EXPLAIN_EXAMPLES = """\
examples:
  explain why a claim fits or doesn't fit
    pulumi-dra explain examples/workloads/ --stack eks-dev \\
      --claim default/first-gpu
    pulumi-dra explain --stack eks-dev --claim default/first-gpu \\
      --pool h100 --format json
  explain a claim with a changed fleet value
    pulumi-dra explain --stack eks-dev --claim default/first-gpu \\
      --what-if pools.l4.count.max=8
  explain which pods use the devices that a pod requests
    pulumi-dra explain --stack eks-dev --pod default/first
  list the workloads that run in a pool, and why others can't
    pulumi-dra explain --stack eks-dev --pool h100
  explain a message from the scheduler
    pulumi-dra explain \\
      --message "0/12 nodes are available: 12 cannot allocate all claims."

A claim's name is NAMESPACE/NAME. If a template generates the claim, use
NAMESPACE/WORKLOAD-ENTRY, where ENTRY is the name in the pod's resourceClaims.
--claim also accepts only ENTRY, the name of the template, or the name of a
pod's claim.
"""

_SLICES_EXAMPLES = """\
examples:
  print a machine type's devices
    pulumi-dra slices --machine p5.48xlarge --driver 25.8.1 --kubernetes 1.34
    pulumi-dra slices --machine p5.48xlarge --driver 25.8.1 \\
      --compute-domains --network
  use a MIG configuration, and validate the slices with an API server
    pulumi-dra slices --machine p4d.24xlarge --driver 25.8.1 \\
      --mig all-1g.5gb | kubectl apply --dry-run=server -f -
  enable driver feature gates
    pulumi-dra slices --machine p5.48xlarge --driver 0.4.1 \\
      --kubernetes 1.36 --gate DynamicMIG=true
    pulumi-dra slices --machine g6.2xlarge --driver 0.5.0 \\
      --kubernetes 1.36 --gate ConsumableShares --consumable-shares 4
  print the devices on a pool's nodes
    pulumi-dra slices --stack eks-dev --pool h100
  also print Nodes and DeviceClasses, for a scheduler simulator
    pulumi-dra slices --stack eks-dev --nodes

To compare two driver versions, see `pulumi-dra check --help`.
"""

_CATALOG_EXAMPLES = """\
examples:
  find machine types by a word
    pulumi-dra catalog machines h100
    pulumi-dra catalog machines h100 --region us-east-1
  print MIG configurations in JSON
    pulumi-dra catalog mig a100 --format json
  add a machine type or driver from running nodes
    pulumi-dra catalog add --from cluster.json --fleet fleet.yaml
"""

_VERIFY_EXAMPLES = f"""\
examples:
  compare a snapshot (before Kubernetes 1.36, omit the mutating… kinds)
{_VERIFIED_SNAPSHOT}
    pulumi-dra verify --observed cluster.json --stack eks-dev
  compare a running cluster
    pulumi-dra verify --kubeconfig ~/.kube/config --context gpu-dev \\
      --stack eks-dev
"""

_SANDBOX_EXAMPLES = """\
examples:
  preview a stack on simulated clouds
    pulumi-dra sandbox plan --stack eks-dev
  create or update the stack
    pulumi-dra sandbox up --stack eks-dev
  create the stack with a real API server and scheduler, so that you can use kubectl
    pulumi-dra sandbox up --stack eks-dev --control-plane
  install releases from your own charts
    pulumi-dra sandbox up --stack eks-dev --control-plane --charts charts/
  print the running stacks and their KUBECONFIG
    pulumi-dra sandbox status
  delete the stack completely
    pulumi-dra sandbox down
  plan, create, check, and destroy a stack, and verify each step
    pulumi-dra sandbox demo --stack eks-dev
  find or build the sandbox's tools
    pulumi-dra sandbox tools
  print the options of a subcommand
    pulumi-dra sandbox up --help
"""

_REHEARSE_EXAMPLES = """\
examples:
  schedule the stack's workloads with the fleet's kube-scheduler version
    pulumi-dra rehearse --stack eks-dev
  use a different Kubernetes version and pod arrival order
    pulumi-dra rehearse jobs/ --fleet fleet.yaml --kubernetes 1.36 \\
      --order random:7
  apply the workloads one by one, and write an HTML page
    pulumi-dra rehearse --stack eks-dev --one-by-one --format html \\
      > rehearsal.html

The rehearsal uses the predicted nodes and slices, and doesn't run containers.
The first use builds the control plane, which takes several minutes.
"""

_SUGGEST_EXAMPLES = """\
examples:
  find the cheapest machine types for workloads
    pulumi-dra suggest examples/workloads/ --region us-east-1 > fleet.yaml
  limit the price per hour or the machine types
    pulumi-dra suggest examples/workloads/ --region us-central1 \\
      --max-price 12.50
    pulumi-dra suggest examples/workloads/ --region us-east-1 \\
      --machines g6e.12xlarge,p5.48xlarge
"""

_INIT_EXAMPLES = """\
examples:
  use the cheapest machine types for a sample workload or your workloads
    pulumi-dra init gpus --region us-east-1
    pulumi-dra init gpus --region us-central1 --workloads examples/workloads
  use the GPU nodes of a cluster snapshot
    pulumi-dra init gpus --observed cluster.json
  use a stack: `pulumi stack export --file state.json`
    pulumi-dra init gpus --state state.json --ci gitlab
  use Terraform: `terraform show -json > plan.json`
    pulumi-dra init gpus --from plan.json
  create a Pulumi project with a stack, its plan, and the policy pack
    pulumi-dra init gpus --stack prod --region us-east-1
    pulumi-dra init gpus --stack prod --fleet fleet.yaml
"""

_EXPORT_EXAMPLES = """\
examples:
  write NodePools and EC2NodeClasses with the plan's node counts
    pulumi-dra export --to karpenter --stack eks-dev
  write variables for the cloud's Terraform module
    pulumi-dra export --to terraform --fleet fleet.yaml \\
      > gpus.auto.tfvars.json
  write MachinePools for Cluster API
    pulumi-dra export --to cluster-api --stack eks-dev --cluster ml
"""

_CI_EXAMPLES = """\
examples:
  plan and check all stacks in a repository
    pulumi-dra ci --stack eks-dev,gke-dev
  report only findings that the change introduces, and write a SARIF file
    pulumi-dra ci --stack eks-dev --diff origin/main --sarif findings.sarif

To post the comment, set GITHUB_TOKEN (pull-requests: write) in GitHub Actions,
or GITLAB_TOKEN (scope api) in GitLab CI.
"""

_PORTFOLIO_EXAMPLES = """\
examples:
  plan every stack in every scenario
    pulumi-dra portfolio examples/portfolio/portfolio.yaml
    pulumi-dra portfolio examples/portfolio/portfolio.yaml \\
      --format html > portfolio.html
  print the full plan for one cell (a stack in a scenario)
    pulumi-dra portfolio examples/portfolio/portfolio.yaml \\
      --cell eks-dev/growth-2
  plan some of the stacks, and estimate the time for all of them
    pulumi-dra portfolio examples/portfolio/portfolio.yaml --sample 10%

Results are cached, so you can continue an interrupted run, and unchanged cells
aren't recomputed. To use a Dask cluster, set --scheduler tcp://HOST:8786
(docs/portfolio.md).
"""

_MIGRATE_EXAMPLES = """\
examples:
  print the result for each workload, and a diff
    pulumi-dra migrate examples/device-plugin/ --fleet fleet.yaml
  change the files
    pulumi-dra migrate examples/device-plugin/ --fleet fleet.yaml --write
  migrate from a plugin that time-slices each GPU into four units
    pulumi-dra migrate examples/device-plugin/ --shared nvidia.com/gpu=4
  write a patch for review
    pulumi-dra migrate examples/device-plugin/ --format diff > claims.patch
  list the pods in a running cluster that use devices, and the pods that a drain would lose
    pulumi-dra migrate --context gpu-dev

The files keep their comments and formatting. A second run doesn't change them.
"""

_MCP_EXAMPLES = """\
examples:
  serve the manifests and fleets in a repository
    pulumi-dra mcp --root ~/platform
  in the client, set the command to pulumi-dra, and the arguments to
  mcp --root FOLDER
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
    "diff": _DIFF_EXAMPLES,
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
    "diff": _COMPARED,
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
"""Exit statuses of the subcommands without a verdict on workloads. The others use EXIT_STATUS."""
