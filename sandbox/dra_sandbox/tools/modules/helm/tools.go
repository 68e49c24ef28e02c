//go:build tools

// Package tools keeps the commands that are built from this module in its go.mod.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
