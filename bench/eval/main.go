// Command eval asks how far facts lead to what answers a question. It loads triples that
// were extracted from a corpus of passages into a kernel, each fact naming its passage, and
// measures on questions whose supporting passages are known:
//
//	make eval-knowledge
//	go -C bench run ./eval -data folder
//
// For each question it finds the entities that its text names, walks 3 hops in both
// directions, and takes the passages that the paths rest on, in the order in which they
// come. Beside it is BM25 over the same passages. "As written" takes names as they are
// spelled; "normalised" is what the kernel does; "with aliases" adds the aliases that
// normalize.Suggest is surest of. It also asks five kinds of question that are made from the
// triples themselves. It reports what comes out, and has no bound.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

func main() {
	data := flag.String("data", cmp.Or(os.Getenv("GRAPHKERNEL_DATA"), filepath.Join("..", "..", "shared", "data")), "the folder that has multihop/")
	flag.Parse()
	if err := run(context.Background(), *data); err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, data string) (err error) {
	c, err := readCorpus(filepath.Join(data, "multihop"))
	if errors.Is(err, os.ErrNotExist) {
		fmt.Printf("skipped: there is no corpus in %s; $GRAPHKERNEL_DATA or -data names the folder\n", data)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Printf("%d passages, %d triples, %d questions\n\n", len(c.passages), len(c.triples), len(c.questions))
	var all []*index
	defer func() {
		for _, x := range all {
			err = errors.Join(err, x.close())
		}
	}()
	for _, how := range []struct {
		spell   func(string) string
		aliases bool
	}{
		{func(name string) string { return hex.EncodeToString([]byte(name)) }, false},
		{plainName, false},
		{plainName, true},
	} {
		folder, err := os.MkdirTemp("", "graphkernel-eval-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(folder) }() // a store that is closed by then; what stays is the system's to clear away
		x, err := newIndex(ctx, folder, c, how.spell, how.aliases)
		if err != nil {
			return err
		}
		all = append(all, x)
	}
	written, normalised, aliased := all[0], all[1], all[2]
	systems := []system{
		{"facts, names as written", written.passages},
		{"facts, normalised", normalised.passages},
		{"facts, normalised, with aliases", aliased.passages},
		{"BM25", newBM25(c).passages},
	}
	if err := supporting(ctx, c, systems); err != nil {
		return err
	}
	fmt.Printf("\nentities: %d as written, %d normalised, %d with %d aliases\n\n", len(written.names), len(normalised.names), aliased.entities, aliased.aliases)
	return kinds(ctx, c, []kindOf{{"as written", written}, {"normalised", normalised}, {"with aliases", aliased}})
}

func plainName(name string) string { return name }

// A passage is a piece of the corpus.
type passage struct{ Title, Text string }

// A triple and the passage that it was extracted from.
type triple struct {
	subject, predicate, object string
	passage                    int
}

// A question and the passages that support its answer.
type question struct {
	text    string
	support map[int]bool
}

type corpus struct {
	passages  []passage
	triples   []triple
	questions []question
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte(": NaN"), []byte(": null")) // which JSON has not, and Python writes
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func readCorpus(folder string) (*corpus, error) {
	c := &corpus{}
	var open struct {
		Docs []struct {
			Title   string     `json:"title"`
			Text    string     `json:"text"`
			Triples [][]string `json:"extracted_triples"`
		} `json:"docs"`
	}
	var asked []struct {
		Question   string `json:"question"`
		Paragraphs []struct {
			Title   string `json:"title"`
			Text    string `json:"paragraph_text"`
			Support bool   `json:"is_supporting"`
		} `json:"paragraphs"`
	}
	if err := readJSON(filepath.Join(folder, "openie_musique_train_1890.json"), &open); err != nil {
		return nil, err
	}
	if err := readJSON(filepath.Join(folder, "musique_train.json"), &asked); err != nil {
		return nil, err
	}
	at := map[passage]int{}
	for n, d := range open.Docs {
		p := passage{d.Title, d.Text}
		at[p] = n
		c.passages = append(c.passages, p)
		for _, t := range d.Triples {
			if len(t) == 3 {
				c.triples = append(c.triples, triple{t[0], t[1], t[2], n})
			}
		}
	}
	for _, q := range asked {
		one := question{text: q.Question, support: map[int]bool{}}
		for _, p := range q.Paragraphs {
			if p.Support {
				n, ok := at[passage{p.Title, p.Text}]
				if !ok {
					return nil, fmt.Errorf("question %.60q: passage %q is not in the corpus", q.Question, p.Title)
				}
				one.support[n] = true
			}
		}
		c.questions = append(c.questions, one)
	}
	return c, nil
}

// An index is a kernel that knows the triples.
type index struct {
	k        *kernel.Kernel
	close    func() error
	spell    func(string) string // what a name is stored as
	names    map[string]bool     // as stored
	longest  int                 // words of a name
	aliases  int
	entities int
}

const tenant dag.Tenant = "eval"

func newIndex(ctx context.Context, folder string, c *corpus, spell func(string) string, aliases bool) (*index, error) {
	s, err := sqlite.Create(ctx, filepath.Join(folder, "facts.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	k, err := kernel.Open(kernel.Config{Store: s, Authority: token.NewAuthority(token.Keyring{}), Clock: time.Now})
	if err != nil {
		return nil, err
	}
	x := &index{k: k, close: s.Close, spell: spell, names: map[string]bool{}}
	var acts []knowledge.Act
	for _, t := range c.triples {
		f, err := knowledge.NewFact(spell(t.subject), spell(t.predicate), spell(t.object), fmt.Sprintf("passage:%d", t.passage))
		if err != nil {
			continue // a name of which nothing is left, such as "%"
		}
		acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: f})
		for _, name := range [...]string{f.Subject, f.Object} {
			x.names[name] = true
			x.longest = max(x.longest, 1+strings.Count(name, "-"))
		}
	}
	if aliases {
		found, err := x.suggested()
		if err != nil {
			return nil, err
		}
		acts = append(acts, found...)
		x.aliases = len(found)
	}
	x.entities = len(x.names) - x.aliases
	for len(acts) > 0 {
		n := min(len(acts), knowledge.MaxActs)
		if _, err := k.Facts().Learn(ctx, tenant, acts[:n]); err != nil {
			return nil, err
		}
		acts = acts[n:]
	}
	return x, nil
}

// suggested takes the suggestions of the surest kind, as far as they make no chain.
func (x *index) suggested() ([]knowledge.Act, error) {
	names := make([]string, 0, len(x.names))
	for name := range x.names {
		names = append(names, name)
	}
	var t *normalize.Table
	var acts []knowledge.Act
	for _, s := range normalize.Suggest(names, nil, normalize.SuggestOptions{Reasons: []normalize.Reason{normalize.SamePunctuation, normalize.Inverted, normalize.Initials}}) {
		alias, canonical := s.Others[0], s.Name
		with, outcomes, err := t.With(normalize.Change{Alias: alias, Canonical: canonical})
		if err != nil || outcomes[0] != normalize.Added {
			continue // one of them is taken: nothing is guessed
		}
		t = with
		acts = append(acts, knowledge.Act{Kind: knowledge.Alias, Alias: alias, Canonical: canonical, Rule: normalize.Newest})
	}
	return acts, nil
}

func printed(header table.Row, rows []table.Row) {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(header)
	t.AppendRows(rows)
	fmt.Println(t.Render())
}
