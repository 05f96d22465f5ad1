package canon_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/internal/canon"
)

func open(t testing.TB, text string) *canon.Cursor {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return canon.Open(v)
}

var errParser = errors.New("not to the parser's liking")

// TestCursorFaults reads what does not fit. Each fault names the place and the rule.
func TestCursorFaults(t *testing.T) {
	refuse := func(string) (int, error) { return 7, errParser }
	for _, tc := range []struct {
		text string
		read func(c *canon.Cursor)
		path string
		rule string
	}{
		{`5`, func(c *canon.Cursor) { c.Field("a") }, "", "want an object, got a number"},
		{`{}`, func(c *canon.Cursor) { c.Field("a") }, "", `"a" is missing`},
		{`{"a":{}}`, func(c *canon.Cursor) { c.Field("a").Field("b").Field("c") }, "a", `"b" is missing`},
		{`{"a":1}`, func(c *canon.Cursor) { c.Field("a").Optional("b") }, "a", "want an object, got a number"},
		{`{"a":{"b":null}}`, func(c *canon.Cursor) { _ = c.Field("a").Field("b").String() }, "a.b", "want a string, got null"},
		{`{"a":[1,"x"]}`, func(c *canon.Cursor) { _ = c.Field("a").Items()[0].String() }, "a[0]", "want a string, got a number"},
		{`{"a":[[],[1,[true]]]}`, func(c *canon.Cursor) { c.Field("a").Items()[1].Items()[1].Items()[0].Uint(9) }, "a[1][1][0]", "want a number, got a boolean"},
		{`{"turns":[{},{"s":"x"}]}`, func(c *canon.Cursor) { c.Field("turns").Items()[1].Field("s").Number() }, "turns[1].s", "want a number, got a string"},
		{`["x"]`, func(c *canon.Cursor) { c.Items()[0].Bool() }, "[0]", "want a boolean, got a string"},
		{`{}`, func(c *canon.Cursor) { c.Items() }, "", "want an array, got an object"},
		{`[]`, func(c *canon.Cursor) { c.Members() }, "", "want an object, got an array"},
		{`{"a":{"k":"v"}}`, func(c *canon.Cursor) { c.Field("a").Members()[0].Bool() }, "a.k", "want a boolean, got a string"},
		{`[11]`, func(c *canon.Cursor) { c.Items()[0].Uint(10) }, "[0]", "want an integer from 0 to 10, got 11"},
		{`[-0]`, func(c *canon.Cursor) { c.Items()[0].Uint(10) }, "[0]", "want an integer"},
		{`[-1]`, func(c *canon.Cursor) { c.Items()[0].Uint(10) }, "[0]", "want an integer"},
		{`[1.0]`, func(c *canon.Cursor) { c.Items()[0].Uint(10) }, "[0]", "want an integer"},
		{`[1e0]`, func(c *canon.Cursor) { c.Items()[0].Uint(10) }, "[0]", "want an integer"},
		{`[18446744073709551616]`, func(c *canon.Cursor) { c.Items()[0].Uint(1<<64 - 1) }, "[0]", "want an integer"},
		{`["x"]`, func(c *canon.Cursor) { canon.Parsed(c.Items()[0], refuse) }, "[0]", errParser.Error()},
		{`[1]`, func(c *canon.Cursor) { canon.Parsed(c.Items()[0], refuse) }, "[0]", "want a string, got a number"},
		{`[1]`, func(c *canon.Cursor) { canon.ParsedNumber(c.Items()[0], refuse) }, "[0]", errParser.Error()},
		{`["1"]`, func(c *canon.Cursor) { canon.ParsedNumber(c.Items()[0], refuse) }, "[0]", "want a number, got a string"},
		{`{"a":1,"b":2}`, func(c *canon.Cursor) { c.Field("a").Uint(1); c.Close() }, "", `unknown field "b"`},
		{`{"a":1,"b":2}`, func(c *canon.Cursor) { c.Field("a").Uint(1); c.CloseOf(func() []string { return []string{"a", "c"} }) }, "", `unknown field "b"; the fields are a, c`},
		{`{"b":2}`, func(c *canon.Cursor) { c.CloseOf(func() []string { return nil }) }, "", `unknown field "b"; there are no fields`},
		{`{"b":2}`, func(c *canon.Cursor) { c.CloseOf(func() []string { return slices.Repeat([]string{"a"}, 31) }) }, "", `unknown field "b"; the fields are ` + strings.Repeat("a, ", 30) + "…"},
		{`{"x":{"b":2}}`, func(c *canon.Cursor) { c.Field("x").Close(); c.Close() }, "x", `unknown field "b"`},
		{`{"a":1}`, func(c *canon.Cursor) { c.Field("a").Failf("no %s", "good") }, "a", "no good"},
		// The first fault is the one that is kept.
		{`{"a":1,"b":2}`, func(c *canon.Cursor) { c.Field("b").Bool(); _ = c.Field("a").String() }, "b", "want a boolean, got a number"},
	} {
		c := open(t, tc.text)
		tc.read(c)
		var field *canon.FieldError
		err := c.Err()
		if !errors.As(err, &field) {
			t.Errorf("%s: got %v, want a FieldError naming %q", tc.text, err, tc.rule)
			continue
		}
		want := tc.rule
		if tc.path != "" {
			want = tc.path + ": " + tc.rule
		}
		if field.Path != tc.path || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %q at %q, want %q", tc.text, err, field.Path, want)
		}
		if tc.rule == errParser.Error() && !errors.Is(err, errParser) {
			t.Errorf("%s: the parser's error is not wrapped", tc.text)
		}
	}
}

