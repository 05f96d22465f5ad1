package heldback_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/heldback"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
)

const tenant dag.Tenant = "one"

func turnID(n int) dag.TurnID { return dag.TurnID{15: byte(n + 1)} }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func memory() heldback.Base {
	return heldback.Base{History: inmem.Open(&inmem.Disk{}, inmem.Options{})}
}

// three writes an entry of each kind, and returns them as they are stored.
func three(t *testing.T, b heldback.Base) []history.Entry {
	t.Helper()
	ctx, k := t.Context(), keyOf(t, secret, tenant)
	text := k.Of(long64)
	held := heldback.Held{Turn: turnID(2), Erased: turnID(1), Rule: heldback.ByWords, Text: text.Digest, At: 8, By: "local", Place: `a "file", line 17`}
	err := b.Write(ctx, tenant, heldback.Recording(turnID(1), 7, k, text, k.Marks(text, dag.RoleUser, 1, []heldback.Text{k.Of("go on")})))
	err = errors.Join(err, b.Hold(ctx, tenant, []heldback.Held{held}))
	_, released := b.Release(ctx, tenant, []heldback.Release{{Turn: turnID(2), At: 9, By: "stdio"}})
	entries, listed := b.Entries(ctx, tenant, history.Page{Limit: 9})
	if err := errors.Join(err, released, listed); err != nil || len(entries) != 3 {
		t.Fatal(entries, err)
	}
	return entries
}

// TestForms writes the entries out, since they are for ever.
func TestForms(t *testing.T) {
	key := sum(secret, "tenant", "one")
	text := sum(key[:], "text", long64)
	before := sum(key[:], "text", "go on")
	digests := []string{
		sum(key[:], "place", "user", "\x00", "\x00\x00\x00\x00\x00\x00\x00\x01", string(text[:])).String(),
		sum(key[:], "reply", string(before[:]), string(text[:])).String(),
		sum(key[:], "words", string(text[:])).String(),
	}
	slices.Sort(digests)
	for i, e := range three(t, memory()) {
		kind := []history.Kind{"erased-text/1", "held-back/1", "released/1"}[i]
		public := []string{
			fmt.Sprintf(`{"at":"1970-01-01T00:00:00.000007Z","digests":["%s"],"key":"%s","text":"%s","turn":"%s"}`, strings.Join(digests, `","`), sum(key[:], "name"), text, turnID(1)),
			fmt.Sprintf(`{"at":"1970-01-01T00:00:00.000008Z","by":"local","erased":"%s","place":"a \"file\", line 17","rule":"words","text":"%s","turn":"%s"}`, turnID(1), text, turnID(2)),
			fmt.Sprintf(`{"at":"1970-01-01T00:00:00.000009Z","by":"stdio","turn":"%s"}`, turnID(2)),
		}[i]
		if e.Seq != dag.Seq(i+1) || e.Kind != kind || e.At != dag.Time(7+i) || string(e.Public) != public || e.Private != nil || e.Detail != nil {
			t.Errorf("entry %d is %+v, %s, want %s", i+1, e, e.Public, public)
		}
		turns := heldback.Codec{}.Turns(&e)
		if want := [][]dag.TurnID{{turnID(1)}, {turnID(1)}, nil}[i]; !slices.Equal(turns, want) {
			t.Errorf("entry %d rests on %v, want %v", i+1, turns, want)
		}
	}
}

// adopted takes over entries into an empty store.
func adopted(ctx context.Context, entries ...history.Entry) (heldback.Base, error) {
	b := memory()
	c, err := heldback.Codec{}.Adopt(entries)
	if err == nil {
		err = b.History.(store.Store).Adopt(ctx, tenant, store.Stretch{Entries: entries, Change: c})
	}
	return b, err
}

