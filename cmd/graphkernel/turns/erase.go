package turns

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/retention"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

func eraseCommand(a *cli.App) *cobra.Command {
	var f eraseFlags
	c := &cobra.Command{
		Use:   "erase {{TURN | --context ID | --conversation ID | --author NAME | --search WORDS | --from SEQ --to SEQ | --retention POLICY} --reason TEXT | --list-held | --release TURN...}",
		Short: "Delete the text of turns for good; slices with them still verify and replay",
		Long: `Deletes the text, the author, the attributes and the salt of a turn, beyond recovery from the store, and records
when and why. The turn's place in the graph stays: slices cut before still verify, and a replay reports that the
text was erased. Facts that were learned from the turn are erased with it. This cannot be undone.

Bundles that were handed out before still hold the text, and so do backups: restoring an older backup brings the
text back, without the record of the erasure. Delete those, or erase again after a restore. (PostgreSQL removes
the bytes themselves only with time: docs/scaling.md.)

Other turns stay as they are. If a model was asked for facts about the turn, the prompt and the response that
contain its text are listed, so that you can erase them too. Agents' own transcripts also stay as they are: each
transcript that the turn came from, or that received it in a context, is listed if it is found, and so are the
contexts and slices that held the text.

To erase many turns, select them by conversation (its id, or a beginning of it), author, words or sequence
numbers. Sequence numbers undo an import, which reports the head before and after.

--search selects the turns whose text or author contains each of the WORDS, in any case and also inside other
words. It examines every turn, so none is missed. --dry-run lists what would be erased.

--retention selects the turns that have kept their text for as long as a policy allows (retention_v1: the first
rule that a turn matches says for how many days). Run it each day to apply the policy.

On a terminal the command asks before it erases. Elsewhere, erasing many turns requires --yes.

--context erases the words of the task of a context that was handed out (its id, or a beginning of it, which
graphkernel contexts lists), with the budget, the anchor and the salt of the request. It erases no text of a
turn. No other flag erases a task, unless the context showed a turn that is erased. The bundle that was handed
out still verifies; a replay of the record reports that the task was erased.

A copy does not bring an erased text back. If the text comes again under another id (from a fork, a resumed
session or an import), the turn is admitted without its text if it has the same text at the same instant, the
same text after the same text, or a text of 64 bytes or more that is the same. A person who says the words again
is not held back; import counts such turns.

--list-held lists the turns that were held back, and --release frees some: import the file again afterwards, and
the text is admitted as a reply to the turn.

Texts are recognised with a key in a file of the user (GRAPHKERNEL_ERASURES_KEY, or erasures.key beside the
keyring), which the first erasure makes. No store and no backup of a store contains it. Without it nothing is
held back, and the erasure says so.

` + cli.AnchorHelp + `

The JSON of --list-held is {"held_back":[{"seq","turn","erased","rule","at","by","place","released"}]}, and of
--release {"released"}. The JSON of a task is {"context","seq","reason","at","by","already"}. The JSON of many
turns is {"erased","already","reason","dry_run","turns":[{"id","seq","author","content"}],"shown_in":[ID],
"contexts":[ID],"slices":[ID],"transcripts":[FILE]}.`,
		Example: `  graphkernel erase 42fec86c --reason 'asked for by the person who wrote it'
  graphkernel erase --search 'oncall@checkout.example' --dry-run
  graphkernel erase --retention keep@1 --reason 'kept for a year' --yes
  graphkernel erase --from 120 --to 340 --reason 'the wrong folder was imported' --yes`,
		Args: func(c *cobra.Command, args []string) error {
			ways := len(args)
			for _, flag := range []string{"context", "conversation", "author", "search", "retention"} {
				if c.Flags().Changed(flag) {
					ways++
				}
			}
			if c.Flags().Changed("from") || c.Flags().Changed("to") {
				ways++
			}
			if f.held || f.release {
				return f.checkHeld(c, args)
			}
			if ways != 1 {
				return cli.Usagef("%s takes one TURN, --context, --conversation, --author, --search, --retention, or --from and --to, got %d of them", c.CommandPath(), ways)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.held {
				return listHeld(a, c)
			}
			if f.release {
				return release(a, c, args)
			}
			if len(args) == 1 {
				return erase(a, c, args[0], &f)
			}
			if f.context != "" {
				return eraseTask(a, c, &f)
			}
			return eraseMany(a, c, &f)
		},

		ValidArgsFunction: a.Stores.CompleteTurns(false),
	}
	c.Flags().StringVar(&f.reason, "reason", "", "the reason, for the record (required, except with --dry-run)")
	c.Flags().StringVar(&f.context, "context", "", "erase the task of this context, and no text of a turn")
	c.Flags().StringVar(&f.conversation, "conversation", "", "erase every turn of this conversation")
	c.Flags().StringVar(&f.author, "author", "", "erase every turn of this author, such as human:anna")
	c.Flags().StringVar(&f.search, "search", "", "erase every turn whose text or author contains each of these words")
	c.Flags().Uint64Var(&f.from, "from", 0, "erase the turns from this sequence number on")
	c.Flags().Uint64Var(&f.to, "to", 0, "erase the turns up to and including this sequence number")
	c.Flags().StringVar(&f.retention, "retention", "", "erase the turns that this policy (retention_v1) no longer keeps")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "list what would be erased, and erase nothing")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&f.held, "list-held", false, "list turns whose text was held back because it was erased under another id")
	c.Flags().BoolVar(&f.release, "release", false, "free the named turns, so that their text is no longer held back")
	cli.NoFiles(c, "reason", "author", "search", "from", "to")
	_ = c.RegisterFlagCompletionFunc("conversation", a.Stores.CompleteTurns(true))                // the flag exists
	_ = c.RegisterFlagCompletionFunc("context", a.Stores.CompleteIssued(cli.KindContext))         // the flag exists
	_ = c.RegisterFlagCompletionFunc("retention", a.Stores.CompletePolicies(retention.RulesType)) // the flag exists
	return c
}

