// Command referee answers allocation cases with upstream's structured allocator.
//
// It reads one case per line (JSON) from standard input and writes one answer per line. The allocator is the one
// that upstream picks for the case's features. Where upstream walks Go maps a case has several outcomes: it is run
// as often as `samples` says, and every different outcome is reported.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// patience bounds one call of the allocator, as the scheduler does.
const patience = 10 * time.Second

// Case is the input: objects of the public API, and what is allocated already.
type Case struct {
	ID        string                      `json:"id"`
	Features  json.RawMessage             `json:"features"`
	Classes   []resourceapi.DeviceClass   `json:"classes"`
	Slices    []resourceapi.ResourceSlice `json:"slices"`
	Nodes     []v1.Node                   `json:"nodes"`
	Claims    []resourceapi.ResourceClaim `json:"claims"`
	Allocated []resourceapi.ResourceClaim `json:"allocated"`
	Samples   int                         `json:"samples"`
	Repeat    int                         `json:"repeat"` // > 0: measure so many calls
}

// Device is one device of an outcome, in the order of the allocation.
type Device struct {
	Request  string            `json:"request"`
	Driver   string            `json:"driver"`
	Pool     string            `json:"pool"`
	Device   string            `json:"device"`
	Admin    bool              `json:"admin,omitempty"`
	Shared   bool              `json:"shared,omitempty"`
	Consumed map[string]string `json:"consumed,omitempty"`
}

// Claim is the allocation of one claim.
type Claim struct {
	Devices      []Device         `json:"devices"`
	NodeSelector *v1.NodeSelector `json:"nodeSelector,omitempty"`
}

// Outcome is one thing that the allocator gave: fit, nofit, error, panic or timeout.
type Outcome struct {
	Verdict  string  `json:"verdict"`
	Claims   []Claim `json:"claims,omitempty"`
	Error    string  `json:"error,omitempty"`
	NodeOnly bool    `json:"nodeOnly,omitempty"`
}

// Answer is the output for one case.
type Answer struct {
	ID       string    `json:"id"`
	Outcomes []Outcome `json:"outcomes,omitempty"`
	Nanos    int64     `json:"nanos,omitempty"` // per call, where the case asked for it
	Fault    string    `json:"fault,omitempty"` // the case could not be run
}

type lister []resourceapi.DeviceClass

func (l lister) List() ([]*resourceapi.DeviceClass, error) {
	var all []*resourceapi.DeviceClass
	for i := range l {
		all = append(all, &l[i])
	}
	return all, nil
}