// TestAdopted takes over the entries: they are the same, and so is what they say.
func TestAdopted(t *testing.T) {
	ctx := t.Context()
	here := memory()
	entries := three(t, here)
	there, err := adopted(ctx, entries...)
	if err != nil {
		t.Fatal(err)
	}
	for index := range history.FirstOfRecord {
		q := []history.Range{{Index: index}}
		want, err := here.Terms(ctx, tenant, q)
		got, other := there.Terms(ctx, tenant, q)
		if err := errors.Join(err, other); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("index %d: %v, want %v, %v", index, got, want, err)
		}
	}
	again := slices.Clone(entries)
	for _, i := range []int{0, 1, 2} { // each twice: what is on record already is no history
		e := entries[i]
		e.Seq = 4
		if _, err := adopted(ctx, append(again, e)...); !errors.Is(err, dag.ErrForm) {
			t.Errorf("entry %d twice: %v, want dag.ErrForm", i+1, err)
		}
	}
	e := *release(&entries[1], turnID(1)) // as an earlier version recorded it, though it frees nothing
	if b, err := adopted(ctx, entries[0], e); err != nil || len(must(b.Released(ctx, tenant, []dag.TurnID{turnID(1)}))) != 1 {
		t.Errorf("a release of a turn whose own text was erased: %v", err)
	}
	e.Seq = 1
	if _, err := adopted(ctx, e); !errors.Is(err, store.ErrNotFound) || !errors.Is(err, dag.ErrForm) {
		t.Errorf("a release of a turn that was not held back: %v, want store.ErrNotFound and dag.ErrForm", err)
	}
}

// The forms of the entries of three, but for the order of digests.
var forms = []*regexp.Regexp{
	regexp.MustCompile(`^\{"at":"1970-01-01T00:00:00\.000007Z","digests":\["[0-9a-f]{32}","[0-9a-f]{32}","[0-9a-f]{32}"\],"key":"[0-9a-f]{32}","text":"[0-9a-f]{32}","turn":"` + uuid + `"\}$`),
	regexp.MustCompile(`^\{"at":"1970-01-01T00:00:00\.000008Z","by":"local","erased":"` + uuid + `","place":"([^"\\\x00-\x1f]|\\["\\bfnrt])*","rule":"words","text":"[0-9a-f]{32}","turn":"` + uuid + `"\}$`),
	regexp.MustCompile(`^\{"at":"1970-01-01T00:00:00\.000009Z","by":"stdio","turn":"` + uuid + `"\}$`),
}

const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

// wellFormed is an independent reading of an entry.
func wellFormed(i int, public []byte) bool {
	if !utf8.Valid(public) || !forms[i].Match(public) || bytes.Contains(public, []byte("00000000-0000-0000-0000-000000000000")) {
		return false
	}
	if i > 0 {
		return true
	}
	var digests []string
	for _, d := range regexp.MustCompile(`[0-9a-f]{32}`).FindAll(public, 3) {
		digests = append(digests, string(d))
	}
	return digests[0] < digests[1] && digests[1] < digests[2]
}

// TestMangled sets each byte of each entry to each other value, leaves each out, and cuts the entry off. What is read is well-formed, and nothing else is.
func TestMangled(t *testing.T) {
	refused, read := 0, 0
	for i, e := range three(t, memory()) {
		whole := e.Public
		try := func(public []byte) {
			e.Public = public
			_, err := heldback.Codec{}.Adopt([]history.Entry{e})
			switch {
			case (err == nil) != wellFormed(i, public):
				t.Errorf("%s is read with %v", public, err)
			case err == nil:
				read++
			case !errors.Is(err, dag.ErrForm) || !strings.Contains(err.Error(), fmt.Sprint("number ", e.Seq)) || heldback.Codec{}.Turns(&e) != nil:
				t.Errorf("%s: %v, of turns %v: want dag.ErrForm with the number, and none", public, err, heldback.Codec{}.Turns(&e))
			default:
				refused++
			}
		}
		try(whole)
		for at := range whole {
			changed := bytes.Clone(whole)
			for value := range 256 {
				if changed[at] = byte(value); changed[at] != whole[at] {
					try(bytes.Clone(changed))
				}
			}
			try(bytes.Clone(whole[:at]))
			try(slices.Concat(whole[:at], whole[at+1:]))
			try(slices.Concat(whole[:at+1], whole[at:]))
		}
	}
	if read < 1000 || refused < 100_000 {
		t.Errorf("%d entries were read and %d refused: this test tries too little", read, refused)
	}
}

