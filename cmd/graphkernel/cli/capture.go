package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/secrets"
	"github.com/graphkernel/graphkernel/internal/ready"
	"github.com/graphkernel/graphkernel/internal/userdir"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/token"
)

// Spool returns the spool for the store or the service, and for the tenant, that the settings name. Each has its own spool, so that sessions are imported
// only where they belong.
func (s *Settings) Spool() (*capture.Spool, error) {
	folder := Below(s.Folder(userdir.State), "spool")
	if folder == "" {
		return nil, Usagef("no home folder to look for captured sessions in; set HOME or XDG_STATE_HOME")
	}
	to, err := s.Server()
	if err != nil {
		return nil, err
	}
	tenant, err := s.Tenant()
	if err != nil {
		return nil, err
	}
	if to == "" {
		to = s.StoreName()
		if path, err := SqlitePath(to); err == nil {
			if path, err = filepath.Abs(path); err == nil {
				to = "sqlite:" + path
			}
		}
		if to == "sqlite:"+s.defaultStore() && tenant == dag.DefaultTenant {
			return capture.At(filepath.Join(folder, "default")), nil
		}
	}
	sum := sha256.Sum256([]byte(to + "\x00" + string(tenant)))
	return capture.At(filepath.Join(folder, hex.EncodeToString(sum[:8]))), nil
}

// Taken counts the sessions and turns that were imported from a spool.
type Taken struct{ Sessions, Turns int }

// TakeIn imports the transcripts that have grown according to hooks. A transcript that cannot be read stays in the spool. TakeIn waits up to capture.Patience
// for a missing transcript, and for a last message that is not in it yet: a session in which nothing was said never has a transcript.
func TakeIn(ctx context.Context, spool *capture.Spool, s *Session, screen *secrets.Screen, now time.Time) (done Taken, err error) {
	set, err := spool.Settings()
	if err != nil {
		return done, err
	}
	// An event need not name a folder, a session may have begun in another folder, and a fork brings its origin along.
	left := &LeavingOut{set: set, counted: map[string]int{}, folders: map[string]int{}, seen: map[string]bool{}}
	var folders []string
	given := takeGiven(ctx, spool, s)
	err = spool.Take(ctx, now, func(session *capture.Session) (bool, error) {
		folders = append(folders, session.Folder)
		waited := now.Sub(session.Since) > capture.Patience
		transcript, err := ingest.Locate(session.Transcript)
		if errors.Is(err, fs.ErrNotExist) {
			return waited, nil
		}
		report, err := s.Turns.Import(ctx, []string{transcript}, ingest.Options{Format: ingest.Format(session.Agent), Secrets: screen, LeaveOut: left.Reason})
		done.Turns += report.Admitted
		if report.Admitted > 0 {
			done.Sessions++
		}
		if err != nil {
			return false, fmt.Errorf("session %s: %w", session.Name, err)
		}
		if len(session.Said) == 0 || waited {
			return true, nil
		}
		return shows(ctx, session, transcript)
	})
	return done, errors.Join(given, err, spool.Learn(ctx, folders...))
}

// neverRecorded lists reasons why a prepared context that was given to an agent can never be recorded: an erasure removed the file or a turn, or the key that
// signed the context is no longer valid.
var neverRecorded = []error{fs.ErrNotExist, issued.ErrErasedSince, token.ErrKeyRetired, token.ErrKeyUnknown, token.ErrToken}

// takeGiven records the prepared contexts that hooks have given to agents.
func takeGiven(ctx context.Context, spool *capture.Spool, s *Session) error {
	list, err := spool.Givens()
	if s.Kernel == nil {
		return err
	}
	for _, g := range list {
		failed := recordGiven(ctx, s, g)
		final := slices.ContainsFunc(neverRecorded, func(why error) bool { return errors.Is(failed, why) })
		if failed == nil || final {
			failed = errors.Join(failed, g.Done())
		}
		if final {
			failed = fmt.Errorf("session %s of %s was given a context at %s that could not be recorded: %w", g.Session, g.Agent, g.At.Format(time.RFC3339), failed)
		}
		err = errors.Join(err, failed)
	}
	return err
}

// A preparedWire is a prepared context in a file. Packed ids are not UTF-8.
type preparedWire struct {
	Bundle         []byte  `json:"bundle"`
	Head           dag.Seq `json:"head"`
	Folders        string  `json:"folders,omitempty"`
	Except, TaskOf []byte
}

// PreparedFile returns the file of a prepared context for hooks; text is the text for the agent, and keys the file of the keys that signed the context.
func PreparedFile(p *assemble.Prepared, text string, keys capture.KeyFile) ([]byte, error) {
	data, err := json.Marshal(preparedWire{p.Bundle, p.Head, string(p.Delivery.Folders), []byte(p.Delivery.Except), []byte(p.Delivery.TaskOf)})
	if err != nil {
		return nil, err
	}
	return json.Marshal(capture.Prepared{Text: text, Context: data, Keys: keys})
}

