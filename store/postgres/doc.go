// Package postgres keeps a store in a PostgreSQL database, for any number of processes
// on any number of machines at once. It speaks to version 13 and later through pgx.
//
// # The tables
//
// They are in schema/, each with a reason. graphkernel_schema contains the number of the newest file in schema/ that
// was applied; the file with the same number in package sqlite is equivalent. The columns kept, run and link are
// packed, see package packed. Every key begins with the tenant, and the large tables have hash partitions: turns and
// runs by tenant and conversation, so that a slice of one conversation reads one partition, and ids by tenant and id.
//
// The ledger is in three tables: logs contains its size and right edge, records the leaves with the data that is stored beside them, and
// log_hashes the hashes that tiles are made of. cells contains named values, such as the cosigned roots of other logs, and snapshots
// contains derived data. These tables have no partitions, and stay on the server with the heads: a leaf belongs to its act's transaction.
//
// Everything else that is known is in two more tables, entries and terms, whatever its kind; see package history.
// They stay there, too: an entry ends terms of older ones, which could not be undone if its commit were torn.
//
// # Writing
//
// Each write is one transaction at READ COMMITTED. It begins by locking the tenant's row in tenants, which contains the head. So the
// writes of a tenant run one after the other, in whatever process they are; its numbers have no gap; and since the lock lasts to the
// end of the commit, a number becomes visible after every smaller one. Tenants do not wait for each other. (A sequence of the database
// has gaps and is visible out of order; with SERIALIZABLE, writers of one tenant would fail in turn instead of wait in turn.)
//
// An act appends its leaf under the same lock: one round trip reads the right edge and everything else that the act must
// know, and one inserts, however many leaves there are. Recording sixteen issued slices takes as many round trips as
// recording one, which is four, or five if some are recorded already; and recording ten thousand new facts takes four.
//
// An acknowledged write is as durable as the server is configured: on its disk at least, since connections of
// this package do not accept synchronous_commit = off; and on a standby's disk, too, if synchronous_standby_names
// asks for one. The package cannot see whether the server runs with fsync = off; no server should.
//
// # Reading
//
// Each query is one statement, and so sees one moment. The package uses neither NOTIFY nor LISTEN: a cached part of the graph is compared with
// the head before every use, which costs one look-up, and NOTIFY would make the commits of all tenants of the database wait for each other.
//
// # Lost connections
//
// A call is repeated until Options.Patience has passed if its connection breaks, or if the server is shutting down, starting, or not the primary.
// Reads can always be repeated. Writes can, too, since every write is idempotent: each attempt begins anew with the data stored then. If the answer
// to a commit was lost, the next attempt finds in the tenant's row whether that commit was the last to move the head; if so, the caller gets the
// lost answer. If another write came in between, the caller gets the answer of the repeated call. (Swap is not idempotent by itself: it counts as
// done if it finds its new value; if it finds a third value after a commit without an answer, the error wraps both store.ErrMoved and
// store.ErrUncertain.) When patience runs out the error wraps store.ErrLost if nothing was changed, and store.ErrUncertain if that is unknown.
// Serialisation failures and deadlocks are repeated in the same way. A lock that others hold for half of Options.Timeout, and a statement that takes
// four fifths of it, are store.ErrBusy, unless the URL sets lock_timeout and statement_timeout otherwise. The store never needs to be opened again.
//
// # Erasing
//
// PostgreSQL does not overwrite rows: an erased body is gone for every reader at once, but its bytes stay in the table's file
// until vacuum has freed them and another row has replaced them, and in the write-ahead log until that is recycled, on every
// standby and in every archive. The tables turns and snapshots are configured so that one erasure is enough to start autovacuum.
// If the bytes themselves must be gone at a known time, run VACUUM FULL on turns and snapshots, and expire archives and base
// backups by that time; or keep the cluster's disks encrypted with a key that can be destroyed. Package sqlite has no such gap.
//
// # Several servers
//
// Partitions of turns and runs may be foreign tables (postgres_fdw) on other servers. A commit is then not atomic: these servers commit before the
// server with the heads. If that one fails in between, rows remain that are numbered above the head; readers skip them, and the tenant's next write
// removes them. A commit that the primary gave up may still be under way on another server. So each write changes a row of its tenant on each of
// these servers, in the table guards: it waits for that commit's end, or fails with store.ErrBusy. docs/scaling.md describes what runs where.
package postgres