// TestRefused has entries of a good shape with a thing that is not: each is refused when it is read, and when it is recorded.
func TestRefused(t *testing.T) {
	entries := three(t, memory())
	replaced := func(i int, old, next string) history.Entry {
		e := entries[i]
		if e.Public = []byte(strings.Replace(string(e.Public), old, next, 1)); bytes.Equal(e.Public, entries[i].Public) {
			t.Fatalf("%s has no %s", e.Public, old)
		}
		return e
	}
	with := func(i int, change func(e *history.Entry)) history.Entry {
		e := entries[i]
		change(&e)
		return e
	}
	digests := regexp.MustCompile(`"[0-9a-f]{32}"`).FindAllString(string(entries[0].Public), 3)
	for what, e := range map[string]history.Entry{
		"digests in another order":        replaced(0, digests[0]+","+digests[1], digests[1]+","+digests[0]),
		"a digest twice":                  replaced(0, digests[0]+",", digests[0]+","+digests[0]+","),
		"a digest in upper case":          replaced(0, digests[1], strings.ToUpper(digests[1])),
		"a long digest":                   replaced(0, digests[1], digests[1][:33]+`00"`),
		"digests that are none":           replaced(0, "["+strings.Join(digests, ",")+"]", `"x"`),
		"a field that is not one":         replaced(0, `"turn"`, `"tern":"x","turn"`),
		"an unknown rule":                 replaced(1, `"words"`, `"word"`),
		"no rule":                         replaced(1, `"rule":"words",`, ``),
		"an empty place":                  replaced(1, `"a \"file\", line 17"`, `""`),
		"a place of 513 bytes":            replaced(1, `a \"file\", line 17`, strings.Repeat("x", heldback.MaxPlace+1)),
		"an empty caller":                 replaced(1, `"local"`, `""`),
		"a caller that is none":           replaced(2, `"stdio"`, `"a person"`),
		"a caller that is a number":       replaced(2, `"stdio"`, `1`),
		"another time":                    with(0, func(e *history.Entry) { e.At++ }),
		"a private half":                  with(0, func(e *history.Entry) { e.Private = []byte("x") }),
		"a detail":                        with(1, func(e *history.Entry) { e.Detail = []byte("x") }),
		"another of the kinds":            with(2, func(e *history.Entry) { e.Kind = heldback.KindHeld }),
		"a kind of another package":       with(2, func(e *history.Entry) { e.Kind = "erasure/1" }),
		"a newer version of one of these": with(1, func(e *history.Entry) { e.Kind = "held-back/2" }),
	} {
		if _, err := (heldback.Codec{}).Adopt([]history.Entry{e}); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v, want dag.ErrForm", what, err)
		}
	}
	longest := replaced(1, `a \"file\", line 17`, strings.Repeat("x", heldback.MaxPlace))
	if _, err := (heldback.Codec{}).Adopt([]history.Entry{longest}); err != nil {
		t.Errorf("a place of %d bytes: %v", heldback.MaxPlace, err)
	}

	ctx, b := t.Context(), memory()
	good := heldback.Held{Turn: turnID(1), Erased: turnID(2), Rule: heldback.ByReply, At: 1}
	for what, change := range map[string]func(h *heldback.Held){
		"rule":  func(h *heldback.Held) { h.Rule = "any" },
		"none":  func(h *heldback.Held) { h.Rule = "" },
		"place": func(h *heldback.Held) { h.Place = strings.Repeat("x", heldback.MaxPlace+1) },
		"utf-8": func(h *heldback.Held) { h.Place = "\xff" },
		"by":    func(h *heldback.Held) { h.By = "a person" },
		"at":    func(h *heldback.Held) { h.At = dag.MaxTime + 1 },
		"turn":  func(h *heldback.Held) { h.Turn = dag.TurnID{} },
		"other": func(h *heldback.Held) { h.Erased = dag.TurnID{} },
	} {
		bad := good
		change(&bad)
		if err := b.Hold(ctx, tenant, []heldback.Held{good, bad}); !errors.Is(err, dag.ErrForm) {
			t.Errorf("recorded with a wrong %s: %v, want dag.ErrForm", what, err)
		}
	}
	for what, bad := range map[string]heldback.Release{"at": {Turn: turnID(1), At: dag.MaxTime + 1}, "turn": {At: 1}, "by": {Turn: turnID(1), At: 1, By: "a person"}} {
		if n, err := b.Release(ctx, tenant, []heldback.Release{bad}); n != 0 || !errors.Is(err, dag.ErrForm) {
			t.Errorf("released with a wrong %s: %d, %v, want dag.ErrForm", what, n, err)
		}
	}
	if entries, err := b.Entries(ctx, tenant, history.Page{Limit: 1}); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v: something refused was recorded", entries, err)
	}
}

// A store that is beginning again has every change plan twice, and writes the second plan.
type beginningAgain struct{ history.History }

func (b beginningAgain) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	return b.History.Write(ctx, tenant, plannedTwice{c})
}

type plannedTwice struct{ history.Change }

