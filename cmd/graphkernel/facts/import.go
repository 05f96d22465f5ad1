package facts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/server/mcp"
	"github.com/graphkernel/graphkernel/token"
)

// importSource is the default source of imported facts.
const importSource = "import"

func knowledgeImportCommand(a *cli.App) *cobra.Command {
	var form, source, confidence string
	var skip bool
	c := &cobra.Command{
		Use:   "import FILE|-",
		Short: "Learn the facts of a list",
		Long: `Reads a list of facts, one a line, from a file or, for -, from standard input:

  tsv     subject TAB predicate TAB object
  jsonl   {"subject","predicate","object"} and optionally "confidence", "source", "turn",
          "slice", "valid_from", "valid_until", "supersedes":[STATEMENT]
  memory  the file of the memory server of the Model Context Protocol: an entity's type becomes
          (name, entity-type, text:type), each observation (name, observation, text:…), a
          relation (from, relationType, to). The source is that of graphkernel mcp --memory,
          which shows only facts with that source

The form is detected from the first line. The whole list is read before anything is learned, so nothing is
learned if a line cannot be read; the error names the line. Facts are then learned in batches, each whole or
not at all. Importing again changes nothing. With --skip, lines that cannot be facts are left out and counted.

` + namesHelp + ` The result, as JSON:

  {"form","lines","facts","asserted","confirmed","existing","skipped":{REASON:n},
   "first_skipped","spellings","names","joined":[{"name","spellings":[…]}],"head"}

"spellings" and "names" count the different entities as written and in canonical form. "joined" lists the
first names that were written in several ways and are one entity from now on.`,
		Example: `  graphkernel knowledge import triples.tsv --source dbpedia
  graphkernel knowledge import memory.jsonl`,
		Args: cli.OneArg("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("source") {
				if _, err := knowledge.NewFact("a", "b", "c", source); err != nil {
					return cli.Usagef("--source: %w", err)
				}
			}
			return importFacts(a, c.Context(), args[0], form, source, confidence, skip)
		},
	}
	flags := c.Flags()
	flags.StringVar(&form, "format", "", fmt.Sprintf("one of %v (default: detected from the content)", factForms))
	flags.StringVar(&source, "source", "", "the source of facts that name none (default: "+mcp.MemorySource+" for memory, otherwise "+importSource+")")
	flags.StringVar(&confidence, "confidence", "1", "the confidence of facts that name none, from 0 to 1")
	flags.BoolVar(&skip, "skip", false, "leave out lines that cannot be facts, and count them")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(factForms, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	cli.NoFiles(c, "source", "confidence")
	return c
}

// An outcomeJSON counts facts by outcome.
type outcomeJSON struct {
	Asserted  int `json:"asserted"`
	Confirmed int `json:"confirmed"`
	Existing  int `json:"existing"`
}

func (o *outcomeJSON) String() string {
	return fmt.Sprintf("asserted %s, confirmed %d, %s", cli.Count(o.Asserted, "fact"), o.Confirmed, cli.There(o.Existing))
}

type importedFactsJSON struct {
	Form  string `json:"form"`
	Lines int    `json:"lines"`
	Facts int    `json:"facts"`
	outcomeJSON
	Skipped   map[string]int `json:"skipped"`
	First     string         `json:"first_skipped,omitempty"`
	Spellings int            `json:"spellings"`
	Names     int            `json:"names"`
	Joined    []joinedJSON   `json:"joined"`
	Head      uint64         `json:"head"`
	Error     string         `json:"error,omitempty"`
	ExitCode  int            `json:"exit_code,omitempty"`
}

// A joinedJSON is an entity with the several spellings that a list has for it.
type joinedJSON struct {
	Name      string   `json:"name"`
	Spellings []string `json:"spellings"`
}

