"""ValidatingAdmissionPolicies that deny objects, pods, or claims of the manifests."""

from __future__ import annotations

from typing import Any

from truth_cases import Case
from truth_objects import Object, api, deployment, fleet, job, template

API = "admissionregistration.k8s.io/v1"
PODS = ("", "pods")
LIMITS = "object.spec.containers.all(c, has(c.resources.limits))"


def policy(
    expression: str, resource: tuple[str, str] = PODS, *, message: str = "", **spec: Any
) -> Object:
    rule = {"apiGroups": [resource[0]], "apiVersions": ["*"], "operations": ["CREATE"]}
    validation = {"expression": expression, **({"message": message} if message else {})}
    made = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [{**rule, "resources": [resource[1]]}]},
        "validations": [validation],
        **spec,
    }
    return api(API, "ValidatingAdmissionPolicy", "limits", made, namespace="")


def binding(*actions: str, **spec: Any) -> Object:
    made = {"policyName": "limits", "validationActions": list(actions) or ["Deny"], **spec}
    return api(API, "ValidatingAdmissionPolicyBinding", "limits", made, namespace="")


def mutating(**binding: Any) -> list[Object]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"]}
    spec = {
        "matchConstraints": {"resourceRules": [{**rule, "resources": ["pods"]}]},
        "mutations": [],
    }
    return [
        api(API, "MutatingAdmissionPolicy", "pin", spec, namespace=""),
        api(
            API,
            "MutatingAdmissionPolicyBinding",
            "pin",
            {"policyName": "pin", **binding},
            namespace="",
        ),
    ]


def webhook(resource: str) -> Object:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": [resource]}
    hooks = [{"name": "guard.example.com", "rules": [rule]}]
    kind = "ValidatingWebhookConfiguration"
    return api(API, kind, "guard", namespace="", webhooks=hooks)


def in_namespaces(**labels: str) -> Object:
    return {"matchResources": {"namespaceSelector": {"matchLabels": labels}}}


def namespace(**labels: str) -> Object:
    made = api("v1", "Namespace", "ml", namespace="")
    made["metadata"]["labels"] = labels
    return made


DENIED = 'ValidatingAdmissionPolicy "limits" denies pods of Deployment ml/serve: set limits'
GIVEN = [template(), deployment()]
NOT_LIMITED = policy(LIMITS, message="set limits")

