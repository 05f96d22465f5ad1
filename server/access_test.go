package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/token"
)

// permitted is the matrix, written out: the operations that each role may use.
var permitted = map[access.Role]string{
	access.Verifier: "getCheckpoint getTile getConsistency getLogKeys verifyToken verifyBundle attestBundle convertBundle getCaller",
	access.Agent: "convertBundle getCaller resolveTurn getCheckpoint getTile getConsistency getLogKeys admitTurns cutSlice cutSlices cutFacts proveBelief verifyToken verifyBundle attestBundle listPolicies getPolicy getStanding " +
		"learnFact learnFacts retractFacts listFacts factHistory traverseKnowledge findPaths knowledgeChanges knowledgeStats drawKnowledge listAliases searchTurns enrichHits assembleContext reportNotGiven listSpaces proposeBeliefs remember listMemories forget explainMemory memoryHistory memoryLinks getBeliefBase explainBelief beliefImpact diffBeliefs listItems beliefConflicts resolveKref tagKref linkKref beliefRules useBelief putWorking listWorking getWorking consolidateWorking clearWorking",
	access.Auditor: "convertBundle getCaller resolveTurn listTurns lookUpTurns previewSlice explainCut explainContext attestBundle getBundle getEvidence getCheckpoint getTile getEntries getProof getConsistency getLogKeys getTurn listFolders listConversations getConversation listSlices listErasures turnHolding atlasSnapshot atlasOverlap atlasInfluence atlasCommunities atlasManifest blameTurn getSlice replaySlice explainTurn streamEvents " +
		"verifyToken verifyBundle listPolicies getPolicy getStanding listStandings " +
		"listFacts factHistory traverseKnowledge findPaths knowledgeChanges knowledgeStats drawKnowledge listAliases searchTurns enrichHits assembleContext reportNotGiven listSpaces listMemories explainMemory memoryHistory memoryLinks getBeliefBase explainBelief beliefImpact diffBeliefs listItems beliefConflicts resolveKref beliefRules listWorking getWorking",
	access.Admin: "convertBundle getCaller resolveTurn listTurns lookUpTurns previewSlice explainCut explainContext listKeys createKey revokeKey attestBundle getBundle getEvidence getCheckpoint getTile getEntries getProof getConsistency getLogKeys admitTurns getTurn eraseTurn eraseTask listHeldBack releaseTurns listFolders listConversations getConversation cutSlice cutSlices verifyToken verifyBundle " +
		"listSlices listErasures turnHolding atlasSnapshot atlasOverlap atlasInfluence atlasCommunities atlasManifest blameTurn getSlice replaySlice explainTurn listPolicies registerPolicy getPolicy getStanding listStandings setStanding streamEvents " +
		"learnFact learnFacts retractFacts addAliases removeAlias listFacts factHistory traverseKnowledge findPaths knowledgeChanges knowledgeStats drawKnowledge listAliases searchTurns enrichHits assembleContext reportNotGiven cutFacts proveBelief " +
		"setSpace listSpaces reviseBeliefs contractBeliefs expandBeliefs proposeBeliefs remember listMemories forget acceptMemory explainMemory memoryHistory memoryLinks getBeliefBase explainBelief beliefImpact diffBeliefs listItems beliefConflicts resolveKref tagKref deprecateItem restoreItem linkKref promoteBeliefs cascadeBeliefs resolveConflict beliefRules useBelief putWorking listWorking getWorking consolidateWorking clearWorking exportPersona importPersona decayBeliefs abstractBeliefs archiveBeliefs unarchiveBeliefs",
}

