"""`pulumi-dra check --driver-upgrade OLD NEW`: effects of another NVIDIA driver version on these
manifests.
"""

from __future__ import annotations

from dra_command.findings.check_result import CheckResult, order_findings
from dra_command.findings.tutorial_inputs import extract_tutorials
from dra_command.inputs.command_inputs import CommandInputs
from dra_planner.drivers import nvidia
from dra_planner.manifests.setup.chart_names import names_given
from dra_planner.plan import overall_verdict, read_checked
from dra_planner.plan.upgrade.changes import judge_upgrade, parse_release
from dra_planner.plan.upgrade.situation import situation_of
from dra_planner.releases import MAXIMUM_MINOR, features_of, parse_version


def check_upgrade(inputs: CommandInputs, old: str, new: str) -> CheckResult:
    """Return the findings of `judge_upgrade` for the manifests. Without a fleet or a version, the
    newest Kubernetes version applies.
    """
    minor = inputs.fleet.minor if inputs.fleet is not None else MAXIMUM_MINOR
    features = features_of(parse_version(inputs.kubernetes) if inputs.kubernetes else minor)
    names = names_given(inputs.sources)
    inputs, _ = extract_tutorials(inputs)  # chart values aren't manifests
    manifests = read_checked((*inputs.observed, *inputs.sources), features)
    options = inputs.fleet.drivers.of(nvidia.DRIVER) if inputs.fleet is not None else None
    here = situation_of(manifests, inputs.fleet, names, has_snapshot=bool(inputs.observed))
    found = judge_upgrade(
        manifests, features, old, new, options.settings if options else None, here
    )
    return CheckResult(
        verdict=overall_verdict("fits", found),
        diagnostics=order_findings(found),
        workloads=len(manifests.workloads),
        passed=f"No differences between {parse_release(old)[0].version} and "
        f"{parse_release(new)[0].version}.",
    )