func (c plannedTwice) Plan(k *history.State) (*history.Plan, error) {
	_, _ = c.Change.Plan(k)
	return c.Change.Plan(k)
}

// A model says what a record of two turns has to be, in maps.
type model struct {
	erased   map[int]bool // turns with a recorded text; all have the text of the model
	held     []int
	released map[int]bool
}

func (m *model) known(n int) bool { return m.erased[n] || slices.Contains(m.held, n) }

// step does the operation of a number and says how many were released, and whether that is an error.
func (m *model) step(op int) (released int, missing bool) {
	switch op {
	case 0, 1:
		if !m.known(op) {
			m.erased[op] = true
		}
	case 2, 3:
		if !m.known(op - 2) {
			m.held = append(m.held, op-2)
		}
	case 4: // both
		for n := range 2 {
			m.step(2 + n)
		}
	default:
		which := [][]int{{0}, {1}, {0, 1}, {1, 1}}[op-5]
		for _, n := range which {
			if !slices.Contains(m.held, n) {
				return 0, true
			}
		}
		for _, n := range which {
			if !m.released[n] {
				m.released[n] = true
				released++
			}
		}
	}
	return released, false
}

// TestRecord does all sequences of four operations on two turns and compares the record with the model after each, beside a tenant that stays empty.
func TestRecord(t *testing.T) {
	const ops, length = 9, 4
	ctx, k := t.Context(), keyOf(t, secret, tenant)
	text := k.Of("go on")
	marks := k.Marks(text, dag.RoleUser, 1, nil)
	held := func(n int) heldback.Held {
		return heldback.Held{Turn: turnID(n), Erased: turnID(1 - n), Rule: heldback.ByPlace, Text: text.Digest, At: 1, Place: fmt.Sprint("line ", n)}
	}
	do := func(b heldback.Base, op int) (int, error) {
		switch op {
		case 0, 1:
			return 0, b.Write(ctx, tenant, heldback.Recording(turnID(op), 1, k, text, append(marks, marks...)))
		case 2, 3:
			return 0, b.Hold(ctx, tenant, []heldback.Held{held(op - 2)})
		case 4:
			return 0, b.Hold(ctx, tenant, []heldback.Held{held(0), held(1)})
		}
		var list []heldback.Release
		for _, n := range [][]int{{0}, {1}, {0, 1}, {1, 1}}[op-5] {
			list = append(list, heldback.Release{Turn: turnID(n), At: 1})
		}
		return b.Release(ctx, tenant, list)
	}
	both := []dag.TurnID{turnID(0), turnID(1)}
	for sequence, all := 0, ops*ops*ops*ops; sequence < all; sequence++ {
		b, m := heldback.Base{History: beginningAgain{memory()}}, model{erased: map[int]bool{}, released: map[int]bool{}}
		var first dag.TurnID
		var done []int
		for rest, n := sequence, 0; n < length; rest, n = rest/ops, n+1 {
			op := rest % ops
			done = append(done, op)
			n, err := do(b, op)
			if op < 2 && len(m.erased) == 0 && !m.known(op) {
				first = turnID(op)
			}
			want, missing := m.step(op)
			if n != want || errors.Is(err, store.ErrNotFound) != missing || !missing && err != nil {
				t.Fatalf("%v: released %d, %v, want %d, not found: %t", done, n, err, want, missing)
			}
		}
		any, err := b.Any(ctx, tenant)
		recognised, err1 := b.Recognise(ctx, tenant, marks)
		texts, err2 := b.Texts(ctx, tenant, both)
		released, err3 := b.Released(ctx, tenant, both)
		list, err4 := b.After(ctx, tenant, 0, 9)
		if err := errors.Join(err, err1, err2, err3, err4); err != nil {
			t.Fatalf("%v: %v", done, err)
		}
		if any != (len(m.erased) > 0) || any != (len(recognised) == len(marks)) || any && recognised[marks[0].Digest] != first {
			t.Fatalf("%v: there are digests: %t, of %v, want the first erased turn %s of %v", done, any, recognised, first, m.erased)
		}
		for n, id := range both {
			if got, ok := texts[id]; ok != m.known(n) || ok && got.Digest != text.Digest || released[id] != m.released[n] {
				t.Fatalf("%v: turn %d has the text %+v, released: %t; want %+v", done, n, got, released[id], m)
			}
		}
		if len(list) != len(m.held) {
			t.Fatalf("%v: held are %+v, want %v", done, list, m.held)
		}
		for i, n := range m.held {
			want := held(n)
			want.Seq = list[i].Seq
			if list[i] != want {
				t.Fatalf("%v: held is %+v, want %+v", done, list[i], want)
			}
			page, err := b.After(ctx, tenant, list[i].Seq, 1)
			if err != nil || len(page) != min(1, len(list)-i-1) || len(page) > 0 && page[0] != list[i+1] {
				t.Fatalf("%v: after %d: %+v, %v", done, list[i].Seq, page, err)
			}
		}
		entries, err := b.Entries(ctx, tenant, history.Page{Limit: 9})
		if err == nil && len(entries) > 0 {
			_, err = adopted(ctx, entries...)
		}
		if err != nil {
			t.Fatalf("%v: what was recorded is not read: %v", done, err)
		}
		if any, err := b.Any(ctx, "two"); any || err != nil {
			t.Fatalf("%v: another tenant has digests: %t, %v", done, any, err)
		}
	}
}

