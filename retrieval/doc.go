// Package retrieval owns the search of turns by words.
package retrieval
