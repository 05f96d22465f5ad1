package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/monitor"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// TestMaliciousServer is lied to in one way each. Every lie must be caught, with the error
// that says what it was, and without lies all is well.
func TestMaliciousServer(t *testing.T) {
	narrow := must(standard.Forms().ParseRegistration([]byte(`{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":2}}`)))
	wider := must(standard.Forms().ParseRegistration([]byte(`{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":3}}`)))
	standard := policy.Default()
	impostor := must(identity.New(rand.NewChaCha8([32]byte{66}), "kernel.example", 1)) // the same name, other keys
	hand := must(must(identity.New(rand.NewChaCha8([32]byte{67}), "witness.example", 1)).Witness())
	now := time.Unix(1_780_000_000, 0)

	// A scene is what a lie has to work with.
	type scene struct {
		*liar
		honest *client.Trusted // keeps the same checkpoint, and is told the truth
		bundle client.Bundle   // of the anchor that will be asked for, issued already
		other  client.Bundle   // of another anchor
		first  api.Evidence    // of bundle, when the ledger was shorter
		second api.Evidence    // of other
		expect *client.Expect
	}
	type told = func(string, int, []byte) (int, []byte)
	tell := func(s *scene, f told) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answer = f
	}
	askAs := func(s *scene, f func(*http.Request)) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ask = f
	}
	// another rewrites the body of slice requests.
	another := func(s *scene, change func(*api.SliceRequest)) {
		askAs(s, func(r *http.Request) {
			if r.URL.Path != "/api/slice" {
				return
			}
			var q api.SliceRequest
			if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
				panic(err)
			}
			change(&q)
			text := must(json.Marshal(q))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		})
	}
	quorum := func(s *scene) {
		s.expect.Trust = must(ledger.ParseTrust(fmt.Appendf(nil, "%switness one %s\nquorum one\n", trustText(s.real.id, "default"), hand.Key())))
		s.expect.MaxAge = time.Hour
	}
	flip := func(text string, after string) string { // changes a base64 digit after a text
		i := strings.LastIndex(text, after) + len(after) + 12
		c := byte('A')
		if text[i] == c {
			c = 'B'
		}
		return text[:i] + string(c) + text[i+1:]
	}
	changedLeaf := func(leaves [][]byte, at int) [][]byte {
		leaves = append([][]byte{}, leaves...)
		leaves[at] = bytes.Replace(leaves[at], []byte(`"at":"`), []byte(`"at":"1`), 1)
		return leaves
	}
	foreignKey := func(s *scene) string {
		text, _, err := s.real.kernel.Keys().Create(t.Context(), "other", access.Admin, "")
		return text + map[bool]string{true: ""}[err == nil]
	}

	lies := []struct {
		name  string
		lie   func(s *scene)
		ask   client.Request // the anchor is filled in
		want  error          // nil: no lie
		split bool           // the error holds both notes
		fresh bool           // nothing is kept yet
		quiet bool           // the lie is in the expectation or the request, not in an answer
	}{
		{name: "control", lie: func(*scene) {}, quiet: true},
		{name: "control, with a witness", lie: func(s *scene) {
			quorum(s)
			tell(s, evidence(func(e *api.Evidence) { e.Proof = cosignedBy(e.Proof, hand, now.Add(-time.Minute)) }))
		}},
		{name: "control, a public log", quiet: true, lie: func(s *scene) { s.expect.Log = monitor.NewHTTP(http.DefaultClient, s.url+"/log/of/default", "") }},
		{name: "control, lies about what nobody believes", lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) { e.Index, e.Origin = 77, "elsewhere" }))
		}},
		{name: "control, keys of an impostor at the well-known address", quiet: true, lie: func(s *scene) {
			tell(s, func(path string, status int, body []byte) (int, []byte) {
				if strings.HasPrefix(path, "/.well-known/") {
					s.t.Error("it was asked for keys")
				}
				return status, body
			})
		}},

		{name: "rewritten history", split: true, want: ledger.ErrInconsistent, lie: func(s *scene) {
			log := fakeOf(append(changedLeaf(s.leaves("default"), 0), []byte(`{}`))...)
			tell(s, reproved(log, log.note(s.real.id, "default")))
		}},
		{name: "split view", split: true, want: ledger.ErrInconsistent, lie: func(s *scene) {
			log := fakeOf(changedLeaf(s.leaves("default"), 0)...) // of the very size
			tell(s, reproved(log, log.note(s.real.id, "default")))
		}},
		{name: "a shorter history", split: true, want: ledger.ErrInconsistent, lie: func(s *scene) {
			shorter := fakeOf(changedLeaf(s.leaves("default")[:s.first.Index+1], 0)...)
			tell(s, evidence(func(e *api.Evidence) { e.Proof = shorter.prove(e.Index, shorter.note(s.real.id, "default")) }))
		}},
		{name: "a shorter history, and no tiles of the longer one", want: ledger.ErrInconsistent, lie: func(s *scene) {
			shorter := fakeOf(changedLeaf(s.leaves("default")[:s.first.Index+1], 0)...)
			tell(s, reproved(shorter, shorter.note(s.real.id, "default")))
		}},
		{name: "stale checkpoint", want: client.ErrStale, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) { e.Proof = s.first.Proof }))
		}},
		{name: "stale checkpoint, and no tiles", want: ledger.ErrInconsistent, lie: func(s *scene) {
			shorter := fakeOf(s.leaves("default")[:s.first.Index+1]...)
			tell(s, reproved(shorter, shorter.note(s.real.id, "default")))
		}},
		{name: "tiles of another history", split: true, want: ledger.ErrInconsistent, lie: func(s *scene) {
			all := s.leaves("default")
			log := fakeOf(append(changedLeaf(all, 0), []byte(`{}`))...)
			grown := fakeOf(append(all, []byte(`{}`))...)
			honest := reproved(grown, grown.note(s.real.id, "default"))
			tell(s, func(path string, status int, body []byte) (int, []byte) {
				if strings.HasPrefix(path, "/log/tile/") {
					return log.tile(path)
				}
				return honest(path, status, body)
			})
		}},

		{name: "proof from another tenant's ledger", want: ledger.ErrOrigin, lie: func(s *scene) {
			log := fakeOf(s.leaves("default")...)
			tell(s, reproved(log, log.note(s.real.id, "other")))
		}},
		{name: "the same, and that ledger is trusted", want: ledger.ErrOrigin, lie: func(s *scene) {
			s.expect.Trust = s.real.trust(t, "default", "other")
			log := fakeOf(s.leaves("default")...)
			tell(s, reproved(log, log.note(s.real.id, "other")))
		}},
		{name: "proof from another tree", want: ledger.ErrNotIncluded, lie: func(s *scene) {
			log := fakeOf(s.leaves("default")...)
			other := fakeOf(changedLeaf(s.leaves("default"), 0)...)
			tell(s, evidence(func(e *api.Evidence) { e.Proof = other.prove(e.Index, log.note(s.real.id, "default")) }))
		}},
		{name: "leaf of another slice", want: ledger.ErrNotIncluded, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) { e.Proof = s.second.Proof }))
		}},
		{name: "leaf of no slice", want: ledger.ErrNotIncluded, lie: func(s *scene) {
			log := fakeOf(s.leaves("default")...)
			tell(s, evidence(func(e *api.Evidence) { e.Proof = log.prove(0, log.note(s.real.id, "default")) }))
		}},
		{name: "index of another leaf", want: ledger.ErrNotIncluded, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) {
				e.Proof = strings.Replace(e.Proof, fmt.Sprintf("\nindex %d\n", e.Index), fmt.Sprintf("\nindex %d\n", e.Index-1), 1)
			}))
		}},
		{name: "attestation of another leaf", want: ledger.ErrNotIncluded, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) {
				resealed(e, must(s.real.id.Attestor("default")), func(st *attest.Statement) { st.Index++ })
			}))
		}},

		{name: "another log key", want: ledger.ErrOrigin, lie: func(s *scene) {
			log := fakeOf(s.leaves("default")...)
			tell(s, reproved(log, log.note(impostor, "default")))
		}},
		{name: "a log's signature forged", want: ledger.ErrSignature, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) { e.Proof = flip(e.Proof, "— default.kernel.example ") }))
		}},
		{name: "another attestation key", want: attest.ErrKeyUnknown, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) { resealed(e, must(impostor.Attestor("default")), nil) }))
		}},
		{name: "another attestation key, shown at the well-known address", want: attest.ErrKeyUnknown, lie: func(s *scene) {
			swap := evidence(func(e *api.Evidence) { resealed(e, must(impostor.Attestor("default")), nil) })
			shown := must(attest.AppendKeys(nil, &attest.Keys{Name: "kernel.example", Attestation: []attest.DatedKey{{Key: must(impostor.Attestor("default")).Key(), Created: 1}}}))
			tell(s, func(path string, status int, body []byte) (int, []byte) {
				if strings.HasSuffix(path, "keys.json") || path == "/log/keys" {
					return http.StatusOK, shown
				}
				return swap(path, status, body)
			})
		}},
		{name: "another tenant's attestation key", want: attest.ErrKeyUnknown, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) { resealed(e, must(s.real.id.Attestor("other")), nil) }))
		}},
		{name: "an attestation's signature forged", want: ledger.ErrSignature, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) { e.Attestation = []byte(flip(string(e.Attestation), `"sig":"`)) }))
		}},
		{name: "an attestation of another slice", want: ledger.ErrSignature, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) { e.Attestation = s.second.Attestation }))
		}},
		{name: "an attestation that says more turns", want: ledger.ErrSignature, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) {
				resealed(e, must(s.real.id.Attestor("default")), func(st *attest.Statement) { st.Counts[1].N++ })
			}))
		}},
		{name: "a key past its time", quiet: true, want: token.ErrKeyRetired, lie: func(s *scene) {
			key := must(s.real.id.Attestor("default")).Key()
			_, log, err := s.real.id.Log("default")
			s.expect.Trust = must(ledger.ParseTrust(fmt.Appendf(nil, "signer %s 2001-01-01T00:00:00.000000Z\nlog %s\nquorum none\n", key, log)))
			if err != nil {
				s.t.Fatal(err)
			}
		}},

		{name: "no witness", quiet: true, want: ledger.ErrQuorum, lie: quorum},
		{name: "a cosignature of long ago", want: ledger.ErrQuorum, lie: func(s *scene) {
			quorum(s)
			tell(s, evidence(func(e *api.Evidence) { e.Proof = cosignedBy(e.Proof, hand, now.Add(-2*time.Hour)) }))
		}},
		{name: "a cosignature forged", want: ledger.ErrQuorum, lie: func(s *scene) {
			quorum(s)
			tell(s, evidence(func(e *api.Evidence) { e.Proof = flip(cosignedBy(e.Proof, hand, now), "— "+hand.Key().Name+" ") }))
		}},
		{name: "a cosignature of an impostor", want: ledger.ErrQuorum, lie: func(s *scene) {
			quorum(s)
			other := must(must(identity.New(rand.NewChaCha8([32]byte{68}), "witness.example", 1)).Witness())
			tell(s, evidence(func(e *api.Evidence) { e.Proof = cosignedBy(e.Proof, other, now) }))
		}},

		{name: "a weaker policy", quiet: true, want: client.ErrAnswer, lie: func(s *scene) {
			another(s, func(q *api.SliceRequest) { q.Policy = "narrow@1" })
		}},
		{name: "the policy's name with other parameters", quiet: true, ask: client.Request{Policy: "narrow@1"}, want: policy.ErrConflict, lie: func(s *scene) {
			s.expect.Policies = []policy.Registered{wider}
		}},
		{name: "a policy that nobody expects", quiet: true, ask: client.Request{Policy: "narrow@1"}, want: policy.ErrUnknown, lie: func(s *scene) {
			s.expect.Policies = []policy.Registered{standard}
		}},
		{name: "control, another policy", quiet: true, ask: client.Request{Policy: "narrow@1"}, lie: func(s *scene) {
			s.expect.Policies = []policy.Registered{narrow}
		}},
		{name: "a bundle of another anchor", quiet: true, want: client.ErrAnswer, lie: func(s *scene) {
			another(s, func(q *api.SliceRequest) { q.Anchor = ids[1].String() })
		}},
		{name: "a bundle of an older view", quiet: true, ask: client.Request{AsOf: 5}, want: client.ErrAnswer, lie: func(s *scene) { // 0 is the anchor's number, 4
			another(s, func(q *api.SliceRequest) { q.AsOf = 0 })
		}},
		{name: "another tenant's bundle, all of it true, to a newcomer", fresh: true, quiet: true, want: ledger.ErrOrigin, lie: func(s *scene) {
			s.expect.Trust = s.real.trust(t, "default", "other")
			key := foreignKey(s)
			askAs(s, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) })
		}},
		{name: "another tenant's bundle, all of it true", quiet: true, want: ledger.ErrOrigin, lie: func(s *scene) {
			s.expect.Trust = s.real.trust(t, "default", "other")
			key := foreignKey(s)
			askAs(s, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) })
		}},
		{name: "texts withheld, with evidence of the whole", want: client.ErrRedacted, lie: func(s *scene) {
			b := must(slice.ParseBundle(s.bundle.Bytes))
			b.Turns[0].Body = nil
			part := b.Append(nil)
			swap := evidence(func(e *api.Evidence) { e.BundleSHA256 = sha256.Sum256(part) })
			askAs(s, func(r *http.Request) {
				if r.URL.Path == "/api/attest" {
					r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(s.bundle.Bytes)), int64(len(s.bundle.Bytes))
				}
			})
			tell(s, func(path string, status int, body []byte) (int, []byte) {
				if path == "/api/slice" {
					return status, part
				}
				return swap(path, status, body)
			})
		}},
		{name: "a changed word", want: client.ErrAnswer, lie: func(s *scene) {
			tell(s, func(path string, status int, body []byte) (int, []byte) {
				return status, bytes.Replace(body, []byte("tests pass"), []byte("tests fail"), 1)
			})
		}},

		{name: "no evidence", want: client.ErrNoEvidence, lie: func(s *scene) {
			tell(s, func(path string, status int, body []byte) (int, []byte) {
				if path == "/api/attest" {
					return http.StatusNotFound, body
				}
				return status, body
			})
		}},
		{name: "no identity all of a sudden", want: client.ErrNoEvidence, lie: func(s *scene) {
			tell(s, func(path string, status int, body []byte) (int, []byte) {
				if path == "/api/attest" {
					return http.StatusServiceUnavailable, must(json.Marshal(api.Problem{Code: "no_identity", Status: 503}))
				}
				return status, body
			})
		}},
		{name: "no attestation", want: client.ErrNoEvidence, lie: func(s *scene) { tell(s, evidence(func(e *api.Evidence) { e.Attestation = nil })) }},
		{name: "no proof", want: client.ErrNoEvidence, lie: func(s *scene) { tell(s, evidence(func(e *api.Evidence) { e.Proof = "" })) }},
		{name: "an attestation without signatures", want: attest.ErrKeyUnknown, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) {
				var envelope struct{ Payload []byte }
				if err := json.Unmarshal(e.Attestation, &envelope); err != nil {
					panic(err)
				}
				e.Attestation = must(attest.Seal(envelope.Payload))
			}))
		}},
		{name: "a proof of another version", want: ledger.ErrVersion, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) { e.Proof = strings.Replace(e.Proof, "@v1", "@v9", 1) }))
		}},
		{name: "a proof that is none", want: ledger.ErrForm, lie: func(s *scene) { tell(s, evidence(func(e *api.Evidence) { e.Proof = "yes" })) }},
		{name: "an attestation that is none", want: ledger.ErrForm, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) { e.Attestation = []byte(`{}`) }))
		}},
		{name: "evidence of another bundle", want: client.ErrAnswer, lie: func(s *scene) {
			tell(s, evidence(func(e *api.Evidence) { *e = s.second }))
		}},
	}
	caught := map[string]int{}
	for _, tc := range lies {
		t.Run(tc.name, func(t *testing.T) {
			real1 := serve(t, server.Limits{})
			straight := real1.client(t, "default", access.Admin, client.Options{})
			cutOf(t, straight)
			other := real1.client(t, "other", access.Admin, client.Options{})
			cutOf(t, other)
			if err := straight.Policies().Register(t.Context(), narrow); err != nil {
				t.Fatal(err)
			}
			more := drafts()[:1] // so that the view of 4 is not the present
			more[0].ID, more[0].Conversation = dag.ExternalTurnID("client", "5"), dag.ExternalConversationID("client", "else")
			must(straight.Turns().Admit(t.Context(), more))

			s := &scene{liar: lying(t, real1), expect: &client.Expect{Trust: real1.trust(t, "default"), Tenant: "default", Policies: []policy.Registered{standard}, Clock: func() time.Time { return now }}}
			s.bundle = must(straight.Slices().Cut(t.Context(), client.Request{Anchor: ids[3]}))
			s.first = wireOf(must(straight.Ledger().Attest(t.Context(), s.bundle.Bytes)))
			s.other = must(straight.Slices().Cut(t.Context(), client.Request{Anchor: ids[1]}))
			s.second = wireOf(must(straight.Ledger().Attest(t.Context(), s.other.Bytes)))

			var kept []byte
			saved := 0
			s.expect.Load = func(context.Context) ([]byte, error) { return kept, nil }
			s.expect.Save = func(_ context.Context, note []byte) error { kept, saved = note, saved+1; return nil }
			key, _, err := real1.kernel.Keys().Create(t.Context(), "default", access.Admin, "")
			if err != nil {
				t.Fatal(err)
			}
			c := must(client.New(s.url, key, awake(client.Options{})))
			s.honest = must(client.NewTrusted(c, *s.expect))
			// What is kept is the truth, of a ledger that is as long as it will be.
			if p, err := s.honest.Slice(t.Context(), client.Request{Anchor: ids[3]}); err != nil || !p.OK() || saved != 1 {
				t.Fatalf("the truth is not believed: %v", err)
			}
			if tc.fresh {
				kept = nil
			}
			before := kept

			tc.lie(s)
			trusted := must(client.NewTrusted(c, *s.expect))
			tc.ask.Anchor = ids[3]
			s.mu.Lock()
			s.lies = 0
			s.mu.Unlock()
			p, err := trusted.Slice(t.Context(), tc.ask)
			if !tc.quiet && s.lies == 0 {
				t.Error("nothing was changed")
			}
			if tc.want == nil {
				if err != nil || !p.OK() || p.Tenant() != "default" || p.Provenance().Anchor != ids[3] || p.Inclusion().Origin != "default.kernel.example" ||
					p.Evidence().Index != p.Inclusion().Index || p.Evidence().Origin != p.Inclusion().Origin {
					t.Errorf("got %v", err)
				}
				// Who was handed the same believes it, too.
				if again, err := trusted.Verify(t.Context(), p.Bytes(), p.Evidence()); err != nil || !bytes.Equal(again.Bytes(), p.Bytes()) {
					t.Errorf("handed on: %v", err)
				}
				return
			}
			if !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if p.OK() || p.Bytes() != nil || p.Turns() != nil || p.Evidence().Proof != nil {
				t.Error("there is evidence all the same")
			}
			if !bytes.Equal(kept, before) {
				t.Errorf("what was kept is replaced by\n%s", kept)
			}
			var split *monitor.Split
			if errors.As(err, &split) != tc.split || tc.split && (len(split.Old) == 0 || len(split.New) == 0 || bytes.Equal(split.Old, split.New)) {
				t.Errorf("the two notes: %+v", split)
			}
			caught[fmt.Sprint(tc.want)]++
		})
	}
	for _, sentinel := range []error{
		ledger.ErrInconsistent, ledger.ErrNotIncluded, ledger.ErrOrigin, ledger.ErrSignature, ledger.ErrQuorum, ledger.ErrForm, ledger.ErrVersion,
		attest.ErrKeyUnknown, token.ErrKeyRetired, policy.ErrConflict, client.ErrStale, client.ErrNoEvidence, client.ErrAnswer,
	} {
		if caught[sentinel.Error()] == 0 {
			t.Errorf("no lie was caught as %q", sentinel)
		}
	}
}

