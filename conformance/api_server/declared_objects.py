"""Check other objects of this project that are created in a cluster: objects that the components
declare, examples, and rewritten manifests.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pulumi
import yaml
from client import Answer, Client, Json, ask
from predictions import Refused, check_documents, module_of_tests
from valid_objects import Maker

from compare import listed_changes
from dra_planner.errors import PlannerError
from dra_planner.manifests.rewriting import rewrite
from dra_planner.plan import check_selector
from dra_planner.releases import Features, features_of
from dra_planner.sources import Source
from pulumi_dra.dra import AdminAccessPolicy, DeviceClasses, TenantAccess
from pulumi_dra.inputs.reader import WrongInputs
from pulumi_dra.platform.platform import DraPlatform
from pulumi_dra.platform.stack_settings import settings_of

PROJECT: Final = Path(__file__).resolve().parents[2]
STACKS: Final = (
    PROJECT / "stacks/Pulumi.eks-dev.yaml",
    PROJECT / "stacks/Pulumi.gke-dev.yaml",
    PROJECT / "stacks/Pulumi.aks-dev.yaml",
    PROJECT / "examples/platform-python/stacks/Pulumi.dev.yaml",
)
_EXPECTED_TO_FAIL: Final = {
    "examples/workloads-that-do-not-fit/at-least-40-gb-with-an-operator.yaml"
}
_OLD_VERSIONS: Final = ("v1alpha3", "v1beta1", "v1beta2")
REWRITTEN: Final = 300


def check_declared(client: Client, minor: int) -> tuple[list[Refused], Counter[str]]:
    """Return the objects of the components and examples that the server rejects, and the total
    number of objects.
    """
    counts: Counter[str] = Counter()
    objects, found = list(_example_objects()), []
    makers: dict[str, Callable[[], None]] = {
        stack.stem: partial(_platform, stack) for stack in STACKS
    }
    for name, make in {**makers, "components": partial(_components, minor)}.items():
        try:
            objects += [(name, each) for each in _declared(make)]
        except (WrongInputs, PlannerError) as error:
            found.append(Refused(name, f"can't be declared: {error}"))
    namespaces = {each["metadata"].get("namespace") for _, each in objects} - {
        None,
        "default",
        "kube-system",
    }
    for name in sorted(namespaces):
        document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        client.create(yaml.safe_dump(document), document, dry_run=False)
    for _, each in objects:
        counts[each["kind"]] += 1
    documents = [(name, yaml.safe_dump(each), each) for name, each in objects]
    found += check_documents(client, documents, counts, exact=False)
    return [
        each
        for each in found
        if "AlreadyExists" not in each.reason and each.name not in _EXPECTED_TO_FAIL
    ], counts


def _platform(stack: Path) -> None:
    """Declare the resources that the program declares for a stack."""
    config = yaml.safe_load(stack.read_text("utf-8"))["config"]
    settings = settings_of(stack.stem.removeprefix("Pulumi."), config, stack.parents[1])
    DraPlatform("dra", {"plan": settings.document, "cluster": settings.cluster_options})


def _components(minor: int) -> None:
    """Declare a class, tenant, and policy of every kind that the components support."""
    version = f"1.{minor}"
    classes: list[Any] = [
        {"name": "whole", "device": "gpu"},
        {"name": "slice", "mig_profile": "1g.10gb+me"},
        {"name": "any-large", "device": "any", "memory_gib_at_least": 40, "labels": {"team": "a"}},
        {"name": "own", "selectors": ['device.driver == "gpu.nvidia.com"', "true"]},
    ]
    if features_of(minor).extended_resource:
        classes.append(
            {"name": "extended", "device": "gpu", "extended_resource_name": "example.com/gpu"}
        )
    DeviceClasses("classes", {"kubernetes_version": version, "classes": classes})
    quota = {"gpu.nvidia.com": 4, "whole": 2}
    TenantAccess(
        "tenants",
        {"tenants": [{"namespace": "vision", "groups": ["engineers"], "device_quota": quota}]},
    )
    AdminAccessPolicy("policy", {"namespaces": ["monitoring"]})


def _declared(make: Callable[[], None]) -> list[Json]:
    """Return the Kubernetes objects that a function declares, in the form that reaches the API
    server.
    """
    clouds = module_of_tests("components/conftest.py")
    found: list[Json] = []

    class Mocks(pulumi.runtime.Mocks):
        def new_resource(
            self, args: pulumi.runtime.MockResourceArgs
        ) -> tuple[str | None, dict[str, Any]]:
            if args.typ.startswith("kubernetes:") and args.custom and args.inputs.get("apiVersion"):
                found.append(_object(args.name, args.inputs))
            return f"{args.name}-id", {
                **args.inputs,
                **clouds.COMPUTED.get(args.typ, lambda _: {})(args.name),
            }

        def call(
            self, args: pulumi.runtime.MockCallArgs
        ) -> tuple[dict[str, Any], list[tuple[str, str]]]:
            return clouds.ANSWERS[args.token], []

    pulumi.runtime.set_mocks(Mocks(), project="project", stack="dev", preview=False)
    pulumi.runtime.test(make)()
    return found


def _object(name: str, inputs: Any) -> Json:
    """Return a resource's inputs as an object. If it has no name, it gets one, as from the
    provider.
    """
    document: Json = copy.deepcopy(dict(inputs))
    document.setdefault("metadata", {}).setdefault("name", name)
    return document


def _example_objects() -> Iterator[tuple[str, Json]]:
    for path in sorted((PROJECT / "examples").rglob("*workloads*/*.yaml")):
        for document in yaml.load_all(path.read_text("utf-8"), Loader=yaml.CSafeLoader):
            if document:
                yield str(path.relative_to(PROJECT)), document


def check_rewritten(
    client: Client, features: Features, seed: int
) -> tuple[list[Refused], Counter[str]]:
    """Return the rewritten manifests with a different result than the original v1 manifest, and the
    total number.

    A manifest that can't be rewritten stays unchanged, and the message must name the object and the
    reason.
    """
    pairs = []
    counts: Counter[str] = Counter()
    found = []
    for number in range(REWRITTEN):
        rng = random.Random(f"{seed}/rewrite/{number}")
        maker = Maker(rng)
        modern = rng.choice((maker.claim, maker.template, maker.device_class, maker.slice))()
        old = _older(modern, rng.choice(_OLD_VERSIONS))
        source = Source("old.yaml", yaml.safe_dump(old, sort_keys=False))
        (rewritten,) = rewrite([source], features, check_selector=check_selector)
        if rewritten.refusals:
            counts[f"{old['apiVersion'].rpartition('/')[2]} rejected by name"] += 1
            if not all(each.reason and old["kind"] in each.name for each in rewritten.refusals):
                found.append(
                    Refused(yaml.safe_dump(old), f"rejected without its name: {rewritten.refusals}")
                )
            continue
        pairs.append((old, modern, rewritten.text))
    expected = ask(client, [(yaml.safe_dump(modern), modern, "Strict") for _, modern, _ in pairs])
    given = ask(client, [(text, yaml.safe_load(text), "Strict") for _, _, text in pairs])
    for (old, modern, text), want, got in zip(pairs, expected, given, strict=True):
        counts[f"{old['apiVersion'].rpartition('/')[2]} {want.reason or 'accepted'}"] += 1
        same = (want.reason, want.faults) == (got.reason, got.faults)
        if same and not want.reason:
            same = _changed(want, modern) == _changed(got, yaml.safe_load(text))
        if not same:
            reason = f"{got.reason or 'accepted'} {got.message}, not {want.reason or 'accepted'}"
            found.append(Refused(yaml.safe_dump(old), reason))
    return found, counts


def _changed(theirs: Answer, sent: Any) -> list[tuple[str, str, Any]]:
    by_chance = ("metadata.name", "timeAdded")  # generated names and times
    return [each for each in listed_changes(theirs, sent) if not each[0].endswith(by_chance)]


def _older(modern: Json, version: str) -> Json:
    """Return a v1 object in an older form: flat requests, and `basic` devices before v1beta2."""
    old = copy.deepcopy(modern)
    old["apiVersion"] = f"resource.k8s.io/{version}"
    if version == "v1beta2":
        return old
    spec = old["spec"].get("spec", old["spec"])
    devices = spec.get("devices")
    for request in devices.get("requests", ()) if isinstance(devices, dict) else ():
        request |= request.pop("exactly", {})
    for index, device in enumerate(devices if isinstance(devices, list) else ()):
        devices[index] = {"name": device.pop("name"), "basic": device}
    return old
