package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/monitor"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// publicly opens the ledgers of tenants to everybody.
func publicly(tenants ...dag.Tenant) func(*server.Config) {
	return func(c *server.Config) { c.PublicLogs = tenants }
}

// trust is what a third party trusts of a tenant's.
func (s *service) trust(tenant dag.Tenant) *ledger.Trust {
	s.t.Helper()
	text, err := s.identity.Trust(tenant, "")
	if err != nil {
		s.t.Fatal(err)
	}
	t, err := ledger.ParseTrust(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return t
}

// grow appends leaves until a tenant's ledger has so many.
func (s *service) grow(tenant dag.Tenant, size uint64) {
	s.t.Helper()
	now, err := s.kernel.Ledger().Root(s.t.Context(), tenant)
	if err != nil {
		s.t.Fatal(err)
	}
	var leaves [][]byte
	for n := now.Size; n < size; n++ {
		l := ledger.ErasureLeaf{Tenant: tenant, Turn: dag.TurnID{1, byte(n), byte(n >> 8)}, Seq: dag.Seq(n + 1), At: 1}
		leaves = append(leaves, l.Append(nil))
	}
	if len(leaves) == 0 {
		return
	}
	if _, err := storetest.Raw().Put(s.t.Context(), s.store, tenant, leaves); err != nil {
		s.t.Fatal(err)
	}
}

// get makes a request without a key and reads the answer.
func (s *service) get(path string, header ...string) *answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := s.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return &answer{a.StatusCode, a.Header, body}
}

// overHTTP reads tiles for tlog.
type overHTTP struct {
	s      *service
	prefix string
	read   int
}

func (o *overHTTP) Height() int                         { return 8 }
func (o *overHTTP) SaveTiles(_ []tlog.Tile, _ [][]byte) {}
func (o *overHTTP) ReadTiles(want []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(want))
	for i, t := range want {
		path := "/tile/" + strings.TrimPrefix(t.Path(), "tile/8/")
		a := o.s.get(o.prefix + path)
		if a.status != 200 {
			return nil, fmt.Errorf("%s: %d %s", path, a.status, a.body)
		}
		data[i] = a.body
		o.read++
	}
	return data, nil
}

// TestTiles rebuilds ledgers of many sizes from their tiles, with x/mod's own paths, and
// checks every leaf and every tile that should not be there.
func TestTiles(t *testing.T) {
	sizes := []uint64{0, 1, 255, 256, 257, 511, 512, 700}
	var tenants []dag.Tenant
	for _, n := range sizes {
		tenants = append(tenants, dag.Tenant(fmt.Sprint("t", n)))
	}
	s := start(t, publicly(tenants...))
	for i, tenant := range tenants {
		size, prefix := sizes[i], "/log/of/"+string(tenant)
		s.grow(tenant, size)
		root, err := s.kernel.Ledger().Root(t.Context(), tenant)
		if err != nil || root.Size != size {
			t.Fatalf("%d leaves, %v", root.Size, err)
		}
		tiles := &overHTTP{s: s, prefix: prefix}
		if size > 0 {
			hashes := tlog.TileHashReader(tlog.Tree{N: int64(size), Hash: root.Hash}, tiles)
			got, err := tlog.TreeHash(int64(size), hashes)
			if err != nil || got != root.Hash {
				t.Errorf("%d leaves: root %s, want %s: %v", size, got, root.Hash, err)
			}
			for n := range int64(size) {
				proof, err := tlog.ProveRecord(int64(size), n, hashes)
				if err == nil {
					leaves, _ := s.kernel.Ledger().Leaves(t.Context(), tenant, uint64(n), 1)
					err = tlog.CheckRecord(proof, int64(size), root.Hash, n, tlog.RecordHash(leaves[0]))
				}
				if err != nil {
					t.Fatalf("leaf %d of %d: %v", n, size, err)
				}
			}
		}
		if uint64(tiles.read) < size { // a proof reads one at least
			t.Errorf("%d leaves: read %d tiles", size, tiles.read)
		}
		full, rest := size/256, size%256
		for _, what := range []string{"0", "entries"} {
			for n := range full + 2 {
				for _, width := range []uint64{1, rest, rest + 1, 255, 256} {
					if width == 0 || width > 256 {
						continue
					}
					path := fmt.Sprintf("/tile/%s/%03d", what, n)
					if width < 256 {
						path += fmt.Sprintf(".p/%d", width)
					}
					want := 404
					if 256*n+width <= size {
						want = 200
					}
					a := s.get(prefix + path)
					if a.status != want {
						t.Errorf("%d leaves: %s: got %d, want %d", size, path, a.status, want)
					}
					if want == 200 && what == "0" && len(a.body) != int(width)*32 {
						t.Errorf("%d leaves: %s has %d bytes", size, path, len(a.body))
					}
					if want == 200 && what == "entries" {
						checkEntries(t, s, tenant, 256*n, int(width), a.body)
					}
				}
			}
		}
		// One level up there is a hash for each tile that is full.
		if a := s.get(fmt.Sprintf("%s/tile/1/000.p/%d", prefix, max(1, full))); (a.status == 200) != (full > 0) {
			t.Errorf("%d leaves: level 1 answers %d", size, a.status)
		}
		if a := s.get(fmt.Sprintf("%s/tile/1/000.p/%d", prefix, full+1)); a.status != 404 {
			t.Errorf("%d leaves: a hash too many: %d", size, a.status)
		}
	}
}

