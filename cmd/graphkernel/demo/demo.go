// Package demo demonstrates the kernel on a conversation of its own, and attacks the result.
package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/turns"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// Incident is a conversation made up for the demonstration: a night on call,
// with two sub-agents, their results merged, a compaction, and a visitor who
// tries to talk the agent into harm.
//
//go:embed incident.jsonl
var Incident []byte

const (
	IncidentAnchor  = "d93a7abe-0dc0-4a11-8ca1-000000000012" // "Creating the index."
	IncidentSecret  = "42fec86c-0dc0-4a11-8ca1-000000000011" // the turn that is erased
	gitPatience     = 4 * time.Second                        // for the history of the repository in which the program was started
	demoPolicy      = `{"policy_id":"demo@1","policy":{"type":"slice_policy_v1","max_nodes":12,"max_radius":6,"distance_decay":0.85,"include_siblings":false}}`
	IncidentVisitor = "27de2cbd-0dc0-4a11-8ca1-000000000010" // the turn of the visitor who tries to talk the agent into harm
	demoPrintedTree = 60                                     // the most turns of which the whole tree is printed
)

// DemoCommand makes the command that demonstrates the kernel in a temporary folder.
func DemoCommand(a *cli.App) *cobra.Command {
	var pages bool
	var addr string
	c := &cobra.Command{
		Use:   "demo [PATH]",
		Short: "Import, slice, verify, prove, attack, replay and erase in a temporary folder",
		Long: `Shows the whole kernel at work on a conversation that ships with it, or on your own transcripts if PATH names
some. Everything happens in a temporary folder that is removed afterwards. Nothing leaves the machine, and
none of your keys and stores is touched.

With --serve the kernel is shown in a browser instead: the command prints a link that signs in, and serves
the pages of the console on this machine until it is interrupted.`,
		Args: cli.AtMostOneArg("PATH"),
		RunE: func(c *cobra.Command, args []string) error {
			path := ""
			if len(args) == 1 {
				path = args[0]
			}
			if c.Flags().Changed("addr") && !pages {
				return cli.Usagef("--addr says where --serve listens")
			}
			return runDemo(a, c.Context(), path, func(d *demo, folder string) error {
				if pages {
					return d.serve(a, folder, path, addr)
				}
				return d.run(folder, path)
			})
		},
	}
	c.Flags().BoolVar(&pages, "serve", false, "show the kernel in a browser")
	c.Flags().StringVar(&addr, "addr", "127.0.0.1:0", "the address to listen on, HOST:PORT; port 0 takes a free one")
	return c
}

// A demo is a running demonstration.
type demo struct {
	ctx     context.Context
	out     io.Writer
	k       *kernel.Kernel
	session *cli.Session
	ring    token.Keyring
	steps   []demoStep
	served  bool                      // shown in a browser
	at      atomic.Pointer[time.Time] // the kernel's clock; nil: that of the machine
}

type demoStep struct {
	Step   string `json:"step"`
	Result string `json:"result"`
	OK     bool   `json:"ok"`
}

