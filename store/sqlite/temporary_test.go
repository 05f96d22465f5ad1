package sqlite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestRemoveDead removes what killed processes left, and nothing else: not the files of
// processes that run, not those that are open, not those of other names.
func TestRemoveDead(t *testing.T) {
	folder := t.TempDir()
	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	dead := ended.Process.Pid
	left := filepath.Join(folder, fmt.Sprintf(".graphkernel-%d-LEFT.db", dead))
	filled(t, left).Close()
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := os.WriteFile(left+suffix, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := filepath.Join(folder, fmt.Sprintf(".graphkernel-%d-OPEN.db", dead))
	s := filled(t, open)
	stay := []string{open}
	for _, name := range []string{
		filepath.Base(Temporary(folder)),
		fmt.Sprintf(".graphkernel-%d-PARENT.db", os.Getppid()),
		".graphkernel-x-NAME.db",
		fmt.Sprintf("graphkernel-%d-NAME.db", dead),
		"store.db",
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
		stay = append(stay, path)
	}
	RemoveDead(t.Context(), folder)
	if left, err := filepath.Glob(left + "*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	for _, path := range stay {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("removed: %v", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	RemoveDead(t.Context(), folder)
	if _, err := os.Stat(open); err == nil {
		t.Error("a file that nobody has open any longer was left")
	}
}
