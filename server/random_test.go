package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
)

// A generator draws requests from the contract: what it describes, with values that
// exist as often as not, and then things that it does not describe.
type generator struct {
	*rand.Rand
	known map[string][]string // by the name of a schema
}

func oneOf[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

// odd are values that have no business anywhere.
func (g *generator) odd() any {
	return oneOf[any](g, nil, true, -1, 0, 1.5, 1e300, "", "x", "\x00", "\u202e", "🙂", strings.Repeat("long ", 2000), []any{}, map[string]any{}, []any{nil}, "0b5e", "null", "../..", "%00")
}

func (g *generator) value(ref *openapi3.SchemaRef, depth int) any {
	if g.IntN(40) == 0 {
		return g.odd()
	}
	name := strings.TrimPrefix(ref.Ref, "#/components/schemas/")
	if list := g.known[name]; len(list) > 0 && g.IntN(4) > 0 {
		return oneOf(g, list...)
	}
	if name == "Turn" && g.IntN(2) == 0 { // drawn field by field, most are refused
		n := 100 + g.IntN(300)
		return turn(n, g.IntN(40)+1)
	}
	s := ref.Value
	if len(s.Enum) > 0 {
		return oneOf(g, s.Enum...)
	}
	if s.Const != nil {
		return s.Const
	}
	if len(s.OneOf) > 0 {
		return g.value(oneOf(g, s.OneOf...), depth)
	}
	switch {
	case s.Type == nil || depth > 6:
		return g.odd()
	case s.Type.Is("object"):
		return g.object(s, depth)
	case s.Type.Is("array"):
		most := 3
		if g.IntN(30) == 0 {
			most = 120
		}
		list := make([]any, g.IntN(most+1))
		for i := range list {
			list[i] = g.value(s.Items, depth+1)
		}
		return list
	case s.Type.Is("boolean"):
		return g.IntN(2) == 0
	case s.Type.Is("integer"):
		if s.Min != nil && s.Max != nil && g.IntN(12) > 0 {
			return int(*s.Min) + g.IntN(int(min(*s.Max-*s.Min, 50))+1)
		}
		return oneOf[int64](g, 0, 1, 2, 5, 100, -1, 1<<40, 1<<53-1, 1<<53)
	case s.Type.Is("number"):
		if g.IntN(12) > 0 {
			return oneOf[any](g, 0, 1, 0.5, 0.999999, 0.3)
		}
		return oneOf[any](g, 1.5, -0.1, json.Number("0.1234567"))
	}
	return g.text(s)
}

func (g *generator) object(s *openapi3.Schema, depth int) map[string]any {
	o := map[string]any{}
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, field) && g.IntN(50) > 0 || g.IntN(3) == 0 {
			o[field] = g.value(s.Properties[field], depth+1)
		}
	}
	if s.AdditionalProperties.Schema != nil {
		for range g.IntN(3) {
			o[oneOf(g, "external_id", "k", "", "a.b")] = g.value(s.AdditionalProperties.Schema, depth+1)
		}
	}
	if g.IntN(40) == 0 {
		o[oneOf(g, "extra", "id ", "ID", "__proto__")] = g.odd()
	}
	return o
}

func (g *generator) text(s *openapi3.Schema) string {
	hex := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte("0123456789abcdef"[g.IntN(16)])
		}
		return b.String()
	}
	switch {
	case strings.Contains(s.Pattern, "{12}"):
		return hex(8) + "-" + hex(4) + "-" + hex(4) + "-" + hex(4) + "-" + hex(12)
	case strings.Contains(s.Pattern, "{64}"):
		return hex(64)
	case strings.Contains(s.Pattern, "{32}"):
		return hex(32)
	case strings.Contains(s.Pattern, "{16}$"):
		return hex(16)
	case strings.Contains(s.Pattern, "@"):
		return "p" + hex(2) + "@" + fmt.Sprint(g.IntN(3)+1)
	}
	return oneOf(g, "hello", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456+02:00", "9999-12-31T23:59:59Z", "1969-01-01T00:00:00Z", "human:guest", "🙂 ünï", "line\nline", "\u2028")
}

