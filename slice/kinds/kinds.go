// Package kinds lists the kinds of evidence. Code for all kinds uses this list, so that no other package names them one
// by one.
package kinds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/beliefs"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
)

// All lists the kinds. Slices of turns come last, because bytes that no other kind claims are taken as a slice of
// turns.
var All = []*slice.Kind{facts.Bundles, contexts.Bundles, beliefs.Bundles, slice.Bundles}

// Of returns the kind of bundle that the bytes claim to be.
func Of(data []byte) *slice.Kind {
	for _, k := range All {
		if k.Is(data) {
			return k
		}
	}
	return slice.Bundles
}

// OfSchema returns the kind with a schema version, and its form for that version; nil if no kind has the version.
func OfSchema(version string) (*slice.Kind, *slice.KindForm) {
	for _, k := range All {
		for i := range k.Forms {
			if k.Forms[i].Schema == version {
				return k, &k.Forms[i]
			}
		}
	}
	return nil, nil
}

// Known returns slice.ErrVersion if no kind has a schema version.
func Known(version string) error {
	if k, _ := OfSchema(version); k != nil {
		return nil
	}
	var known []string
	for _, k := range slices.Backward(All) {
		for i := range k.Forms {
			known = append(known, k.Forms[i].Schema)
		}
	}
	return fmt.Errorf("%w: schema_version %.40q, want one of %s", slice.ErrVersion, version, strings.Join(known, ", "))
}

// Parse reads a bundle of any kind.
func Parse(data []byte) (slice.Body, error) {
	return Of(data).Parse(data)
}

// ParseDisclosure reads a disclosure of any kind of evidence.
func ParseDisclosure(data []byte) (*slice.Disclosure, error) {
	var forms []*slice.DisclosureForm
	for _, k := range slices.Backward(All) { // slice.ParseDisclosure uses the first form for an unknown version: slices of turns
		forms = append(forms, k.Parts...)
	}
	return slice.ParseDisclosure(data, forms...)
}
