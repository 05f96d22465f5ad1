// Package postgres keeps a store in a PostgreSQL database, for any number of processes
// on any number of machines at once. It speaks to version 13 and later through pgx.
//
// # The tables
//
// They are in schema/, with a reason at each. graphkernel_schema holds the number of
// the newest file in schema/ that was applied, which means the same as the number of the
// file of that name in package sqlite. The columns kept, run and link are packed, see
// package packed. Every key leads with the tenant, and the large tables have hash partitions:
// turns and runs by tenant and conversation, so that a slice of one conversation reads
// one partition, and ids by tenant and id.
//
// The ledger is in three tables: logs has its size and right edge, records the leaves with what is
// kept beside them, and log_hashes the hashes that tiles are made of.
// cells holds named values, such as the roots of other logs that were cosigned, and snapshots what is derived. They have no partitions, and
// stay on the server that holds the heads: a leaf belongs to its act's transaction.
//
// What is known beside the turns is in two more, entries and terms, whatever it is; see package
// history. They stay there, too: an entry ends terms of older ones, which nobody could take back
// if its commit were torn.
//
// # Writing
//
// Each write is one transaction at READ COMMITTED. It begins by locking the tenant's row in
// tenants, which holds the head. So the writes of a tenant are in line, in whatever
// process they are; its numbers have no gap; and since the lock is held to the end
// of the commit, a number becomes visible after every smaller one. Tenants do not wait for
// each other. (A sequence of the database has gaps and is visible out of order;
// SERIALIZABLE would let writers of one tenant fail in turn instead of wait in turn.)
//
// An act appends its leaf after the same lock: one round trip reads the right edge and what else the
// act must know, and one inserts, however many leaves there are.
// Recording sixteen issued slices takes as many round trips as recording one, which is four, or
// five if some are recorded already; and recording ten thousand new facts takes four.
//
// What was acknowledged is as durable as the server is set up: on its disk at least, since
// connections of this package do not accept synchronous_commit = off; and on a standby's
// disk, too, where synchronous_standby_names asks for one. The package cannot see whether
// the server runs with fsync = off; nobody should.
//
// # Reading
//
// Each method asks one question in one statement, and so sees one moment. There are no
// NOTIFY and no LISTEN: a cached part of the graph is held against the head before every
// use, which costs one look-up, and a NOTIFY would make the commits of all tenants of the
// database are in one line.
//
// # Lost connections
//
// A call whose connection breaks, or that meets a server which is shutting down,
// starting, or not the primary, is made again until Options.Patience has passed:
// reading always; writing, too, since every write is idempotent, by beginning anew with
// what is stored then. If the answer to a commit was lost, the next attempt finds in the
// tenant's row whether that commit was the last to move the head, and the caller
// gets the answer that was lost. If another write came in between it gets the one that
// repeating the call gives. (Swap, which is no repetition of itself, takes it as
// done if it finds what it was to put; if it finds a third value after a commit without an answer,
// the error wraps both store.ErrMoved and store.ErrUncertain.) When patience runs out the error wraps store.ErrLost if
// nothing was changed, store.ErrUncertain if nobody can tell. Serialisation failures and
// deadlocks are repeated likewise; a lock that others hold for half of Options.Timeout, and a
// statement that takes four fifths of it, are store.ErrBusy, unless the URL sets lock_timeout
// and statement_timeout otherwise. Nothing needs to be opened again.
//
// # Erasing
//
// PostgreSQL does not write over a row: an erased body is gone for every reader at once,
// but its bytes stay in the table's file until vacuum has freed them and another row has taken their
// place, and in the write-ahead log until that is recycled, on every standby and in
// every archive. The tables of turns are set so that one erasure is enough for
// autovacuum to come by, and so is that of snapshots. Where the bytes themselves must be gone at a known time, run
// VACUUM FULL on turns and snapshots, and expire archives and base backups by that time; or keep
// the cluster's disks encrypted with a key that can be destroyed. Package sqlite has no such gap.
//
// # Several servers
//
// Partitions of turns and runs may be foreign tables (postgres_fdw) on other servers.
// A commit is then not one act: the others commit before the server that holds the heads.
// If that one fails in between, rows remain that are numbered above the head; readers
// pass over them, and the tenant's next write takes them away. A commit that the primary
// gave up may still be under way over there: each write changes a row of its tenant on each
// of these servers, in the table guards, and so waits for that commit's end, or is answered
// with store.ErrBusy. docs/scaling.md tells what runs where.
package postgres
