package slice_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// checkCut holds what a Slice says of itself against the reference.
func checkCut(t *rapid.T, w *world, s *slice.Slice, params policy.SlicePolicy) {
	picks, _, _ := slowSelect(w, s.Provenance.Anchor, params)
	if len(s.Picked) != len(picks) || int(s.AsOf) != len(w.turns) {
		t.Fatalf("%d picked as of %d", len(s.Picked), s.AsOf)
	}
	for i, at := range s.Picked {
		if got := s.Turns[at]; got.ID != picks[i].ID || !reflect.DeepEqual(got.Admission, w.admission(picks[i], params, w.slowSettings(picks))) || got.CreatedAt != w.turns[w.find(got.ID)].CreatedAt {
			t.Fatalf("pick %d is %+v, want %+v", i, got, picks[i])
		}
	}
	var turns []*dag.Turn
	for i := range s.Turns {
		turns = append(turns, &w.turns[w.find(s.Turns[i].ID)])
	}
	order := slowOrder(turns, s.Edges)
	for i, at := range slice.Order(s.Turns, s.Edges) {
		if s.Turns[at].ID != order[i] {
			t.Fatalf("order[%d] is %s, want %s", i, s.Turns[at].ID, order[i])
		}
	}
	slices.SortFunc(picks, func(a, b slowPick) int { return a.ID.Compare(b.ID) })
	if got, want := string(slice.AppendAdmissionsLeaf([]byte("x"), s.Provenance.SchemaVersion, s.AsOf, s.Settings, s.Turns)), "x"+slowAdmissionsLeaf(t, w, params.Type(), len(w.turns), picks); got != want {
		t.Fatalf("admissions: got %s, want %s", got, want)
	}
}

// checkParsed holds the law of AppendBundle and ParseBundle.
func checkParsed(t *rapid.T, w *world, data []byte, s *slice.Slice, redacted []dag.TurnID) {
	b, err := slice.ParseBundle(data)
	if err != nil {
		t.Fatal(err)
	}
	if again := b.Append([]byte("x")); string(again) != "x"+string(data) {
		t.Fatalf("Append differs: %+v", slice.Differ(data, again[1:]))
	}
	if params, err := s.Policy.Slice(); err != nil || b.Policy != params {
		t.Fatalf("got %+v, want %+v, %v", b.Policy, params, err)
	}
	if b.Provenance != s.Provenance || b.Anchor != s.Provenance.Anchor || b.AsOf != s.AsOf || !slices.Equal(b.Edges, s.Edges) || len(b.Turns) != len(s.Turns) {
		t.Fatalf("got %+v", b)
	}
	var hidden []dag.TurnID
	for i := range b.Turns {
		at := w.find(b.Turns[i].ID)
		if b.Turns[i].Turn != w.turns[at] || !reflect.DeepEqual(b.Turns[i].Admission, s.Turns[i].Admission) {
			t.Fatalf("turns[%d] is %+v, want %+v", i, b.Turns[i].Turn, w.turns[at])
		}
		if slices.Contains(redacted, b.Turns[i].ID) {
			hidden = append(hidden, b.Turns[i].ID)
			if b.Turns[i].Body != nil {
				t.Fatalf("turns[%d] is redacted and has a body", i)
			}
			continue
		}
		body := *b.Turns[i].Body
		if len(body.Attrs) == 0 {
			body.Attrs = nil
		}
		if diff := cmp.Diff(w.bodies[at], body); diff != "" {
			t.Fatalf("turns[%d]: -want +got:\n%s", i, diff)
		}
	}
	if !slices.Equal(b.Redacted(), hidden) {
		t.Fatalf("Redacted gives %v, want %v", b.Redacted(), hidden)
	}
	for _, c := range b.Check() {
		if c.Status != slice.StatusOK {
			t.Fatalf("%+v", c)
		}
	}
}

// Appendix A.8 and A.9 of GKP/1.
const (
	meetingSHA256  = "817012a9e7aed8902700c654ec031d3a6b9f3e453bafd78de398c0e21497d098"
	redactedSHA256 = "177a37f31791c905491d4c56800965dc37a4ad592f342633c8f712c91b054ca5"
)

