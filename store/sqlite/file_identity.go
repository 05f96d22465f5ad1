package sqlite

import (
	"fmt"
	"io/fs"
	"os"
)

// A fileIdentity identifies the files that a store has open: the database, its log and
// the log's index. If other files have these names, other processes read and write those.
type fileIdentity [3]fs.FileInfo

func filesAt(path string) (id fileIdentity, err error) {
	for i, suffix := range [...]string{"", "-wal", "-shm"} {
		if id[i], err = os.Stat(path + suffix); err != nil {
			return id, err
		}
	}
	return id, nil
}

// unmoved returns an error unless the files under the store's names are the ones that it has open: data
// written to a removed or replaced file is lost. It costs three calls of stat, before each acknowledgement.
func (id fileIdentity) unmoved(path string) error {
	now, err := filesAt(path)
	if err != nil {
		return fmt.Errorf("a file of the store was removed while it was in use: %w", err)
	}
	for i := range now {
		if !os.SameFile(id[i], now[i]) {
			return fmt.Errorf("%s was replaced by another file while it was in use", now[i].Name())
		}
	}
	return nil
}
