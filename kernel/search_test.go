package kernel_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/token"
)

// vocabulary is small, so that most turns share words.
var vocabulary = strings.Fields("build server table deleted anna outage report deploy backup migration schema error timeout yesterday may 2026 store/sqlite/write.go HTTPServer")

// TestSearchAsOf lets a store grow at random while texts are erased. What a search finds as of any number is what it
// finds in a store that stopped there and saw the same erasures. A kernel that followed, one that is opened later, and one
// over the other store all agree.
func TestSearchAsOf(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			r := seeded(t)
			a := token.NewAuthority(ring(t, "k1"))
			s := open(t, name)
			k := over(t, s, a)
			var drafts []dag.Draft
			var erased []dag.TurnID
			stops := map[int]bool{}
			rounds, found := 12, 0
			for range rounds {
				for range 1 + r.IntN(8) {
					d := spoken(r, len(drafts))
					d.Salt = &dag.Salt{byte(len(drafts)), byte(len(drafts) >> 8), 1} // so that both stores have the same leaves
					must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{d}))
					drafts = append(drafts, d)
				}
				if r.IntN(3) == 0 {
					stops[len(drafts)] = true
				}
				if r.IntN(2) == 0 {
					id := drafts[r.IntN(len(drafts))].ID
					must(k.Turns().Erase(t.Context(), tenant, id, "asked to"))
					erased = append(erased, id)
				}
				must(k.Turns().Search(t.Context(), tenant, question(r, 0))) // so that the index grows with the store
			}
			stops[len(drafts)] = true
			late := over(t, s, a)
			for stop := range stops {
				small := over(t, open(t, "memory"), a)
				must(small.Turns().Admit(t.Context(), tenant, drafts[:stop]))
				head := must(small.Turns().Head(t.Context(), tenant))
				for _, id := range erased {
					for i := range drafts[:stop] {
						if drafts[i].ID == id {
							must(small.Turns().Erase(t.Context(), tenant, id, "asked to"))
							break
						}
					}
				}
				for n := 0; n < 8 || found == 0 && stop == len(drafts) && n < 1_000; n++ {
					q := question(r, 0)
					want := numberless(t.Context(), t, small, q, head)
					at := must(k.Turns().Get(t.Context(), tenant, drafts[stop-1].ID)).Seq
					for _, asked := range []*kernel.Kernel{k, late} {
						if got := numberless(t.Context(), t, asked, q, at); !reflect.DeepEqual(got, want) {
							t.Fatalf("%q as of %d:\ngot  %+v\nwant %+v", q.Text, at, got, want)
						}
					}
					found += len(want)
				}
			}
			if found == 0 {
				t.Error("nothing was ever found")
			}
		})
	}
}

// numberless searches, and leaves sequence numbers out, which erasures take some of.
func numberless(ctx context.Context, t *testing.T, k *kernel.Kernel, q find.Request, asOf dag.Seq) []find.FoundTurn {
	t.Helper()
	q.AsOf = asOf
	hits := must(k.Turns().Search(ctx, tenant, q)).Hits
	for i := range hits {
		hits[i].Turn.Seq = 0
	}
	return hits
}

func spoken(r *rand.Rand, n int) dag.Draft {
	words := make([]string, 1+r.IntN(12))
	for i := range words {
		words[i] = vocabulary[r.IntN(len(vocabulary))]
	}
	return dag.Draft{
		ID: dag.ExternalTurnID("search", fmt.Sprint(n, r.Uint64())), Conversation: dag.ExternalConversationID("search", fmt.Sprint(r.IntN(3))), Role: dag.RoleUser,
		Author: []string{"human:anna", "human:ben", "model:agent"}[r.IntN(3)], CreatedAt: dag.Time(1_780_000_000_000_000 + int64(n)*3_600_000_000), Content: strings.Join(words, " "),
	}
}

// chat draws so many turns, each of which replies to the one before it in its conversation.
func chat(r *rand.Rand, turns int) (drafts []dag.Draft) {
	last := map[dag.ConversationID]dag.TurnID{}
	for n := range turns {
		d := spoken(r, n)
		if p, ok := last[d.Conversation]; ok {
			d.Parents = []dag.Parent{{ID: p, Kind: dag.Reply}}
		}
		last[d.Conversation] = d.ID
		drafts = append(drafts, d)
	}
	return drafts
}

