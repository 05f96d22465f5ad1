package facts_test

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // UUIDv5
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/token"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A world is facts in memory: a knowledge.Graph, and what a slice of it needs.
type world struct{ acts []knowledge.Recorded }

func (w *world) learn(subject, predicate, object string, confidence dag.PPM, turn int) {
	f := must(knowledge.NewFact(subject, predicate, object, "user"))
	f.Confidence = confidence
	if turn > 0 {
		f.Turn = dag.ExternalTurnID("test", fmt.Sprint(turn))
	}
	act := knowledge.Act{Kind: knowledge.Assert, Fact: f}
	w.acts = append(w.acts, knowledge.Recorded{Seq: dag.Seq(len(w.acts) + 1), Act: act, Leaf: act.Leaf(), Until: dag.MaxSeq})
}

// Edges returns all edges that are asked for, in their order.
func (w *world) Edges(_ context.Context, asks []knowledge.Ask) ([]knowledge.Run, error) {
	lists := make([][]knowledge.Edge, len(asks))
	for i := range asks {
		for j := range w.acts {
			v, _ := w.acts[j].Version()
			if e := (knowledge.Edge{Version: v, Incoming: asks[i].Incoming}); asks[i].Of(&v) && asks[i].After.Before(&e) {
				lists[i] = append(lists[i], e)
			}
		}
		slices.SortFunc(lists[i], func(a, b knowledge.Edge) int { return a.Compare(&b) })
		lists[i] = lists[i][:min(len(lists[i]), asks[i].Limit)]
	}
	return knowledge.Runs(asks, lists), nil
}

func (w *world) known(aliases *normalize.Table) facts.Known {
	known := facts.Known{Aliases: aliases, Acts: map[dag.Seq]*knowledge.Recorded{}, Leaves: map[dag.TurnID]dag.Digest{}}
	for i := range w.acts {
		r := &w.acts[i]
		known.Acts[r.Seq] = r
		if turn := r.Act.Fact.Turn; turn != (dag.TurnID{}) {
			known.Leaves[turn] = sha256.Sum256(turn[:])
		}
	}
	return known
}

// notes is a small world with ties, an alias, a cycle, evidence, a time and more than a policy
// lets in.
func notes() (*world, *normalize.Table) {
	w := &world{}
	w.learn("Ada Lovelace", "wrote", "Note G", 900_000, 1)
	w.learn("Countess of Lovelace", "lived in", "London", 800_000, 2)
	w.learn("Note G", "is about", "Bernoulli numbers", 900_000, 1)
	w.learn("Charles Babbage", "knew", "Ada Lovelace", 900_000, 0)
	w.learn("Charles Babbage", "designed", "Analytical Engine", 1_000_000, 3)
	w.learn("Note G", "describes", "Analytical Engine", 700_000, 1)
	w.learn("London", "is in", "England", 1_000_000, 0)
	w.learn("Œuvres", "edited by", "Ada Lovelace", 500_000, 4)
	w.learn("Charles Babbage", "born in", "Walworth", 600_000, 0)
	until := w.acts[6].Act.Fact
	until.From = 5
	w.acts[6].Act.Fact = until
	w.acts[6].Leaf = w.acts[6].Act.Leaf()
	aliases, _, err := (*normalize.Table)(nil).With(normalize.Change{Alias: "Countess of Lovelace", Canonical: "Ada Lovelace"})
	if err != nil {
		panic(err)
	}
	return w, aliases
}

func (w *world) cut(aliases *normalize.Table, p facts.Policy, validAt *dag.Time, start ...string) (*facts.Bundle, error) {
	q := facts.Question{Start: start, ValidAt: validAt}
	asOf := dag.Seq(len(w.acts))
	answer, err := knowledge.Traverse(context.Background(), w, aliases, q.Query(&p, asOf))
	if err != nil {
		return nil, err
	}
	return facts.Cut(q, must(policy.Bind("p@1", p)), asOf, &answer, w.known(aliases))
}

func ring() token.Keyring {
	return must(token.Keyring{}.Rotate("k1", must(token.ParseSecret(hex.EncodeToString(bytes.Repeat([]byte{7}, 32)))), 0))
}

