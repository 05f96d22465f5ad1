// Package journal owns the records of beliefs: the entries of the history, the terms by which entries are found, and the changes, which
// decide with package belief. It is pure.
//
// Each operation adds all of its entries at once. There are eight kinds of entries:
//
//	space/1        a space has a policy of kinds from here on
//	revision/1     a state of an item, which may become the current one
//	tag/1          a tag of an item points to a revision, or to none
//	deprecation/1  an item is deprecated, or restored
//	link/1         a typed edge from a revision to something else
//	conflict/1     a proposal that was refused and waits for a decision
//	resolution/1   how a conflict ended
//	use/1          a revision was used, and whether that succeeded
//
// An item begins with its first revision. The content of a revision is its private half, which is erased with the turns that it rests
// on. The public half has a salted digest of the private half, and the rank and the turns of each statement. The terms that an entry
// begins and ends follow from the entry and from the state of its item, so a store that adopts or checks the entries finds the same
// terms as the store that decided.
package journal