func question(r *rand.Rand, asOf dag.Seq) find.Request {
	words := []string{"when", "did", "anna"}[:r.IntN(4)]
	for range 1 + r.IntN(4) {
		words = append(words, vocabulary[r.IntN(len(vocabulary))])
	}
	return find.Request{Policy: []policy.ID{"", retrieval.DensePolicyID, retrieval.FindPolicyID}[r.IntN(3)], Query: retrieval.Query{Text: strings.Join(words, " "), AsOf: asOf, Limit: 1 + r.IntN(20)}}
}

// A letters embedder counts the letters a and b.
type letters struct {
	id    string
	wrong bool // the vectors have a component too few
}

func (l letters) Model() embed.Model { return embed.Model{ID: l.id, Dimensions: 2} }

func (l letters) Embed(_ context.Context, texts []string) ([][]int8, error) {
	vectors := make([][]int8, len(texts))
	for i, text := range texts {
		vectors[i] = embed.Normalize([]int64{int64(strings.Count(text, "a")), int64(strings.Count(text, "b"))})
		if l.wrong && vectors[i] != nil {
			vectors[i] = vectors[i][:1]
		}
	}
	return vectors, nil
}

// TestSearchByVectors holds that a policy's embedder finds turns without a word of the query, that an erasure takes their vectors, and what is refused.
func TestSearchByVectors(t *testing.T) {
	k := must(kernel.Open(kernel.Config{
		Store: open(t, "memory"), Authority: token.NewAuthority(ring(t, "k1")), Rand: noise(1), Clock: standing,
		Embedders: []embed.Embedder{letters{id: "letters"}, letters{id: "wrong", wrong: true}},
	}))
	var drafts []dag.Draft
	for i, text := range []string{"aaaa", "abab", "bbbb", "bbb"} {
		drafts = append(drafts, dag.Draft{ID: dag.ExternalTurnID("vectors", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("vectors", "c"), Role: dag.RoleUser, Content: text})
	}
	must(k.Turns().Admit(t.Context(), tenant, drafts))
	for _, embedder := range []string{"letters", "wrong", "absent"} {
		p := retrieval.DensePolicy()
		p.Dense.Embedder = embedder
		if err := k.Policies().Register(t.Context(), tenant, must(policy.Bind(policy.ID(embedder+"@1"), p))); err != nil {
			t.Fatal(err)
		}
	}
	search := func(id policy.ID, text string) (contents []string, err error) {
		found, err := k.Turns().Search(t.Context(), tenant, find.Request{Policy: id, Query: retrieval.Query{Text: text, Limit: 10}})
		for _, h := range found.Hits {
			contents = append(contents, h.Content)
		}
		return contents, err
	}
	if got, err := search("recall@1", "aaaaaa"); err != nil || len(got) > 0 {
		t.Errorf("by words: %q, %v", got, err)
	}
	if got, err := search("letters@1", "aaaaaa"); err != nil || !slices.Equal(got, []string{"aaaa", "abab"}) { // the others are least like it
		t.Errorf("by vectors: %q, %v", got, err)
	}
	must(k.Turns().Erase(t.Context(), tenant, drafts[0].ID, "asked to"))
	if got, err := search("letters@1", "aaaaaa"); err != nil || !slices.Equal(got, []string{"abab"}) {
		t.Errorf("after an erasure: %q, %v", got, err)
	}
	if got, err := search("recall@1", "bbb"); err != nil || !slices.Equal(got, []string{"bbb", "abab", "bbbb"}) { // the neighbours of the one that has the word
		t.Errorf("by words again: %q, %v", got, err)
	}
	if got, err := search("recall-dense@1", "bbb"); err != nil || len(got) != 3 || got[0] != "bbb" {
		t.Errorf("by the table that ships: %q, %v", got, err)
	}
	if got, err := search("recall@1", "bbb"); err != nil || !slices.Equal(got, []string{"bbb", "abab", "bbbb"}) {
		t.Errorf("by words, in the index with vectors: %q, %v", got, err)
	}
	if _, err := search("wrong@1", "a"); err == nil || !strings.Contains(err.Error(), "1 components, want 2") {
		t.Errorf("vectors of another dimension: %v", err)
	}
	if _, err := search("absent@1", "a"); !errors.Is(err, projection.ErrEmbedder) || !errors.Is(err, dag.ErrForm) {
		t.Errorf("an absent embedder: %v", err)
	}
	p := contexts.Default()
	p.Search = "letters@1"
	if err := k.Policies().Register(t.Context(), tenant, must(policy.Bind("dense-context@1", p))); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Contexts().Preview(t.Context(), tenant, api.ContextRequest{Task: "a", Policy: "dense-context@1"}); !errors.Is(err, policy.ErrMismatch) || !strings.Contains(err.Error(), "cannot be computed again") {
		t.Errorf("a context by vectors: %v", err)
	}
}

// A judge prefers texts with more of the letter b, unless it fails or counts wrongly.
type judge struct {
	fails error
	wrong bool
	huge  bool               // scores
	ends  context.CancelFunc // of the question; nil: nobody does
	asked *[]string
}

func (judge) ID() string { return "judge" }

func (j judge) Scores(ctx context.Context, query string, texts []string) ([]int64, error) {
	*j.asked = append([]string{query}, texts...)
	if j.ends != nil {
		j.ends()
	}
	scores := make([]int64, len(texts))
	for i, text := range texts {
		scores[i] = int64(strings.Count(text, "b"))
	}
	if j.huge {
		scores[0] = find.MaxJudged + 1
	}
	if j.wrong {
		return scores[1:], nil
	}
	return scores, cmp.Or(j.fails, ctx.Err())
}

// TestSearchJudged holds that a cross-encoder chooses among max_hits, that the order before it is returned if it fails, and what refuses it.
func TestSearchJudged(t *testing.T) {
	var asked []string
	s := open(t, "memory")
	kernelWith := func(list ...find.Reranker) *kernel.Kernel {
		return must(kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(ring(t, "k1")), Rand: noise(1), Clock: standing, Rerankers: list}))
	}
	k := kernelWith(judge{asked: &asked})
	var drafts []dag.Draft
	for i, text := range []string{"word", "word a b", "word a c b b", "word a c d e b b b", "nothing"} {
		drafts = append(drafts, dag.Draft{ID: dag.ExternalTurnID("judged", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("judged", fmt.Sprint(i)), Role: dag.RoleUser, Content: text})
	}
	must(k.Turns().Admit(t.Context(), tenant, drafts))
	p := retrieval.DefaultPolicy()
	p.Rerank.Method, p.Rerank.Model, p.Rerank.Weight, p.MaxHits = retrieval.RerankCrossEncoder, "judge", dag.One, 3
	if err := k.Policies().Register(t.Context(), tenant, must(policy.Bind("judged@1", p))); err != nil {
		t.Fatal(err)
	}
	search := func(k *kernel.Kernel) (contents []string, unranked error) {
		t.Helper()
		found := must(k.Turns().Search(t.Context(), tenant, find.Request{Policy: "judged@1", Query: retrieval.Query{Text: "word", Limit: 2}}))
		for _, h := range found.Hits {
			contents = append(contents, h.Content)
		}
		return contents, found.NotReranked
	}
	before := []string{"word", "word a b"} // of which the third is no longer than two
	judged := []string{"word a c b b", "word a b"}
	if got, err := search(k); err != nil || !slices.Equal(got, judged) {
		t.Errorf("judged: %q, %v", got, err)
	}
	if want := []string{"word", "word", "word a b", "word a c b b"}; !slices.Equal(asked, want) {
		t.Errorf("asked with %q, want %q", asked, want)
	}
	for name, j := range map[string]judge{"a failure": {fails: errors.New("it is gone"), asked: &asked}, "a score too few": {wrong: true, asked: &asked}, "a huge score": {huge: true, asked: &asked}} {
		if got, err := search(kernelWith(j)); !errors.Is(err, projection.ErrModel) || !slices.Equal(got, before) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	if _, err := kernelWith(judge{ends: end, asked: &asked}).Turns().Search(ended, tenant, find.Request{Policy: "judged@1", Query: retrieval.Query{Text: "word", Limit: 2}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ended: %v", err)
	}
	if _, err := kernelWith().Turns().Search(t.Context(), tenant, find.Request{Policy: "judged@1", Query: retrieval.Query{Text: "word", Limit: 2}}); !errors.Is(err, find.ErrReranker) || !errors.Is(err, dag.ErrForm) {
		t.Errorf("an absent reranker: %v", err)
	}
	asked = nil
	if found := must(k.Turns().Search(t.Context(), tenant, find.Request{Policy: "judged@1", Query: retrieval.Query{Text: "absent", Limit: 2}})); len(found.Hits) > 0 || asked != nil {
		t.Errorf("found %v; asked with %q", found.Hits, asked)
	}
	c := contexts.Default()
	c.Search = "judged@1"
	if err := k.Policies().Register(t.Context(), tenant, must(policy.Bind("judged-context@1", c))); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Contexts().Preview(t.Context(), tenant, api.ContextRequest{Task: "a", Policy: "judged-context@1"}); !errors.Is(err, policy.ErrMismatch) || !strings.Contains(err.Error(), "cannot be asked again") {
		t.Errorf("a context that is reranked: %v", err)
	}
}
