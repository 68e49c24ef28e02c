//go:build tools

// Package tools keeps the commands that are built from this module in its go.mod.
package tools

import _ "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"
