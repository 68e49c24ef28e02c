"""A simulated AWS that a test fills with resources, asked as the engine asks it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.memory import VARIABLE, Memory
from dra_sandbox.clouds.wire import from_wire, to_wire


class Cloud:
    """A simulated AWS with nothing in it."""

    def __init__(self, simulated: Any) -> None:
        self._aws = simulated("aws")
        self._aws.Configure(provider_pb2.ConfigureRequest(args=to_wire({"region": "eu-west-1"})))

    def complaint(self, token: str, inputs: dict[str, Any]) -> str:
        request = provider_pb2.CheckRequest(urn=_urn(token), news=to_wire(inputs), randomSeed=b"seed", name="trial")
        return "; ".join(failure.reason for failure in self._aws.Check(request).failures)

    def create(self, token: str, **inputs: Any) -> dict[str, Any]:
        answer = self._aws.Create(provider_pb2.CreateRequest(urn=_urn(token), properties=to_wire(inputs)))
        return {**from_wire(answer.properties), "id": answer.id}

    def update(self, token: str, state: dict[str, Any], **inputs: Any) -> dict[str, Any]:
        request = provider_pb2.UpdateRequest(
            id=state["id"], urn=_urn(token), olds=to_wire(state), old_inputs=to_wire(inputs), news=to_wire(inputs)
        )
        return from_wire(self._aws.Update(request).properties)

    def delete(self, token: str, state: dict[str, Any]) -> None:
        self._aws.Delete(provider_pb2.DeleteRequest(id=state["id"], urn=_urn(token), properties=to_wire(state)))

    def ask(self, token: str, **arguments: str) -> dict[str, Any]:
        answer = self._aws.Invoke(provider_pb2.InvokeRequest(tok=token, args=to_wire(arguments)))
        assert not answer.failures, answer.failures
        return from_wire(getattr(answer, "return"))


def _urn(token: str) -> str:
    return f"urn:pulumi:dev::p::parent:index:C${token}::trial"


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """The simulated cloud's things, which a test changes beside the provider."""
    file = tmp_path / "cloud.json"
    monkeypatch.setenv(VARIABLE, str(file))
    return Memory(file)


@pytest.fixture
def cloud(memory: Memory, simulated) -> Cloud:
    return Cloud(simulated)
