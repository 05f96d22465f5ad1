// Package kinds lists the kinds of evidence. What all of them have is asked of the list, so that nothing else names them one by one.
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

// All are the kinds. Slices of turns are the last: they are what is meant by bytes that are meant to be nothing else.
var All = []*slice.Kind{facts.Bundles, contexts.Bundles, beliefs.Bundles, slice.Bundles}

// Of returns the kind that bytes are meant to be of.
func Of(data []byte) *slice.Kind {
	for _, k := range All {
		if k.Is(data) {
			return k
		}
	}
	return slice.Bundles
}

// OfSchema returns the kind and the version that a schema version is of; nil if it is of none.
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

// Known reports a schema version that is of no kind, as slice.ErrVersion.
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
	for _, k := range slices.Backward(All) { // the first form is that of a version that nobody knows
		forms = append(forms, k.Parts...)
	}
	return slice.ParseDisclosure(data, forms...)
}
