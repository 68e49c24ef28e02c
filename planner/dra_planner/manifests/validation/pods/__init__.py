"""The API server's validation of pods and pod templates.

Source: kubernetes/kubernetes:pkg/apis/core/validation/validation.go@v1.36.3, checked with v1.34.9,
v1.35.4 and v1.37.0.
"""