POLICIES = (
    Case(
        name="a policy that denies the pods of a Deployment",
        given=[*GIVEN, NOT_LIMITED, binding()],
        verdict="does-not-fit",
        texts=(DENIED,),
    ),
    Case(name="a policy without a binding", given=[*GIVEN, NOT_LIMITED], verdict="fits"),
    Case(
        name="a binding that only warns",
        given=[*GIVEN, NOT_LIMITED, binding("Warn", "Audit")],
        verdict="fits",
        silent=("ValidatingAdmissionPolicy",),
    ),
    Case(
        name="a policy for another namespace",
        given=[
            *GIVEN,
            NOT_LIMITED,
            binding(**in_namespaces(**{"kubernetes.io/metadata.name": "web"})),
        ],
        verdict="fits",
    ),
    Case(
        name="a policy for namespaces with a label that this one has",
        given=[*GIVEN, namespace(team="a"), NOT_LIMITED, binding(**in_namespaces(team="a"))],
        verdict="does-not-fit",
        texts=(DENIED,),
    ),
    Case(
        name="a policy for namespaces with a label, and a namespace that isn't given",
        given=[*GIVEN, NOT_LIMITED, binding(**in_namespaces(team="a"))],
        verdict="cannot-tell",
        texts=("denies pods of Deployment ml/serve", "labels of namespace"),
    ),
    Case(
        name="a policy with a condition that excludes the pods",
        given=[
            *GIVEN,
            policy(
                LIMITS,
                matchConditions=[{"name": "web", "expression": "object.metadata.name == 'web'"}],
            ),
            binding(),
        ],
        verdict="cannot-tell",
        texts=("denies pods of Deployment ml/serve",),
    ),
    Case(
        name="a policy that reads its parameters",
        given=[
            *GIVEN,
            policy("object.spec.replicas <= params.most", ("apps", "deployments"), paramKind={}),
            binding(),
        ],
        verdict="cannot-tell",
        texts=("denies Deployment ml/serve", "reads params"),
    ),
    Case(
        name="a policy that reads a default of the API server",
        given=[*GIVEN, policy("object.spec.restartPolicy == 'Always'"), binding()],
        verdict="fits",
    ),
    Case(
        name="a policy with variables that denies claims of a template",
        given=[
            template(count=1),
            job(pods=1),
            policy(
                "variables.classes.all(c, c != 'gpu.nvidia.com')",
                ("resource.k8s.io", "resourceclaims"),
                variables=[
                    {
                        "name": "classes",
                        "expression": "object.spec.devices.requests.map(r, "
                        "r.exactly.deviceClassName)",
                    }
                ],
                message="use shares",
            ),
            binding(),
        ],
        verdict="does-not-fit",
        texts=("denies claims of ResourceClaimTemplate ml/gpu: use shares",),
    ),
    Case(
        name="a mutating policy that changes pods",
        given=[*GIVEN, *mutating()],
        verdict="cannot-tell",
        texts=("MutatingAdmissionPolicy pin changes the pods of Deployment ml/serve",),
    ),
    Case(
        name="a mutating policy for other namespaces",
        given=[*GIVEN, *mutating(**in_namespaces(**{"kubernetes.io/metadata.name": "web"}))],
        verdict="fits",
        silent=("MutatingAdmissionPolicy",),
    ),
    Case(
        name="a mutating policy with two bindings, the last one for other namespaces",
        given=[
            *GIVEN,
            *mutating(),
            {
                **mutating(**in_namespaces(**{"kubernetes.io/metadata.name": "web"}))[1],
                "metadata": {"name": "elsewhere"},
            },
        ],
        verdict="cannot-tell",
        texts=("MutatingAdmissionPolicy pin changes the pods of Deployment ml/serve",),
    ),
    Case(
        name="a binding whose actions aren't a list",
        given=[
            *GIVEN,
            NOT_LIMITED,
            {**binding(), "spec": {**binding()["spec"], "validationActions": 5}},
        ],
        verdict="fits",
        silent=("denies",),
    ),
    Case(
        name="a webhook that may reject pods",
        given=[*GIVEN, webhook("pods")],
        verdict="fits",
        texts=("ValidatingWebhookConfiguration guard may reject the pods of Deployment ml/serve",),
    ),
    Case(
        name="a webhook for other objects",
        given=[*GIVEN, webhook("services")],
        verdict="fits",
        silent=("ValidatingWebhookConfiguration",),
    ),
    Case(
        name="a policy of Kyverno",
        given=[*GIVEN, api("kyverno.io/v1", "ClusterPolicy", "limits", {}, namespace="")],
        verdict="fits",
        texts=("ClusterPolicy limits may change or reject pods",),
    ),
    Case(
        name="a policy about updates",
        given=[
            *GIVEN,
            policy(
                LIMITS,
                matchConstraints={
                    "resourceRules": [
                        {
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "operations": ["UPDATE"],
                            "resources": ["pods"],
                        }
                    ]
                },
            ),
            binding(),
        ],
        verdict="fits",
    ),
    Case(
        name="a policy whose version is no longer served",
        given=[
            *GIVEN,
            {**NOT_LIMITED, "apiVersion": "admissionregistration.k8s.io/v1beta1"},
            binding(),
        ],
        on=fleet(kubernetes="1.37"),
        verdict="does-not-fit",
        texts=('no matches for kind "ValidatingAdmissionPolicy"',),
    ),
)