func importFacts(a *cli.App, ctx context.Context, path, form, source, confidence string, skip bool) error {
	if form != "" && !slices.Contains(factForms, form) {
		return cli.Usagef("--format is %q, want one of %v", form, factForms)
	}
	sure, err := confidenceOf("confidence", confidence)
	if err != nil {
		return err
	}
	list, err := openFactList(a, ctx, path, form)
	if err != nil {
		return err
	}
	switch {
	case source != "":
	case list.form == formMemory:
		source = mcp.MemorySource
	default:
		source = importSource
	}
	list.source, list.confidence = source, sure
	bar := a.IO.Counting("reading")
	defer bar.Stop()
	im := &factImport{list: list, skip: skip, result: importedFactsJSON{Form: list.form, Skipped: map[string]int{}, Joined: []joinedJSON{}}}
	if err := im.check(ctx, bar); err != nil {
		return err
	}
	err = a.Stores.WithNewKernel(ctx, token.Keyring{}, func(s *cli.Session) error {
		bar.Say("learning")
		return im.learn(ctx, s, bar, a.Clock)
	})
	bar.Stop()
	if err != nil {
		return failedImport(a, &im.result, err)
	}
	return a.IO.Print(&im.result, func(w io.Writer) { printImportedFacts(w, &im.result) })
}

// failedImport prints what was learned before an error.
func failedImport(a *cli.App, r *importedFactsJSON, err error) error {
	if a.IO.Output == "json" {
		r.Error, r.ExitCode = err.Error(), cli.ExitCode(err)
		if err := a.IO.PrintJSON(r); err != nil {
			return err
		}
		a.IO.Warn("graphkernel: %v", err)
		return cli.Finish(r.ExitCode)
	}
	if done := r.Asserted + r.Confirmed; done > 0 {
		a.IO.Note("%s learned before this; importing again continues from there", cli.Was(done, "fact"))
	}
	return err
}

func printImportedFacts(w io.Writer, r *importedFactsJSON) {
	fmt.Fprintf(w, "%s; head %d\n", &r.outcomeJSON, r.Head)
	cli.PrintCounts(w, "skipped", r.Skipped)
	if r.First != "" {
		fmt.Fprintf(w, "  the first of them: %s\n", render.OneLine(r.First, 300))
	}
	if r.Spellings == r.Names {
		fmt.Fprintln(w, cli.Count(r.Names, "entity"))
		return
	}
	fmt.Fprintf(w, "%s, written in %s, such as\n", cli.Count(r.Names, "entity"), cli.Count(r.Spellings, "way"))
	for _, j := range r.Joined {
		quoted := make([]string, len(j.Spellings))
		for i, s := range j.Spellings {
			quoted[i] = clipped(s)
		}
		fmt.Fprintf(w, "  %s: %s\n", clipped(j.Name), strings.Join(quoted, " | "))
	}
}

// A factImport reads a list twice: to check all of it, and to learn its facts.
type factImport struct {
	list   *factList
	skip   bool
	result importedFactsJSON
	lines  []int // the line of each act of a batch
}

// check reads the whole list and counts its names.
func (im *factImport) check(ctx context.Context, bar *cli.Bar) error {
	seen := spellings{first: map[string]string{}, others: map[string]map[string]bool{}}
	err := im.list.lines(ctx, func(line int, text []byte) error {
		im.result.Lines++
		bar.Update(int64(im.result.Lines), 0)
		acts, err := im.list.acts(line, text)
		if err != nil {
			if !im.skip {
				return err
			}
			im.result.Skipped[im.reason(err)]++
			if im.result.First == "" {
				im.result.First = err.Error()
			}
			return nil
		}
		im.result.Facts += len(acts)
		for i := range acts {
			f := &acts[i].Fact
			subject, _, object := f.Spelled()
			seen.add(f.Subject, subject)
			seen.add(f.Object, object)
		}
		return nil
	})
	im.result.Names, im.result.Spellings, im.result.Joined = len(seen.first), seen.count, seen.joined()
	return err
}

// reason returns the name of a kind of fault.
func (im *factImport) reason(err error) string {
	if errors.Is(err, knowledge.ErrForm) {
		return "no_fact"
	}
	return "no_" + im.list.form
}

// spellings collects the spellings of names.
type spellings struct {
	first  map[string]string          // the first spelling of each name
	others map[string]map[string]bool // the further spellings of names with several
	count  int
}

