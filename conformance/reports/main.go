// Judges reports of `pulumi-dra check` with readers and schemas of others:
//
//	reports schema SCHEMA.json REPORT…   JSON against a schema (OASIS's for SARIF, ours for JSON)
//	reports sarif REPORT…                read by go-sarif, no unknown key
//	reports junit REPORT…                read by go-junit; prints what it counted
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/joshdk/go-junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func main() {
	if len(os.Args) < 3 {
		fail("usage: reports schema SCHEMA REPORT… | sarif REPORT… | junit REPORT…")
	}
	switch os.Args[1] {
	case "schema":
		againstSchema(os.Args[2], os.Args[3:])
	case "sarif":
		asSarif(os.Args[2:])
	case "junit":
		asJunit(os.Args[2:])
	default:
		fail("unknown: " + os.Args[1])
	}
}

func againstSchema(path string, reports []string) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile(path)
	check(path, err)
	for _, report := range reports {
		file, err := os.Open(report)
		check(report, err)
		document, err := jsonschema.UnmarshalJSON(file)
		check(report, err)
		check(report, schema.Validate(document))
	}
}

func asSarif(reports []string) {
	for _, name := range reports {
		text, err := os.ReadFile(name)
		check(name, err)
		var report sarif.Report
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		check(name, decoder.Decode(&report))
	}
}

// asJunit prints one line for each report: tests, failures, skipped, and the names of all cases.
func asJunit(reports []string) {
	for _, name := range reports {
		suites, err := junit.IngestFile(name)
		check(name, err)
		for _, suite := range suites {
			names := []string{}
			for _, test := range suite.Tests {
				names = append(names, test.Name)
			}
			line, err := json.Marshal(map[string]any{
				"tests": suite.Totals.Tests, "failed": suite.Totals.Failed, "skipped": suite.Totals.Skipped, "names": names,
			})
			check(name, err)
			fmt.Println(string(line))
		}
	}
}

func check(name string, err error) {
	if err != nil {
		fail(fmt.Sprintf("%s: %v", name, err))
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}
