package admission_test

import (
	"testing"

	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/store"
)

const tenant = kerneltest.Tenant

const agentOne = "00000000000000a1"

var (
	ring, noise, standing, over = kerneltest.Ring, kerneltest.Noise, kerneltest.Standing, kerneltest.Over
	stores, eachStore           = kerneltest.Stores, kerneltest.EachStore
	chain, file                 = kerneltest.Chain, kerneltest.File
	named, somebody, guarded    = kerneltest.Named, kerneltest.Somebody, kerneltest.Guarded
	readableStores, holds       = kerneltest.ReadableStores, kerneltest.Holds
)

func open(t testing.TB, name string) store.Store { return stores[name](t) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
