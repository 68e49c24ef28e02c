"""Examples that `--help` shows for each subcommand; tests run them all."""

from __future__ import annotations

from dra_planner.documents.snapshot import SNAPSHOT_COMMAND

EXIT_STATUS = """\
exit status:
  0  everything fits            1  something does not fit, or a rule is broken
  2  the input is wrong         3  cannot tell (--allow-unknown makes it 0)
"""

_PLAN_EXAMPLES = f"""\
examples:
  pulumi-dra plan --stack eks-dev                    # the stack's own workloads on its own pools
  pulumi-dra plan --stack eks-dev --write            # and keep the plan for `pulumi up`
  pulumi-dra plan --stack eks-dev --check            # in CI: is the saved plan still right?
  pulumi-dra plan examples/workloads/ --fleet fleet.yaml --constraints fix.yaml   # what needs fewer nodes
  helm template chart/ | pulumi-dra plan - --fleet fleet.yaml
  pulumi-dra plan --stack eks-dev --matrix kubernetes=1.34,1.36 driver=25.8.1,0.4.1     # a table of verdicts
  {SNAPSHOT_COMMAND} > cluster.yaml
  pulumi-dra plan examples/workloads/ --observed cluster.yaml   # on the nodes that exist, sizing nothing
  pulumi-dra plan examples/workloads/ --fleet fleet.yaml --observed cluster.yaml  # how many nodes more
"""

_CHECK_EXAMPLES = """\
examples:
  pulumi-dra check examples/workloads/                             # rules that need no fleet
  kustomize build overlays/prod | pulumi-dra check - --stack eks-dev
  pulumi-dra check examples/workloads/ --format sarif > findings.sarif
  pulumi-dra check examples/workloads/ --diff main                 # what a change brings, and nothing else
  pulumi-dra check examples/workloads/ --stack eks-dev --fix       # repair what needs no decision, tell the rest
  pulumi-dra check --stack eks-dev --driver-upgrade 25.8.1 0.4.1   # what breaks with another NVIDIA DRA driver
  pulumi-dra check --driver-upgrade 0.4.1 0.4.1+DynamicMIG         # all that one of its feature gates changes
  pulumi-dra check README.md docs/security.md                      # manifests and commands in pages and scripts
  pulumi-dra check examples/workloads/ --rewrite                   # older DRA objects in the form of v1, printed
  pulumi-dra check examples/workloads/ --rewrite --in-place        # and written to their files
"""


_EXPLAIN_EXAMPLES = """\
examples:
  pulumi-dra explain examples/workloads/ --stack eks-dev --claim default/first-gpu
  pulumi-dra explain --stack eks-dev --claim default/first-gpu --pool h100 --format json
  pulumi-dra explain --stack eks-dev --claim default/first-gpu --what-if pools.l4.count.max=8
  pulumi-dra explain --stack eks-dev --pod default/first     # among all others: who holds what it requests
  pulumi-dra explain --stack eks-dev --pool h100             # who runs on a pool, who could, who cannot and why
  pulumi-dra explain --message "0/12 nodes are available: 12 cannot allocate all claims."

A generated claim is named POD-ENTRY, a pod of a workload WORKLOAD-INDEX (the index may be left out).
"""

_SLICES_EXAMPLES = """\
examples:
  pulumi-dra slices --machine p5.48xlarge --driver 25.8.1 --kubernetes 1.34
  pulumi-dra slices --machine p4d.24xlarge --driver 25.8.1 --mig all-1g.5gb | kubectl apply --dry-run=server -f -
  pulumi-dra slices --machine p5.48xlarge --driver 0.4.1 --kubernetes 1.36 --gate DynamicMIG=true
  pulumi-dra slices --machine g6.2xlarge --driver 0.5.0 --kubernetes 1.36 --gate ConsumableShares --consumable-shares 4
  pulumi-dra slices --machine p5.48xlarge --driver 25.8.1 --compute-domains --network
  pulumi-dra slices --stack eks-dev --pool h100            # what the nodes of a pool will publish
  pulumi-dra slices --stack eks-dev --nodes                # Nodes and DeviceClasses too, for a scheduler simulator

What another release of the driver breaks: pulumi-dra check PATH --driver-upgrade OLD NEW
"""

