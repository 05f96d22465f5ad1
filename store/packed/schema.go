package packed

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/graphkernel/graphkernel/store"
)

// Oldest is the number of the oldest schema that can be read. Earlier schemas were never released.
const Oldest = 17

// Schema returns the texts of a back end's files schema/NNNN.sql: the text of schema n is at index
// n-1, and is empty below Oldest. Files with the same number are equivalent in all back ends.
func Schema(files fs.FS) ([]string, error) {
	names, err := fs.Glob(files, "schema/*.sql")
	if err != nil {
		return nil, err
	}
	texts := make([]string, Oldest-1, Oldest-1+len(names))
	for _, name := range names {
		if want := fmt.Sprintf("%04d.sql", len(texts)+1); path.Base(name) != want {
			return nil, fmt.Errorf("the file of schema %d is named %s, want %s", len(texts)+1, name, want)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	return texts, nil
}

// CheckSchema refuses a store with a schema that this version does not read. 0 means a store without a schema.
func CheckSchema(version, newest int) error {
	switch {
	case version > newest:
		return fmt.Errorf("%w: it has schema %d, which a newer version wrote; this program knows at most schema %d", store.ErrSchema, version, newest)
	case version != 0 && version < Oldest:
		return fmt.Errorf("%w: it has schema %d, from before the first release; export its turns with the version that wrote it, and import them here", store.ErrSchema, version)
	}
	return nil
}
