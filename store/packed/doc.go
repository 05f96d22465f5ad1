// Package packed owns the bytes in which the back ends that write tables keep
// what nobody queries by: in a database the price of a row is that of its rows and
// columns, not of its bytes. Numbers are big-endian.
//
//	skeleton  id 16 | created_at 8 | salience 4 | role 1 | phase 1 | leaf 32
//	          mark rules 1 | voice 1 | cost 4 | number of things 1 | each thing 16
//	          and for each parent: id 16 | conversation 16 | kind 1 | leaf 32
//	kept      conversation 16 | body_digest 32 | skeleton
//	run       for each turn: sequence number 8 | size 4 | skeleton
//	link      parent 16 | child 16 | conversation of the child 16
//
// The forms are the same in every back end, and part of the schema: another form
// needs a migration. Reading checks sizes, since a file can be damaged, and leaves it to
// anyone who asks for more to derive the leaves anew.
package packed
