package fsck_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/memory"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// acts changes a column of the act of a number, see storetest.Fill.
func acts(seq int, set string) string {
	return fmt.Sprintf(`UPDATE acts SET %s WHERE tenant = 1 AND seq = %d`, set, seq)
}

// text replaces something in the text of an act.
func text(seq int, from, to string) string {
	return acts(seq, fmt.Sprintf(`act = replace(act, '%s', '%s')`, from, to))
}

// edges changes an edge of the version that began with a number.
func edges(seq, incoming int, set string) string {
	return fmt.Sprintf(`UPDATE edges SET %s WHERE tenant = 1 AND since = %d AND incoming = %d`, set, seq, incoming)
}

// doubled adds another edge of the version that began with 37, with some of its columns
// replaced.
func doubled(columns string) string {
	return `INSERT INTO edges (tenant, name, incoming, doubt, statement, since, until, predicate, other, valid_from, valid_until, source, turn)
		SELECT ` + columns + `, until, predicate, other, valid_from, valid_until, source, turn FROM edges WHERE tenant = 1 AND since = 37 AND incoming = 0`
}

func turnID(n int) string { return storetest.TurnID(n).String() }

// knowledgeDamages are those of acts and edges.
var knowledgeDamages = []damage{
	{"act gone", `DELETE FROM acts WHERE tenant = 1 AND seq = 50`, "number 50", "number"},
	{"acts gone", `DELETE FROM acts WHERE tenant = 1 AND seq BETWEEN 33 AND 38`, "numbers 33 to 38", "number"},
	{"act gone, and its edges are there", `DELETE FROM acts WHERE tenant = 1 AND seq = 37`, "act 37", "edge"},
	{"last act gone", `DELETE FROM acts WHERE tenant = 1 AND seq = 65`, "number 65", "number"},
	{"act of another number", acts(65, `seq = 99`), "number 65", "number"},
	{"act of another number, above the head", acts(65, `seq = 99`), "act 99", "head"},
	{"act of another tenant", acts(50, `tenant = 7`), "number 50", "number"},
	{"act of a turn's number", acts(50, `seq = 7`), "act 7", "number"},
	{"turn of an act's number", `UPDATE turns SET seq = 50 WHERE tenant = 1 AND seq = 48`, "act 50", "number"},
	{"act of an event's number", acts(54, `seq = 55`), "event 55", "number"},
	{"event of an act's number", `UPDATE events SET seq = 54 WHERE tenant = 1 AND seq = 55`, "event 54", "number"},

	{"act, no text", acts(50, `act = 'x'`), "act 1 and on", "readable"},
	{"act, no canonical text", acts(50, `act = act || ' '`), "act 1 and on", "readable"},
	{"act, confidence", text(38, `0.9`, `0.8`), "act 38", "edge"},
	{"act, confidence, no higher than before", text(38, `0.9`, `0.3`), "act 38", "until"},
	{"act, predicate", text(37, `wrote`, `read`), "act 37", "edge"},
	{"act, subject", text(53, `"subject":"e1"`, `"subject":"e2"`), "act 53", "edge"},
	{"act, object", text(37, `"e1"`, `"e2"`), "act 37", "edge"},
	{"act, source", text(37, `user`, `another`), "act 37", "edge"},
	{"act, of a time", text(35, `000009Z`, `000008Z`), "act 35", "edge"},
	{"act, evidence", text(33, turnID(7), turnID(8)), "act 33", "edge"},
	{"act, evidence that is not there", text(33, turnID(7), turnID(99)), "act 33", "evidence"},
	{"act, evidence that came later", text(33, turnID(7), turnID(40)), "act 33", "evidence"},
	{"evidence gone", `DELETE FROM turns WHERE tenant = 1 AND substr(kept, 49, 16) = ` + id(7), "act 33", "evidence"},
	{"act, what it superseded", acts(53, `act = json_remove(act, '$.supersedes[0]')`), "act 38", "until"},
	{"act, that it superseded", acts(53, `act = json_remove(act, '$.supersedes')`), "act 49", "until"},
	{"act, supersedes what was not believed", text(53, `"supersedes":["1b`, `"supersedes":["0b`), "act 53", "act"},
	{"act, retracts what was not believed", text(52, `"statement":"e7`, `"statement":"e8`), "act 52", "act"},
	{"act, a retraction's reason", text(52, `wrong`, `right`), "", ""},
	{"act, alias", text(51, `ee-two`, `ee-ten`), "act 54", "act"},
	{"act, what an alias stands for", text(51, `"e2"`, `"e3"`), "act 54", "act"},
	{"act, the same alias again", acts(51, `act = (SELECT act FROM acts WHERE seq = 50)`), "act 51", "act"},
	{"act, the same assertion again", acts(38, `act = (SELECT act FROM acts WHERE seq = 33)`), "act 38", "act"},
	{"act, an assertion again that was confirmed since", acts(65, `act = (SELECT act FROM acts WHERE seq = 61)`), "act 65", "act"},
	{"act, at another time", acts(50, `at = at + 1`), "", ""}, // nothing else tells of it
	{"act, at no time", acts(50, `at = -1`), "act 50", "form"},

	{"act's statement", acts(37, `statement = statement + 1`), "act 37", "found by statement"},
	{"act's statement, of a retraction", acts(60, `statement = statement + 1`), "act 60", "found by statement"},
	{"act's statement, gone", acts(37, `statement = NULL`), "act 37", "found among aliases"},
	{"act's statement, of an alias", acts(50, `statement = 5`), "act 50", "found among aliases"},
	{"act's leaf", acts(37, `leaf = leaf + 1`), "", ""},       // only who asserts the same again asks for it
	{"act's opened", acts(64, `opened = opened + 1`), "", ""}, // and for this
	{"act's until", acts(38, `until = until - 1`), "act 38", "until"},
	{"act's until, without an end", acts(38, `until = 9007199254740991`), "act 38", "until"},
	{"act's until, of what is believed", acts(37, `until = 60`), "act 37", "until"},
	{"act's until, above the head", acts(37, `until = 4000`), "act 37", "head"},
	{"act's until, of one that began no version", acts(34, `until = 60`), "act 34", "until"},
	{"act's until, of a retraction", acts(52, `until = 60`), "act 52", "until"},
	{"act's until, gone", acts(37, `until = 0`), "act 37", "until"},

	{"edge gone from the subject", `DELETE FROM edges WHERE tenant = 1 AND since = 37 AND incoming = 0`, "act 37", "edge"},
	{"edge gone from the object", `DELETE FROM edges WHERE tenant = 1 AND since = 37 AND incoming = 1`, "act 37", "edge"},
	{"edges gone of what is believed no longer", `DELETE FROM edges WHERE tenant = 1 AND since = 57`, "act 57", "edge"},
	{"edge doubled under another name", doubled(`tenant, 'e5', incoming, doubt, statement, since`), "act 37", "edge"},
	{"edge doubled under an alias", doubled(`tenant, 'ee-one', incoming, doubt, statement, since`), "act 37", "edge"},
	{"edge doubled under a predicate", doubled(`tenant, 'wrote', incoming, doubt, statement, since`), "act 37", "edge"},
	{"edge doubled under a name that no act has", doubled(`tenant, 'nobody', incoming, doubt, statement, since`), "", ""}, // it cannot be asked for
	{"edge doubled in the other direction", doubled(`tenant, name, 1, doubt, statement, since`), "act 37", "edge"},
	{"edge doubled with another confidence", doubled(`tenant, name, incoming, doubt + 1, statement, since`), "act 37", "edge"},
	{"edge doubled of another statement", doubled(`tenant, name, incoming, doubt, zeroblob(32), since`), "act 37", "edge"},
	{"edge doubled of another version", doubled(`tenant, name, incoming, doubt, statement, 35`), "act 35", "edge"},
	{"edge doubled of a number that began no version", doubled(`tenant, name, incoming, doubt, statement, 34`), "act 34", "edge"},
	{"edge doubled of a turn's number", doubled(`tenant, name, incoming, doubt, statement, 7`), "act 7", "edge"},
	{"edge doubled of no number", doubled(`tenant, name, incoming, doubt, statement, 0`), `name "ada-müller"`, "order"},
	{"edge doubled of a number above the head", doubled(`tenant, name, incoming, doubt, statement, 99`), "act 99", "head"},
	{"edge of another tenant", edges(37, 0, `tenant = 7`), "act 37", "edge"},
	{"edge of another name", edges(37, 0, `name = 'e5'`), "act 37", "edge"},
	{"edge in the other direction", edges(37, 1, `incoming = 0`), "act 37", "edge"},
	{"edge's confidence", edges(38, 0, `doubt = doubt + 1`), "act 38", "edge"},
	{"edge's confidence, none", edges(38, 0, `doubt = 2000000`), "act 38", "edge"},
	{"edge's statement", edges(37, 1, `statement = zeroblob(32)`), "act 37", "edge"},
	{"edge's statement, no digest", edges(37, 1, `statement = x'00'`), `name "e1"`, "readable"},
	{"edge's version", edges(33, 0, `since = 38`), "act 38", "edge"},
	{"edge's until", edges(38, 0, `until = until + 1`), "act 38", "edge"},
	{"edge's until, without an end", edges(38, 1, `until = 9007199254740991`), "act 38", "edge"},
	{"edge's until, of what is believed", edges(37, 1, `until = 60`), "act 37", "edge"},
	{"edge's until, above the head", edges(37, 1, `until = 4000`), "act 37", "head"},
	{"edge's predicate", edges(37, 0, `predicate = 'read'`), "act 37", "edge"},
	{"edge's other end", edges(37, 0, `other = 'e2'`), "act 37", "edge"},
	{"edge's beginning of a time", edges(35, 0, `valid_from = 6`), "act 35", "edge"},
	{"edge's end of a time", edges(35, 1, `valid_until = 10`), "act 35", "edge"},
	{"edge's source", edges(37, 0, `source = 'another'`), "act 37", "edge"},
	{"edge's turn", edges(33, 0, `turn = `+id(8)), "act 33", "edge"},
	{"edge's turn, gone", edges(33, 1, `turn = NULL`), "act 33", "edge"},
	{"edge's turn, where none was", edges(37, 1, `turn = `+id(8)), "act 37", "edge"},
	{"edge's turn, no id", edges(33, 0, `turn = x'00'`), `name "e1"`, "readable"},
}

