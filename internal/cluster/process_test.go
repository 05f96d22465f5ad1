// Package cluster holds tests of several processes on one database: real graphkernel
// programs, real PostgreSQL servers, real kills. It owns no code but theirs.
//
// What a client was told must fit what every other client is told, whichever process it
// asks: the histories that the clients record are checked for linearizability, with
// porcupine. See history_test.go for the model.
package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/internal/pgstore"
)

var buildFlags []string

// program builds graphkernel, once.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programFolder, "graphkernel")
	args := append(append([]string{"build", "-o", path}, buildFlags...), "github.com/graphkernel/graphkernel/cmd/graphkernel")
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return path, nil
})

var programFolder string

func TestMain(m *testing.M) {
	var err error
	if programFolder, err = os.MkdirTemp("", "graphkernel-cluster-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	for _, err := range []error{pgstore.Stop(), os.RemoveAll(programFolder)} {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// A house is what the processes share: a database, a keyring, an API key.
type house struct {
	t      *testing.T
	folder string
	store  string
	key    string
}

// newHouse makes a keyring, and an API key in the database.
func newHouse(t *testing.T, store string) *house {
	t.Helper()
	h := &house{t: t, folder: t.TempDir(), store: store}
	h.run("keys", "init")
	var made struct{ Key string }
	if err := json.Unmarshal(h.run("--output", "json", "apikey", "create", "--role", "admin"), &made); err != nil {
		t.Fatal(err)
	}
	h.key = made.Key
	return h
}

// command prepares the program, with an environment of its own.
func (h *house) command(args ...string) *exec.Cmd {
	h.t.Helper()
	path, err := program()
	if err != nil {
		h.t.Fatal(err)
	}
	c := exec.Command(path, args...)
	for _, line := range os.Environ() {
		if !strings.HasPrefix(line, "GRAPHKERNEL_") && !strings.HasPrefix(line, "PG") {
			c.Env = append(c.Env, line)
		}
	}
	c.Env = append(c.Env, "HOME="+h.folder, "XDG_DATA_HOME="+h.folder, "XDG_CONFIG_HOME="+h.folder, "GRAPHKERNEL_STORE="+h.store)
	return c
}

func (h *house) run(args ...string) []byte {
	h.t.Helper()
	c := h.command(args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		h.t.Fatalf("graphkernel %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

// serve starts the service and returns a client of it. The service must still be there
// at the end of the test, and end well.
func (h *house) serve() *client.Client {
	h.t.Helper()
	c := h.command("--output", "json", "serve", "--addr", "127.0.0.1:0", "--limits-rate", "-1")
	var stderr bytes.Buffer
	c.Stderr = &stderr // read when the process has ended
	out, err := c.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		h.t.Fatal(err)
	}
	var said struct{ URL string }
	decoded := json.NewDecoder(out).Decode(&said)
	ended := make(chan error, 1)
	go func() {
		_, _ = io.Copy(io.Discard, out) // nothing else comes
		ended <- c.Wait()
	}()
	h.t.Cleanup(func() {
		select {
		case err := <-ended:
			h.t.Errorf("a service ended by itself: %v\n%s", err, stderr.Bytes())
			return
		default:
		}
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			h.t.Error(err)
		}
		if err := <-ended; err != nil || bytes.Contains(stderr.Bytes(), []byte("DATA RACE")) {
			h.t.Errorf("a service ended with %v\n%s", err, stderr.Bytes())
		}
	})
	if decoded != nil {
		h.t.Fatal(decoded)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	h.t.Cleanup(transport.CloseIdleConnections) // before the service is asked to end
	k, err := client.New(said.URL, h.key, client.Options{Transport: transport})
	if err != nil {
		h.t.Fatal(err)
	}
	return k
}
