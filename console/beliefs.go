package console

import (
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// krefScheme begins the address of an item of beliefs.
const krefScheme = "kref://"

// mostStatements is how many statements a page has.
const mostStatements = 200

type beliefsData struct {
	Spaces []api.Space
	None   bool // no space was made

	Space, AsOf, ValidAt, Subject string
	From                          int // of the statements shown, in Base
	Base                          api.BeliefBase
	Conflicts                     int
}

// Shown are the statements of the page.
func (d *beliefsData) Shown() []api.HeldStatement {
	list := d.Base.Statements[min(d.From, len(d.Base.Statements)):]
	return list[:min(len(list), mostStatements)]
}

// Next is where the next page begins, 0 if this is the last one.
func (d *beliefsData) Next() int {
	if next := d.From + mostStatements; next < len(d.Base.Statements) {
		return next
	}
	return 0
}

// beliefs lists the spaces, or what is believed in one, as of a number and at an instant.
func beliefs(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := beliefsData{Space: strings.Trim(strings.TrimSpace(q.Get("space")), "/"), AsOf: q.Get("as_of"), ValidAt: strings.TrimSpace(q.Get("valid_at")), Subject: strings.TrimSpace(q.Get("subject"))}
	if d.Space == "" {
		list, err := ask(v, api.ListSpaces, api.SpacesQuery{})
		d.Spaces, d.None = list.Spaces, len(list.Spaces) == 0
		return &page{"Beliefs", "beliefs", &d, ""}, err
	}
	in := api.BaseQuery{Space: d.Space, Subject: d.Subject}
	var err error
	if in.AsOf, err = number(d.AsOf); err != nil {
		return nil, refused(http.StatusBadRequest, "As of: %v", err)
	}
	from, err := number(q.Get("from"))
	if err != nil {
		return nil, refused(http.StatusBadRequest, "%v", err)
	}
	d.From = int(min(from, 1<<30))
	if d.ValidAt != "" {
		at, err := dag.ReadTime(instant(d.ValidAt))
		if err != nil {
			return nil, refused(http.StatusBadRequest, "Holds at: %v", err)
		}
		in.ValidAt = &at
	}
	if d.Base, err = ask(v, api.GetBeliefBase, in); err != nil {
		return nil, err
	}
	waiting, err := ask(v, api.BeliefConflicts, api.ConflictsQuery{Space: d.Space})
	d.Conflicts = len(waiting.Conflicts)
	return &page{"Beliefs: " + line(d.Space, 60), "beliefs", &d, ""}, err
}

// instant reads a date as its first instant.
func instant(text string) string {
	if len(text) == len("2026-01-02") {
		return text + "T00:00:00Z"
	}
	return text
}

// A heldList is statements of a space, as of a number.
type heldList struct {
	Space string
	AsOf  uint64
	List  []api.HeldStatement
}

// refOf is the address of a revision, 0 stands for the current one.
func refOf(item string, revision int) string {
	if revision == 0 {
		return item
	}
	return item + "?r=" + strconv.Itoa(revision)
}

// itemPath is where an address is shown.
func itemPath(ref string) template.URL { return "/beliefs/item?" + query("ref", ref) }

// whyPath is where a statement is explained, as of a number; 0 is now.
func whyPath(space string, asOf uint64, s api.BeliefStatement) template.URL {
	not := ""
	if s.Not {
		not = "1"
	}
	return "/beliefs/why?" + query("space", space, "subject", s.Subject, "predicate", s.Predicate, "object", s.Object, "not", not, "as_of", asOf)
}

type itemData struct {
	Ref       string
	Kref      api.ResolvedKref
	Space     string
	Revisions []api.ItemRevision // the newest first
	Older     int                // revisions before those
	Impact    *api.Impact        // of the revision that is shown; nil: there is none
}

// mostRevisions is how many revisions a page has.
const mostRevisions = 30

// item shows an item: its revisions with their statements, the times of its tags, and what depends on the revision that the address leads to.
func item(v *visit) (*page, error) {
	d := itemData{Ref: strings.TrimSpace(v.r.URL.Query().Get("ref"))}
	if d.Ref == "" {
		return &page{to: "/beliefs"}, nil
	}
	var err error
	if d.Kref, err = ask(v, api.ResolveKref, api.KrefQuery{Ref: d.Ref}); err != nil {
		return nil, err
	}
	d.Space = spaceOf(d.Kref.Item)
	for n := d.Kref.Revisions; n >= 1; n-- {
		if len(d.Revisions) == mostRevisions {
			d.Older = n
			break
		}
		one, err := ask(v, api.ResolveKref, api.KrefQuery{Ref: refOf(d.Kref.Item, n)})
		if err != nil {
			return nil, err
		}
		if one.Revision != nil {
			d.Revisions = append(d.Revisions, *one.Revision)
		}
	}
	if r := d.Kref.Revision; r != nil && !r.Erased {
		impact, err := ask(v, api.BeliefImpact, api.ImpactQuery{Ref: refOf(d.Kref.Item, r.Revision), Depth: 10})
		if err != nil {
			return nil, err
		}
		d.Impact = &impact
	}
	return &page{"Item: " + line(d.Kref.Item, 60), "item", &d, ""}, nil
}

// spaceOf is the space of an item's address.
func spaceOf(item string) string {
	path := strings.TrimPrefix(item, krefScheme)
	at := strings.LastIndex(path, "/")
	return path[:max(at, 0)]
}

type whyData struct {
	Space, AsOf string
	Statement   api.WrittenStatement
	Why         api.Why
}

// whyBelieved says why a statement is believed, down to the turns, or who ended it.
func whyBelieved(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := whyData{Space: q.Get("space"), AsOf: q.Get("as_of"), Statement: api.WrittenStatement{BeliefStatement: api.BeliefStatement{Subject: q.Get("subject"), Predicate: q.Get("predicate"), Object: q.Get("object"), Not: q.Get("not") != ""}}}
	in := api.WhyQuery{Space: d.Space, Subject: d.Statement.Subject, Predicate: d.Statement.Predicate, Object: d.Statement.Object, Not: d.Statement.Not}
	var err error
	if in.AsOf, err = number(d.AsOf); err != nil {
		return nil, refused(http.StatusBadRequest, "As of: %v", err)
	}
	if d.Why, err = ask(v, api.ExplainBelief, in); err == nil {
		d.Statement = d.Why.Statement
		if n := len(d.Why.Support); n > 0 && d.Why.Support[n-1].Statement.BeliefStatement == d.Statement.BeliefStatement {
			d.Statement = d.Why.Support[n-1].Statement // as whoever stated it wrote it
		}
	}
	return &page{"Why is it believed?", "why", &d, ""}, err
}

type conflictsData struct {
	Space     string
	Conflicts []proposal
}

// A proposal is one that was not taken, with what would have given way.
type proposal struct {
	api.Conflict
	Against []opposed
}

type opposed struct {
	Ref      string
	Revision *api.ItemRevision // nil: it is not there any more
}

// conflicts lists the proposals of a space that were not taken, beside what would have given way.
func conflicts(v *visit) (*page, error) {
	d := conflictsData{Space: v.r.URL.Query().Get("space")}
	got, err := ask(v, api.BeliefConflicts, api.ConflictsQuery{Space: d.Space})
	if err != nil {
		return nil, err
	}
	known := map[string]*api.ItemRevision{}
	for _, c := range got.Conflicts {
		p := proposal{Conflict: c}
		for _, ref := range c.With {
			if _, ok := known[ref]; !ok && len(known) < mostStatements {
				one, err := ask(v, api.ResolveKref, api.KrefQuery{Ref: ref})
				if err != nil {
					return nil, err
				}
				known[ref] = one.Revision
			}
			p.Against = append(p.Against, opposed{ref, known[ref]})
		}
		d.Conflicts = append(d.Conflicts, p)
	}
	return &page{"Conflicts: " + line(d.Space, 60), "conflicts", &d, ""}, nil
}

type baseDiffData struct {
	Space, From, To string
	Diff            *api.BaseDiff // nil: the form alone
}

// baseDiff compares what was believed in a space as of two numbers.
func baseDiff(v *visit) (*page, error) {
	q := v.r.URL.Query()
	d := baseDiffData{Space: q.Get("space"), From: q.Get("from"), To: q.Get("to")}
	answer := &page{"What changed: " + line(d.Space, 60), "diff", &d, ""}
	if d.From == "" {
		return answer, nil
	}
	in := api.BaseDiffQuery{Space: d.Space}
	for _, n := range []struct {
		name, text string
		to         *uint64
	}{{"From", d.From, &in.From}, {"To", d.To, &in.To}} {
		var err error
		if *n.to, err = number(n.text); err != nil {
			return nil, refused(http.StatusBadRequest, "%s: %v", n.name, err)
		}
	}
	diff, err := ask(v, api.DiffBeliefs, in)
	d.Diff = &diff
	return answer, err
}
