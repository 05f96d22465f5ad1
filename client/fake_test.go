package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
)

// trust returns what a third party trusts of some tenants.
func (s *service) trust(t testing.TB, tenants ...dag.Tenant) *ledger.Trust {
	t.Helper()
	return must(ledger.ParseTrust([]byte(trustText(s.id, tenants...) + "quorum none\n")))
}

// trustText returns the lines of a trust file except for the quorum.
func trustText(id identity.Identity, tenants ...dag.Tenant) string {
	var all strings.Builder
	for _, tenant := range tenants {
		all.WriteString(strings.TrimSuffix(string(must(id.Trust(tenant, ""))), "quorum none\n"))
	}
	return all.String()
}

// A fakeLog is one that the liar made up, and signs with whatever key they have.
type fakeLog struct {
	leaves [][]byte
	tree   ledger.Tree
	nodes  map[int][]ledger.Hash
}

func fakeOf(leaves ...[]byte) *fakeLog {
	f := &fakeLog{leaves: leaves, nodes: map[int][]ledger.Hash{}}
	for _, l := range leaves {
		for _, n := range must(f.tree.Append(ledger.LeafHash(l), nil)) {
			f.nodes[n.Level] = append(f.nodes[n.Level], n.Hash)
		}
	}
	return f
}

func (f *fakeLog) root() ledger.Root { return ledger.Root{Size: f.tree.Size(), Hash: f.tree.Root()} }

func (f *fakeLog) Hashes(_ context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	all := f.nodes[level]
	if from+uint64(n) > uint64(len(all)) {
		return nil, errors.New("no such tile")
	}
	return all[from:][:n], nil
}

func (f *fakeLog) note(id identity.Identity, tenant dag.Tenant) []byte {
	signer, _, err := id.Log(tenant)
	if err != nil {
		panic(err)
	}
	return must(ledger.Checkpoint{Origin: string(id.Origin(tenant)), Root: f.root()}.Sign(signer))
}

// prove proves a leaf under a note.
func (f *fakeLog) prove(index uint64, note []byte) string {
	p := &ledger.Proof{Leaf: f.leaves[index], Index: index, Path: must(f.root().ProveInclusion(context.Background(), index, f)), Checkpoint: note}
	return string(p.Append(nil))
}

// tile answers as a server of tiles does.
func (f *fakeLog) tile(path string) (int, []byte) {
	rest := strings.TrimPrefix(path, "/log/tile/")
	level, index, _ := strings.Cut(rest, "/")
	index, width, partial := strings.Cut(index, ".p/")
	n, w := must(strconv.ParseUint(index, 10, 64)), 256
	if partial {
		w = must(strconv.Atoi(width))
	}
	hashes, err := f.Hashes(context.Background(), must(strconv.Atoi(level)), n*256, w)
	if err != nil {
		return http.StatusNotFound, nil
	}
	var data []byte
	for _, h := range hashes {
		data = append(data, h[:]...)
	}
	return http.StatusOK, data
}

// A liar precedes the true service. It has every key of the operator's.
type liar struct {
	t    *testing.T
	real *service
	url  string

	mu     sync.Mutex
	ask    func(*http.Request)                                   // guarded by mu; changes requests on their way
	answer func(path string, status int, b []byte) (int, []byte) // guarded by mu; changes answers on theirs
	lies   int                                                   // guarded by mu; answers that were changed
}

func lying(t *testing.T, s *service) *liar {
	l := &liar{t: t, real: s}
	web := httptest.NewServer(l)
	t.Cleanup(web.Close)
	l.url = web.URL
	return l
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	ask, answer := l.ask, l.answer
	l.mu.Unlock()
	if ask != nil {
		ask(r)
	}
	true1 := httptest.NewRecorder()
	l.real.server.ServeHTTP(true1, r)
	status, body := true1.Code, true1.Body.Bytes()
	if answer != nil {
		status, body = answer(r.URL.Path, status, bytes.Clone(body))
	}
	if status != true1.Code || !bytes.Equal(body, true1.Body.Bytes()) {
		l.mu.Lock()
		l.lies++
		l.mu.Unlock()
	}
	for name, values := range true1.Header() {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	if r.URL.Path == "/api/slice" {
		w.Header().Set("ETag", `"`+digest(body)+`"`)
	}
	if status == http.StatusOK && true1.Code != http.StatusOK {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	if status >= 400 {
		w.Header().Set("Content-Type", "application/problem+json")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// leaves returns the true ledger's.
func (l *liar) leaves(tenant dag.Tenant) [][]byte {
	return must(l.real.kernel.Ledger().Leaves(l.t.Context(), tenant, 0, 10_000))
}

// evidence changes the evidence in an answer.
func evidence(change func(*api.Evidence)) func(string, int, []byte) (int, []byte) {
	return func(path string, status int, body []byte) (int, []byte) {
		if path != "/api/attest" || status != http.StatusOK {
			return status, body
		}
		var e api.Evidence
		if err := json.Unmarshal(body, &e); err != nil {
			panic(err)
		}
		change(&e)
		return status, must(json.Marshal(e))
	}
}

// reproved puts a log of the liar's in the place of the true one: its proofs and its tiles.
func reproved(log *fakeLog, note []byte) func(string, int, []byte) (int, []byte) {
	under := evidence(func(e *api.Evidence) { e.Proof = log.prove(e.Index, note) })
	return func(path string, status int, body []byte) (int, []byte) {
		switch {
		case path == "/log/checkpoint":
			return http.StatusOK, note
		case strings.HasPrefix(path, "/log/tile/"):
			return log.tile(path)
		}
		return under(path, status, body)
	}
}

// resealed signs what an envelope says with another hand.
func resealed(e *api.Evidence, by attest.Signer, change func(*attest.Statement)) {
	var envelope struct{ Payload []byte }
	if err := json.Unmarshal(e.Attestation, &envelope); err != nil {
		panic(err)
	}
	statement := must(attest.ParseStatement(envelope.Payload))
	if change != nil {
		change(statement)
	}
	e.Attestation = must(attest.Seal(statement.Append(nil), by))
}

// cosignedBy adds a witness's line to the checkpoint of a proof.
func cosignedBy(proof string, hand *ledger.Cosigner, at time.Time) string {
	p := must(ledger.ParseProof([]byte(proof)))
	line := must(hand.Cosign(must(ledger.ReadCheckpoint(p.Checkpoint)), must(ledger.CheckpointText(p.Checkpoint)), at))
	return proof + string(line)
}
