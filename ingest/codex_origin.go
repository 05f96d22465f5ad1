package ingest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A session of Codex CLI can continue another session, which it names but does not repeat:
//
//	"history_base":{"thread_id":ID,"end_ordinal_exclusive":N,…}     a fork, which follows the records of ID before the ordinal N
//	"forked_from_id":ID                                             an older fork; if it has no records of ID, it follows those before its own beginning
//	"source":{"subagent":{"thread_spawn":{"parent_thread_id":ID}}}  a sub-agent, which a call in ID started
//
// The other session is read first, from the import or from where Codex CLI keeps it, so that its turns exist. The ordinals of a
// session continue those of its base; newer versions write them on each line.

// maxThreads is the largest number of sessions that are open at a time because each names the next.
const maxThreads = 50

// A codexThread has the properties of a session that other sessions need.
type codexThread struct {
	points  []codexPoint
	first   int64                 // the ordinal of its first record
	base    *codexThread          // the session with the earlier records; nil: none, or it is missing
	origin  *dag.TurnID           // the turn of another session before its first own turn
	missing string                // the session that should have that turn, but is missing
	spawned map[string]dag.TurnID // calls, by the id of the session that each started
}

// A codexPoint says which turn was the newest, starting with one record.
type codexPoint struct {
	ordinal int64
	at      dag.Time
	turn    *dag.TurnID // nil: none
}

// before returns the newest turn before an ordinal. If that turn is in a missing session, before returns the session's id.
func (th *codexThread) before(ordinal int64) (turn *dag.TurnID, missing string) {
	for i := len(th.points) - 1; i >= 0; i-- {
		if th.points[i].ordinal < ordinal {
			return th.points[i].turn, ""
		}
	}
	if th.base != nil && ordinal < th.first {
		return th.base.before(ordinal)
	}
	return th.origin, th.missing
}

// until returns the newest turn up to a time, or a missing session like before.
func (th *codexThread) until(t dag.Time) (turn *dag.TurnID, missing string) {
	for i := len(th.points) - 1; i >= 0; i-- {
		if th.points[i].at <= t {
			return th.points[i].turn, ""
		}
	}
	return th.origin, th.missing
}

// A codexLink names the session that another session continues.
type codexLink struct {
	thread string // "": none
	end    int64  // the ordinal up to which it continues, exclusive; negative: it continues the turns before its own beginning
	spawn  bool   // the link is a sub-agent's
}

// codexLinkOf reads the link from a session_meta. A fork's base takes precedence over the session from which it was forked,
// which may itself continue the same base.
func codexLinkOf(v *canon.Value, parent string) codexLink {
	if base := object(v, "history_base"); base != nil {
		return codexLink{thread: strings.Clone(text(base, "thread_id")), end: ordinalOf(base, "end_ordinal_exclusive")}
	}
	if parent != "" {
		return codexLink{thread: strings.Clone(parent), end: -1, spawn: true}
	}
	return codexLink{thread: strings.Clone(text(v, "forked_from_id")), end: ordinalOf(v, "forked_from_ordinal_exclusive")}
}