func runDemo(a *cli.App, ctx context.Context, path string, show func(d *demo, folder string) error) (err error) {
	if _, err := os.Stat(path); path != "" && errors.Is(err, fs.ErrNotExist) {
		return cli.Usagef("%s does not exist; demo takes a file or a folder of transcripts, or nothing", path)
	}
	folder, err := os.MkdirTemp("", "graphkernel-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if removed := os.RemoveAll(folder); err == nil {
			err = removed
		}
	}()
	secret, err := token.DrawSecret(nil)
	if err != nil {
		return err
	}
	ring, err := a.Signing.OneKey("demo", secret)
	if err != nil {
		return err
	}
	settings := *a.Settings
	settings.Dev = true // an identity for this run
	settings.StoreFlag, settings.TenantFlag = "sqlite:"+filepath.Join(folder, "demo.db"), string(dag.DefaultTenant)
	d := &demo{ctx: ctx, out: a.IO.Stdout, ring: ring}
	clock := func() time.Time {
		if at := d.at.Load(); at != nil {
			return *at
		}
		return a.Clock()
	}
	if a.IO.Output == "json" {
		d.out = io.Discard
	}
	made, err := sqlite.Create(ctx, filepath.Join(folder, "demo.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	if err := made.Close(); err != nil {
		return err
	}
	err = a.Stores.For(&settings).By(clock).WithStore(ctx, ring, cli.ToWrite, func(s *cli.Session) error {
		d.session, d.k = s, s.Kernel
		return show(d, folder)
	})
	if err != nil {
		return err
	}
	failed := 0
	for _, s := range d.steps {
		if !s.OK {
			failed++
		}
	}
	if a.IO.Output == "json" && len(d.steps) > 0 && !d.served {
		if err := a.IO.PrintJSON(map[string]any{"steps": d.steps, "failed": failed}); err != nil {
			return err
		}
	}
	if failed > 0 {
		a.IO.Note("graphkernel: %d of %d steps failed", failed, len(d.steps))
		return cli.Finish(api.ExitInternal)
	}
	return nil
}

func (d *demo) run(folder, path string) error {
	anchor, err := d.imports(folder, path)
	if err != nil {
		return err
	}
	issued, err := d.cuts(anchor)
	if err != nil {
		return err
	}
	if path == "" {
		if err := d.explains(issued); err != nil {
			return err
		}
	}
	d.verifies(issued.Bundle)
	if err := d.proves(issued); err != nil {
		return err
	}
	if err := d.attacks(issued.Bundle); err != nil {
		return err
	}
	if err := d.grows(issued); err != nil {
		return err
	}
	if err := d.erases(issued, path == ""); err != nil {
		return err
	}
	d.next()
	return nil
}

// nextSteps are the commands that are suggested after the demonstration.
const nextSteps = `  make install                              put graphkernel and graphkernel-hook on the PATH
  graphkernel keys init                     make the key that signs
  graphkernel setup claude-code             capture sessions from now on, and tell new ones of the old
  graphkernel import ~/.claude/projects     admit the sessions that exist
  graphkernel search WORDS                  find what was said
  graphkernel context WORDS                 hand out what an agent needs for a task
  graphkernel serve                         the same in a browser and over HTTP; the key to sign in:
  graphkernel apikey create --role admin`

// next prints what to do with one's own sessions.
func (d *demo) next() { fmt.Fprintf(d.out, "\nNext, with your own sessions:\n%s\n", nextSteps) }

func (d *demo) title(format string, args ...any) {
	fmt.Fprintf(d.out, "\n── %s\n\n", fmt.Sprintf(format, args...))
}

func (d *demo) step(ok bool, name, result string) {
	d.steps = append(d.steps, demoStep{name, result, ok})
	mark := "✓"
	if !ok {
		mark = "✗"
	}
	fmt.Fprintf(d.out, "  %s %-36s %s\n", mark, name, render.OneLine(result, 108))
}

// imports admits the conversations of the demonstration and returns the anchor.
func (d *demo) imports(folder, path string) (dag.TurnID, error) {
	if path != "" {
		d.title("Importing %s", path)
		return d.importOwn(path)
	}
	d.title("Importing a night on call, which ships with the program")
	file := filepath.Join(folder, "incident.jsonl")
	if err := os.WriteFile(file, Incident, 0o600); err != nil {
		return dag.TurnID{}, err
	}
	for _, again := range []string{"import", "import again"} {
		r, err := d.k.Turns().Import(d.ctx, d.session.Tenant, file, ingest.Options{})
		if err != nil {
			return dag.TurnID{}, err
		}
		d.step((r.Admitted > 0) == (again == "import"), again,
			fmt.Sprintf("%s admitted with %s in %s, %d there already", cli.Count(r.Admitted, "turn"), cli.Count(r.Edges, "edge"), cli.Count(r.Conversations, "conversation"), r.Existing))
	}
	if err := d.importGit(); err != nil {
		return dag.TurnID{}, err
	}
	return dag.ParseTurnID(IncidentAnchor)
}

