package cel

// Put beside upstream's own test in a scratch copy of the module, where the
// table is a package variable. Fields that not all versions have are read by
// reflection.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	exact "k8s.io/dynamic-resource-allocation/zzexact"
)

const samples = 20 // a cost may depend on the order of a Go map

type celOutcome struct {
	Match      bool                         `json:"match"`
	Value      *resourceapi.DeviceAttribute `json:"value,omitempty"` // of a derived attribute
	Error      string                       `json:"error,omitempty"`
	ActualCost *uint64                      `json:"actualCost,omitempty"`
}

type celDevice struct {
	Driver                   string          `json:"driver"`
	AllowMultipleAllocations *bool           `json:"allowMultipleAllocations,omitempty"`
	Attributes               json.RawMessage `json:"attributes,omitempty"`
	Capacity                 json.RawMessage `json:"capacity,omitempty"`
}

// The first keys are those of the recorder's Case.
type celRecord struct {
	Name     string          `json:"name"`
	Features map[string]bool `json:"features"`
	CEL      []string        `json:"cel"`
	Device   *celDevice      `json:"device,omitempty"`
	New      bool            `json:"new"` // NewExpressions, else StoredExpressions

	Table        string         `json:"table"`
	Derived      bool           `json:"derived,omitempty"`
	CompileError string         `json:"compileError,omitempty"`
	MaxCost      *uint64        `json:"maxCost,omitempty"`
	OutputType   string         `json:"outputType,omitempty"`
	Outcomes     []celOutcome   `json:"outcomes,omitempty"`
	Expect       map[string]any `json:"expect,omitempty"` // what upstream's table asks for
}

var celRecords []celRecord

func makeFeatures(consumable, lists bool) (f Features) {
	f.EnableConsumableCapacity = consumable
	if v := reflect.ValueOf(&f).Elem().FieldByName("EnableListTypeAttributes"); v.IsValid() {
		v.SetBool(lists)
	}
	return f
}

func makeDevice(d Device) *celDevice {
	attributes, _ := exact.Attributes(d.Attributes)
	capacity := maps.Clone(d.Capacity)
	exact.FixQuantities(reflect.ValueOf(&capacity))
	return &celDevice{d.Driver, d.AllowMultipleAllocations, attributes, exact.Raw(capacity)}
}

func (r *celRecord) note(result CompilationResult, evaluate func() celOutcome) {
	if result.Error != nil {
		r.CompileError = result.Error.Detail
	} else {
		r.MaxCost = &result.MaxCost
		r.OutputType = result.OutputType.String()
		if evaluate != nil {
			seen := map[string]celOutcome{}
			for range samples {
				o := evaluate()
				seen[string(exact.Raw(o))] = o
			}
			for _, k := range slices.Sorted(maps.Keys(seen)) {
				r.Outcomes = append(r.Outcomes, seen[k])
			}
		}
	}
	celRecords = append(celRecords, *r)
}

func TestRecord(t *testing.T) {
	both := []bool{false, true}
	for name, tc := range testcases {
		v := reflect.ValueOf(tc)
		consumable, lists := []bool{false}, []bool{false}
		envTypes := []environment.Type{environment.StoredExpressions}
		if f := v.FieldByName("features"); f.IsValid() {
			envTypes = append(envTypes, environment.NewExpressions)
			if consumable, lists = both, both; !f.IsNil() {
				consumable = []bool{f.Elem().FieldByName("EnableConsumableCapacity").Bool()}
				lists = []bool{f.Elem().FieldByName("EnableListTypeAttributes").Bool()}
			}
		}
		if f := v.FieldByName("enableConsumableCapacity"); f.IsValid() {
			consumable = []bool{f.Bool()}
		}
		if f := v.FieldByName("enableListTypeAttributes"); f.IsValid() {
			if lists = both; !f.IsNil() {
				lists = []bool{f.Elem().Bool()}
			}
		}
		if tc.envType != nil {
			envTypes = []environment.Type{*tc.envType}
		}
		device := Device{Driver: tc.driver, AllowMultipleAllocations: tc.allowMultipleAllocations, Attributes: tc.attributes, Capacity: tc.capacity}
		for _, c := range consumable {
			for _, l := range lists {
				for _, envType := range envTypes {
					r := celRecord{
						Name: name, Table: "TestCEL", CEL: []string{tc.expression}, Device: makeDevice(device),
						Features: map[string]bool{"ConsumableCapacity": c, "ListTypeAttributes": l},
						New:      envType == environment.NewExpressions,
						Expect: map[string]any{"compileError": tc.expectCompileError, "error": tc.expectMatchError,
							"match": tc.expectMatch, "maxCost": tc.expectCost},
					}
					result := GetCompiler(makeFeatures(c, l)).CompileCELExpression(tc.expression, Options{EnvType: &envType})
					r.note(result, func() (o celOutcome) {
						match, details, err := result.DeviceMatches(context.Background(), device)
						if err != nil {
							o.Error = err.Error()
						}
						o.Match, o.ActualCost = match, details.ActualCost()
						return o
					})
				}
			}
		}
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	var lines []string
	for _, r := range celRecords {
		lines = append(lines, string(exact.Raw(r)))
	}
	slices.Sort(lines)
	var out bytes.Buffer
	for _, l := range lines {
		out.WriteString(l + "\n")
	}
	if code == 0 {
		if err := os.WriteFile(os.Getenv("RECORD_OUT"), out.Bytes(), 0o644); err != nil {
			panic(err)
		}
		fmt.Printf("recorded %d runs\n", len(lines))
	}
	os.Exit(code)
}
