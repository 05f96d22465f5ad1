package notary_test

import (
	"testing"

	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/store"
)

const tenant = kerneltest.Tenant

var (
	ring, noise, standing, over = kerneltest.Ring, kerneltest.Noise, kerneltest.Standing, kerneltest.Over
	stores, chain               = kerneltest.Stores, kerneltest.Chain
	named, somebody             = kerneltest.Named, kerneltest.Somebody
	signing, trusting           = kerneltest.Signing, kerneltest.Trusting
	fact                        = kerneltest.Fact
)

func open(t testing.TB, name string) store.Store { return stores[name](t) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
