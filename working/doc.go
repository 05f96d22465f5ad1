// Package working owns working memory: messages of a session that is going on, kept for a while and
// in a bounded space, and in no history. A message leaves in one of four ways: it is consolidated, which
// makes a turn of it; it expires; newer messages push it out; or the session is cleared.
//
//	b.Put(limits, now, messages)   the newest stay, and what drops out is counted
//	b.Live(now)                    what has not expired
//	b.Take(ids)                    what was consolidated leaves
//
// A [Buffer] holds one session, and an [Index] says which sessions a tenant has. Both are kept as
// snapshots of a history (see history.Snapshot) by an [Update], which reads both, changes them and writes them at
// one moment. Whoever keeps snapshots can keep them: a store, which several processes
// may share, or a [Memory], for one process.
//
// The package is pure: the time is handed in, and a message that expires at an instant is gone at that instant.
package working
