package slice

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/standing"
)

// prompt returns the nearest prompt before a turn, or noNode. See [spine].
func (s *selection) prompt(n dag.Node) dag.Node { return s.spine.prompt(s.view, s, n) }

// appendLeads implements [lineage].
func (s *selection) appendLeads(dst []dag.Node, n dag.Node) []dag.Node {
	of := s.standing(n)
	for i := range s.view.ParentCount(n) {
		parent, _, _ := s.view.Parent(n, i)
		switch {
		case !s.leadsTo(n, of, parent):
		case !s.view.Present(parent):
			s.miss(parent)
		default:
			dst = append(dst, parent)
		}
	}
	return dst
}

// visitTouching visits earlier turns of c's conversation that touched the same things as c: thing by thing, the newest
// first.
func (s *selection) visitTouching(c *candidate, most int, watch func(candidate)) {
	for i := range s.view.ThingCount(c.node) {
		s.near = s.view.AppendTouching(s.near[:0], c.node, i, most)
		for _, n := range s.near {
			s.visitBy(n, candidate{from: c.node, via: ViaTouch, thing: uint8(i)}, c.distance()+1, watch)
		}
	}
}

// mark sets the fields of an admission that come from a node's marks, and its number.
func (a *Admission) mark(v dag.View, n dag.Node) {
	a.Number, a.Voice, a.Cost = v.Admitted(n), v.Voice(n), v.Cost(n)
	if count := v.ThingCount(n); count > 0 {
		a.Things = make([]dag.Thing, count)
		for i := range a.Things {
			a.Things[i] = v.Thing(n, i)
		}
	}
}

// writeMarks writes number, voice, cost and things as values of an array, and what the turn counts for, if that is known.
func (a *Admission) writeMarks(w *canon.Writer) {
	w.Uint(uint64(a.Number))
	w.Text(voices[a.Voice])
	w.Uint(uint64(a.Cost))
	a.writeThings(w)
	if a.Standing != 0 {
		w.Text(standings[a.Standing])
		w.Uint(uint64(a.Setting))
		w.Uint(uint64(a.Rule))
	}
}

func (a *Admission) writeThings(w *canon.Writer) {
	w.BeginArray()
	for i := range a.Things {
		w.Hex(a.Things[i][:])
	}
	w.EndArray()
}

// writeThing writes the thing through which a turn was reached, or "".
func (a *Admission) writeThing(w *canon.Writer) {
	if a.Via != ViaTouch {
		w.Text(nil)
		return
	}
	w.Hex(a.Thing[:])
}

// appendMarkedWire writes an admission of gkp/2 or gkp/3 in the form of bundles.
func (a *Admission) appendMarkedWire(w *canon.Writer) {
	w.BeginObject()
	w.Key("cost")
	w.Uint(uint64(a.Cost))
	a.writeWay(w)
	w.Key("number")
	w.Uint(uint64(a.Number))
	if a.Standing != 0 {
		w.Key("rule")
		w.Uint(uint64(a.Rule))
	}
	w.Key("score_nano")
	w.Uint(uint64(a.Score))
	if a.Standing != 0 {
		w.Key("setting")
		w.Uint(uint64(a.Setting))
		w.Key("standing")
		w.String(a.Standing.String())
	}
	if a.Via == ViaTouch {
		w.Key("thing")
		w.Hex(a.Thing[:])
	}
	w.Key("things")
	a.writeThings(w)
	w.Key("via")
	w.String(a.Via.String())
	w.Key("voice")
	w.String(a.Voice.String())
	w.EndObject()
}

// writeWay writes the members distance and from.
func (a *Admission) writeWay(w *canon.Writer) {
	w.Key("distance")
	w.Uint(uint64(a.Distance))
	if a.Via != ViaAnchor {
		var id [dag.IDText]byte
		w.Key("from")
		w.Text(a.From.AppendText(id[:0]))
	}
}

// readMarks reads the members that an admission has from gkp/2 on, and those that it has under gkp/3 only.
func (a *Admission) readMarks(c *canon.Cursor, counted bool) {
	number := c.Field("number")
	if a.Number = dag.Seq(number.Uint(uint64(dag.MaxSeq))); a.Number == 0 {
		number.Failf("want a number above 0")
	}
	a.Voice = canon.Parsed(c.Field("voice"), dag.ParseVoice)
	a.Cost = int(c.Field("cost").Uint(dag.MaxCost))
	things := c.Field("things")
	for _, t := range things.Items() {
		a.Things = append(a.Things, canon.Parsed(t, dag.ParseThing))
	}
	if err := dag.CheckThings(a.Things); err != nil {
		things.Fail(err)
	}
	if a.Via == ViaTouch {
		a.Thing = canon.Parsed(c.Field("thing"), dag.ParseThing)
	}
	if counted {
		a.Standing = canon.Parsed(c.Field("standing"), dag.ParseStanding)
		a.Setting = uint16(c.Field("setting").Uint(policy.LimitNodes - 1))
		a.Rule = uint16(c.Field("rule").Uint(standing.MaxRules))
	}
}
