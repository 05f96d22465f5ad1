package service

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/store"
)

// TestWatchdog plays the service manager: it hears that the service is ready and alive,
// also while its disk is full, and nothing more once the store is broken.
func TestWatchdog(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no systemd")
	}
	path := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	a := cli.New(cli.Config{Getenv: func(name string) string {
		return map[string]string{"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "2000"}[name]
	}})
	asked := 0
	feedWatchdog(a, t.Context(), func(context.Context) error {
		asked++
		return []error{nil, store.ErrUnwritable, store.ErrBusy, fmt.Errorf("commit: %w", store.ErrBroken)}[asked-1]
	}, slog.New(slog.DiscardHandler))
	if err := manager.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 100)
	for i, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"} {
		n, err := manager.Read(buffer)
		if err != nil || string(buffer[:n]) != want {
			t.Fatalf("message %d is %q, %v, want %q", i, buffer[:n], err, want)
		}
	}
	if asked != 4 {
		t.Errorf("the store was asked %d times", asked)
	}
	if err := manager.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if n, err := manager.Read(buffer); err == nil {
		t.Errorf("after the store broke the manager heard %q", buffer[:n])
	}
}