// questions returns a good request for every operation that needs a key.
func (s *service) questions(slice string, bundle []byte) map[string]question {
	var context api.Context
	s.expect(200, question{op: "assembleContext", key: s.admin(), body: api.ContextRequest{Task: "turn", AsOf: 1}}).decode(s.t, &context) // before the turn that is erased
	var gone api.Context                                                                                                                  // its task is erased
	s.expect(200, question{op: "assembleContext", key: s.admin(), body: api.ContextRequest{Task: "turn to erase", AsOf: 1}}).decode(s.t, &gone)
	copied := turn(61) // of turn 60, whose text was erased
	copied["content"], copied["created_at"], copied["role"] = turn(60)["content"], turn(60)["created_at"], turn(60)["role"]
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{turn(60)}}})
	s.expect(200, question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(60)}, body: api.ErasureRequest{Reason: "asked for"}})
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{copied}}})
	said := []api.BeliefStatement{{Subject: "a", Predicate: "is", Object: "b"}}
	const item = "kref://acme/s/made.fact"
	var conflict api.BeliefOutcome
	s.expect(200, question{op: "setSpace", key: s.admin(), body: api.NewSpace{Space: "acme/s"}})
	s.expect(200, question{op: "reviseBeliefs", key: s.admin(), body: api.BeliefRequest{Space: "acme/s", Item: item, Statements: said}})
	s.expect(200, question{op: "reviseBeliefs", key: s.admin(), body: api.BeliefRequest{Space: "acme/s", Item: "kref://acme/s/other.fact", Statements: []api.BeliefStatement{{Subject: "c", Predicate: "is", Object: "d"}}}})
	for _, o := range []struct {
		op     string
		object string
		turns  []dag.TurnID
	}{{"reviseBeliefs", "e", []dag.TurnID{mustTurn(s.t, 1)}}, {"proposeBeliefs", "f", nil}} {
		s.expect(200, question{op: o.op, key: s.admin(), body: api.BeliefRequest{Space: "acme/s", Turns: o.turns, Statements: []api.BeliefStatement{{Subject: "e", Predicate: "is", Object: "e", Not: o.object == "f"}}}}).decode(s.t, &conflict)
	}
	var proposed api.Remembered
	s.expect(200, question{op: "remember", key: s.keys[tenantA][access.Agent], body: api.NewMemory{Text: "The pump is loud.", Project: "acme/s"}}).decode(s.t, &proposed)
	var persona api.Persona
	if a := s.ask(question{op: "exportPersona", key: s.admin(), body: api.PersonaRequest{Space: "acme/s"}}); a.status == 200 { // without an identity there is none
		a.decode(s.t, &persona)
	}
	return map[string]question{
		"remember":           {body: api.NewMemory{Text: "The lamp is red.", Project: "acme/s"}},
		"listMemories":       {query: values("words", "lamp")},
		"forget":             {body: api.OldMemory{ID: proposed.ID, DryRun: true}},
		"acceptMemory":       {body: api.OldMemory{ID: item}},
		"explainMemory":      {query: values("id", item)},
		"memoryHistory":      {query: values("id", item)},
		"memoryLinks":        {query: values("id", item)},
		"setSpace":           {body: api.NewSpace{Space: "acme/s"}},
		"listSpaces":         {},
		"reviseBeliefs":      {body: api.BeliefRequest{Space: "acme/s", Item: item, Statements: said}},
		"contractBeliefs":    {body: api.BeliefRequest{Space: "acme/s", Statements: []api.BeliefStatement{{Subject: "a", Predicate: "is", Object: "c"}}}},
		"expandBeliefs":      {body: api.BeliefRequest{Space: "acme/s", Item: item, Statements: said}},
		"proposeBeliefs":     {body: api.BeliefRequest{Space: "acme/s", Item: item, Statements: said}},
		"getBeliefBase":      {query: values("space", "acme/s")},
		"explainBelief":      {query: url.Values{"space": {"acme/s"}, "subject": {"a"}, "predicate": {"is"}, "object": {"b"}}},
		"proveBelief":        {body: map[string]any{"space": "acme/s", "subject": "a", "predicate": "is", "object": "b"}},
		"beliefImpact":       {query: values("ref", item)},
		"diffBeliefs":        {query: url.Values{"space": {"acme/s"}, "from": {"1"}}},
		"listItems":          {query: values("space", "acme/s")},
		"beliefConflicts":    {query: values("space", "acme/s")},
		"resolveKref":        {query: values("ref", item)},
		"tagKref":            {body: api.NewTag{Ref: item, Tag: "mine", Revision: 1}},
		"deprecateItem":      {body: api.Deprecation{Ref: "kref://acme/s/other.fact"}},
		"restoreItem":        {body: api.Deprecation{Ref: item}},
		"linkKref":           {body: api.NewLink{From: item + "?r=1", Type: "referenced", To: item + "?r=1"}},
		"promoteBeliefs":     {body: api.PromotionRequest{Space: "acme/s"}},
		"cascadeBeliefs":     {body: api.CascadeRequest{Space: "acme/s"}},
		"resolveConflict":    {body: api.ConflictResolution{Space: "acme/s", Conflict: conflict.Seq, How: "dropped", DryRun: true}},
		"beliefRules":        {query: values("space", "acme/s")},
		"useBelief":          {body: api.BeliefUse{Ref: item + "?r=1", Success: true}},
		"admitTurns":         {body: map[string]any{"turns": []any{turn(1)}}},
		"getTurn":            {path: map[string]string{"id": turnID(1)}},
		"eraseTurn":          {path: map[string]string{"id": turnID(50)}, body: api.ErasureRequest{Reason: "asked for"}},
		"eraseTask":          {path: map[string]string{"slice_id": string(gone.ContextID)}, body: api.ErasureRequest{Reason: "asked for"}},
		"listErasures":       {query: values("turn", turnID(1))},
		"listHeldBack":       {},
		"releaseTurns":       {body: map[string]any{"ids": []string{turnID(61)}}},
		"listTurns":          {query: values("conversation", conversationID(1))},
		"lookUpTurns":        {body: map[string]any{"ids": []string{turnID(1), turnID(49)}}},
		"resolveTurn":        {query: values("name", turnID(1))},
		"previewSlice":       {body: api.Cutting{Anchor: turnID(1)}},
		"searchTurns":        {body: api.Search{Query: "turn"}},
		"enrichHits":         {body: map[string]any{"hits": []any{map[string]any{"turn": turnID(1), "score": 1}}}},
		"assembleContext":    {body: api.ContextRequest{Task: "turn"}},
		"explainCut":         {body: map[string]string{"anchor": turnID(2), "turn": turnID(1)}},
		"convertBundle":      {body: bundle, query: values("to", "prov")},
		"getCaller":          {},
		"listKeys":           {},
		"createKey":          {body: api.NewAPIKey{Role: "auditor"}},
		"revokeKey":          {path: map[string]string{"id": s.spare}},
		"listFolders":        {},
		"getStanding":        {},
		"listStandings":      {query: values("conversation", conversationID(1))},
		"setStanding":        {body: api.NewStanding{PolicyID: "standing-team@1", DryRun: true}},
		"listConversations":  {},
		"getConversation":    {path: map[string]string{"id": conversationID(1)}},
		"cutSlice":           {body: api.SliceRequest{Anchor: turnID(1)}},
		"cutSlices":          {body: api.SliceRequests{Requests: []api.SliceRequest{{Anchor: turnID(1)}}}},
		"verifyToken":        {body: claimOf(s.t, bundle)},
		"verifyBundle":       {body: bundle},
		"attestBundle":       {body: bundle},
		"getBundle":          {path: map[string]string{"slice_id": slice}},
		"reportNotGiven":     {path: map[string]string{"context_id": string(context.ContextID)}, body: map[string]string{"bundle_sha256": context.BundleSHA256.String(), "reason": "x"}},
		"explainContext":     {path: map[string]string{"context_id": string(context.ContextID)}, body: map[string]string{"turn": turnID(1)}},
		"getEvidence":        {path: map[string]string{"slice_id": slice}},
		"getCheckpoint":      {},
		"getTile":            {path: map[string]string{"tile": "0/000.p/1"}},
		"getEntries":         {path: map[string]string{"entries": "000.p/1"}},
		"getProof":           {query: url.Values{"index": {"0"}}},
		"getConsistency":     {query: url.Values{"from": {"1"}, "to": {"2"}}},
		"getLogKeys":         {},
		"listSlices":         {},
		"turnHolding":        {path: map[string]string{"id": turnID(1)}},
		"getSlice":           {path: map[string]string{"slice_id": slice}},
		"replaySlice":        {path: map[string]string{"slice_id": slice}},
		"explainTurn":        {path: map[string]string{"slice_id": slice}, body: map[string]string{"turn": turnID(1)}},
		"listPolicies":       {},
		"registerPolicy":     {body: `{"policy_id":"p@1","policy":{"type":"slice_policy_v1","max_nodes":2,"max_radius":4,"phase_weights":{"synthesis":1,"planning":0.9,"consolidation":0.6,"debugging":0.5,"exploration":0.3},"salience_weight":0.3,"distance_decay":0.9,"include_siblings":true,"max_siblings":2}}`},
		"getPolicy":          {path: map[string]string{"policy_id": "default@1"}},
		"listFacts":          {query: values("entity", "ada")},
		"learnFact":          {body: triple("ada", "wrote", "note g")},
		"learnFacts":         {body: api.Knowledge{Facts: []api.NewFact{triple("ada", "wrote", "letters")}}},
		"retractFacts":       {query: values("subject", "nobody")},
		"factHistory":        {path: map[string]string{"statement": s.known}},
		"traverseKnowledge":  {body: api.TraverseRequest{Start: []string{"ada"}}},
		"cutFacts":           {body: api.FactSliceRequest{Start: []string{"ada"}}},
		"findPaths":          {query: values("from", "ada", "to", "babbage")},
		"knowledgeChanges":   {},
		"knowledgeStats":     {},
		"drawKnowledge":      {query: values("entity", "ada")},
		"listAliases":        {},
		"atlasSnapshot":      {},
		"atlasOverlap":       {},
		"atlasInfluence":     {},
		"atlasCommunities":   {},
		"atlasManifest":      {},
		"blameTurn":          {path: map[string]string{"id": turnID(2)}},
		"addAliases":         {body: map[string]any{"aliases": []api.Alias{{Alias: "countess", Canonical: "ada"}}}},
		"removeAlias":        {path: map[string]string{"alias": "countess"}},
		"putWorking":         {path: map[string]string{"session": "run-1"}, body: map[string]any{"messages": []api.NewMessage{{Role: dag.RoleUser, Author: "human:ada", Content: "a thing", Key: "k"}}}},
		"listWorking":        {},
		"getWorking":         {path: map[string]string{"session": "run-1"}},
		"consolidateWorking": {path: map[string]string{"session": "run-2"}, body: "{}"},
		"clearWorking":       {path: map[string]string{"session": "run-1"}},
		"exportPersona":      {body: api.PersonaRequest{Space: "acme/s"}},
		"importPersona":      {body: api.PersonaImport{Space: "acme/s", Envelope: persona.Envelope, Signers: []string{s.identity.Attestations(tenantA)[0].Key.String()}, DryRun: true}},
		"decayBeliefs":       {body: api.DecayRequest{Space: "acme/s"}},
		"abstractBeliefs":    {body: api.AbstractionRequest{Space: "acme/s", From: []string{item}, Statements: []api.BeliefStatement{{Subject: "all", Predicate: "are", Object: "b"}}, DryRun: true}},
		"archiveBeliefs":     {body: api.ArchiveRequest{Space: "acme/s"}},
		"unarchiveBeliefs":   {body: api.UnarchiveRequest{Document: `{"form":"gkarchive/1","space":"acme/s","tenant":"` + string(tenantA) + `"}` + "\n"}},
	}
}

