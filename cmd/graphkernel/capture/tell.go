package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// tell answers an event with a context. An agent that gets none goes on without.
func tell(ctx context.Context, a *cli.App, spool *capture.Spool, e *capture.Event, id policy.ID) error {
	ctx, cancel := context.WithTimeout(ctx, contextDeadline)
	defer cancel()
	if e.Name != capture.SessionStart && e.Name != capture.UserPromptSubmit {
		return nil
	}
	quiet := a.IO.Quiet
	a.IO.Quiet = true // some agents show what a hook says beside its answer
	err := giveContext(ctx, a, spool, e, id)
	a.IO.Quiet = quiet
	if err != nil && !errors.Is(err, cli.ErrNoStore) {
		a.IO.Note("graphkernel: the session goes on without a context: %v", err)
	}
	return nil
}

// MaxContext bounds what an agent is told, in bytes, and so in characters. More than 10 000 characters Claude Code would put into a file.
const MaxContext = 8_000

// marksRoom is more than the bytes of the marks around a prompt: two ids of contexts, the id of a policy, and a number.
const marksRoom = 300

// reportDeadline is how long a hook takes at most to report that it could not write.
const reportDeadline = 2 * time.Second

// giveContext has a context assembled and writes it. Nothing is written where there is nothing to choose from.
func giveContext(ctx context.Context, a *cli.App, spool *capture.Spool, e *capture.Event, id policy.ID) error {
	ring, err := a.Signing.RingToSign()
	if err != nil {
		return err
	}
	if e.Session == "" {
		return fmt.Errorf("the event has no session_id, which the record of a context names")
	}
	return a.Stores.WithKernel(ctx, ring, func(s *cli.Session) error {
		r, err := requestFor(ctx, s, spool, e)
		if err != nil || r == nil {
			return err
		}
		r.Policy = id
		given, err := s.Contexts.Assemble(ctx, *r)
		if cli.Is(err, api.CodeNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err := e.Context(framed(given.Claim))
		if err == nil {
			err = a.IO.Answer(answer)
		}
		if err == nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportDeadline)
		defer cancel()
		_, report := cli.Do(ctx, s, view.ReportNotGiven, api.NotGivenReport{
			ContextID: string(given.Claim.Provenance.SliceID), Bundle: given.SHA256.String(), Reason: clipped(fmt.Sprintf("the hook could not write it: %v", err)),
		})
		return errors.Join(err, report)
	})
}

// clipped returns a text that is short enough for a reason.
func clipped(reason string) string { return strings.ToValidUTF8(reason[:min(len(reason), 500)], "") }

// framed puts a context between marks. No text in it can end it, since none can name the id of a context that it is in.
func framed(b *contexts.Bundle) string {
	p := &b.Provenance
	return fmt.Sprintf("<graphkernel-context %s policy=%s as_of=%d>\n%s\n</graphkernel-context %s>", p.SliceID, p.PolicyID, b.AsOf, bytes.TrimSuffix(b.Render(), []byte("\n")), p.SliceID)
}