// meeting is the graph and policy of GKP/1, appendix A.
func meeting(t fataler) (*world, dag.TurnID, policy.Registered) {
	t.Helper()
	w := &world{}
	conversation, err := dag.ParseConversationID("0d9c5a52-7c1e-4f3a-9b60-2f8e4f6f1a10")
	if err != nil {
		t.Fatalf("%v", err)
	}
	add := func(id string, role dag.Role, phase dag.Phase, salience dag.PPM, created, salt, author, content string, attrs map[string]string, parents ...dag.Parent) dag.TurnID {
		when, err := dag.ParseTime(created)
		if err != nil {
			t.Fatalf("%v", err)
		}
		s, err := dag.ParseSalt(salt)
		if err != nil {
			t.Fatalf("%v", err)
		}
		turn := dag.Turn{ID: mustTurnID(t, id), Conversation: conversation, Role: role, Phase: phase, Salience: salience, CreatedAt: when}
		w.add(turn, dag.Body{Author: author, Content: content, Attrs: attrs, Salt: s}, parents...)
		return turn.ID
	}
	a := add("4b1f0c7e-52a1-4d0b-8c55-0a6c1b9e7a01", dag.RoleUser, dag.Planning, 800_000, "2026-03-04T09:00:00.000000Z", "00112233445566778899aabbccddeeff", "human:ines", "Where shall we meet?\nNot the \"old\" place.", nil)
	add("2c9e8d41-6f3b-4b7a-8e12-7f0a1b2c3d03", dag.RoleAssistant, dag.Exploration, 123_457, "2026-03-04T09:00:05.000001Z", "a0b1c2d3e4f5061728394a5b6c7d8e9f", "agent:guide", "The harbour?", nil, dag.Parent{ID: a, Kind: dag.Reply})
	b := add("a7d3e2f0-1c44-4e0a-9f0b-3d5f6e8a9b02", dag.RoleAssistant, dag.Synthesis, 654_321, "2026-03-04T09:00:07.250000Z", "0f1e2d3c4b5a69788796a5b4c3d2e1f0", "agent:guide", "Café Nord, 19:00 ☕", map[string]string{"lang": "en", "model": "m-7"}, dag.Parent{ID: a, Kind: dag.Reply})
	add("e05b7a93-0b8d-4c26-a1f4-5c6d7e8f9004", dag.RoleTool, dag.Debugging, 100_000, "2026-03-04T09:00:09.000000Z", "123456789abcdef0123456789abcdef0", "tool:maps", "no route", nil, dag.Parent{ID: b, Kind: dag.Spawn})
	p := policy.DefaultV1()
	p.MaxNodes, p.MaxRadius, p.MaxSiblings, p.DistanceDecay = 3, 2, 1, 870_000
	p.Weights[dag.Debugging], p.Weights[dag.Exploration] = 333_333, 350_000
	return w, b, bind(t, "meeting@1", p)
}

// TestWorkedExample reproduces appendix A of GKP/1.
func TestWorkedExample(t *testing.T) {
	w, anchor, p := meeting(t)
	s, data := w.bundle(t, anchor, p, authority(t))
	for _, tc := range []struct{ what, got, want string }{
		{"digest of A", w.turns[0].BodyDigest.String(), "982d6b385f432e1b65af422ec3a0c9485bdcd601f1b4f4e31cb05f6f204ddba0"},
		{"digest of B", w.turns[2].BodyDigest.String(), "c53965ffaac37379d9fc744d1b6c9d2c7be3072be3bb4a4b1e1150f4c5c2c9f2"},
		{"h1", slice.TurnLeaf(&w.turns[1]).String(), "a81e09e92c6f2b4fec0bab030eb85a74f5df5de7f0bcd44fd17782bac588b270"},
		{"h2", slice.TurnLeaf(&w.turns[0]).String(), "64dcf97567de80b74c95aa8d6b469273464347dd50d85a335c310a97c91d8f77"},
		{"h3", slice.TurnLeaf(&w.turns[2]).String(), "6fb4162e63a64f4f0dacf697a16a69a2a8f399175eb46a67e070bef78bfe115b"},
		{"h4", slice.EdgeLeaf(s.Edges[0]).String(), "24432b39c2bdeeee3540e2a400a05db541316e5fe72f33be5042261039f34498"},
		{"h5", slice.EdgeLeaf(s.Edges[1]).String(), "98b0023c705041b5e7c13e065703e178a7671c81a3c8deb5c1aa30f2dc3d8a11"},
		{"root", s.Provenance.GraphSnapshotHash.String(), "1a090e78ddc78d1e1f26d4e12181752d581727157f3499ed911d4b29c6fdf160"},
		{"slice id", s.Provenance.SliceID.String(), "cd98f7ba78b64ce3"},
		{"bundle", sum(data), meetingSHA256},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.what, tc.got, tc.want)
		}
	}
	if _, data := w.bundle(t, anchor, p, authority(t), w.turns[0].ID); sum(data) != redactedSHA256 {
		t.Errorf("redacted: got %s, want %s", sum(data), redactedSHA256)
	}
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// TestLeaves compares leaves and digests with their definitions at random values.
func TestLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for i := range w.turns {
			leaf := slowTurnLeaf(t, &w.turns[i])
			if got := string(slice.AppendTurnLeaf([]byte("x"), &w.turns[i])); got != "x"+leaf {
				t.Fatalf("got %s, want x%s", got, leaf)
			}
			if got := slice.TurnLeaf(&w.turns[i]); got != slowRoot([]string{leaf}) {
				t.Fatalf("leaf hash of %s: got %s", leaf, got)
			}
		}
		for _, e := range w.edges {
			leaf := slowEdgeLeaf(t, e)
			if got := string(slice.AppendEdgeLeaf([]byte("x"), e)); got != "x"+leaf {
				t.Fatalf("got %s, want x%s", got, leaf)
			}
			if got := slice.EdgeLeaf(e); got != slowRoot([]string{leaf}) {
				t.Fatalf("leaf hash of %s: got %s", leaf, got)
			}
		}
	})
}