func TestRoles(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 3)
	apart := turn(50) // to be erased, and in no slice
	apart["conversation"] = conversationID(2)
	s.expect(200, question{op: "admitTurns", key: s.admin(), body: map[string]any{"turns": []any{apart}}})
	bundle, id := s.cut(s.admin(), 3)
	s.known = s.learn(s.admin(), triple("ada", "knew", "babbage")).Statement.String()
	_, spare, err := s.kernel.Keys().Create(t.Context(), tenantA, access.Verifier, "")
	if err != nil {
		t.Fatal(err)
	}
	s.spare = spare.ID
	questions := s.questions(id, bundle)
	allowed, refused := 0, 0
	for _, item := range s.doc.Paths.Map() {
		for _, op := range item.Operations() {
			if op.Security != nil || op.OperationID == "streamEvents" {
				continue // open to everybody, or in TestEvents
			}
			q, ok := questions[op.OperationID]
			if !ok {
				t.Errorf("no request for %s", op.OperationID)
				continue
			}
			q.op = op.OperationID
			if p := s.refused(401, "unauthenticated", q); strings.Contains(p.Detail, "gk1") {
				t.Error(p.Detail)
			}
			for _, role := range access.Roles {
				q.key = s.keys[tenantA][role]
				if q.op == "reportNotGiven" && role != access.Verifier { // the caller who asked for the context
					q.path, q.body = s.notGiven(q.key)
				}
				if strings.Contains(" "+permitted[role]+" ", " "+q.op+" ") {
					s.expect(200, q)
					allowed++
				} else {
					s.refused(403, "forbidden", q)
					refused++
				}
			}
		}
	}
	// Entries of the ledger are read, also under the name of a tile.
	for role, want := range map[access.Role]int{access.Verifier: 403, access.Agent: 403, access.Auditor: 200, access.Admin: 200} {
		a := s.ask(question{op: "getTile", key: s.keys[tenantA][role], path: map[string]string{"tile": "entries/000.p/1"}})
		if a.status != want {
			t.Errorf("%s: a tile of entries answers %d, want %d", role, a.status, want)
		}
	}
	for _, role := range access.Roles {
		want := strings.Contains(permitted[role], "streamEvents")
		r := s.stream(t.Context(), s.keys[tenantA][role], "0")
		if (r.StatusCode == 200) != want || !want && r.StatusCode != 403 {
			t.Errorf("%s: the stream of events answers %d", role, r.StatusCode)
		}
		_ = r.Body.Close()
	}
	if allowed != 9+57+66+110 || refused != 4*110-allowed {
		t.Errorf("%d allowed, %d refused", allowed, refused)
	}
}

