"""Groups and kinds of objects that configure a cluster or describe models, but don't create pods of
workloads.
"""

from __future__ import annotations

from typing import Final

from dra_planner.manifests.workloads.kinds import CONFIGURATIONS

KNOWN_GROUPS: Final = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "aigateway.envoyproxy.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "autoscaling",
        "batch.volcano.sh",
        "bus.volcano.sh",
        "cert-manager.io",
        "certificates.k8s.io",
        "cilium.io",
        "cloud.google.com",
        "config.kueue.x-k8s.io",
        "config.openshift.io",
        "configmanagement.gke.io",
        "constraints.gatekeeper.sh",
        "coordination.k8s.io",
        "crd.projectcalico.org",
        "discovery.k8s.io",
        "eksctl.io",
        "external-secrets.io",
        "flow.volcano.sh",
        "flowcontrol.apiserver.k8s.io",
        "gateway.envoyproxy.io",
        "gateway.kgateway.dev",
        "gateway.networking.k8s.io",
        "grafana.integreatly.org",
        "image.toolkit.fluxcd.io",
        "inference.networking.k8s.io",
        "inference.networking.x-k8s.io",
        "integreatly.org",
        "k8s.cni.cncf.io",
        "karpenter.azure.com",
        "karpenter.k8s.aws",
        "karpenter.sh",
        "keda.sh",
        "kind.x-k8s.io",
        "kubeadm.k8s.io",
        "kubelet.config.k8s.io",
        "kubermatic.k8c.io",
        "kubescheduler.config.k8s.io",
        "kueue.x-k8s.io",
        "kustomize.config.k8s.io",
        "kyverno.io",
        "machine.openshift.io",
        "machineconfiguration.openshift.io",
        "mellanox.com",
        "metallb.io",
        "monitoring.coreos.com",
        "monitoring.googleapis.com",
        "mutations.gatekeeper.sh",
        "networking.gke.io",
        "networking.istio.io",
        "networking.k8s.io",
        "nfd.k8s-sigs.io",
        "nfd.openshift.io",
        "node.k8s.io",
        "notification.toolkit.fluxcd.io",
        "nvidia.com",
        "operator.openshift.io",
        "operators.coreos.com",
        "policy",
        "projectcontour.io",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "resource.nvidia.com",
        "route.openshift.io",
        "scheduling.k8s.io",
        "scheduling.run.ai",
        "scheduling.volcano.sh",
        "scheduling.x-k8s.io",
        "secrets-store.csi.x-k8s.io",
        "security.istio.io",
        "security.openshift.io",
        "snapshot.storage.k8s.io",
        "source.toolkit.fluxcd.io",
        "sriovnetwork.openshift.io",
        "storage.k8s.io",
        "telemetry.istio.io",
        "templates.gatekeeper.sh",
        "traefik.io",
        "user.openshift.io",
        "vpcresources.k8s.aws",
    }
)
"""Groups of objects that configure a cluster. Their kinds that create pods are read as
workloads.
"""
KNOWN_KINDS: Final = CONFIGURATIONS | frozenset(
    {
        ("apps.nvidia.com", "NIMCache"),
        ("inference.llmaz.io", "BackendRuntime"),
        ("llmaz.io", "OpenModel"),
        ("model.aibrix.ai", "ModelAdapter"),
        ("ome.io", "BaseModel"),
        ("ome.io", "ClusterBaseModel"),
        ("ome.io", "ClusterServingRuntime"),
        ("ome.io", "FineTunedWeight"),
        ("ome.io", "ServingRuntime"),
    }
)
"""Kinds that describe models and runtimes, to which other objects refer by name.
Source: NVIDIA/k8s-nim-operator:api/apps/v1alpha1@f63f74d, InftyAI/llmaz:api,
vllm-project/aibrix:api/model/v1alpha1, sgl-project/ome:pkg/apis/ome/v1beta1.
"""
