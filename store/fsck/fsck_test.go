package fsck_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/standing/settings"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
)

const tenant = storetest.Tenant

// filled makes a file with two tenants that have something of everything.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Create(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []dag.Tenant{tenant, "another"} { // the first has number 1
		if err := storetest.Fill(t.Context(), s, tenant); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func check(t *testing.T, path string, o fsck.Options) fsck.Report {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	report, err := fsck.Store(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestSound makes sure that what is in order gives no finding, in pages of every size,
// and that everything was looked at.
func TestSound(t *testing.T) {
	path := filled(t)
	for _, page := range []int{0, 1, 3, 41} {
		stages := map[string]bool{}
		report := check(t, path, fsck.Options{Page: page, Progress: func(p fsck.Progress) { stages[p.Stage] = true }})
		if !report.OK() || report.Err() != nil {
			t.Errorf("pages of %d: %d findings: %v", page, report.Found, report.Findings)
		}
		want := fsck.Counts{
			Tenants: 2, Turns: 80, Edges: 86, Links: 14, Bodies: 68, Bare: 12, Events: 6, Entries: 44, Terms: 156,
			Conversations: 8, Policies: 4, Issued: 10, Recut: 10, Keys: 6, Leaves: 28,
		}
		if report.Counts != want {
			t.Errorf("pages of %d: looked at %+v, want %+v", page, report.Counts, want)
		}
		if report.Heads[tenant] != 65 || report.Heads["another"] != 65 {
			t.Errorf("heads are %v", report.Heads)
		}
		if len(stages) < 5 {
			t.Errorf("progress of %v", stages)
		}
	}
}

func turn(n int) string { return "turn " + storetest.TurnID(n).String() }

func conversation(n int) string { return "conversation " + storetest.ConversationID(n).String() }

// kept writes bytes into the packed column of turn n, at an offset.
func kept(n, offset int, bytes ...byte) string {
	return fmt.Sprintf(`UPDATE turns SET kept = CAST(substr(kept, 1, %d) || x'%x' || substr(kept, %d) AS BLOB)
		WHERE tenant = 1 AND substr(kept, 49, 16) = %s`, offset, bytes, offset+1+len(bytes), id(n))
}

// blob changes a byte of a column, at an offset.
func blob(table, column string, offset int, where string) string {
	return fmt.Sprintf(`UPDATE %[1]s SET %[2]s = CAST(substr(%[2]s, 1, %[3]d) || iif(substr(%[2]s, %[3]d + 1, 1) = x'31', x'32', x'31') || substr(%[2]s, %[3]d + 2) AS BLOB) WHERE %[4]s`,
		table, column, offset, where)
}

func id(n int) string { i := storetest.TurnID(n); return fmt.Sprintf("x'%x'", i[:]) }

func conv(n int) string { i := storetest.ConversationID(n); return fmt.Sprintf("x'%x'", i[:]) }

// Offsets in the packed column, see package packed.
const (
	atConversation = 0
	atDigest       = 16
	atID           = 48
	atCreated      = 64
	atSalience     = 72
	atRole         = 76
	atPhase        = 77
	atLeaf         = 78
	atMarks        = 110
	atThings       = 119 // two, of turn 17
	atParent       = 151
	atParentConv   = 167
	atKind         = 183
	atEdgeLeaf     = 184
	atAuthor       = 167 // of turn 18, after three things
	atKey          = 183 // of turn 18
)

// TestErasures records erasures that do not fit the turns or the ledger.
func TestErasures(t *testing.T) {
	ctx := t.Context()
	for name, c := range map[string]struct {
		do          func(s store.Store) error
		where, rule string
	}{
		"without a leaf": {func(s store.Store) error {
			return s.Adopt(ctx, tenant, storetest.Stretch{Events: []erasures.Erasure{storetest.Erased(66, 7)}}.Store())
		}, "event 66", "ledger"},
		"with the leaf of another number": {func(s store.Store) error {
			other := storetest.Erased(67, 7)
			return errors.Join(storetest.PutErased(ctx, s, tenant, []erasures.Erasure{other}),
				s.Adopt(ctx, tenant, storetest.Stretch{Events: []erasures.Erasure{storetest.Erased(66, 7)}}.Store()))
		}, "event 66", "ledger"},
		"that takes no body": {func(s store.Store) error {
			stretch := storetest.Stretch{Events: []erasures.Erasure{storetest.Erased(66, 7)}}.Store()
			stretch.Change = sparing{stretch.Change}
			return errors.Join(storetest.PutErased(ctx, s, tenant, []erasures.Erasure{storetest.Erased(66, 7)}), s.Adopt(ctx, tenant, stretch))
		}, turn(7), "body"},
	} {
		s := inmem.Open(&inmem.Disk{}, inmem.Options{})
		if err := errors.Join(storetest.Fill(ctx, s, tenant), c.do(s)); err != nil {
			t.Fatal(err)
		}
		report, err := fsck.Tenant(ctx, s, tenant, fsck.Options{Uncut: true})
		if err != nil || report.Found != 1 || report.Findings[0].Where != c.where || report.Findings[0].Rule != c.rule {
			t.Errorf("%s: %v, %v, want %q of %s", name, report.Findings, err, c.rule, c.where)
		}
	}
}

// A sparing change takes no bodies away.
type sparing struct{ history.Change }

func (s sparing) Plan(k *history.State) (*history.Plan, error) {
	p, err := s.Change.Plan(k)
	if err == nil {
		p.Bodies = nil
	}
	return p, err
}

// TestNeverCut records slices that no store has cut so, in order and in the ledger: cutting them again
// finds it out.
func TestNeverCut(t *testing.T) {
	ctx := t.Context()
	for name, c := range map[string]struct {
		change func(i *issued.Record)
		rule   string
	}{
		"slice":                {func(i *issued.Record) { i.Provenance.SliceID = "0123456789abcdef" }, "slice_id"},
		"anchor":               {func(i *issued.Record) { i.Provenance.Anchor = storetest.TurnID(16) }, "slice_id"},
		"anchor that is none":  {func(i *issued.Record) { i.Provenance.Anchor = storetest.TurnID(999) }, "anchor"},
		"anchor of later":      {func(i *issued.Record) { i.Provenance.Anchor = storetest.TurnID(35) }, "anchor"},
		"policy":               {func(i *issued.Record) { i.Provenance.PolicyID = "wide@1" }, "policy_params_hash"},
		"policy that is none":  {func(i *issued.Record) { i.Provenance.PolicyID = "wide@7" }, "policy"},
		"policy's hash":        {func(i *issued.Record) { i.Provenance.PolicyParamsHash[3]++ }, "policy_params_hash"},
		"snapshot":             {func(i *issued.Record) { i.Provenance.GraphSnapshotHash[3]++ }, "graph_snapshot_hash"},
		"as of":                {func(i *issued.Record) { i.AsOf = 9 }, "anchor"},
		"as of later":          {func(i *issued.Record) { i.AsOf = 4000 }, "head"},
		"key":                  {func(i *issued.Record) { i.KeyID = "key-2" }, "bundle"},
		"token":                {func(i *issued.Record) { i.Token = "f" }, "bundle"},
		"bundle":               {func(i *issued.Record) {}, "bundle"},
		"bundle of another":    {func(i *issued.Record) { i.Bundle[7]--; i.Provenance.SliceID = "0123456789abcdef" }, "bundle"},
		"question of no facts": {func(i *issued.Record) { *i = storetest.IssuedFacts(30, 2) }, "question"},
	} {
		t.Run(name, func(t *testing.T) {
			s := inmem.Open(&inmem.Disk{}, inmem.Options{})
			if err := storetest.Fill(ctx, s, tenant); err != nil {
				t.Fatal(err)
			}
			list, err := storetest.Bundles(s).After(ctx, tenant, 1, 1)
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			list[0].Bundle[7]++
			c.change(&list[0])
			if _, err := storetest.Bundles(s).Put(ctx, tenant, list); err != nil {
				t.Fatal(err)
			}
			report, err := fsck.Tenant(ctx, s, tenant, fsck.Options{})
			if err != nil || !slices.ContainsFunc(report.Findings, func(f fsck.Finding) bool { return f.Where == "issued 6" && f.Rule == c.rule }) {
				t.Errorf("found %v, %v, want %q of issued 6", report.Findings, err, c.rule)
			}
		})
	}
}

// TestDamaged changes one thing by SQL, and expects it to be found, at its place.
func TestDamaged(t *testing.T) {
	sound := filled(t)
	data, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range slices.Concat(damages, entryDamages) {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "damaged.db")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if changed := exec(t, path, d.sql); changed == 0 {
				t.Fatalf("%s changed nothing", d.sql)
			}
			report := check(t, path, fsck.Options{})
			if d.where == "" {
				if !report.OK() {
					t.Errorf("found %v", report.Findings)
				}
				return
			}
			at := slices.IndexFunc(report.Findings, func(f fsck.Finding) bool {
				return f.Tenant == tenant && strings.HasPrefix(f.Where, d.where) && (d.rule == "" || f.Rule == d.rule)
			})
			if at < 0 {
				t.Errorf("found %v, want %q of %s", report.Findings, d.rule, d.where)
			}
			if report.OK() || report.Err() == nil || report.Found < len(report.Findings) {
				t.Errorf("%d findings, %d listed, error %v", report.Found, len(report.Findings), report.Err())
			}
			for _, f := range report.Findings {
				if f.Tenant != tenant || f.Where == "" || f.Rule == "" || f.Detail == "" {
					t.Errorf("got %+v", f)
				}
			}
		})
	}
}

