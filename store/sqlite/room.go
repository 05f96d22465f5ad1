package sqlite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"

	"github.com/graphkernel/graphkernel/store"
)

// roomOfWrite is how many bytes the log of a store must be able to grow by: more than a write of some turns needs. (One page is not
// enough of a probe: it may fit into the log as it is, where a write of turns does not.)
const roomOfWrite = 256 << 10

// HasRoom returns an error that wraps store.ErrUnwritable if the disk has no room for a write to the store at path. It changes no file of
// the store: it writes a file without a name to the same folder, as long as the log would become. It returns nil if no file can be made there.
func HasRoom(path string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	end := int64(0)
	if log, err := os.Stat(path + "-wal"); err == nil {
		end = log.Size()
	}
	scratch := Temporary(filepath.Dir(path))
	f, err := os.OpenFile(scratch, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		defer func() { _ = os.Remove(scratch) }() // where an open file keeps its name
		defer func() { _ = f.Close() }()
		_ = os.Remove(scratch)
		block := make([]byte, roomOfWrite)
		_, _ = rand.NewChaCha8([32]byte{}).Read(block) // not zeros, which some disks keep no bytes of; it returns no error
		if _, err = f.WriteAt(block, end); err == nil {
			err = f.Sync()
		}
	} else if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return nil // nothing is known of the room
	}
	if err != nil {
		return fmt.Errorf("%w: the disk has no room for another %d bytes: %w", store.ErrUnwritable, roomOfWrite, err)
	}
	return nil
}