var anyBody = rapid.Custom(func(t *rapid.T) dag.Body {
	return dag.Body{
		Author:  rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "author"),
		Content: rapid.String().Draw(t, "content"),
		Attrs:   rapid.MapOfN(rapid.StringMatching(`[a-z0-9][a-z0-9_.-]{0,8}`), rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r >= 0x20 })), 0, 4).Draw(t, "attrs"),
		Salt:    dag.Salt(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "salt")),
	}
})

// TestBodyForm holds AppendBody, ParseBody and DigestBody against the definition.
func TestBodyForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := anyBody.Draw(t, "body")
		if err := body.Check(); err != nil {
			t.Fatal(err)
		}
		text := slice.AppendBody(nil, &body)
		if want := canonical(t, object{"attrs": body.Attrs, "author": body.Author, "content": body.Content}); string(text) != want {
			t.Fatalf("got %s, want %s", text, want)
		}
		got, err := slice.ParseBody(text)
		got.Salt = body.Salt
		if diff := cmp.Diff(body, got); diff != "" || err != nil {
			t.Fatalf("%v, -want +got:\n%s", err, diff)
		}
		mac := hmac.New(sha256.New, body.Salt[:])
		mac.Write(text)
		if got := slice.DigestBody(text, body.Salt); !bytes.Equal(got[:], mac.Sum(nil)) {
			t.Fatalf("digest: got %s", got)
		}
		turn := dag.Turn{ID: dag.TurnID{1}, Conversation: dag.ConversationID{1}, Role: dag.RoleUser, Phase: dag.Planning}
		encoded, err := slice.EncodeTurn(&turn, text, body.Salt)
		if err != nil {
			t.Fatal(err)
		}
		want := canonical(t, object{
			"attrs": body.Attrs, "author": body.Author, "content": body.Content, "salt": body.Salt.String(), "body_digest": turn.BodyDigest.String(),
			"conversation": turn.Conversation.String(), "created_at": turn.CreatedAt.String(), "id": turn.ID.String(), "phase": "planning", "role": "user", "salience": 0,
		})
		if got := "{" + string(encoded) + "}"; got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func TestParseBodyRefuses(t *testing.T) {
	const good = `{"attrs":{"a":"b"},"author":"x","content":"é"}`
	if b, err := slice.ParseBody([]byte(good)); err != nil || b.Salt != (dag.Salt{}) {
		t.Fatalf("got %+v, %v", b, err)
	}
	for _, s := range []string{
		``, `null`, `[]`, good + "\n", " " + good, `{"author":"x","attrs":{"a":"b"},"content":"é"}`, `{"attrs":{"a":"b"},"author":"x","content":"\u00e9"}`,
		`{"attrs":{"a":"b"},"author":"x"}`, `{"author":"x","content":""}`, `{"attrs":{},"content":""}`, `{"attrs":{"a":1},"author":"x","content":""}`, `{"attrs":{"A":""},"author":"x","content":""}`,
		`{"attrs":{},"author":"é","content":""}`, `{"attrs":{},"author":"x","content":"","salt":""}`, `{"attrs":[],"author":"x","content":""}`, `{"attrs":{},"author":null,"content":""}`,
		`{"attrs":{"b":"","a":""},"author":"","content":""}`, `{"attrs":{"a":"","a":""},"author":"","content":""}`,
	} {
		if b, err := slice.ParseBody([]byte(s)); err == nil {
			t.Errorf("%s is accepted: %+v", s, b)
		}
	}
}

