"""CPU that the pack adds to a preview: `python tests/bench/bench_pack.py [RESOURCES] [CLAIMS]`.

Asks the SDK as the engine does, each resource and then the stack, on a stack of
`tests/policies/seeded/bases` to which claims with their jobs and other objects are added.
"""

from __future__ import annotations

import copy
import sys
import time
from pathlib import Path
from typing import Any

from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2 as messages
from pulumi_policy import EnforcementLevel
from pulumi_policy.policy import _PolicyAnalyzerServicer

from dra_policies.pack import collect_rarely, policies

sys.path.insert(0, str(Path(__file__).parents[1] / "policies"))


def resources(count: int, claims: int) -> list[tuple[str, str, dict[str, Any]]]:
    """Return this number of resources as (type, name, properties), including this number of
    templates and Jobs with claims.
    """
    from seeded_stacks import base

    good = base("raw-eks")
    rows = [(each.type, short, copy.deepcopy(each.props.values)) for short, each in good.items()]
    for number in range(claims // 2):
        template, job = (copy.deepcopy(good[short].props.values) for short in ("one-gpu", "train"))
        template["metadata"]["name"] = f"gpu-{number}"
        job["metadata"]["name"] = f"job-{number}"
        job["spec"] |= {"parallelism": 1, "completions": 1}
        job["spec"]["template"]["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] = (
            f"gpu-{number}"
        )
        rows += [
            (good["one-gpu"].type, f"gpu-{number}", template),
            (good["train"].type, f"job-{number}", job),
        ]
    data = {f"key-{index}": "value " * 10 for index in range(10)}
    while len(rows) < count:
        name = f"settings-{len(rows)}"
        metadata = {"name": name, "namespace": "ml", "labels": {"app": "a", "part": "b"}}
        settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        rows.append(("kubernetes:core/v1:ConfigMap", name, settings))
    return rows


def main() -> None:
    """Print CPU seconds for the resources, for the stack, and together."""
    given = [int(text) for text in sys.argv[1:3]]
    count, claims = (*given, *(2000, 500)[len(given) :])
    servicer = _PolicyAnalyzerServicer("dra", "1", policies(), EnforcementLevel.ADVISORY)
    stack: list[dict[str, Any]] = []
    for token, name, values in resources(count, claims):
        properties = struct_pb2.Struct()
        properties.update(values)
        urn = f"urn:pulumi:dev::project::{token}::{name}"
        stack.append({"type": token, "urn": urn, "name": name, "properties": properties})
    whole = messages.AnalyzeStackRequest(
        resources=[messages.AnalyzerResource(**each) for each in stack]
    )
    collect_rarely()
    started = time.process_time()
    for each in stack:
        servicer.Analyze(messages.AnalyzeRequest(**each), None)
    between = time.process_time()
    servicer.AnalyzeStack(whole, None)
    ended = time.process_time()
    print(
        f"{count} resources, {claims} claims and jobs: {between - started:.2f} s for the "
        "resources, "
        f"{ended - between:.2f} s for the stack, {ended - started:.2f} s of CPU together"
    )


if __name__ == "__main__":
    main()