// A lying store has terms that nobody wrote.
type lying struct {
	history.History
	change func(t *history.Term)
}

func (l lying) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	if len(ranges) > history.MaxRanges {
		return nil, history.CheckRanges(ranges)
	}
	lists, err := l.History.Terms(ctx, tenant, ranges)
	for i := range lists {
		for j := range lists[i] {
			l.change(&lists[i][j])
		}
	}
	return lists, err
}

// TestDamaged reads terms that are damaged: that is an error, and no answer.
func TestDamaged(t *testing.T) {
	ctx, k := t.Context(), keyOf(t, secret, tenant)
	b := memory()
	three(t, b)
	marks := k.Marks(k.Of(long64), dag.RoleUser, 1, nil)
	for what, change := range map[string]func(t *history.Term){
		"no value": func(t *history.Term) { t.Value, t.Entry = nil, nil },
		"a long value": func(t *history.Term) {
			t.Value, t.Entry = append(t.Value, 0), &history.Entry{Kind: heldback.KindHeld, Public: []byte("{}")}
		},
		"another entry": func(t *history.Term) { t.Value = t.Value[:15]; t.Entry = release(t.Entry, turnID(2)) },
	} {
		b := heldback.Base{History: lying{b.History, change}}
		if found, err := b.Recognise(ctx, tenant, marks); !errors.Is(err, history.ErrDamaged) {
			t.Errorf("%s: recognised %v, %v", what, found, err)
		}
		if found, err := b.Texts(ctx, tenant, []dag.TurnID{turnID(1)}); !errors.Is(err, history.ErrDamaged) {
			t.Errorf("%s: texts %v, %v", what, found, err)
		}
		if list, err := b.After(ctx, tenant, 0, 9); list != nil || !errors.Is(err, history.ErrDamaged) && !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: held %v, %v", what, list, err)
		}
	}
}

// release returns a well-formed entry of another kind in the place of one.
func release(e *history.Entry, turn dag.TurnID) *history.Entry {
	if e == nil {
		return nil
	}
	return &history.Entry{Seq: e.Seq, At: 1, Kind: heldback.KindReleased, Public: fmt.Appendf(nil, `{"at":"1970-01-01T00:00:00.000001Z","turn":"%s"}`, turn)}
}

// TestMany asks for more marks and turns than a store is asked for at once: each is found under its own name.
func TestMany(t *testing.T) {
	ctx, k := t.Context(), keyOf(t, secret, tenant)
	b := heldback.Base{History: lying{memory().History, func(*history.Term) {}}}
	text := k.Of("go on")
	last := k.Marks(text, dag.RoleUser, 1, nil)
	if err := b.Write(ctx, tenant, heldback.Recording(turnID(7), 1, k, text, last)); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, history.MaxRanges - 1, history.MaxRanges, 2*history.MaxRanges + 1} {
		marks, turns := make([]heldback.Mark, n), make([]dag.TurnID, n)
		marks, turns = append(marks, last[0]), append(turns, turnID(7))
		found, err := b.Recognise(ctx, tenant, marks)
		if err != nil || len(found) != 1 || found[last[0].Digest] != turnID(7) {
			t.Errorf("%d marks: %v, %v", n+1, found, err)
		}
		texts, err := b.Texts(ctx, tenant, turns)
		if err != nil || len(texts) != 1 || texts[turnID(7)].Digest != text.Digest {
			t.Errorf("%d turns: %v, %v", n+1, texts, err)
		}
	}
}