// An untrue store changes what another says of knowledge; it counts the calls of a method.
type untrue struct {
	store.Store
	calls    map[string]int
	acts     func(call int, list []knowledge.Recorded) ([]knowledge.Recorded, error)
	actsOf   func(list []knowledge.Recorded) ([]knowledge.Recorded, error)
	aliases  func(list []knowledge.Recorded) ([]knowledge.Recorded, error)
	edges    func(asks []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error)
	versions func(list []knowledge.Recorded, total int) ([]knowledge.Recorded, int, error)
}

func (u *untrue) Acts(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]knowledge.Recorded, error) {
	list, err := u.Store.Acts(ctx, tenant, after, limit)
	if err == nil && u.acts != nil {
		u.calls["acts"]++
		list, err = u.acts(u.calls["acts"], list)
	}
	return list, err
}

func (u *untrue) ActsOf(ctx context.Context, tenant dag.Tenant, id knowledge.ID, after dag.Seq, limit int) ([]knowledge.Recorded, error) {
	list, err := u.Store.ActsOf(ctx, tenant, id, after, limit)
	if err == nil && u.actsOf != nil {
		list, err = u.actsOf(list)
	}
	return list, err
}

func (u *untrue) Aliases(ctx context.Context, tenant dag.Tenant, after dag.Seq) ([]knowledge.Recorded, error) {
	list, err := u.Store.Aliases(ctx, tenant, after)
	if err == nil && u.aliases != nil {
		list, err = u.aliases(list)
	}
	return list, err
}

