"""The simulated Kubernetes provider: objects of any kind, Helm releases, and the cluster that
contains them.
"""

from __future__ import annotations

import hashlib
from typing import Any, NoReturn

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from dra_sandbox.clouds.differences import ReplaceRule, diff_response, differences
from dra_sandbox.clouds.kubernetes import manifests, releases
from dra_sandbox.clouds.kubernetes.backend import (
    ApplyFailed,
    ClusterBackend,
    ClusterObjectKey,
    MemoryCluster,
)
from dra_sandbox.clouds.kubernetes.cluster import chosen_cluster
from dra_sandbox.clouds.kubernetes.karpenter import check_karpenter
from dra_sandbox.clouds.kubernetes.kinds import replace_rule
from dra_sandbox.clouds.kubernetes.kubeconfig import Unreachable, active_cluster, server_of
from dra_sandbox.clouds.kubernetes.objects import (
    NameRefused,
    check_object,
    is_autonamed,
    key_of,
    named_object,
    schema_of,
)
from dra_sandbox.clouds.property_checks import PropertyFailure, check_values
from dra_sandbox.clouds.sdk import Sdk, UnknownType
from dra_sandbox.clouds.simulated_cloud import ENGINE_SETTINGS, type_of
from dra_sandbox.clouds.unfinished_resources import abort_unfinished
from dra_sandbox.clouds.wire_values import Values, from_wire, secret_names, to_wire