func exec(t *testing.T, path, text string) int64 {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?vfs="+sqlite.VFS)
	if err = errors.Join(err, sqlite.RegisterVFS()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	r, err := db.ExecContext(t.Context(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	n, err := r.RowsAffected()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestBound makes sure that findings beyond the bound are counted and not kept.
func TestBound(t *testing.T) {
	path := filled(t)
	exec(t, path, `UPDATE turns SET salt = zeroblob(16) WHERE body IS NOT NULL`)
	report := check(t, path, fsck.Options{Findings: 5})
	if len(report.Findings) != 5 || report.Found != 74 {
		t.Errorf("%d findings kept of %d, want 5 of 74", len(report.Findings), report.Found)
	}
	if err := report.Err(); err == nil || !strings.Contains(err.Error(), "73 more") {
		t.Errorf("the error is %v", err)
	}
}

// TestWhileWriting checks again and again while others append, erase, issue, learn and add
// keys: none of it is a finding.
func TestWhileWriting(t *testing.T) {
	ctx := t.Context()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	if err := storetest.Fill(ctx, s, tenant); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		var err error
		random := rand.New(rand.NewPCG(1, 2))
		for n := 1000; n < 1200 && err == nil; n++ {
			if n%2 == 0 {
				// One that cannot be, of an alias, changes nothing.
				_, _ = storetest.Facts(s).Learn(ctx, tenant, []knowledge.Act{storetest.RandomAct(random), storetest.RandomAct(random)}, dag.Time(n))
			}
			a := storetest.Named(storetest.Arrival(n, n%5, "more", n%40+1), fmt.Sprint("name ", n%2))
			_, err = s.Append(ctx, tenant, []store.Batch{{a}})
			if n%3 == 0 && err == nil {
				_, err = storetest.Erase(ctx, s, tenant, storetest.Erasure([]int{n, n%40 + 1}[n%2]))
			}
			if n%5 == 0 && err == nil {
				err = storetest.Issue(ctx, s, tenant, storetest.TurnID(n), "wide@1")
			}
			if n%9 == 0 && err == nil {
				_, err = apikeys.Base{History: s}.Revoke(ctx, tenant, storetest.Key(n%3).ID, storetest.RevokedAt(n))
			}
			time.Sleep(time.Millisecond)
		}
		done <- err
	}()
	heads := map[dag.Seq]bool{}
	for {
		select {
		case err := <-done:
			if err != nil || len(heads) < 5 {
				t.Errorf("writing: %v; checked at %d heads, want 5", err, len(heads))
			}
			return
		default:
		}
		report, err := fsck.Store(ctx, s, fsck.Options{Page: 3 + len(heads)%3*100})
		if err != nil || !report.OK() {
			t.Fatalf("%v, %v", report.Findings, err)
		}
		heads[report.Heads[tenant]] = true
	}
}

// TestPassing makes sure that a store that cannot be asked is no finding.
func TestPassing(t *testing.T) {
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	if err := storetest.Fill(t.Context(), s, tenant); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if report, err := fsck.Tenant(ctx, s, tenant, fsck.Options{}); !errors.Is(err, context.Canceled) || !report.OK() {
		t.Errorf("cancelled: %v, %v", report.Findings, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := fsck.Tenant(t.Context(), s, tenant, fsck.Options{}); !errors.Is(err, store.ErrClosed) || !report.OK() {
		t.Errorf("closed: %v, %v", report.Findings, err)
	}
}

// meanwhile does something just before the record of issued slices is read.
type meanwhile struct {
	store.Store
	do    func() error
	reads int // of the policies
}

func (m *meanwhile) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	if do := m.do; do != nil && len(ranges) == 1 && ranges[0].Index == 255 && m.reads > 0 {
		m.do = nil
		if err := do(); err != nil {
			return nil, err
		}
	}
	if len(ranges) == 1 && ranges[0].Index == 128 && ranges[0].Limit == 0 && ranges[0].Prefix == nil {
		m.reads++
	}
	return m.Store.Terms(ctx, tenant, ranges)
}

// TestPolicyMeanwhile issues a slice under a policy that is registered while the check
// runs. It is no finding, and is cut again; a policy that is in no registry is one.
func TestPolicyMeanwhile(t *testing.T) {
	ctx := t.Context()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	if err := storetest.Fill(ctx, s, tenant); err != nil {
		t.Fatal(err)
	}
	m := &meanwhile{Store: s, do: func() error {
		return errors.Join(registry.Base{History: s}.Put(ctx, tenant, storetest.Policy("new@1", 5)), storetest.Issue(ctx, s, tenant, storetest.TurnID(9), "new@1"))
	}}
	report, err := fsck.Tenant(ctx, m, tenant, fsck.Options{})
	if err != nil || !report.OK() || report.Counts.Recut != 6 || m.do != nil {
		t.Errorf("cut again %d, want 6: %v, %v", report.Counts.Recut, report.Findings, err)
	}

	// The registry is read once for the policies, once for the slices, and once more.
	if _, err := storetest.PutIssued(ctx, s, tenant, storetest.Issued(30, 9)); err != nil {
		t.Fatal(err)
	}
	m = &meanwhile{Store: s}
	report, err = fsck.Tenant(ctx, m, tenant, fsck.Options{})
	if err != nil || len(report.Findings) != 1 || report.Findings[0].Rule != "policy" || m.reads != 3 {
		t.Errorf("%v, %v; the policies were read %d times, want 3", report.Findings, err, m.reads)
	}
}

// TestSettings puts standing policies in force: one that is registered, and, in other stores, one that is not, and one with another hash.
func TestSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		set  settings.Setting
		want string
	}{
		"built in":       {settings.Setting{Policy: standing.TeamID, Hash: standing.Team().Hash()}, ""},
		"not registered": {settings.Setting{Policy: "none@1", Hash: standing.Team().Hash()}, "none@1"},
		"another hash":   {settings.Setting{Policy: standing.TeamID, Hash: dag.Digest{1}}, "standing-team@1 with hash 0100"},
		"another type":   {settings.Setting{Policy: policy.DefaultV1ID, Hash: policy.DefaultV1().Hash()}, "default@1"},
	} {
		s := inmem.Open(&inmem.Disk{}, inmem.Options{})
		if err := storetest.Fill(t.Context(), s, tenant); err != nil {
			t.Fatal(err)
		}
		if _, err := (settings.Base{History: s}).Put(t.Context(), tenant, 0, tc.set); err != nil {
			t.Fatal(err)
		}
		report, err := fsck.Tenant(t.Context(), s, tenant, fsck.Options{})
		switch {
		case err != nil:
			t.Fatal(err)
		case tc.want == "" && !report.OK(), tc.want != "" && (len(report.Findings) != 1 || !strings.Contains(fmt.Sprint(report.Findings[0]), tc.want)):
			t.Errorf("%s: %+v", name, report.Findings)
		}
	}
}

// TestLedgerLevels damages a hash of each level of a ledger that has several, and the
// ledger's right edge in each of its hashes.
func TestLedgerLevels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Create(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const leaves = 3*256 + 3
	_, err = storetest.PutLeaves(t.Context(), s, tenant, storetest.Leaves(0, leaves))
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if report := check(t, path, fsck.Options{}); !report.OK() || report.Counts.Leaves != leaves {
		t.Fatalf("%+v", report)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := func(sql, where, rule string) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if changed := exec(t, path, sql); changed != 1 {
			t.Fatalf("%s changed %d rows", sql, changed)
		}
		report := check(t, path, fsck.Options{})
		if len(report.Findings) != 1 || report.Findings[0].Where != where || report.Findings[0].Rule != rule {
			t.Errorf("%s: found %v, want %q of %s", sql, report.Findings, rule, where)
		}
	}
	for n := range 3 {
		damaged(blob("log_hashes", "hash", 5*n, fmt.Sprintf(`level = 1 AND n = %d`, n)), fmt.Sprintf("hash %d of level 1", n), "hash")
	}
	damaged(`DELETE FROM log_hashes WHERE level = 1 AND n = 2`, "hash 2 of level 1", "hash")
	for n := range 4 { // 771 has four bits
		damaged(blob("logs", "edge", 32*n+n, `tenant = 1`), "ledger", "edge")
	}
}

// misread gives a leaf that is not a turn's when all are scanned, and only then.
type misread struct {
	store.Store
	turn dag.TurnID
}

func (m *misread) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, c *dag.ConversationID, fn func(*store.Record) error) error {
	return m.Store.Scan(ctx, tenant, after, c, func(r *store.Record) error {
		if r.Turn.ID == m.turn {
			r.Leaf[0] ^= 1
		}
		return fn(r)
	})
}

// TestScannedLeaf makes sure that the scan derives a turn's leaf from its fields, and
// does not leave that to the look-ups.
func TestScannedLeaf(t *testing.T) {
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	if err := storetest.Fill(t.Context(), s, tenant); err != nil {
		t.Fatal(err)
	}
	report, err := fsck.Tenant(t.Context(), &misread{s, storetest.TurnID(17)}, tenant, fsck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(report.Findings, func(f fsck.Finding) bool { return f.Where == turn(17) && f.Rule == "leaf" }) {
		t.Errorf("found %v, want the leaf of %s", report.Findings, turn(17))
	}
}

// TestNames returns more turns names than are asked for at once, and damages three.
func TestNames(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Create(ctx, path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const turns = 1300
	var b store.Batch
	for n := 1; n <= turns; n++ {
		b = append(b, storetest.Named(storetest.Arrival(n, n%7, fmt.Sprint("turn ", n)), fmt.Sprint("name ", n%1000)))
	}
	if _, err := s.Append(ctx, tenant, []store.Batch{b}); err != nil {
		t.Fatal(err)
	}
	asked := &asking{Store: s}
	if report, err := fsck.Tenant(ctx, asked, tenant, fsck.Options{}); err != nil || !report.OK() || asked.names.Load() != turns {
		t.Errorf("%v, %v; %d names were asked for, want %d", report.Findings, err, asked.names.Load(), turns)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 700, turns} {
		exec(t, path, `UPDATE turns SET name = NULL WHERE tenant = 1 AND substr(kept, 49, 16) = `+id(n))
	}
	report := check(t, path, fsck.Options{})
	if report.Found != 3 {
		t.Errorf("found %v", report.Findings)
	}
	for _, n := range []int{1, 700, turns} {
		if !slices.ContainsFunc(report.Findings, func(f fsck.Finding) bool { return f.Where == turn(n) && f.Rule == "external id" }) {
			t.Errorf("turn %d is not found: %v", n, report.Findings)
		}
	}
}

type asking struct {
	store.Store
	names atomic.Int64
}

func (a *asking) Find(ctx context.Context, tenant dag.Tenant, name store.Name, limit int) ([]dag.TurnID, error) {
	if _, ok := name.(store.External); ok {
		a.names.Add(1)
	}
	return a.Store.Find(ctx, tenant, name, limit)
}
