"""A simulated provider: the engine's protocol, based on an SDK's schema and a table of rows."""

from __future__ import annotations

import abc
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import grpc
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from dra_sandbox.clouds.computed_outputs import (
    is_made_up,
    overlay,
    planned_outputs,
    real_outputs,
    without_computed,
)
from dra_sandbox.clouds.differences import (
    PropertyDifference,
    ReplaceRule,
    diff_response,
    differences,
)
from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.naming import Autonamed, NameRefused, kept_name
from dra_sandbox.clouds.property_checks import (
    PropertyFailure,
    check_allowed,
    check_values,
    with_plural_names,
)
from dra_sandbox.clouds.provider_rules import NO_RULES, ProviderRules
from dra_sandbox.clouds.sdk import Sdk, UnknownType
from dra_sandbox.clouds.sdk_schema import Schema
from dra_sandbox.clouds.type_rows import CloudRequest, Facts, TypeRow, words_for
from dra_sandbox.clouds.wire_values import Values, from_wire, holds_unknown, is_unknown, to_wire

Function = Callable[[Values, Mapping[str, str]], Values]

# Settings of a provider that the engine itself adds.
ENGINE_SETTINGS = frozenset(
    {"version", "pluginDownloadURL", "parameterization", "__internal", "__pulumi-go-provider-infer"}
)


