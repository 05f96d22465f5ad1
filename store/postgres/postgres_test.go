package postgres_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
)

func TestMain(m *testing.M) {
	if child() {
		return
	}
	code := m.Run()
	if err := pgstore.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// harness opens stores of few connections on a database.
func harness(url string) storetest.Harness {
	return storetest.Harness{Heals: true, Open: func(step func(string) error) (store.Store, error) {
		s, err := postgres.Open(context.Background(), url, postgres.Options{Connections: 8, Step: step})
		if err != nil {
			return nil, err
		}
		return s, nil
	}}
}

func TestContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, fresh(pgstore.URL(t)))
}

func TestContractLarge(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	t.Parallel()
	storetest.RunLarge(t, fresh(pgstore.URL(t)))
}

// fresh empties a database before a store on it is opened.
func fresh(url string) func(*testing.T) storetest.Harness {
	return func(t *testing.T) storetest.Harness {
		pgstore.Empty(t, url)
		return harness(url)
	}
}

// often is n, and less if there is little time, but not nothing.
func often(n int) int {
	if testing.Short() {
		return max(n/10, 1)
	}
	return n
}
