package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// tell answers an event with a context. If there is none, the agent goes on without it. Waiting sessions are imported first, because no other process may do
// so.
func tell(ctx context.Context, a *cli.App, spool *capture.Spool, e *capture.Event, id policy.ID) error {
	if e.Name != capture.SessionStart && e.Name != capture.UserPromptSubmit || e.Name == capture.UserPromptSubmit && capture.IsSmallTalk(e.Prompt) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, contextDeadline)
	defer cancel()
	quiet := a.IO.Quiet
	a.IO.Quiet = true // some agents show the messages of a hook together with its answer
	ring, err := a.Signing.RingToSign()
	if err == nil {
		err = a.Stores.ForRequests().Waiting(a.HookWait).WithKernel(ctx, ring, func(s *cli.Session) error {
			t := teller{session: s, spool: spool, now: a.Clock} // waits for other processes no longer than a hook may
			given, err := t.give(ctx, e, id)
			if err != nil || given == nil {
				return err
			}
			if err := a.IO.Answer(given.text); err != nil {
				return errors.Join(err, given.failed(ctx, err))
			}
			return nil
		})
	}
	a.IO.Quiet = quiet
	if errors.Is(err, cli.ErrNoStore) {
		err = nil
	}
	if err != nil {
		a.IO.Note("graphkernel: the session goes on without a context: %v", err)
	}
	if kept := spool.DidRead(e.Agent, capture.HookContext, err, a.Clock()); kept != nil {
		a.IO.Note("graphkernel: %v", kept)
	}
	return nil
}

// MaxContext is the most bytes, and so characters, of a context for an agent. Claude Code would put more than 10 000 characters into a file.
const MaxContext = 8_000

// marksRoom is more than the bytes of the marks around a prompt: two ids of contexts, the id of a policy, and a number.
const marksRoom = 300

// reportDeadline is the longest time that a hook takes to report that it could not write.
const reportDeadline = 2 * time.Second

// A teller makes the contexts that hooks give to agents.
type teller struct {
	session *cli.Session
	spool   *capture.Spool
	now     func() time.Time
	keys    func() capture.KeyFile // returns the state of the keyring's file from before it was read
	wait    time.Duration          // the longest wait for the lock of the store; 0: no limit
	folders listed                 // the last list
	late    sync.WaitGroup         // records that were not finished in time
}

// A listed is a list of a tenant's folders as of a number.
type listed struct {
	mu   sync.Mutex
	at   dag.Seq
	list *api.Folders
}

// listFolders returns the folders in which something was said. It reads the list again when the history has grown.
func (t *teller) listFolders(ctx context.Context) (*api.Folders, error) {
	head, err := t.session.Head(ctx)
	if err != nil {
		return nil, err
	}
	t.folders.mu.Lock()
	defer t.folders.mu.Unlock()
	if t.folders.list != nil && t.folders.at == head {
		return t.folders.list, nil
	}
	list, err := cli.Do(ctx, t.session, api.ListFolders, api.FolderQuery{Limit: mostFolders})
	if err != nil {
		return nil, err
	}
	if list.NotIndexed == 0 {
		t.folders.at, t.folders.list = head, &list
	}
	return &list, nil
}

// A given is a recorded context for one event.
type given struct {
	text   []byte                                       // the text for the agent
	failed func(ctx context.Context, cause error) error // records that the agent did not get the context
}

// give makes a context for an event and records it. It returns nil if there is nothing to choose from.
func (t *teller) give(ctx context.Context, e *capture.Event, id policy.ID) (*given, error) {
	if e.Session == "" {
		return nil, fmt.Errorf("the event has no session_id, which the record of a context names")
	}
	r, err := t.requestFor(ctx, e, id)
	if err != nil || r == nil {
		return nil, err
	}
	to := issued.Recipient{Agent: string(e.Agent), Session: e.Session, Event: e.Name}
	h, err := t.handOut(ctx, r, to)
	if cli.Is(err, api.CodeNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := e.Context(framed(h.claim))
	if err != nil {
		return nil, err
	}
	return &given{text, func(ctx context.Context, cause error) error {
		if err := h.recorded(); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportDeadline)
		defer cancel()
		_, err := cli.Do(ctx, t.session, api.ReportNotGiven, api.NotGivenReport{
			ContextID: h.claim.Provenance.SliceID, Bundle: h.digest, Reason: clipped(fmt.Sprintf("the hook could not write it: %v", cause)),
		})
		return err
	}}, nil
}

