package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A process is a process as the system lists it.
type process struct {
	pid, parent int
	state       byte   // as ps shows it: T is stopped, Z is dead but not yet reaped
	began       string // the start time, which distinguishes it from a later process with the same pid; empty if the system does not say
}

// ended reports whether the process has released all its files and memory.
func (p process) ended() bool { return p.state == 'Z' || p.state == 'X' }

// family lists the process and all its descendants that have not ended.
func family(ctx context.Context, pid int) ([]process, error) {
	all, err := processes(ctx)
	if err != nil {
		return nil, err
	}
	in := map[int]bool{pid: true}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if in[p.parent] && !in[p.pid] {
				in[p.pid], grown = true, true
			}
		}
	}
	var found []process
	for _, p := range all {
		if in[p.pid] && !p.ended() {
			found = append(found, p)
		}
	}
	return found, nil
}

// processes lists all processes of the machine.
func processes(ctx context.Context) ([]process, error) {
	if runtime.GOOS != "linux" {
		return psProcesses(ctx)
	}
	// filepath.Glob would read the folder of every process to look for its stat.
	folder, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	return readStats(names)
}

// those lists the processes with the pids of some. Without /proc it lists all processes.
func those(ctx context.Context, some []process) ([]process, error) {
	if runtime.GOOS != "linux" {
		return psProcesses(ctx)
	}
	names := make([]string, len(some))
	for i, p := range some {
		names[i] = strconv.Itoa(p.pid)
	}
	return readStats(names)
}

// readStats reads the entries of /proc that are processes, among the given names.
func readStats(names []string) (all []process, err error) {
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue // not a process
		}
		line, err := os.ReadFile(filepath.Join("/proc", name, "stat"))
		if err != nil {
			continue // it ended meanwhile
		}
		p, err := parseStat(string(line))
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// parseStat reads the stat file of a process. The name of its program is in parentheses and may contain parentheses.
func parseStat(line string) (process, error) {
	head, rest, _ := cutLast(line, ") ")
	pid, _, _ := strings.Cut(head, " ")
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return process{}, fmt.Errorf("pgtest: cannot read the state of a process: %q", line)
	}
	p := process{state: fields[0][0], began: fields[19]}
	var err1, err2 error
	p.pid, err1 = strconv.Atoi(pid)
	p.parent, err2 = strconv.Atoi(fields[1])
	return p, errors.Join(err1, err2)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// psProcesses lists all processes with ps, for systems without /proc.
func psProcesses(ctx context.Context) ([]process, error) {
	out, err := exec.CommandContext(ctx, "ps", "-A", "-o", "pid=,ppid=,stat=").Output()
	if err != nil {
		return nil, fmt.Errorf("pgtest: ps: %w", err)
	}
	var all []process
	for line := range strings.Lines(string(out)) {
		var p process
		var state string
		if _, err := fmt.Sscan(line, &p.pid, &p.parent, &state); err != nil {
			return nil, fmt.Errorf("pgtest: ps says %q: %w", line, err)
		}
		p.state = state[0]
		all = append(all, p)
	}
	return all, nil
}

// halt stops a process and its descendants, and returns when none of them moves. It stops the first process first, so that it
// starts no others.
func halt(ctx context.Context, pid int) ([]process, error) {
	var stopped []process
	err := until(ctx, func() (bool, error) {
		all, err := family(ctx, pid)
		if err != nil {
			return false, err
		}
		stopped = all
		still := true
		for _, p := range all {
			if p.state != 'T' {
				still = false
				if err := send(p.pid, sigStop); err != nil {
					return false, err
				}
			}
		}
		return still, nil
	})
	return stopped, err
}

// resume continues a process and its descendants. It continues the first process last, since that relies on the others.
func resume(ctx context.Context, pid int) error {
	all, err := family(ctx, pid)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.pid != pid {
			err = errors.Join(err, send(p.pid, sigContinue))
		}
	}
	return errors.Join(err, send(pid, sigContinue))
}

// buried waits until the processes have ended.
func buried(ctx context.Context, dead []process) error {
	return until(ctx, func() (bool, error) {
		left, err := those(ctx, dead)
		if err != nil {
			return false, err
		}
		for _, p := range left {
			for _, d := range dead {
				if p.pid == d.pid && p.began == d.began && !p.ended() {
					return false, nil
				}
			}
		}
		return true, nil
	})
}

// until calls ask repeatedly until it returns true or an error, or until ctx ends.
func until(ctx context.Context, ask func() (bool, error)) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if yes, err := ask(); yes || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// readFirst reads a file, and returns "" if there is none.
func readFirst(file string) (string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}
