// Package sqlite keeps a store in one SQLite file, in pure Go. It is the
// default back end: one process writes and reads it at full speed, and several
// processes may share the file on one machine.
//
// # The file
//
// PRAGMA application_id is 0x474b5031 ("GKP1") and PRAGMA user_version is the number of the newest file in schema/ that was
// applied. A file with another application_id is refused and not changed; a file with a newer user_version is refused with
// store.ErrSchema. The tables are in schema/, each with a reason. The columns kept, run and link are packed, see package packed.
//
// Everything that is compared or sorted is an integer or a BLOB; text is stored as BLOB wherever it can contain U+0000 or anything beyond ASCII.
//
// Every page keeps 8 bytes free at its end for a checksum, which is compared whenever the page is read (pages.go,
// docs/design/2026-11-27-page-checksums.md). A program that writes into the file without the file layer VFS leaves pages that the store refuses.
//
// # Writing
//
// One connection writes, in BEGIN IMMEDIATE transactions, with a write-ahead log and synchronous=FULL: an acknowledged write is on the disk.
// Any number of readers work meanwhile on connections of their own, each statement on one snapshot; Segment is one statement for that reason.
//
// # Erasing
//
// A text must not survive in an unused corner of the file. Three things ensure that. First, secure_delete makes SQLite overwrite
// freed bytes with zeros. Second, bodies are in the table turns, whose rows are only appended in ascending order and only ever
// made smaller: when SQLite balances a tree, it moves rows from page to page without cleaning their old place, but a row of such
// a table is never moved. (A table ordered by tenant and number is five per cent slower, and was seen to leave copies. An index
// on the external id could leave them too, so the index contains 8 bytes of its hash.) Snapshots are in such a table, too.
// Third, a write that erases ends with a checkpoint that empties the write-ahead log. A reader in another process with an old
// snapshot can prevent that; the write then returns an error, and repeating it finishes the work. After a crash, Open does.
//
// # Migrations
//
// Files in schema/ are applied in the order of their numbers, all in one transaction under the write lock, which also sets user_version.
// So two processes can open a new file at once, and a crash leaves the old version or the new one. A migration library was considered:
// with SQLite its version table and its statements are not under one lock, and it would bring nothing else that is needed here.
package sqlite