// clipped shortens a text to the length of a reason.
func clipped(reason string) string { return strings.ToValidUTF8(reason[:min(len(reason), 500)], "") }

// framed puts a context between marks. No text in the context can end it early, because no text can name the id of the context that contains it.
func framed(b *contexts.Bundle) string {
	p := &b.Provenance
	return fmt.Sprintf("<graphkernel-context %s policy=%s as_of=%d>\n%s\n</graphkernel-context %s>", p.SliceID, p.PolicyID, b.AsOf, bytes.TrimSuffix(b.Render(), []byte("\n")), p.SliceID)
}

// requestFor returns the request for the context of an event, or nil if there is nothing to ask for. The context is chosen only from sessions that were held
// in the project of the event's folder. For a prompt, the prompt's own session is left out, because the agent knows it; and so it is for the brief of a session that is
// not continued.
func (t *teller) requestFor(ctx context.Context, e *capture.Event, id policy.ID) (*api.ContextRequest, error) {
	list, err := t.listFolders(ctx)
	if err != nil {
		return nil, err
	}
	held, err := projectIn(ctx, list, t.spool, filepath.Clean(e.Folder))
	if err != nil {
		return nil, err
	}
	r := startRequest(held)
	r.Spaces = t.spacesIn(ctx, e.Folder)
	if e.Name == capture.UserPromptSubmit {
		r.Task, r.Policy, r.Format = e.Prompt, id, string(contexts.Markdown)
	}
	if e.Name == capture.UserPromptSubmit || e.Source != "resume" && e.Source != "compact" {
		r.Except = []dag.ConversationID{ingest.SessionConversation(string(e.Agent), e.Session)}
	}
	return r, nil
}

// spacesIn returns the spaces of a context for a session in a folder: those of its project and of none. Of an unknown folder it is nil, which is all: no rule may be missing.
func (t *teller) spacesIn(ctx context.Context, folder string) []belief.Space {
	spaces, err := t.spacesOf(ctx, folder)
	if err != nil {
		return nil
	}
	return spaces
}

// spacesOf is like spacesIn, and returns an error for an unknown folder.
func (t *teller) spacesOf(ctx context.Context, folder string) ([]belief.Space, error) {
	return t.session.SpacesAround(ctx, func(ctx context.Context) (belief.Space, error) {
		of, err := t.spool.Project(filepath.Clean(folder))
		if err != nil {
			return "", err
		}
		identity, err := of.Identity(ctx)
		return cli.SpaceOf(identity), err
	})
}

// startRequest returns the request for the brief of a session in a project.
func startRequest(held *project) *api.ContextRequest {
	return &api.ContextRequest{Task: held.branch, Policy: contexts.BriefID, Format: string(contexts.Brief), Fit: MaxContext - marksRoom, NonEmpty: true, Folders: held.folders}
}

// A project has the sessions that were held in the folders of one project.
type project struct {
	folders []string
	branch  string                   // that is checked out in the folder; "" if there is none
	newest  []api.RecentConversation // the last sessions, the newest first
}

// projectIn returns the project of a folder, given all folders of a tenant. There need not be sessions in it.
func projectIn(ctx context.Context, list *api.Folders, spool *capture.Spool, folder string) (*project, error) {
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
	p := &project{branch: of.Branch()}
	for _, f := range list.Folders {
		has := f.Folder != "" && len(names) < issued.MaxFolders && of.Has(ctx, f.Folder)
		if has && !slices.Contains(names, f.Folder) {
			names = append(names, f.Folder)
		}
		if has || f.Folder == "" && held(func(key string) (string, bool) { return f.Digest, key == ingest.AttrFolderDigest }) {
			p.newest = append(p.newest, f.Newest...)
		}
	}
	slices.SortStableFunc(p.newest, func(a, b api.RecentConversation) int { return strings.Compare(b.LastAt.String(), a.LastAt.String()) }) // times have one spelling, which sorts as they do
	p.folders = names
	return p, nil
}

// Limits of the folders that are compared, and of the spellings of folders for which transcripts have only a digest. A request has room for more folders than
// mostSpellings; the rest are the folders in which something was said last.
const (
	mostFolders   = 2000
	mostSpellings = 50
)
