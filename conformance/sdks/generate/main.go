// Writes the SDKs that `pulumi package gen-sdk` would make of a schema: `generate SCHEMA FOLDER` → FOLDER/go, FOLDER/nodejs.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	gogen "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

const tool = "pulumi-dra conformance"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: generate SCHEMA FOLDER")
		os.Exit(2)
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate(path, folder string) error {
	pkg, err := read(path)
	if err != nil {
		return err
	}
	files, err := gogen.GeneratePackage(tool, pkg, nil)
	if err != nil {
		return fmt.Errorf("Go: %w", err)
	}
	if err := write(filepath.Join(folder, "go"), files); err != nil {
		return err
	}
	files, err = nodejs.GeneratePackage(tool, pkg, nil, nil, true, nil)
	if err != nil {
		return fmt.Errorf("TypeScript: %w", err)
	}
	return write(filepath.Join(folder, "nodejs"), files)
}

// read binds a schema that refers to no other package, and takes a warning for an error.
func read(path string) (*schema.Package, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	pkg, found, err := schema.BindSpec(spec, schema.NewNullLoader(), schema.ValidationOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(found) > 0 {
		return nil, fmt.Errorf("%s: %v", path, found)
	}
	return pkg, nil
}

func write(folder string, files map[string][]byte) error {
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
