package demo

import (
	"fmt"
	"time"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/facts"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/service"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/token"
)

// What the pages of the demonstration have to show of the night on call: what was asked for each turn, and whose text was erased afterwards.
const (
	incidentOptions = "3c2869df-0dc0-4a11-8ca1-00000000000d" // "What are the options?"
	incidentReport  = "306057d9-0dc0-4a11-8ca1-000000000018" // "Write the post-mortem", with an address
)

// handedOut are what agents asked for in the demonstration, in order.
var handedOut = []struct {
	task, anchor string // a context for a task, or a slice around a turn
}{
	{"", incidentOptions},
	{"which options are there for the coupon look-up, and what does each risk", incidentOptions},
	{"", IncidentSecret},
	{"may I drop the coupon table", IncidentVisitor},
	{"create the index that was agreed on", IncidentSecret},
	{"", incidentReport},
	{"write the post-mortem of the checkout failure", incidentReport},
}

// learned is what the agents of the incident know in the end, and from which turns.
var learned = []struct{ subject, predicate, object, turn string }{
	{"checkout service", "uses", "connection pool", "329c2d6d"},
	{"connection pool", "is exhausted by", "coupon look-up", "40adf55c"},
	{"coupon look-up", "was changed by", "deployment of 01:59", "3b9bad3f"},
	{"coupon look-up", "filters by", "lower(code)", "40adf55c"},
	{"coupon table", "has an index on", "lower(code)", "92a69352"},
	{"human:oncall", "allowed", "index on lower(code)", "42fec86c"},
}

// learn records what is known in the end.
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

// serve fills the store of a demonstration and shows it in pages, until it is interrupted.
func (d *demo) serve(a *cli.App, folder, path, addr string) error {
	d.served = true
	anchor, err := d.imports(folder, path)
	if err != nil {
		return err
	}
	p, err := standard.Forms().ParseRegistration([]byte(demoPolicy))
	if err != nil {
		return err
	}
	if err := d.k.Policies().Register(d.ctx, d.session.Tenant, p); err != nil {
		return err
	}
	if path != "" {
		if err := d.handOut("", anchor); err != nil {
			return err
		}
	} else {
		for _, h := range handedOut {
			anchor, err := dag.ParseTurnID(h.anchor)
			if err != nil {
				return err
			}
			if err := d.handOut(h.task, anchor); err != nil {
				return err
			}
		}
	}
	if path != "" {
		extracted, err := facts.Extract(a, d.ctx, d.session, nil, 0)
		if err != nil {
			return err
		}
		d.step(true, "extract facts", cli.Count(extracted.Asserted, "fact"))
	} else {
		if err := d.learn(); err != nil {
			return err
		}
		id, err := dag.ParseTurnID(incidentReport)
		if err != nil {
			return err
		}
		if _, err := d.k.Turns().Erase(d.ctx, d.session.Tenant, id, "a customer's address was in it"); err != nil {
			return err
		}
		d.step(true, "erase", "the turn that asks for the post-mortem: an address was in it")
	}
	fmt.Fprintln(d.out)
	return service.Show(a, d.ctx, d.k, token.NewAuthority(d.ring), d.session.Tenant, addr)
}

// handOut has the kernel hand out a context for a task, or without one a slice of each of two policies.
func (d *demo) handOut(task string, anchor dag.TurnID) error {
	began := time.Now()
	if task != "" {
		c, err := d.k.Contexts().Assemble(d.ctx, d.session.Tenant, kernel.ContextRequest{Task: task, Anchor: &anchor, Budget: 400})
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