func wireOf(e client.Evidence) api.Evidence {
	return api.Evidence{Attestation: e.Attestation, Proof: string(e.Proof), Index: e.Index, Origin: e.Origin, BundleSHA256: e.SHA256}
}

// TestTrustedTogether has one Trusted ask from many goroutines while the ledger grows:
// that another one kept a newer checkpoint in between is no rewriting.
func TestTrustedTogether(t *testing.T) {
	s := serve(t, server.Limits{Rate: -1})
	c := s.client(t, "default", access.Admin, client.Options{})
	cutOf(t, c)
	trusted := must(client.NewTrusted(c, client.Expect{Trust: s.trust(t, "default"), Tenant: "default"}))
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := range 5 {
				d := drafts()[:1]
				d[0].ID, d[0].Conversation = dag.ExternalTurnID("together", fmt.Sprint(i, "/", n)), dag.ExternalConversationID("together", fmt.Sprint(i))
				if _, err := c.Turns().Admit(t.Context(), d); err != nil {
					t.Error(err)
				}
				if p, err := trusted.Slice(t.Context(), client.Request{Anchor: d[0].ID}); err != nil || !p.OK() {
					t.Errorf("got %v", err)
				}
			}
		})
	}
	all.Wait()
}

// TestNewTrusted refuses what could prove nothing.
func TestNewTrusted(t *testing.T) {
	s := serve(t, server.Limits{})
	c := s.client(t, "default", access.Auditor, client.Options{})
	signersOnly := must(ledger.ParseTrust(fmt.Appendf(nil, "signer %s\nquorum none\n", must(s.id.Attestor("default")).Key())))
	load := func(context.Context) ([]byte, error) { return nil, nil }
	for name, e := range map[string]client.Expect{
		"nothing":                 {},
		"no trust":                {Tenant: "default"},
		"no tenant":               {Trust: s.trust(t, "default")},
		"no log":                  {Trust: signersOnly, Tenant: "default"},
		"load without save":       {Trust: s.trust(t, "default"), Tenant: "default", Load: load},
		"an age without a quorum": {Trust: s.trust(t, "default"), Tenant: "default", MaxAge: time.Hour},
		"an age below zero":       {Trust: s.trust(t, "default"), Tenant: "default", MaxAge: -1},
	} {
		if got, err := client.NewTrusted(c, e); err == nil || got != nil {
			t.Errorf("%s is taken", name)
		}
	}
	full := must(client.NewTrusted(c, client.Expect{Trust: s.trust(t, "default"), Tenant: "default", RequireFull: true}))
	admin := s.client(t, "default", access.Admin, client.Options{})
	b := cutOf(t, admin)
	must(admin.Turns().Erase(t.Context(), ids[0], "asked for"))
	gone := must(admin.Slices().Cut(t.Context(), client.Request{Anchor: ids[3]}))
	if p, err := full.Verify(t.Context(), b.Bytes, must(admin.Ledger().Attest(t.Context(), b.Bytes))); err != nil || !p.OK() {
		t.Errorf("got %v", err)
	}
	var doubt *client.Doubt
	p, err := full.Verify(t.Context(), gone.Bytes, must(admin.Ledger().Attest(t.Context(), gone.Bytes)))
	if !errors.Is(err, client.ErrRedacted) || !errors.As(err, &doubt) || len(doubt.Verdict.Redacted) != 1 || p.OK() {
		t.Errorf("got %v", err)
	}
	if _, err := full.Verify(t.Context(), []byte("{}"), client.Evidence{}); err == nil {
		t.Error("nothing is taken")
	}
}

// TestZeroProven holds that a Proven is sealed as a Verified is.
func TestZeroProven(t *testing.T) {
	var p client.Proven
	if p.OK() || p.Bytes() != nil || p.Turns() != nil || p.Edges() != nil || p.Tenant() != "" || p.AsOf() != 0 || p.Evidence().Proof != nil || p.Inclusion().Size != 0 {
		t.Error("the zero value holds something")
	}
	for _, text := range []string{`{}`, `null`, `{"evidence":{}}`} {
		if err := json.Unmarshal([]byte(text), &p); text != "null" && !errors.Is(err, client.ErrDecode) || p.OK() {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if _, err := json.Marshal(p); !errors.Is(err, client.ErrDecode) {
		t.Errorf("got %v", err)
	}
	for name, err := range map[string]error{
		"text": p.UnmarshalText(nil), "binary": p.UnmarshalBinary(nil), "gob": p.GobDecode(nil), "to text": second(p.MarshalText()), "to binary": second(p.MarshalBinary()), "to gob": second(p.GobEncode()),
	} {
		if !errors.Is(err, client.ErrDecode) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
