// Package journal owns what is recorded of beliefs: entries of the history, the terms by which they are found, and changes, which
// decide with package belief. It is pure.
//
// Each operation adds its entries at once. There are eight kinds:
//
//	space/1        a space has a policy of kinds from here on
//	revision/1     a state of an item; it may become what is believed of the item
//	tag/1          a tag of an item points to a revision, or to none
//	deprecation/1  an item is deprecated, or restored
//	link/1         a typed edge from a revision to something else
//	conflict/1     a proposal that was not taken, for somebody to decide
//	resolution/1   how a conflict ended
//	use/1          a revision was used, and whether that succeeded
//
// An item begins with its first revision. What a revision says is its private half, which is erased with the turns it rests on: its
// public half has a salted digest of it, and for each statement the rank and the turns. What an entry begins and ends follows from the
// entry and from the state of its item, so that a store which adopts the entries, or checks them, does the same as the one that
// decided.
package journal