func (u *untrue) Edges(ctx context.Context, tenant dag.Tenant, asks []knowledge.Ask) ([][]knowledge.Edge, error) {
	lists, err := u.Store.Edges(ctx, tenant, asks)
	if err == nil && u.edges != nil {
		u.calls["edges"]++
		lists, err = u.edges(asks, lists)
	}
	return lists, err
}

func (u *untrue) Versions(ctx context.Context, tenant dag.Tenant, f knowledge.Find) ([]knowledge.Recorded, int, error) {
	list, total, err := u.Store.Versions(ctx, tenant, f)
	if err == nil && u.versions != nil {
		list, total, err = u.versions(list, total)
	}
	return list, total, err
}

// at changes the act of a number, in whatever list it is.
func at(list []knowledge.Recorded, seq dag.Seq, change func(*knowledge.Recorded)) ([]knowledge.Recorded, error) {
	for i := range list {
		if list[i].Seq == seq {
			change(&list[i])
		}
	}
	return list, nil
}

func without(list []knowledge.Recorded, seq dag.Seq) []knowledge.Recorded {
	return slices.DeleteFunc(list, func(r knowledge.Recorded) bool { return r.Seq == seq })
}

// eachEdge changes the edges of a version.
func eachEdge(lists [][]knowledge.Edge, since dag.Seq, change func(*knowledge.Edge)) ([][]knowledge.Edge, error) {
	for _, list := range lists {
		for i := range list {
			if list[i].Since == since {
				change(&list[i])
			}
		}
	}
	return lists, nil
}

