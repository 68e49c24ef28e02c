#!/bin/sh
gcloud container node-pools create gpus --cluster=c --location=us-central1-a --machine-type=g2-standard-24 \
  --accelerator=type=nvidia-l4,count=2,gpu-driver-version=latest
helm install dra oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu --version 0.4.1 -n dra --create-namespace --set gpuResourcesEnabledOverride=true
minikube start --feature-gates=DynamicResourceAllocation=true --extra-config=apiserver.runtime-config=resource.k8s.io/v1beta1=true
kube-apiserver --feature-gates=DynamicResourceAllocation=true,DRAControlPlaneController=true --runtime-config=resource.k8s.io/v1alpha2=true
