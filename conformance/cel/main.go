// Command cel answers selectors with the verdict of Kubernetes' own library.
//
// It reads cases as JSON lines and writes one line for each: whether the selector compiles, its estimated cost, and for
// every device the verdict, the message and the cost spent. Asked to `repeat`, it evaluates each device that often and
// gives every different outcome (the order of a Go map is random, and some outcomes hang on it).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/dynamic-resource-allocation/cel"
)

type device struct {
	Driver                   string                                                    `json:"driver"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity                 map[resourceapi.QualifiedName]string                      `json:"capacity"`
}

type question struct {
	ID                 string   `json:"id"`
	Expression         string   `json:"expression"`
	Environment        string   `json:"environment"`
	ListAttributes     bool     `json:"listAttributes"`
	ConsumableCapacity bool     `json:"consumableCapacity"`
	Repeat             int      `json:"repeat"`
	Devices            []device `json:"devices"`
}

type outcome struct {
	Verdict string `json:"verdict"`
	Message string `json:"message,omitempty"`
	Cost    uint64 `json:"cost"`
}

type answer struct {
	ID        string      `json:"id"`
	Refused   string      `json:"refused,omitempty"`
	Panicked  bool        `json:"panicked,omitempty"`
	Estimated uint64      `json:"estimated"`
	Result    string      `json:"result,omitempty"`
	Outcomes  [][]outcome `json:"outcomes,omitempty"`
}

func main() {
	log.SetFlags(0)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<26)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			log.Fatalf("not a case: %v: %s", err, lines.Text())
		}
		if err := encoder.Encode(judge(q)); err != nil {
			log.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}

// judge answers one case. A panic of the library is an answer too.
func judge(q question) (a answer) {
	a.ID = q.ID
	defer func() {
		if p := recover(); p != nil {
			a.Refused, a.Panicked = fmt.Sprint(p), true
		}
	}()
	kind := environment.StoredExpressions
	if q.Environment == "new" {
		kind = environment.NewExpressions
	}
	compiled := cel.GetCompiler(features(q)).CompileCELExpression(q.Expression, cel.Options{EnvType: &kind})
	if compiled.Error != nil {
		a.Refused = compiled.Error.Detail
		return a
	}
	a.Estimated, a.Result = compiled.MaxCost, compiled.OutputType.String()
	for _, d := range q.Devices {
		var seen []outcome
		for range max(1, q.Repeat) {
			seen = addNew(seen, evaluate(compiled, d))
		}
		a.Outcomes = append(a.Outcomes, seen)
	}
	return a
}

// features sets the gates that this version of the library has.
func features(q question) (f cel.Features) {
	gates := map[string]bool{"EnableConsumableCapacity": q.ConsumableCapacity, "EnableListTypeAttributes": q.ListAttributes}
	data, err := json.Marshal(gates)
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		log.Fatal(err)
	}
	return f
}

func evaluate(compiled cel.CompilationResult, d device) (o outcome) {
	input := cel.Device{Driver: d.Driver, Attributes: d.Attributes, AllowMultipleAllocations: d.AllowMultipleAllocations}
	input.Capacity = map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{}
	for name, value := range d.Capacity {
		input.Capacity[name] = resourceapi.DeviceCapacity{Value: resource.MustParse(value)}
	}
	matches, details, err := compiled.DeviceMatches(context.Background(), input)
	if details != nil && details.ActualCost() != nil {
		o.Cost = *details.ActualCost()
	}
	switch {
	case err != nil:
		o.Verdict, o.Message = "error", err.Error()
	case matches:
		o.Verdict = "match"
	default:
		o.Verdict = "no-match"
	}
	return o
}

func addNew(seen []outcome, o outcome) []outcome {
	for _, s := range seen {
		if s == o {
			return seen
		}
	}
	return append(seen, o)
}
