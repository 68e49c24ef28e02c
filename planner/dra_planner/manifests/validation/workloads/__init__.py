"""What the API server says to the workloads of Kubernetes itself, and to what scales and protects
them.

Source:
kubernetes/kubernetes:pkg/apis/{apps,batch,core,autoscaling,policy}/validation/validation.go@v1.36.3.
"""
