// Package history owns what a tenant's history consists of, whatever its kind: entries, which are
// numbered and permanent, the terms by which they are found, and changes, which add both.
//
// A kind of thing that is known, such as a fact, has a package of its own. That says what an
// entry of it looks like and which terms follow from it; a store keeps them, and names no
// kind. What a store knows as of a sequence number is all entries up to it, and the terms that
// it began and did not end by then.
//
// The package is pure.
package history
