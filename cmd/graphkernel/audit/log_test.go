package audit

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/monitor"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/token"
)

// A late log shows the checkpoint that it had, as one does that asks witnesses now and
// then, and all hashes that it has.
type late struct {
	monitor.Source
	note []byte
}

func (l late) Checkpoint(context.Context) ([]byte, error) { return l.note, nil }

// TestMonitorOfAnOlderView looks at a log of which somebody else saw more. That is no second
// history, unless it is one.
func TestMonitorOfAnOlderView(t *testing.T) {
	t.Parallel()
	const tenant = dag.DefaultTenant
	id := must(identity.New(nil, "kernel.example", 1))
	open := func() (*cli.Session, *inmem.Store) {
		s := inmem.Open(&inmem.Disk{}, inmem.Options{})
		k := must(kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(token.Keyring{}), Clock: time.Now, Identity: id}))
		return cli.SessionOf(k, tenant, time.Now), s
	}
	grow := func(s *inmem.Store, first, n int) {
		must(storetest.PutLeaves(t.Context(), s, tenant, storetest.LeavesOf(tenant, first, n)))
	}
	checkpoint := func(s *cli.Session) []byte { return must(s.Ledger.Checkpoint(t.Context())) }
	ours, ourStore := open()
	theirs, theirStore := open()
	grow(ourStore, 0, 300)
	older := checkpoint(ours)
	grow(ourStore, 300, 300)
	grow(theirStore, 600, 700)

	folder := t.TempDir()
	var said bytes.Buffer
	a := cli.New(cli.Config{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &said, Getenv: func(string) string { return "" }, Clock: time.Now})
	trust := must(ledger.ParseTrust(must(id.Trust(tenant, ""))))
	for _, c := range []struct {
		name string
		also []byte
		code int
	}{
		{"same", older, api.ExitOK},
		{"newer", checkpoint(ours), api.ExitOK},
		{"another", checkpoint(theirs), api.ExitInconsistent},
	} {
		also := filepath.Join(folder, c.name)
		if err := os.WriteFile(also, c.also, 0o600); err != nil {
			t.Fatal(err)
		}
		err := lookAtLog(a, t.Context(), late{ours.Ledger, older}, trust, trust.Logs[0].Name, filepath.Join(folder, "state"), &monitorFlags{also: []string{also}})
		code := api.ExitOK
		if err != nil {
			code = cli.ExitCode(err)
		}
		if shouted := bytes.Contains(said.Bytes(), []byte("kept as evidence")); code != c.code || shouted != (code == api.ExitInconsistent) {
			t.Errorf("%s: exit code %d, want %d: %v\n%s", c.name, code, c.code, err, &said)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
