// Package bm25 owns the lexical index of a tenant's turns: which terms are in which turn, and the scores that follow
// from them as of any sequence number. It is in memory, and all arithmetic is on integers, so the same turns give
// the same scores on every processor.
//
// A turn's neighbours in its conversation count as a part of it. With reach n the frequency of a term in turn t is
//
//	tf'(t) = tf(t) + Σ 2^-(k-1) · (1/2 tf(t-k) + 3/8 tf(t+k)),  k = 1 … n
//
// and its length likewise. How many turns there are, and how many have the term, are counted without neighbours.
// They are added while postings are read, so the index does not grow. A search for the best turns reads the postings of its terms, and
// scores only turns that may be among the best; which those are changes no answer.
//
// Turns come with their terms, or in runs, as they are stored. An index keeps a run packed, and unpacks the postings of a term when somebody
// asks for it.
//
// Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009.
package bm25
