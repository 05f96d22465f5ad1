package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/token"
)

// A lossy writer takes everything and says that it failed.
type lossy struct{ bytes.Buffer }

var errLossy = errors.New("lost")

func (l *lossy) Write(p []byte) (int, error) {
	_, _ = l.Buffer.Write(p) // never fails
	return len(p), errLossy
}

// TestLostOutput makes sure that a result that may not have arrived is no
// success, and that no second object follows it.
func TestLostOutput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--output", "json", "version"},
		{"--output", "json", "--help"},
		{"--output", "json", "policy", "list"},
		{"--output", "json", "demo"},
		{"version"},
		{"keys"},
	} {
		a := testApp()
		var out lossy
		var messages bytes.Buffer
		a.IO.Stdout, a.IO.Stderr = &out, &messages
		if code := a.Run(context.Background(), args); code != api.ExitInternal {
			t.Errorf("%v: exit code %d, want %d", args, code, api.ExitInternal)
		}
		if !bytes.Contains(messages.Bytes(), []byte(errLossy.Error())) {
			t.Errorf("%v: the error is not told: %s", args, &messages)
		}
		if _, err := oneObject(out.String()); args[0] == "--output" && err != nil {
			t.Errorf("%v: standard output is not one object: %v", args, err)
		}
	}
}

// TestKeysAtOnce changes one keyring from many sides at once; no key is lost.
func TestKeysAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.json")
	keys := func(args ...string) {
		if code := testApp().Run(context.Background(), append([]string{"--keys", path, "keys"}, args...)); code != api.ExitOK {
			t.Errorf("keys %v: exit code %d", args, code)
		}
	}
	keys("init")
	const sides, times = 4, 5
	var wait sync.WaitGroup
	for range sides {
		wait.Go(func() {
			for range times {
				keys("rotate")
			}
		})
	}
	wait.Wait()
	ring, err := token.LoadKeyring(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(ring.Keys()), 1+sides*times; got != want {
		t.Errorf("%d keys, want %d", got, want)
	}
}