func (d *demo) importOwn(path string) (dag.TurnID, error) {
	r, err := d.k.Turns().Import(d.ctx, d.session.Tenant, path, ingest.Options{})
	if err != nil {
		return dag.TurnID{}, err
	}
	d.step(r.Admitted > 0, "import", fmt.Sprintf("%s admitted with %s in %s", cli.Count(r.Admitted, "turn"), cli.Count(r.Edges, "edge"), cli.Count(r.Conversations, "conversation")))
	cli.PrintCounts(d.out, "skipped", r.Read.Skipped)
	if r.Admitted == 0 {
		return dag.TurnID{}, fmt.Errorf("%s holds no turns to show", path)
	}
	// The anchor is the newest turn of the largest conversation.
	var largest dag.ConversationID
	most := 0
	var after dag.ConversationID
	const page = 500
	for {
		some, err := d.k.Turns().Conversations(d.ctx, d.session.Tenant, after, page)
		if err != nil {
			return dag.TurnID{}, err
		}
		for _, c := range some {
			if after = c.ID; c.Turns > most {
				largest, most = c.ID, c.Turns
			}
		}
		if len(some) < page {
			break
		}
	}
	var anchor dag.TurnID
	err = d.k.Turns().Each(d.ctx, d.session.Tenant, largest, func(_ dag.Seq, t *dag.Draft) error {
		anchor = t.ID
		return nil
	})
	return anchor, err
}

// importGit admits the history of the repository in which the program was started, if there is one, for at most the time that a demonstration may take.
func (d *demo) importGit() error {
	top, err := exec.CommandContext(d.ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		d.step(true, "import git history", "not inside a repository, left out")
		return nil
	}
	ctx, stop := context.WithTimeout(d.ctx, gitPatience)
	defer stop()
	r, err := d.k.Turns().Import(ctx, d.session.Tenant, strings.TrimSpace(string(top)), ingest.Options{Format: ingest.Git})
	if errors.Is(err, context.DeadlineExceeded) {
		d.step(true, "import git history", fmt.Sprintf("%d commits, then stopped for time", r.Admitted))
		return nil
	} else if err != nil {
		d.step(true, "import git history", "left out: "+err.Error())
		return nil
	}
	d.step(true, "import git history", fmt.Sprintf("%d commits with %d parent edges", r.Admitted, r.Edges))
	return nil
}

func (d *demo) cuts(anchor dag.TurnID) (*kernel.Issued, error) {
	p, err := standard.Forms().ParseRegistration([]byte(demoPolicy))
	if err != nil {
		return nil, err
	}
	if err := d.k.Policies().Register(d.ctx, d.session.Tenant, p); err != nil {
		return nil, err
	}
	d.title("Cutting a slice around turn %s under %s", render.Short(anchor), p.ID())
	began := time.Now()
	issued, err := d.k.Slices().Cut(d.ctx, d.session.Tenant, kernel.Request{Anchor: anchor, Policy: p.ID()})
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	if err := d.printSelected(issued); err != nil {
		return nil, err
	}
	d.step(len(issued.Slice.Turns) > 0, "cut and sign", fmt.Sprintf("slice %s: %d turns, %d edges, %d bytes, in %s",
		issued.Slice.Provenance.SliceID, len(issued.Slice.Turns), len(issued.Slice.Edges), len(issued.Bundle), took.Round(time.Microsecond)))
	d.step(true, "token", issued.Seal.Token+" by key "+issued.Seal.KeyID)
	return issued, nil
}