// A described operation is one of the contract, with its path.
type described struct {
	op   *openapi3.Operation
	item *openapi3.PathItem
}

// drawn lists the operations of which requests can be drawn.
func (s *service) drawn() (all []described) {
	for _, name := range slices.Sorted(maps.Keys(s.doc.Paths.Map())) {
		item := s.doc.Paths.Value(name)
		ops := item.Operations()
		for _, method := range slices.Sorted(maps.Keys(ops)) {
			if op := ops[method]; op.OperationID != "streamEvents" && op.OperationID != "metrics" && op.OperationID != "addCheckpoint" {
				all = append(all, described{op, item})
			}
		}
	}
	return all
}

// request draws a request for an operation.
func (g *generator) request(s *service, op *openapi3.Operation, item *openapi3.PathItem) question {
	q := question{op: op.OperationID, path: map[string]string{}, query: url.Values{}, header: map[string]string{}}
	text := func(ref *openapi3.SchemaRef) string {
		if v := g.value(ref, 3); g.IntN(30) > 0 {
			return fmt.Sprint(v)
		}
		return oneOf(g, "..", "%", "a/b", " ", "é", strings.Repeat("9", 400))
	}
	for _, p := range slices.Concat(item.Parameters, op.Parameters) {
		switch {
		case p.Value.Name == "tenant" && g.IntN(3) > 0:
			q.path["tenant"] = string(tenantA)
		case p.Value.In == "path":
			if q.path[p.Value.Name] = text(p.Value.Schema); q.path[p.Value.Name] == "" {
				q.path[p.Value.Name] = "-"
			}
		case p.Value.In == "query" && (g.IntN(3) == 0 || p.Value.Required && g.IntN(4) > 0):
			q.query.Set(p.Value.Name, text(p.Value.Schema))
		}
	}
	if g.IntN(60) == 0 {
		q.query.Set("unknown", "1")
	}
	if body := op.RequestBody; body != nil && (body.Value.Required && g.IntN(50) > 0 || g.IntN(2) == 0) {
		media := oneOf(g, slices.Sorted(maps.Keys(body.Value.Content))...)
		drawn, err := json.Marshal(g.value(body.Value.Content[media].Schema, 0))
		if err != nil {
			s.t.Fatal(err)
		}
		if q.media = media; g.IntN(40) == 0 {
			q.media = oneOf(g, "text/plain", "", "application/xml")
		}
		if g.IntN(25) == 0 && len(drawn) > 0 {
			drawn[g.IntN(len(drawn))] = byte(g.IntN(256))
		}
		q.body = drawn
	}
	if g.IntN(20) > 0 {
		q.key = s.keys[oneOf(g, tenantA, tenantA, tenantB)][oneOf(g, access.Admin, access.Admin, access.Admin, access.Agent, access.Auditor, access.Verifier)]
	}
	return q
}

