package retrieval

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// TestBest holds that the best hits are the first ones of all hits, and that turns asked for by id have their scores among all, on indexes in which most turns are passed over: with many rare words, some
// of them often in one turn, with conversations one after the other and at the same time, and with terms that occur almost everywhere.
func TestBest(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	turns := 4_000
	if testing.Short() {
		turns = 1_500
	}
	for seed := range uint64(6) {
		policy := DefaultPolicy()
		if seed == 3 {
			policy.Reach, policy.Words.Weight, policy.Words.K1, policy.Conversation.Weight = 8, 700_000, 5_000_000, 400_000
		}
		r := rand.New(rand.NewPCG(seed, 2))
		zipf := rand.NewZipf(r, 1.1, 10, 3_000)
		s := &scene{r}
		x := New(analysis.English, 0)
		var ids []dag.TurnID
		for n := range turns {
			turn := s.turn(n, 5)
			if seed%2 == 0 {
				turn.Conversation = dag.ExternalConversationID("scene", fmt.Sprint(n/(10+int(seed)*30)))
			}
			turn.Content = longText(r, zipf)
			if seed >= 4 { // terms that are near each other, and seldom in one turn
				turn.Content = s.text(r.IntN(2))
			}
			if err := x.Add([]Turn{turn}, nil); err != nil {
				t.Fatal(err)
			}
			if ids = append(ids, turn.ID); r.IntN(50) == 0 {
				x.Erase(ids[r.IntN(len(ids))])
			}
		}
		for n := range 150 {
			q := Query{Text: longText(r, zipf), AsOf: x.Last(), Limit: LimitHits}
			if words := strings.Fields(q.Text); n%10 > 0 {
				q.Text = strings.Join(words[:min(len(words), 1+r.IntN(6))], " ")
			}
			if seed >= 4 {
				q.Text = s.text(2 + r.IntN(4))
			}
			switch n % 5 {
			case 1:
				q.Text = "When did Anna " + q.Text
			case 2:
				q.AsOf = dag.Seq(1 + r.IntN(int(x.Last())))
			case 3:
				q.Author = "human:Ben"
			}
			policy.MaxHits = LimitHits
			all := x.Search(&policy, &q)
			q.Limit = 1 + r.IntN(12)
			if got, want := x.Search(&policy, &q), all[:min(len(all), q.Limit)]; !slices.Equal(got, want) {
				t.Fatalf("seed %d, %q as of %d, limit %d: %s", seed, q.Text, q.AsOf, q.Limit, difference(got, want))
			}
			for range 20 {
				if id := ids[r.IntN(len(ids))]; !slices.Contains(q.Also, id) {
					q.Also = append(q.Also, id)
				}
			}
			found := x.SearchWith(&policy, &q, nil)
			if got, want := found.Hits, all[:min(len(all), q.Limit)]; !slices.Equal(got, want) {
				t.Fatalf("seed %d, %q as of %d, limit %d, with %d others: %s", seed, q.Text, q.AsOf, q.Limit, len(q.Also), difference(got, want))
			}
			for i, id := range q.Also {
				want := int64(0)
				if at := slices.IndexFunc(all, func(h Hit) bool { return h.Turn.ID == id }); at >= 0 {
					want = all[at].Score
				}
				if found.Also[i] != want {
					t.Fatalf("seed %d, %q as of %d: turn %s scores %d, want %d", seed, q.Text, q.AsOf, id, found.Also[i], want)
				}
			}
		}
	}
}

// longText draws words that follow a power law, now and then one of them many times.
func longText(r *rand.Rand, zipf *rand.Zipf) string {
	var words []string
	for range 3 + r.IntN(30) {
		word := fmt.Sprintf("w%dx", zipf.Uint64())
		for range 1 + max(0, r.IntN(40)-36)*3 {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// TestTies holds that of equal hits those with the lowest ids are returned.
func TestTies(t *testing.T) {
	policy := DefaultPolicy()
	x := New(analysis.English, 0)
	var ids []dag.TurnID
	for n := range 300 {
		id := dag.ExternalTurnID("ties", fmt.Sprint(n))
		ids = append(ids, id)
		if err := x.Add([]Turn{{ID: id, Conversation: dag.ExternalConversationID("ties", fmt.Sprint(n)), Seq: dag.Seq(n + 1), Content: "one kiln"}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(ids, dag.TurnID.Compare)
	for i, h := range x.Search(&policy, &Query{Text: "kiln", AsOf: x.Last(), Limit: 7}) {
		if h.Turn.ID != ids[i] {
			t.Errorf("hit %d is not the one with the lowest id", i)
		}
	}
}

// TestErased holds that nothing in the index has a word of an erased text.
func TestErased(t *testing.T) {
	policy := DefaultPolicy()
	x := New(analysis.English, 0)
	s := &scene{rand.New(rand.NewPCG(1, 1))}
	secret := s.turn(0, 1)
	secret.Author, secret.Content = "human:Zebedee", "xylophone xylophone quagga"
	other := s.turn(1, 1)
	other.Content = "the quagga"
	for _, turn := range []Turn{secret, other} {
		if err := x.Add([]Turn{turn}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !x.Erase(secret.ID) {
		t.Fatal("the turn is not there")
	}
	if text := fmt.Sprintf("%+v", x); strings.Contains(text, "xylophon") || strings.Contains(strings.ToLower(text), "zebedee") {
		t.Errorf("the index has %s", text)
	}
	for _, r := range x.readers {
		if len(r.words)+len(r.wholes)+len(r.dates) > 0 {
			t.Errorf("a reader remembers %+v", r)
		}
	}
	if text := fmt.Sprintf("%+v", x.words); strings.Contains(text, "xylophon") || !strings.Contains(text, "quagga") {
		t.Errorf("the words are %s", text)
	}
	if hits := x.Search(&policy, &Query{Text: "quagga xylophone", AsOf: x.Last(), Limit: 10}); len(hits) != 1 || hits[0].Turn.ID != other.ID {
		t.Errorf("found %v", hits)
	}
}
