//go:build tools

// Package tools keeps the command that is built from this module in its go.mod.
package tools

import _ "go.etcd.io/etcd/server/v3"
