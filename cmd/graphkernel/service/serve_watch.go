package service

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/token"
)

// lookAtKeys is how often the files of keys are checked: a key that another process retires verifies nothing after this time.
const lookAtKeys = 50 * time.Millisecond

// A keyFile is a file of keys that is read again whenever it has changed.
type keyFile struct {
	path  string
	what  string                       // its name in the log
	take  func() (keys int, err error) // reads the file and uses its keys
	again chan struct{}                // makes it read the file again, even if the file has not changed
}

// watchFiles reads the keyring and the identity again whenever their files have changed.
func watchFiles(a *cli.App, ctx context.Context, k *kernel.Kernel, authority *token.Authority, log *slog.Logger) {
	var files []*keyFile
	watch := func(path, what string, take func() (int, error)) {
		files = append(files, &keyFile{path, what, take, make(chan struct{}, 1)})
	}
	if path := a.Settings.KeyringFile(); path != "" {
		watch(path, "keyring", func() (int, error) {
			ring, err := token.LoadKeyring(path)
			if err != nil {
				return 0, err
			}
			authority.Replace(ring)
			return len(ring.Keys()), nil
		})
	}
	if path, err := a.Settings.IdentityPath(); err == nil && !a.Settings.Dev {
		watch(path, "identity", func() (int, error) {
			id, err := identity.Load(path)
			if err == nil {
				err = k.Ledger().ReplaceIdentity(id)
			}
			return len(id.Attestations("")), err
		})
	}
	look := func() {
		for _, f := range files {
			select {
			case f.again <- struct{}{}:
			default:
			}
		}
	}
	a.OnHangup.Store(&look)
	for _, f := range files {
		go f.watch(ctx, log)
	}
}

func (f *keyFile) watch(ctx context.Context, log *slog.Logger) {
	seen, _ := os.Stat(f.path)
	known := seen != nil // there may be no identity
	seen = nil           // a change while the service started is noticed, too
	tick := time.NewTicker(lookAtKeys)
	defer tick.Stop()
	for first, failed := known, false; ; {
		forced := false
		select {
		case <-ctx.Done():
			return
		case <-f.again:
			forced = true
		case <-tick.C:
		}
		now, _ := os.Stat(f.path) // nil if there is no information; take reports why
		known = known || now != nil
		other := cli.Changed(seen, now)
		if !known || !other && !forced && !failed {
			continue
		}
		seen = now
		keys, err := f.take()
		if err != nil { // retried with every look: the cause may be this process
			if !failed || other || forced {
				log.Error("the "+f.what+" cannot be read; the previous one stays in use", "error", err)
			}
			failed = true
			continue
		}
		failed = false
		if !first {
			log.Info("the "+f.what+" was reloaded", "keys", keys)
		}
		first = false
	}
}
