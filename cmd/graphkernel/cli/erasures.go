package cli

import (
	"errors"
	"io/fs"

	"github.com/graphkernel/graphkernel/internal/userdir"
)

// ErasuresKeyVariable is the environment variable that names the file of the secret with which erased texts are recognised.
const ErasuresKeyVariable = "GRAPHKERNEL_ERASURES_KEY"

// ErasuresPath returns the file of the secret with which erased texts are recognised, or "" if the environment names neither the file nor a home folder.
func (s *Settings) ErasuresPath() string {
	return First(s.Getenv(ErasuresKeyVariable), Below(s.Folder(userdir.Config), "erasures.key"))
}

// ErasureSecret reads the secret with which erased texts are recognised when they come again, see kernel.Config. With create it makes the secret if there is
// none. With --dev there is no secret, because nothing may remain after the run.
func (f *files) ErasureSecret(create bool) ([]byte, error) {
	if f.settings.Dev {
		return nil, nil
	}
	path := f.settings.ErasuresPath()
	if path == "" {
		if create {
			return nil, Usagef("no home folder to keep the key for erased texts in; set HOME or %s=FILE", ErasuresKeyVariable)
		}
		return nil, nil
	}
	const what = "for erased texts"
	key, err := loadKey(path, what)
	if errors.Is(err, fs.ErrNotExist) {
		if !create {
			return nil, nil
		}
		key, _, err = f.makeKey(path, what)
	}
	if err != nil {
		return nil, err
	}
	return key[:], nil
}
