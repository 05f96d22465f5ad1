// Package sqlite keeps a store in one SQLite file, in pure Go. It is the
// default back end: one process writes and reads it at full speed, and several
// processes may share the file on one machine.
//
// # The file
//
// PRAGMA application_id is 0x474b5031 ("GKP1") and PRAGMA user_version the
// number of the newest file in schema/ that was applied. A file with another
// application_id is refused untouched, one with a newer user_version with
// store.ErrSchema. The tables are in schema/, with a reason at each. The
// columns kept, run and link are packed, see package packed.
//
// All that is compared or sorted is an integer or a
// BLOB; text is kept as BLOB wherever it can hold U+0000 or anything beyond ASCII.
//
// Every page keeps 8 bytes free at its end for a checksum, which is compared whenever a page is read
// (pages.go, docs/design/2026-11-27-page-checksums.md). A program that writes into the file without the
// file layer of that name leaves pages that the store refuses.
//
// # Writing
//
// One connection writes, in BEGIN IMMEDIATE transactions, with a write-ahead
// log and synchronous=FULL: what was acknowledged is on the disk. Any number of
// readers go on meanwhile on connections of their own, each statement on one
// snapshot; Segment is one statement for that reason.
//
// # Erasing
//
// A text must not survive in an unused corner of the file. Three things see to
// that. secure_delete makes SQLite write zeros over what it frees. Bodies are in the table
// turns, whose rows are only appended in ascending order and only ever made smaller:
// SQLite moves rows from page to page when it balances a tree, and does not
// clean the place they came from, but a row of such a table is never moved. (A
// table ordered by tenant and number is five per cent slower, and was seen to
// leave copies. An index on the external id could leave them too, so the index
// holds 8 bytes of its hash.) Snapshots are in such a table, too. And a write that erases ends with a checkpoint that empties the write-ahead log. A
// reader in another process that holds an old snapshot can delay that; it
// then reports an error, and repeating it finishes the work. After a crash, Open does.
//
// # Migrations
//
// Files in schema/ are applied in order of their numbers, all in one
// transaction that holds the write lock, and user_version is set within it. So two
// processes can open a new file at once, and a crash leaves the old version or
// the new one. A migration library was considered: its version table and its
// statements are not under one lock for SQLite, and it would bring nothing else
// that is needed here.
package sqlite