func recordGiven(ctx context.Context, s *Session, g *capture.Given) error {
	data, err := ready.Open(g.File)
	var text capture.Prepared
	var w preparedWire
	if err == nil {
		err = json.Unmarshal(data, &text)
	}
	if err == nil {
		err = json.Unmarshal(text.Context, &w)
	}
	if err != nil {
		return err
	}
	p := &assemble.Prepared{Bundle: w.Bundle, Head: w.Head, Delivery: issued.Delivery{Folders: issued.Folders(w.Folders), Except: issued.Conversations(w.Except), TaskOf: issued.Turns(w.TaskOf)}}
	record, err := s.Kernel.Contexts().HandOut(ctx, s.Tenant, p, issued.Recipient{Agent: string(g.Agent), Session: g.Session, Event: g.Event})
	if err != nil || g.Failed == "" {
		return err
	}
	_, err = s.Kernel.Contexts().NotGiven(ctx, s.Tenant, record.Provenance.SliceID, record.Bundle, strings.ToValidUTF8(g.Failed[:min(len(g.Failed), 500)], ""))
	return err
}

// shows reports whether a transcript has the messages that the agent passed to a hook. The transcript may be written after the hook is called.
func shows(ctx context.Context, session *capture.Session, transcript string) (bool, error) {
	waiting := map[string]bool{}
	for _, said := range session.Said {
		waiting[said] = true
	}
	_, err := ingest.Read(ctx, transcript, ingest.Options{Format: ingest.Format(session.Agent)}, func(b *ingest.Batch) error {
		for i := range b.Drafts {
			if b.Drafts[i].Role != dag.RoleAssistant {
				continue
			}
			for said := range waiting {
				if strings.Contains(b.Drafts[i].Content, said) {
					delete(waiting, said)
				}
			}
		}
		return nil
	})
	return len(waiting) == 0, err
}

// takeIn imports the sessions that were captured since the last command. It never fails a command: sessions that cannot be imported keep waiting, and
// "graphkernel capture" says why.
func (st *Stores) takeIn(ctx context.Context) {
	spool, err := st.settings.Spool()
	if err != nil {
		return // the command itself will report the error in the settings
	}
	ring := token.Keyring{}
	given, _ := spool.Givens() // errors in the spool are reported by the commands about it
	if len(given) > 0 {
		if ring, err = st.signing.RingToSign(); err != nil {
			given = nil // given contexts are recorded by a process that can sign
		}
	}
	pending, _ := spool.Pending()
	if len(given) == 0 && !slices.ContainsFunc(pending, func(session *capture.Session) bool { _, err := ingest.Locate(session.Transcript); return err == nil }) {
		return // nothing for which a store should be made
	}
	var done Taken
	err = st.open(ctx, ring, ToMake, func(s *Session) error {
		policy, err := st.settings.Secrets()
		if err == nil {
			done, err = TakeIn(ctx, spool, s, st.Screen(policy, s.Tenant, false), st.clock())
		}
		if done.Turns > 0 {
			_, _ = s.FinishIndex(ctx, done.Turns, false, func(_, _ int64) {}) // the next command continues
		}
		return err
	})
	if done.Turns > 0 {
		st.io.Note("imported %s of %s that grew since the last import", Count(done.Turns, "turn"), Count(done.Sessions, "session"))
	}
	if err != nil && ctx.Err() == nil {
		st.io.Note("graphkernel: some captured sessions could not be imported and keep waiting (graphkernel capture lists them): %v", err)
	}
}

// Count writes a number with a noun, which is given in the singular.
func Count[N int | uint64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, plural(one))
}

// Was returns Count with the verb: "1 turn was", "2 turns were".
func Was(n int, one string) string {
	if n == 1 {
		return Count(n, one) + " was"
	}
	return Count(n, one) + " were"
}

// There says how many things already existed.
func There(n int) string {
	if n == 1 {
		return "1 was there already"
	}
	return fmt.Sprintf("%d were there already", n)
}

// plural returns the plural of a noun, or of the last word of a phrase.
func plural(one string) string {
	switch {
	case strings.HasSuffix(one, "leaf"):
		return strings.TrimSuffix(one, "f") + "ves"
	case strings.HasSuffix(one, "s"):
		return one + "es"
	case strings.HasSuffix(one, "y") && !strings.ContainsAny(one[len(one)-2:len(one)-1], "aeiou"):
		return strings.TrimSuffix(one, "y") + "ies"
	}
	return one + "s"
}
