// Package retrieval owns the search of turns by words and by the likeness of vectors: the index of a tenant's turns, the policy of a search,
// and the integer arithmetic of scores. docs/retrieval.md has the formulas.
package retrieval
