// Package vector owns the search of vectors that are nearest to a query.
//
// A vector is int8 components, and the score of two vectors is their dot product. Scores rank by angle if all vectors are about
// equally long, as those of package embed are. Nothing is rounded by floating point, so the same vectors give the same answers on
// every processor.
//
// [Flat] compares the query with every vector, as of any sequence number. [HNSW] walks a graph: it is faster where there are many
// vectors, may miss some, and knows the present only. It is a graph over a Flat, which has the vectors. Neither keeps anything of a vector that
// was erased.
//
// Source: Malkov and Yashunin, Efficient and robust approximate nearest neighbor search using Hierarchical Navigable Small World
// graphs, 2018.
package vector