func TestEncodeTurnRefuses(t *testing.T) {
	turn := dag.Turn{ID: dag.TurnID{1}}
	for _, s := range []string{``, `{`, `{"attrs":{},"author":""}`, `{"attrs":{},"content":""}`, `{"author":"","content":""}`} {
		if got, err := slice.EncodeTurn(&turn, []byte(s), dag.Salt{}); err == nil || got != nil {
			t.Errorf("%q gives %q, %v", s, got, err)
		}
	}
}

func TestProvenanceCheck(t *testing.T) {
	w, anchor, p := meeting(t)
	s, _ := w.bundle(t, anchor, p, authority(t))
	good := s.Provenance
	if text, err := good.Canonical(); err != nil || strings.Count(text, "|") != 6 {
		t.Fatalf("got %q, %v", text, err)
	}
	for name, change := range map[string]func(*slice.Provenance){
		"no slice id":        func(p *slice.Provenance) { p.SliceID = "" },
		"slice id, capital":  func(p *slice.Provenance) { p.SliceID = "CD98F7BA78B64CE3" },
		"slice id, short":    func(p *slice.Provenance) { p.SliceID = p.SliceID[1:] },
		"slice id with |":    func(p *slice.Provenance) { p.SliceID = "cd98f7ba78b64ce|" },
		"no anchor":          func(p *slice.Provenance) { p.Anchor = dag.TurnID{} },
		"no policy id":       func(p *slice.Provenance) { p.PolicyID = "" },
		"policy id with |":   func(p *slice.Provenance) { p.PolicyID = "a|b@1" },
		"policy id, no @":    func(p *slice.Provenance) { p.PolicyID = "a" },
		"no schema version":  func(p *slice.Provenance) { p.SchemaVersion = "" },
		"version without gk": func(p *slice.Provenance) { p.SchemaVersion = "p/1" },
		"version 01":         func(p *slice.Provenance) { p.SchemaVersion = "gkp/01" },
		"version with |":     func(p *slice.Provenance) { p.SchemaVersion = "gkp/1|" },
		"version, line feed": func(p *slice.Provenance) { p.SchemaVersion = "gkp/1\n" },
		"all":                func(p *slice.Provenance) { *p = slice.Provenance{} },
	} {
		bad := good
		change(&bad)
		if text, err := bad.Canonical(); err == nil || text != "" {
			t.Errorf("%s: got %q, %v", name, text, err)
		}
	}
}

func TestParseVia(t *testing.T) {
	for n := range 256 {
		want := ""
		if n >= 1 && n <= 6 {
			want = []string{"", "anchor", "parent", "child", "sibling", "prompt", "touch"}[n]
			if got, err := slice.ParseVia(want); err != nil || int(got) != n {
				t.Errorf("%q: got %d, %v", want, got, err)
			}
		}
		if got := slice.Via(n).String(); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
	for _, s := range []string{"", "Anchor", "anchor ", "parents", "none"} {
		if _, err := slice.ParseVia(s); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%q: got %v, want ErrForm", s, err)
		}
	}
}