// sample is a sealed bundle with all that bundles can hold but the cut.
func sample(t testing.TB) (*facts.Bundle, *token.Authority) {
	t.Helper()
	w, aliases := notes()
	at := dag.Time(9)
	b := must(w.cut(aliases, facts.DefaultPolicy(), &at, "countess-of-lovelace"))
	if len(b.Facts) != 8 || len(b.Reached) != 8 || len(b.Evidence) != 4 || len(b.Aliases) != 1 || b.Cut != knowledge.Whole {
		t.Fatalf("the sample is %+v", b)
	}
	return b, seal(b)
}

func seal(b *facts.Bundle) *token.Authority {
	a := token.NewAuthority(ring())
	b.Seal = must(a.SealProvenance("default", &b.Provenance))
	return a
}

// object and slowJSON write canonical JSON in another way than the program does: names are
// made of letters that need no escape.
type object map[string]any

func slowJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// slowRoot is the Merkle tree hash as RFC 6962, section 2.1, defines it.
func slowRoot(leaves [][]byte) []byte {
	if len(leaves) == 1 {
		sum := sha256.Sum256(append([]byte{0}, leaves[0]...))
		return sum[:]
	}
	k := 1
	for 2*k < len(leaves) {
		k *= 2
	}
	sum := sha256.Sum256(slices.Concat([]byte{1}, slowRoot(leaves[:k]), slowRoot(leaves[k:])))
	return sum[:]
}

// TestFingerprints computes the six fields from a bundle's JSON by the text of the package
// comment alone.
func TestFingerprints(t *testing.T) {
	w, aliases := notes()
	at := dag.Time(9)
	cut := 0
	for _, results := range []int{1, 3, 100} {
		for _, validAt := range []*dag.Time{nil, &at} {
			p := facts.DefaultPolicy()
			p.MaxResults, p.MinConfidence = results, 500_000
			b := must(w.cut(aliases, p, validAt, "note-g", "countess-of-lovelace"))
			if b.Cut == knowledge.CutResults {
				cut++
			}
			seal(b)
			var doc object
			d := json.NewDecoder(bytes.NewReader(b.Append(nil)))
			d.UseNumber()
			if err := d.Decode(&doc); err != nil {
				t.Fatal(err)
			}
			var leaves [][]byte
			var statements []any
			for _, f := range doc["facts"].([]any) {
				fact := f.(map[string]any)
				public := object{"digest": fmt.Sprintf("%x", sha256.Sum256(slowJSON(f))), "type": "fact/2"}
				if turn, ok := fact["turn"]; ok {
					public["turn"] = turn
				}
				leaves = append(leaves, slowJSON(public))
				statement := object{"subject": fact["subject"], "predicate": fact["predicate"], "object": fact["object"], "type": "statement/1"}
				for _, key := range []string{"valid_from", "valid_until"} {
					if v, ok := fact[key]; ok {
						statement[key] = v
					}
				}
				statements = append(statements, fmt.Sprintf("%x", sha256.Sum256(slowJSON(statement))))
			}
			for _, e := range doc["evidence"].([]any) {
				turn := e.(map[string]any)
				leaves = append(leaves, slowJSON(object{"leaf": turn["leaf"], "turn": turn["turn"], "type": "evidence"}))
			}
			pairs := []any{}
			for _, a := range doc["aliases"].([]any) {
				pair := a.(map[string]any)
				pairs = append(pairs, []any{pair["alias"], pair["canonical"]})
			}
			leaves = append(leaves, slowJSON(object{"aliases": pairs, "type": "aliases"}))
			question := object{"type": "question"}
			for key, v := range doc["question"].(map[string]any) {
				question[key] = v
			}
			leaves = append(leaves, slowJSON(question))
			rows := []any{}
			for _, r := range doc["reached"].([]any) {
				reached, steps := r.(map[string]any), []any{}
				for _, s := range reached["path"].([]any) {
					step := s.(map[string]any)
					steps = append(steps, []any{step["fact"], step["incoming"] == true, step["entity"]})
				}
				low := must(dag.ParsePPM(reached["min_confidence"].(json.Number).String()))
				rows = append(rows, []any{reached["entity"], reached["from"], uint32(low), steps})
			}
			reached := object{"reached": rows, "type": "reached"}
			if v, ok := doc["cut"]; ok {
				reached["cut"] = v
			}
			leaves = append(leaves, slowJSON(reached))

			uuid := sha1.Sum(slices.Concat([]byte("\x6b\xa7\xb8\x11\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8"), []byte("graphkernel:/question/"), slowJSON(question)))
			uuid[6], uuid[8] = uuid[6]&0x0f|0x50, uuid[8]&0x3f|0x80
			anchor := fmt.Sprintf("%x-%x-%x-%x-%x", uuid[:4], uuid[4:6], uuid[6:8], uuid[8:10], uuid[10:16])
			params := fmt.Sprintf("%x", sha256.Sum256(slowJSON(object{
				"direction": "both", "max_hops": 3, "max_results": results, "min_confidence_ppm": 500_000, "predicates": []string{}, "type": "fact_policy_v1",
			})))
			name := slowJSON(object{"anchor": anchor, "facts": statements, "policy_id": "p@1", "policy_params_hash": params, "schema_version": "gkf/2"})
			want := object{
				"anchor_turn_id": anchor, "graph_snapshot_hash": fmt.Sprintf("%x", slowRoot(leaves)), "policy_id": "p@1", "policy_params_hash": params,
				"schema_version": "gkf/2", "slice_id": fmt.Sprintf("%016x", xxhash.Sum64(name)),
			}
			if got := slowJSON(doc["provenance"]); string(got) != string(slowJSON(want)) {
				t.Errorf("got  %s\nwant %s", got, slowJSON(want))
			}
		}
	}
	if cut == 0 {
		t.Error("nothing was cut")
	}
}

