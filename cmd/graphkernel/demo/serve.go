package demo

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/facts"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/service"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/token"
)

// Turns of the night on call for which agents make requests; the text of one is erased afterwards.
const (
	incidentOptions = "3c2869df-0dc0-4a11-8ca1-00000000000d" // "What are the options?"
	incidentReport  = "306057d9-0dc0-4a11-8ca1-000000000018" // "Write the post-mortem", with an address
)

// handedOut are the requests of agents in the demonstration, in order. Each is made half a minute after its anchor was said, and before anybody acted on the
// answer.
var handedOut = []struct {
	task, anchor string // a context for a task, or a slice around a turn
}{
	{"", incidentOptions},
	{"which options are there for the coupon look-up, and what does each risk", incidentOptions},
	{"may I drop the coupon table", IncidentVisitor},
	{"", IncidentSecret},
	{"create the index that was agreed on", IncidentSecret},
	{"", incidentReport},
	{"write the post-mortem of the checkout failure", incidentReport},
}

// askedAfter is how long after a turn an agent makes its request.
const askedAfter = 30 * time.Second

// night replays the night on call: it admits the turns up to each anchor, and hands out what was requested for it at its own time.
func (d *demo) night() error {
	d.title("A night on call, which ships with the program")
	lines := bytes.SplitAfter(bytes.TrimSuffix(Incident, []byte("\n")), []byte("\n"))
	drafts := make([]dag.Draft, len(lines))
	for i, line := range lines {
		var err error
		if drafts[i], err = ingest.ReadLine(bytes.TrimSpace(line)); err != nil {
			return err
		}
	}
	admitted := 0
	admit := func(to int) error {
		at := time.UnixMicro(int64(drafts[to-1].CreatedAt)).UTC()
		d.at.Store(&at)
		if to > admitted {
			r, err := d.k.Turns().Admit(d.ctx, d.session.Tenant, drafts[admitted:to])
			if err != nil {
				return err
			}
			d.step(r.Admitted == to-admitted, at.Format("15:04")+" admit", fmt.Sprintf("%s with %s", cli.Count(r.Admitted, "turn"), cli.Count(r.Edges, "edge")))
			admitted = to
		}
		at = at.Add(askedAfter)
		d.at.Store(&at)
		return nil
	}
	for _, h := range handedOut {
		anchor, err := dag.ParseTurnID(h.anchor)
		if err != nil {
			return err
		}
		if err := admit(1 + slices.IndexFunc(drafts, func(t dag.Draft) bool { return t.ID == anchor })); err != nil {
			return err
		}
		if err := d.handOut(h.task, anchor); err != nil {
			return err
		}
	}
	if err := admit(len(drafts)); err != nil {
		return err
	}
	if err := d.learn(); err != nil {
		return err
	}
	d.at.Store(nil)
	id, err := dag.ParseTurnID(incidentReport)
	if err != nil {
		return err
	}
	if _, err := d.k.Turns().Erase(d.ctx, d.session.Tenant, id, "a customer's address was in it"); err != nil {
		return err
	}
	d.step(true, "today: erase", "the turn that asks for the post-mortem: an address was in it")
	return nil
}

// learned are the facts that the agents of the incident know in the end, with the turns that they learned them from.
var learned = []struct{ subject, predicate, object, turn string }{
	{"checkout service", "uses", "connection pool", "329c2d6d"},
	{"connection pool", "is exhausted by", "coupon look-up", "40adf55c"},
	{"coupon look-up", "was changed by", "deployment of 01:59", "3b9bad3f"},
	{"coupon look-up", "filters by", "lower(code)", "40adf55c"},
	{"coupon table", "has an index on", "lower(code)", "92a69352"},
	{"human:oncall", "allowed", "index on lower(code)", "42fec86c"},
}

// learn records the facts that are known in the end.
func (d *demo) learn() error {
	var acts []knowledge.Act
	for _, l := range learned {
		f, err := knowledge.NewFact(l.subject, l.predicate, l.object, "agent:lead")
		if err != nil {
			return err
		}
		if f.Turn, err = d.k.Turns().Resolve(d.ctx, d.session.Tenant, l.turn); err != nil {
			return err
		}
		acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: f})
	}
	_, err := d.k.Facts().Learn(d.ctx, d.session.Tenant, acts)
	d.step(err == nil, "learn", cli.Count(len(acts), "fact"))
	return err
}

// serve fills the store of a demonstration and shows it in a browser, until it is interrupted.
func (d *demo) serve(a *cli.App, folder, path, addr string) error {
	d.served = true
	p, err := standard.Forms().ParseRegistration([]byte(demoPolicy))
	if err != nil {
		return err
	}
	if err := d.k.Policies().Register(d.ctx, d.session.Tenant, p); err != nil {
		return err
	}
	if path == "" {
		err = d.night()
	} else {
		err = d.own(a, folder, path)
	}
	if err != nil {
		return err
	}
	d.next()
	fmt.Fprintln(d.out)
	return service.Show(a, d.ctx, d.k, token.NewAuthority(d.ring), d.session.Tenant, addr)
}

// own shows the user's own transcripts.
func (d *demo) own(a *cli.App, folder, path string) error {
	anchor, err := d.imports(folder, path)
	if err != nil {
		return err
	}
	if err := d.handOut("", anchor); err != nil {
		return err
	}
	extracted, err := facts.Extract(a, d.ctx, d.session, nil, 0)
	if err != nil {
		return err
	}
	d.step(true, "extract facts", cli.Count(extracted.Asserted, "fact"))
	return nil
}

// handOut makes the kernel hand out a context for a task or, without a task, a slice under each of two policies.
func (d *demo) handOut(task string, anchor dag.TurnID) error {
	began := time.Now()
	if task != "" {
		c, err := d.k.Contexts().Assemble(d.ctx, d.session.Tenant, api.ContextRequest{Task: task, Anchor: anchor.String(), Budget: 400})
		if err != nil {
			return err
		}
		d.step(true, "hand out context "+string(c.Context.Provenance.SliceID), fmt.Sprintf("%s, in %s", task, time.Since(began).Round(time.Microsecond)))
		return nil
	}
	for _, id := range []policy.ID{"demo@1", policy.DefaultID} {
		issued, err := d.k.Slices().Cut(d.ctx, d.session.Tenant, kernel.Request{Anchor: anchor, Policy: id})
		if err != nil {
			return err
		}
		d.step(true, "hand out slice "+string(issued.Slice.Provenance.SliceID), fmt.Sprintf("%s under %s", cli.Count(len(issued.Slice.Turns), "turn"), id))
	}
	return nil
}
