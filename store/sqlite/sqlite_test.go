package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
)

func TestMain(m *testing.M) {
	if childOfKill() || storetest.Hired(func(path string) (store.Store, error) { return harness(path).Open(nil) }) {
		return
	}
	goleak.VerifyTestMain(m)
}

// harness keeps one file and creates it when it is not there.
func harness(path string) storetest.Harness {
	return storetest.Harness{Open: func(step func(string) error) (store.Store, error) {
		ctx := context.Background()
		s, err := sqlite.Open(ctx, path, sqlite.Options{Step: step})
		if errors.Is(err, fs.ErrNotExist) {
			s, err = sqlite.Create(ctx, path, sqlite.Options{Step: step})
		}
		if err != nil {
			return nil, err
		}
		return s, nil
	}}
}

func fresh(t *testing.T) storetest.Harness {
	return harness(filepath.Join(t.TempDir(), "a store?#%20.db"))
}

func TestContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, fresh)
}

func TestContractLarge(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	t.Parallel()
	storetest.RunLarge(t, fresh)
}
