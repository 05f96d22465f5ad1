package sqlite

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
)

// Temporary returns a name in folder for a database that gets its own name when it is
// complete. The name begins with a dot and contains this process's id, for RemoveDead.
func Temporary(folder string) string {
	return filepath.Join(folder, fmt.Sprintf(".graphkernel-%d-%s.db", os.Getpid(), rand.Text()))
}

// RemoveDead removes the databases with names of Temporary whose processes were killed: no process has
// this id, and no connection has the file open. A file that cannot be removed stays, which does no harm.
func RemoveDead(ctx context.Context, folder string) {
	found, err := filepath.Glob(filepath.Join(filepath.Clean(folder), ".graphkernel-*-*.db"))
	if err != nil {
		return
	}
	for _, path := range found {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(path), ".graphkernel-%d-", &pid); err != nil || pid == os.Getpid() || running(pid) {
			continue
		}
		hold, err := HoldFile(ctx, path, 0)
		if err != nil {
			continue
		}
		removeAll(path)
		_ = hold.Release() // the file is gone
		removeAll(path)
	}
}

// removeAll removes a database with its log and its index, if they exist.
func removeAll(path string) {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		_ = os.Remove(path + suffix)
	}
}