// ordinalOf returns a member that is an ordinal, or -1 if there is none.
func ordinalOf(v *canon.Value, key string) int64 {
	n, err := strconv.ParseInt(scalar(v, key), 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// ordinal returns the ordinal of a record: its own, else its line number counted from the base.
func (s *codexSession) ordinal(rec jsonRecord) int64 {
	if n := ordinalOf(rec.value, "ordinal"); n >= 0 {
		return n
	}
	return s.firstOrdinal + int64(rec.line) - 1
}

// point records which turn is the newest after a record.
func (s *codexSession) point(rec jsonRecord) {
	if n := len(s.thread.points); n > 0 && s.thread.points[n-1].turn == s.newest || n == 0 && s.newest == nil {
		return
	}
	s.thread.points = append(s.thread.points, codexPoint{s.ordinal(rec), s.now, s.newest})
}

// started stores which call started another session. Codex CLI records that in an event, or in the result of the call.
func (s *codexSession) started(call, session string) {
	made, known := s.calls[call]
	if session = strings.ToLower(session); !known || session == "" {
		return
	}
	if s.thread.spawned == nil {
		s.thread.spawned = map[string]dag.TurnID{}
	}
	if _, known := s.thread.spawned[session]; !known {
		s.thread.spawned[strings.Clone(session)] = made.turn
	}
}

// startedIn reads an event that may name the call that started a session.
func (s *codexSession) startedIn(v *canon.Value) {
	if item := object(v, "item"); item != nil {
		s.started(text(item, "id"), text(item, "agent_thread_id"))
		for _, id := range items(item, "receiver_thread_ids") {
			s.started(text(item, "id"), id.Text)
		}
		return
	}
	switch text(v, "type") {
	case "collab_agent_spawn_end":
		s.started(text(v, "call_id"), text(v, "new_thread_id"))
	case "sub_agent_activity":
		if text(v, "kind") == "started" {
			s.started(text(v, "event_id"), text(v, "agent_thread_id"))
		}
	}
}

// startedBy reads the result of a call of Codex CLI's own tool for sub-agents.
func (s *codexSession) startedBy(call codexCall, id string, output *canon.Value) {
	if call.tool != "spawn_agent" || output == nil || output.Kind != canon.String {
		return
	}
	if v, _, err := parseLenient([]byte(output.Text)); err == nil {
		s.started(id, text(v, "agent_id"))
	}
}

// follow joins the session's own first turn to the session that it continues. Records that are older than the session are
// copies from that session.
func (s *codexSession) follow(rec jsonRecord, d *dag.Draft, noted *counts) error {
	if s.followed || s.link.thread == "" {
		return nil
	}
	if at, err := dag.ReadTime(text(rec.value, "timestamp")); err == nil && at < s.began {
		return nil
	}
	s.followed = true
	copied := s.newest != nil
	if copied && !s.link.spawn {
		return nil
	}
	if err := s.hand(); err != nil { // a copy in the batch may be above turns that are read next
		return err
	}
	th, err := s.r.codexThread(s.link.thread, s.batch.Source)
	if err != nil {
		return err
	}
	var from *dag.TurnID
	missing, byTime := s.link.thread, false
	if th != nil {
		switch call, named := th.spawned[strings.ToLower(s.session)]; {
		case s.link.spawn && named:
			from, missing = &call, ""
		case s.link.end >= 0:
			from, missing = th.before(s.link.end)
		default:
			from, missing = th.until(s.began)
			byTime = true
		}
	}
	switch {
	case copied && (from == nil || byTime):
		return nil
	case from == nil && missing != "":
		s.thread.missing = missing
		noted.add(noteParentMissing)
		setAttr(d, attrMissingParent, missing, noted)
		return nil
	case from == nil: // the other session had no turns yet
		return nil
	}
	if byTime {
		noted.add(noteParentByOrder)
		setAttr(d, attrParentBy, parentByOrder, noted)
	}
	if s.link.spawn {
		addParent(d, *from, dag.Spawn, noted)
		return nil
	}
	s.newest, s.thread.origin = from, from
	s.thread.base, s.thread.first = th, s.firstOrdinal
	return nil
}

// codexThread returns the session with an id, which the session in the file from names. It reads the session unless that was
// done. It returns nil if the session is not found, or is being read because it names the other one.
func (r *reading) codexThread(id, from string) (*codexThread, error) {
	key := strings.ToLower(id)
	if th, known := r.threads[key]; known {
		return th, nil
	}
	f := r.rollouts[key]
	if f == nil {
		var err error
		if f, err = r.rolloutNear(id, from); err != nil {
			return nil, err
		}
	}
	if f == nil || r.taken[f.path] || r.following >= maxThreads {
		return nil, nil
	}
	r.taken[f.path] = true
	current, tolerant := r.current, r.tolerant
	r.tolerant = f.packed
	r.following++
	r.beginFile(f.path, Codex)
	err := readCodex(r, f.path)
	r.following--
	r.current, r.tolerant = current, tolerant
	return r.threads[key], err
}

// archivedFolder and sessionsFolder are folders of Codex CLI: the former has archived sessions, the latter a folder for each
// day.
const (
	archivedFolder = "archived_sessions"
	sessionsFolder = "sessions"
)

// rolloutNear finds the file of a session that is not part of the import: in the folder of the file from, or, if that is a
// day's folder, in those of other days and among archived sessions.
func (r *reading) rolloutNear(id, from string) (*file, error) {
	if _, err := dag.ParseConversationID(strings.ToLower(id)); err != nil || from == Stdin || isBelowFile(filepath.Dir(from)) || r.opts.Format != "" && r.opts.Format != Codex {
		return nil, nil
	}
	folder := filepath.Dir(from)
	places := []string{folder}
	if sessions, ok := ofDay(folder); ok {
		places = append(append(places, r.days(sessions)...), filepath.Join(filepath.Dir(sessions), archivedFolder))
	} else if filepath.Base(folder) == archivedFolder {
		places = append(places, r.days(filepath.Join(filepath.Dir(folder), sessionsFolder))...)
	}
	for _, place := range places {
		for _, name := range r.names(place) {
			plain := strings.ToLower(strings.TrimSuffix(name, ".zst"))
			if !strings.HasPrefix(plain, "rollout-") || !strings.HasSuffix(plain, strings.ToLower(id)+".jsonl") {
				continue
			}
			if f, err := r.rollout(filepath.Join(place, name)); f != nil || err != nil {
				return f, err
			}
		}
	}
	return nil, nil
}

// dayForm has the number of digits of each folder name in SESSIONS/YYYY/MM/DD.
var dayForm = [...]int{4, 2, 2}

// ofDay returns the folder SESSIONS of a day's folder; ok is false if folder is not a day's.
func ofDay(folder string) (sessions string, ok bool) {
	for i := len(dayForm) - 1; i >= 0; i-- {
		if !hasDigits(filepath.Base(folder), dayForm[i]) {
			return "", false
		}
		folder = filepath.Dir(folder)
	}
	return folder, true
}

// codexFolders has the names in the folders that were searched for a session.
type codexFolders struct{ listed map[string][]string }

// days returns the folders of days below a folder of sessions.
func (c *codexFolders) days(sessions string) []string {
	at := []string{sessions}
	for _, digits := range dayForm {
		var below []string
		for _, folder := range at {
			for _, name := range c.names(folder) {
				if hasDigits(name, digits) {
					below = append(below, filepath.Join(folder, name))
				}
			}
		}
		at = below
	}
	return at
}

// names returns the names in a folder, without links. It lists a folder once per import, and returns none if the folder cannot
// be read.
func (c *codexFolders) names(folder string) []string {
	names, listed := c.listed[folder]
	if listed {
		return names
	}
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if e.IsDir() || e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	if c.listed == nil {
		c.listed = map[string][]string{}
	}
	c.listed[folder] = names
	return names
}

// rollout returns the file of a session at a path, or nil if it is not one.
func (r *reading) rollout(path string) (*file, error) {
	if !r.files.has(path) {
		return nil, nil
	}
	head, err := r.files.headOf(path)
	if err != nil {
		return nil, nil //nolint:nilerr // such as a file that this user may not read
	}
	f := &file{path: path}
	if p := packingOf(head); p != nil {
		if err := r.files.unpack(path, p); err != nil {
			return nil, err
		}
		f.packed, r.files.members[path].packed = true, true
	}
	look, err := r.files.lookAt(path)
	if err != nil {
		return nil, nil //nolint:nilerr // damaged
	}
	if f.format, err = look.decide(path); err != nil || f.format != Codex {
		return nil, nil //nolint:nilerr // more than one format
	}
	size, err := r.files.size(path)
	r.expect(size)
	return f, err
}

func hasDigits(s string, n int) bool { return len(s) == n && strings.Trim(s, "0123456789") == "" }