func (s *spellings) add(name, written string) {
	switch first, ok := s.first[name]; {
	case !ok:
		s.first[name] = strings.Clone(written)
		s.count++
	case first != written && !s.others[name][written]:
		if s.others[name] == nil {
			s.others[name] = map[string]bool{}
		}
		s.others[name][strings.Clone(written)] = true
		s.count++
	}
}

// joined returns the first names with several spellings.
func (s *spellings) joined() []joinedJSON {
	const most = 10
	names := make([]string, 0, len(s.others))
	for name := range s.others {
		names = append(names, name)
	}
	slices.Sort(names)
	list := []joinedJSON{}
	for _, name := range names[:min(most, len(names))] {
		ways := []string{s.first[name]}
		for way := range s.others[name] {
			ways = append(ways, way)
		}
		slices.Sort(ways)
		list = append(list, joinedJSON{name, ways[:min(most, len(ways))]})
	}
	return list
}

// learn reads the list again and learns its facts.
func (im *factImport) learn(ctx context.Context, s *cli.Session, bar *cli.Bar, clock func() time.Time) error {
	l := &learner{Session: s, counts: &im.result.outcomeJSON, after: func() { im.lines = im.lines[:0] }}
	l.place = func(i int) string { return im.list.path + ":" + strconv.Itoa(im.lines[i]) }
	done, size := 0, knowledge.MaxActs
	err := im.list.lines(ctx, func(line int, text []byte) error {
		acts, err := im.list.acts(line, text)
		if err != nil && im.skip {
			return nil
		} else if err != nil {
			return err // the list has changed since it was checked
		}
		for i := range acts {
			if len(l.acts) == size {
				began, before := clock(), l.recorded()
				if err := l.flush(ctx); err != nil {
					return err
				}
				size = nextBatch(size, l.recorded()-before, clock().Sub(began))
				bar.Update(int64(done), int64(im.result.Facts))
			}
			l.acts, im.lines = append(l.acts, acts[i]), append(im.lines, line)
			done++
		}
		return nil
	})
	if err == nil {
		err = l.flush(ctx)
	}
	if err != nil {
		return err
	}
	head, err := s.Head(ctx)
	im.result.Head = uint64(head)
	return err
}

// nextBatch returns the size of the next batch, given the size of the last one, the acts that it recorded, and the time that it took. Large batches are
// faster, but other writers wait for them: so the size doubles while a batch takes at most a second and a half, and halves if it takes more than three. A
// batch whose facts were mostly known says nothing about the time of recording.
func nextBatch(size, recorded int, took time.Duration) int {
	switch {
	case recorded < size/2:
		return knowledge.MaxActs
	case took <= time.Second+time.Second/2:
		return min(2*size, knowledge.MaxBatch)
	case took > 3*time.Second:
		return max(size/2, knowledge.MaxActs)
	}
	return size
}

// A learner learns assertions in batches.
type learner struct {
	*cli.Session
	acts   []knowledge.Act
	counts *outcomeJSON
	place  func(i int) string // the place of act i of a batch
	after  func()             // called after each batch
}

// recorded returns the number of acts that changed something.
func (l *learner) recorded() int { return l.counts.Asserted + l.counts.Confirmed }

func (l *learner) flush(ctx context.Context) error {
	if len(l.acts) == 0 {
		return nil
	}
	outcomes, err := l.Facts.Learn(ctx, l.acts)
	if err != nil {
		return placed(err, l.place)
	}
	for i := range outcomes {
		switch outcomes[i].Result {
		case knowledge.Asserted:
			l.counts.Asserted++
		case knowledge.Confirmed:
			l.counts.Confirmed++
		default:
			l.counts.Existing++
		}
	}
	l.acts = l.acts[:0]
	l.after()
	return nil
}

// A placedError is an error about one act of a batch, with the act's place.
type placedError struct {
	text string
	err  error
}

func (e *placedError) Error() string { return e.text }
func (e *placedError) Unwrap() error { return e.err }

// placed adds to an error the place of the act that it is about.
func placed(err error, place func(i int) string) error {
	var which *knowledge.ActError
	if !errors.As(err, &which) {
		return err
	}
	return &placedError{strings.Replace(err.Error(), which.Where(), place(which.Index), 1), err}
}