func (l lister) Get(name string) (*resourceapi.DeviceClass, error) {
	for i := range l {
		if l[i].Name == name {
			return &l[i], nil
		}
	}
	return nil, fmt.Errorf("deviceclass.resource.k8s.io %q not found", name)
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	decoder, encoder := json.NewDecoder(in), json.NewEncoder(out)
	for decoder.More() {
		var c Case
		if err := decoder.Decode(&c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := encoder.Encode(answer(&c)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func answer(c *Case) Answer {
	features, cache, err := settings(c)
	if err != nil {
		return Answer{ID: c.ID, Fault: err.Error()}
	}
	for i := range c.Claims {
		setDefaults(&c.Claims[i])
	}
	a := Answer{ID: c.ID}
	seen := sets.New[string]()
	for i := range max(1, c.Samples) {
		if c.Samples > 1 {
			reorderPools(c.Slices, i%2 == 1)
		}
		o := allocate(c, features, cache)
		key, _ := json.Marshal(o)
		if !seen.Has(string(key)) {
			seen.Insert(string(key))
			a.Outcomes = append(a.Outcomes, o)
		}
		if o.Verdict == "timeout" {
			break
		}
	}
	if c.Repeat > 0 {
		start := time.Now()
		for range c.Repeat {
			allocate(c, features, cache)
		}
		a.Nanos = time.Since(start).Nanoseconds() / int64(c.Repeat)
	}
	return a
}

// reorderPools makes the last pool come first every other time, so that both orders of two pools are seen soon. The
// slices of one pool keep their order.
func reorderPools(all []resourceapi.ResourceSlice, backwards bool) {
	slices.SortStableFunc(all, func(a, b resourceapi.ResourceSlice) int {
		order := cmp.Or(cmp.Compare(a.Spec.Driver, b.Spec.Driver), cmp.Compare(a.Spec.Pool.Name, b.Spec.Pool.Name))
		if backwards {
			return -order
		}
		return order
	})
}

// settings reads the features, whose fields differ from version to version, by name.
func settings(c *Case) (structured.Features, *cel.Cache, error) {
	var features structured.Features
	var celFeatures cel.Features
	if err := json.Unmarshal(c.Features, &features); err != nil {
		return features, nil, err
	}
	var on map[string]bool
	if err := json.Unmarshal(c.Features, &on); err != nil {
		return features, nil, err
	}
	byName, err := json.Marshal(map[string]bool{
		"EnableConsumableCapacity": on["ConsumableCapacity"],
		"EnableListTypeAttributes": on["ListTypeAttributes"],
	})
	if err == nil {
		err = json.Unmarshal(byName, &celFeatures)
	}
	return features, cel.NewCache(100, celFeatures), err
}

// setDefaults does what the API server does to claims.
func setDefaults(claim *resourceapi.ResourceClaim) {
	for i := range claim.Spec.Devices.Requests {
		r := &claim.Spec.Devices.Requests[i]
		if e := r.Exactly; e != nil {
			e.AllocationMode, e.Count = mode(e.AllocationMode, e.Count)
			setOperators(e.Tolerations)
		}
		for j := range r.FirstAvailable {
			s := &r.FirstAvailable[j]
			s.AllocationMode, s.Count = mode(s.AllocationMode, s.Count)
			setOperators(s.Tolerations)
		}
	}
}

func mode(m resourceapi.DeviceAllocationMode, count int64) (resourceapi.DeviceAllocationMode, int64) {
	if m == "" {
		m = resourceapi.DeviceAllocationModeExactCount
	}
	if m == resourceapi.DeviceAllocationModeExactCount && count == 0 {
		count = 1
	}
	return m, count
}

func setOperators(tolerations []resourceapi.DeviceToleration) {
	for i := range tolerations {
		if tolerations[i].Operator == "" {
			tolerations[i].Operator = resourceapi.DeviceTolerationOpEqual
		}
	}
}

func allocate(c *Case, features structured.Features, cache *cel.Cache) (o Outcome) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			o = Outcome{Verdict: "panic", Error: fmt.Sprint(r)}
		}
	}()
	var all []*resourceapi.ResourceSlice
	for i := range c.Slices {
		all = append(all, &c.Slices[i])
	}
	var claims []*resourceapi.ResourceClaim
	for i := range c.Claims {
		claims = append(claims, &c.Claims[i])
	}
	allocator, err := structured.NewAllocator(ctx, features, allocatedState(c), lister(c.Classes), all, cache)
	if err != nil {
		return Outcome{Verdict: "error", Error: err.Error()}
	}
	results, err := allocator.Allocate(ctx, &c.Nodes[0], claims)
	switch {
	case ctx.Err() != nil:
		return Outcome{Verdict: "timeout"}
	case err != nil:
		return Outcome{Verdict: "error", Error: err.Error(), NodeOnly: nodeOnly(err)}
	case results == nil && len(claims) > 0:
		return Outcome{Verdict: "nofit"}
	}
	o = Outcome{Verdict: "fit"}
	for _, r := range results {
		o.Claims = append(o.Claims, describe(r))
	}
	return o
}

// nodeOnly tells errors that concern this node alone, which upstream marks with an error whose text is empty.
func nodeOnly(err error) bool {
	for err != nil {
		if err.Error() == "" {
			return true
		}
		err = errors.Unwrap(err)
	}
	return false
}

func allocatedState(c *Case) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range c.Allocated {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, r := range claim.Status.Allocation.Devices.Results {
			if r.AdminAccess != nil && *r.AdminAccess {
				continue
			}
			id := structured.MakeDeviceID(r.Driver, r.Pool, r.Device)
			if r.ShareID == nil {
				state.AllocatedDevices.Insert(id)
				continue
			}
			state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, (*types.UID)(r.ShareID)))
			if r.ConsumedCapacity != nil {
				state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, r.ConsumedCapacity))
			}
		}
	}
	return state
}

func describe(r resourceapi.AllocationResult) Claim {
	claim := Claim{Devices: []Device{}, NodeSelector: r.NodeSelector}
	for _, d := range r.Devices.Results {
		device := Device{
			Request: d.Request, Driver: d.Driver, Pool: d.Pool, Device: d.Device,
			Admin: d.AdminAccess != nil && *d.AdminAccess, Shared: d.ShareID != nil,
		}
		for name, q := range d.ConsumedCapacity {
			if device.Consumed == nil {
				device.Consumed = map[string]string{}
			}
			device.Consumed[string(name)] = q.AsDec().String()
		}
		claim.Devices = append(claim.Devices, device)
	}
	if claim.NodeSelector != nil {
		for _, term := range claim.NodeSelector.NodeSelectorTerms {
			sortRequirements(term.MatchExpressions)
			sortRequirements(term.MatchFields)
		}
	}
	return claim
}

func sortRequirements(requirements []v1.NodeSelectorRequirement) {
	for i := range requirements {
		slices.Sort(requirements[i].Values)
	}
	slices.SortFunc(requirements, func(a, b v1.NodeSelectorRequirement) int {
		return slices.Compare(
			append([]string{a.Key, string(a.Operator)}, a.Values...),
			append([]string{b.Key, string(b.Operator)}, b.Values...),
		)
	})
}
