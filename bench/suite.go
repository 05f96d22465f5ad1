package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/graphkernel/graphkernel/store"
)

// A suite says what is measured.
type suite struct {
	sizes    []int // turns, ascending; each is loaded into a store of its own
	length   int   // turns of a conversation
	nodes    int   // turns of a slice
	rounds   int
	memory   int   // turns of the graph in memory
	imported int   // turns of the files that are imported
	crossing int   // turns of the graph of conversations that cross
	hub      int   // children of a turn
	leaves   int   // of the ledger that is appended to
	facts    int   // of the graph of facts
	believed []int // statements of spaces, ascending
	items    int   // of the space whose base is read
	many     int   // items of a space with three revisions each; 0: none
	searched []int // turns whose words are indexed, ascending
	clients  []int
	each     time.Duration // for which clients run at once
	irc      string        // a file, or nothing
	only     []string      // groups; none means all
	fleeting bool          // the server need not be durable: for tests
}

// The groups, by the names that -only takes.
var groups = []string{"memory", "import", "issue", "evidence", "knowledge", "search", "vectors", "contexts", "answers", "pages", "atlas", "beliefs", "load", "warm", "clients", "cold", "open", "crossings", "hubs", "irc", "hooks"}

func (s *suite) wants(group string) bool { return len(s.only) == 0 || slices.Contains(s.only, group) }

// run measures every group. Beds stay until the end: sizes are compared side by side.
func (s *suite) run(ctx context.Context, r *report, folder string) (err error) {
	if s.wants("memory") {
		if err := inMemory(ctx, r, s.memory, 10*s.rounds); err != nil {
			return err
		}
	}
	if slices.Contains(s.only, "hooks") { // it wants a machine for itself, so only where it is asked for
		if err := hooking(ctx, r, folder, s.rounds); err != nil || len(s.only) == 1 {
			return err
		}
	}
	y, err := newYard(ctx, folder, r, !s.fleeting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, y.close()) }()
	if s.wants("import") {
		if err := imports(ctx, r, y, s.imported, s.length); err != nil {
			return err
		}
	}
	if s.wants("issue") {
		if err := issues(ctx, r, y, s.sizes[0], s.length, s.nodes, slices.Max(s.clients), 4*s.each); err != nil {
			return err
		}
	}
	if s.wants("evidence") {
		if err := verifying(ctx, r, y, s.nodes, 2*s.rounds); err != nil {
			return err
		}
		if err := appending(ctx, r, y, s.leaves, s.rounds); err != nil {
			return err
		}
	}
	if s.wants("knowledge") {
		if err := knowing(ctx, r, y, [2]int{min(3_500, s.facts), s.facts}, s.rounds); err != nil {
			return err
		}
	}
	if s.wants("search") {
		if err := searching(ctx, r, y, s.searched, s.length, s.rounds); err != nil {
			return err
		}
	}
	if s.wants("vectors") && s.irc != "" {
		if err := vectors(ctx, r, s.irc, vectorsMost, s.rounds); err != nil {
			return err
		}
	}
	if s.wants("contexts") {
		if err := agents(ctx, r, y, s.searched[len(s.searched)-1], s.length, s.rounds, s.clients, s.each); err != nil {
			return err
		}
	}
	if s.wants("answers") {
		for _, turns := range s.sizes {
			if err := answering(ctx, r, y, turns, s.length, s.rounds); err != nil {
				return err
			}
		}
	}
	if s.wants("pages") {
		if err := pages(ctx, r, y, s.searched[len(s.searched)-1], s.length, min(s.rounds, 40)); err != nil {
			return err
		}
	}
	if s.wants("atlas") {
		if err := atlases(ctx, r, y, s.sizes[0], s.length); err != nil {
			return err
		}
	}
	if s.wants("beliefs") {
		if err := believing(ctx, r, y, s.believed, s.items, s.many, min(s.rounds, 40)); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(groups[slices.Index(groups, "load"):], s.wants) {
		return nil
	}
	var sizes [][]*bed
	defer func() {
		for _, beds := range sizes {
			for _, b := range beds {
				err = errors.Join(err, b.close())
			}
		}
	}()
	var stands [][]*stand // by size
	for _, turns := range s.sizes {
		g, err := conversations(turns, s.length, s.nodes)
		if err != nil {
			return err
		}
		beds, err := y.beds(ctx, turns)
		if err != nil {
			return err
		}
		sizes = append(sizes, beds)
		rows, err := load(ctx, g, beds)
		if err != nil {
			return err
		}
		r.table(fmt.Sprintf("Loading %d turns", turns), rows)
		all, err := standOf(ctx, g, beds)
		if err != nil {
			return err
		}
		stands = append(stands, all)
	}
	return s.slices(ctx, r, sizes, stands)
}

func standOf(ctx context.Context, g *graph, beds []*bed) ([]*stand, error) {
	if err := g.prune(ctx, beds[0].store); err != nil {
		return nil, err
	}
	var stands []*stand
	for _, b := range beds {
		s, err := newStand(ctx, b, g)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", b.kind, g.name, err)
		}
		stands = append(stands, s)
	}
	return stands, nil
}

