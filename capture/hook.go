package capture

import (
	"fmt"
	"io"
	"time"
)

// Note leaves a mark of an event in the spool, unless the settings exclude the session or the agent writes no transcript. It
// reports whether it left a mark.
func (s *Spool) Note(e *Event, now time.Time) (bool, error) {
	if e.Transcript == "" {
		return false, nil
	}
	set, err := s.Settings()
	if err != nil || !set.Captures(e.Folder) {
		return false, err
	}
	return true, s.Add(Mark{Agent: e.Agent, Session: e.Session, Transcript: e.Transcript, Folder: e.Folder, Event: e.Name, At: now.UTC(), Said: e.LastMessage})
}

// Receive does the work of a capturing hook: it reads an event, leaves a mark of it, and returns it. It never fails for the
// agent, whose work must not depend on it: it prints an error to stderr, which the agent shows to people on request, and counts
// an event that cannot be read (see [Spool.Unread]). Receive returns nil if there is no event, or if the settings exclude its
// session.
func Receive(s *Spool, agent Agent, stdin io.Reader, stderr io.Writer, now time.Time) *Event {
	e, err := ReadEvent(agent, stdin)
	_ = s.Arrive(agent, now) // an error here shows again below
	kept := s.DidRead(agent, HookCapture, err, now)
	noted := false
	if err == nil {
		noted, err = s.Note(e, now)
	}
	if kept != nil {
		fmt.Fprintf(stderr, "graphkernel: %v\n", kept)
	}
	if err != nil {
		fmt.Fprintf(stderr, "graphkernel: this event was not captured: %v\n", err)
	}
	if !noted {
		return nil
	}
	return e
}