// notGiven has a context made for a session, and returns what reports that it was not given.
func (s *service) notGiven(key string) (path, body map[string]string) {
	s.t.Helper()
	var made api.Context
	s.expect(200, question{op: "assembleContext", key: key, body: api.ContextRequest{Task: "turn", AsOf: 1, Recipient: &api.Recipient{Agent: "a", Session: "s", Event: "e"}}}).decode(s.t, &made)
	return map[string]string{"context_id": string(made.ContextID)}, map[string]string{"bundle_sha256": made.BundleSHA256.String(), "reason": "the pipe was closed"}
}

// stream opens a stream of events.
func (s *service) stream(ctx context.Context, key, last string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/events", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	response, err := s.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return response
}

// TestTenants returns two tenants turns of the same ids and makes sure that nothing of
// one is seen, or verified, by the other.
func TestTenants(t *testing.T) {
	s := start(t)
	a, b := s.keys[tenantA], s.keys[tenantB]
	s.chain(a[access.Admin], 5)
	other := turn(1)
	other["content"] = "bravo's own words"
	s.expect(200, question{op: "admitTurns", key: b[access.Admin], body: map[string]any{"turns": []any{other, turn(2, 1)}}})

	bundleA, sliceA := s.cut(a[access.Admin], 5)
	bundleB, sliceB := s.cut(b[access.Admin], 2)
	if bytes.Contains(bundleA, []byte("bravo")) || !bytes.Contains(bundleB, []byte("bravo's own words")) {
		t.Fatal("the tenants' turns are mixed")
	}
	var verdict api.BundleVerdict
	s.expect(200, question{op: "verifyBundle", key: a[access.Verifier], body: bundleB}).decode(t, &verdict)
	if verdict.Admissible || verdict.Outcome != "key_unknown" {
		t.Errorf("another tenant's bundle: got %+v", verdict)
	}
	// Whether the token is good is not told.
	forged := bytes.Replace(bundleB, []byte(`"token":"`+claimOf(t, bundleB).Token), []byte(`"token":"`+strings.Repeat("0", 32)), 1)
	var verdictForged api.BundleVerdict
	s.expect(200, question{op: "verifyBundle", key: a[access.Verifier], body: forged}).decode(t, &verdictForged)
	verdict.BundleSHA256, verdictForged.BundleSHA256 = dag.Digest{}, dag.Digest{}
	if verdict.Reason != verdictForged.Reason || verdict.Outcome != verdictForged.Outcome || len(verdict.Checks) != len(verdictForged.Checks) {
		t.Errorf("a good token and a forged one of another tenant differ:\n%+v\n%+v", verdict, verdictForged)
	}
	var v api.TokenVerdict
	s.expect(200, question{op: "verifyToken", key: a[access.Verifier], body: claimOf(t, bundleB)}).decode(t, &v)
	if v.Admissible || v.Outcome != "tampered" {
		t.Errorf("another tenant's token: got %+v", v)
	}
	for _, q := range []question{
		{op: "getTurn", path: map[string]string{"id": turnID(5)}},
		{op: "getSlice", path: map[string]string{"slice_id": sliceA}},
		{op: "replaySlice", path: map[string]string{"slice_id": sliceA}},
		{op: "replaySlice", path: map[string]string{"slice_id": sliceA}, body: bundleA},
		{op: "explainTurn", path: map[string]string{"slice_id": sliceA}, body: map[string]string{"turn": turnID(1)}},
		{op: "explainContext", path: map[string]string{"context_id": sliceA}, body: map[string]string{"fact": strings.Repeat("0", 64)}},
		{op: "reportNotGiven", path: map[string]string{"context_id": sliceA}, body: map[string]string{"bundle_sha256": strings.Repeat("0", 64), "reason": "x"}},
		{op: "getBundle", path: map[string]string{"slice_id": sliceA}},
		{op: "cutSlice", body: api.SliceRequest{Anchor: turnID(5)}},
		{op: "eraseTurn", path: map[string]string{"id": turnID(5)}, body: api.ErasureRequest{Reason: "x"}},
		{op: "eraseTask", path: map[string]string{"slice_id": sliceA}, body: api.ErasureRequest{Reason: "x"}},
		{op: "releaseTurns", body: map[string]any{"ids": []string{turnID(61)}}},
	} {
		q.key = b[access.Admin]
		p := s.refused(404, "not_found", q)
		// The same answer as for what nobody has, except for the name that was asked for.
		if strings.Contains(p.Detail, string(tenantA)) || p.Turn != (dag.TurnID{}) || p.Candidates != nil {
			t.Errorf("%s tells of the other tenant: %+v", q.op, p)
		}
	}
	var records api.Slices
	s.expect(200, question{op: "listSlices", key: b[access.Auditor]}).decode(t, &records)
	if len(records.Slices) != 1 || string(records.Slices[0].SliceID) != sliceB {
		t.Errorf("got %+v", records)
	}
	var conversations api.Conversations
	s.expect(200, question{op: "listConversations", key: b[access.Auditor]}).decode(t, &conversations)
	if len(conversations.Conversations) != 1 || conversations.Conversations[0].Turns != 2 {
		t.Errorf("got %+v", conversations)
	}
	policy := s.questions(sliceA, bundleA)["registerPolicy"]
	policy.op, policy.key = "registerPolicy", a[access.Admin]
	s.expect(200, policy)
	s.refused(404, "unknown_policy", question{op: "getPolicy", key: b[access.Admin], path: map[string]string{"policy_id": "p@1"}})
	s.refused(404, "unknown_policy", question{op: "cutSlice", key: b[access.Admin], body: api.SliceRequest{Anchor: turnID(2), Policy: "p@1"}})
	// The same id may mean other parameters there.
	policy.key, policy.body = b[access.Admin], strings.Replace(policy.body.(string), `"max_nodes":2`, `"max_nodes":3`, 1)
	s.expect(200, policy)
}

