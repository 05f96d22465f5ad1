package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/internal/pgtest"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/postgres"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// A planNode is a node of EXPLAIN (FORMAT JSON), as far as it is looked at.
type planNode struct {
	Type    string     `json:"Node Type"`
	Table   string     `json:"Relation Name"`
	Index   string     `json:"Index Name"`
	Loops   float64    `json:"Actual Loops"`
	Rows    float64    `json:"Actual Rows"`
	Removed float64    `json:"Rows Removed by Filter"`
	Plans   []planNode `json:"Plans"`
}

func (p *planNode) walk(fn func(*planNode)) {
	fn(p)
	for i := range p.Plans {
		p.Plans[i].walk(fn)
	}
}

// TestQueryPlans makes sure, with generic plans, that no look-up walks a table, reads
// many more rows than it returns, or visits more partitions than hold what it asks for.
func TestQueryPlans(t *testing.T) {
	ctx := t.Context()
	url := pgstore.URL(t)
	s, err := harness(url).Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const conversations, turns = 4000, 4
	var all store.Batch
	for c := range conversations {
		chain := storetest.Chain(1+c*turns, turns, c)
		if c > 0 {
			chain[0].Parents = []dag.Parent{{ID: storetest.TurnID(c * turns), Kind: dag.Reply}}
		}
		chain[1] = storetest.Named(chain[1], fmt.Sprint("name ", c))
		all = append(all, chain...)
	}
	if _, err := s.Append(ctx, storetest.Tenant, []store.Batch{all}); err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		if _, err := storetest.PutIssued(ctx, s, storetest.Tenant, storetest.Issued(1+n, n)); err != nil {
			t.Fatal(err)
		}
		if _, err := storetest.Erase(ctx, s, storetest.Tenant, storetest.Erasure(1+n)); err != nil {
			t.Fatal(err)
		}
	}
	learn(t, s)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, text := range []string{
		`INSERT INTO logs SELECT 'other' || n, 0, '' FROM generate_series(1, 5000) n`,
		`INSERT INTO records SELECT 'storetest', 1000000 + n, 'raw/1', sha256(n::text::bytea) FROM generate_series(1, 5000) n`,
		`INSERT INTO log_hashes SELECT 'storetest', n % 3, 1000000 + n, sha256(n::text::bytea) FROM generate_series(1, 5000) n`,
		`INSERT INTO cells SELECT 'other' || n, 'log.example', sha256('') FROM generate_series(1, 5000) n`,
		`INSERT INTO cells SELECT 'storetest', 'log' || n || '.example', sha256('') FROM generate_series(1, 5000) n`,
		`INSERT INTO entries SELECT 'other' || n % 1000, n, 'fact/2', 0, hashtextextended(n::text, 0), '', NULL, NULL, 0, 0 FROM generate_series(1, 5000) n`,
		`INSERT INTO terms SELECT 'other' || n % 1000, n % 4, sha256(n::text::bytea), n, 9007199254740991, '' FROM generate_series(1, 5000) n`,
		"ANALYZE", "SET plan_cache_mode = force_generic_plan", "SET jit = off"} {
		if _, err := conn.Exec(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	first := `'` + storetest.ConversationID(3).String() + `'`
	second := `'` + storetest.ConversationID(4).String() + `'`
	turn := func(n int) string { return `'` + storetest.TurnID(n).String() + `'` }
	tenant := `'` + string(storetest.Tenant) + `'`
	head, err := s.Head(ctx, storetest.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	popular, other := storetest.Assertion(1, 1, 2, 500, "source-7"), storetest.Assertion(0, 1, 7, 7, "user")
	acts, err := storetest.Facts(s).ActsOf(ctx, storetest.Tenant, other.Fact.ID(), 0, 1)
	if err != nil || len(acts) != 1 {
		t.Fatalf("%d acts, %v", len(acts), err)
	}
	since := fmt.Sprint(acts[0].Seq)
	digestOf := func(a knowledge.Act) string { return fmt.Sprintf(`'\x%x'`, [32]byte(a.Fact.ID())) }
	digest := digestOf(other)
	const always = `9223372036854775807`
	// The edges of e0 from e0, those to it, and those to e2, a few of each.
	zero, two := knowledge.KeyOf("e0"), knowledge.KeyOf("e2")
	edges := []string{tenant, `'{3,4,4}'`, fmt.Sprintf(`'{"\\x%x","\\x%x","\\x%x"}'`, zero, zero, two), `'{0,0,0}'`,
		fmt.Sprintf(`'{"\\x%xff","\\x%xff","\\x%xff"}'`, zero, zero, two), `'{` + always + `,` + always + `,100000}'`, `'{5,6,7}'`}
	// For each the arguments, how many partitions it may visit, and how many rows it may
	// read from any table.
	cases := map[string]struct {
		args       []string
		partitions int
		rows       float64
	}{
		"Head":             {[]string{tenant}, 0, 1},
		"Lock":             {[]string{tenant}, 0, 1},
		"Tenants":          {[]string{`''`, `10`}, 0, 1},
		"Turns":            {[]string{tenant, `ARRAY[` + turn(5) + `,` + turn(150) + `]::uuid[]`}, 4, 2}, // two of ids, two of turns
		"Stored":           {[]string{tenant, `ARRAY[` + turn(5) + `,` + turn(150) + `]::uuid[]`}, 4, 2},
		"Placed":           {[]string{tenant, first, `'{13,14}'`}, 1, 4},
		"ScanTenant":       {[]string{tenant, `100`, `150`}, 16, 60},
		"ScanConversation": {[]string{tenant, `0`, `100000`, first}, 1, 100},
		"Segment":          {[]string{tenant, first, `400`}, 1, 20},
		"Segments":         {[]string{tenant, `ARRAY[` + first + `]::uuid[]`, `'{400}'`}, 1, 20},
		"Match":            {[]string{tenant, turn(5), turn(5), `5`}, 16, 5},
		"External":         {[]string{tenant, `'\x0000000000000000'`, `'\x00'`, `5`}, 16, 1},
		"ExternalPrefix":   {[]string{tenant, `'\x3f2a000000000000'`, `'\x3f2affffffffffff'`, `4`, `'\x33663261'`, `5`}, 16, 1},
		"Conversations":    {[]string{tenant, first, `5`}, 0, 6},
		"Parents":          {[]string{tenant, `ARRAY[` + turn(5) + `]::uuid[]`}, 1, 1},
		"Tails":            {[]string{tenant, `ARRAY[` + first + `]::uuid[]`}, 1, 12},
		"TakeRun":          {[]string{tenant, first, `12345678`}, 1, 1},
		"Find":             {[]string{tenant, `ARRAY[` + turn(5) + `]::uuid[]`}, 2, 1},
		"Erase":            {[]string{tenant, first, `12345678`}, 1, 1},
		"Records":          {[]string{tenant, `1000000`, `5`}, 0, 6},
		"RecordsAt":        {[]string{tenant, `'{1000017,1000300,17}'`}, 0, 2},
		"TermsLast":        {edges, 0, 7},
		"Log":              {[]string{tenant}, 0, 1},
		"LogHashes":        {[]string{tenant, `0`, `100`, `50`}, 0, 50},
		"Cells":            {[]string{`'other17'`}, 0, 1},
		"Cell":             {[]string{tenant, `'log17.example'`}, 0, 1},
		"Entries":          {[]string{tenant, `16200`, `5`}, 0, 6},
		"EntriesAt":        {[]string{tenant, `'{16200,16300,17}'`}, 0, 2},
		"EndTerm":          {[]string{tenant, `1`, digest, since, `100000`}, 0, 1},
		"Newest":           {[]string{tenant, `'{1,1,2}'`, `ARRAY[` + digest + `,` + digestOf(popular) + `,'']::bytea[]`}, 0, 1},
		// The edges of e0 and e2, from the first one and from one in the middle on.
		"Terms":        {edges, 0, 7},
		"TermsEntries": {edges, 0, 7},
	}
	for name, query := range postgres.Queries {
		c, known := cases[name]
		if !known {
			t.Errorf("%s: say what it may read", name)
			continue
		}
		prepare := fmt.Sprintf("PREPARE p_%s AS %s", name, query)
		if _, err := conn.Exec(ctx, prepare, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", prepare, err)
		}
		plan, text := explain(t, conn, name, c.args...)
		visited := map[string]bool{}
		scans, terms := 0, 0.0
		plan.walk(func(p *planNode) {
			small := strings.HasPrefix(p.Table, "tenants") || strings.HasPrefix(p.Table, "policies") || strings.HasPrefix(p.Table, "api_keys") // a page at most
			if p.Table != "" && p.Type != "ModifyTable" {
				scans++
			}
			if p.Table == "terms" {
				terms += p.Rows * p.Loops
			}
			if strings.HasPrefix(name, "Terms") && (strings.Contains(p.Type, "Sort") || p.Table == "terms" && p.Index != "terms_pkey") {
				t.Errorf("%s does not read the primary key in its order:\n%s", name, text)
			}
			if p.Type == "Seq Scan" && !small {
				t.Errorf("%s walks %s:\n%s", name, p.Table, text)
			}
			if p.Table != "" && p.Loops > 0 && p.Rows+p.Removed > c.rows {
				t.Errorf("%s reads %v rows of %s, want at most %v:\n%s", name, p.Rows+p.Removed, p.Table, c.rows, text)
			}
			if at := strings.LastIndexByte(p.Table, '_'); at > 0 && p.Loops > 0 && strings.Trim(p.Table[at+1:], "0123456789") == "" && p.Type != "ModifyTable" {
				visited[p.Table] = true
			}
		})
		if len(visited) > c.partitions {
			t.Errorf("%s visits %d partitions, want at most %d: %v\n%s", name, len(visited), c.partitions, visited, text)
		}
		if strings.HasPrefix(name, "Terms") && terms < 5+6+1 {
			t.Errorf("%s reads %v terms, want 12:\n%s", name, terms, text)
		}
		if scans == 0 {
			t.Errorf("%s: the plan has no scan: %s", name, text)
		}
	}
	// Where nothing was appended a segment costs the look-up of the head, and above all no
	// question to another server.
	for name, args := range map[string][]string{
		"Segment":  {tenant, first, fmt.Sprint(head)},
		"Segments": {tenant, `ARRAY[` + first + `,` + second + `]::uuid[]`, fmt.Sprintf(`'{%d,%d}'`, head, head)},
	} {
		looked := false
		plan, text := explain(t, conn, name, args...)
		plan.walk(func(p *planNode) {
			looked = looked || p.Table == "tenants" && p.Loops > 0
			if p.Table != "" && p.Table != "tenants" && p.Loops > 0 {
				t.Errorf("%s without news reads %s:\n%s", name, p.Table, text)
			}
		})
		if !looked {
			t.Errorf("%s without news does not look up the head:\n%s", name, text)
		}
	}
}

// learn records that e0 has edges to 1000 entities and from 999, and, from 500 sources, one of
// e1 to e2.
func learn(t *testing.T, s store.Store) {
	t.Helper()
	acts := []knowledge.Act{{Kind: knowledge.Alias, Alias: "another", Canonical: "e3"}}
	for n := range 1000 {
		acts = append(acts, storetest.Assertion(0, 1, n, dag.PPM(n), "user"))
		if n > 0 {
			acts = append(acts, storetest.Assertion(n, 2, 0, dag.PPM(n), "user"))
		}
	}
	for n := range 500 {
		acts = append(acts, storetest.Assertion(1, 1, 2, 500, fmt.Sprintf("source-%d", n)))
	}
	if _, err := storetest.Facts(s).Learn(t.Context(), storetest.Tenant, acts, 1); err != nil {
		t.Fatal(err)
	}
}

// explain runs a statement that was prepared, and gives its plan, and the plan's text.
func explain(t *testing.T, conn *pgx.Conn, name string, args ...string) (plan planNode, text string) {
	t.Helper()
	sql := fmt.Sprintf("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE p_%s (%s)", name, strings.Join(args, ", "))
	if err := conn.QueryRow(t.Context(), sql, pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal([]byte(text), &plans); err != nil || len(plans) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	return plans[0].Plan, text
}

// TestSmallTables lets a store plan its statements while its tables are small and known to be.
// The plans stay when the tables have grown, so none may walk one.
func TestSmallTables(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server := pgtest.Run(t, pgtest.Options{})
	must(t, server.CreateDatabase(ctx, "kernel", ""))
	gone := func() {
		await(t, server, "the end of a store's connections", "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = 'kernel' AND application_name = 'graphkernel'")
	}
	work := func() {
		s, err := postgres.Open(ctx, server.URL("kernel"), postgres.Options{})
		must(t, err)
		defer s.Close()
		_, err = s.Append(ctx, storetest.Tenant, []store.Batch{storetest.Chain(1, 9, 0)})
		must(t, err)
		_, err = s.Turns(ctx, storetest.Tenant, store.IDs{storetest.TurnID(1)})
		must(t, err)
		fact, ending := storetest.Assertion(1, 1, 2, 5, "user"), storetest.Assertion(1, 1, 3, 5, "user")
		_, err = storetest.Facts(s).Learn(ctx, storetest.Tenant, []knowledge.Act{fact}, 1)
		must(t, err)
		ending.Supersedes = []knowledge.ID{fact.Fact.ID()}
		_, err = storetest.Facts(s).Learn(ctx, storetest.Tenant, []knowledge.Act{ending, {Kind: knowledge.Alias, Alias: "another", Canonical: "e1"}}, 1)
		must(t, err)
		_, err = storetest.Acts(ctx, s, storetest.Tenant, 0, 9)
		must(t, err)
		_, err = storetest.Facts(s).Edges(ctx, storetest.Tenant, []knowledge.Ask{{Name: "e1", Limit: 9}})
		must(t, err)
		id := fact.Fact.ID()
		for _, f := range []knowledge.Find{{}, {Statement: &id}, {Subjects: []string{"e1"}}, {Objects: []string{"e1"}}, {Either: []string{"e1"}}} {
			_, _, err := storetest.Facts(s).Versions(ctx, storetest.Tenant, f)
			must(t, err)
		}
	}
	work()
	gone()
	must(t, server.Exec(ctx, "kernel", "VACUUM ANALYZE"))
	must(t, server.Exec(ctx, "kernel", "SELECT pg_stat_reset()"))
	work()
	gone()
	walked, err := server.Value(ctx, "kernel", `SELECT string_agg(relname || ' ' || seq_scan || ' times', ', ') FROM pg_stat_user_tables WHERE seq_scan > 0 AND relname <> 'graphkernel_schema'`)
	if err != nil || walked != "" {
		t.Errorf("walked: %s, %v", walked, err)
	}
	if looked, err := server.Value(ctx, "kernel", `SELECT count(*) FROM pg_stat_user_tables WHERE idx_scan > 0 AND relname IN ('entries', 'terms')`); err != nil || looked != "2" {
		t.Errorf("the indexes of %s tables of two were used, %v", looked, err)
	}
}
