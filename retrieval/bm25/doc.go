// Package bm25 owns the lexical index of a tenant's turns: the terms of each turn, and the scores computed
// from them as of any sequence number. It is in memory, and all arithmetic is on integers, so the same turns have
// the same scores on every processor.
//
// A turn's neighbours in its conversation count as part of it. With reach n the frequency of a term in turn t is
//
//	tf'(t) = tf(t) + Σ 2^-(k-1) · (1/2 tf(t-k) + 3/8 tf(t+k)),  k = 1 … n
//
// and its length is defined in the same way. The number of turns, and the number of turns with a term, are counted without neighbours.
// Neighbours are added while postings are read, so they take no space in the index. A search for the best turns reads the postings of
// its terms, and scores only turns that may be among the best, which does not change its results.
//
// Turns are added with their terms, or in runs, the form in which they are stored. An index keeps a run packed, and unpacks the postings
// of a term when the term is first needed.
//
// Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009.
package bm25
