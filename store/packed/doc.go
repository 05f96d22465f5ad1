// Package packed owns the packed form in which back ends with tables store data that no query selects by: in a
// database, the cost depends on the number of rows and columns, not on the number of bytes. Numbers are big-endian.
//
//	skeleton  id 16 | created_at 8 | salience 4 | role 1 | phase 1 | leaf 32
//	          mark rules 1 | voice 1 | cost 4 | channel 1 | grant 1 | number of things 1 | each thing 16
//	          and author 16 if bit 7 of grant is set | key 16 if bit 6 is
//	          and for each parent: id 16 | conversation 16 | kind 1 | leaf 32
//	kept      conversation 16 | body_digest 32 | skeleton
//	run       for each turn: sequence number 8 | size 4 | skeleton
//	link      parent 16 | child 16 | conversation of the child 16
//
// The forms are the same in every back end, and part of the schema: another form needs a migration. Reading
// checks sizes, since a file can be damaged. It does not compute the leaves again; a caller can do that.
package packed