// TestEveryByte changes each byte of a bundle to several others: it is evidence no more,
// unless the number changed that the token does not cover.
func TestEveryByte(t *testing.T) {
	b, a := sample(t)
	data := b.Append(nil)
	v := token.NewVerifier(a)
	if evidence, verdict := v.VerifyFacts(data); !evidence.OK() {
		t.Fatalf("%+v", verdict)
	}
	number := bytes.Index(data, []byte(`"as_of":`)) + len(`"as_of":`)
	tried := 0
	for i := range data {
		for _, other := range []byte{data[i] ^ 1, data[i] ^ 0x20, '0', 'a', '"', ','} {
			if other == data[i] || i == number && '0' <= other && other <= '9' {
				continue
			}
			changed := bytes.Clone(data)
			changed[i] = other
			tried++
			if evidence, verdict := v.VerifyFacts(changed); evidence.OK() || verdict.Outcome == token.Verified || len(evidence.Bytes()) != 0 {
				t.Fatalf("byte %d: %q for %q is admissible", i, other, data[i])
			}
		}
		short := slices.Delete(bytes.Clone(data), i, i+1)
		if evidence, _ := v.VerifyFacts(short); evidence.OK() && i != number {
			t.Fatalf("without byte %d it is admissible", i)
		}
	}
	if tried < 5*len(data) {
		t.Errorf("%d changes of %d bytes", tried, len(data))
	}
	b.AsOf++
	if evidence, _ := v.VerifyFacts(b.Append(nil)); !evidence.OK() {
		t.Error("the number is covered by the token")
	}
}

func byStatement(x, y knowledge.Act) int {
	i, j := x.Fact.ID(), y.Fact.ID()
	return bytes.Compare(i[:], j[:])
}