// TestKeys tries what is no key, and a key that is revoked while it is used.
func TestKeys(t *testing.T) {
	s := start(t)
	good := s.keys[tenantA][access.Agent]
	id := strings.Split(good, ".")[2]
	q := question{op: "listPolicies"}
	var first api.Problem
	for i, bad := range []string{
		good[:len(good)-1] + string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", good[len(good)-1])+1)%16]),
		strings.Replace(good, "acme", "bravo", 1), strings.Replace(good, "acme", "nobody", 1), strings.Replace(good, id, "0000000000000000", 1),
		"gk1", "gk1...", "x", good + "0", strings.ToUpper(good), strings.Repeat("a", 5_000), "gk1.acme." + id + ".", good + " " + good,
	} {
		q.header = map[string]string{"Authorization": "Bearer " + bad}
		p := s.refused(401, "unauthenticated", q)
		p.RequestID = ""
		if i == 0 {
			first = p
		} else if p.Detail != first.Detail {
			t.Errorf("%.80q is told apart: %s, and %s", bad, p.Detail, first.Detail)
		}
	}
	for _, header := range []string{"Basic " + good, good, "Bearer", "Bearer ", "bearer  ", "Bearer\t" + good} {
		q.header = map[string]string{"Authorization": header}
		s.refused(401, "unauthenticated", q)
	}
	q.header = map[string]string{"Authorization": "bearer " + good} // the scheme has no case
	s.expect(200, q)

	text, key, err := s.kernel.Keys().Create(t.Context(), tenantA, access.Agent, "")
	if err != nil {
		t.Fatal(err)
	}
	q = question{op: "listPolicies", key: text}
	s.expect(200, q)
	if _, err := s.kernel.Keys().Revoke(t.Context(), tenantA, key.ID); err != nil {
		t.Fatal(err)
	}
	s.refused(401, "unauthenticated", q)
	if log := s.log.String(); strings.Contains(log, good) || strings.Contains(log, text) || strings.Contains(log, strings.Split(good, ".")[3]) {
		t.Error("the log holds a key")
	}
}