// TestUntrue finds what no damage of a file can make a store say.
func TestUntrue(t *testing.T) {
	type recorded = []knowledge.Recorded
	s := memory.Open(&memory.Disk{}, memory.Options{})
	if err := storetest.Fill(t.Context(), s, tenant); err != nil {
		t.Fatal(err)
	}
	all, err := s.Acts(t.Context(), tenant, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	number := func(seq dag.Seq) knowledge.Recorded {
		return all[slices.IndexFunc(all, func(r knowledge.Recorded) bool { return r.Seq == seq })]
	}
	fault := errors.New("fault")
	otherLeaf := func(r *knowledge.Recorded) { r.Leaf[5] ^= 1 }
	later := func(r *knowledge.Recorded) { r.At++ }
	for _, c := range []struct {
		name        string
		untrue      untrue
		where, rule string
		alone       bool // nothing else is found
		page        int
	}{
		{"leaf", untrue{acts: func(_ int, l recorded) (recorded, error) { return at(l, 37, otherLeaf) }}, "act 37", "leaf", true, 0},
		{"leaf, read again", untrue{acts: func(n int, l recorded) (recorded, error) {
			if n == 1 {
				return l, nil
			}
			return at(l, 37, otherLeaf)
		}}, "act 37", "leaf", true, 0},
		{"leaf, of a list that breaks off", untrue{acts: func(n int, l recorded) (recorded, error) {
			if n > 3 {
				return nil, fault
			}
			return at(l, 37, otherLeaf)
		}}, "act 37", "leaf", false, 4},
		{"time", untrue{acts: func(_ int, l recorded) (recorded, error) {
			return at(l, 37, func(r *knowledge.Recorded) { r.At = -1 })
		}}, "act 37", "form", true, 0},
		{"leaf and time", untrue{acts: func(_ int, l recorded) (recorded, error) {
			return at(l, 37, func(r *knowledge.Recorded) { otherLeaf(r); r.At = -1 })
		}}, "act 37", "form", false, 0},
		{"kind", untrue{acts: func(_ int, l recorded) (recorded, error) {
			return at(l, 52, func(r *knowledge.Recorded) { r.Act.Kind = "other" })
		}}, "act 52", "form", false, 0},
		{"read again, another time", untrue{acts: func(n int, l recorded) (recorded, error) {
			if n == 1 {
				return l, nil
			}
			return at(l, 37, later)
		}}, "act 37", "act", false, 0},
		{"read again, one more", untrue{acts: func(n int, l recorded) (recorded, error) {
			if n == 1 {
				return without(l, 65), nil
			}
			return l, nil
		}}, "act 65", "act", false, 0},
		{"out of order", untrue{acts: func(_ int, l recorded) (recorded, error) { slices.Reverse(l); return l, nil }}, "act 64", "number", true, 0},
		{"a page that cannot be read", untrue{acts: func(int, recorded) (recorded, error) { return nil, fault }}, "act 1 and on", "readable", true, 0},
		{"a page that cannot be read again", untrue{acts: func(n int, l recorded) (recorded, error) {
			if n == 1 {
				return l, nil
			}
			return nil, fault
		}}, "act 1 and on", "readable", true, 0},

		{"of a statement, one left out", untrue{actsOf: func(l recorded) (recorded, error) { return without(l, 38), nil }}, "act 38", "found by statement", true, 0},
		{"of a statement, one of another", untrue{actsOf: func(l recorded) (recorded, error) {
			if l[0].Seq == 37 {
				l = append(l, number(53))
			}
			return l, nil
		}}, "act 53", "found by statement", true, 0},
		{"of a statement, one about an alias", untrue{actsOf: func(l recorded) (recorded, error) {
			if l[0].Seq == 37 {
				l = append(l, number(50))
			}
			return l, nil
		}}, "act 50", "found by statement", true, 0},
		{"of a statement, out of order", untrue{actsOf: func(l recorded) (recorded, error) { slices.Reverse(l); return l, nil }}, "act 57", "found by statement", false, 0},
		{"of a statement, another time", untrue{actsOf: func(l recorded) (recorded, error) { return at(l, 38, later) }}, "act 38", "found by statement", true, 0},
		{"of a statement, another leaf", untrue{actsOf: func(l recorded) (recorded, error) { return at(l, 38, otherLeaf) }}, "act 38", "leaf", true, 0},
		{"of a statement, another end", untrue{actsOf: func(l recorded) (recorded, error) {
			return at(l, 38, func(r *knowledge.Recorded) { r.Until = dag.MaxSeq })
		}}, "act 38", "until", true, 0},
		{"of a statement that cannot be read", untrue{actsOf: func(l recorded) (recorded, error) {
			if l[0].Seq == 37 {
				return nil, fault
			}
			return l, nil
		}}, "statement ", "readable", true, 0},

		{"aliases, one left out", untrue{aliases: func(l recorded) (recorded, error) { return without(l, 51), nil }}, "act 51", "found among aliases", true, 0},
		{"aliases, a fact", untrue{aliases: func(l recorded) (recorded, error) { return append(l, number(65)), nil }}, "act 65", "found among aliases", true, 0},
		{"aliases, out of order", untrue{aliases: func(l recorded) (recorded, error) { slices.Reverse(l); return l, nil }}, "act 51", "found among aliases", true, 0},
		{"aliases, another time", untrue{aliases: func(l recorded) (recorded, error) { return at(l, 51, later) }}, "act 51", "found among aliases", true, 0},
		{"aliases, one that is not there", untrue{aliases: func(l recorded) (recorded, error) {
			r := number(51)
			r.Seq = 52
			return slices.Insert(l, 2, r), nil
		}}, "act 52", "found among aliases", true, 0},
		{"aliases that cannot be read", untrue{aliases: func(recorded) (recorded, error) { return nil, fault }}, "aliases", "readable", true, 0},

		{"edges, out of order", untrue{edges: func(_ []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			for _, list := range lists {
				slices.Reverse(list)
			}
			return lists, nil
		}}, `name "e1"`, "order", false, 0},
		{"edges, twice", untrue{edges: func(_ []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			for i, list := range lists {
				if len(list) > 0 {
					lists[i] = slices.Insert(list, 0, list[0])
				}
			}
			return lists, nil
		}}, `name "e1"`, "order", false, 0},
		{"edges, of another name", untrue{edges: func(asks []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			for i := range asks {
				if asks[i].Name == "e5" && !asks[i].Incoming {
					lists[i] = slices.Clone(lists[slices.IndexFunc(asks, func(a knowledge.Ask) bool { return a.Name == "e6" && !a.Incoming })])
				}
			}
			return lists, nil
		}}, "act 49", "edge", true, 0},
		{"edges, the wrong way", untrue{edges: func(_ []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			return eachEdge(lists, 36, func(e *knowledge.Edge) { e.Incoming = !e.Incoming })
		}}, "act 36", "edge", true, 0},
		{"edges, fewer answers", untrue{edges: func(_ []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			return lists[1:], nil
		}}, `name "e1" and others`, "edge", true, 0},
		{"edges of a name that cannot be read", untrue{edges: func(asks []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			if slices.ContainsFunc(asks, func(a knowledge.Ask) bool { return a.Name == "e2" && a.Incoming }) {
				return nil, fault
			}
			return lists, nil
		}}, `name "e2"`, "readable", true, 0},
		{"edges that cannot be read, and one that is damaged", untrue{edges: func(asks []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			if slices.ContainsFunc(asks, func(a knowledge.Ask) bool { return a.Name == "e2" && a.Incoming }) {
				return nil, fault
			}
			return eachEdge(lists, 37, func(e *knowledge.Edge) { e.Source = "other" })
		}}, "act 37", "edge", false, 0},

		{"versions, miscounted", untrue{versions: func(l recorded, total int) (recorded, int, error) { return l, total + 1, nil }}, "versions as of 65", "number", false, 0},
		{"versions, one left out", untrue{versions: func(l recorded, total int) (recorded, int, error) { return without(l, 37), total, nil }}, "act 37", "found among versions", true, 0},
		{"versions, the last left out", untrue{versions: func(l recorded, total int) (recorded, int, error) { return without(l, 65), total, nil }}, "act 65", "found among versions", true, 0},
		{"versions, one that ended", untrue{versions: func(l recorded, total int) (recorded, int, error) {
			return append(recorded{number(34)}, l...), total, nil
		}}, "act 34", "found among versions", true, 0},
		{"versions, one behind the last", untrue{versions: func(l recorded, total int) (recorded, int, error) {
			return append(l, number(65)), total, nil
		}}, "act 65", "found among versions", true, 0},
		{"versions, another time", untrue{versions: func(l recorded, total int) (recorded, int, error) {
			l, err := at(l, 37, later)
			return l, total, err
		}}, "act 37", "found among versions", true, 0},
		{"versions that cannot be read", untrue{versions: func(recorded, int) (recorded, int, error) { return nil, 0, fault }}, "versions as of 65", "readable", false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := c.untrue
			u.Store, u.calls = s, map[string]int{}
			report, err := fsck.Tenant(t.Context(), &u, tenant, fsck.Options{Page: c.page})
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(report.Findings, func(f fsck.Finding) bool {
				return (f.Where == c.where || c.where == "statement " && len(f.Where) > len(c.where)) && f.Rule == c.rule
			})
			if !found || c.alone && report.Found != 1 {
				t.Errorf("found %v, want %q of %s", report.Findings, c.rule, c.where)
			}
		})
	}
}

