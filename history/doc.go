// Package history owns what a tenant's history consists of, whatever its kinds: entries, which
// are numbered and permanent, the terms by which entries are found, and changes, which add both.
//
// Each kind of entry, such as a fact, has a package of its own, which defines the form of its entries and the
// terms that follow from them. A store keeps entries and terms and knows no kinds. As of a sequence number, a
// store knows all entries up to that number, and the terms that these entries began and did not end.
//
// The package is pure.
package history
