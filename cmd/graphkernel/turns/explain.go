package turns

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

func explainCommand(a *cli.App) *cobra.Command {
	var flags cutFlags
	c := &cobra.Command{
		Use:   "explain ANCHOR TURN",
		Short: "Say why a turn is in an anchor's slice, or why it is not",
		Long:  "Cuts the slice again, signs nothing, and says what became of the turn: its score, its\ndistance, by which way it was reached, and what beat it.\n\n" + cli.AnchorHelp,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usagef("%s takes an ANCHOR and a TURN, got %d arguments", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return explain(a, c, args[0], args[1], flags) },

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

func explain(a *cli.App, c *cobra.Command, anchor, turn string, flags cutFlags) error {
	return a.WithReadKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		request, err := flags.request(c, s, anchor)
		if err != nil {
			return err
		}
		id, err := cli.Resolve(c, s, turn)
		if err != nil {
			return err
		}
		e, err := s.Slices().Explain(c.Context(), s.Tenant, request, id)
		if err != nil {
			return err
		}
		j := explanationJSON{
			Turn: id.String(), Anchor: request.Anchor.String(), Selected: e.Standing == slice.Chosen, Standing: string(e.Standing),
			Rank: e.Rank, Of: e.Selected, Edges: e.Edges, Sentence: render.Explanation(&e, request.Policy, request.AsOf),
		}
		if e.Admission.Via != 0 {
			j.Admission = AdmissionJSONOf(&e.Admission)
		}
		if e.BeatenBy != nil {
			j.BeatenBy = &rivalJSON{e.BeatenBy.ID.String(), *AdmissionJSONOf(&e.BeatenBy.Admission)}
		}
		return a.Print(j, func(w io.Writer) { fmt.Fprintf(w, "turn %s: %s\n", id, j.Sentence) })
	})
}

// AdmissionJSONOf returns why a turn is in a slice.
func AdmissionJSONOf(ad *slice.Admission) *admissionJSON {
	j := &admissionJSON{Score: uint64(ad.Score), Distance: ad.Distance, Via: ad.Via.String()}
	if ad.Via != slice.ViaAnchor {
		j.From = ad.From.String()
	}
	return j
}