// printSelected prints the conversations that the slice touches as trees, with the selected turns marked.
func (d *demo) printSelected(issued *kernel.Issued) error {
	b, err := slice.ParseBundle(issued.Bundle)
	if err != nil {
		return err
	}
	seen := map[dag.ConversationID]bool{}
	var shown []turns.ShownTurn
	for _, t := range b.Reading() {
		if seen[t.Conversation] {
			continue
		}
		seen[t.Conversation] = true
		some, err := turns.ReadConversation(d.ctx, d.session, t.Conversation)
		if err != nil {
			return err
		}
		shown = append(shown, some...)
	}
	for i := range shown {
		for j := range b.Turns {
			if t := &b.Turns[j]; t.ID.String() == shown[i].ID {
				why := api.AdmissionOf(&t.Admission)
				shown[i].Selected = &why
				shown[i].Why = fmt.Sprintf("score %s, %s", render.Score(t.Admission.Score), render.Reason(&t.Admission))
			}
		}
	}
	if len(shown) > demoPrintedTree {
		fmt.Fprintf(d.out, "  (%d turns; those selected:)\n", len(shown))
		chosen := shown[:0]
		for _, t := range shown {
			if t.Selected != nil {
				chosen = append(chosen, t)
			}
		}
		shown = chosen
	}
	turns.PrintTree(d.out, shown, "not shown here")
	fmt.Fprintln(d.out)
	return nil
}

// explains shows why the visitor's turn is left out.
func (d *demo) explains(issued *kernel.Issued) error {
	visitor, err := dag.ParseTurnID(IncidentVisitor)
	if err != nil {
		return err
	}
	p := &issued.Slice.Provenance
	request := kernel.Request{Anchor: p.Anchor, Policy: p.PolicyID}
	e, err := d.k.Slices().Explain(d.ctx, d.session.Tenant, request, visitor)
	if err != nil {
		return err
	}
	d.title("Why is the visitor's turn %s not in it?", render.Short(visitor))
	d.step(e.Outcome != slice.Chosen, "explain", render.Explanation(&e, p.PolicyID, request.AsOf))
	return nil
}

func (d *demo) verifies(bundle []byte) {
	d.title("Verifying it, with the key and nothing else")
	admissible, verdict := d.k.Slices().Verify(bundle)
	cli.PrintChecks(d.out, verdict.Checks)
	d.step(admissible.OK(), "verify", string(verdict.Outcome))
}

// proves convinces somebody who has only a trust file, and shows them a part of the bundle.
func (d *demo) proves(issued *kernel.Issued) error {
	d.title("Proving it to somebody without the key, a store or a network")
	e, err := d.k.Ledger().Attest(d.ctx, d.session.Tenant, issued.Bundle)
	if err != nil {
		return err
	}
	text, err := d.k.Ledger().Identity().Trust(d.session.Tenant, "")
	if err != nil {
		return err
	}
	trust, err := ledger.ParseTrust(text)
	if err != nil {
		return err
	}
	judge := evidence.Judge{Trust: trust}
	files := evidence.Files{Bundle: issued.Bundle, Attestation: e.Envelope, Proof: e.Proof}
	v := judge.Judge(files)
	if v.Inclusion == nil {
		return fmt.Errorf("the evidence is %s: %s", v.Outcome, v.Reason)
	}
	d.step(v.Outcome == evidence.Verified, "attestation and ledger", fmt.Sprintf("%s: leaf %d of %d of %s", v.Outcome, v.Inclusion.Index, v.Inclusion.Size, v.Inclusion.Origin))
	whole, err := slice.ParseBundle(issued.Bundle)
	if err != nil {
		return err
	}
	part, err := whole.Disclose(issued.Record.Bundle, []dag.TurnID{issued.Slice.Provenance.Anchor})
	if err != nil {
		return err
	}
	shown := evidence.Files{Disclosure: part.Append(nil), Attestation: e.Envelope, Proof: e.Proof}
	v = judge.Judge(shown)
	d.step(v.Outcome == evidence.Verified, "one turn of it, nothing of the others", fmt.Sprintf("%s: %d turns dropped down to hashes, %d bytes", v.Outcome, v.Dropped, len(shown.Disclosure)))
	files.Proof = nil
	v = judge.Judge(files)
	d.step(v.Outcome == evidence.NotInLog, "without the proof", fmt.Sprintf("%s: %s", v.Outcome, v.Reason))
	return nil
}

