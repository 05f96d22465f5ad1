package find_test

import (
	"testing"

	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/store"
)

const tenant = kerneltest.Tenant

var (
	ring, over, stores = kerneltest.Ring, kerneltest.Over, kerneltest.Stores
	talk               = kerneltest.Talk
)

func open(t testing.TB, name string) store.Store { return stores[name](t) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
