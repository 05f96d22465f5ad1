package canon

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// nested writes a random text with about so many values in it.
func nested(r *rand.Rand, values int) string {
	if values <= 1 {
		return [...]string{`"a text"`, `12.5`, `true`, `null`, `"\u00e9 and \n"`, `""`}[r.IntN(6)]
	}
	var parts []string
	object := r.IntN(2) == 0
	for left := values; left > 0; {
		n := 1 + r.IntN(left)
		left -= n
		part := nested(r, n-1)
		if object {
			part = fmt.Sprintf(`"key %d":%s`, len(parts), part)
		}
		parts = append(parts, part)
	}
	if object {
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// spelled writes down all that cursors give of a value.
func spelled(c *Cursor, into *strings.Builder) {
	v := c.Value()
	fmt.Fprintf(into, "%s %d-%d %q\n", v.Kind, v.Offset, v.End, v.Text)
	switch v.Kind {
	case Array:
		for _, item := range c.Items() {
			spelled(item, into)
		}
	case Object:
		for _, member := range c.Members() {
			into.WriteString(member.Key() + ": ")
			spelled(member, into)
		}
	}
}

// TestWithin reads texts of all sizes one after the other in the same memory, several at a
// time: each is what it is when it has memory of its own.
func TestWithin(t *testing.T) {
	var all sync.WaitGroup
	for seed := range uint64(4) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			for range 200 {
				text := nested(r, 1+r.IntN(1<<r.IntN(14)))
				root, err := Parse([]byte(text))
				if err != nil {
					t.Errorf("%.80s: %v", text, err)
					return
				}
				var want, got strings.Builder
				spelled(Open(root), &want)
				err = Within([]byte(text), MaxValues, func(c *Cursor) error {
					spelled(c, &got)
					return c.Err()
				})
				if err != nil || got.String() != want.String() {
					t.Errorf("%.80s: %v", text, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestWithinFails(t *testing.T) {
	no := errors.New("no")
	kept := ""
	for _, c := range []struct {
		text string
		most int
		want error
	}{{`["kept",1]`, 9, no}, {`["lost",`, 9, ErrSyntax}, {`[1,2,3]`, 3, ErrMany}, {`{"a":1,"a":2}`, 9, ErrSyntax}, {`["later",2]`, 9, no}} {
		err := Within([]byte(c.text), c.most, func(cursor *Cursor) error {
			if kept == "" {
				kept = cursor.Items()[0].String()
			}
			cursor.Failf("left behind")
			return no
		})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.text, err, c.want)
		}
	}
	if kept != "kept" {
		t.Errorf("a string became %q", kept)
	}
	if err := Within([]byte(`1`), 9, func(c *Cursor) error { return c.Err() }); err != nil {
		t.Errorf("the fault of another text: %v", err)
	}
}
