// Package analysis owns the way from a text to the terms by which it is found. It is pure, and the same text
// has the same terms on every processor.
//
// A text is cut into words (Unicode Standard Annex 29), which are folded to lower case and stemmed; words of
// grammar are left out. What is written like an identifier, a path or a version is a term as a whole, and its
// parts are terms as well:
//
//	store/sqlite/write.go   store/sqlite/write.go, store, sqlite, write, go
//	HTTPServer              httpserver, http, server
//
// An Analyzer is named in a policy of retrieval, so a change of what it does is another Analyzer.
package analysis
