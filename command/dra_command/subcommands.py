"""The subcommands and their options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Sequence
from typing import Any

from dra_command.examples import EXAMPLES, EXIT_STATUS, EXIT_STATUSES

_LONGEST_SIMULATION = 3_600  # seconds


def add_subcommands(commands: Any, words: Collection[str] | None = None) -> None:
    """Add every subcommand, in the order of `--help`; with their options those that the words name, or all of them."""
    for name, (says, add_options) in _subcommands().items():
        parser = commands.add_parser(
            name,
            help=says,
            description=f"Say {says}.",
            epilog=f"{EXAMPLES[name]}\n{EXIT_STATUSES.get(name, EXIT_STATUS)}",
            formatter_class=_Folded,
        )
        if words is None or name in words:
            add_options(parser)


def _subcommands() -> dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]]:
    """Return what each subcommand says, and what adds its options."""
    return {
        "plan": ("whether the workloads fit, and how many nodes that takes", _add_plan),
        "check": ("which rules the manifests break, and the pools when given", _add_check),
        "explain": ("why a claim or a pod fits, what a pool is for, what a finding means", _add_explain),
        "slices": ("what a node will publish, as ResourceSlices", _add_slices),
        "catalog": ("what is known of machines, GPUs, drivers and releases", _add_catalog),
        "verify": ("whether the nodes of a cluster are as predicted", _add_verify),
        "sandbox": ("how a stack behaves, rehearsed here without a cloud", _add_sandbox),
        "rehearse": ("what the real scheduler does with the workloads on the planned nodes", _add_rehearse),
        "suggest": ("which machines to buy for workloads, as a fleet document", _add_suggest),
        "init": ("what to start from, and write it: a fleet, a first workload, a CI file", _add_init),
        "portfolio": ("how many stacks fare in many scenarios", _add_portfolio),
        "completion": ("how a shell completes the words of this command, as a script", _add_completion),
    }


def _add_plan(parser: argparse.ArgumentParser) -> None:
    _add_paths(parser)
    _add_capacity(parser, growing=True)
    parser.add_argument(
        "--demand",
        choices=("floor", "steady", "ceiling", "peak"),
        default="steady",
        help="which demand to size for: the least, what the manifests ask for, the most that autoscalers allow, "
        "or that and the surge of a rollout (default: %(default)s)",
    )
    parser.add_argument(
        "--simulate",
        metavar="off|SECONDS",
        type=_steps,
        default="2",
        help="how long the default scheduler may be simulated, in seconds of an ordinary machine; what is too large "
        "for that is simulated at a smaller scale (default: %(default)s)",
    )
    parser.add_argument(
        "--certificate",
        metavar="FILE",
        default="",
        help="write what is proved about the cost, and the packing, for conformance/certificate/check.py to check",
    )
    parser.add_argument(
        "--matrix",
        metavar="PATH=VALUE[,VALUE…]",
        nargs="+",
        action="extend",
        default=[],
        help="plan every combination of these values of the fleet, and print a table: kubernetes, driver, or a path "
        "as pools.l4.count.max",
    )
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--write", action="store_true", help="keep the plan in stacks/NAME.plan.json (with --stack)")
    kept.add_argument("--check", action="store_true", help="exit 1 when the saved plan is stale (with --stack)")
    parser.add_argument(
        "--constraints",
        metavar="FILE",
        default="",
        help="where the scheduler leaves pods pending on the nodes of the packing, write the cheapest change that the "
        "simulation found to place everything: keys for the fleet, or a kustomize Component for the manifests",
    )
    parser.add_argument(
        "--suggest",
        metavar="FILE",
        default="",
        help="where something does not fit, write the cheapest pools found that the fleet would have to add, for "
        "everything to fit: keys for the fleet",
    )
    parser.add_argument(
        "--picture", metavar="FILE.svg", default="", help="also draw the pools and their devices, for documents"
    )
    parser.add_argument(
        "--detail",
        action="store_true",
        help="also say which devices each claim would get, what it costs, and what one more pod or node would",
    )
    _add_answer(parser, ("text", "json", "markdown", "html"))


def _add_suggest(parser: argparse.ArgumentParser) -> None:
    _add_paths(parser, of_a_stack=False)
    parser.add_argument("--cloud", metavar="CLOUD", default="", help="default: the one that has the region")
    parser.add_argument("--region", required=True, help="region whose machines and on-demand prices are compared")
    parser.add_argument("--kubernetes", metavar="VERSION", default="", help="default: 1.34, or later where that ends")
    parser.add_argument(
        "--machines", metavar="TYPE[,TYPE…]", action="append", default=[], help="compare only these, repeatable"
    )
    parser.add_argument("--max-price", metavar="USD", default="", help="no machine dearer than this per hour")
    parser.add_argument(
        "--demand",
        choices=("floor", "steady", "ceiling", "peak"),
        default="steady",
        help="which demand to buy for (default: %(default)s)",
    )
    parser.add_argument(
        "--format",
        choices=("yaml", "json"),
        default="yaml",
        help="a fleet document with comments, or all fleets compared as JSON (default: %(default)s)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


def _add_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", nargs="?", default=".", help="where to write (default: here)")
    parser.add_argument(
        "--region",
        metavar="REGION",
        default="",
        help="region of a new cluster, on the cloud that has it; with --state that of a stack that does not say it",
    )
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--observed", metavar="FILE", default="", help="snapshot of a cluster: its GPU nodes")
    start.add_argument("--state", metavar="FILE", default="", help="exported state of a Pulumi stack: its pools")
    parser.add_argument(
        "--workloads",
        metavar="PATH",
        action="append",
        default=[],
        help="manifests to start with, repeatable; default: a first claim is written",
    )
    parser.add_argument("--kubernetes", metavar="VERSION", default="", help="release, where nothing says it")
    parser.add_argument(
        "--machines", metavar="TYPE[,TYPE…]", action="append", default=[], help="with --region: choose among these"
    )
    parser.add_argument("--ci", choices=("github", "gitlab", "none"), default="github", help="default: %(default)s")
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


def _add_portfolio(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="portfolio: stacks, scenarios, and what is asked of them")
    where = parser.add_argument_group("where it runs")
    where.add_argument(
        "--workers", metavar="N", type=_positive, default=0, help="processes on this machine (default: its cores)"
    )
    where.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        default="",
        help="other machines: join the Dask scheduler that runs there, and use the workers that have joined it",
    )
    where.add_argument(
        "--engine",
        choices=("processes", "here", "dask"),
        default="",
        help="processes, this process alone, or Dask with workers on this machine, as a scheduler elsewhere would run "
        "it (default: processes; this process for up to 48 cells)",
    )
    where.add_argument(
        "--sample",
        metavar="PERCENT",
        type=_share,
        default=1.0,
        help="run a share of the stacks, and tell what all of them take",
    )
    parser.add_argument(
        "--results", metavar="FOLDER", default="", help="where answers are kept (default: .pulumi-dra beside FILE)"
    )
    parser.add_argument("--parquet", metavar="FILE", default="", help="also write all answers as one Parquet file")
    parser.add_argument(
        "--cell", metavar="STACK/SCENARIO", default="", help="print the plan of one stack in one scenario instead"
    )
    _add_answer(parser, ("text", "json", "html"))


def _add_completion(parser: argparse.ArgumentParser) -> None:
    _add_choice(parser, "shell", ("bash", "zsh", "fish"), "which shell reads the script")


def _add_choice(parser: argparse.ArgumentParser, name: str, choices: Sequence[str], says: str) -> None:
    """Add an argument that is named by what it may be, in errors too."""
    parser.add_argument(name, choices=choices, metavar=f"{{{','.join(choices)}}}", help=says)


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number from 1 to 10000')
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = 0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f'"{text}" is not a share above 0% and up to 100%')
    return share


def _steps(text: str) -> int:
    """Return the steps that a time stands for, so that the answer does not depend on how fast the machine is."""
    from dra_planner.plan.values import STEPS_PER_SECOND

    if text == "off":
        return 0
    try:
        seconds = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" is neither "off" nor a number of seconds') from None
    if not 0 < seconds <= _LONGEST_SIMULATION:
        raise argparse.ArgumentTypeError(f"{text} seconds are not between 0 and {_LONGEST_SIMULATION}")
    return round(seconds * STEPS_PER_SECOND)


def _add_check(parser: argparse.ArgumentParser) -> None:
    _add_paths(parser)
    parser.add_argument(
        "--exclude",
        metavar="GLOB",
        action="append",
        default=[],
        help="leave out files and folders of this name, path or pattern, repeatable: charts, '*-test.yaml'",
    )
    parser.add_argument(
        "--stdin-name", metavar="NAME", default="<stdin>", help="what standard input is called in findings"
    )
    _add_choice_of_rules(parser)
    _add_what_was_found_before(parser)
    _add_capacity(parser)
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "note", "never"),
        default="error",
        help="the least severe finding with which the exit status is 1 (default: %(default)s)",
    )
    parser.add_argument(
        "--explain", metavar="RULE", default="", help="say what a rule finds, why it matters and what fixes it"
    )
    parser.add_argument(
        "--driver-upgrade",
        metavar=("OLD", "NEW"),
        nargs=2,
        help="instead of the rules: which claims and classes break or change their meaning with another release of "
        "the NVIDIA DRA driver; each is VERSION[+GATE…], and without PATH every change is told",
    )
    _add_repairs(parser)
    parser.add_argument(
        "--output",
        metavar="FORMAT=FILE[,…]",
        action="append",
        default=[],
        help="also write the findings to files, in any format, repeatable: sarif=findings.sarif,junit=checks.xml",
    )
    _add_answer(parser, ("text", "json", "markdown", "html", "sarif", "junit", "github"))


def _add_choice_of_rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--select",
        metavar="RULE[,RULE…]",
        action="append",
        default=[],
        help="these rules alone, also those that are off by default; repeatable",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        default="",
        help="levels, exemptions and files to leave out (default: the nearest pulumi-dra.yaml, from PATH upwards)",
    )
    parser.add_argument(
        "--today", metavar="DATE", default="", help="the day by which exemptions expire (default: today)"
    )


def _add_what_was_found_before(parser: argparse.ArgumentParser) -> None:
    before = parser.add_mutually_exclusive_group()
    before.add_argument(
        "--baseline", metavar="FILE", default="", help="leave out the findings that a baseline file knows"
    )
    before.add_argument(
        "--write-baseline", metavar="FILE", default="", help="write that file with all that is found now, and exit 0"
    )
    before.add_argument(
        "--diff",
        metavar="REF",
        default="",
        help="leave out what is found at a branch, tag or commit too: tell what the change brings",
    )


def _add_repairs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rewrite",
        action="store_true",
        help="print the files that hold older DRA objects (v1alpha1 to v1beta2) in the form of resource.k8s.io/v1, "
        "instead of findings; what has no such form stays and is named; standard input is printed whole",
    )
    parser.add_argument("--in-place", action="store_true", help="with --rewrite: change these files instead")
    parser.add_argument(
        "--fix",
        action="store_true",
        help="repair the files first: older and flat forms of DRA objects, comparisons that need compareTo, units of "
        "amounts, tolerations that a pool asks for; what changes is told, and comments and layout stay",
    )


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(exclude=[], stdin_name="<stdin>", config="", today="")  # what check reads beside its inputs
    _add_paths(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--claim", metavar="NAMESPACE/NAME", help="the claim to explain")
    what.add_argument(
        "--pod",
        metavar="NAMESPACE/NAME",
        help="a pod, or a workload by its name: what each pool says to it, who holds what it requests, and the "
        "smallest change with which it fits",
    )
    what.add_argument(
        "--finding",
        metavar="RULE|FILE:LINE",
        help="what check found: what the rule is about, its fix, and, with a fleet, why the pods that stand there fit "
        "or not",
    )
    what.add_argument(
        "--message", metavar="TEXT", help="an error or event of Kubernetes, a driver or a chart; - reads standard input"
    )
    what.add_argument(
        "--events",
        metavar="NAMESPACE/POD",
        help="what the events and conditions of a pod in the snapshot mean (--observed)",
    )
    parser.add_argument(
        "--pool",
        metavar="NAME",
        default="",
        help="this pool only; without a claim: who runs on the pool, who could, and who cannot and why",
    )
    parser.add_argument(
        "--what-if",
        metavar="PATH=VALUE",
        action="append",
        default=[],
        help="explain on the fleet with this value changed, repeatable: pools.l4.count.max=8, kubernetes=1.36, "
        "driver=0.4.1",
    )
    _add_capacity(parser)
    _add_answer(parser, ("text", "json", "markdown", "html"))


def _add_slices(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(observed="")
    fleet = parser.add_argument_group("the nodes of a fleet", "as its pools and drivers are set up")
    which = fleet.add_mutually_exclusive_group()
    which.add_argument("--fleet", metavar="FILE", help="fleet document: one node of each pool")
    which.add_argument("--stack", metavar="NAME", help="stack of this project: stacks/Pulumi.NAME.yaml")
    fleet.add_argument("--pool", metavar="NAME", default="", help="this pool only")
    fleet.add_argument(
        "--nodes", action="store_true", help="also the Nodes and the DeviceClasses, for kwok or a scheduler simulator"
    )
    node = parser.add_argument_group("or any node")
    node.add_argument("--machine", metavar="TYPE", default="", help="machine type, as p5.48xlarge")
    node.add_argument("--cloud", metavar="CLOUD", default="", help="default: the one that has the machine")
    node.add_argument(
        "--driver", metavar="VERSION", default="", help="release of the NVIDIA DRA driver (TPU and Neuron need none)"
    )
    node.add_argument("--mig", metavar="LAYOUT", default="", help="MIG layout of every GPU (catalog mig)")
    node.add_argument(
        "--gate",
        metavar="NAME[=true|false]",
        action="append",
        default=[],
        help="feature gate of the driver, repeatable (catalog drivers): DynamicMIG, PassthroughSupport for VFIO, …",
    )
    node.add_argument(
        "--consumable-shares",
        metavar="HOW",
        default="",
        help="how claims share a GPU, with the gate ConsumableShares: memory, unlimited, or a number",
    )
    node.add_argument("--compute-domains", action="store_true", help="with channels and daemons of ComputeDomains")
    node.add_argument(
        "--network",
        action="store_true",
        help="also the network interfaces that DRANET publishes: EFA on EKS, RDMA and gVNIC on GKE",
    )
    node.add_argument("--node-name", metavar="NAME", default="", help="default: node-0")
    parser.add_argument("--kubernetes", metavar="VERSION", default="", help="default: the fleet's, else 1.34")
    parser.add_argument("--format", choices=("yaml", "json"), default="yaml", help="default: %(default)s")


def _add_catalog(parser: argparse.ArgumentParser) -> None:
    _add_choice(parser, "table", ("machines", "gpus", "mig", "drivers", "releases"), "what to list")
    parser.add_argument("words", metavar="WORD", nargs="*", default=[], help="only rows that hold every word")
    parser.add_argument("--cloud", metavar="CLOUD", default="", help="machines of this cloud only")
    parser.add_argument("--region", default="", help="also the on-demand price of machines in this region")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: %(default)s")


def _add_verify(parser: argparse.ArgumentParser) -> None:
    cluster = parser.add_mutually_exclusive_group(required=True)
    cluster.add_argument("--observed", metavar="FILE", help="snapshot of the cluster")
    cluster.add_argument("--kubeconfig", metavar="FILE", help="take the snapshot with kubectl; nothing is changed")
    parser.add_argument("--context", metavar="NAME", default="", help="with --kubeconfig: this context of it")
    pools = parser.add_mutually_exclusive_group()
    pools.add_argument("--fleet", metavar="FILE", help="fleet document")
    pools.add_argument("--stack", metavar="NAME", help="stack of this project")
    parser.add_argument("--kubernetes", metavar="VERSION", help="judge for this release instead of the fleet's")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: %(default)s")
    parser.add_argument("--allow-unknown", action="store_true", help="exit 0 when no node could be compared")


def _add_sandbox(parser: argparse.ArgumentParser) -> None:
    says = "up, plan, status, logs, down, demo or tools, and its options"
    parser.add_argument("words", metavar="WORD", nargs=argparse.REMAINDER, help=says)


def _add_rehearse(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(observed="")
    _add_paths(parser)
    _add_fleet(parser)
    parser.add_argument("--kubernetes", metavar="VERSION", help='rehearse on this release instead, as "1.36"')
    parser.add_argument(
        "--order",
        metavar="ORDER",
        default="document",
        help="in which order the workloads arrive: document, reversed, or random:N (default: %(default)s)",
    )
    parser.add_argument(
        "--one-by-one",
        action="store_true",
        help="let a workload arrive when every pod of those before has a node or a verdict; default: all at once",
    )
    parser.add_argument(
        "--scenario",
        metavar="SCENARIO",
        action="append",
        default=[],
        help="play this afterwards, and compare with the simulation; may be repeated: rollout[:NAME], scale-up, "
        "node-lost[:NODE], zone-lost:ZONE, driver-upgraded:VERSION, arrival-order:ORDER",
    )
    parser.add_argument(
        "--kubeconfig",
        metavar="FILE",
        default="",
        help="rehearse on this cluster, which must be one to be thrown away (kind, k3d, a vcluster) and marked as such",
    )
    parser.add_argument("--context", metavar="NAME", default="", help="with --kubeconfig: this context of it")
    parser.add_argument("--binaries", metavar="FOLDER", help="folder with etcd and the three Kubernetes binaries")
    parser.add_argument(
        "--time-limit", metavar="SECONDS", type=float, default=180, help="give up after so long (default: %(default)s)"
    )
    _add_answer(parser, ("text", "json", "markdown", "html"))


def _add_fleet(parser: argparse.ArgumentParser) -> None:
    pools = parser.add_mutually_exclusive_group()
    pools.add_argument("--fleet", metavar="FILE", help="fleet document: cluster, pools, drivers")
    pools.add_argument("--stack", metavar="NAME", help="stack of this project: stacks/Pulumi.NAME.yaml")


class _Listed(argparse.Action):
    """Values of an option that is given several times, with commas between them: none is lost."""

    def __call__(
        self, parser: object, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        given = getattr(namespace, self.dest)
        setattr(namespace, self.dest, f"{given},{values}" if given else values)


class _Folded(argparse.RawDescriptionHelpFormatter):
    """Folds options that exclude each other too, which argparse leaves in one line of the usage."""

    def _format_usage(self, *given: Any) -> str:
        return "\n".join(map(self._folded, super()._format_usage(*given).split("\n")))

    def _folded(self, line: str) -> str:
        indent = " " * (len(line) - len(line.lstrip()))
        folded = ""
        while len(line) > self._width and " | " in line[: self._width]:
            cut = line.rindex(" | ", 0, self._width)
            folded, line = f"{folded}{line[:cut]}\n", f"{indent} {line[cut + 1 :]}"
        return folded + line


def _add_paths(parser: argparse.ArgumentParser, *, of_a_stack: bool = True) -> None:
    default = "; with --stack by default the stack's own workloads" if of_a_stack else ""
    parser.add_argument(
        "paths", metavar="PATH", nargs="*", help=f"file, folder, glob, or - for standard input{default}"
    )


def _add_capacity(parser: argparse.ArgumentParser, *, growing: bool = False) -> None:
    capacity = parser.add_mutually_exclusive_group()
    capacity.add_argument("--fleet", metavar="FILE", help="fleet document: cluster, pools, drivers")
    several = "; several, with commas, in one --format markdown" if growing else ""
    capacity.add_argument(
        "--stack", metavar="NAME", action=_Listed, help=f"stack of this project: stacks/Pulumi.NAME.yaml{several}"
    )
    (parser if growing else capacity).add_argument(
        "--observed",
        metavar="FILE",
        help="snapshot of a cluster: kubectl get nodes,resourceslices,… -A -o json"
        + ("; with a fleet or a stack: how many nodes more each pool needs" if growing else ""),
    )
    parser.add_argument("--kubernetes", metavar="VERSION", help='judge for this release instead, as "1.36"')


def _add_answer(parser: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    parser.add_argument("--format", choices=formats, default="text", help="default: %(default)s")
    parser.add_argument("--allow-unknown", action="store_true", help="exit 0 when the verdict is cannot tell")
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="print the verdict and what is wrong, no more")
    loudness.add_argument("-v", "--verbose", action="store_true", help="print every assumption and reason")