class SimulatedCloud(provider_pb2_grpc.ResourceProviderServicer, abc.ABC):
    """The common part of the simulated providers of bridged clouds."""

    def __init__(
        self,
        sdk: Sdk,
        rows: Mapping[str, TypeRow],
        functions: Mapping[str, Function],
        autonamed: Autonamed,
        common: TypeRow,
        memory: Memory,
        rules: Mapping[str, ProviderRules] = NO_RULES,
    ) -> None:
        """Create the provider. `common` contains outputs that many types have.

        `rules` describes the behavior of the provider itself.
        """
        self._sdk = sdk
        self._rows = rows
        self._functions = functions
        self._autonamed = autonamed
        self._common = common
        self._memory = memory
        self._rules = rules
        self._settings: Values = {}

    @abc.abstractmethod
    def place(self, inputs: Values) -> Mapping[str, str]:
        """Return the template values for the place of a resource with these inputs: region,
        account, project, and so on.
        """

    @abc.abstractmethod
    def missing_place(self, schema: Schema, inputs: Values) -> PropertyFailure | None:
        """Return the error message if neither the resource nor the provider sets a place."""

    def default_id(self, schema: Schema) -> str:
        """Return the identifier template for a type whose row has none."""
        return "{hex17}"

    # The calls of the engine's protocol, in the order in which the engine makes them.

    def GetPluginInfo(self, request: Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        return plugin_pb2.PluginInfo(version=self._sdk.version)

    def CheckConfig(
        self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CheckResponse:
        known = self._sdk.resource(f"pulumi:providers:{self._sdk.name}").inputs
        failures = [
            provider_pb2.CheckFailure(property=name, reason=f'unknown setting "{name}"')
            for name in from_wire(request.news)
            if name not in known and name not in ENGINE_SETTINGS
        ]
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    def Configure(
        self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConfigureResponse:
        self._settings = from_wire(request.args)
        return provider_pb2.ConfigureResponse(
            supportsPreview=True, supports_autonaming_configuration=True
        )

    def Check(
        self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CheckResponse:
        token = type_of(request)
        try:
            schema = self._sdk.resource(token)
        except UnknownType as error:
            return provider_pb2.CheckResponse(
                failures=[provider_pb2.CheckFailure(reason=str(error))]
            )
        inputs = {
            name: value for name, value in from_wire(request.news).items() if value is not None
        }
        inputs.pop("__defaults", None)
        if token in self._rules:
            inputs = with_plural_names(inputs, schema.inputs)
        row = self._row(token)
        failures = list(self._failures(schema, row, inputs))
        defaults = {name: value for name, value in row.defaults.items() if name not in inputs}
        named = _name_property(row, schema)
        if named and named not in inputs and f"{named}Prefix" not in inputs:
            try:
                defaults[named] = kept_name(from_wire(request.olds), named) or self._autonamed.name(
                    request, row.name_limit
                )
            except NameRefused as error:
                failures.append(PropertyFailure(named, str(error)))
        elif len(known_text(inputs.get(named))) > row.name_limit:
            failures.append(
                PropertyFailure(
                    named, f"expected length of {named} to be in the range (1 - {row.name_limit})"
                )
            )
        checked = {**inputs, **defaults, "__defaults": sorted(defaults)}
        return provider_pb2.CheckResponse(
            inputs=to_wire(checked),
            failures=[
                provider_pb2.CheckFailure(property=found.path, reason=found.reason)
                for found in failures
            ],
        )

    def Diff(
        self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext
    ) -> provider_pb2.DiffResponse:
        token = type_of(request)
        old, new = from_wire(request.old_inputs), from_wire(request.news)
        row = self._row(token)
        if row.reported:
            old = overlay(row.reported(old), old)
        if row.returned:
            old = row.returned(old)
        if row.unchanged:
            old = row.unchanged(old, new)
        rule, own = self._replace_rule(token), self._rules.get(token)

        def replaces(change: PropertyDifference) -> bool:
            return rule.replaces(change) or (own is not None and own.replaces(change))

        if own is not None:
            found = list(own.differences(old, new, from_wire(request.olds)))
        else:
            old = without_computed(old, new, {**row.outputs, **row.known})
            found = list(differences(old, new, sets=row.sets))
        answer = diff_response(found, replaces, ignored=request.ignoreChanges)
        named = _name_property(row, self._sdk.resource(token))
        if answer.replaces and named and named not in (new.get("__defaults") or []):
            # The old and the new resource can't have the same name at the same time
            # (pulumi-terraform-bridge: nameRequiresDeleteBeforeReplace).
            answer.deleteBeforeReplace = (
                old.get(named) == new.get(named) and new.get(named) is not None
            )
        return answer

    def Create(
        self, request: provider_pb2.CreateRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CreateResponse:
        schema, inputs = self._sdk.resource(type_of(request)), _plain(request.properties)
        inputs = self._sent(schema.token, inputs)
        row = self._row(schema.token)
        facts = self._facts(request.urn, schema, row, inputs, {})
        if request.preview:
            return provider_pb2.CreateResponse(
                properties=to_wire(planned_outputs(schema, row, facts, {}))
            )
        identifier = facts.words["id"]
        self._carry_out(row, CloudRequest(identifier, inputs, None, self._memory), context)
        outputs = real_outputs(schema, row, facts, {})
        if row.remembered:
            self._memory.put(schema.token, identifier, outputs)
        return provider_pb2.CreateResponse(id=identifier, properties=to_wire(outputs))

    def Update(
        self, request: provider_pb2.UpdateRequest, context: grpc.ServicerContext
    ) -> provider_pb2.UpdateResponse:
        schema, inputs = self._sdk.resource(type_of(request)), _plain(request.news)
        inputs = self._sent(schema.token, inputs)
        row, state, before = (
            self._row(schema.token),
            from_wire(request.olds),
            _plain(request.old_inputs),
        )
        own = self._rules.get(schema.token)
        kept = own.with_kept(inputs, state) if own is not None else inputs
        facts = self._facts(request.urn, schema, row, kept, state)
        if request.preview:
            return provider_pb2.UpdateResponse(
                properties=to_wire(planned_outputs(schema, row, facts, before))
            )
        present = self._memory.get(schema.token, request.id) if row.remembered else None
        self._carry_out(
            row,
            CloudRequest(request.id, inputs, present or state, self._memory, request.timeout),
            context,
        )
        outputs = real_outputs(schema, row, facts, before)
        if row.remembered:
            self._memory.put(schema.token, request.id, outputs)
        return provider_pb2.UpdateResponse(properties=to_wire(outputs))

    def Read(
        self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ReadResponse:
        """Return the stored resource, which can differ from the engine's state, or else the
        engine's state. If neither exists (`get`, import), a resource of a type that the cloud
        doesn't store is assumed to exist, with the properties in its identifier.
        """
        schema, state = self._sdk.resource(type_of(request)), from_wire(request.properties)
        inputs = from_wire(request.inputs)
        if present := self._memory.get(schema.token, request.id):
            inputs = inputs or _imported_inputs(
                schema, {**_in_path(self._row(schema.token), request.id), **present}
            )
            state = {**present, "id": request.id}
        elif self._row(schema.token).remembered and not state and not inputs:
            return provider_pb2.ReadResponse()  # an import of a resource that doesn't exist
        elif not state or set(state) <= set(inputs):
            row = self._row(schema.token)
            given = {**state, _name_property(row, schema) or "id": request.id.rsplit("/", 1)[-1]}
            facts = self._facts(request.urn, schema, row, given, {"id": request.id})
            state = {**real_outputs(schema, row, facts, {}), "id": request.id}
        return provider_pb2.ReadResponse(
            id=request.id, properties=to_wire(state), inputs=to_wire(inputs)
        )

    def Delete(self, request: provider_pb2.DeleteRequest, context: grpc.ServicerContext) -> Empty:
        token, state = type_of(request), from_wire(request.properties)
        row = self._row(token)
        guard = row.protected_by
        if guard and state.get(guard) is True:
            context.abort(
                grpc.StatusCode.FAILED_PRECONDITION,
                f"can't delete {request.id}, because {guard} is true; first set {guard} to false "
                "and run `pulumi up`",
            )
        self._carry_out(row, CloudRequest(request.id, None, state, self._memory), context)
        self._memory.drop(token, request.id)
        return Empty()

    def Invoke(
        self, request: provider_pb2.InvokeRequest, context: grpc.ServicerContext
    ) -> provider_pb2.InvokeResponse:
        arguments = from_wire(request.args)
        try:
            schema = self._sdk.function(request.tok)
        except UnknownType as error:
            context.abort(grpc.StatusCode.NOT_FOUND, str(error))
        unknown = [name for name in arguments if name not in schema.inputs]
        if unknown:
            failures = [
                provider_pb2.CheckFailure(property=name, reason="unknown argument")
                for name in unknown
            ]
            return provider_pb2.InvokeResponse(failures=failures)
        if request.tok not in self._functions:
            context.abort(
                grpc.StatusCode.UNIMPLEMENTED,
                f"the simulated provider of {self._sdk.name} doesn't support the function "
                f"{request.tok}",
            )
        try:
            result = self._functions[request.tok](arguments, self.place(arguments))
        except ValueError as error:
            failure = provider_pb2.CheckFailure(reason=str(error))
            return provider_pb2.InvokeResponse(failures=[failure])
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(to_wire({"id": request.tok, **arguments, **result}))
        return response

    def Cancel(self, request: Empty, context: grpc.ServicerContext) -> Empty:
        return Empty()

    # The calls above use the following functions.

    def _carry_out(
        self, row: TypeRow, request: CloudRequest, context: grpc.ServicerContext
    ) -> None:
        """End the call if the cloud rejects it, also because of other resources.

        Otherwise, apply the effects of the call on other resources.
        """
        if request.inputs is not None:
            for judge in row.api_checks:
                if reason := judge(request.inputs):
                    context.abort(grpc.StatusCode.INVALID_ARGUMENT, reason)
        for refusal in row.refusals:
            if reason := refusal(request):
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, reason)
        for effect in row.effects:
            effect(request)

    def _sent(self, token: str, inputs: Values) -> Values:
        """Return the inputs as the provider sends them."""
        own = self._rules.get(token)
        return own.sent(inputs) if own is not None else inputs

    def _row(self, token: str) -> TypeRow:
        return self._rows.get(token, TypeRow()).over(self._common)

    def _replace_rule(self, token: str) -> ReplaceRule:
        documented = {
            name for name, spec in self._sdk.resource(token).inputs.items() if spec.replaces
        }
        if token in self._rules:
            documented = set()  # the table takes precedence over the text in the SDK
        row = self._row(token)
        named = _name_property(row, self._sdk.resource(token))
        return row.replace_rule(frozenset(documented | ({named} if named else set())))

    def _failures(self, schema: Schema, row: TypeRow, inputs: Values) -> Iterator[PropertyFailure]:
        yield from check_values(schema, inputs)
        yield from check_allowed(row.allowed, inputs)
        if own := self._rules.get(schema.token):
            yield from own.failures(inputs)
        place = self.missing_place(schema, inputs)
        if place is not None:
            yield place
        if not holds_unknown(inputs):
            for check in row.checks:
                reason = check(inputs)
                if reason is not None:
                    yield PropertyFailure("", reason)

    def _facts(
        self, urn: str, schema: Schema, row: TypeRow, inputs: Values, state: Values
    ) -> Facts:
        """Return the template values for one resource. Its identifier is included if it already
        exists.
        """
        named = _name_property(row, schema)
        name = inputs.get(named or "name")
        words = {
            **words_for(f"{urn} {sorted(inputs.items(), key=str)}"),
            **self.place(inputs),
            "logical": urn.rsplit("::", 1)[-1],
            "name": name if isinstance(name, str) else urn.rsplit("::", 1)[-1],
        }
        facts = Facts(inputs, words, state, self._memory)
        words["id"] = str(state.get("id") or facts.text(row.id or self.default_id(schema)))
        return facts


def type_of(request: Any) -> str:
    """Return the type token of the request's resource: the last type in the URN, which lists the
    types from parent to child.
    """
    chain: str = request.urn.split("::")[2]
    return request.type or chain.rsplit("$", 1)[-1]


def _imported_inputs(schema: Schema, present: Values) -> Values:
    """Return the inputs of an imported resource, which are all its properties.

    Its name doesn't count as an automatic name, so a program must set it.
    """
    given = {
        name: value
        for name, value in present.items()
        if name in schema.inputs
        and value not in ({}, [], "")
        and not is_made_up(schema, name, value)
    }
    return {**given, "__defaults": []}


def _in_path(row: TypeRow, identifier: str) -> Values:
    """Return the inputs that are part of the identifier, because a provider can't read them
    anywhere else.
    """
    parts = re.split(r"\{(\w+)\}", row.id)
    pattern = "".join(
        f"(?P<{part}>[^/]+)" if index % 2 else re.escape(part) for index, part in enumerate(parts)
    )
    found = re.fullmatch(pattern, identifier) if len(set(parts[1::2])) == len(parts[1::2]) else None
    return found.groupdict() if found else {}


def _plain(struct: Any) -> Values:
    return {name: value for name, value in from_wire(struct).items() if name != "__defaults"}


def _name_property(row: TypeRow, schema: Schema) -> str:
    """Return the property for which the provider generates a name, or an empty text."""
    if row.name is not None:
        return row.name
    spec = schema.inputs.get("name")
    return "name" if spec is not None and not spec.required and spec.type.kind == "string" else ""


def known_text(value: object) -> str:
    """Return the value if it's a known text, otherwise an empty text."""
    return value if isinstance(value, str) and not is_unknown(value) else ""
