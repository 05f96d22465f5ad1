package attest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// A kind combines the properties of the statements about one version of a kind of bundle. The error for a statement of
// an unknown predicate type is ErrVersion: under the rules of in-toto, a member whose absence would change the meaning
// of other members requires a new predicate type.
type kind struct {
	*slice.KindForm
	*slice.Kind
}

// all lists the kinds of bundles that statements can describe. The first is assumed for a statement whose predicateType
// is not a string; such a statement is malformed.
var all = func() (list []kind) {
	for _, k := range slices.Backward(kinds.All) {
		for i := range k.Forms {
			list = append(list, kind{&k.Forms[i], k})
		}
	}
	return list
}()

// kindOf returns the kind of bundle with a schema version, or nil.
func kindOf(schema string) *kind {
	if at := slices.IndexFunc(all, func(k kind) bool { return k.Schema == schema }); at >= 0 {
		return &all[at]
	}
	return nil
}

// checkVersion returns the kind of the statement. It checks the versions before anything else, because another version
// may have other members.
func checkVersion(doc *canon.Value) (*kind, error) {
	if said := stringAt(doc, "_type"); said != nil && *said != StatementType {
		return nil, unknown("_type", *said, StatementType)
	}
	k := &all[0]
	if said := stringAt(doc, "predicateType"); said != nil {
		at := slices.IndexFunc(all, func(k kind) bool { return k.Predicate == *said })
		if at < 0 {
			var known []string
			for i := range all {
				known = append(known, all[i].Predicate)
			}
			return nil, unknown("predicateType", *said, known...)
		}
		k = &all[at]
	}
	predicate := doc.Get("predicate")
	if said := stringAt(predicate, "schemaVersion"); said != nil && *said != k.Schema {
		return nil, unknown("predicate.schemaVersion", *said, k.Schema)
	}
	if predicate == nil {
		return k, nil
	}
	if said := stringAt(predicate.Get("policy"), "type"); said != nil && !slices.Contains(k.Policy.Types(), *said) {
		return nil, unknown("predicate.policy.type", *said, k.Policy.Types()...)
	}
	return k, nil
}

// stringAt returns a member that is a string, or nil. If it returns nil, the reader reports the missing member later.
func stringAt(in *canon.Value, key string) *string {
	if in == nil {
		return nil
	}
	if v := in.Get(key); v != nil && v.Kind == canon.String {
		return &v.Text
	}
	return nil
}

func unknown(member, found string, known ...string) error {
	return fmt.Errorf("%w: %s is %.100q, this program knows %s", ErrVersion, member, found, strings.Join(known, " and "))
}

// readPolicy reads parameters from a statement in canonical spelling. Every parameter must be present, because a
// default would be a value that the signer did not sign.
func (k *kind) readPolicy(c *canon.Cursor, statement []byte) policy.Parameters {
	p := k.Policy.Read(c, policy.Wire)
	if v := c.Value(); c.Err() == nil && wirePolicy(p) != string(statement[v.Offset:v.End]) {
		c.Failf("a parameter is missing or not in its place")
	}
	return p
}

func wirePolicy(p policy.Parameters) string {
	w := canon.NewWriter(nil)
	p.AppendWire(w)
	return string(w.Bytes)
}
