// Package working owns working memory: the messages of current sessions, which are stored for a limited time and
// in limited space, and are not part of a history. A message leaves in one of four ways: it is consolidated, which
// makes it a turn; it expires; newer messages replace it; or the session is cleared.
//
//	b.Put(limits, now, messages)   adds messages, and counts the oldest ones that it drops
//	b.Live(now)                    returns the messages that have not expired
//	b.Take(ids)                    removes consolidated messages
//
// A [Buffer] contains one session, and an [Index] lists the sessions of a tenant. Both are stored as
// snapshots of a history (see history.Snapshot). An [Update] reads both, changes them and writes them
// atomically. Any [Keeper] can store them: a store, which several processes
// may share, or a [Memory], for one process.
//
// The package is pure: the time is an argument, and a message that expires at an instant is gone at that instant.
package working
