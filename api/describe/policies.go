package describe

import (
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// tabled maps schema names to the policy types that are defined by a table.
var tabled = map[string]struct {
	typ    string
	shapes func() []policy.Shape
}{
	"SlicePolicyV2":   {policy.TypeV2, policy.ShapesV2},
	"SlicePolicyV3":   {policy.TypeV3, policy.ShapesV3},
	"RetrievalPolicy": {retrieval.PolicyType, retrieval.PolicyShapes},
	"ContextPolicy":   {contexts.PolicyType, contexts.PolicyShapes},
	"ContextPolicyV2": {contexts.PolicyTypeV2, contexts.PolicyShapesV2},
}

// policySchema returns the schema of the parameters of a policy type.
func policySchema(typ string, shapes []policy.Shape) Schema {
	s := membersSchema(shapes)
	s["properties"].(map[string]any)["type"] = Schema{"type": "string", "const": typ}
	s["required"] = []any{"type"}
	return s
}

// membersSchema returns the schema of an object whose members are all optional.
func membersSchema(shapes []policy.Shape) Schema {
	properties := map[string]any{}
	for i := range shapes {
		properties[shapes[i].Name] = shapeSchema(&shapes[i])
	}
	return Schema{"type": "object", "properties": properties, "additionalProperties": false}
}

func shapeSchema(of *policy.Shape) Schema {
	if of.Kind == "object" {
		return membersSchema(of.Members)
	}
	s := Schema{"type": of.Kind}
	switch {
	case of.Kind == "integer" || of.Kind == "number":
		s["minimum"], s["maximum"] = of.Least, of.Most
	case len(of.Values) > 0:
		values := make([]any, len(of.Values))
		for i, v := range of.Values {
			values[i] = v
		}
		s["enum"] = values
	}
	return s
}