// eraseFlags are the flags that select the texts to erase, and the reason.
type eraseFlags struct {
	reason, context, conversation, author, search, retention string
	from, to                                                 uint64
	dry, yes, held, release                                  bool
}

func (f *eraseFlags) check() error {
	if f.reason == "" && !f.dry {
		return cli.Usagef("erase needs --reason TEXT, which is recorded; an erased text cannot be restored")
	}
	return nil
}

// erase erases the turn that a person names.
func erase(a *cli.App, c *cobra.Command, turn string, f *eraseFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if belief.IsAddress(turn) {
		return cli.Usagef("%s is the address of a belief; an erasure is for good, so name the turn itself, which graphkernel show prints", turn)
	}
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		id, err := cli.Resolve(a, c, s, turn)
		if err != nil {
			return err
		}
		found, err := s.LookUp(c.Context(), []dag.TurnID{id})
		if err != nil {
			return err
		}
		if f.dry || a.IO.IsTerminal(a.IO.Stdin) && !f.yes {
			if err := showErased(a, c.Context(), s, found, f); err != nil || f.dry {
				return err
			}
		}
		left, err := leftOf(c.Context(), a, s, found, "")
		if err != nil {
			return err
		}
		before, err := s.Head(c.Context())
		if err != nil {
			return err
		}
		e, err := s.EraseTurn(c.Context(), id, f.reason)
		if cli.Is(err, api.CodeInvalid) {
			return cli.Usagef("--reason: %w", err)
		} else if err != nil {
			return err
		}
		shown, err := s.ShownIn(c.Context(), found)
		if err != nil {
			return fmt.Errorf("the turn is erased, but turns that quote its text to a model could not be searched for: %w", err)
		}
		already := e.Seq <= before
		result := map[string]any{"turn": id.String(), "seq": e.Seq, "reason": e.Reason, "at": e.At, "already": already, "shown_in": cli.Texts(shown), "contexts": left.contexts, "slices": left.slices, "transcripts": left.all(), "tasks": append([]slice.SliceID{}, e.Tasks...)}
		if e.By != "" {
			result["by"] = e.By
		}
		if e.Unguarded != "" && !already {
			result["unguarded"] = e.Unguarded
		}
		defer s.RemakeIndex(c.Context(), 1)
		return a.IO.Print(result, func(w io.Writer) {
			switch {
			case e.Seq == 0:
				fmt.Fprintf(w, "turn %s came without text; there is nothing to erase\n", id)
			case already:
				fmt.Fprintf(w, "turn %s was erased already: event %d, %s, by %s, %s\n", id, e.Seq, e.At, askedBy(e.By), render.OneLine(e.Reason, 200))
			default:
				fmt.Fprintf(w, "turn %s is erased: event %d\n", id, e.Seq)
				printUnguarded(w, e.Unguarded)
				fmt.Fprint(w, inBackups)
			}
			if len(e.Tasks) > 0 {
				fmt.Fprintf(w, "the tasks of %s that contained words of the turn are also erased: %s\n", cli.Count(len(e.Tasks), "context"), strings.Trim(fmt.Sprint(e.Tasks), "[]"))
			}
			printShownIn(w, shown)
			left.print(w)
		})
	})
}

