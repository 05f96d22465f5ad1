// Package analysis owns the terms by which a text is found. It is pure, and the same text
// has the same terms on every processor.
//
// A text is cut into words (Unicode Standard Annex 29), which are folded to lower case and stemmed; words of
// grammar are left out. An identifier, a path or a version is a term as a whole, and its
// parts are terms, too:
//
//	store/sqlite/write.go   store/sqlite/write.go, store, sqlite, write, go
//	HTTPServer              httpserver, http, server
//
// Policies of retrieval name an Analyzer, so an Analyzer never changes; a different behaviour is a new Analyzer.
package analysis
