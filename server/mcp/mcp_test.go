package mcp

import (
	"crypto/sha256"
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store/memory"
	"github.com/graphkernel/graphkernel/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testKernel gives a kernel over memory, with a key and a clock that stands.
func testKernel(t testing.TB) *kernel.Kernel {
	t.Helper()
	sum := sha256.Sum256([]byte("k1"))
	secret, err := token.NewSecret(sum[:])
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.Keyring{}.Rotate("k1", secret, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := memory.Open(&memory.Disk{}, memory.Options{})
	t.Cleanup(func() { _ = s.Close() })
	k, err := kernel.Open(kernel.Config{
		Store: s, Authority: token.NewAuthority(ring), Rand: rand.NewChaCha8([32]byte{1}),
		Clock: func() time.Time { return time.Unix(1_780_000_000, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}
