package mcp

import (
	"context"
	"fmt"
	"hash/crc32"
	"reflect"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// units counts the units of a graph's pages: entities, observations and relations.
func (g *memoryGraph) units() int {
	n := len(g.Entities) + len(g.Relations)
	for i := range g.Entities {
		n += len(g.Entities[i].Observations)
	}
	return n
}

// part returns the units in [from, to) as a graph. An entity whose observations are in several parts is in each of
// them, with the observations of that part.
func (g *memoryGraph) part(from, to int) memoryGraph {
	part := memoryGraph{Entities: []memoryEntity{}, Relations: []memoryRelation{}, Cut: g.Cut}
	at := 0
	for _, e := range g.Entities {
		begin, end := at, at+1+len(e.Observations)
		at = end
		if end <= from || begin >= to {
			continue
		}
		e.Observations = e.Observations[max(0, from-begin-1):min(len(e.Observations), to-begin-1)]
		part.Entities = append(part.Entities, e)
	}
	for i := range g.Relations {
		if from <= at+i && at+i < to {
			part.Relations = append(part.Relations, g.Relations[i])
		}
	}
	return part
}

// shortCut marks the place where a text of a page was cut.
const shortCut = "…"

// shorten cuts the type and the observations in a part to a number of bytes each, and reports whether it cut any.
func (g *memoryGraph) shorten(most int) (short bool) {
	cut := func(text string) string {
		if len(text) <= most {
			return text
		}
		short = true
		end := most
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		return text[:end] + shortCut
	}
	for i := range g.Entities {
		e := &g.Entities[i]
		e.EntityType = cut(e.EntityType)
		e.Observations = slices.Clone(e.Observations)
		for j := range e.Observations {
			e.Observations[j] = cut(e.Observations[j])
		}
	}
	return short
}

// graphPage is like page, for a graph: the text of each page is a complete JSON value. The offset of a position counts
// units.
func graphPage(a *answer, from position, most int) (*sdk.CallToolResult, error) {
	g := a.graph
	all, err := remembered(g)
	if err != nil {
		return nil, err
	}
	units := g.units()
	here := position{a.view, 0, from.offset, crc32.ChecksumIEEE([]byte(all.text))}
	if from.offset > 0 && (here.sum != from.sum || from.offset >= units) {
		return nil, refusef("after: the answer has changed since its first part was returned; ask again without after")
	}
	// of returns the page up to a unit, with texts of at most longest bytes, and reports whether it fits.
	of := func(to, longest int) (*sdk.CallToolResult, bool, error) {
		part := g.part(from.offset, to)
		said := ""
		if part.shorten(longest) {
			said = " A text that ends with … is longer than an answer of so many bytes; a higher max_bytes has room for it."
		}
		var after any
		if to < units {
			next := here
			next.offset = to
			after = graphLeft{Cut: "This is not all. Call again with the same arguments and after set to next, or with a higher max_bytes." + said, Next: next.String(), Left: units - to}
		} else if said != "" {
			after = graphLeft{Cut: strings.TrimSpace(said)}
		}
		text, err := remembered(part)
		if err != nil {
			return nil, false, err
		}
		r, err := resultOf(text.text, a.about, after)
		if err != nil {
			return nil, false, err
		}
		return r, encoded(r) <= most, nil
	}
	const whole = memoryText64
	fits := 0
	var last *sdk.CallToolResult
	try := func(n int) (bool, error) {
		r, ok, err := of(from.offset+n, whole)
		if ok && n > fits {
			fits, last = n, r
		}
		return ok, err
	}
	left := units - from.offset
	for n := 1; ; n = min(2*n, left) {
		ok, err := try(n)
		if err != nil {
			return nil, err
		}
		if ok && n >= left {
			return last, nil
		}
		if !ok || n == left {
			low, high := fits, n // low fits, high does not
			for high-low > 1 {
				middle := (low + high) / 2
				if ok, err = try(middle); err != nil {
					return nil, err
				} else if ok {
					low = middle
				} else {
					high = middle
				}
			}
			break
		}
	}
	if fits > 0 {
		return last, nil
	}
	// Not even one unit fits: its text is cut.
	failed := error(nil)
	longest := sort.Search(whole, func(n int) bool {
		_, ok, err := of(from.offset+1, n)
		if err != nil {
			failed = err
		}
		return !ok
	}) - 1
	if failed != nil {
		return nil, failed
	}
	if longest < 0 {
		return nil, refusef("max_bytes: %d bytes have no room for the names of one entity or relation; give a higher max_bytes", most)
	}
	r, _, err := of(from.offset+1, longest)
	return r, err
}

// listPage is like page, for the list with which a change of the memory answers: the items that fit, as a complete JSON
// value. The rest of a list cannot be requested.
func listPage(a *answer, most int) (*sdk.CallToolResult, error) {
	n := a.items.Len()
	of := func(items int) (r *sdk.CallToolResult, fits bool, err error) {
		text, err := remembered(a.items.Slice(0, items).Interface())
		if err != nil {
			return nil, false, err
		}
		var after any
		if items < n {
			after = graphLeft{Cut: "The call is done, and this is not all that was answered. A higher max_bytes has room for more.", Left: n - items}
		}
		r, err = resultOf(text.text, a.about, after)
		return r, err == nil && encoded(r) <= most, err
	}
	if r, fits, err := of(n); fits || err != nil {
		return r, err
	}
	var failed error
	few := sort.Search(n, func(items int) bool {
		_, fits, err := of(items + 1)
		if err != nil {
			failed = err
		}
		return !fits
	})
	if failed != nil {
		return nil, failed
	}
	r, _, err := of(few)
	return r, err
}

// memoryText64 is larger than any text of the memory, in bytes.
const memoryText64 = 64<<10 + 1

// A graphLeft counts the remaining units of a graph, or the remaining items of a list.
type graphLeft struct {
	Cut  string `json:"cut"`
	Next string `json:"next,omitempty"`
	Left int    `json:"left,omitempty"`
}

// leftOut names the dropped members of a call's arguments.
type leftOut struct {
	LeftOut []string `json:"left_out"`
	Count   int      `json:"left_out_count"`
	Why     string   `json:"why"`
}

// mostLeftOut is the maximum number of dropped members that are named.
const mostLeftOut = 5

// loosely makes a tool drop unknown members of its arguments, like the public memory server, and report them.
func loosely(t tool) tool {
	do := t.do
	t.do = func(ctx context.Context, s *Server, who access.Identity, in *canon.Cursor, from position) (answer, error) {
		var dropped []string
		drop(in.Value(), t.arguments, "", &dropped)
		a, err := do(ctx, s, who, in, from)
		if err == nil && len(dropped) > 0 {
			a.about = leftOut{dropped[:min(len(dropped), mostLeftOut)], len(dropped), "The call is done without these members, which the tool does not know."}
		}
		return a, err
	}
	return t
}

// drop removes the members of a value that are not fields of a type.
func drop(v *canon.Value, t reflect.Type, where string, dropped *[]string) {
	switch {
	case t.Kind() == reflect.Slice && v.Kind == canon.Array:
		for i := range v.Items {
			drop(&v.Items[i], t.Elem(), fmt.Sprintf("%s[%d]", where, i), dropped)
		}
	case t.Kind() == reflect.Struct && v.Kind == canon.Object:
		fields := map[string]reflect.Type{}
		for _, f := range api.Fields(t) {
			fields[f.Key] = f.Type
		}
		v.Members = slices.DeleteFunc(v.Members, func(m canon.Member) bool {
			if _, known := fields[m.Key]; known || where == "" && (m.Key == "max_bytes" || m.Key == "after") {
				return false
			}
			name := m.Key
			if where != "" {
				name = where + "." + name
			}
			*dropped = append(*dropped, fmt.Sprintf("%.60s", name))
			return true
		})
		for i := range v.Members {
			if f, known := fields[v.Members[i].Key]; known {
				below := v.Members[i].Key
				if where != "" {
					below = where + "." + below
				}
				drop(&v.Members[i].Value, f, below, dropped)
			}
		}
	}
}
