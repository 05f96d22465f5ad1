// Package retrieval owns the search of turns by words and by the likeness of vectors: the index of a tenant's turns, the policy that says what
// counts, and the integers that a score is made of. docs/retrieval.md has the formulas.
package retrieval
