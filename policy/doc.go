// Package policy owns what decides a slice: parameters of any type, their one canonical form and
// its hash, the registry that binds a policy's id to its parameters for ever, and slice_policy_v1 and
// slice_policy_v2, the types for turns. Types of parameters are handed in, as [Forms]: each package that selects
// something declares its own, and policy/standard lists those of this program.
//
// The canonical form of the default policy, which the hash is taken of:
//
//	{"distance_decay_ppm":900000,"include_siblings":true,"max_nodes":256,
//	"max_radius":10,"max_siblings":5,"phase_weights_ppm":{"consolidation":600000,
//	"debugging":500000,"exploration":300000,"planning":900000,"synthesis":1000000},
//	"salience_weight_ppm":300000,"type":"slice_policy_v1"}
//
// (in one line). People and bundles write the same parameters as decimals; a
// decimal that millionths cannot hold exactly is refused. Two policies with one
// hash therefore always decide alike. Source: Graph Kernel paper, table I and
// equation 1; GKP/1, sections 3 and 4.
package policy
