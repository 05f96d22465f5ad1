package memory_test

import (
	"testing"

	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/memory"
	"github.com/graphkernel/graphkernel/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Harness {
		disk, opened := new(memory.Disk), uint64(0)
		return storetest.Harness{Open: func(step func(string) error) (store.Store, error) {
			opened++
			return memory.Open(disk, memory.Options{Seed: opened, Step: step}), nil
		}}
	})
}