// TestRotation rotates and retires while everybody verifies: a token of the old key
// holds until the retirement, and fails on every path in every call that begins after.
func TestRotation(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 4)
	bundle, id := s.cut(s.admin(), 4)
	claim := claimOf(t, bundle)
	withoutKey := claim
	withoutKey.KeyID = ""
	paths := []question{
		{op: "verifyToken", body: claim}, {op: "verifyToken", body: withoutKey}, {op: "verifyBundle", body: bundle},
	}
	var retiring, retired atomic.Bool
	var wrong, right, refused atomic.Int64
	var wg sync.WaitGroup
	done := make(chan struct{})
	for i := range 12 {
		q := paths[i%len(paths)]
		q.key = s.keys[tenantA][access.Verifier]
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				after := retired.Load()
				var v struct {
					Admissible bool   `json:"admissible"`
					Outcome    string `json:"outcome"`
				}
				a := s.ask(q)
				before := !retiring.Load()
				if err := json.Unmarshal(a.body, &v); err != nil || a.status != 200 {
					t.Errorf("%d %s", a.status, a.body)
					return
				}
				switch {
				case after && v.Admissible, before && !v.Admissible:
					wrong.Add(1)
				case after:
					refused.Add(1)
				case before:
					right.Add(1)
				}
			}
		})
	}
	until := func(n *atomic.Int64, least int64) {
		for n.Load() < least && wrong.Load() == 0 && !t.Failed() {
		}
	}
	until(&right, 100)
	ring := s.authority.Keyring()
	secret, err := token.NewSecret(bytes.Repeat([]byte{9}, token.MinSecret))
	if err != nil {
		t.Fatal(err)
	}
	if ring, err = ring.Rotate("k2", secret, 2); err != nil {
		t.Fatal(err)
	}
	s.authority.Replace(ring)
	until(&right, 300)
	retiring.Store(true)
	if ring, err = ring.Retire("k1", 3); err != nil {
		t.Fatal(err)
	}
	s.authority.Replace(ring)
	retired.Store(true)
	until(&refused, 100)
	close(done)
	wg.Wait()
	if wrong.Load() > 0 {
		t.Fatalf("%d verdicts were wrong; %d right before, %d refused after", wrong.Load(), right.Load(), refused.Load())
	}
	var r api.Replay
	s.expect(200, question{op: "replaySlice", key: s.admin(), path: map[string]string{"slice_id": id}, body: bundle}).decode(t, &r)
	if r.Outcome != "identical" {
		t.Errorf("a retired key's slice does not replay: %+v", r)
	}
	for _, c := range r.Checks {
		if c.ID == "token" && c.Status != "skipped" && c.Status != "fail" {
			t.Errorf("the token's check: %+v", c)
		}
	}
	fresh, _ := s.cut(s.admin(), 4)
	var v api.BundleVerdict
	s.expect(200, question{op: "verifyBundle", key: s.admin(), body: fresh}).decode(t, &v)
	if !v.Admissible || v.KeyID != "k2" {
		t.Errorf("got %+v", v)
	}
}

