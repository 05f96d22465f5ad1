package cli

import (
	"bytes"
	"context"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
)

// An asked is a request with a field of each kind that flags are made of.
type asked struct {
	Session string     `json:"session" is:"SessionName"`
	Words   []string   `json:"words,omitempty" is:"Name" max:"2"`
	Text    string     `json:"text" doc:"What is said."`
	Role    dag.Role   `json:"role,omitempty"`
	Hops    int        `json:"max_hops,omitempty" is:"1..8" default:"3" flag:"hops: how far to go"`
	Least   *dag.PPM   `json:"least,omitempty"`
	Since   *dag.Time  `json:"since,omitempty"`
	Dry     bool       `json:"dry_run,omitempty" doc:"Change nothing."`
	Secret  string     `json:"secret,omitempty" flag:"-"`
	Either  string     `json:"either,omitempty" is:"left|right"`
	Turn    dag.TurnID `json:"turn,omitzero"`
}

type saidJSON struct {
	Asked asked   `json:"asked"`
	Again []asked `json:"again"`
	Head  dag.Seq `json:"head"`
}

// TestOp holds a command that is made of a request against what the request reads, and each fault against the flag or argument that it is about.
func TestOp(t *testing.T) {
	home := t.TempDir()
	run := func(stdin string, args ...string) (in *asked, out string, code int) {
		var stdout, stderr bytes.Buffer
		a := New(Config{
			Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr, Clock: time.Now,
			Getenv: func(name string) string {
				return map[string]string{"HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home}[name]
			},
			Commands: func(a *App) []*cobra.Command {
				return []*cobra.Command{Asking(a, Command[asked, saidJSON]{
					Use: "say SESSION [WORD]…", Short: "Say something", Long: "Says something.", Args: []string{"session", "words"}, Stdin: "text", Opens: ToMake,
					Letters: map[string]string{"max_hops": "k"}, Means: map[string]func(string) (string, error){"least": func(s string) (string, error) { return strings.TrimSuffix(s, "!"), nil }},
					Resolve: map[string]Resolver{"turn": func(_ *cobra.Command, _ *Session, place, text string) (string, error) {
						return text + strings.Repeat("0", 36-len(text)), nil
					}},
					Check: func(in *asked) error {
						if in.Hops == 7 {
							return Usagef("--hops: not 7")
						}
						return nil
					},
					Ask: func(_ context.Context, _ *Session, got asked) (saidJSON, error) {
						in = &got
						return saidJSON{Asked: got}, nil
					},
					Print: func(w io.Writer, _ *asked, _ *saidJSON) { _, _ = io.WriteString(w, "said\n") },
					Exit:  func(out *saidJSON) int { return len(out.Asked.Words) },
				})}
			},
		})
		code = a.Run(t.Context(), append([]string{"say"}, args...))
		return in, stdout.String() + stderr.String(), code
	}
	least, since := dag.PPM(250_000), dag.Time(1_773_446_400_000_000)
	turn, err := dag.ParseTurnID("0b5e0000-0000-4000-8000-000000000000")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		want asked
	}{
		{[]string{"run"}, asked{Session: "run", Text: "read", Hops: 3}},
		{[]string{"run", "--text", "given", "-k", "5", "--dry-run"}, asked{Session: "run", Text: "given", Hops: 5, Dry: true}},
		{[]string{"run", "a", "b", "--role", "tool", "--least", "0.25!", "--since", "2026-03-14", "--either", "left"}, asked{
			Session: "run", Words: []string{"a", "b"}, Text: "read", Role: dag.RoleTool, Hops: 3, Least: &least, Since: &since, Either: "left",
		}},
		{[]string{"run", "--turn", "0b5e0000-0000-4000-8000-"}, asked{Session: "run", Text: "read", Hops: 3, Turn: turn}},
	} {
		got, out, code := run("read\n", tc.args...)
		if got == nil || !reflect.DeepEqual(*got, tc.want) || code != len(tc.want.Words) || !strings.Contains(out, "said") {
			t.Errorf("%q: got %+v, exit code %d, want %+v\n%s", tc.args, got, code, tc.want, out)
		}
	}
	for says, args := range map[string][]string{
		"takes SESSION [WORD]…, got 0 arguments":           {},
		`SESSION: "a b" does not match`:                    {"a b"},
		"WORD: 3 items, want 0 to 2":                       {"run", "a", "b", "c"},
		"WORD: nothing is left of the name":                {"run", "???"},
		"--role: ":                                         {"run", "--role", "nobody"},
		"--hops: 9, want an integer from 1 to 8":           {"run", "--hops", "9"},
		"--hops: want an integer":                          {"run", "--hops", "x"},
		"--hops: not 7":                                    {"run", "--hops", "7"},
		"--least: ":                                        {"run", "--least", "2"},
		"--since: ":                                        {"run", "--since", "soon"},
		"--either: want left or right, got \"up\"":         {"run", "--either", "up"},
		"--either is empty: leave it out, or give a value": {"run", "--either", " "},
		"unknown flag: --secret":                           {"run", "--secret", "x"},
		"unknown flag: --session":                          {"run", "--session", "x"},
	} {
		if got, out, code := run("read", args...); got != nil || code != api.ExitUsage || !strings.Contains(out, says) {
			t.Errorf("%q: exit code %d, want %d and %q\n%s", args, code, api.ExitUsage, says, out)
		}
	}
	for range 20 { // of several faults the first by the order of the fields
		if _, out, _ := run("read", "run", "--either", " ", "--role", " ", "--since", " "); !strings.Contains(out, "--role is empty") {
			t.Fatalf("three flags are empty, and the first is --role: %s", out)
		}
	}
	_, help, _ := run("", "--help")
	for _, line := range []string{
		"graphkernel say SESSION [WORD]… [flags]", "-k, --hops number", "how far to go, 1 to 8 (default 3)", "--text string", "what is said (required)", "--dry-run", "change nothing\n", "--either string   left or right",
		`{"asked":{"session","words":[…],"text","role","max_hops","least","since","dry_run","secret","either","turn"},`, `"again":[{…}],"head"}`,
	} {
		if !strings.Contains(help, line) {
			t.Errorf("help has no %q:\n%s", line, help)
		}
	}
}
