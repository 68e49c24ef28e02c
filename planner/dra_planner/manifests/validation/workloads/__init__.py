"""The API server's rules for Kubernetes' own workloads, and for objects that scale and protect
them.

Source:
kubernetes/kubernetes:pkg/apis/{apps,batch,core,autoscaling,policy}/validation/validation.go@v1.36.3.
"""
