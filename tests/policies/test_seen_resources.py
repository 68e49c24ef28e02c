"""The index of analyzed resources returns what the evaluation of a single object needs."""

from __future__ import annotations

from typing import Any

from dra_policies.stack.engine_session import SeenResources
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import Properties

API = "kubernetes:resource.k8s.io/v1"


def resource(kind: str, name: str, urn: str = "", **values: Any) -> Resource:
    props = Properties({"metadata": {"name": name}, **values})
    return Resource(urn=urn or f"urn:{name}", type=kind, name=name, props=props)


def job(*templates: str) -> Resource:
    claims = [{"name": each, "resourceClaimTemplateName": each} for each in templates]
    spec = {"template": {"spec": {"resourceClaims": claims}}}
    return resource("kubernetes:batch/v1:Job", "train", spec=spec)


def template(name: str, urn: str = "") -> Resource:
    return resource(f"{API}:ResourceClaimTemplate", name, urn)


def test_an_object_is_evaluated_with_its_claims_and_with_objects_that_affect_every_object() -> None:
    class_ = resource(f"{API}:DeviceClass", "big")
    namespace = resource("kubernetes:core/v1:Namespace", "ml")
    other = resource("kubernetes:core/v1:ConfigMap", "settings")
    train = job("one", "two")
    seen = SeenResources(
        [template("two"), class_, template("unused"), other, namespace, template("one"), train]
    )

    found = seen.behind(train)

    assert found == (class_, namespace, template("one"), template("two"), train)


def test_a_claim_template_is_evaluated_without_other_claims() -> None:
    one = template("one")
    assert SeenResources([one, template("two")]).behind(one) == (one,)


def test_new_inputs_replace_earlier_inputs() -> None:
    """A preview and the subsequent update can share a process."""
    seen = SeenResources([template("one", urn="urn:t"), template("two", urn="urn:t")])

    assert seen.behind(job("one")) == (job("one"),)
    assert seen.behind(job("two")) == (template("two", urn="urn:t"), job("two"))
    assert seen.all() == (template("two", urn="urn:t"),)


def test_templates_of_the_same_name_are_all_returned() -> None:
    """They can be in different namespaces."""
    one, same = template("one", urn="urn:a"), template("one", urn="urn:b")
    assert SeenResources([one, same]).behind(job("one")) == (one, same, job("one"))
