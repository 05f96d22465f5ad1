// Package policy owns the policies that decide the content of a slice: parameters of any type, their one canonical form
// and its hash, the registry that permanently binds a policy's id to its parameters, and slice_policy_v1 to
// slice_policy_v3, the types for turns. Callers pass the types of parameters as [Forms]: each package that selects
// something declares its own types, and policy/standard lists the types of this program.
//
// The canonical form of the policy default@1, over which its hash is computed:
//
//	{"distance_decay_ppm":900000,"include_siblings":true,"max_nodes":256,
//	"max_radius":10,"max_siblings":5,"phase_weights_ppm":{"consolidation":600000,
//	"debugging":500000,"exploration":300000,"planning":900000,"synthesis":1000000},
//	"salience_weight_ppm":300000,"type":"slice_policy_v1"}
//
// It is one line. People and bundles write the same parameters as decimals; a decimal that is not a whole number of
// millionths is refused. Two policies with the same hash therefore always decide alike.
// Source: Graph Kernel paper, table I and equation 1; GKP/1, sections 3 and 4.
package policy
