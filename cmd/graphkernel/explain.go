package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

func (a *app) explainCommand() *cobra.Command {
	var flags cutFlags
	c := &cobra.Command{
		Use:   "explain ANCHOR TURN",
		Short: "Say why a turn is in an anchor's slice, or why it is not",
		Long:  "Cuts the slice again, signs nothing, and says what became of the turn: its score, its\ndistance, by which way it was reached, and what beat it.\n\n" + anchorHelp,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("%s takes an ANCHOR and a TURN, got %d arguments", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.explain(c, args[0], args[1], flags) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags.register(a, c)
	return c
}

type admissionJSON struct {
	Score    uint64 `json:"score_nano"`
	Distance int    `json:"distance"`
	Via      string `json:"via"`
	From     string `json:"from,omitempty"`
}

type rivalJSON struct {
	ID        string        `json:"id"`
	Admission admissionJSON `json:"admission"`
}

type explanationJSON struct {
	Turn      string         `json:"turn"`
	Anchor    string         `json:"anchor"`
	Selected  bool           `json:"selected"`
	Standing  string         `json:"standing"`
	Rank      int            `json:"rank,omitempty"`
	Of        int            `json:"turns_in_slice"`
	Edges     int            `json:"edges_away"`
	Admission *admissionJSON `json:"admission,omitempty"`
	BeatenBy  *rivalJSON     `json:"beaten_by,omitempty"`
	Sentence  string         `json:"explanation"`
}

func (a *app) explain(c *cobra.Command, anchor, turn string, flags cutFlags) error {
	return a.withKernel(c.Context(), token.Keyring{}, func(s *session) error {
		request, err := flags.request(c, s, anchor)
		if err != nil {
			return err
		}
		id, err := resolve(c, s, turn)
		if err != nil {
			return err
		}
		e, err := s.Explain(c.Context(), s.tenant, request, id)
		if err != nil {
			return err
		}
		j := explanationJSON{
			Turn: id.String(), Anchor: request.Anchor.String(), Selected: e.Standing == slice.Chosen, Standing: string(e.Standing),
			Rank: e.Rank, Of: e.Selected, Edges: e.Edges, Sentence: sentence(&e, &request, flags.policy),
		}
		if e.Admission.Via != 0 {
			j.Admission = admissionJSONOf(&e.Admission)
		}
		if e.BeatenBy != nil {
			j.BeatenBy = &rivalJSON{e.BeatenBy.ID.String(), *admissionJSONOf(&e.BeatenBy.Admission)}
		}
		return a.print(j, func(w io.Writer) { fmt.Fprintf(w, "turn %s: %s\n", id, j.Sentence) })
	})
}

func admissionJSONOf(ad *slice.Admission) *admissionJSON {
	j := &admissionJSON{Score: uint64(ad.Score), Distance: ad.Distance, Via: ad.Via.String()}
	if ad.Via != slice.ViaAnchor {
		j.From = ad.From.String()
	}
	return j
}

// sentence says in words what an explanation holds.
func sentence(e *slice.Explanation, r *kernel.Request, policyID string) string {
	switch e.Standing {
	case slice.Chosen:
		return fmt.Sprintf("selected as number %d of %d: %s, score %s", e.Rank, e.Selected, reason(&e.Admission), decimal(e.Admission.Score))
	case slice.Beaten:
		if e.Admission.From == e.BeatenBy.ID && e.Admission.Score > e.BeatenBy.Admission.Score {
			return fmt.Sprintf("not selected: %s has room for %d turns; it came into reach (%s, score %s) only through the last one let in",
				policyID, e.Selected, reason(&e.Admission), decimal(e.Admission.Score))
		}
		return fmt.Sprintf("not selected: %s has room for %d turns; its score %s (%s) was beaten by %s with %s (%s), the last one let in",
			policyID, e.Selected, decimal(e.Admission.Score), reason(&e.Admission),
			short(e.BeatenBy.ID), decimal(e.BeatenBy.Admission.Score), reason(&e.BeatenBy.Admission))
	case slice.TooFar:
		return fmt.Sprintf("not selected: it is %d edges away, beyond max_radius of %s", e.Edges, policyID)
	case slice.Unreached:
		return fmt.Sprintf("not selected: it is %d edges away, but none of the %d selected turns led to it", e.Edges, e.Selected)
	case slice.NotYet:
		return fmt.Sprintf("not selected: as of sequence number %d it had not been admitted", r.AsOf)
	}
	return fmt.Sprintf("not selected: no way of at most %d edges leads to it", policy.LimitRadius)
}