// TestEdgesCannotBeAsked makes sure that a store that is away is no finding, and that
// where no edge can be read not each of them is asked for.
func TestEdgesCannotBeAsked(t *testing.T) {
	ctx := t.Context()
	s := memory.Open(&memory.Disk{}, memory.Options{})
	if err := storetest.Fill(ctx, s, tenant); err != nil {
		t.Fatal(err)
	}
	var list []knowledge.Act
	for n := range 600 {
		list = append(list, storetest.Assertion(1000+n, 1, 1, 5, "user"))
	}
	if _, err := s.PutActs(ctx, tenant, list, 1); err != nil {
		t.Fatal(err)
	}
	fails := func(err error) *untrue {
		return &untrue{Store: s, calls: map[string]int{}, edges: func([]knowledge.Ask, [][]knowledge.Edge) ([][]knowledge.Edge, error) { return nil, err }}
	}
	if report, err := fsck.Tenant(ctx, fails(store.ErrBusy), tenant, fsck.Options{}); !errors.Is(err, store.ErrBusy) || !report.OK() {
		t.Errorf("%v, %v", report.Findings, err)
	}
	u := fails(errors.New("fault"))
	report, err := fsck.Tenant(ctx, u, tenant, fsck.Options{})
	if err != nil || report.Found < 50 || report.Found > 150 || u.calls["edges"] > 400 {
		t.Errorf("%d findings, %v, and %d questions", report.Found, err, u.calls["edges"])
	}
}