// TestTraces makes sure that anyone who is not known has no say in what is traced, and
// that anyone who is has.
func TestTraces(t *testing.T) {
	exported := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exported), sdk.WithSampler(sdk.ParentBased(sdk.NeverSample())))
	s := start(t, func(c *server.Config) { c.Tracer = provider })
	header := map[string]string{"Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
	s.refused(401, "unauthenticated", question{op: "listPolicies", key: "nobody", header: header})
	s.expect(200, question{op: "live", header: header})
	if spans := exported.GetSpans(); len(spans) > 0 {
		t.Errorf("%d spans of strangers", len(spans))
	}
	s.expect(200, question{op: "listPolicies", key: s.admin()})
	s.expect(200, question{op: "listPolicies", key: s.admin(), header: header})
	s.expect(200, question{op: "live"}) // on the same connection, so the span before it has ended
	spans := exported.GetSpans()
	if len(spans) != 1 || spans[0].Name != "listPolicies" || spans[0].Parent.SpanID().String() != "b7ad6b7169203331" {
		t.Errorf("got %+v", spans)
	}
}

// TestNoKey asks a service whose ring is empty.
func TestNoKey(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 2)
	s.authority.Replace(token.Keyring{})
	s.refused(503, "no_signing_key", question{op: "cutSlice", key: s.admin(), body: api.SliceRequest{Anchor: turnID(1)}})
	s.expect(503, question{op: "ready"})
}

// TestReadings holds that each answer with what a tenant holds is a line of the log, of the tenants that ask for it, and nothing else is.
func TestReadings(t *testing.T) {
	s := start(t, func(c *server.Config) { c.Readings = []dag.Tenant{tenantA} })
	for _, tenant := range []dag.Tenant{tenantA, tenantB} {
		for op, want := range map[string]bool{"listTurns": true, "listConversations": true, "listFacts": true, "listPolicies": false, "getCaller": false, "listKeys": false} {
			before := strings.Count(s.log.String(), `"msg":"reading"`)
			if got := s.ask(question{op: op, key: s.keys[tenant][access.Admin]}); got.status != http.StatusOK {
				t.Fatalf("%s: %d", op, got.status)
			}
			if lines := strings.Count(s.log.String(), `"msg":"reading"`) - before; (lines == 1) != (want && tenant == tenantA) {
				t.Errorf("%s by %s: %d lines", op, tenant, lines)
			}
		}
	}
	before := strings.Count(s.log.String(), `"msg":"reading"`)
	s.ask(question{op: "listTurns", key: s.keys[tenantA][access.Verifier]})
	if strings.Count(s.log.String(), `"msg":"reading"`) != before {
		t.Error("a refused reading is recorded as one")
	}
}
