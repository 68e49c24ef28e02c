"""Simulated clouds that tests fill with resources, called in the same way as by the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.existing_resources import VARIABLE, Memory
from dra_sandbox.clouds.wire_values import from_wire, to_wire


class Cloud:
    """A simulated AWS without resources."""

    def __init__(self, simulated: Any) -> None:
        self._aws = simulated("aws")
        self._aws.Configure(provider_pb2.ConfigureRequest(args=to_wire({"region": "eu-west-1"})))

    def check_error(self, token: str, inputs: dict[str, Any]) -> str:
        request = provider_pb2.CheckRequest(
            urn=_urn(token), news=to_wire(inputs), randomSeed=b"seed", name="trial"
        )
        return "; ".join(failure.reason for failure in self._aws.Check(request).failures)

    def create(self, token: str, **inputs: Any) -> dict[str, Any]:
        answer = self._aws.Create(
            provider_pb2.CreateRequest(urn=_urn(token), properties=to_wire(inputs))
        )
        return {**from_wire(answer.properties), "id": answer.id}

    def update(
        self, token: str, state: dict[str, Any], *, hours: float = 0, **inputs: Any
    ) -> dict[str, Any]:
        olds, news, timeout = to_wire(state), to_wire(inputs), hours * 3600
        request = provider_pb2.UpdateRequest(
            id=state["id"], urn=_urn(token), olds=olds, old_inputs=news, news=news, timeout=timeout
        )
        return from_wire(self._aws.Update(request).properties)

    def delete(self, token: str, state: dict[str, Any]) -> None:
        self._aws.Delete(
            provider_pb2.DeleteRequest(id=state["id"], urn=_urn(token), properties=to_wire(state))
        )

    def invoke(self, token: str, **arguments: str) -> dict[str, Any]:
        answer = self._aws.Invoke(provider_pb2.InvokeRequest(tok=token, args=to_wire(arguments)))
        assert not answer.failures, answer.failures
        return from_wire(getattr(answer, "return"))


class Azure:
    """A simulated Azure without resources, called in the same way as by the engine."""

    def __init__(self, simulated: Any) -> None:
        self._azure = simulated("azure-native")
        self._azure.Configure(provider_pb2.ConfigureRequest(args=to_wire({"location": "eastus"})))

    def check_error(self, token: str, inputs: dict[str, Any]) -> str:
        request = provider_pb2.CheckRequest(
            urn=azure_urn(token), news=to_wire(inputs), randomSeed=b"seed", name="trial"
        )
        return "; ".join(failure.reason for failure in self._azure.Check(request).failures)

    def name(self, token: str, inputs: dict[str, Any]) -> dict[str, Any]:
        request = provider_pb2.CheckRequest(
            urn=azure_urn(token), news=to_wire(inputs), randomSeed=b"seed", name="trial"
        )
        return from_wire(self._azure.Check(request).inputs)

    def create(self, token: str, **inputs: Any) -> dict[str, Any]:
        answer = self._azure.Create(
            provider_pb2.CreateRequest(urn=azure_urn(token), properties=to_wire(inputs))
        )
        return {**from_wire(answer.properties), "id": answer.id}

    def update(
        self,
        token: str,
        state: dict[str, Any],
        before: dict[str, Any],
        after: dict[str, Any],
        *,
        hours: float = 0,
    ) -> dict[str, Any]:
        old, new, timeout = to_wire(before), to_wire(after), hours * 3600
        request = provider_pb2.UpdateRequest(
            id=state["id"],
            urn=azure_urn(token),
            olds=to_wire(state),
            old_inputs=old,
            news=new,
            timeout=timeout,
        )
        return from_wire(self._azure.Update(request).properties)

    def delete(self, token: str, state: dict[str, Any]) -> None:
        self._azure.Delete(
            provider_pb2.DeleteRequest(
                id=state["id"], urn=azure_urn(token), properties=to_wire(state)
            )
        )

    def replaces(self, token: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
        request = provider_pb2.DiffRequest(
            urn=azure_urn(token), old_inputs=to_wire(before), news=to_wire(after)
        )
        return list(self._azure.Diff(request).replaces)

    def invoke(self, token: str, **arguments: str) -> Any:
        return self._azure.Invoke(provider_pb2.InvokeRequest(tok=token, args=to_wire(arguments)))


def azure_urn(token: str) -> str:
    return f"urn:pulumi:dev::p::{token}::trial"


def _urn(token: str) -> str:
    return f"urn:pulumi:dev::p::parent:index:C${token}::trial"


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Return the resources of the simulated cloud, which tests change without the provider."""
    file = tmp_path / "cloud.json"
    monkeypatch.setenv(VARIABLE, str(file))
    return Memory(file)


@pytest.fixture
def cloud(memory: Memory, simulated) -> Cloud:
    return Cloud(simulated)


@pytest.fixture
def azure(simulated: Any) -> Azure:
    return Azure(simulated)
