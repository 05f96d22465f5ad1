package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// A cutFlags says which slice is meant.
type cutFlags struct {
	policy string
	asOf   uint64
}

func (f *cutFlags) register(a *app, c *cobra.Command) {
	c.Flags().StringVar(&f.policy, "policy", string(policy.DefaultID), "the policy to cut under")
	c.Flags().Uint64Var(&f.asOf, "as-of", 0, "cut from the graph as it was at this sequence number; 0 is the present")
	_ = c.RegisterFlagCompletionFunc("policy", a.completePolicies) // the flag exists
	noFiles(c, "as-of")
}

// request finds the anchor that a person names.
func (f *cutFlags) request(c *cobra.Command, s *session, anchor string) (kernel.Request, error) {
	id, err := resolve(c, s, anchor)
	if err != nil {
		return kernel.Request{}, err
	}
	if _, err := policy.ParseID(f.policy); err != nil {
		return kernel.Request{}, &usageError{err}
	}
	if _, err := s.Policy(c.Context(), s.tenant, policy.ID(f.policy)); err != nil {
		return kernel.Request{}, unknownPolicy(err)
	}
	return kernel.Request{Anchor: id, Policy: policy.ID(f.policy), AsOf: dag.Seq(f.asOf)}, nil
}

func resolve(c *cobra.Command, s *session, name string) (dag.TurnID, error) {
	id, err := s.Resolve(c.Context(), s.tenant, name)
	if errors.Is(err, store.ErrNotFound) {
		return id, fmt.Errorf("%w; see: graphkernel show", err)
	}
	return id, err
}

const anchorHelp = "A turn is named by its id, by a beginning of its id that no other shares, or by the\nid that another system gave it."

func (a *app) sliceCommand() *cobra.Command {
	var flags cutFlags
	var format, out string
	c := &cobra.Command{
		Use:   "slice ANCHOR",
		Short: "Cut and sign the turns that may influence an anchor",
		Long: `Selects the turns around the anchor under a policy, signs them, records that they
were handed out, and writes the bundle.

` + anchorHelp + `

Formats: bundle is the evidence, canonical JSON, to be handed on and verified;
markdown and messages (OpenAI chat form, {"messages":[…]}) are for people and
prompts and carry no proof. In markdown, control characters become signs for them.

With --output json and -o, standard output tells what was written:

  {"slice_id","file","format","turns","edges","as_of","policy_id","key_id","token","bundle_sha256"}`,
		Example: `  graphkernel slice 079a02ab -o slice.json
  graphkernel slice 079a02ab --policy narrow@1 --as-of 120 --format markdown`,
		Args: oneArg("ANCHOR"),
		RunE: func(c *cobra.Command, args []string) error { return a.slice(c, args[0], flags, format, out) },

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags.register(a, c)
	c.Flags().StringVar(&format, "format", "bundle", "bundle, markdown or messages")
	c.Flags().StringVarP(&out, "out", "o", "", "the file to write; standard output if absent")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"bundle", "markdown", "messages"}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return c
}

func (a *app) slice(c *cobra.Command, anchor string, flags cutFlags, format, out string) error {
	render, ok := map[string]func(*slice.Bundle) ([]byte, error){"bundle": nil, "markdown": markdown, "messages": messages}[format]
	if !ok {
		return usagef("--format is %q, want bundle, markdown or messages", format)
	}
	ring, err := a.keyring()
	if err != nil {
		return err
	}
	var issued *kernel.Issued
	err = a.writeTo(out, func(w io.Writer) error {
		return a.withKernel(c.Context(), ring, func(s *session) error {
			request, err := flags.request(c, s, anchor)
			if err != nil {
				return err
			}
			if issued, err = s.Slice(c.Context(), s.tenant, request); err != nil {
				return err
			}
			result := issued.Bundle
			if render != nil {
				if result, err = a.rendered(issued, format, toStdout(out), render); err != nil {
					return err
				}
			}
			if isTerminal(w) { // a file holds the exact bytes, a screen only shows them
				result = append(escapeJSON(bytes.TrimSuffix(result, []byte("\n"))), '\n')
			}
			_, err = w.Write(result)
			return err
		})
	})
	if err != nil {
		return err
	}
	p := &issued.Slice.Provenance
	a.note("slice %s: %d turns, %d edges, as of %d, key %s", p.SliceID, len(issued.Slice.Turns), len(issued.Slice.Edges), issued.Slice.AsOf, issued.Seal.KeyID)
	if a.output != "json" || toStdout(out) {
		return nil
	}
	return a.printJSON(writtenJSON{
		SliceID: string(p.SliceID), File: out, Format: format, Turns: len(issued.Slice.Turns), Edges: len(issued.Slice.Edges),
		AsOf: uint64(issued.Slice.AsOf), PolicyID: string(p.PolicyID), KeyID: issued.Seal.KeyID, Token: issued.Seal.Token,
		Bundle: issued.Record.Bundle.String(),
	})
}

