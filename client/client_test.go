package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	judge "github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/monitor"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// collect reads an iterator to its end.
func collect[T any](t testing.TB, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var list []T
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

// TestEveryOperation calls every operation of the contract against the real service.
func TestEveryOperation(t *testing.T) {
	s := serve(t, server.Limits{})
	ctx := t.Context()
	seen := &recorder{next: http.DefaultTransport}
	c := s.client(t, "default", access.Admin, client.Options{Transport: seen})

	t.Run("turns", func(t *testing.T) {
		first := must(c.Turns().Admit(ctx, drafts()))
		if first != (api.Receipt{Admitted: 4, Edges: 3, Head: 4}) {
			t.Errorf("got %+v", first)
		}
		if again := must(c.Turns().Admit(ctx, drafts())); again != (api.Receipt{Existing: 4, Head: 4}) {
			t.Errorf("again: got %+v", again)
		}
		for i, want := range drafts() {
			w := must(c.Turns().Get(ctx, ids[i]))
			got, err := ingest.ReadLine(w.Turn)
			if err != nil || w.Seq != dag.Seq(i+1) || w.Redacted {
				t.Fatalf("%+v: %v", w, err)
			}
			if err := ingest.Assign(&want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("turn %d: -want +got:\n%s", i, diff)
			}
		}
		conflict := drafts()[:1]
		conflict[0].Content = "another text"
		_, err := c.Turns().Admit(ctx, conflict)
		var p *client.Problem
		if !errors.As(err, &p) || !errors.Is(err, api.CodeConflict) || errors.Is(err, api.CodeParent) || p.Turn.String() != ids[0].String() || p.Stored == "" || p.Arriving == "" || p.Status != 409 {
			t.Errorf("got %v", err)
		}
		for _, part := range []string{"conflict: ", p.Detail, p.RequestID} {
			if part == "" || !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not show %q", err, part)
			}
		}
	})
	t.Run("atlas", func(t *testing.T) {
		snapshot := must(client.Do(ctx, c, api.AtlasSnapshot, api.AtlasView{}))
		if snapshot.Turns != 4 || snapshot.Edges != 3 || snapshot.AsOf != 4 {
			t.Errorf("got %+v", snapshot)
		}
		if o := must(client.Do(ctx, c, api.AtlasOverlap, api.AtlasQuery{Limit: 3})); len(o.Pairs) != 0 {
			t.Errorf("got %+v", o)
		}
		if i := must(client.Do(ctx, c, api.AtlasInfluence, api.InfluenceQuery{By: "rank"})); len(i.Turns) != 4 {
			t.Errorf("got %+v", i)
		}
		if of := must(client.Do(ctx, c, api.AtlasCommunities, api.CommunityQuery{Of: "facts"})); of.Total != 0 {
			t.Errorf("got %+v", of)
		}
		if m := must(client.Do(ctx, c, api.AtlasManifest, api.ManifestQuery{})); m.SHA256 == (dag.Digest{}) || len(m.Envelope) == 0 {
			t.Errorf("got %+v", m)
		}
		if m := must(client.Do(ctx, c, api.AtlasManifest, api.ManifestQuery{Unsigned: true})); m.SHA256 == (dag.Digest{}) || len(m.Envelope) != 0 {
			t.Errorf("got %+v", m)
		}
		if b := must(client.Do(ctx, c, api.BlameTurn, api.BlameQuery{ID: ids[2]})); b.Turn.String() != ids[2].String() || b.Tried == 0 {
			t.Errorf("got %+v", b)
		}
	})
	t.Run("lines", func(t *testing.T) {
		var lines strings.Builder
		more := dag.ExternalConversationID("client", "more")
		for i := range 1500 {
			d := dag.Draft{ID: dag.ExternalTurnID("more", fmt.Sprint(i)), Conversation: more, Role: dag.RoleUser, CreatedAt: dag.Time(i), Content: "x"}
			lines.Write(must(ingest.AppendLine(nil, &d)))
		}
		file := &closing{Reader: strings.NewReader(lines.String())}
		if got := must(c.Turns().AdmitLines(ctx, file)); file.closed || got.Admitted != 1500 || got.Head != 1504 {
			t.Errorf("got %+v", got)
		}
		_, err := c.Turns().AdmitLines(ctx, strings.NewReader(lines.String()+"{}\n"))
		var p *client.Problem
		if !errors.As(err, &p) || p.Place != "line 1501" || p.Admitted == nil || *p.Admitted != 0 || *p.Existing != 1000 {
			t.Errorf("got %v, %+v", err, p)
		}
	})
	t.Run("folders", func(t *testing.T) {
		if w := must(client.Do(ctx, c, api.ListFolders, api.FolderQuery{Limit: 1})); w.Total != 0 || len(w.Folders) != 0 {
			t.Errorf("got %+v", w)
		}
	})
	t.Run("conversations", func(t *testing.T) {
		list := collect(t, c.Turns().Conversations(ctx))
		if len(list) != 2 || !slices.IsSortedFunc(list, func(a, b api.Conversation) int { return strings.Compare(a.ID.String(), b.ID.String()) }) {
			t.Errorf("got %+v", list)
		}
		var paged []api.Conversation
		for p := (api.Paging{Limit: 1}); ; {
			w := must(client.Do(ctx, c, api.ListConversations, api.ConversationQuery{Paging: p}))
			paged = append(paged, w.Conversations...)
			if p.After = w.Next; w.Next == "" {
				break
			}
		}
		if diff := cmp.Diff(list, paged); diff != "" {
			t.Error(diff)
		}
		turns := collect(t, c.Turns().Each(ctx, dag.ExternalConversationID("client", "more")))
		if len(turns) != 1500 || turns[1499].Seq != 1504 {
			t.Errorf("got %d turns", len(turns))
		}
		if w := must(client.Do(ctx, c, api.GetConversation, api.ConversationByID{ID: talk, Paging: api.Paging{Limit: 3}})); len(w.Turns) != 3 || w.Next != "3" {
			t.Errorf("got %d turns, next %q", len(w.Turns), w.Next)
		}
		for range c.Turns().Each(ctx, talk) {
			break // an iterator may be left
		}
		if w := must(client.Do(ctx, c, api.ListTurns, api.TurnQuery{Paging: api.Paging{After: "2", Limit: 3}})); len(w.Turns) != 3 || w.Turns[0].Seq != 3 || w.Next != "5" {
			t.Errorf("got %d turns, next %q", len(w.Turns), w.Next)
		}
		for _, want := range drafts() {
			w := must(client.Do(ctx, c, api.ListTurns, api.TurnQuery{Conversation: &talk, Role: want.Role.String()}))
			if len(w.Turns) == 0 || len(w.Turns) == len(ids) || w.Next != "" || !slices.ContainsFunc(w.Turns, func(s api.StoredTurn) bool {
				got := must(ingest.ReadLine(s.Turn))
				return got.ID == want.ID
			}) {
				t.Errorf("of role %s there are %+v", want.Role, w)
			}
			for i := range w.Turns {
				if got := must(ingest.ReadLine(w.Turns[i].Turn)); got.Role != want.Role {
					t.Errorf("the listing of role %s has a turn of %s", want.Role, got.Role)
				}
			}
		}
		if _, err := client.Do(ctx, c, api.ListTurns, api.TurnQuery{Role: "nobody"}); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("got %v", err)
		}
		if w := must(client.Do(ctx, c, api.LookUpTurns, api.TurnIDs{IDs: []dag.TurnID{ids[1], {1}}})); len(w.Turns) != 1 || w.Turns[0].Seq != 2 {
			t.Errorf("got %+v", w)
		}
		if id := must(client.Do(ctx, c, api.ResolveTurn, api.TurnNamed{Name: ids[1].String()[:13]})); id.ID.String() != ids[1].String() {
			t.Errorf("got %s", id)
		}
		if _, err := client.Do(ctx, c, api.ResolveTurn, api.TurnNamed{Name: "nobody's"}); !errors.Is(err, api.CodeNotFound) {
			t.Errorf("got %v", err)
		}
	})
	var b client.Bundle
	t.Run("slice", func(t *testing.T) {
		b = must(c.Slices().Cut(ctx, client.Request{Anchor: ids[3]}))
		now := must(c.Slices().Cut(ctx, client.Request{Anchor: ids[3], Policy: "default@1"}))
		for _, is := range []struct {
			bundle client.Bundle
			policy policy.ID
			asOf   dag.Seq
		}{{b, "default@3", 4}, {now, "default@1", 1504}} {
			got := is.bundle.Claim
			if got.Anchor != ids[3] || len(got.Turns) != 4 || got.AsOf != is.asOf || got.Provenance.PolicyID != is.policy {
				t.Errorf("got %+v", got)
			}
			if again := must(c.Slices().Cut(ctx, client.Request{Anchor: ids[3], Policy: is.policy, AsOf: is.asOf})); string(again.Bytes) != string(is.bundle.Bytes) {
				t.Errorf("%s: the same request gives other bytes", is.policy)
			}
		}
		if early := must(c.Slices().Cut(ctx, client.Request{Anchor: ids[1], AsOf: 2})); early.Claim.AsOf != 2 || len(early.Claim.Turns) != 2 {
			t.Errorf("got %+v", early.Claim)
		}
		if _, err := c.Slices().Cut(ctx, client.Request{Anchor: dag.TurnID{1}}); !errors.Is(err, api.CodeNotFound) {
			t.Errorf("got %v", err)
		}
		if _, err := c.Slices().Cut(ctx, client.Request{Anchor: ids[0], AsOf: 9999}); !errors.Is(err, api.CodeBeyondHead) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("batch", func(t *testing.T) {
		got := must(c.Slices().CutBatch(ctx, []client.Request{{Anchor: ids[3]}, {Anchor: dag.TurnID{1}}, {Anchor: ids[0]}}))
		if string(got[0].Bytes) != string(b.Bytes) || got[0].Err != nil || !errors.Is(got[1].Err, api.CodeNotFound) || got[1].Bytes != nil || got[2].Claim == nil || got[2].Claim.Anchor != ids[0] {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("renderings", func(t *testing.T) {
		if text := must(c.Slices().Render(ctx, client.Request{Anchor: ids[3]}, api.FormatMarkdown)); !strings.Contains(string(text), texts[0]) {
			t.Errorf("got %s", text)
		}
		var w struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal(must(c.Slices().Render(ctx, client.Request{Anchor: ids[3]}, api.FormatMessages)), &w); err != nil || len(w.Messages) < 4 {
			t.Errorf("got %+v, %v", w, err)
		}
		if _, err := c.Slices().Render(ctx, client.Request{Anchor: ids[3]}, api.FormatBundle); err == nil {
			t.Error("a bundle is rendered")
		}
	})
	id := b.Claim.Provenance.SliceID
	t.Run("token", func(t *testing.T) {
		claim := client.ClaimOf(b.Claim)
		if v := must(c.Slices().VerifyToken(ctx, claim)); !v.Admissible || v.KeyID != "k1" {
			t.Errorf("got %+v", v)
		}
		claim.AnchorTurnID = ids[0].String()
		if v := must(c.Slices().VerifyToken(ctx, claim)); v.Admissible || v.Outcome != "tampered" || v.Reason == "" {
			t.Errorf("got %+v", v)
		}
	})
	t.Run("bundle", func(t *testing.T) {
		verified, verdict, err := c.Slices().Verify(ctx, b.Bytes)
		if err != nil || !verified.OK() || !verdict.Admissible || string(verified.Bytes()) != string(b.Bytes) {
			t.Fatalf("got %+v, %v", verdict, err)
		}
		for i, turn := range verified.Turns() {
			if turn.Body.Content != texts[i] {
				t.Errorf("turn %d: got %q", i, turn.Body.Content)
			}
		}
		changed := []byte(strings.Replace(string(b.Bytes), "tests pass", "tests fail", 1))
		if filed, verdict, err := c.Slices().Verify(ctx, append(bytes.Clone(b.Bytes), '\n')); err != nil || !filed.OK() || verdict.Outcome != "verified" {
			t.Errorf("with the line feed of a file: %+v, %v", verdict, err)
		}
		if verified, verdict, err := c.Slices().Verify(ctx, changed); err != nil || verified.OK() || verdict.Outcome != "tampered" {
			t.Errorf("got %+v, %v", verdict, err)
		}
		if verified, verdict, err := c.Slices().Verify(ctx, []byte("{}")); err != nil || verified.OK() || verdict.Outcome != "malformed" {
			t.Errorf("got %+v, %v", verdict, err)
		}
		other := s.client(t, "other", access.Verifier, client.Options{})
		if verified, verdict, err := other.Slices().Verify(ctx, b.Bytes); err != nil || verified.OK() || verdict.Outcome != "key_unknown" {
			t.Errorf("another tenant: got %+v, %v", verdict, err)
		}
	})
	t.Run("records", func(t *testing.T) {
		list := collect(t, c.Slices().All(ctx))
		if len(list) == 0 || string(list[0].SliceID) != string(id) || list[0].BundleSHA256.String() != b.SHA256.String() || list[0].Number != 1 {
			t.Errorf("got %+v", list)
		}
		if w := must(client.Do(ctx, c, api.ListSlices, api.SliceQuery{Paging: api.Paging{Limit: 1}})); len(w.Slices) != 1 || w.Next != "1" {
			t.Errorf("got %+v", w)
		}
		now := must(ledger.ReadCheckpoint(must(c.Ledger().Checkpoint(ctx))))
		leaves := must(c.Ledger().Leaves(ctx, now.Size, 1, now.Size))
		for i := range leaves {
			if proof := must(c.Ledger().Prove(ctx, uint64(i)+1)); !bytes.Equal(proof.Leaf, leaves[i]) {
				t.Errorf("leaf %d is %s, and proved is %s", i+1, leaves[i], proof.Leaf)
			}
		}
		if uint64(len(leaves)) != now.Size-1 || len(leaves) == 0 {
			t.Errorf("%d leaves of %d", len(leaves), now.Size)
		}
		if w := must(client.Do(ctx, c, api.ListErasures, api.ErasureQuery{Turn: &b.Claim.Anchor})); len(w.Erasures) != 0 {
			t.Errorf("the anchor was erased: %+v", w)
		}
		if w := must(client.Do(ctx, c, api.ListHeldBack, api.HeldBackQuery{})); len(w.HeldBack) != 0 {
			t.Errorf("held back: %+v", w)
		}
		if _, err := client.Do(ctx, c, api.ReleaseTurns, api.TurnIDs{IDs: []dag.TurnID{b.Claim.Anchor}}); !errors.Is(err, api.CodeNotFound) {
			t.Errorf("releasing a turn that was not held back: %v", err)
		}
		if w := must(client.Do(ctx, c, api.TurnHolding, api.TurnByID{ID: b.Claim.Anchor})); len(w.Slices) == 0 || w.Looked == 0 || !slices.ContainsFunc(w.Slices, func(i api.Issued) bool { return string(i.SliceID) == string(id) }) {
			t.Errorf("got %+v", w)
		}
		if w := must(client.Do(ctx, c, api.GetSlice, api.SliceByID{SliceID: id})); string(w.SliceID) != string(id) || len(w.Issued) == 0 || !reflect.DeepEqual(w.Issued[0], list[0]) {
			t.Errorf("got %+v", w)
		}
		if _, err := client.Do(ctx, c, api.GetSlice, api.SliceByID{SliceID: "../policies"}); !errors.Is(err, dag.ErrForm) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("replay", func(t *testing.T) {
		if r := must(c.Slices().ReplayIssued(ctx, id)); r.Outcome != "identical" {
			t.Errorf("got %+v", r)
		}
		if r := must(c.Slices().Replay(ctx, b.Bytes)); r.Outcome != "identical" || string(r.SliceID) != string(id) {
			t.Errorf("got %+v", r)
		}
		changed := strings.Replace(string(b.Bytes), "tests pass", "tests fail", 1)
		if r := must(c.Slices().Replay(ctx, []byte(changed))); r.Outcome != "different" || r.Difference == nil {
			t.Errorf("got %+v", r)
		}
		if _, err := c.Slices().Replay(ctx, []byte("{}")); !errors.Is(err, slice.ErrMalformed) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("explain", func(t *testing.T) {
		cutting := api.Cutting{Anchor: ids[3].String(), AsOf: 1504}
		if w := must(client.Do(ctx, c, api.PreviewSlice, cutting)); len(w.Turns) != len(b.Claim.Turns) || w.AsOf != 1504 {
			t.Errorf("got %+v", w)
		}
		if e := must(client.Do(ctx, c, api.ExplainCut, api.ExplainCutting{Cutting: cutting, Turn: ids[0].String()})); !e.Selected || e.Rank == 0 || e.SliceID != "" {
			t.Errorf("got %+v", e)
		}
		if e := must(client.Do(ctx, c, api.ExplainTurn, api.ExplainRequest{SliceByID: api.SliceByID{SliceID: id}, Turn: ids[0].String()})); !e.Selected || e.Rank == 0 || e.Explanation == "" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("evidence", func(t *testing.T) {
		e := must(c.Ledger().Attest(ctx, b.Bytes))
		again := must(c.Ledger().AttestRecorded(ctx, id, &b.SHA256))
		if diff := cmp.Diff(e, again); diff != "" || e.SHA256 != b.SHA256 || e.Origin != "default.kernel.example" || e.Index == 0 {
			t.Errorf("got %+v, %s", e, diff)
		}
		if newest := must(c.Ledger().AttestRecorded(ctx, id, nil)); newest.SHA256 != b.SHA256 {
			t.Errorf("got %+v", newest)
		}
		v := judge.Judge{Trust: s.trust(t, "default")}.Judge(judge.Files{Bundle: b.Bytes, Attestation: e.Attestation, Proof: e.Proof})
		if v.Outcome != judge.Verified {
			t.Errorf("got %+v", v)
		}
		if _, err := c.Ledger().Attest(ctx, []byte("{}")); !errors.Is(err, api.CodeBundle) {
			t.Errorf("got %v", err)
		}
		if _, err := c.Ledger().AttestRecorded(ctx, "../policies", nil); !errors.Is(err, dag.ErrForm) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("log", func(t *testing.T) {
		note := must(c.Ledger().Checkpoint(ctx))
		step := must(monitor.Compare(ctx, c.Ledger().Source(), s.trust(t, "default"), nil, note))
		if step.Origin != "default.kernel.example" || step.New.Size < 4 {
			t.Errorf("got %+v", step)
		}
		for n := range step.New.Size {
			if _, err := step.New.ProveInclusion(ctx, n, c.Ledger().Source()); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("proofs", func(t *testing.T) {
		proof := must(c.Ledger().Prove(ctx, 0))
		checkpoint := must(ledger.ReadCheckpoint(proof.Checkpoint))
		hashes := must(c.Ledger().Consistency(ctx, 1, checkpoint.Size))
		first := must(c.Ledger().Source().Hashes(ctx, 0, 0, 1))
		if err := checkpoint.CheckConsistency(ledger.Root{Size: 1, Hash: first[0]}, hashes); err != nil {
			t.Error(err)
		}
		for to, want := range map[string]int{"prov": 1, "openlineage": 1, "sigstore": 3} {
			if w := must(c.Ledger().Convert(ctx, b.Bytes, to)); len(w.Files) != want {
				t.Errorf("%s: got %d files", to, len(w.Files))
			}
		}
	})
	t.Run("standings", func(t *testing.T) {
		set := must(client.Do(ctx, c, api.SetStanding, api.NewStanding{PolicyID: "standing-team@1"}))
		if now := must(client.Do(ctx, c, api.GetStanding, api.StandingQuery{})); now.PolicyID != "standing-team@1" || len(now.Settings) != 1 || now.Settings[0] != *set.Set {
			t.Errorf("got %+v, set %+v", now, set)
		}
		if of := must(client.Do(ctx, c, api.ListStandings, api.StandingsQuery{Turn: &ids[0]})); len(of.Turns) != 1 || of.Turns[0].Turn != ids[0] || of.Turns[0].Standing == "" {
			t.Errorf("got %+v", of)
		}
	})
	t.Run("keys", func(t *testing.T) {
		made := must(client.Do(ctx, c, api.CreateKey, api.NewAPIKey{Role: "agent", Note: "the build farm", Roles: "assistant", Authors: "agent:*"}))
		if who := must(must(client.New(s.URL, made.Key, client.Options{})).Caller(ctx)); who.Tenant != "default" || who.Role != "agent" || who.Standing != "agent" || who.Head == 0 {
			t.Errorf("got %+v", who)
		}
		if who := must(c.Caller(ctx)); who.Role != "admin" || who.Standing != "member" {
			t.Errorf("got %+v", who)
		}
		list := must(client.Do(ctx, c, api.ListKeys, api.None{}))
		at := slices.IndexFunc(list.Keys, func(k api.APIKey) bool { return k.ID == made.ID })
		if last := list.Keys[max(at, 0)]; last.ID != made.ID || last.Note != "the build farm" || last.Roles != "assistant" || last.Authors != "agent:*" {
			t.Errorf("got %+v", last)
		}
		if gone := must(client.Do(ctx, c, api.RevokeKey, api.APIKeyByID{ID: made.ID})); gone.Already || gone.RevokedAt == 0 {
			t.Errorf("got %+v", gone)
		}
		if again := must(client.Do(ctx, c, api.RevokeKey, api.APIKeyByID{ID: made.ID})); !again.Already {
			t.Errorf("again: got %+v", again)
		}
		if _, err := client.Do(ctx, c, api.CreateKey, api.NewAPIKey{Role: "auditor", Roles: "user"}); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("policies", func(t *testing.T) {
		narrow := must(standard.Forms().ParseRegistration([]byte(`{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":2,"salience_weight":0.25}}`)))
		for range 2 {
			if err := c.Policies().Register(ctx, narrow); err != nil {
				t.Fatal(err)
			}
		}
		if got := must(c.Policies().Get(ctx, "narrow@1")); got != narrow {
			t.Errorf("got %+v", got)
		}
		if got := must(c.Policies().All(ctx)).All(); len(got) != len(must(standard.Registry()).All())+1 || got[14].ID() != facts.PolicyID || got[17] != narrow {
			t.Errorf("got %+v", got)
		}
		wider := must(standard.Forms().ParseRegistration([]byte(`{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":3}}`)))
		if err := c.Policies().Register(ctx, wider); !errors.Is(err, api.CodePolicyConflict) {
			t.Errorf("got %v", err)
		}
		if _, err := c.Policies().Get(ctx, "absent@1"); !errors.Is(err, api.CodePolicyUnknown) {
			t.Errorf("got %v", err)
		}
		if _, err := c.Policies().Get(ctx, "../turns"); !errors.Is(err, dag.ErrForm) {
			t.Errorf("got %v", err)
		}
		if small := must(c.Slices().Cut(ctx, client.Request{Anchor: ids[3], Policy: "narrow@1"})); len(small.Claim.Turns) != 2 {
			t.Errorf("got %d turns", len(small.Claim.Turns))
		}
	})
	t.Run("erase", func(t *testing.T) {
		first := must(c.Turns().Erase(ctx, ids[2], "the guest asked for it"))
		if first.Kind != "erasure" || first.Turn.String() != ids[2].String() || first.Reason != "the guest asked for it" {
			t.Errorf("got %+v", first)
		}
		if again := must(c.Turns().Erase(ctx, ids[2], "once more")); again.Event != first.Event {
			t.Errorf("again: got %+v", again)
		}
		if w := must(c.Turns().Get(ctx, ids[2])); !w.Redacted {
			t.Errorf("got %+v", w)
		}
		if r := must(c.Slices().Replay(ctx, b.Bytes)); r.Outcome != "erased" || !slices.Equal(r.Erased, []dag.TurnID{ids[2]}) {
			t.Errorf("got %+v", r)
		}
		// What was erased can be sent elsewhere, without its text.
		d := must(ingest.ReadLine(must(c.Turns().Get(ctx, ids[2])).Turn))
		d.Parents = nil
		other := s.client(t, "other", access.Admin, client.Options{})
		if r := must(other.Turns().Admit(ctx, []dag.Draft{d})); r.Admitted != 1 {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("knowledge", func(t *testing.T) { callKnowledge(t, c) })
	t.Run("beliefs", func(t *testing.T) {
		const space, item = "acme/s", "kref://acme/s/colour.preference"
		said := func(object string) api.BeliefRequest {
			return api.BeliefRequest{Space: space, Statements: []api.BeliefStatement{{Subject: "Ada", Predicate: "likes", Object: object}}}
		}
		must(client.Do(ctx, c, api.SetSpace, api.NewSpace{Space: space}))
		if s := must(client.Do(ctx, c, api.ListSpaces, api.SpacesQuery{})); len(s.Spaces) != 1 {
			t.Errorf("got %+v", s)
		}
		blue := said("blue")
		blue.Item = item
		if o := must(client.Do(ctx, c, api.ReviseBeliefs, blue)); o.Outcome != "changed" || o.Item != item || o.Revision != 1 {
			t.Errorf("got %+v", o)
		}
		not := said("blue")
		not.Statements[0].Not = true
		if o := must(client.Do(ctx, c, api.ExpandBeliefs, not)); o.Outcome != "refused" || len(o.GaveWay) != 1 {
			t.Errorf("got %+v", o)
		}
		if o := must(client.Do(ctx, c, api.ProposeBeliefs, said("green"))); o.Outcome != "changed" {
			t.Errorf("got %+v", o)
		}
		if o := must(client.Do(ctx, c, api.ContractBeliefs, said("green"))); o.Outcome != "changed" {
			t.Errorf("got %+v", o)
		}
		if b := must(client.Do(ctx, c, api.GetBeliefBase, api.BaseQuery{Space: space})); len(b.Statements) != 1 || b.Statements[0].Object != "blue" {
			t.Errorf("got %+v", b)
		}
		if w := must(client.Do(ctx, c, api.ExplainBelief, api.WhyQuery{Space: space, Subject: "ada", Predicate: "likes", Object: "green"})); w.Believed || len(w.Ended) != 1 {
			t.Errorf("got %+v", w)
		}
		proof := must(c.Beliefs().Prove(ctx, api.BeliefProofRequest{Space: space, BeliefStatement: belief.Literal{Subject: "ADA", Predicate: "likes", Object: "blue"}}))
		if v, verdict, err := c.Beliefs().Verify(ctx, proof.Bytes); err != nil || !v.OK() || verdict.Outcome != "verified" || v.Question().Literal.Object != "blue" || len(v.Revisions()) != 1 {
			t.Errorf("got %+v, %v", verdict, err)
		}
		if _, _, err := c.Slices().Verify(ctx, proof.Bytes); !errors.Is(err, client.ErrKind) {
			t.Errorf("as a slice: %v", err)
		}
		if _, err := c.Beliefs().Prove(ctx, api.BeliefProofRequest{Space: space, BeliefStatement: belief.Literal{Subject: "ada", Predicate: "likes", Object: "red"}}); !errors.Is(err, api.CodeNotFound) {
			t.Errorf("what is not believed: %v", err)
		}
		if l := must(client.Do(ctx, c, api.LinkKref, api.NewLink{From: item + "?r=1", Type: "derived_from", To: "turn:" + ids[0].String()})); l.Seq == 0 {
			t.Errorf("got %+v", l)
		}
		attached := said("violet")
		attached.Space, attached.Item, attached.NewSpace, attached.Tags = "acme/attached", "kref://acme/attached/a.fact", true, []string{"mine", "published"}
		attached.Links = []api.BeliefLink{{Type: "depends_on", To: item + "?r=1"}, {Type: "created_from", To: "turn:" + ids[0].String()}}
		if o := must(client.Do(ctx, c, api.ReviseBeliefs, attached)); o.Outcome != "changed" || o.Revision != 1 {
			t.Errorf("got %+v", o)
		}
		if r := must(client.Do(ctx, c, api.ResolveKref, api.KrefQuery{Ref: string(attached.Item + "?t=mine")})); r.Revision == nil || len(r.Tags) != 3 {
			t.Errorf("got %+v", r)
		}
		if i := must(client.Do(ctx, c, api.BeliefImpact, api.ImpactQuery{Ref: item})); len(i.Links) != 1 || i.Links[0].Ref != string(attached.Item)+"?r=1" {
			t.Errorf("got %+v", i)
		}
		attached.Links[0].To = item + "?r=9"
		if _, err := client.Do(ctx, c, api.ReviseBeliefs, attached); !errors.Is(err, api.CodeNotFound) {
			t.Errorf("a link to nothing: %v", err)
		}
		if i := must(client.Do(ctx, c, api.BeliefImpact, api.ImpactQuery{Ref: item})); i.Ref != item+"?r=1" {
			t.Errorf("got %+v", i)
		}
		if d := must(client.Do(ctx, c, api.DiffBeliefs, api.BaseDiffQuery{Space: space, From: 1})); len(d.Added) != 1 || len(d.Removed) != 0 {
			t.Errorf("got %+v", d)
		}
		rule := api.NewMemory{Text: "Deploys happen on Tuesdays only.", Project: "acme/memories"}
		kept := must(client.Do(ctx, c, api.Remember, rule))
		if list := must(client.Do(ctx, c, api.ListMemories, api.MemoriesQuery{Words: "deploys", Project: rule.Project})); kept.Result != "changed" || len(list.Memories) != 1 || list.Memories[0].ID != kept.ID || list.Memories[0].Text != rule.Text {
			t.Errorf("got %+v and %+v", kept, list)
		}
		if m := must(client.Do(ctx, c, api.AcceptMemory, api.OldMemory{ID: kept.ID})); m.Result != "unchanged" {
			t.Errorf("got %+v", m)
		}
		if gone := must(client.Do(ctx, c, api.Forget, api.OldMemory{ID: kept.ID})); gone.Result != "changed" || gone.Forgotten.Text != rule.Text {
			t.Errorf("got %+v", gone)
		}
		if why := must(client.Do(ctx, c, api.ExplainMemory, api.MemoryName{ID: kept.ID})); why.Holds || why.Ended == nil || why.Ended.How != "forgotten" {
			t.Errorf("got %+v", why)
		}
		if all := must(client.Do(ctx, c, api.MemoryHistory, api.MemoryName{ID: kept.ID})); len(all.States) != 1 || all.States[0].Text != rule.Text {
			t.Errorf("got %+v", all)
		}
		if all := must(client.Do(ctx, c, api.MemoryLinks, api.LinksQuery{MemoryName: api.MemoryName{ID: kept.ID}})); len(all.Links) != 0 || all.Of.Text != rule.Text {
			t.Errorf("got %+v", all)
		}
		if list := must(client.Do(ctx, c, api.ListItems, api.ItemsQuery{Space: space})); len(list.Items) != 2 {
			t.Errorf("got %+v", list)
		}
		if list := must(client.Do(ctx, c, api.BeliefConflicts, api.ConflictsQuery{Space: space})); len(list.Conflicts) != 0 {
			t.Errorf("got %+v", list)
		}
		if tag := must(client.Do(ctx, c, api.TagKref, api.NewTag{Ref: item, Tag: "published", Revision: 1})); tag.Outcome != "changed" {
			t.Errorf("got %+v", tag)
		}
		if o := must(client.Do(ctx, c, api.ContractBeliefs, said("blue"))); o.Outcome != "refused" || o.Reason != "protected" {
			t.Errorf("got %+v", o)
		}
		if r := must(client.Do(ctx, c, api.BeliefRules, api.RulesQuery{Space: space})); len(r.Statements) != 0 {
			t.Errorf("got %+v", r)
		}
		if u := must(client.Do(ctx, c, api.UseBelief, api.BeliefUse{Ref: item, Success: true})); u.Uses != 1 || u.Rate != dag.One {
			t.Errorf("got %+v", u)
		}
		if p := must(client.Do(ctx, c, api.PromoteBeliefs, api.PromotionRequest{Space: space})); len(p.Promotions) != 0 {
			t.Errorf("got %+v", p)
		}
		if l := must(client.Do(ctx, c, api.CascadeBeliefs, api.CascadeRequest{Space: space})); len(l.Lowered) != 0 {
			t.Errorf("got %+v", l)
		}
		contrary := said("blue")
		contrary.Statements[0].Not = true
		waits := must(client.Do(ctx, c, api.ProposeBeliefs, contrary))
		if r := must(client.Do(ctx, c, api.ResolveConflict, api.ConflictResolution{Space: space, Conflict: waits.Seq, How: "dropped"})); waits.Outcome != "refused" || r.Seq == 0 || len(r.Advice) != 1 {
			t.Errorf("got %+v, %+v", waits, r)
		}
		if d := must(client.Do(ctx, c, api.DecayBeliefs, api.DecayRequest{Space: space})); len(d.Lowered) != 0 {
			t.Errorf("got %+v", d)
		}
		if a := must(client.Do(ctx, c, api.AbstractBeliefs, api.AbstractionRequest{Space: space, From: []string{item}, Statements: said("colours").Statements, Specificity: 400_000, DryRun: true})); !a.Kept || len(a.From) != 1 {
			t.Errorf("got %+v", a)
		}
		archive := must(client.Do(ctx, c, api.ArchiveBeliefs, api.ArchiveRequest{Space: space}))
		if again := must(client.Do(ctx, c, api.ArchiveBeliefs, api.ArchiveRequest{Space: space, SHA256: archive.SHA256})); len(again.Items) != 0 || again.Document != "" {
			t.Errorf("got %+v", again)
		}
		if u := must(client.Do(ctx, c, api.UnarchiveBeliefs, api.UnarchiveRequest{Document: archive.Document})); len(u.Items) != 0 {
			t.Errorf("got %+v", u)
		}
		persona := must(client.Do(ctx, c, api.ExportPersona, api.PersonaRequest{Space: space, Aliases: []api.PersonaAlias{{Name: "Ada", Alias: "somebody"}}}))
		if persona.Items != 1 {
			t.Errorf("got %+v", persona)
		}
		if p := must(client.Do(ctx, c, api.ImportPersona, api.PersonaImport{Space: space, Envelope: persona.Envelope, Signers: []string{s.trust(t, "default").Signers[0].Key.String()}, DryRun: true})); len(p.Items) != 1 || p.SHA256 != persona.SHA256 {
			t.Errorf("got %+v", p)
		}
		must(client.Do(ctx, c, api.DeprecateItem, api.Deprecation{Ref: item}))
		if r := must(client.Do(ctx, c, api.RestoreItem, api.Deprecation{Ref: item})); r.Outcome != "changed" {
			t.Errorf("got %+v", r)
		}
		if r := must(client.Do(ctx, c, api.ResolveKref, api.KrefQuery{Ref: item + "?t=published"})); r.Revision == nil || r.Revision.Revision != 1 {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("working", func(t *testing.T) {
		q := api.WorkingQuery{Session: "run-1"}
		put := must(client.Do(ctx, c, api.PutWorking, api.WorkingPut{Session: q.Session, Messages: []api.NewMessage{
			{Role: dag.RoleUser, Author: "human:ada", Content: "keep this", Key: "k"}, {Role: dag.RoleTool, Author: "tool:ci", Content: "and not this"},
		}}))
		if put.Held != 2 || put.Dropped != 0 || len(put.Messages) != 2 {
			t.Errorf("got %+v", put)
		}
		if list := must(client.Do(ctx, c, api.ListWorking, struct{}{})); len(list.Sessions) != 1 || list.Sessions[0].Messages != 2 {
			t.Errorf("got %+v", list)
		}
		id := put.Messages[0].ID
		for _, admitted := range []int{1, 0} {
			made := must(client.Do(ctx, c, api.ConsolidateWorking, api.Consolidating{Session: q.Session, Messages: []dag.TurnID{id}}))
			if made.Admitted != admitted || made.Existing != 1-admitted || made.Held != 1 || !slices.Equal(made.Turns, []dag.TurnID{id}) {
				t.Errorf("got %+v", made)
			}
		}
		if got := must(client.Do(ctx, c, api.GetWorking, q)); len(got.Messages) != 1 || got.Messages[0].Content != "and not this" {
			t.Errorf("got %+v", got)
		}
		if cleared := must(client.Do(ctx, c, api.ClearWorking, q)); cleared.Cleared != 1 {
			t.Errorf("got %+v", cleared)
		}
	})
	t.Run("events", func(t *testing.T) {
		turns, erasures, issued, acts, beliefs := 0, 0, 0, 0, 0
		until, cancel := context.WithCancel(ctx)
		defer cancel()
		head := int(must(client.Do(ctx, c, api.CountKnowledge, api.KnowledgeCount{Brief: true})).AsOf) // each number has an event, except settings
		head -= len(must(client.Do(ctx, c, api.GetStanding, api.StandingQuery{})).Settings)
		for e, err := range c.Events(until, client.Beginning) {
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case e.Turn != nil:
				turns++
			case e.Erasure != nil:
				erasures++
			case e.Slice != nil:
				issued++
			case e.Knowledge != nil:
				acts++
			case e.Belief != nil:
				beliefs++
			}
			if turns+erasures+acts+beliefs == head && issued == len(collect(t, c.Slices().All(ctx))) {
				break
			}
		}
		if turns != 1505 || erasures != 1 || acts != 13 || beliefs != 20 {
			t.Errorf("%d turns, %d erasures, %d acts and %d events of beliefs", turns, erasures, acts, beliefs)
		}
	})
	t.Run("health", func(t *testing.T) {
		for _, p := range []client.Probe{client.Live, client.Ready, client.Startup} {
			if h := must(c.Health(ctx, p)); h.Status != "ok" {
				t.Errorf("%s: got %+v", p, h)
			}
			if last := seen.seen[len(seen.seen)-1]; last.Header.Get("Authorization") != "" {
				t.Errorf("%s: the key was sent", p)
			}
		}
		if _, err := c.Health(ctx, "../metrics"); err == nil {
			t.Error("a probe that is none")
		}
	})
	t.Run("contexts", func(t *testing.T) {
		found := must(client.Do(ctx, c, api.SearchTurns, api.Search{Query: "turn", Limit: 1}))
		asked := api.ContextRequest{Task: "what was said", Anchor: ids[3].String(), Budget: 500, Format: string(contexts.XML)}
		made := must(c.Contexts().Assemble(ctx, asked))
		if again := must(c.Contexts().Assemble(ctx, asked)); !bytes.Equal(again.Bytes, made.Bytes) {
			t.Error("the same request gives other bytes")
		}
		v, verdict, err := c.Contexts().Verify(ctx, made.Bytes)
		if err != nil || !v.OK() || !bytes.Equal(v.Prompt(), made.Claim.Render()) || len(v.Turns()) != len(made.Claim.Turns) {
			t.Errorf("%+v, %v", verdict, err)
		}
		if task, anchor := v.Task(); task != asked.Task || *anchor != ids[3] {
			t.Errorf("task %q, anchor %s", task, anchor)
		}
		if r := must(c.Slices().Replay(ctx, made.Bytes)); r.Outcome != "identical" {
			t.Errorf("replay: %+v", r)
		}
		id := made.Claim.Provenance.SliceID
		if again := must(c.Slices().Bundle(ctx, id, nil)); !bytes.Equal(again, made.Bytes) {
			t.Error("the bundle on record has other bytes")
		}
		if _, err := c.Slices().Bundle(ctx, id, &dag.Digest{1}); !errors.Is(err, api.CodeNotFound) {
			t.Errorf("a bundle that was never issued: %v", err)
		}
		why := must(client.Do(ctx, c, api.ExplainContext, api.ExplainContextRequest{ContextID: id, Turn: made.Claim.Turns[0].ID.String()}))
		if why.Outcome != "chosen" || why.Rank == 0 || why.Chosen != len(made.Claim.Turns)+len(made.Claim.Facts) || why.Candidates != len(made.Claim.Candidates) || why.Explanation == "" {
			t.Errorf("%+v", why)
		}
		spelled := must(c.Contexts().Assemble(ctx, api.ContextRequest{Task: "what was said of <b> & \u2028", Anchor: ids[3].String(), Budget: 500}))
		erased := must(c.Contexts().EraseTask(ctx, spelled.Claim.Provenance.SliceID, "the guest asked for it"))
		if string(erased.Context) != string(spelled.Claim.Provenance.SliceID) || erased.Reason != "the guest asked for it" || erased.By == "" {
			t.Errorf("erased: %+v", erased)
		}
		for e, err := range c.Events(ctx, client.Beginning) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Task != nil {
				if *e.Task != erased {
					t.Errorf("the event is %+v, want %+v", e.Task, erased)
				}
				break
			}
		}
		within := must(client.Do(ctx, c, api.SearchTurns, api.Search{Query: "safe to ship", Limit: 1000, Within: spelled.Bytes}))
		if n := len(within.Hits); n == 0 || n > len(spelled.Claim.Turns) || uint64(within.AsOf) != uint64(spelled.Claim.AsOf) {
			t.Errorf("within %d turns of a context %d were found, as of %d", len(spelled.Claim.Turns), n, within.AsOf)
		}
		enriched := must(client.Do(ctx, c, api.EnrichHits, api.EnrichRequest{Hits: []api.HitScore{{Turn: ids[1], Score: 1}, {Turn: ids[2], Score: 3}}}))
		if len(enriched.Hits) != 2 || enriched.Hits[0].Turn.String() != ids[2].String() {
			t.Errorf("%+v", enriched)
		}
		if _, err := client.Do(ctx, c, api.SearchTurns, api.Search{Query: "turn", Within: []byte(`{}`)}); err == nil || !strings.Contains(err.Error(), "not admissible") {
			t.Errorf("within no evidence: %v", err)
		}
		changed := bytes.Replace(made.Bytes, []byte("what was said"), []byte("what is said!"), 1)
		if v, verdict, err := c.Contexts().Verify(ctx, changed); err != nil || v.OK() || verdict.Outcome != "tampered" {
			t.Errorf("changed: %+v, %v", verdict, err)
		}
		if _, _, err := c.Slices().Verify(ctx, made.Bytes); !errors.Is(err, client.ErrKind) {
			t.Errorf("a context as turns: %v", err)
		}
		var decoded client.VerifiedContext
		if err := json.Unmarshal(made.Bytes, &decoded); !errors.Is(err, client.ErrDecode) || decoded.OK() || decoded.Turns() != nil || decoded.Prompt() != nil {
			t.Errorf("decoded: %v", err)
		}
		to := issued.Recipient{Agent: "claude-code", Session: "5e55", Event: "SessionStart"}
		told := must(c.Contexts().Assemble(ctx, api.ContextRequest{Task: "what was said", Fit: 3000, Recipient: &to}))
		if lost := must(client.Do(ctx, c, api.ReportNotGiven, api.NotGivenReport{ContextID: told.Claim.Provenance.SliceID, Bundle: told.SHA256, Reason: "the pipe was closed"})); lost.Seq == 0 || lost.Bundle.String() != told.SHA256.String() {
			t.Errorf("%+v", lost)
		}
		shown := must(client.Do(ctx, c, api.AssembleContext, api.ContextRequest{Task: "what was said", Format: "openai"}))
		if shown.Prompt != "" || !bytes.HasPrefix(shown.Body, []byte(`{"messages":[`)) || len(found.Hits) > 1 {
			t.Errorf("%+v, %+v", shown, found)
		}
	})

	// What the contract has and the client does not call is for people and monitors.
	described := contract(t, s.URL)
	for _, q := range seen.seen {
		for op := range described {
			if op.method == q.Method && op.path.MatchString(q.URL.Path) {
				delete(described, op)
			}
		}
	}
	var left []string
	for _, id := range described {
		left = append(left, id)
	}
	if slices.Sort(left); !slices.Equal(left, []string{
		"addCheckpoint", "docs", "getEntries", "getLogKeys", "getPublicCheckpoint", "getPublicTile", "metrics", "openapi", "wellKnownJWKS", "wellKnownKeys",
	}) {
		t.Errorf("these operations were not called: %s", left)
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

type operation struct {
	method string
	path   *regexp.Regexp
}

// contract reads the operations that the service describes, with their ids.
func contract(t *testing.T, url string) map[operation]string {
	resp, err := http.Get(url + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	list := map[operation]string{}
	for path, item := range doc.Paths {
		re := regexp.MustCompile("^" + regexp.MustCompile(`\\\{[a-z_]+\\\}`).ReplaceAllString(regexp.QuoteMeta(strings.Replace(path, "{tile}", "{level}/{index}.p/{width}", 1)), "[^/]+") + "$")
		for method, raw := range item {
			var op struct{ OperationID string }
			if method == "parameters" || json.Unmarshal(raw, &op) != nil || op.OperationID == "" {
				continue
			}
			list[operation{strings.ToUpper(method), re}] = op.OperationID
		}
	}
	if len(list) < 20 {
		t.Fatalf("the contract has %d operations", len(list))
	}
	return list
}

// TestRoles holds that what a role may not do is a problem of its code.
func TestRoles(t *testing.T) {
	s := serve(t, server.Limits{})
	c := s.client(t, "default", access.Verifier, client.Options{})
	if _, err := c.Turns().Admit(t.Context(), drafts()); !errors.Is(err, api.CodeForbidden) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Turns().AdmitLines(t.Context(), strings.NewReader("{}\n")); !errors.Is(err, api.CodeForbidden) {
		t.Errorf("got %v", err)
	}
	for _, err := range c.Events(t.Context(), client.Present) {
		if !errors.Is(err, api.CodeForbidden) {
			t.Errorf("got %v", err)
		}
	}
	wrong := must(client.New(s.URL, "gk1.default.0123456789abcdef."+strings.Repeat("0", 64), client.Options{}))
	if _, err := wrong.Turns().Get(t.Context(), ids[0]); !errors.Is(err, api.CodeUnauthenticated) {
		t.Errorf("got %v", err)
	}
}

// TestInvalidText holds that text which JSON cannot carry is refused, not repaired.
func TestInvalidText(t *testing.T) {
	c := serve(t, server.Limits{}).client(t, "default", access.Agent, client.Options{})
	for _, change := range []func(*dag.Draft){
		func(d *dag.Draft) { d.Content = "\xff" },
		func(d *dag.Draft) { d.Author = "\xff" },
		func(d *dag.Draft) { d.Attrs = map[string]string{"x": "\xff"} },
	} {
		d := drafts()[:1]
		change(&d[0])
		if _, err := c.Turns().Admit(t.Context(), d); !errors.Is(err, dag.ErrForm) || !strings.Contains(err.Error(), "turns[0]") {
			t.Errorf("got %v", err)
		}
	}
	// What JSON can carry is the service's to judge.
	d := drafts()[:1]
	d[0].Role = 0
	if _, err := c.Turns().Admit(t.Context(), d); !errors.Is(err, api.CodeInvalid) {
		t.Errorf("got %v", err)
	}
}
