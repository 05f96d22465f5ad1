// Package standard lists the types of policies that this program knows, and the policies that every tenant has from the
// start.
package standard

import (
	"sync"

	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/guard"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retention"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/standing"
)

// given contains the policies that every tenant has from the start.
var given = func() map[policy.ID]policy.Parameters {
	all := map[policy.ID]policy.Parameters{
		policy.DefaultV1ID: policy.DefaultV1(),
		policy.DefaultV2ID: policy.DefaultV2(),
		policy.DefaultV3ID: policy.DefaultV3(),
		facts.PolicyID:     facts.DefaultPolicy(),
		retrieval.PolicyID: retrieval.DefaultPolicy(), retrieval.DensePolicyID: retrieval.DensePolicy(), retrieval.FindV1ID: retrieval.FindV1(), retrieval.FindPolicyID: retrieval.FindPolicy(),
		contexts.BriefID: contexts.BriefPolicy(), contexts.DefaultID: contexts.Default(), contexts.DefaultV1ID: contexts.DefaultV1(), kinds.ID: kinds.Default(), kinds.V1ID: kinds.DefaultV1(), rules.ID: rules.Default(), rules.V1ID: rules.DefaultV1(),
		standing.AloneID: standing.Alone(), standing.TeamID: standing.Team(), standing.ServiceID: standing.Service(),
	}
	for id, p := range contexts.Profiles() {
		all[id] = p
	}
	return all
}()

// Forms returns the types of policies that this program knows.
func Forms() policy.Forms {
	return policy.Forms{policy.SliceForm, policy.SliceFormV2, policy.SliceFormV3, facts.PolicyForm, retrieval.PolicyForm, contexts.PolicyForm, contexts.PolicyFormV2, guard.Form, retention.Form, kinds.Form, rules.Form, standing.Form}
}

// Registry returns the registry that every tenant has at the start.
func Registry() (policy.Registry, error) { return registry() }

var registry = sync.OnceValues(func() (r policy.Registry, err error) {
	for id, params := range given {
		p, err := policy.Bind(id, params)
		if err != nil {
			return policy.Registry{}, err
		}
		if r, err = r.With(p); err != nil {
			return policy.Registry{}, err
		}
	}
	return r, nil
})

// Has reports whether every tenant has a policy with the id from the start.
func Has(id policy.ID) bool { return given[id] != nil }