// TestManyEdges gives a name more edges than are asked for at once, in both directions, and
// a statement more acts.
func TestManyEdges(t *testing.T) {
	ctx := t.Context()
	s := memory.Open(&memory.Disk{}, memory.Options{})
	for n := range 150 {
		list := []knowledge.Act{
			storetest.Assertion(1, 1, 1000+n, dag.PPM(n%7), "user"), storetest.Assertion(1000+n, 1, 1, dag.PPM(n%5), "user"),
			storetest.Assertion(1, 2, 1, dag.PPM(n), fmt.Sprint("source-", n)),
		}
		if _, err := s.PutActs(ctx, tenant, list, 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range []int{1, 4, 30, 500} {
		u := &untrue{Store: s, calls: map[string]int{}, edges: func(asks []knowledge.Ask, lists [][]knowledge.Edge) ([][]knowledge.Edge, error) {
			edges := 0
			for _, list := range lists {
				edges += len(list)
			}
			if edges > max(16*page, len(asks)) {
				t.Errorf("pages of %d: %d edges at once", page, edges)
			}
			return lists, nil
		}}
		report, err := fsck.Tenant(ctx, u, tenant, fsck.Options{Page: page})
		if err != nil || !report.OK() || report.Counts.Versions != 450 {
			t.Errorf("pages of %d: %+v, %v", page, report, err)
		}
	}
}
