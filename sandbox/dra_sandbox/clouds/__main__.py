"""`pulumi-resource-<cloud>`: serve one simulated provider to the engine; the first argument names the cloud."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dra_sandbox.protocol import import_protocol_alone

if TYPE_CHECKING:
    import grpc
    from pulumi.runtime.proto import provider_pb2_grpc


def provider(cloud: str) -> provider_pb2_grpc.ResourceProviderServicer:
    """The simulated provider of a cloud. Raises KeyError for one that has none."""
    if cloud == "aws":
        from dra_sandbox.clouds.aws.provider import Aws

        return Aws()
    if cloud == "gcp":
        from dra_sandbox.clouds.gcp.provider import Gcp

        return Gcp()
    if cloud == "azure-native":
        from dra_sandbox.clouds.azure.provider import Azure

        return Azure()
    if cloud == "kubernetes":
        from dra_sandbox.clouds.kubernetes.cluster import chosen_cluster
        from dra_sandbox.clouds.kubernetes.provider import Kubernetes

        return Kubernetes(chosen_cluster())
    raise KeyError(cloud)


def main() -> None:
    """Serve until the engine stops us."""
    import_protocol_alone()
    from pulumi.runtime.proto import provider_pb2_grpc

    from dra_sandbox.serving import serve

    servicer = provider(sys.argv[1])

    def register(server: grpc.Server) -> None:
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)

    serve(register)


if __name__ == "__main__":
    main()
