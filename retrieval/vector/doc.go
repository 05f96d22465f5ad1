// Package vector owns the search for the vectors nearest to a query.
//
// A vector has int8 components, and the score of two vectors is their dot product. Scores rank by angle if all vectors have about
// the same length, like those of package embed. There is no floating point arithmetic, so the same vectors have the same results on
// every processor.
//
// [Flat] compares the query with every vector, as of any sequence number. [HNSW] walks a graph: it is faster for many
// vectors, may miss some, and knows only the present. It is a graph over a Flat, which contains the vectors. Neither keeps anything of an
// erased vector.
//
// Source: Malkov and Yashunin, Efficient and robust approximate nearest neighbor search using Hierarchical Navigable Small World
// graphs, 2018.
package vector
