package capture

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/ready"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// Limits of the contexts that are prepared.
const (
	keepProjects = 12              // projects, those in which something was said last
	keepEach     = 2               // contexts for each project; each is given to one session
	keepPause    = 5 * time.Second // pause between two rounds while the history keeps changing
)

// anywhere is the name of a project that stands for all folders in which no session was held.
const anywhere = "anywhere"

// A keeping prepares contexts for the next sessions, and prepares them again when the history has grown.
type keeping struct {
	*teller

	mu       sync.Mutex
	policies []string // guarded by mu
	head     dag.Seq  // head of the history when the last round began
	warm     dag.Seq  // head of the history when the index was last updated to it
	done     bool     // a round has ended, and no further policy was requested since
	signed   signer   // keys of the last round
	next     time.Time
}

// A signer is the file and the key that a round of preparing signs with. A service reads a keyring a little after the file has changed, so the two change one
// after the other.
type signer struct {
	file capture.KeyFile
	key  token.KeyID
}

// ask adds a policy by which contexts are prepared.
func (k *keeping) ask(id policy.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.policies, string(id)) {
		k.policies, k.done = append(k.policies, string(id)), false
	}
}

// look prepares contexts if something has changed since the last look.
func (k *keeping) look(ctx context.Context) error {
	if k.session.Kernel == nil {
		return nil
	}
	k.mu.Lock()
	for _, id := range policies(k.spool) {
		if !slices.Contains(k.policies, id) {
			k.policies, k.done = append(k.policies, id), false
		}
	}
	asked := slices.Clone(k.policies)
	done := k.done
	k.mu.Unlock()
	givens, err := k.spool.Givens()
	if err != nil {
		return err
	}
	head, err := k.session.Head(ctx)
	if err == nil && head != k.warm { // so that the index is up to date when hooks search it
		if _, err := k.listFolders(ctx); err != nil {
			return err
		}
		k.warm = head
	}
	if err != nil || len(asked) == 0 || done && head == k.head && k.signer() == k.signed && len(givens) == 0 || k.now().Before(k.next) {
		return err
	}
	by := k.signer()
	err = k.keep(ctx, asked)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.next = k.now().Add(keepPause)
	if err == nil {
		k.head, k.signed, k.done = head, by, len(asked) == len(k.policies)
	}
	return unlessLater(err)
}

func (k *keeping) signer() signer { return signer{k.keys(), k.session.Kernel.Contexts().SigningKey()} }

// unlessLater returns nil for an error which says that nothing can be prepared here or now.
func unlessLater(err error) error {
	for _, later := range []error{errors.ErrUnsupported, store.ErrBusy, projection.ErrIndexing, ready.ErrMoved} {
		if errors.Is(err, later) {
			return nil
		}
	}
	return err
}

// keep prepares briefs for the projects with the latest turns. asked are the policies by which hooks ask.
func (t *teller) keep(ctx context.Context, asked []string) error {
	folder, last, err := t.session.Ready(ctx)
	if err != nil {
		return err
	}
	if err := t.spool.SetReadyIn(capture.ReadyIn{Folder: folder.Path(), Policies: asked}); err != nil {
		return err
	}
	list, err := t.listFolders(ctx)
	if err != nil {
		return err
	}
	keys := []string{capture.ReadyKey("")}
	var failed []error                                                                      // an error in one project does not stop the others
	nobody, err := projectIn(ctx, list, t.spool, filepath.Join(t.spool.Folder(), anywhere)) // a project without sessions
	if err == nil {
		err = t.keepFor(ctx, nobody, nil, folder, keys[0], last)
	}
	if err != nil {
		failed = append(failed, err)
	}
	for _, f := range list.Folders {
		key := capture.ReadyKey(f.Folder)
		if f.Folder == "" || slices.Contains(keys, key) {
			continue
		}
		if len(keys) > keepProjects {
			break
		}
		keys = append(keys, key)
		held, err := projectIn(ctx, list, t.spool, f.Folder)
		if err == nil {
			err = t.keepFor(ctx, held, t.spacesIn(ctx, f.Folder), folder, key, last)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("for sessions in %s: %w", f.Folder, err))
		}
	}
	givens, err := t.spool.Givens()
	if err == nil {
		var marked []string
		for _, g := range givens {
			marked = append(marked, g.File)
		}
		err = folder.Prune(keys, marked, t.now().Add(-capture.Patience))
	}
	return errors.Join(append(failed, err)...)
}

// keepFor prepares contexts for a project, unless the waiting contexts were made from the same history, rules and keys.
func (t *teller) keepFor(ctx context.Context, held *project, spaces []belief.Space, folder ready.Folder, key string, last dag.Seq) error {
	r := startRequest(held)
	r.Spaces = spaces
	newest := ""
	if len(held.newest) > 0 {
		newest = held.newest[0].Turn.String()
	}
	about := fmt.Sprintf("%s %s", newest, t.session.Kernel.Contexts().SigningKey())
	if folder.Count(key, about) >= keepEach {
		return nil
	}
	texts, err := t.prepare(ctx, r)
	if err != nil {
		return err
	}
	return folder.Keep(key, uint64(last), about, texts...)
}

// prepare makes contexts that a hook can give without opening the store. It makes none if there is nothing to choose from.
func (t *teller) prepare(ctx context.Context, r *api.ContextRequest) (texts [][]byte, err error) {
	keys := t.keys()
	for range keepEach {
		p, err := t.session.Kernel.Contexts().Prepare(ctx, t.session.Tenant, *r)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		claim, err := contexts.Parse(p.Bundle)
		if err != nil {
			return nil, err
		}
		text, err := cli.PreparedFile(p, framed(claim), keys)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// KeepAfter calls Keep after a change. The change is complete without it, so an error is only a note.
func KeepAfter(ctx context.Context, a *cli.App) {
	if err := Keep(ctx, a); err != nil {
		a.IO.Note("graphkernel: nothing could be prepared for the sessions that begin next: %v", err)
	}
}

// Keep prepares contexts for the next sessions, if hooks ask for any. It opens the store with the keys that sign.
func Keep(ctx context.Context, a *cli.App) error {
	spool, err := a.Settings.Spool()
	if err != nil {
		return nil //nolint:nilerr // without a home folder there are no hooks
	}
	asked := policies(spool)
	if len(asked) == 0 || a.Settings.AsksService() {
		return nil
	}
	keys := capture.KeyFileAt(a.Settings.KeyringFile()) // before the keys are read
	ring, err := a.Signing.RingToSign()
	if err != nil {
		return nil //nolint:nilerr // doctor reports that nothing can be signed
	}
	err = a.Stores.WithReadyKernel(ctx, ring, func(s *cli.Session) error {
		t := teller{session: s, spool: spool, now: a.Clock, keys: func() capture.KeyFile { return keys }}
		return t.keep(ctx, asked)
	})
	return unlessLater(err)
}