// checkEntries holds a bundle of entries against the ledger.
func checkEntries(t *testing.T, s *service, tenant dag.Tenant, from uint64, n int, data []byte) {
	t.Helper()
	leaves, err := s.kernel.Ledger().Leaves(t.Context(), tenant, from, n)
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for _, l := range leaves {
		want = append(binary.BigEndian.AppendUint16(want, uint16(len(l))), l...)
	}
	if !bytes.Equal(data, want) {
		t.Errorf("%d entries from %d on are %d bytes, want %d", n, from, len(data), len(want))
	}
}

// TestTilePaths tries paths: those that no tile has are 404, those that are spelt in
// another way 400.
func TestTilePaths(t *testing.T) {
	s := start(t, publicly(tenantA))
	s.grow(tenantA, 300)
	for path, want := range map[string]int{
		"0/000": 200, "0/001.p/44": 200, "0/000.p/255": 200, "entries/000": 200, "entries/001.p/44": 200, "1/000.p/1": 200,
		"0/001": 404, "0/001.p/45": 404, "entries/001": 404, "1/000": 404, "2/000.p/1": 404, "63/000.p/1": 404, "0/x001/000": 404, "0/x999/x999/x999/x999/999": 404,
		"0/x001/x234/067": 404, "5/x001/000.p/1": 404, "6/000.p/1": 404,
		"": 400, "0": 400, "0/": 400, "/0/000": 400, "0//000": 400, "0/000/": 400, "00/000": 400, "64/000": 400, "-1/000": 400, "+0/000": 400, "0/0": 400, "0/00": 400, "0/0000": 400,
		"0/x000/000": 400, "0/x000/001": 400, "0/001/000": 400, "0/x001": 400, "0/X001/000": 400, "0/000.p/0": 400, "0/000.p/256": 400, "0/000.p/01": 400, "0/000.p/": 400, "0/000.p": 400,
		"0/000.p/1/": 400, "0/000.P/1": 400, "0/%30%30%30": 400, "0%2F000": 400, "%30/000": 400, "entries%2f000": 400, "data/000": 400, "0/000.p%2F1": 400, "0/x1/000": 400, "0/000?x=1": 400, "0/000%00": 400,
		"0/x001/x000/x000/x000/x000/x000/000": 400, "../checkpoint": 400, "8/0/000": 400, "0/٠٠٠": 400,
	} {
		if a := s.get("/log/of/acme/tile/" + path); a.status != want {
			t.Errorf("%s: got %d, want %d", path, a.status, want)
		}
		a := s.get("/log/tile/"+path, "Authorization", "Bearer "+s.admin())
		if a.status != want {
			t.Errorf("%s, with a key: got %d, want %d", path, a.status, want)
		}
		cache := a.header.Get("Cache-Control")
		if (want == 200) != (cache == "private, max-age=31536000, immutable") || want != 200 && cache != "no-store" {
			t.Errorf("%s may be kept: %q", path, cache)
		}
	}
	if a := s.get("/log/of/acme/tile/0/000"); a.header.Get("Cache-Control") != "public, max-age=31536000, immutable" || a.header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("got %v", a.header)
	}
	one := s.get("/log/entries/001.p/44", "Authorization", "Bearer "+s.admin())
	if other := s.get("/log/of/acme/tile/entries/001.p/44"); one.status != 200 || !bytes.Equal(one.body, other.body) {
		t.Errorf("the alias differs: %d", one.status)
	}
}

// TestEntriesGzip holds that entries are compressed for anyone who asks for it, and nothing
// else is.
func TestEntriesGzip(t *testing.T) {
	s := start(t, publicly(tenantA))
	s.grow(tenantA, 256)
	plain := s.get("/log/of/acme/tile/entries/000", "Accept-Encoding", "identity")
	if plain.header.Get("Content-Encoding") != "" || plain.header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("got %v", plain.header)
	}
	for accept, want := range map[string]bool{
		"gzip": true, "GZIP": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.0": false, "*": false, "br": false, "x-gzip": false, "gzip;q=x": false, "identity": false,
	} {
		a := s.get("/log/of/acme/tile/entries/000", "Accept-Encoding", accept)
		if got := a.header.Get("Content-Encoding") == "gzip"; got != want {
			t.Errorf("%s: compressed is %t", accept, got)
		}
		if want {
			r, err := gzip.NewReader(bytes.NewReader(a.body))
			if err != nil {
				t.Fatal(err)
			}
			if data, err := io.ReadAll(r); err != nil || !bytes.Equal(data, plain.body) || len(a.body)*2 > len(data) {
				t.Errorf("%s: %d bytes of %d, %v", accept, len(a.body), len(data), err)
			}
		} else if !bytes.Equal(a.body, plain.body) {
			t.Errorf("%s: other bytes", accept)
		}
	}
	for path, status := range map[string]int{"0/000": 200, "entries/001": 404} {
		if a := s.get("/log/of/acme/tile/"+path, "Accept-Encoding", "gzip"); a.status != status || a.header.Get("Content-Encoding") != "" {
			t.Errorf("%s: got %d, %v", path, a.status, a.header)
		}
	}
}

