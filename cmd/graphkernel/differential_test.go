package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/render"
)

var (
	differentialFor      = flag.Duration("differential.for", 0, "how long TestDifferential compares the verifiers; 0 skips it")
	differentialMutants  = flag.Int("differential.mutants", 0, "after how many mutants TestDifferential ends; 0 is no bound")
	differentialSeed     = flag.Uint64("differential.seed", 0, "of its random numbers; 0 draws one")
	differentialContexts = flag.Bool("differential.contexts", false, "mutants of contexts alone")
	differentialNode     = flag.String("differential.node", "node", "the Node.js that runs the verifier in JavaScript")
)

// TestDifferential compares the three verifiers on mutants of the corpus and of fresh evidence. Some
// mutants are changed as bytes, and some are changed by somebody who holds every key and signs them
// anew. The verifiers that know the kind of bundle must answer each with the same exit code, and print nothing that acts on a
// terminal. It needs Python and Node.js, so it runs on request: make differential.
func TestDifferential(t *testing.T) {
	if *differentialFor == 0 {
		t.Skip("it needs Python and Node.js: make differential")
	}
	seed := *differentialSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	turns, facts, contexts, beliefs := corpusSpecimens(t, golden.Turns), corpusSpecimens(t, golden.Facts), corpusSpecimens(t, golden.Contexts), corpusSpecimens(t, golden.Beliefs)
	for i := range contexts {
		contexts[i].remakes = contexts[i].secret != "" && contexts[i].files[evidence.FileBundle] != nil
	}
	tally := &tally{codes: map[int]int{}, left: *differentialMutants}
	end := time.Now().Add(*differentialFor)
	var group sync.WaitGroup
	for worker := range uint64(2) {
		verifiers := startVerifiers(t)
		group.Go(func() {
			random := rand.New(rand.NewPCG(seed, worker))
			folder := filepath.Join(t.TempDir(), "case")
			var fresh *forge
			for n := 0; time.Now().Before(end) && tally.take(); n++ {
				if n%200 == 0 {
					fresh = newForge(t, random)
				}
				of := random.IntN(4)
				if *differentialContexts {
					of = 2
				}
				from := [][][]specimen{{turns, fresh.made}, {facts, fresh.learned}, {contexts, fresh.assembled}, {beliefs, beliefs}}[of][random.IntN(2)]
				m, how := from[random.IntN(len(from))].mutant(random, from)
				tally.add(compare(t, verifiers, folder, &m, how))
			}
		})
	}
	group.Wait()
	t.Logf("%d mutants, exit codes %v, %d disagreements", tally.mutants, tally.codes, tally.disagreements)
	if tally.mutants < 100 || len(tally.codes) < 8 {
		t.Errorf("only %d mutants with %d exit codes were compared", tally.mutants, len(tally.codes))
	}
}

// A tally counts what was compared.
type tally struct {
	sync.Mutex
	left                   int // 0: no bound
	taken                  int
	mutants, disagreements int
	codes                  map[int]int // by the kernel's answer
}

func (c *tally) take() bool {
	c.Lock()
	defer c.Unlock()
	c.taken++
	return c.left == 0 || c.taken <= c.left
}

func (c *tally) add(code int, agree bool) {
	c.Lock()
	defer c.Unlock()
	c.mutants++
	c.codes[code]++
	if !agree {
		c.disagreements++
	}
}

// A specimen is evidence, and how a verifier is called on it.
type specimen struct {
	name    string
	files   map[string][]byte
	trust   []byte // nil: none
	keyID   string
	secret  string // hex; "": none
	full    bool
	forge   *forge // signs anew; nil: nobody can
	remakes bool   // it is a context that is made anew with its secret
	of      signed // what it signs
}

func corpusSpecimens(t *testing.T, part golden.Part) (list []specimen) {
	t.Helper()
	cases, err := golden.EvidenceCases(part)
	if err != nil || len(cases) < 100 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		list = append(list, specimen{
			name: c.Name, files: c.Evidence(), trust: c.Trust, keyID: c.KeyID, secret: c.Secret, full: slices.Contains(c.Args, "--require-full"),
		})
	}
	return list
}