// A writtenJSON tells what went into a file.
type writtenJSON struct {
	SliceID  string `json:"slice_id"`
	File     string `json:"file"`
	Format   string `json:"format"`
	Turns    int    `json:"turns"`
	Edges    int    `json:"edges"`
	AsOf     uint64 `json:"as_of"`
	PolicyID string `json:"policy_id"`
	KeyID    string `json:"key_id"`
	Token    string `json:"token"`
	Bundle   string `json:"bundle_sha256"`
}

// rendered gives a slice in a form for people or prompts.
func (a *app) rendered(issued *kernel.Issued, format string, stdout bool, render func(*slice.Bundle) ([]byte, error)) ([]byte, error) {
	b, err := slice.ParseBundle(issued.Bundle)
	if err != nil {
		return nil, err
	}
	result, err := render(b)
	if err != nil || format != "markdown" || a.output != "json" || !stdout {
		return result, err
	}
	return json.Marshal(map[string]string{"markdown": string(result), "slice_id": string(issued.Slice.Provenance.SliceID)})
}

const redactedText = "(the text of this turn was erased or withheld)"

// ordered gives a bundle's turns in reading order.
func ordered(b *slice.Bundle) []*slice.BundleTurn {
	byID := make(map[dag.TurnID]*slice.BundleTurn, len(b.Turns))
	for i := range b.Turns {
		byID[b.Turns[i].ID] = &b.Turns[i]
	}
	turns := make([]*slice.BundleTurn, len(b.Order))
	for i, id := range b.Order {
		turns[i] = byID[id]
	}
	return turns
}

// markdown writes a slice for people. What was said stands in code fences longer
// than any it holds, so that a turn cannot pass itself off as another, and its
// author in a code span, so that a name is no markup. Control characters become
// signs for them.
func markdown(b *slice.Bundle) ([]byte, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "# Slice %s\n\nAnchor %s, policy %s, as of %d, %d turns in reading order.\n\nSnapshot %s, token %s (key %s).\n",
		b.Provenance.SliceID, b.Anchor, b.Provenance.PolicyID, b.AsOf, len(b.Turns), b.Provenance.GraphSnapshotHash, b.Seal.Token, b.Seal.KeyID)
	for i, t := range ordered(b) {
		author, content := "", redactedText
		if t.Body != nil {
			author, content = " · "+codeSpan(t.Body.Author), visible(t.Body.Content)
		}
		fmt.Fprintf(&out, "\n## %d. %s%s · %s\n\n`%s` · %s · score %s · %s\n\n", i+1, t.Role, author, t.CreatedAt, t.ID, t.Phase, decimal(t.Admission.Score), reason(&t.Admission))
		fence := strings.Repeat("`", max(3, longestRun(content, '`')+1))
		fmt.Fprintf(&out, "%s\n%s\n%s\n", fence, content, fence)
	}
	return []byte(out.String()), nil
}

func codeSpan(s string) string {
	if s == "" {
		return "(no author)"
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if fence == "`" {
		return fence + s + fence
	}
	return fence + " " + s + " " + fence
}

func longestRun(s string, of rune) int {
	longest, run := 0, 0
	for _, r := range s {
		if r == of {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}

// decimal writes a score with nine digits after the point at most.
func decimal(s policy.Score) string {
	text := fmt.Sprintf("%d.%09d", s/policy.MaxScore, s%policy.MaxScore)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

func reason(ad *slice.Admission) string {
	switch ad.Via {
	case slice.ViaAnchor:
		return "the anchor"
	case slice.ViaSibling:
		return fmt.Sprintf("a sibling of %s, distance %d", short(ad.From), ad.Distance)
	}
	return fmt.Sprintf("a %s of %s, distance %d", ad.Via, short(ad.From), ad.Distance)
}

func short(id dag.TurnID) string { return id.String()[:8] }

// messages writes a slice in the form of the OpenAI chat API. A tool's result
// becomes a user message that says so: the API takes a tool message only behind
// the very call that it answers, which a slice need not hold.
func messages(b *slice.Bundle) ([]byte, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	list := make([]message, 0, len(b.Turns))
	for _, t := range ordered(b) {
		m := message{Role: t.Role.String(), Content: redactedText}
		if t.Body != nil {
			m.Content = t.Body.Content
		}
		if t.Role == dag.RoleTool {
			m.Role = dag.RoleUser.String()
			m.Content = "[result of a tool]\n" + m.Content
		}
		list = append(list, m)
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(map[string]any{"messages": list})
	return escapeJSON([]byte(out.String())), err
}