// TestPublicLogs holds that a ledger which is not public looks as one that does not exist.
func TestPublicLogs(t *testing.T) {
	s := start(t, publicly(tenantA, "fresh"))
	s.chain(s.admin(), 2)
	_, _ = s.cut(s.admin(), 2)
	a := s.expect(200, question{op: "getPublicCheckpoint", path: map[string]string{"tenant": "acme"}})
	opened, err := s.trust(tenantA).Open(a.body)
	if err != nil || opened.Size < 3 {
		t.Fatalf("got %v\n%s", err, a.body)
	}
	own := s.expect(200, question{op: "getCheckpoint", key: s.keys[tenantA][access.Auditor]})
	if !bytes.Equal(own.body, a.body) || own.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("the same ledger has two checkpoints:\n%s%s", own.body, a.body)
	}
	if got := s.expect(200, question{op: "getCheckpoint", key: s.keys[tenantB][access.Auditor]}); bytes.HasPrefix(got.body, []byte("acme.")) {
		t.Errorf("got %s", got.body)
	}
	details := map[string]bool{}
	for _, tenant := range []string{"bravo", "nobody"} {
		p := s.refused(404, "not_found", question{op: "getPublicCheckpoint", path: map[string]string{"tenant": tenant}})
		details[strings.ReplaceAll(p.Detail, tenant, "")] = true
		p = s.refused(404, "not_found", question{op: "getPublicTile", path: map[string]string{"tenant": tenant, "tile": "0/000.p/1"}})
		details[strings.ReplaceAll(p.Detail, tenant, "")] = true
		// A key changes nothing there.
		s.refused(404, "not_found", question{op: "getPublicCheckpoint", key: s.keys[tenantB][access.Admin], path: map[string]string{"tenant": tenant}})
	}
	if len(details) != 1 {
		t.Errorf("tenants are told apart: %v", details)
	}
	// A tenant that has nothing yet has a ledger all the same.
	fresh := s.expect(200, question{op: "getPublicCheckpoint", path: map[string]string{"tenant": "fresh"}})
	if o, err := s.trust("fresh").Open(fresh.body); err != nil || o.Size == 0 { // the keys that sign
		t.Errorf("got %v\n%s", err, fresh.body)
	}
}

// TestPublicRate holds that strangers are limited by their address, and cost nobody with a
// key anything.
func TestPublicRate(t *testing.T) {
	clock := time.Unix(1_780_000_000, 0)
	s := start(t, publicly(tenantA), limits(server.Limits{Rate: 1, Burst: 3}), func(c *server.Config) { c.Clock = func() time.Time { return clock } })
	q := question{op: "getPublicCheckpoint", path: map[string]string{"tenant": "acme"}}
	for range 3 {
		s.expect(200, q)
	}
	p := s.refused(429, "rate_limited", q)
	if !strings.Contains(p.Detail, "address") {
		t.Error(p.Detail)
	}
	s.refused(429, "rate_limited", question{op: "wellKnownKeys"})
	s.refused(429, "rate_limited", question{op: "wellKnownJWKS"})
	if a := s.ask(question{op: "addCheckpoint", body: "x", media: "text/plain"}); a.status != 429 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") || a.header.Get("Retry-After") == "" {
		t.Errorf("got %d %v", a.status, a.header)
	}
	s.expect(200, question{op: "getCheckpoint", key: s.admin()})
	s.expect(200, question{op: "live"})
	clock = clock.Add(time.Second)
	s.expect(200, q)
}

// TestMonitor follows a ledger over HTTP as an outsider does.
func TestMonitor(t *testing.T) {
	s := start(t, publicly(tenantA))
	s.grow(tenantA, 300)
	for name, log := range map[string]*monitor.HTTP{
		"public":     monitor.NewHTTP(s.Client(), s.URL+"/log/of/acme", ""),
		"with a key": monitor.NewHTTP(s.Client(), s.URL+"/log", s.keys[tenantA][access.Auditor]),
	} {
		var kept []byte
		for range 3 {
			step, err := monitor.Follow(t.Context(), log, s.trust(tenantA), kept)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			kept = step.Note
			leaves, err := log.Leaves(t.Context(), 0, 256)
			if err != nil || len(leaves) != 256 || slices.ContainsFunc(leaves, func(l []byte) bool { _, err := ledger.ParseLeaf(l); return err != nil }) {
				t.Errorf("%s: %d leaves, %v", name, len(leaves), err)
			}
			s.grow(tenantA, step.New.Size+100)
		}
	}
}