// write lays out the specimen, and returns the arguments and the environment of a call.
func (s *specimen) write(folder string) (args []string, env map[string]string, err error) {
	if err := os.RemoveAll(folder); err != nil {
		return nil, nil, err
	}
	at := filepath.Join(folder, "evidence")
	if err := os.MkdirAll(at, 0o700); err != nil {
		return nil, nil, err
	}
	for name, data := range s.files {
		if err := os.WriteFile(filepath.Join(at, name), data, 0o600); err != nil {
			return nil, nil, err
		}
	}
	env = map[string]string{}
	if s.secret != "" {
		env["GRAPHKERNEL_SECRET"], env["GRAPHKERNEL_KEY_ID"] = s.secret, s.keyID
	}
	if s.trust != nil {
		trust := filepath.Join(folder, "trust")
		if err := os.WriteFile(trust, s.trust, 0o600); err != nil {
			return nil, nil, err
		}
		args = append(args, "--trust", trust)
	}
	if s.full {
		args = append(args, "--require-full")
	}
	return append(args, at), env, nil
}

func compare(t *testing.T, verifiers []verifier, folder string, s *specimen, how string) (code int, agree bool) {
	args, env, err := s.write(folder)
	if err != nil {
		t.Error(err)
		return 0, false
	}
	codes, outs := make([]int, len(verifiers)), make([]string, len(verifiers))
	var answers strings.Builder
	agree = true
	for i, v := range verifiers {
		if codes[i], outs[i], err = v.call(args, env); err != nil {
			t.Errorf("%s: %v", v.name, err)
			return 0, false
		}
		fmt.Fprintf(&answers, "%s: exit code %d\n%s", v.name, codes[i], outs[i])
		agree = agree && codes[i] == codes[0]
		if strings.ContainsFunc(outs[i], func(r rune) bool { return r != '\n' && render.Acts(r) }) {
			t.Errorf("%s, %s: %s prints what acts on a terminal: %q", s.name, how, v.name, outs[i])
			agree = false
		}
	}
	if !agree {
		kept, err := os.MkdirTemp("", "disagreement-")
		if err == nil {
			err = os.CopyFS(kept, os.DirFS(folder))
		}
		t.Errorf("%s, %s (kept in %s, %v)\n%s", s.name, how, kept, err, answers.String())
	}
	return codes[0], agree
}

// A verifier answers calls of its command line.
type verifier struct {
	name string
	call func(args []string, env map[string]string) (code int, out string, err error)
}

func startVerifiers(t *testing.T) []verifier {
	t.Helper()
	root := filepath.Join("..", "..", "verifiers")
	return []verifier{
		{"graphkernel", func(args []string, env map[string]string) (int, string, error) {
			code, out := verifyHere(args, env)
			return code, out, nil
		}},
		{"python", startDriver(t, "python3", filepath.Join("testdata", "differential.py"), filepath.Join(root, "python"))},
		{"javascript", startDriver(t, *differentialNode, "--no-warnings", filepath.Join("testdata", "differential.mjs"), filepath.Join(root, "js", "cli.mjs"))},
	}
}

// verifyHere runs graphkernel verify within the test.
func verifyHere(args []string, env map[string]string) (code int, out string) {
	var printed bytes.Buffer
	a := cli.New(cli.Config{
		Stdin: strings.NewReader(""), Stdout: &printed, Stderr: &printed, Clock: time.Now, Commands: commands,
		Getenv: func(name string) string { return env[name] },
		Environ: func() (list []string) {
			for _, name := range slices.Sorted(maps.Keys(env)) {
				list = append(list, name+"="+env[name])
			}
			return list
		},
	})
	code = a.Run(context.Background(), append([]string{"verify"}, args...))
	return code, printed.String()
}

// startDriver starts a program that answers calls, a line of JSON each.
func startDriver(t *testing.T, program string, args ...string) func(args []string, env map[string]string) (int, string, error) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	lines := bufio.NewReaderSize(out, 1<<20)
	return func(args []string, env map[string]string) (int, string, error) {
		call, err := json.Marshal(map[string]any{"args": args, "env": env})
		if err != nil {
			return 0, "", err
		}
		if _, err := in.Write(append(call, '\n')); err != nil {
			return 0, "", err
		}
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return 0, "", err
		}
		var answer struct {
			Code int
			Out  string
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return 0, "", fmt.Errorf("%s answered %.200q: %w", program, line, err)
		}
		return answer.Code, answer.Out, nil
	}
}