// TestForged changes what a bundle says and makes the header agree, as somebody could who has
// the key: the check that is about it fails.
func TestForged(t *testing.T) {
	shift := func(list []facts.Reached, i int) []facts.Reached {
		list[i], list[i+1] = list[i+1], list[i]
		return list
	}
	other := knowledge.Act{Kind: knowledge.Assert, Fact: must(knowledge.NewFact("nobody", "knows", "anything", "user"))}
	for name, tc := range map[string]struct {
		change func(b *facts.Bundle)
		fails  slice.CheckID
	}{
		"facts in another order":    {func(b *facts.Bundle) { b.Facts[0], b.Facts[1] = b.Facts[1], b.Facts[0] }, slice.CheckCanonicalOrder},
		"a fact twice":              {func(b *facts.Bundle) { b.Facts = slices.Insert(b.Facts, 0, b.Facts[0]) }, slice.CheckCanonicalOrder},
		"evidence in another order": {func(b *facts.Bundle) { b.Evidence[0], b.Evidence[1] = b.Evidence[1], b.Evidence[0] }, slice.CheckCanonicalOrder},
		"an alias twice":            {func(b *facts.Bundle) { b.Aliases = append(b.Aliases, b.Aliases[0]) }, slice.CheckCanonicalOrder},
		"a fact that leads nowhere": {func(b *facts.Bundle) {
			b.Facts = append(b.Facts, other)
			slices.SortFunc(b.Facts, byStatement)
		}, facts.CheckFacts},
		"a fact left out":        {func(b *facts.Bundle) { b.Facts = b.Facts[1:] }, facts.CheckReached},
		"a fact below the least": {func(b *facts.Bundle) { b.Policy.MinConfidence = 600_000 }, facts.CheckFacts},
		"another predicate":      {func(b *facts.Bundle) { b.Policy.Predicates = "wrote" }, facts.CheckFacts},
		"another time":           {func(b *facts.Bundle) { at := dag.Time(4); b.Question.ValidAt = &at }, facts.CheckFacts},
		"too far":                {func(b *facts.Bundle) { b.Policy.MaxHops = 1 }, facts.CheckReached},
		"too many":               {func(b *facts.Bundle) { b.Policy.MaxResults = 6 }, facts.CheckReached},
		"cut where it is not":    {func(b *facts.Bundle) { b.Cut = knowledge.CutResults }, facts.CheckReached},
		"against the direction":  {func(b *facts.Bundle) { b.Policy.Direction = knowledge.Outgoing }, facts.CheckReached},
		"along the direction":    {func(b *facts.Bundle) { b.Policy.Direction = knowledge.Incoming }, facts.CheckReached},
		"entities in another order, by the least confidence": {func(b *facts.Bundle) { b.Reached = shift(b.Reached, 6) }, facts.CheckReached},
		"entities in another order, by the edge":             {func(b *facts.Bundle) { b.Reached = shift(b.Reached, 0) }, facts.CheckReached},
		"an entity by a second way": {func(b *facts.Bundle) {
			w, _ := notes()
			act := w.acts[5].Act // Note G describes the Analytical Engine
			b.Facts = append(b.Facts, act)
			slices.SortFunc(b.Facts, byStatement)
			at := slices.IndexFunc(b.Reached, func(r facts.Reached) bool { return r.Entity == "note-g" })
			way := append(slices.Clone(b.Reached[at].Path), facts.Step{Fact: act.Fact.ID(), Entity: "analytical-engine"})
			b.Reached = slices.Insert(b.Reached, 7, facts.Reached{Entity: "analytical-engine", From: "ada-lovelace", MinConfidence: 700_000, Path: way})
		}, facts.CheckReached},
		"another start of a way":   {func(b *facts.Bundle) { b.Reached[6].From = "london" }, facts.CheckReached},
		"an entity twice":          {func(b *facts.Bundle) { b.Reached = slices.Insert(b.Reached, 1, b.Reached[0]) }, facts.CheckReached},
		"another least confidence": {func(b *facts.Bundle) { b.Reached[0].MinConfidence++ }, facts.CheckReached},
		"another start":            {func(b *facts.Bundle) { b.Reached[0].From = "london" }, facts.CheckReached},
		"another entity": {func(b *facts.Bundle) {
			b.Reached[6].Entity, b.Reached[6].Path[len(b.Reached[6].Path)-1].Entity = "mars", "mars"
		}, facts.CheckReached},
		"an entity that its path is not": {func(b *facts.Bundle) { b.Reached[6].Entity = "mars" }, facts.CheckReached},
		"a step the other way":           {func(b *facts.Bundle) { s := &b.Reached[0].Path[0]; s.Incoming = !s.Incoming }, facts.CheckReached},
		"a path along no path": {func(b *facts.Bundle) {
			b.Reached[6].Path[0].Fact = b.Facts[0].Fact.ID()
			b.Reached[6].Path[0].Incoming = true
		}, facts.CheckReached},
		"a turn that no fact names": {func(b *facts.Bundle) { b.Evidence[3].ID[0] = 0xff }, facts.CheckEvidence},
		"a turn left out":           {func(b *facts.Bundle) { b.Evidence = b.Evidence[1:] }, facts.CheckEvidence},
		"no alias":                  {func(b *facts.Bundle) { b.Aliases = nil }, facts.CheckReached},
		"an alias of nothing":       {func(b *facts.Bundle) { b.Aliases = append(b.Aliases, facts.Alias{Alias: "zz", Canonical: "z"}) }, facts.CheckAliases},
		"an alias of itself": {func(b *facts.Bundle) {
			b.Aliases = append(b.Aliases, facts.Alias{Alias: "london", Canonical: "london"})
		}, facts.CheckAliases},
		"a chain of aliases": {func(b *facts.Bundle) {
			b.Aliases = slices.Insert(b.Aliases, 0, facts.Alias{Alias: "ada-lovelace", Canonical: "countess-of-lovelace"})
		}, facts.CheckAliases},
	} {
		b, _ := sample(t)
		tc.change(b)
		// Anyone who cuts again with nothing else in mind gets the header that agrees.
		b.Provenance = facts.Fingerprint(b)
		v := token.NewVerifier(seal(b))
		evidence, verdict := v.VerifyFacts(b.Append(nil))
		failed := []slice.CheckID{}
		for _, c := range verdict.Checks {
			if c.Status == slice.StatusFail {
				failed = append(failed, c.ID)
			}
		}
		if evidence.OK() || verdict.Outcome != token.Tampered || !slices.Contains(failed, tc.fails) {
			t.Errorf("%s: %s, %v fail, want %s (%s)", name, verdict.Outcome, failed, tc.fails, verdict.Reason)
		}
		for _, id := range []slice.CheckID{facts.CheckQuestion, slice.CheckPolicyHash, slice.CheckSnapshot, slice.CheckSliceID, slice.CheckToken} {
			if slices.Contains(failed, id) {
				t.Errorf("%s: %s fails, though the header was made anew", name, id)
			}
		}
	}
}