// eraseTask erases the task of the context that a person names.
func eraseTask(a *cli.App, c *cobra.Command, f *eraseFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	return a.Stores.WithKernel(c.Context(), token.Keyring{}, func(s *cli.Session) error {
		i, err := contextsOf.find(c.Context(), s, f.context)
		if err != nil {
			return err
		}
		asked := render.OneLine(render.Visible(i.Asked), cli.Width(a.IO.Stdout, 200)-40)
		if f.dry {
			return a.IO.Print(map[string]any{"context": i.SliceID, "asked": i.Asked, "dry_run": true}, func(w io.Writer) {
				fmt.Fprintf(w, "the task of context %s would be erased, and was not: %s\n", cli.ID.Paint(w, string(i.SliceID)), asked)
			})
		}
		if a.IO.IsTerminal(a.IO.Stdin) && !f.yes {
			fmt.Fprintf(a.IO.Stderr, "context %s: %s\n", i.SliceID, asked)
			if err := a.IO.Agree("Erase the words of this task for good? They do not come back.", "nothing was erased"); err != nil {
				return err
			}
		}
		before, err := s.Head(c.Context())
		if err != nil {
			return err
		}
		e, err := cli.Do(c.Context(), s, api.EraseTask, api.TaskErasing{SliceID: i.SliceID, Body: api.ErasureRequest{Reason: f.reason}})
		if cli.Is(err, api.CodeInvalid) {
			return cli.Usagef("--reason: %w", err)
		} else if err != nil {
			return err
		}
		already := e.Seq <= before
		result := map[string]any{"context": e.Context, "seq": e.Seq, "reason": e.Reason, "at": e.At, "already": already}
		if e.By != "" {
			result["by"] = e.By
		}
		return a.IO.Print(result, func(w io.Writer) {
			if already {
				fmt.Fprintf(w, "the task of context %s was erased already: event %d, %s, by %s, %s\n", e.Context, e.Seq, e.At, askedBy(e.By), render.OneLine(e.Reason, 200))
				return
			}
			fmt.Fprintf(w, "the task of context %s is erased: event %d\n%s", e.Context, e.Seq, inBackups)
		})
	})
}

// inBackups is the note about erased text in backups, which no command can check.
const inBackups = "  backups that were made before still hold the text, and restoring one brings it back: delete them, or erase again after a restore\n"

// printUnguarded says why copies of an erased text are not held back, if they are not.
func printUnguarded(w io.Writer, why string) {
	if why != "" {
		fmt.Fprintf(w, "  copies of the text that come under other ids are not held back: %s\n", render.OneLine(render.Visible(why), 400))
	}
}

// printShownIn names the turns that contain erased text because models were shown it.
func printShownIn(w io.Writer, shown []dag.TurnID) {
	for _, other := range shown {
		fmt.Fprintf(w, "  turn %s still has the text that a model was shown, or the model's answer to it; erase that turn too\n", other)
	}
}