// slices measures all that is measured in loaded beds.
func (s *suite) slices(ctx context.Context, r *report, sizes [][]*bed, stands [][]*stand) error {
	every := slices.Concat(stands...)
	if s.wants("warm") {
		if err := warm(ctx, r, s.rounds, stands, true); err != nil {
			return err
		}
		if len(stands) > 1 {
			growth(r, stands[0], stands[len(stands)-1])
		}
	}
	if s.wants("clients") {
		if err := clients(ctx, r, s.clients, s.each, stands[len(stands)-1]); err != nil {
			return err
		}
	}
	if s.wants("cold") {
		if err := cold(ctx, r, fmt.Sprintf("First slice of %d turns", s.nodes), max(2, s.rounds/4), every, true); err != nil {
			return err
		}
	}
	if s.wants("open") {
		if err := open(ctx, r, max(2, s.rounds/4), sizes); err != nil {
			return err
		}
	}
	for _, more := range []struct {
		group  string
		rounds int
		make   func() (*graph, error)
	}{
		{"crossings", max(2, s.rounds/4), func() (*graph, error) { return crossings(s.crossing, s.length, s.nodes) }},
		{"hubs", 1, func() (*graph, error) { return hubs(s.hub, s.nodes) }},
		{"irc", max(2, s.rounds/2), func() (*graph, error) { return channel(s.irc) }},
	} {
		if !s.wants(more.group) || more.group == "irc" && s.irc == "" {
			continue
		}
		g, err := more.make()
		if err != nil {
			return err
		}
		if err := other(ctx, r, more.rounds, g, sizes[0]); err != nil {
			return err
		}
	}
	return nil
}

// other measures one more graph in the smallest beds.
func other(ctx context.Context, r *report, rounds int, g *graph, beds []*bed) error {
	if _, err := load(ctx, g, beds); err != nil {
		return err
	}
	stands, err := standOf(ctx, g, beds)
	if err != nil {
		return err
	}
	if err := warm(ctx, r, rounds, [][]*stand{stands}, false); err != nil {
		return err
	}
	return cold(ctx, r, "First slice: "+g.name, max(2, rounds/4), stands, false)
}

// warm measures slices of conversations that the kernel knows, in all is in turn.
func warm(ctx context.Context, r *report, rounds int, stands [][]*stand, bounded bool) error {
	var all []*candidate
	for _, s := range slices.Concat(stands...) {
		all = append(all, s.all()...)
	}
	if err := inTurn(ctx, rounds, all); err != nil {
		return err
	}
	for _, same := range stands {
		var rows []row
		for _, s := range same {
			if err := s.proof(); err != nil {
				return err
			}
			rows = append(rows, s.rows(bounded)...)
		}
		r.table(fmt.Sprintf("Slices of %d turns, %d anchors: %s", same[0].meanTurns(), len(same[0].anchors), same[0].name), rows)
	}
	return nil
}

// growth compares the same work in a small and a large store, as warm has measured it.
func growth(r *report, small, large []*stand) {
	var rows []row
	for i := range small {
		few, many := small[i].all(), large[i].all()
		for j := range few {
			row := rowOf(many[j], few[j])
			row.to = fmt.Sprintf("%d turns", small[i].bed.turns)
			if few[j] != small[i].perTurn && few[j] != small[i].nearby {
				row.bounds = []bound{{fmt.Sprintf("< %.1f", boundGrowth), row.ratio < boundGrowth}}
			}
			rows = append(rows, row)
		}
	}
	r.table(fmt.Sprintf("%d turns beside %d", large[0].bed.turns, small[0].bed.turns), rows)
}

// clients lets several ask at once.
func clients(ctx context.Context, r *report, counts []int, each time.Duration, stands []*stand) error {
	const rounds = 3
	var crowds []*crowd
	for _, s := range stands {
		for _, c := range []*candidate{s.cached, s.fetched, s.bare, s.nearby, s.perTurn} {
			for _, n := range counts {
				crowds = append(crowds, &crowd{candidate: c, clients: n})
			}
		}
	}
	for range rounds {
		for _, c := range crowds {
			if err := c.together(ctx, each/rounds); err != nil {
				return err
			}
		}
	}
	var rows []row
	for _, c := range crowds {
		rows = append(rows, row{
			name: fmt.Sprintf("%s, clients: %d", c.name, c.clients), p50: c.sample.p50(), p99: c.sample.p99(),
			rate: float64(len(c.sample)) / c.ran.Seconds(), unit: "slices",
		})
	}
	r.table(fmt.Sprintf("Clients at once: %s", stands[0].name), rows)
	return nil
}

// open measures how long a process takes until it could be asked something.
func open(ctx context.Context, r *report, rounds int, sizes [][]*bed) error {
	var all []*candidate
	for _, beds := range sizes {
		for _, b := range beds {
			all = append(all, opening(b))
		}
	}
	if err := inTurn(ctx, rounds, all); err != nil {
		return err
	}
	var rows []row
	kinds := len(sizes[0])
	for i, c := range all {
		smallest := all[i%kinds]
		row := rowOf(c, smallest)
		row.to = fmt.Sprintf("%d turns", sizes[0][0].turns)
		if c != smallest {
			row.bounds = []bound{{fmt.Sprintf("< %.1f", boundGrowth), row.ratio < boundGrowth}}
		}
		rows = append(rows, row)
	}
	r.table("Opening a store and a kernel", rows)
	return nil
}

func opening(b *bed) *candidate {
	var opened store.Store
	return &candidate{
		name: fmt.Sprintf("%s, %d turns", b.kind, b.turns),
		run: func(ctx context.Context, _ int) (err error) {
			if opened, err = b.open(ctx); err != nil {
				return err
			}
			a, err := newAuthority()
			if err != nil {
				return err
			}
			_, err = newKernel(opened, a, 0)
			return err
		},
		check: func(context.Context, int) error { return opened.Close() },
	}
}