// TestHeader changes each field of the header alone.
func TestHeader(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(p *slice.Provenance)
		fails  slice.CheckID
	}{
		"anchor":   {func(p *slice.Provenance) { p.Anchor[0]++ }, facts.CheckQuestion},
		"policy":   {func(p *slice.Provenance) { p.PolicyParamsHash[0]++ }, slice.CheckPolicyHash},
		"snapshot": {func(p *slice.Provenance) { p.GraphSnapshotHash[0]++ }, slice.CheckSnapshot},
		"slice":    {func(p *slice.Provenance) { p.SliceID = "0000000000000000" }, slice.CheckSliceID},
	} {
		b, _ := sample(t)
		tc.change(&b.Provenance)
		_, verdict := token.NewVerifier(seal(b)).VerifyFacts(b.Append(nil))
		at := slices.IndexFunc(verdict.Checks, func(c slice.Check) bool { return c.ID == tc.fails })
		if verdict.Outcome != token.Tampered || at < 0 || verdict.Checks[at].Status != slice.StatusFail {
			t.Errorf("%s: %+v", name, verdict)
		}
	}
}

func TestParse(t *testing.T) {
	b, _ := sample(t)
	data := b.Append(nil)
	if again := must(facts.Parse(data)); string(again.Append([]byte("x"))) != "x"+string(data) || !facts.Is(data) {
		t.Errorf("read and written again: %s", again.Append(nil))
	}
	replace := func(from, to string) []byte {
		if !bytes.Contains(data, []byte(from)) {
			t.Fatalf("%s is not in %s", from, data)
		}
		return bytes.Replace(data, []byte(from), []byte(to), 1)
	}
	for name, tc := range map[string]struct {
		data []byte
		want error
	}{
		"nothing":            {nil, slice.ErrMalformed},
		"no object":          {[]byte(`[]`), slice.ErrMalformed},
		"spaces":             {replace(`,"anchor"`, `, "anchor"`), slice.ErrMalformed},
		"a later version":    {replace(`"gkf/2"`, `"gkf/3"`), slice.ErrVersion},
		"the other version":  {replace(`"gkf/2"`, `"gkp/1"`), slice.ErrVersion},
		"another policy":     {replace(`"fact_policy_v1"`, `"slice_policy_v1"`), slice.ErrVersion},
		"another member":     {replace(`"token":`, `"toke":`), slice.ErrMalformed},
		"a false incoming":   {replace(`"incoming":true`, `"incoming":false`), slice.ErrMalformed},
		"another decimal":    {replace(`"min_confidence":0.8`, `"min_confidence":0.80`), slice.ErrMalformed},
		"other hops":         {replace(`"hops":2`, `"hops":3`), slice.ErrMalformed},
		"no name":            {replace(`"start":["countess-of-lovelace"]`, `"start":["Countess of Lovelace"]`), slice.ErrMalformed},
		"no start":           {replace(`"start":["countess-of-lovelace"]`, `"start":[]`), slice.ErrMalformed},
		"a start twice":      {replace(`"start":["countess-of-lovelace"]`, `"start":["a","a"]`), slice.ErrMalformed},
		"another cut":        {replace(`"evidence"`, `"cut":"whole","evidence"`), slice.ErrMalformed},
		"no fact":            {replace(`"type":"fact/2"`, `"type":"fact/3"`), slice.ErrMalformed},
		"an act of no fact":  {replace(`"facts":[`, `"facts":[{"alias":"a","canonical":"b","salt":"00000000000000000000000000000000","type":"alias/2"},`), slice.ErrMalformed},
		"two anchors":        {replace(`"anchor":"`, `"anchor":"00000000-0000-4000-8000-000000000000","x":"`), slice.ErrMalformed},
		"a bundle of turns":  {[]byte(`{"anchor":"x"}`), slice.ErrMalformed},
		"something behind":   {append(bytes.Clone(data), '\n'), slice.ErrMalformed},
		"too many bytes":     {make([]byte, slice.MaxBundle+1), slice.ErrMalformed},
		"a null":             {replace(`"aliases":[`, `"aliases":[null,`), slice.ErrMalformed},
		"an empty path":      {replace(`"hops":1`, `"hops":0`), slice.ErrMalformed},
		"a repeated member":  {replace(`"as_of":`, `"as_of":1,"as_of":`), slice.ErrMalformed},
		"names left unasked": {replace(`"question":{`, `"question":{"limit":1,`), slice.ErrMalformed},
	} {
		if b, err := facts.Parse(tc.data); !errors.Is(err, tc.want) || b != nil || len(err.Error()) > 1000 {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
	q := b.Question
	if again, err := facts.ParseQuestion(q.Text()); err != nil || again.Text() != q.Text() {
		t.Errorf("the question %s is read as %+v, %v", q.Text(), again, err)
	}
	if _, err := facts.ParseQuestion(" " + q.Text()); !errors.Is(err, slice.ErrMalformed) {
		t.Errorf("another spelling of a question: %v", err)
	}
}

// TestCutRefuses holds that a slice is never cut of an answer that what is known does not bear.
func TestCutRefuses(t *testing.T) {
	w, aliases := notes()
	p := facts.DefaultPolicy()
	q := facts.Question{Start: []string{"note-g"}}
	answer := must(knowledge.Traverse(t.Context(), w, aliases, q.Query(&p, 9)))
	bound := must(policy.Bind("p@1", p))
	whole := w.known(aliases)
	if b, err := facts.Cut(q, bound, 9, &answer, whole); err != nil || len(b.Facts) == 0 {
		t.Fatal(err)
	}
	delete(whole.Acts, 1)
	if _, err := facts.Cut(q, bound, 9, &answer, whole); err == nil {
		t.Error("without an act")
	}
	swapped := w.known(aliases)
	swapped.Acts[1], swapped.Acts[3] = swapped.Acts[3], swapped.Acts[1]
	if _, err := facts.Cut(q, bound, 9, &answer, swapped); err == nil {
		t.Error("with another act")
	}
	bare := w.known(aliases)
	clear(bare.Leaves)
	if _, err := facts.Cut(q, bound, 9, &answer, bare); err == nil {
		t.Error("without the evidence")
	}
	if _, err := facts.Cut(q, must(policy.Bind("default@1", policy.DefaultV1())), 9, &answer, w.known(aliases)); !errors.Is(err, policy.ErrMismatch) {
		t.Errorf("under a policy of turns: %v", err)
	}
	if _, err := facts.Cut(facts.Question{}, bound, 9, &answer, w.known(aliases)); !errors.Is(err, knowledge.ErrQuery) {
		t.Errorf("without a question: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	b, _ := sample(f)
	f.Add(b.Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := facts.Parse(data)
		if err != nil {
			return
		}
		if string(b.Append(nil)) != string(data) {
			t.Errorf("%q is written otherwise", data)
		}
		b.Check()
	})
}