class Kubernetes(provider_pb2_grpc.ResourceProviderServicer):
    """The simulated `pulumi-resource-kubernetes`, which works with any cluster."""

    def __init__(self, cluster: ClusterBackend | None = None) -> None:
        self._sdk = Sdk("kubernetes")
        self._cluster: ClusterBackend = cluster or MemoryCluster()
        self._namespace = "default"
        self._unreachable = "the provider isn't configured"

    def GetPluginInfo(self, request: Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        return plugin_pb2.PluginInfo(version=self._sdk.version)

    def CheckConfig(
        self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CheckResponse:
        known = self._sdk.resource("pulumi:providers:kubernetes").inputs
        failures = [
            provider_pb2.CheckFailure(property=name, reason=f'unknown setting "{name}"')
            for name in from_wire(request.news)
            if name not in known and name not in ENGINE_SETTINGS
        ]
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(
        self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext
    ) -> provider_pb2.DiffResponse:
        """Another cluster replaces the provider and all its resources, but new credentials don't.

        As in pulumi/pulumi-kubernetes:provider/pkg/provider/provider.go, a `clusterIdentifier`
        decides this if it's set, and an unknown kubeconfig doesn't cause a replacement.
        """
        old, new = from_wire(request.old_inputs or request.olds), from_wire(request.news)
        identity = "clusterIdentifier" if old.get("clusterIdentifier") else "kubeconfig"
        rule = ReplaceRule(frozenset({identity} if _is_another_cluster(old, new) else ()))
        return diff_response(list(differences(old, new)), rule.replaces)

    def Configure(
        self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConfigureResponse:
        """Store the cluster's settings. An unreachable cluster is only an error when a resource
        changes.
        """
        settings = from_wire(request.args)
        self._namespace = settings.get("namespace") or "default"
        try:
            server_of(str(settings.get("kubeconfig") or ""), str(settings.get("context") or ""))
            self._unreachable = ""
        except Unreachable as error:
            self._unreachable = str(error)
        # The provider declares support for secrets, because the engine lets only providers with
        # this support construct components.
        return provider_pb2.ConfigureResponse(supportsPreview=True, acceptSecrets=True)

    def Check(
        self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CheckResponse:
        token, inputs, old = type_of(request), from_wire(request.news), from_wire(request.olds)
        try:
            schema = schema_of(self._sdk, token)
            if token == releases.TOKEN and schema is not None:
                failures = list(check_values(schema, inputs))
                checked = releases.named_release(inputs, old, request, self._namespace)
            else:
                failures = [
                    *check_object(schema, token, inputs),
                    *check_karpenter(token, inputs, old),
                ]
                checked = named_object(token, inputs, old, request, self._namespace)
        except (UnknownType, NameRefused) as error:
            failures, checked = [PropertyFailure("", str(error))], inputs
        return provider_pb2.CheckResponse(
            inputs=to_wire(checked, secret_names(request.news)),
            failures=[
                provider_pb2.CheckFailure(property=found.path, reason=found.reason)
                for found in failures
            ],
        )

    def Diff(
        self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext
    ) -> provider_pb2.DiffResponse:
        token, old, new = type_of(request), from_wire(request.old_inputs), from_wire(request.news)
        if token == releases.TOKEN:
            installed = from_wire(request.olds).get(releases.INPUTS) or old
            found = list(differences(installed, new))
            return diff_response(found, releases.REPLACE.replaces, ignored=request.ignoreChanges)
        kind = token.rsplit(":", 1)[-1]
        found = list(differences(old, new))
        answer = diff_response(found, replace_rule(kind).replaces, ignored=request.ignoreChanges)
        if answer.replaces and not is_autonamed(new):
            # Within a namespace, only one object can have a given name.
            answer.deleteBeforeReplace = key_of(old) == key_of(new)
        return answer

    def Create(
        self, request: provider_pb2.CreateRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CreateResponse:
        inputs = from_wire(request.properties)
        is_release = type_of(request) == releases.TOKEN
        if request.preview:
            identifier, outputs = "", releases.planned_release(inputs) if is_release else inputs
        elif is_release:
            identifier, outputs = (
                releases.id_of(inputs),
                self._install(inputs, {}, request.properties, context),
            )
        else:
            self._reach(context)
            key = key_of(inputs)
            identifier, outputs = key.id, self._apply(key, inputs, request.urn, context)
        return provider_pb2.CreateResponse(
            id=identifier, properties=_outputs(outputs, request.properties)
        )

    def Update(
        self, request: provider_pb2.UpdateRequest, context: grpc.ServicerContext
    ) -> provider_pb2.UpdateResponse:
        old, new = from_wire(request.olds), from_wire(request.news)
        is_release = type_of(request) == releases.TOKEN
        if request.preview:
            outputs = releases.planned_release(new) if is_release else new
        elif is_release:
            outputs = self._install(new, old, request.news, context)
        else:
            self._reach(context)
            key = key_of(new)
            self._cluster.recall(key, old)
            outputs = self._apply(key, new, request.urn, context)
        return provider_pb2.UpdateResponse(properties=_outputs(outputs, request.news))

    def Read(
        self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ReadResponse:
        """Return the object in the cluster. If it doesn't exist, the response has no identifier."""
        token, state, inputs = (
            type_of(request),
            from_wire(request.properties),
            from_wire(request.inputs),
        )
        self._reach(context)
        if token != releases.TOKEN:
            if state.get("metadata", {}).get("uid"):
                self._cluster.recall(key_of(state), state)
            found = self._cluster.read(
                key_of(state) if state.get("metadata") else _key_from(token, request.id)
            )
            if found is None:
                return provider_pb2.ReadResponse()
            state = found
        inputs = state.get(releases.INPUTS) or inputs
        return provider_pb2.ReadResponse(
            id=request.id,
            properties=_outputs(state, request.properties),
            inputs=to_wire(inputs, secret_names(request.inputs)),
        )

    def Delete(self, request: provider_pb2.DeleteRequest, context: grpc.ServicerContext) -> Empty:
        self._reach(context)
        token, state = type_of(request), from_wire(request.properties)
        key = key_of(state)
        try:
            if token == releases.TOKEN:
                self._cluster.uninstall(state)
            elif token.endswith("Patch"):
                self._cluster.release(key, _manager(request.urn))
            else:
                self._cluster.delete(key)
        except ApplyFailed as problem:
            context.abort(grpc.StatusCode.UNKNOWN, str(problem))
        return Empty()

    def Construct(
        self, request: provider_pb2.ConstructRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConstructResponse:
        if request.type not in manifests.COMPONENTS:
            _refuse(
                context,
                (
                    f"{request.type}: the simulated provider doesn't render charts; use "
                    "kubernetes.helm.v3.Release"
                ),
            )
        try:
            return manifests.construct(request)
        except manifests.InvalidManifest as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"{request.name}: {error}")
            raise AssertionError("abort does not return") from error

    def Invoke(
        self, request: provider_pb2.InvokeRequest, context: grpc.ServicerContext
    ) -> provider_pb2.InvokeResponse:
        if request.tok != "kubernetes:yaml:decode":
            _refuse(
                context,
                f"the simulated Kubernetes provider doesn't support the function {request.tok}",
            )
        try:
            objects = manifests.decode(str(from_wire(request.args).get("text", "")))
        except manifests.InvalidManifest as error:
            return provider_pb2.InvokeResponse(
                failures=[provider_pb2.CheckFailure(reason=str(error))]
            )
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(to_wire({"result": objects}))
        return response

    def Cancel(self, request: Empty, context: grpc.ServicerContext) -> Empty:
        return Empty()

    def _apply(
        self, key: ClusterObjectKey, manifest: Values, urn: str, context: grpc.ServicerContext
    ) -> Values:
        try:
            return self._cluster.apply(key, manifest, _manager(urn))
        except ApplyFailed as problem:
            context.abort(
                grpc.StatusCode.UNKNOWN,
                f"resource {key.id} was not successfully created: {problem}",
            )
            raise AssertionError("abort does not return") from problem

    def _install(
        self, inputs: Values, old: Values, sent: Struct, context: grpc.ServicerContext
    ) -> Values:
        """Install or upgrade a release. A release that fails still exists, and the engine stores
        its failed status.
        """
        self._reach(context)
        if reason := releases.refusal(inputs):
            context.abort(
                grpc.StatusCode.UNKNOWN, f"execution error at (templates/validation.yaml): {reason}"
            )
        outputs = releases.installed_release(inputs, old)
        failure = "context deadline exceeded" if releases.times_out(inputs) else ""
        try:
            outputs["status"]["appVersion"] = (
                self._cluster.install(inputs) or outputs["status"]["appVersion"]
            )
        except ApplyFailed as problem:
            failure = str(problem)
        if failure:
            outputs["status"]["status"] = "failed"
            abort_unfinished(context, releases.id_of(inputs), _outputs(outputs, sent), failure)
        return outputs

    def _reach(self, context: grpc.ServicerContext) -> None:
        """Reject the call if the provider's kubeconfig doesn't select a reachable cluster."""
        if self._unreachable:
            context.abort(
                grpc.StatusCode.UNAVAILABLE,
                f"configured Kubernetes cluster is unreachable: {self._unreachable}",
            )


def provider() -> Kubernetes:
    """Return the provider to serve, with the cluster that the environment selects."""
    return Kubernetes(chosen_cluster())


def _manager(urn: str) -> str:
    """Return the field manager of a resource.

    Each resource has its own manager, so that a patch owns only the fields that it sets.
    """
    return f"pulumi-kubernetes-{hashlib.sha256(urn.encode()).hexdigest()[:8]}"


def _outputs(outputs: Values, sent: Struct) -> Struct:
    """Return a message with the outputs. Values that were sent as secrets stay secret, and the
    inputs of a release are always secret.
    """
    return to_wire(outputs, {*secret_names(sent), releases.INPUTS})


def _is_another_cluster(old: Values, new: Values) -> bool:
    if old.get("clusterIdentifier"):
        return bool(old["clusterIdentifier"] != new.get("clusterIdentifier"))
    try:
        clusters = [
            active_cluster(
                str(settings.get("kubeconfig") or ""), str(settings.get("context") or "")
            )
            for settings in (old, new)
        ]
    except Unreachable:
        return False
    return clusters[0] != clusters[1]


def _key_from(token: str, identifier: str) -> ClusterObjectKey:
    """Return the object key in an identifier, for a program that reads an object that it didn't
    create.
    """
    _, api_version, kind = token.split(":")
    namespace, _, name = identifier.rpartition("/")
    return ClusterObjectKey(api_version.removeprefix("core/"), kind, namespace, name)


def _refuse(context: Any, message: str) -> NoReturn:
    context.abort(grpc.StatusCode.UNIMPLEMENTED, message)
    raise AssertionError("abort does not return")