func TestDiffer(t *testing.T) {
	w, anchor, p := meeting(t)
	_, data := w.bundle(t, anchor, p, authority(t))
	if d := slice.Differ(data, slices.Clone(data)); d != nil {
		t.Errorf("equal bundles differ: %+v", d)
	}
	for _, tc := range []struct{ old, new, path, expected, found string }{
		{`"as_of":4`, `"as_of":5`, "as_of", `4,"edges"`, `5,"edges"`},
		{`The harbour?`, `The station?`, "turns[0].content", `harbour?"`, `station?"`},
		{`"kind":"reply"`, `"kind":"merge"`, "edges[0].kind", `reply"`, `merge"`},
		{`"lang":"en"`, `"lang":"de"`, "turns[2].attrs.lang", `en"`, `de"`},
		{`"salience_weight":0.3`, `"salience_weight":0.4`, "policy.salience_weight", `3,"type"`, `4,"type"`},
	} {
		found := bytes.Replace(data, []byte(tc.old), []byte(tc.new), 1)
		d := slice.Differ(data, found)
		if d == nil || d.Path != tc.path || !strings.HasPrefix(d.Expected, tc.expected) || !strings.HasPrefix(d.Found, tc.found) || data[d.Offset] == found[d.Offset] {
			t.Errorf("%s: got %+v", tc.new, d)
		}
	}
	if d := slice.Differ(data, data[:100]); d == nil || d.Offset != 100 || d.Found != "" || d.Expected == "" {
		t.Errorf("a prefix: got %+v", d)
	}
	if d := slice.Differ(data[:100], data); d == nil || d.Offset != 100 || d.Expected != "" || d.Path != "" {
		t.Errorf("of a prefix: got %+v", d)
	}
	if d := slice.Differ([]byte("x"), []byte("y")); d == nil || d.Path != "" || d.Offset != 0 {
		t.Errorf("no bundles: got %+v", d)
	}
	if d := slice.Differ(nil, nil); d != nil {
		t.Errorf("nothing: got %+v", d)
	}
}

