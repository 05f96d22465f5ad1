package interop_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// A service is the real one, with a ledger that grows.
type service struct {
	store  *inmem.Store
	kernel *kernel.Kernel
	key    ledger.Key // of the log
	http   http.Handler
	bearer string
	bend   string                   // the resource that is changed on its way
	how    func(data []byte) []byte // and how
	asked  map[string]bool
}

func newService(t *testing.T) *service {
	t.Helper()
	name := strings.TrimPrefix(origin, "default.")
	id := must(identity.New(rand.NewChaCha8([32]byte{1}), name, 0))
	_, key, err := id.Log(dag.DefaultTenant)
	s := &service{store: inmem.Open(&inmem.Disk{}, inmem.Options{}), key: must(key, err), asked: map[string]bool{}}
	ring := must(token.Keyring{}.Rotate("k1", must(token.DrawSecret(rand.NewChaCha8([32]byte{2}))), 0))
	s.kernel = must(kernel.Open(kernel.Config{
		Store: s.store, Authority: token.NewAuthority(ring), Clock: func() time.Time { return time.Unix(1_780_000_000, 0) }, Identity: id,
	}))
	s.http = must(server.New(t.Context(), server.Config{
		Kernel: s.kernel, Log: slog.New(slog.DiscardHandler), Clock: time.Now, Limits: server.Limits{Rate: -1, Concurrent: 64},
	}))
	text, _, err := s.kernel.Keys().Create(t.Context(), dag.DefaultTenant, access.Auditor, "")
	s.bearer = must(text, err)
	must(s.kernel.Ledger().Checkpoint(t.Context(), dag.DefaultTenant)) // the keys are announced
	return s
}

// growTo adds leaves up to a size.
func (s *service) growTo(t *testing.T, size int) {
	t.Helper()
	for {
		root := must(s.kernel.Ledger().Root(t.Context(), dag.DefaultTenant))
		if int(root.Size) > size {
			t.Fatalf("the ledger has %d leaves already", root.Size)
		}
		n := min(5_000, size-int(root.Size))
		if n == 0 {
			return
		}
		leaves := make([][]byte, n)
		for i := range leaves {
			l := ledger.KeyLeaf{Tenant: dag.DefaultTenant, Purpose: ledger.PurposeAPI, Event: ledger.KeyCreated, KeyID: fmt.Sprintf("%016x", root.Size+uint64(i))}
			leaves[i] = l.Append(nil)
		}
		raw := history.Bare{Kind: "raw/1", Index: 222, Check: func([]byte) (dag.Tenant, error) { return dag.DefaultTenant, nil }}
		must(raw.Put(context.Background(), s.store, dag.DefaultTenant, leaves))
	}
}

// ServeHTTP asks the service with its key, as a proxy would, and may change an answer.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = r.Clone(r.Context())
	r.URL.Path = "/log" + r.URL.Path
	r.Header.Set("Authorization", "Bearer "+s.bearer)
	r.Header.Del("Accept-Encoding")
	answer := httptest.NewRecorder()
	s.http.ServeHTTP(answer, r)
	body := answer.Body.Bytes()
	if path := strings.TrimPrefix(r.URL.Path, "/log/"); path == s.bend {
		if body = s.how(bytes.Clone(body)); body == nil {
			http.NotFound(w, r)
			return
		}
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body)
}

// TestFsckService lets Tessera check what the service serves, at every size at which
// something changes, and with one byte of each kind of resource changed.
func TestFsckService(t *testing.T) {
	s := newService(t)
	for _, size := range []int{3, 255, 256, 257, 511, 512, 65535, 65536, 65537, 70001} {
		s.growTo(t, size)
		if err := checkLog(t, s, s.key); err != nil {
			t.Errorf("%d leaves: %v", size, err)
		}
	}
	for _, path := range []string{
		"checkpoint", "tile/0/000", "tile/0/x000/000", "tile/0/273.p/113", "tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1",
		"tile/entries/000", "tile/entries/273.p/113",
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/"+path, nil)
		s.bend = ""
		s.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			if path == "tile/0/x000/000" {
				continue // another spelling of a tile: the service must not serve it
			}
			t.Fatalf("%s: status %d", path, w.Code)
		}
		s.bend, s.how = path, func(data []byte) []byte { data[len(data)/2] ^= 1; return data }
		if err := checkLog(t, s, s.key); err == nil {
			t.Errorf("a byte of %s was changed, and nothing was found", path)
		}
		s.how = func([]byte) []byte { return nil }
		if err := checkLog(t, s, s.key); err == nil {
			t.Errorf("%s was taken away, and nothing was found", path)
		}
	}
}

// TestServedEntries reads the service's entry bundles by hand.
func TestServedEntries(t *testing.T) {
	s := newService(t)
	s.growTo(t, 300)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/tile/entries/001.p/44", nil))
	data := w.Body.Bytes()
	n := 0
	for ; len(data) > 1; n++ {
		end := 2 + int(binary.BigEndian.Uint16(data))
		if _, err := ledger.ParseLeaf(data[2:end]); err != nil {
			t.Fatal(err)
		}
		data = data[end:]
	}
	if n != 44 || len(data) > 0 {
		t.Errorf("%d entries and %d bytes more", n, len(data))
	}
}