// TestRandom makes ten thousand requests drawn from the contract, and up to five thousand more of each operation that was
// hardly tried. None may fail on our side, and every answer must be what the contract says.
func TestRandom(t *testing.T) {
	s := start(t, publicly(tenantA))
	s.chain(s.admin(), 40)
	bundle, id := s.cut(s.admin(), 20)
	statement := s.learn(s.admin(), triple("ada", "wrote", "note g")).Statement
	context := func() string {
		made := s.expect(200, question{op: "assembleContext", key: s.admin(), body: api.ContextRequest{Task: "note g", Format: "bundle"}})
		return made.header.Get("Slice-Id")
	}
	known := context()
	s.expect(200, question{op: "setSpace", key: s.admin(), body: api.NewSpace{Space: "acme/s"}})
	s.expect(200, question{op: "setSpace", key: s.admin(), body: api.NewSpace{Space: "acme/undrawn"}}) // whose items no request drawn ends
	for _, item := range []string{"kref://acme/s/made.fact", "kref://acme/undrawn/made.fact"} {
		space := path.Dir(strings.TrimPrefix(item, "kref://"))
		s.expect(200, question{op: "reviseBeliefs", key: s.admin(), body: api.BeliefRequest{Space: belief.Space(space), Item: belief.Item(item), Statements: []api.BeliefStatement{{Subject: "ada", Predicate: "knew", Object: "babbage"}}}})
	}
	head, err := s.kernel.Turns().Head(t.Context(), tenantA)
	if err != nil {
		t.Fatal(err)
	}
	rests := api.BeliefRequest{Space: "acme/s", Turns: []dag.TurnID{mustTurn(t, 1)}, Statements: []api.BeliefStatement{{Subject: "pump", Predicate: "is", Object: "on"}}}
	s.expect(200, question{op: "reviseBeliefs", key: s.admin(), body: rests})
	rests.Turns, rests.Statements[0].Not = nil, true
	var waits api.BeliefOutcome
	for range 5 { // one of which is drawn in a third of the cases; what is taken or dropped waits no longer
		if s.expect(200, question{op: "proposeBeliefs", key: s.admin(), body: rests}).decode(t, &waits); waits.Outcome != "refused" || waits.Seq == 0 {
			t.Fatalf("%+v", waits)
		}
	}
	_, spare, err := s.kernel.Keys().Create(t.Context(), tenantA, access.Verifier, "")
	if err != nil {
		t.Fatal(err)
	}
	copied := turn(51) // of the text of an erased turn, so it is held back
	copied["content"], copied["created_at"], copied["role"] = turn(50)["content"], turn(50)["created_at"], turn(50)["role"]
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(50)}}})
	s.expect(200, question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(50)}, body: api.ErasureRequest{Reason: "asked for"}})
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{copied}}})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 3)), known: map[string][]string{
		"AnyUUID":  {turnID(1), strings.ToUpper(turnID(2)), turnID(40), conversationID(1)},
		"UUID":     {turnID(1), turnID(2), turnID(20), turnID(40), conversationID(1)},
		"TurnName": {turnID(1), turnID(20), turnID(39), "0b5e0000-0000-4000-8000-00000000001"},
		"SliceID":  {id, known}, "AnySliceID": {id, strings.ToUpper(id), known}, "KeyID": {spare.ID}, "PolicyID": {"default@1", "pab@1"},
		"Time": {"2026-01-02T03:04:05Z"}, "Tile": {"0/000.p/1", "entries/000.p/2", "0/000.p/255", "1/000.p/1", "63/000", "0/x001/000"}, "TileIndex": {"000.p/1", "000.p/2", "001"},
		"LogSize":     {"0", "1", "2", "3", "100"},
		"Name":        {"ada", "Ada", "babbage", "note g", "wrote", "knew", "countess", "???", "C#", "\"];x["},
		"Decimal":     {"0", "0.5", "1", "1.0", "0.999999"},
		"Source":      {"user", "api", "llm:m"},
		"BeliefSpace": {"acme/s", "acme/s", "acme/other"}, "ItemAddress": {"kref://acme/s/made.fact", "kref://acme/s/other.fact"}, "ItemKind": {"fact", "hard_rule"},
		"Kref": {"kref://acme/s/made.fact", "kref://acme/s/made.fact?r=1", "kref://acme/s/made.fact?t=mine"}, "TagName": {"mine", "current", "depends_on"},
		"VKey": {s.identity.Attestations(tenantA)[0].Key.String()}, "BeliefSource": {"manual", "llm:m"}, "LinkTarget": {"kref://acme/s/made.fact?r=1", "turn:" + turnID(1)},
		"Digest": {statement.String()}, "AnyDigest": {statement.String(), strings.ToUpper(statement.String())},
	}}
	all := s.drawn()
	var persona api.Persona
	s.expect(200, question{op: "exportPersona", key: s.admin(), body: api.PersonaRequest{Space: "acme/s"}}).decode(t, &persona)
	whole := map[string]any{ // of which hardly anything can be drawn member by member
		"setStanding":      api.NewStanding{PolicyID: "standing-team@1", Retroactive: true},
		"importPersona":    api.PersonaImport{Space: "acme/s", Envelope: persona.Envelope, Signers: []string{s.identity.Attestations(tenantA)[0].Key.String()}},
		"forget":           api.OldMemory{ID: "kref://acme/s/made.fact", DryRun: true},
		"acceptMemory":     api.OldMemory{ID: "kref://acme/s/made.fact"},
		"unarchiveBeliefs": api.UnarchiveRequest{Document: `{"form":"gkarchive/1","space":"acme/s","tenant":"` + string(tenantA) + `"}` + "\n"},
		"releaseTurns":     api.TurnIDs{IDs: []dag.TurnID{mustTurn(t, 51)}},
		"abstractBeliefs":  api.AbstractionRequest{Space: "acme/undrawn", From: []string{"kref://acme/undrawn/made.fact"}, Statements: []api.BeliefStatement{{Subject: "people", Predicate: "know", Object: "people"}}, Specificity: 400_000},
	}
	statuses := map[string]map[int]int{}
	tried := func(op *openapi3.Operation) bool { // and not always refused for the same
		least := 3
		if len(op.Parameters) == 0 && op.RequestBody == nil { // every role may ask it, and nothing of it can be wrong but the key
			least = 2
		}
		got := statuses[op.OperationID]
		return got[200] > 0 && (op.Security != nil || len(got) >= least)
	}
	n := 0
	ask := func(d described) {
		n++
		q := g.request(s, d.op, d.item)
		if (q.op == "verifyBundle" || q.op == "attestBundle" || q.op == "convertBundle") && g.IntN(3) == 0 {
			q.body, q.media = bundle, "application/json"
		}
		if q.op == "resolveConflict" && g.IntN(3) == 0 {
			q.body = api.ConflictResolution{Space: "acme/s", Conflict: waits.Seq, How: oneOf(g, "taken", "dropped", "deferred"), DryRun: true}
		}
		if q.op == "proveBelief" && g.IntN(3) == 0 { // as of when it was believed, whatever gave way since
			q.body = api.BeliefProofRequest{Space: "acme/s", BeliefStatement: api.BeliefStatement{Subject: "ada", Predicate: "knew", Object: "babbage"}, AsOf: head}
		}
		if good, ok := whole[q.op]; ok && g.IntN(3) == 0 {
			q.body = good
		}
		if q.op == "explainContext" && g.IntN(3) == 0 { // an erasure may have come since the one that is known
			q.path["context_id"] = context()
		}
		if q.op == "reportNotGiven" && g.IntN(3) == 0 {
			q.path, q.body = s.notGiven(s.admin())
			q.key = s.admin()
		}
		a := s.ask(q)
		if statuses[q.op] == nil {
			statuses[q.op] = map[int]int{}
		}
		statuses[q.op][a.status]++
		if a.status >= 500 || t.Failed() {
			t.Fatalf("request %d of seed %d: %+v\n%s\ngot %d %s", n, seed, q, q.body, a.status, a.body)
		}
	}
	for range 10_000 {
		ask(all[n%len(all)])
	}
	for _, d := range all {
		for more := 0; !tried(d.op) && more < 5_000; more++ {
			ask(d)
		}
	}
	for _, d := range all {
		if !tried(d.op) {
			t.Errorf("%s never succeeded, or was hardly tried: %v", d.op.OperationID, statuses[d.op.OperationID])
		}
	}
	if strings.Contains(s.log.String(), "panic") {
		t.Error("a handler panicked")
	}
}
