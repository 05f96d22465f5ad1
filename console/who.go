package console

import (
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	h "github.com/graphkernel/graphkernel/internal/markup"
	"github.com/graphkernel/graphkernel/slice"
)

// A whoAsked is the person's turn that led to another turn.
type whoAsked struct {
	Said   bool     // a person said the turn itself
	Asked  *turnRow // the nearest turn before it that a person said
	Walked bool     // the search stopped before it reached all earlier turns
}

// nearest returns a word if the search stopped before it reached all earlier turns.
func (w *whoAsked) nearest() string {
	if w.Walked {
		return "nearest "
	}
	return ""
}

// asked shows the person who said a turn, and when.
func (t *turnRow) asked() h.Node {
	return h.Group{author(t.Author), h.Text(", "), moment(t.CreatedAt), h.Text(", in turn "), turnLink(t.ID)}
}

// Limits of the search for the person who asked: a sub-agent is several edges away from the person its session worked for.
const (
	mostSteps = 24
	mostWalk  = 200
)

// ask searches from a turn, edge by edge, for the nearest turn that a person said; among several, for the newest. It calls prior with each
// turn that the first one follows.
func (w *whoAsked) ask(v *visit, from *turnRow, prior func(child)) error {
	w.Said = from.person()
	seen, level := map[string]bool{from.ID: true}, []turnRow{*from}
	for step := 0; len(level) > 0; step++ {
		var ids []dag.TurnID
		for i := range level {
			for _, p := range level[i].Parents {
				id, err := dag.ParseTurnID(p.ID)
				if err != nil {
					return err
				}
				if !seen[p.ID] {
					seen[p.ID], ids = true, append(ids, id)
				}
			}
		}
		if w.Walked = step == mostSteps || len(seen) > mostWalk; w.Walked || len(ids) == 0 {
			return nil
		}
		got, err := ask(v, api.LookUpTurns, api.TurnIDs{IDs: ids})
		if m, err := optional(err); m != nil || err != nil {
			return err
		}
		level = level[:0:0]
		for i := range got.Turns {
			row, err := readTurn(&got.Turns[i], 400)
			if err != nil {
				return err
			}
			level = append(level, row)
			if row.person() && (w.Asked == nil || row.Stored.Seq > w.Asked.Stored.Seq) {
				w.Asked = &row
			}
			for _, p := range from.Parents {
				if step == 0 && p.ID == row.ID {
					prior(child{row, p.Kind})
				}
			}
		}
		if w.Said || w.Asked != nil {
			return nil
		}
	}
	return nil
}

// person reports whether a person said a turn, by its role, author and attributes. A turn whose text was erased has only its role.
func (t *turnRow) person() bool {
	role, err := dag.ParseRole(t.Role)
	return err == nil && ingest.VoiceOf(&dag.Draft{Role: role, Author: t.Author, Attrs: t.Attrs}) == dag.VoicePerson
}

// faultOf returns the part of a stored turn that is not as it was admitted, or "" if its text and its place match the recorded digests.
func faultOf(s *api.StoredTurn) string {
	d, err := ingest.ReadLine(s.Turn)
	if err != nil {
		return fmt.Sprintf("the turn cannot be read: %v", err)
	}
	digest := s.BodyDigest
	t := dag.Turn{ID: d.ID, Conversation: d.Conversation, Role: d.Role, Phase: d.Phase, Salience: d.Salience, CreatedAt: d.CreatedAt, BodyDigest: digest}
	if !s.Redacted {
		if d.Salt == nil {
			return "the salt of the turn is missing"
		}
		body := dag.Body{Author: d.Author, Content: d.Content, Attrs: d.Attrs, Salt: *d.Salt}
		if slice.DigestBody(slice.AppendBody(nil, &body), *d.Salt) != digest {
			return "the text, author or attributes of the turn do not fit the digest of its body"
		}
	}
	if slice.TurnLeaf(&t).String() != s.Leaf.String() {
		return "the conversation, role, phase, salience or time of the turn do not fit its leaf"
	}
	return ""
}

// whoOf searches for the person who asked for evidence: the person's turn that is its anchor or led to it.
func (d *evidenceData) whoOf(v *visit) error {
	anchor := d.Bundle.Anchor
	switch d.Kind() {
	case "slice":
		anchor = d.Newest.Anchor.String()
	case "context":
		if r := d.Bundle.Request; r != nil {
			anchor = r.Anchor
		}
	}
	if anchor == "" || d.Kind() == "facts" || d.Kind() == "belief" {
		return nil
	}
	id, err := dag.ParseTurnID(anchor)
	if err != nil {
		return nil // a malformed bundle has no anchor
	}
	stored, err := ask(v, api.GetTurn, api.TurnByID{ID: id})
	if m, err := optional(err); m != nil || err != nil {
		return err
	}
	from, err := readTurn(&stored, 400)
	if err != nil {
		return err
	}
	d.Anchored = true
	if err := d.ask(v, &from, func(child) {}); err != nil {
		return err
	}
	if d.Said {
		d.Asked = &from
	}
	return nil
}
