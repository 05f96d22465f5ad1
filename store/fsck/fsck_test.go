package fsck_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
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
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
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
	atParent       = 110
	atParentConv   = 126
	atKind         = 142
	atEdgeLeaf     = 143
)

type damage struct{ name, sql, where, rule string }

// damages are one for each column that the contract lets anybody see. Where is one of
// the findings' places, and rule its rule.
var damages = []damage{
	{"head, too great", `UPDATE tenants SET head = head + 3 WHERE tenant = 1`, "numbers 66 to 68", "number"},
	{"head, too small", `UPDATE tenants SET head = head - 2 WHERE tenant = 1`, "number 65", "head"},

	{"key of no form", `UPDATE turns SET key = CAST('nobody' AS BLOB) WHERE tenant = 1 AND seq = 7`, turn(7), "key"},
	{"turn gone", `DELETE FROM turns WHERE tenant = 1 AND seq = 7`, "number 7", "number"},
	{"turn of another number", `UPDATE turns SET seq = 99 WHERE tenant = 1 AND seq = 7`, "number 7", "number"},
	{"turn of another tenant", `UPDATE turns SET tenant = 7 WHERE tenant = 1 AND seq = 7`, "number 7", "number"},
	{"conversation", kept(17, atConversation, 1, 2), turn(17), "leaf"},
	{"body digest", kept(17, atDigest, 1, 2), turn(17), "body digest"},
	{"body digest of an erased turn", kept(3, atDigest, 1, 2), turn(3), "leaf"},
	{"id", kept(17, atID+15, 200), "turn 1fe68f0a-f33c-b97a-0000-0000000000c8", "leaf"},
	{"created", kept(17, atCreated+7, 1), turn(17), "leaf"},
	{"created, not at all", kept(17, atCreated, 0x80), turn(17), "form"},
	{"salience", kept(17, atSalience+3, 1), turn(17), "leaf"},
	{"role", kept(17, atRole, 9), turn(17), "form"},
	{"phase", kept(17, atPhase, 9), turn(17), "form"},
	{"leaf", kept(17, atLeaf+31, 1), turn(17), "leaf"},
	{"parent", kept(17, atParent+3, 1), turn(17), "parent"},
	{"parent's conversation", kept(17, atParentConv+3, 1), turn(17), "parent"},
	{"edge kind", kept(17, atKind, 9), turn(17), "edge"},
	{"edge leaf", kept(17, atEdgeLeaf, 1, 1), turn(17), "edge leaf"},
	{"edge gone", `UPDATE turns SET kept = substr(kept, 1, 110) WHERE tenant = 1 AND seq = 17`, turn(17), "segment"},
	{"cut short", `UPDATE turns SET kept = substr(kept, 1, 100) WHERE tenant = 1 AND seq = 17`, "number 1 and on", "readable"},
	{"name", `UPDATE turns SET name = x'0102030405060708' WHERE tenant = 1 AND seq = 17`, turn(17), "external id"},
	{"name, gone", `UPDATE turns SET name = NULL WHERE tenant = 1 AND seq = 17`, turn(17), "external id"},
	{"salt", `UPDATE turns SET salt = x'01020304050607080102030405060708' WHERE tenant = 1 AND seq = 18`, turn(18), "body digest"},
	{"salt, gone", `UPDATE turns SET salt = NULL WHERE tenant = 1 AND seq = 18`, "number 1 and on", "readable"},
	{"external id", `UPDATE turns SET external = CAST('other' AS BLOB) WHERE tenant = 1 AND seq = 17`, turn(17), "external id"},
	{"external id, gone", `UPDATE turns SET external = NULL WHERE tenant = 1 AND seq = 17`, turn(17), "external id"},
	{"body", `UPDATE turns SET body = CAST('{}' AS BLOB) WHERE tenant = 1 AND seq = 18`, turn(18), "body"},
	{"body, gone", `UPDATE turns SET body = NULL WHERE tenant = 1 AND seq = 15`, turn(15), "body"},
	{"body and salt, gone", `UPDATE turns SET body = NULL, salt = NULL WHERE tenant = 1 AND seq = 15`, turn(15), "body"},
	{"body of an issued turn, said to be withheld", `UPDATE turns SET body = NULL, salt = x'00', external = NULL, name = NULL WHERE tenant = 1
		AND substr(kept, 49, 16) = ` + id(15), "issued", "bundle"},
	{"token of another bundle", `UPDATE records SET detail = CAST(substr(detail, 1, 8) || 'ffffffffffffffffffffffffffffffff' AS BLOB) WHERE tenant = 1 AND kind = 'issued/1'`, "issued", "bundle"},
	{"body that was erased", `UPDATE turns SET body = CAST('{"attrs":{},"author":"human:guest","content":"back"}' AS BLOB), salt = zeroblob(16)
		WHERE tenant = 1 AND substr(kept, 49, 16) = ` + id(3), turn(3), "body"},

	{"id gone", `DELETE FROM ids WHERE tenant = 1 AND id = ` + id(5), turn(5), "found by id"},
	{"id of another", `UPDATE ids SET turn = turn + 1 WHERE tenant = 1 AND id = ` + id(5), turn(5), "found by id"},
	{"id of none", `INSERT INTO ids (tenant, id, turn) VALUES (1, x'00112233445566778899aabbccddeeff', 3)`, "turn 00112233-4455-6677-8899-aabbccddeeff", "found by prefix"},
	{"id spoilt", `UPDATE ids SET id = zeroblob(16) WHERE tenant = 1 AND id = ` + id(5), turn(5), "found by prefix"},
	{"id of another size", `UPDATE ids SET id = x'00' WHERE tenant = 1 AND id = ` + id(5), turn(5), "found by id"},

	{"run gone", `DELETE FROM runs WHERE tenant = 1 AND conversation = ` + conv(2), turn(2), "segment"},
	{"run, a skeleton", `UPDATE runs SET run = CAST(substr(run, 1, 40) || x'ff' || substr(run, 42) AS BLOB) WHERE tenant = 1 AND conversation = ` + conv(2), "turn ", "segment"},
	{"run, cut short", `UPDATE runs SET run = substr(run, 1, 50) WHERE tenant = 1 AND conversation = ` + conv(2), conversation(2), "readable"},
	{"run of another conversation", `UPDATE runs SET conversation = x'00112233445566778899aabbccddeeff' WHERE tenant = 1 AND conversation = ` + conv(2), turn(2), "segment"},

	{"link gone", `DELETE FROM links WHERE tenant = 1 AND substr(link, 17, 16) = ` + id(20), turn(20), "link"},
	{"link of another number", `UPDATE links SET seq = seq + 1 WHERE tenant = 1 AND substr(link, 17, 16) = ` + id(20), turn(20), "link"},
	{"link of another parent", `UPDATE links SET link = CAST(zeroblob(16) || substr(link, 17) AS BLOB) WHERE tenant = 1 AND substr(link, 17, 16) = ` + id(20), turn(20), "link"},
	{"link to another conversation", `UPDATE links SET link = CAST(substr(link, 1, 32) || zeroblob(16) AS BLOB) WHERE tenant = 1 AND substr(link, 17, 16) = ` + id(20), turn(20), "link"},
	{"link of another conversation", `UPDATE links SET parent_conversation = zeroblob(16) WHERE tenant = 1 AND substr(link, 17, 16) = ` + id(20), turn(20), "link"},
	{"link that is no edge", `INSERT INTO links (tenant, parent_conversation, seq, link) VALUES (1, ` + conv(2) + `, 7, CAST(` + id(2) + `||` + id(7) + `||` + conv(3) + ` AS BLOB))`, turn(7), "link"},
	{"link of another size", `UPDATE links SET link = x'00' WHERE tenant = 1 AND substr(link, 17, 16) = ` + id(20), conversation(3), "readable"},

	{"conversation gone", `DELETE FROM conversations WHERE tenant = 1 AND conversation = ` + conv(2), conversation(2), "conversation"},
	{"conversation that is none", `INSERT INTO conversations VALUES (1, x'00112233445566778899aabbccddeeff', 1, 1, 1, 1, 1)`, "conversation 00112233-4455-6677-8899-aabbccddeeff", "conversation"},
	{"count", `UPDATE conversations SET turns = turns + 1 WHERE tenant = 1 AND conversation = ` + conv(2), conversation(2), "conversation"},
	{"first", `UPDATE conversations SET first = first + 1 WHERE tenant = 1 AND conversation = ` + conv(2), conversation(2), "conversation"},
	{"last", `UPDATE conversations SET last = last + 1 WHERE tenant = 1 AND conversation = ` + conv(2), conversation(2), "conversation"},
	{"last, above the head", `UPDATE conversations SET last = 4000 WHERE tenant = 1 AND conversation = ` + conv(2), conversation(2), "conversation"},
	{"first time", `UPDATE conversations SET first_at = first_at + 1 WHERE tenant = 1 AND conversation = ` + conv(2), conversation(2), "conversation"},
	{"last time", `UPDATE conversations SET last_at = last_at - 1 WHERE tenant = 1 AND conversation = ` + conv(2), conversation(2), "conversation"},

	{"event gone", `DELETE FROM entries WHERE tenant = 1 AND seq = 21`, "number 21", "number"},
	{"event of another number", `UPDATE entries SET seq = 20 WHERE tenant = 1 AND seq = 21`, "number 20", "number"},
	{"event of another kind", `UPDATE entries SET kind = 'other/1' WHERE tenant = 1 AND seq = 21`, "number 21", "entry"},
	{"event of another text", `UPDATE entries SET public = CAST('{}' AS BLOB) WHERE tenant = 1 AND seq = 21`, "number 1 and on", "readable"},
	{"event recorded at another time", `UPDATE entries SET at = at + 1 WHERE tenant = 1 AND seq = 21`, "number 21", "entry"},
	{"event at no time", `UPDATE entries SET at = -1 WHERE tenant = 1 AND seq = 21`, "number 21", "entry"},
	{"event of no turn", `DELETE FROM terms WHERE tenant = 1 AND indx = 120 AND since = 21`, "number 21", "term"},
	{"event of another turn", `UPDATE terms SET key = ` + id(4) + ` WHERE tenant = 1 AND indx = 120 AND since = 21`, "number 21", "term"},
	{"event that is not listed", `DELETE FROM terms WHERE tenant = 1 AND indx = 121 AND since = 21`, "number 21", "term"},
	{"event listed of another turn", `UPDATE terms SET value = ` + id(4) + ` WHERE tenant = 1 AND indx = 121 AND since = 21`, "number 21", "term"},
	{"leaf of an event of no turn", `DELETE FROM terms WHERE tenant = 1 AND indx = 135 AND since = 4`, "leaf 3", "term"},

	{"policy gone", `DELETE FROM terms WHERE tenant = 1 AND key = CAST('wide@1' AS BLOB)`, "issued 1", "policy"},
	{"policy of another name", `UPDATE terms SET key = CAST('wide@7' AS BLOB) WHERE tenant = 1 AND key = CAST('wide@1' AS BLOB)`, "issued 5", "policy"},
	{"policy's hash", `UPDATE terms SET value = zeroblob(32) || substr(value, 33) WHERE tenant = 1 AND key = CAST('wide@1' AS BLOB)`, "policies", "readable"},
	{"policy's parameters", `UPDATE terms SET value = substr(value, 1, 32) || (SELECT substr(value, 33) FROM terms WHERE key = CAST('narrow@2' AS BLOB)) WHERE tenant = 1 AND key = CAST('wide@1' AS BLOB)`, "policies", "readable"},
	{"policy, both", `UPDATE terms SET value = (SELECT value FROM terms WHERE key = CAST('narrow@2' AS BLOB)) WHERE tenant = 1 AND key = CAST('wide@1' AS BLOB)`, "issued 1", "policy_params_hash"},

	{"issued, of no slice", `DELETE FROM terms WHERE tenant = 1 AND indx = 131 AND since = 6`, "leaf 5", "term"},
	{"issued, of another slice", `UPDATE terms SET key = CAST(zeroblob(8) || substr(key, 9) AS BLOB) WHERE tenant = 1 AND indx = 131 AND since = 6`, "leaf 5", "term"},
	{"issued, of another act", `UPDATE terms SET since = 5 WHERE tenant = 1 AND indx = 131 AND since = 6`, "leaf 5", "term"},
	{"issued, of another record", `UPDATE terms SET since = 7 WHERE tenant = 1 AND indx = 131 AND since = 6`, "leaf 5", "term"},
	{"issued, of no record", `UPDATE terms SET since = 99 WHERE tenant = 1 AND indx = 131 AND since = 6`, "leaf 98", "size"},
	{"issued number gone", `DELETE FROM terms WHERE tenant = 1 AND indx = 255 AND since = 6`, "leaf 5", "term"},
	{"issued number, another", `UPDATE terms SET key = x'0000000000000009' WHERE tenant = 1 AND indx = 255 AND since = 6`, "leaf 5", "term"},
	{"issued number, of another act", `UPDATE terms SET since = 5 WHERE tenant = 1 AND indx = 255 AND since = 6`, "issued 1 and on", "readable"},
	{"issued number in the detail", `UPDATE records SET detail = CAST(x'0000000000000009' || substr(detail, 9) AS BLOB) WHERE tenant = 1 AND n = 5`, "leaf 5", "entry"},
	{"issued without a detail", `UPDATE records SET detail = NULL WHERE tenant = 1 AND n = 5`, "leaf 5", "entry"},
	{"issued with a question", `UPDATE records SET private = x'61' WHERE tenant = 1 AND n = 5`, "leaf 5", "entry"},

	{"key's id", `UPDATE terms SET key = CAST('X' AS BLOB) WHERE tenant = 1 AND indx = 129 AND key = (SELECT min(key) FROM terms WHERE tenant = 1 AND indx = 129)`, "keys", "readable"},
	{"key's detail", `UPDATE terms SET value = substr(value, 1, 40) WHERE tenant = 1 AND indx = 129`, "keys", "readable"},
	{"key created at no time", `UPDATE terms SET value = CAST(x'ffffffffffffffff' || substr(value, 9) AS BLOB) WHERE tenant = 1 AND indx = 129`, "keys", "readable"},
	{"key revoked at no time", `UPDATE terms SET value = CAST(substr(value, 1, 8) || x'ffffffffffffffff' || substr(value, 17) AS BLOB) WHERE tenant = 1 AND indx = 129`, "keys", "readable"},
	{"key's hash, of another", `UPDATE terms SET value = CAST(substr(value, 1, 16) || (SELECT substr(value, 17) FROM terms WHERE tenant = 1 AND indx = 129 ORDER BY key DESC LIMIT 1) AS BLOB) WHERE tenant = 1 AND indx = 129`, "key ", "hash"},
	{"key created at another time", `UPDATE terms SET value = CAST(x'0000000000000001' || substr(value, 9) AS BLOB) WHERE tenant = 1 AND indx = 129`, "leaf ", "term"},
	{"key that is live again", `DELETE FROM terms WHERE tenant = 1 AND indx = 129 AND substr(value, 9, 8) <> zeroblob(8)`, "leaf ", "term"},
	{"key revoked at another time", `UPDATE terms SET value = CAST(substr(value, 1, 8) || x'0000000000000009' || substr(value, 17) AS BLOB) WHERE tenant = 1 AND indx = 129 AND substr(value, 9, 8) <> zeroblob(8)`, "leaf ", "term"},
	{"key of another name", `UPDATE terms SET key = CAST('0123456789abcdef' AS BLOB) WHERE tenant = 1 AND indx = 129 AND key = (SELECT min(key) FROM terms WHERE tenant = 1 AND indx = 129)`, "leaf ", "term"},
	{"key's number", `UPDATE terms SET key = x'0000000000000007' WHERE tenant = 1 AND indx = 130`, "leaf ", "term"},
	{"key's record without its detail", `UPDATE records SET detail = NULL WHERE tenant = 1 AND kind = 'api-key/1'`, "leaf ", "entry"},

	// Acts that the ledger does not have so.
	{"policy that came by another way", `INSERT INTO terms SELECT tenant, indx, CAST('other@1' AS BLOB), since, until, value FROM terms WHERE tenant = 1 AND key = CAST('wide@1' AS BLOB)`, "leaf ", "term"},
	{"policy's detail", `UPDATE records SET detail = (SELECT detail FROM records WHERE kind = 'policy/1' ORDER BY n DESC LIMIT 1) WHERE tenant = 1 AND kind = 'policy/1'`, "leaf ", "entry"},
	{"record of another kind", `UPDATE records SET kind = 'policy/2' WHERE tenant = 1 AND kind = 'policy/1'`, "leaf ", "entry"},
	{"record beyond the ledger", `INSERT INTO terms SELECT tenant, indx, key, 999, until, value FROM terms WHERE tenant = 1 AND key = CAST('wide@1' AS BLOB)`, "leaf 998", "size"},

	{"ledger gone", `DELETE FROM logs WHERE tenant = 1`, "leaf 0", "size"},
	{"ledger's size, too great", `UPDATE logs SET size = 22 WHERE tenant = 1`, "leaf 14", "number"},
	{"ledger's size, too small", `UPDATE logs SET size = 13 WHERE tenant = 1`, "ledger", "edge"},
	{"ledger's size and not its edge", `UPDATE logs SET size = 15 WHERE tenant = 1`, "ledger", "readable"},
	{"ledger as it was", `UPDATE logs SET size = 12, edge = substr(edge, 1, 64) WHERE tenant = 1`, "leaf 12", "size"},
	{"ledger's edge", blob("logs", "edge", 40, `tenant = 1`), "ledger", "edge"},
	{"leaf", blob("records", "leaf", 20, `tenant = 1 AND n = 6`), "leaf 6", "hash"},
	{"leaf, not even a leaf", blob("records", "leaf", 0, `tenant = 1 AND n = 6`), "leaf 6", "form"},
	{"leaf cut short", `UPDATE records SET leaf = substr(leaf, 1, 40) WHERE tenant = 1 AND n = 6`, "leaf 6", "form"},
	{"leaf twice", `UPDATE records SET leaf = (SELECT leaf FROM records WHERE tenant = 1 AND n = 3) WHERE tenant = 1 AND n = 6`, "leaf 6", "twice"},
	{"leaf gone", `DELETE FROM records WHERE tenant = 1 AND n = 6`, "leaf ", "number"},
	{"leaf of another number", `UPDATE records SET n = 99 WHERE tenant = 1 AND n = 13`, "leaf ", "number"},
	{"leaf of another tenant", `UPDATE records SET tenant = 7 WHERE tenant = 1 AND n = 13`, "leaf 13", "number"},
	{"leaf's hash", blob("log_hashes", "hash", 31, `tenant = 1 AND n = 6`), "leaf 6", "hash"},
	{"leaf's hash, gone", `DELETE FROM log_hashes WHERE tenant = 1 AND n = 6`, "leaf ", "readable"},
	{"leaf's hash, the last one", `DELETE FROM log_hashes WHERE tenant = 1 AND n = 13`, "leaf 13", "hash"},
	{"leaf's hash of another size", `UPDATE log_hashes SET hash = x'00' WHERE tenant = 1 AND n = 6`, "leaf ", "readable"},
	{"leaf's hash of another level", `UPDATE log_hashes SET level = 1 WHERE tenant = 1 AND n = 13`, "leaf 13", "hash"},
	{"hash of a level that is none yet", `INSERT INTO log_hashes VALUES (1, 1, 0, zeroblob(32))`, "hash 0 of level 1", "size"},
	{"origin that is none", `UPDATE cells SET name = 'cosigned/' || char(10) WHERE tenant = 1 AND name = 'cosigned/log0.example'`, `cell "cosigned/\n"`, "form"},
	{"cells in another order", `DROP TABLE cells; CREATE TABLE cells (tenant, name COLLATE NOCASE, value, PRIMARY KEY (tenant, name));
		INSERT INTO cells VALUES (1, 'cosigned/log', x'0000000000000003' || zeroblob(32)), (1, 'cosigned/Mog', x'0000000000000004' || zeroblob(32))`, `cell "cosigned/Mog"`, "order"},
	{"cell of no kind", `UPDATE cells SET name = 'other' WHERE tenant = 1 AND name = 'cosigned/log0.example'`, `cell "other"`, "form"},
	{"witnessed root of another size", `UPDATE cells SET value = x'00' WHERE tenant = 1`, `cell "cosigned/log0.example"`, "form"},
	{"witnessed size", `UPDATE cells SET value = x'ffffffffffffffff' || zeroblob(32) WHERE tenant = 1 AND name = 'cosigned/log1.example'`, `cell "cosigned/log1.example"`, "form"},
	{"witnessed root of nothing", `UPDATE cells SET value = zeroblob(40) WHERE tenant = 1 AND name = 'cosigned/log1.example'`, `cell "cosigned/log1.example"`, "form"},
	{"witnessed root gone", `DELETE FROM cells WHERE tenant = 1`, "", ""}, // nothing else tells of it

}

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
	db, err := sql.Open("sqlite", path)
	if err != nil {
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