_CATALOG_EXAMPLES = """\
examples:
  pulumi-dra catalog machines h100                   # machines whose row holds the word
  pulumi-dra catalog machines h100 --region us-east-1
  pulumi-dra catalog mig a100 --format json
"""

_VERIFY_EXAMPLES = f"""\
examples:
  {SNAPSHOT_COMMAND} > cluster.yaml
  pulumi-dra verify --observed cluster.yaml --stack eks-dev
  pulumi-dra verify --kubeconfig ~/.kube/config --context gpu-dev --stack eks-dev      # takes the snapshot itself
"""

_SANDBOX_EXAMPLES = """\
examples:
  pulumi-dra sandbox plan --stack eks-dev            # what `up` would do, on simulated clouds
  pulumi-dra sandbox up --stack eks-dev              # bring it up and keep it; again after a change
  pulumi-dra sandbox up --stack eks-dev --control-plane      # with a real API server and scheduler for kubectl
  pulumi-dra sandbox status                          # what is up, and its KUBECONFIG
  pulumi-dra sandbox down                            # take it down; nothing is left behind
  pulumi-dra sandbox demo --stack eks-dev            # plan, build, judge and destroy, every step checked
  pulumi-dra sandbox tools                           # find or build what the sandbox needs
  pulumi-dra sandbox up --help                       # its options
"""

_REHEARSE_EXAMPLES = """\
examples:
  pulumi-dra rehearse --stack eks-dev                # the stack's workloads on the real scheduler of its release
  pulumi-dra rehearse jobs/ --fleet fleet.yaml --kubernetes 1.36 --order random:7
  pulumi-dra rehearse --stack eks-dev --one-by-one --format html > rehearsal.html

Nodes and slices are as predicted, no container runs. The control plane is built on first use, which takes minutes.
"""

_SUGGEST_EXAMPLES = """\
examples:
  pulumi-dra suggest examples/workloads/ --region us-east-1 > fleet.yaml
  pulumi-dra suggest examples/workloads/ --region us-central1 --max-price 12.50
  pulumi-dra suggest examples/workloads/ --region us-east-1 --machines g6e.12xlarge,p5.48xlarge
"""

_INIT_EXAMPLES = """\
examples:
  pulumi-dra init gpus --region us-east-1            # the cheapest machines for a first claim
  pulumi-dra init gpus --region us-central1 --workloads examples/workloads
  pulumi-dra init gpus --observed cluster.yaml       # the GPU nodes of a running cluster, from a snapshot
  pulumi-dra init gpus --state state.json --ci gitlab   # of `pulumi stack export --file state.json`
"""

_PORTFOLIO_EXAMPLES = """\
examples:
  pulumi-dra portfolio examples/portfolio/portfolio.yaml                    # every stack in every scenario
  pulumi-dra portfolio examples/portfolio/portfolio.yaml --format html > portfolio.html
  pulumi-dra portfolio examples/portfolio/portfolio.yaml --cell eks-dev/growth-2   # one of its plans, whole
  pulumi-dra portfolio examples/portfolio/portfolio.yaml --sample 10%       # a share of its stacks, and what all take

Answers are kept: a run that was interrupted continues, and what has not changed is not computed again. A Dask cluster
that runs is joined with --scheduler tcp://HOST:8786 (docs/portfolio.md).
"""

_COMPLETION_EXAMPLES = """\
examples:
  pulumi-dra completion bash > ~/.local/share/bash-completion/completions/pulumi-dra
  pulumi-dra completion zsh > ~/.zfunc/_pulumi-dra     # with fpath+=(~/.zfunc) before compinit
  pulumi-dra completion fish > ~/.config/fish/completions/pulumi-dra.fish
"""

EXAMPLES = {
    "plan": _PLAN_EXAMPLES,
    "check": _CHECK_EXAMPLES,
    "explain": _EXPLAIN_EXAMPLES,
    "slices": _SLICES_EXAMPLES,
    "catalog": _CATALOG_EXAMPLES,
    "verify": _VERIFY_EXAMPLES,
    "sandbox": _SANDBOX_EXAMPLES,
    "rehearse": _REHEARSE_EXAMPLES,
    "suggest": _SUGGEST_EXAMPLES,
    "init": _INIT_EXAMPLES,
    "portfolio": _PORTFOLIO_EXAMPLES,
    "completion": _COMPLETION_EXAMPLES,
}