// requestFor returns the request that answers an event, nil if there is nothing to ask for. A context is chosen from sessions that were held in the
// project of the event's folder alone. A prompt is told nothing of its own session, which the agent knows; a session that goes on begins with its own last turns.
func requestFor(ctx context.Context, s *cli.Session, spool *capture.Spool, e *capture.Event) (*client.ContextRequest, error) {
	if e.Name == capture.UserPromptSubmit && strings.TrimSpace(e.Prompt) == "" {
		return nil, nil
	}
	held, err := heldIn(ctx, s, spool, filepath.Clean(e.Folder))
	if err != nil {
		return nil, err
	}
	own := ingest.SessionConversation(string(e.Agent), e.Session)
	r := &client.ContextRequest{
		Format: contexts.Markdown, Fit: MaxContext - marksRoom, NonEmpty: true,
		Delivery: issued.Delivery{Recipient: issued.Recipient{Agent: string(e.Agent), Session: e.Session, Event: e.Name}, Folders: held.folders},
	}
	if e.Name == capture.UserPromptSubmit {
		r.Task, r.Delivery.Except = e.Prompt, issued.PackConversations(own)
		return r, nil
	}
	if e.Source != "resume" && e.Source != "compact" {
		r.Delivery.Except = issued.PackConversations(own)
	}
	of, err := held.lately(ctx, s, r.Delivery.Except)
	if err != nil || of == nil {
		return nil, err
	}
	if r.AsOf, err = s.Head(ctx); err != nil { // the default is the anchor's number, which leaves out turns that were imported later
		return nil, err
	}
	r.Anchor, r.Task = &of.last, strings.Join(of.prompts, "\n")
	slices.SortFunc(of.from, dag.TurnID.Compare)
	r.Delivery.TaskOf = issued.PackTurns(slices.Compact(of.from))
	return r, nil
}

// aboutSessions is how many of a project's last sessions say what a new one may be about.
const aboutSessions = 5

// A project has the sessions that were held in the folders of one project.
type project struct {
	folders issued.Folders
	newest  []api.RecentConversation // the last sessions, the newest first
}

// heldIn returns the project of a folder. No session need have been held there.
func heldIn(ctx context.Context, s *cli.Session, spool *capture.Spool, folder string) (*project, error) {
	list, err := cli.Do(ctx, s, view.ListFolders, api.FolderQuery{Limit: mostFolders})
	if err != nil {
		return nil, err
	}
	of, err := spool.Project(folder)
	if err != nil {
		return nil, err
	}
	digests := map[string]bool{}
	for _, f := range list.Folders {
		digests[f.Digest] = true
	}
	names := of.Spellings(ctx, digests)
	names = names[:min(len(names), mostSpellings)]
	held := ingest.HeldIn(names...)
	p := &project{}
	for _, f := range list.Folders {
		has := f.Folder != "" && len(names) < issued.MaxFolders && of.Has(ctx, f.Folder)
		if has && !slices.Contains(names, f.Folder) {
			names = append(names, f.Folder)
		}
		if has || f.Folder == "" && held(func(key string) (string, bool) { return f.Digest, key == ingest.AttrFolderDigest }) {
			p.newest = append(p.newest, f.Newest...)
		}
	}
	slices.SortStableFunc(p.newest, func(a, b api.RecentConversation) int { return strings.Compare(b.LastAt, a.LastAt) }) // times have one spelling, which sorts as they do
	p.folders = issued.PackFolders(names...)
	return p, nil
}

// Bounds of the folders that are compared, and of those of which transcripts have a digest alone. A context has room for more folders than these: those in
// which something was said last.
const (
	mostFolders   = 2000
	mostSpellings = 50
)

// A recent holds the last turn of a project and the first prompts of its last sessions.
type recent struct {
	last    dag.TurnID   // of the newest session there
	prompts []string     // the first of each of the last sessions there
	from    []dag.TurnID // the turns that the prompts are the beginnings of
}

// lately returns the recent turns of the project, without some conversations; nil if there are none.
func (p *project) lately(ctx context.Context, s *cli.Session, except issued.Conversations) (found *recent, err error) {
	for _, h := range p.newest {
		if slices.ContainsFunc(except.Unpack(), func(id dag.ConversationID) bool { return id.String() == h.Conversation }) {
			continue
		}
		if found == nil {
			last, err := dag.ParseTurnID(h.Turn)
			if err != nil {
				return nil, err
			}
			found = &recent{last: last}
		}
		prompt, err := cli.FirstPrompt(ctx, s, h.Conversation)
		if err != nil {
			return nil, err
		}
		if prompt != nil && !prompt.Redacted {
			found.prompts = append(found.prompts, cli.Beginning(prompt))
			found.from = append(found.from, prompt.ID)
		}
		if len(found.prompts) == aboutSessions {
			break
		}
	}
	return found, nil
}