// TestParseBundleRefuses spells a good bundle in other ways and leaves things
// out. Each is malformed, and the place is named.
func TestParseBundleRefuses(t *testing.T) {
	w, anchor, p := meeting(t)
	_, good := w.bundle(t, anchor, p, authority(t), w.turns[0].ID)
	if _, err := slice.ParseBundle(good); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, old, new, place string }{
		{"a line end", `]}`, "]}\n", ""},
		{"white space", `"as_of":4`, `"as_of": 4`, ""},
		{"an escape", `harbour`, `\u0068arbour`, "not the canonical spelling"},
		{"an escaped letter", `Café`, `Caf\u00e9`, ""},
		{"an escaped solidus", `"gkp/1"`, `"gkp\/1"`, ""},
		{"1.0 for 1", `"synthesis":1}`, `"synthesis":1.0}`, ""},
		{"0.90 for 0.9", `"planning":0.9`, `"planning":0.90`, ""},
		{"an exponent", `"salience":0.8`, `"salience":8e-1`, "turns[1].salience"},
		{"salience above 1", `"salience":0.8`, `"salience":1.8`, "turns[1].salience"},
		{"seven digits", `0.123457`, `0.1234571`, "turns[0].salience"},
		{"as_of, a decimal", `"as_of":4`, `"as_of":4.0`, "as_of"},
		{"as_of, negative", `"as_of":4`, `"as_of":-4`, "as_of"},
		{"as_of, 2^53", `"as_of":4`, `"as_of":9007199254740992`, "as_of"},
		{"as_of, a string", `"as_of":4`, `"as_of":"4"`, "as_of"},
		{"another order", `"anchor":"a7d3e2f0-1c44-4e0a-9f0b-3d5f6e8a9b02","as_of":4`, `"as_of":4,"anchor":"a7d3e2f0-1c44-4e0a-9f0b-3d5f6e8a9b02"`, ""},
		{"a capital id", `"anchor":"a7d3`, `"anchor":"A7d3`, "anchor"},
		{"the nil id", `"anchor":"a7d3e2f0-1c44-4e0a-9f0b-3d5f6e8a9b02"`, `"anchor":"00000000-0000-0000-0000-000000000000"`, "anchor"},
		{"a missing member", `"key_id":"k1",`, ``, `"key_id" is missing`},
		{"an unknown member", `"key_id"`, `"key":1,"key_id"`, `unknown field "key"`},
		{"an unknown member of a turn", `"redacted":true`, `"read":1,"redacted":true`, `turns[1]: unknown field "read"`},
		{"an unknown member of an edge", `"kind":"reply"`, `"kind":"reply","mind":1`, `edges[0]: unknown field "mind"`},
		{"an unknown member of an admission", `"distance":1`, `"distance":1,"exact":1`, `turns[1].admission: unknown field "exact"`},
		{"an unknown member of the provenance", `"policy_id"`, `"policies":1,"policy_id"`, `provenance: unknown field "policies"`},
		{"an unknown member of the policy", `"max_nodes"`, `"max_modes":1,"max_nodes"`, `policy: unknown field "max_modes"`},
		{"a missing parameter", `"max_nodes":3,`, ``, `"max_nodes" is missing`},
		{"a repeated member", `"key_id":"k1"`, `"key_id":"k1","key_id":"k1"`, "repeated"},
		{"null", `"key_id":"k1"`, `"key_id":null`, "key_id"},
		{"redacted false", `"redacted":true`, `"redacted":false`, "turns[1].redacted"},
		{"redacted with a body", `"redacted":true`, `"content":"x","redacted":true`, `turns[1]: unknown field "content"`},
		{"a body without salt", `,"salt":"a0b1c2d3e4f5061728394a5b6c7d8e9f"`, ``, `turns[0]: "salt" is missing`},
		{"a body without attrs", `"attrs":{},`, ``, `turns[0]: "attrs" is missing`},
		{"attrs, a number", `"lang":"en"`, `"lang":1`, "turns[2].attrs.lang"},
		{"attrs, a bad key", `"lang":"en"`, `"Lang":"en"`, "turns[2]"},
		{"a bad author", `"author":"agent:guide"`, `"author":"agent:gu\u007fde"`, "turns[0]"},
		{"a bad role", `"role":"user"`, `"role":"User"`, "turns[1].role"},
		{"a bad phase", `"phase":"planning"`, `"phase":"plan"`, "turns[1].phase"},
		{"a bad kind", `"kind":"reply"`, `"kind":"answer"`, "edges[0].kind"},
		{"a bad way", `"via":"parent"`, `"via":"aunt"`, "turns[1].admission.via"},
		{"from on the anchor", `"score_nano":896296300`, `"from":"4b1f0c7e-52a1-4d0b-8c55-0a6c1b9e7a01","score_nano":896296300`, "turns[2].admission.from"},
		{"no from", `"from":"a7d3e2f0-1c44-4e0a-9f0b-3d5f6e8a9b02",`, ``, `turns[0].admission: "from" is missing`},
		{"an empty from", `"from":"a7d3e2f0-1c44-4e0a-9f0b-3d5f6e8a9b02"`, `"from":""`, "turns[0].admission.from"},
		{"a score above 1", `"score_nano":896296300`, `"score_nano":1000000001`, "turns[2].admission.score_nano"},
		{"a distance above 64", `"distance":1`, `"distance":65`, "turns[1].admission.distance"},
		{"a short token", `"token":"8d`, `"token":"8`, "token"},
		{"a capital token", `"token":"8d`, `"token":"8D`, "token"},
		{"a bad tenant", `"tenant":"default"`, `"tenant":"Default"`, "tenant"},
		{"a bad key id", `"key_id":"k1"`, `"key_id":"k_1"`, "key_id"},
		{"a bad slice id", `"slice_id":"cd98f7ba78b64ce3"`, `"slice_id":"cd98f7ba78b64ce"`, "provenance.slice_id"},
		{"a bad policy id", `"policy_id":"meeting@1"`, `"policy_id":"meeting"`, "provenance.policy_id"},
		{"an offset", `09:00:05.000001Z`, `10:00:05.000001+01:00`, "turns[0].created_at"},
		{"five digits", `09:00:00.000000Z`, `09:00:00.00000Z`, "turns[1].created_at"},
		{"max_nodes 0", `"max_nodes":3`, `"max_nodes":0`, "max_nodes"},
		{"turns, an object", `"turns":[`, `"turns":{"a":[`, ""},
		{"order, a number", `"order":["4b1f0c7e-52a1-4d0b-8c55-0a6c1b9e7a01"`, `"order":[1`, "order[0]"},
		{"a NUL behind it", `]}`, "]}\x00", ""},
	} {
		at := bytes.Index(good, []byte(tc.old))
		if strings.HasPrefix(tc.old, "]}") {
			at = len(good) - 2
		}
		if at < 0 {
			t.Fatalf("%s: %q is not in the bundle", tc.name, tc.old)
		}
		bad := slices.Concat(good[:at], []byte(tc.new), good[at+len(tc.old):])
		b, err := slice.ParseBundle(bad)
		if !errors.Is(err, slice.ErrMalformed) || !strings.Contains(err.Error(), tc.place) || b != nil {
			t.Errorf("%s: got %v, want ErrMalformed naming %q", tc.name, err, tc.place)
		}
	}
	for _, s := range []string{``, `{}`, `[]`, `null`, `"x"`, `1`, `{"provenance":{"schema_version":1}}`, `{"provenance":5,"policy":[]}`} {
		if b, err := slice.ParseBundle([]byte(s)); !errors.Is(err, slice.ErrMalformed) || b != nil {
			t.Errorf("%q: got %v, want ErrMalformed", s, err)
		}
	}
}

