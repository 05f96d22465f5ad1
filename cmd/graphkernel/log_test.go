package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/monitor"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store/inmem"
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
	id := ok(identity.New(nil, "kernel.example", 1))
	open := func() *session {
		k := ok(kernel.Open(kernel.Config{Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), Authority: token.NewAuthority(token.Keyring{}), Clock: time.Now, Identity: id}))
		return &session{Kernel: k, tenant: tenant}
	}
	grow := func(s *session, name string, n int) {
		for i := range n {
			p := ok(policy.Bind(policy.ID(fmt.Sprintf("%s-%d@1", name, i)), policy.Default()))
			if err := s.RegisterPolicy(t.Context(), tenant, p); err != nil {
				t.Fatal(err)
			}
		}
	}
	checkpoint := func(s *session) []byte { return ok(s.Checkpoint(t.Context(), tenant)).Note }
	ours, theirs := open(), open()
	grow(ours, "ours", 300)
	older := checkpoint(ours)
	grow(ours, "more", 300)
	grow(theirs, "theirs", 700)

	folder := t.TempDir()
	a := testApp()
	var said bytes.Buffer
	a.stdout, a.stderr = io.Discard, &said
	trust := ok(ledger.ParseTrust(ok(id.Trust(tenant, ""))))
	for _, c := range []struct {
		name string
		also []byte
		code int
	}{
		{"same", older, exitOK},
		{"newer", checkpoint(ours), exitOK},
		{"another", checkpoint(theirs), exitInconsistent},
	} {
		also := filepath.Join(folder, c.name)
		if err := os.WriteFile(also, c.also, 0o600); err != nil {
			t.Fatal(err)
		}
		err := a.lookAtLog(t.Context(), late{ownLog{ours}, older}, trust, trust.Logs[0].Name, filepath.Join(folder, "state"), &monitorFlags{also: []string{also}})
		code := exitOK
		if err != nil {
			code = exitCode(err)
		}
		if shouted := bytes.Contains(said.Bytes(), []byte("kept as evidence")); code != c.code || shouted != (code == exitInconsistent) {
			t.Errorf("%s: exit code %d, want %d: %v\n%s", c.name, code, c.code, err, &said)
		}
	}
}