// TestCursorZeroValues holds that reading goes on after a fault, with zero values.
func TestCursorZeroValues(t *testing.T) {
	c := open(t, `{"a":null}`)
	a := c.Field("a")
	if s := a.String(); s != "" {
		t.Errorf("String: %q", s)
	}
	if n := a.Uint(5); n != 0 {
		t.Errorf("Uint: %d", n)
	}
	if a.Bool() || a.Number() != "" || a.Items() != nil || a.Members() != nil || a.Optional("x") != nil {
		t.Error("a value came out of null")
	}
	if n := canon.Parsed(a, func(string) (int, error) { return 7, nil }); n != 0 {
		t.Errorf("Parsed: %d", n)
	}
	if s := c.Field("gone").Field("gone").String(); s != "" {
		t.Errorf("a member that is missing: %q", s)
	}
	if c.Err() == nil {
		t.Error("no fault")
	}
}

func TestCursorReads(t *testing.T) {
	c := open(t, `{"b":true,"f":false,"n":12,"d":0.50,"s":"x","a":[1,2],"o":{"k":"v","l":"w"},"e":[],"p":{}}`)
	read := []any{
		c.Field("b").Bool(), c.Field("f").Bool(), c.Field("n").Uint(12), c.Field("d").Number(), c.Field("s").String(),
		len(c.Field("a").Items()), c.Field("a").Items()[1].Uint(2), len(c.Field("e").Items()), len(c.Field("p").Members()),
		c.Field("o").Members()[1].Key(), c.Field("o").Members()[1].String(), c.Optional("gone") == nil, c.Field("s").Key(), c.Key(),
		canon.Parsed(c.Field("s"), func(s string) (string, error) { return s + s, nil }),
		canon.ParsedNumber(c.Field("d"), func(s string) (string, error) { return s, nil }),
		c.Field("n").Is(canon.Number), c.Field("n").Is(canon.String), c.Field("n").Value().Text,
	}
	c.Close()
	want := []any{true, false, uint64(12), "0.50", "x", 2, uint64(2), 0, 0, "l", "w", true, "s", "", "xx", "0.50", true, false, "12"}
	if got := fmt.Sprintf("%#v", read); got != fmt.Sprintf("%#v", want) {
		t.Errorf("got  %s\nwant %#v", got, want)
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

// TestCursorMany holds that more cursors than are made at once do not mix.
func TestCursorMany(t *testing.T) {
	c := open(t, "["+strings.Repeat("0,", 999)+"0]")
	items := c.Items()
	for i := range items {
		if got := items[i].Path(); got != fmt.Sprintf("[%d]", i) {
			t.Fatalf("item %d is at %s", i, got)
		}
	}
	if len(items) != 1000 {
		t.Errorf("%d items", len(items))
	}
}

// drawMap draws a document in which every string names its own place.
func drawMap(t *rapid.T, place string, depth int) string {
	space := rapid.SampledFrom([]string{"", " ", "\n"}).Draw(t, "space")
	kind := rapid.IntRange(0, 2).Draw(t, "kind")
	if depth == 0 || kind == 0 && place != "" {
		return space + `"` + place + `"` + space
	}
	parts := []string{}
	for i := range rapid.IntRange(1, 3).Draw(t, "parts") {
		if kind == 1 {
			parts = append(parts, drawMap(t, fmt.Sprintf("%s[%d]", place, i), depth-1))
			continue
		}
		key := fmt.Sprintf("k%d", i)
		parts = append(parts, space+`"`+key+`":`+drawMap(t, strings.TrimPrefix(place+"."+key, "."), depth-1))
	}
	if kind == 1 {
		return space + "[" + strings.Join(parts, ",") + "]"
	}
	return "{" + strings.Join(parts, ",") + space + "}"
}

// TestPaths holds that Path and PathAt name the place of every string.
func TestPaths(t *testing.T) {
	looked := 0
	rapid.Check(t, func(rt *rapid.T) {
		text := drawMap(rt, "", 4)
		c := open(t, text)
		root := c.Value()
		var walk func(c *canon.Cursor)
		walk = func(c *canon.Cursor) {
			v := c.Value()
			switch v.Kind {
			case canon.Array:
				for _, item := range c.Items() {
					walk(item)
				}
			case canon.Object:
				for _, m := range c.Members() {
					walk(m)
				}
			case canon.String:
				looked++
				if got := c.Path(); got != v.Text {
					rt.Errorf("%s: Path is %q, want %q", text, got, v.Text)
				}
				for at := int(v.Offset); at < int(v.End); at++ {
					if got := root.PathAt(at); got != v.Text {
						rt.Errorf("%s: PathAt(%d) is %q, want %q", text, at, got, v.Text)
					}
				}
			}
		}
		walk(c)
		if got := root.PathAt(len(text) + 1); got != "" {
			rt.Errorf("%s: PathAt behind the text is %q", text, got)
		}
	})
	if looked == 0 {
		t.Error("no string was looked at")
	}
}

func TestPathAtBetween(t *testing.T) {
	root := open(t, `{"a":[10,20],"b":{"c":3}}`).Value()
	for at, want := range map[int]string{
		0: "a[0]", 1: "a[0]", 5: "a[0]", 6: "a[0]", 7: "a[0]", 8: "a[1]", 9: "a[1]", 11: "a", 12: "b.c", 14: "b.c", 22: "b.c", 23: "b", 24: "",
	} {
		if got := root.PathAt(at); got != want {
			t.Errorf("PathAt(%d) is %q, want %q", at, got, want)
		}
	}
}

// TestFaultAt puts places before those of faults. The place of what is missing is its own.
func TestFaultAt(t *testing.T) {
	at := open(t, `{"a":{}}`)
	at.Field("a").Field("b")
	plain := errors.New("wrong")
	for _, c := range []struct {
		fault       *canon.FieldError
		path, place string
	}{
		{canon.FaultAt("line 1", at.Err()), "line 1.a", "line 1.a.b"},
		{canon.FaultAt("", at.Err()), "a", "a.b"},
		{canon.FaultAt("line 1", canon.FaultAt("[2]", plain)), "line 1[2]", "line 1[2]"},
		{canon.FaultAt("", &canon.MissingError{Key: "c"}), "", "c"},
		{canon.FaultAt("", plain), "", ""},
	} {
		if c.fault.Path != c.path || c.fault.Place() != c.place {
			t.Errorf("%v: got %q and %q, want %q and %q", c.fault, c.fault.Path, c.fault.Place(), c.path, c.place)
		}
	}
	if got, want := canon.FaultAt("line 1", at.Err()).Error(), `line 1.a: "b" is missing`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
