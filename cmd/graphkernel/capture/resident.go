package capture

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/capture"
	"github.com/graphkernel/graphkernel/capture/resident"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/ingest/secrets"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/token"
)

// idle is how long a process that answers hooks stays without being called.
const idle = 10 * time.Minute

func residentCommand(a *cli.App) *cobra.Command {
	var asked string
	stay := idle
	c := &cobra.Command{
		Use:   "resident [SPOOL]",
		Short: "Answer hooks for a while",
		Long: `Keeps the store open and answers the hooks of one spool, so that they need not wait for the store. The socket
for this may be used only by the same user. The process imports the sessions that hooks captured, prepares
contexts for the next sessions, and ends when no hook has called for --idle. Hooks start it. It ends at once if
graphkernel serve is running, which does the same work. GRAPHKERNEL_RESIDENT=off keeps hooks from starting it.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			spool, err := a.Settings.Spool()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				spool = capture.At(args[0])
			}
			keys := capture.KeyFileAt(a.Settings.KeyringFile()) // before the keys are read
			ring, err := a.Signing.RingToSign()
			if errors.Is(err, cli.ErrNoSecret) { // contexts cannot be signed, but sessions are still imported
				ring, err = token.Keyring{}, nil
			}
			if err != nil {
				return err
			}
			secretsPolicy, err := a.Settings.Secrets()
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(a.IO.Stderr, nil))
			attend := func(s *cli.Session) error {
				defer s.BesideIndex(c.Context())()
				at, err := Attend(a, s, spool, a.Stores.Screen(secretsPolicy, s.Tenant, false), log, false)
				if err != nil {
					return err
				}
				at.idle, at.tell.keys = stay, func() capture.KeyFile { return keys }
				if asked != "" {
					at.asked(ContextPolicy(asked))
				}
				return at.Run(c.Context())
			}
			stores := a.Stores.ForRequests()
			err = stores.WithReadyKernel(c.Context(), ring, attend)
			if errors.Is(err, cli.ErrNoStore) { // importing the waiting sessions makes the store
				err = stores.WithKernel(c.Context(), ring, attend)
			}
			if errors.Is(err, resident.ErrThere) || errors.Is(err, context.Canceled) {
				err = nil
			}
			return err
		},
	}
	c.Flags().StringVar(&asked, "context", "", "prepare contexts that are chosen by this policy; default is the kernel's")
	c.Flags().DurationVar(&stay, "idle", idle, "how long to stay without being called by a hook")
	a.Settings.RegisterSecrets(c)
	return c
}

// An Attendant does the work of hooks in a process that has the store open.
type Attendant struct {
	a      *cli.App
	tell   teller
	screen *secrets.Screen
	log    *slog.Logger
	listen *resident.Listener // nil: no hook can connect
	flags  []string
	idle   time.Duration // 0: the attendant never ends because it is idle
	since  []fs.FileInfo // the files of the store and of keys, when the attendant began
	last   atomic.Int64  // time of the last hook, in nanoseconds

	keeping keeping
}

// Attend prepares to answer the hooks of a spool. If another process answers them, the error wraps resident.ErrThere; with over, the other process is stopped
// instead.
func Attend(a *cli.App, s *cli.Session, spool *capture.Spool, screen *secrets.Screen, log *slog.Logger, over bool) (*Attendant, error) {
	flags, err := a.Settings.Flags()
	if err != nil {
		return nil, err
	}
	at := &Attendant{a: a, since: snapshot(a), tell: teller{session: s, spool: spool, now: a.Clock, wait: a.HookWait}, screen: screen, log: log, flags: flags}
	at.tell.keys = func() capture.KeyFile { return capture.KeyFileAt(a.Settings.KeyringFile()) } // a service reads a keyring again when it changes
	at.keeping.teller = &at.tell
	if at.listen, err = resident.Listen(context.Background(), spool.Folder(), over); errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return at, err
}

// hurriedTexts is the most texts that the kernel reads for the search index while a hook waits. They take about 15 ms.
const hurriedTexts = 100

// looks is how often an attendant checks whether hooks reported that a session has grown.
const looks = time.Second

// Run answers hooks and imports the sessions that they captured, until ctx ends, no hook has called for the idle time, or another process takes over.
func (at *Attendant) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if at.listen != nil {
		served := make(chan struct{})
		defer func() { cancel(); <-served; at.tell.late.Wait() }()
		go func() {
			defer close(served)
			if err := at.listen.Serve(ctx, at.flags, at.answer); err != nil {
				at.log.Warn("hooks are no longer answered", "error", err)
			}
		}()
	}
	at.touch()
	tick := time.NewTicker(looks)
	defer tick.Stop()
	said := ""
	for {
		done, err := cli.TakeIn(ctx, at.tell.spool, at.tell.session, at.screen, at.a.Clock())
		if done.Turns > 0 {
			at.touch()
			at.log.Info("captured sessions were imported", "sessions", done.Sessions, "turns", done.Turns)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err = errors.Join(err, at.keeping.look(ctx))
		if err == nil {
			said = ""
		} else if err.Error() != said { // retried with every look
			said = err.Error()
			at.log.Warn("some captured sessions could not be imported and keep waiting", "error", err)
		}
		if at.idle > 0 && at.listen == nil { // no hook could reach it
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if at.idle > 0 && (at.a.Clock().UnixNano()-at.last.Load() > int64(at.idle) || at.listen.Replaced() || at.outdated()) {
			return nil
		}
	}
}

func (at *Attendant) touch() { at.last.Store(at.a.Clock().UnixNano()) }

// outdated reports whether the store's file was replaced, or a file of keys was changed, since the attendant began.
func (at *Attendant) outdated() bool {
	if at.tell.session.Kernel == nil {
		return false
	}
	now := snapshot(at.a)
	store := at.since[0] != nil && !os.SameFile(at.since[0], now[0]) // a PostgreSQL store has no file
	return store || cli.Changed(at.since[1], now[1]) || cli.Changed(at.since[2], now[2])
}

// snapshot returns the state of the files of the store, the keyring and the identity.
func snapshot(a *cli.App) (files []fs.FileInfo) {
	look := func(path string, err error) {
		var info fs.FileInfo
		if err == nil {
			info, _ = os.Stat(path) // nil if there is no file
		}
		files = append(files, info)
	}
	look(cli.SqlitePath(a.Settings.StoreName()))
	look(a.Settings.KeysPath())
	look(a.Settings.IdentityPath())
	return files
}

// asked notes that hooks ask for contexts by a policy, so that such contexts are prepared.
func (at *Attendant) asked(id policy.ID) { at.keeping.ask(id) }

// answer answers one hook.
func (at *Attendant) answer(ctx context.Context, r *resident.Request) (*resident.Answer, func(error)) {
	at.touch()
	agent, err := capture.ParseAgent(r.Agent)
	if err != nil {
		return &resident.Answer{Other: err.Error()}, nil
	}
	e, err := capture.ReadEvent(agent, bytes.NewReader(r.Event))
	if err != nil {
		return &resident.Answer{Late: err.Error()}, nil
	}
	id := policy.ID(r.Policy)
	at.asked(id)
	ctx, cancel := context.WithTimeout(projection.Hurried(ctx, hurriedTexts), contextDeadline)
	defer cancel()
	given, err := at.tell.give(ctx, e, id)
	switch {
	case err != nil:
		return &resident.Answer{Late: err.Error()}, nil
	case given == nil:
		return &resident.Answer{}, nil
	}
	return &resident.Answer{Text: given.text}, func(err error) {
		if err == nil {
			return
		}
		if err := given.failed(context.Background(), err); err != nil {
			at.log.Warn("a context is recorded as given, but the agent did not get it", "error", err)
		}
	}
}

// policies returns the policies of the contexts that hooks ask for.
func policies(spool *capture.Spool) []string {
	in, err := spool.ReadyIn()
	if err != nil {
		return nil
	}
	return slices.Clone(in.Policies)
}
