package pgtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// longestSocket is the longest path of a Unix socket; Linux accepts 107 bytes, macOS 103.
const longestSocket = 100

// A workshop is the folder of all servers of this process:
//
//	template    a cluster as initdb leaves it
//	1/data      the cluster of the first server
//	1/log       its log
//	1/.s.PGSQL… its socket
type workshop struct {
	folder string
	bin    string
	owner  *owner
	watch  *os.File // the guard starts cleaning up when this is closed

	mu     sync.Mutex // guards what follows
	made   bool       // the template is complete
	served int
}

var opened struct {
	sync.Mutex
	workshop *workshop
}

// open returns the process's workshop; the first call creates it.
func open(ctx context.Context) (*workshop, error) {
	opened.Lock()
	defer opened.Unlock()
	if opened.workshop != nil {
		return opened.workshop, nil
	}
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	user, err := account()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(reachable(os.TempDir(), user), "pgtest-")
	if err != nil {
		return nil, err
	}
	w := &workshop{folder: folder, bin: bin, owner: user}
	if user != nil {
		err = os.Chown(folder, user.uid, user.gid)
	}
	if err == nil {
		err = w.guard()
	}
	if err != nil {
		_ = os.RemoveAll(folder)
		return nil, err
	}
	opened.workshop = w
	return w, nil
}

// reachable returns folder, or /tmp if the user could not enter folder or the path of a socket in it would be too long.
func reachable(folder string, user *owner) string {
	if len(filepath.Join(folder, "pgtest-1234567890", "100", ".s.PGSQL.12345.lock")) > longestSocket {
		return "/tmp"
	}
	if user == nil {
		return folder
	}
	for at := folder; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err != nil || info.Mode()&0o001 == 0 {
			return "/tmp"
		}
		if at == filepath.Dir(at) {
			return folder
		}
	}
}

// watchman waits for the end of its input, which comes when this process ends. A server that is told to end at once gets ten
// seconds; a server with a frozen child takes five.
const watchman = `
trap '' HUP INT TERM
cat >/dev/null
for file in "$1"/*/data/postmaster.pid; do
	[ -f "$file" ] && read -r pid <"$file" && kill -QUIT "$pid" && kill -CONT "$pid"
done
for file in "$1"/*/data/postmaster.pid; do
	tries=0
	while [ -f "$file" ] && [ $tries -lt 100 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	[ -f "$file" ] && read -r pid <"$file" && kill -KILL "$pid"
done
rm -rf "$1"
`

// guard starts the shell that cleans up. No other process holds the writing end of its input, so the input ends with this
// process, even if it is killed.
func (w *workshop) guard() error {
	input, watch, err := os.Pipe()
	if err != nil {
		return err
	}
	defer input.Close()
	cmd := exec.Command("sh", "-c", watchman, "sh", w.folder)
	cmd.Stdin = input
	cmd.Dir = "/"
	cmd.SysProcAttr = attributes(nil)
	if err := cmd.Start(); err != nil {
		watch.Close()
		return err
	}
	w.watch = watch
	return cmd.Process.Release()
}

// command prepares a program of PostgreSQL or of the system to run as the owner.
func (w *workshop) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = w.folder // the folder of a test may be closed to the owner
	cmd.SysProcAttr = attributes(w.owner)
	for _, line := range os.Environ() {
		if !strings.HasPrefix(line, "PG") && !strings.HasPrefix(line, "LC_") && !strings.HasPrefix(line, "LANG") {
			cmd.Env = append(cmd.Env, line)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C")
	return cmd
}

// do runs a program and waits for its end.
func (w *workshop) do(ctx context.Context, program string, args ...string) error {
	cmd := w.command(ctx, program, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("pgtest: %s: %w: %s", filepath.Base(program), err, tail(said.String()))
	}
	return nil
}

// fresh creates a new cluster in a folder: a copy of the cluster that initdb made once.
func (w *workshop) fresh(ctx context.Context, folder string) error {
	template := filepath.Join(w.folder, "template")
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.made {
		if err := os.RemoveAll(template); err != nil { // left from a try that was cancelled
			return err
		}
		if err := w.do(ctx, filepath.Join(w.bin, "initdb"), "-N", "--data-checksums", "--auth=trust", "--no-locale", "-E", "UTF8",
			"-U", superuser, "-D", template); err != nil {
			return err
		}
		w.made = true
	}
	return w.do(ctx, "cp", "-Rp", template, folder)
}

// newServer creates the folder of a server.
func (w *workshop) newServer() (*Server, error) {
	w.mu.Lock()
	w.served++
	folder := filepath.Join(w.folder, strconv.Itoa(w.served))
	w.mu.Unlock()
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	if w.owner != nil {
		if err := os.Chown(folder, w.owner.uid, w.owner.gid); err != nil {
			return nil, err
		}
	}
	return &Server{workshop: w, folder: folder}, nil
}

// tail returns the last lines of a text.
func tail(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-50):], "\n")
}