// TestParseAnswers holds that an answer of the kernel is told apart from evidence that is damaged.
func TestParseAnswers(t *testing.T) {
	if _, err := slice.ParseBundle([]byte(`{"provenance":{},"turns":[]}`)); !errors.Is(err, slice.ErrMalformed) || strings.Contains(err.Error(), "answer") {
		t.Errorf("evidence without its token: %v", err)
	}
	for _, tc := range []struct{ answer, says string }{
		{`{"context_id":"c884aaa10ee43120","text":"# Context"}`, `it has "context_id", "text" and no "provenance"`},
		{`{"facts":[],"total":0}`, `it has "facts", "total" and no "provenance"`},
		{`{"provenance":{},"verdict":"verified"}`, `it has "provenance", "verdict" and no "token"`},
		{`{}`, `it has no members and no "provenance"`},
		{"# Context\n", "it is not a JSON object"},
	} {
		_, err := slice.ParseBundle([]byte(tc.answer))
		if !errors.Is(err, slice.ErrMalformed) || !strings.Contains(err.Error(), tc.says+": an answer is not its evidence; ask with format bundle") {
			t.Errorf("%s: %v", tc.answer, err)
		}
	}
}

// TestParseBundleVersion holds that a later version is told apart, whatever else
// it holds.
func TestParseBundleVersion(t *testing.T) {
	w, anchor, p := meeting(t)
	_, good := w.bundle(t, anchor, p, authority(t))
	for _, s := range []string{
		strings.Replace(string(good), `"gkp/1"`, `"gkp/2"`, 1), strings.Replace(string(good), `"gkp/1"`, `"gkp/3"`, 1), strings.Replace(string(good), `"gkp/1"`, `""`, 1), strings.Replace(string(good), `"gkp/1"`, `"GKP/1"`, 1),
		strings.Replace(string(good), `slice_policy_v1`, `slice_policy_v2`, 1), `{"provenance":{"schema_version":"gkp/9"}}`, ` {"more":1,"policy":{"type":"x"}}`,
	} {
		if b, err := slice.ParseBundle([]byte(s)); !errors.Is(err, slice.ErrVersion) || b != nil {
			t.Errorf("%.60q: got %v, want ErrVersion", s, err)
		}
	}
	if _, err := slice.ParseBundle([]byte(`{"provenance":{"schema_version":"gkp/9"}} x`)); errors.Is(err, slice.ErrVersion) || !errors.Is(err, slice.ErrMalformed) {
		t.Errorf("no JSON: got %v, want ErrMalformed", err)
	}
}

func FuzzParseBundle(f *testing.F) {
	w, anchor, p := meeting(f)
	_, data := w.bundle(f, anchor, p, authority(f))
	f.Add(data)
	_, data = w.bundle(f, anchor, p, authority(f), w.turns[0].ID)
	f.Add(data)
	f.Add(bytes.Replace(data, []byte("gkp/1"), []byte("gkp/2"), 1))
	f.Add(bytes.Replace(data, []byte(`0.9`), []byte(`0.90`), 1))
	f.Add(bytes.Replace(data, []byte(`"edges":[{`), []byte(`"edges":[{},{`), 1))
	w, anchor, params := rigged()
	_, data = w.bundle(f, anchor, bind(f, "rigged@1", params), authority(f))
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := slice.ParseBundle(data)
		if err != nil {
			if b != nil || !errors.Is(err, slice.ErrMalformed) && !errors.Is(err, slice.ErrVersion) {
				t.Fatalf("got %v, %v", b, err)
			}
			return
		}
		if again := b.Append(nil); !bytes.Equal(again, data) {
			t.Fatalf("written again it differs: %+v", slice.Differ(data, again))
		}
		want := []slice.CheckID{slice.CheckBodies, slice.CheckCanonicalOrder, slice.CheckEdges, slice.CheckAdmissions, slice.CheckOrder, slice.CheckPolicyHash, slice.CheckSnapshot, slice.CheckSliceID}
		checks := b.Check()
		for i, c := range checks {
			if len(checks) != len(want) || c.ID != want[i] || c.Status != slice.StatusOK && c.Status != slice.StatusFail {
				t.Fatalf("checks: %+v", checks)
			}
		}
	})
}