// grows admits turns around the slice and replays it.
func (d *demo) grows(issued *kernel.Issued) error {
	d.title("Letting the conversation grow, and replaying")
	before := issued.Slice.AsOf
	var drafts []dag.Draft
	for i := range issued.Slice.Turns {
		t := &issued.Slice.Turns[i]
		name := fmt.Sprintf("growth/%d", i)
		drafts = append(drafts, dag.Draft{
			ID: dag.ExternalTurnID("demo", name), Conversation: dag.ExternalConversationID("demo", "growth"),
			Parents: []dag.Parent{{ID: t.ID, Kind: dag.Reply}}, Role: dag.RoleAssistant, CreatedAt: t.CreatedAt + 1,
			Author: "agent:later", Content: "Said later, under turn " + t.ID.String() + ".",
			Phase: dag.Synthesis, Salience: dag.One, HasSalience: true,
		})
	}
	r, err := d.k.Turns().Admit(d.ctx, d.session.Tenant, drafts)
	if err != nil {
		return err
	}
	d.step(r.Admitted == len(drafts), "grow", fmt.Sprintf("%d turns under the selected ones; head %d → %d", r.Admitted, before, r.Head))
	now, err := d.k.Slices().Cut(d.ctx, d.session.Tenant, kernel.Request{Anchor: issued.Slice.Provenance.Anchor, Policy: issued.Slice.Provenance.PolicyID})
	if err != nil {
		return err
	}
	d.step(now.Slice.Provenance.SliceID != issued.Slice.Provenance.SliceID, "slice of today", fmt.Sprintf("%s, another one, as it must be", now.Slice.Provenance.SliceID))
	return d.replays(issued.Bundle, kernel.Identical)
}

func (d *demo) replays(bundle []byte, want kernel.ReplayOutcome) error {
	r, err := d.k.Slices().Replay(d.ctx, d.session.Tenant, bundle)
	if err != nil {
		return err
	}
	d.step(r.Outcome == want, fmt.Sprintf("replay as of %d", r.AsOf), fmt.Sprintf("%s: %s", r.Outcome, r.Reason))
	return nil
}

// erases erases a turn of the slice, then verifies and replays the old bundle and cuts a new one.
func (d *demo) erases(issued *kernel.Issued, shipped bool) error {
	turn := issued.Slice.Turns[0].ID
	if shipped {
		var err error
		if turn, err = dag.ParseTurnID(IncidentSecret); err != nil {
			return err
		}
	}
	d.title("Erasing turn %s, and replaying again", render.Short(turn))
	e, err := d.k.Turns().Erase(d.ctx, d.session.Tenant, turn, "asked for by the person who wrote it")
	if err != nil {
		return err
	}
	d.step(e.Seq > 0, "erase", fmt.Sprintf("event %d: text, author, attributes and salt are gone from the store", e.Seq))
	if err := d.replays(issued.Bundle, kernel.Erased); err != nil {
		return err
	}
	again, err := d.k.Slices().Cut(d.ctx, d.session.Tenant, kernel.Request{
		Anchor: issued.Slice.Provenance.Anchor, Policy: issued.Slice.Provenance.PolicyID, AsOf: issued.Slice.AsOf,
	})
	if err != nil {
		return err
	}
	admissible, verdict := d.k.Slices().Verify(again.Bundle)
	same := again.Seal.Token == issued.Seal.Token
	d.step(admissible.OK() && same, "the same slice, cut today", fmt.Sprintf("%s with the same token, %d turn redacted", verdict.Outcome, len(verdict.Redacted)))
	return nil
}
