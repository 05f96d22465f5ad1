package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/token"
)

// assemble hands out contexts under a random policy, some of them in parts.
func (f *forge) assemble(ctx context.Context, k *kernel.Kernel, turns []dag.TurnID) error {
	r := f.random
	p := contexts.Default()
	p.Budget, p.HalfLife = 2000+r.IntN(4000), 1+r.IntN(100)
	for i := range p.Quotas {
		p.Quotas[i] = r.IntN(20)
	}
	p.Quotas[contexts.FromConstraints] += len(turns) // else some requests are refused
	for i := range p.Weights {
		p.Weights[i] = dag.PPM(r.IntN(10_000_001))
	}
	p.Novelty, p.Overlap, p.Cost, p.Alike = dag.PPM(r.IntN(3_000_000)), dag.PPM(r.IntN(3_000_000)), dag.PPM(r.IntN(3_000_000)), dag.PPM(r.IntN(1_000_001))
	p.Rules = strings.ReplaceAll(strangeText(r), "\x00", "")
	bound, err := policy.Bind("forge-context@1", p)
	if err != nil {
		return err
	}
	if err := k.Policies().Register(ctx, dag.DefaultTenant, bound); err != nil {
		return err
	}
	for range 5 {
		tasks := []string{"", "yes long words", "Pump 4 is near Tank B", "\u202e \"\\ \U0001f600 long", "the"}
		formats := contexts.Formats()
		request := api.ContextRequest{Task: tasks[r.IntN(len(tasks))], Budget: 1 + r.IntN(1+r.IntN(p.Budget)), Policy: bound.ID(), Format: string(formats[r.IntN(len(formats))])}
		if request.Task == "" || r.IntN(2) == 0 {
			request.Anchor = turns[r.IntN(len(turns))].String()
		}
		issued, err := k.Contexts().Assemble(ctx, dag.DefaultTenant, request)
		var owed *contexts.OwedError
		for errors.As(err, &owed) && request.Budget < p.Budget { // rules and constraints do not fit
			request.Budget = min(2*request.Budget+r.IntN(100), p.Budget)
			issued, err = k.Contexts().Assemble(ctx, dag.DefaultTenant, request)
		}
		if err != nil {
			return err
		}
		if err := f.handOutContext(ctx, k, issued); err != nil {
			return err
		}
	}
	return nil
}

// handOutContext makes a specimen of a context: whole, or a part of it.
func (f *forge) handOutContext(ctx context.Context, k *kernel.Kernel, issued *assemble.Issued) error {
	s, err := f.attested(ctx, k, issued.Bundle)
	if err != nil {
		return err
	}
	r, b := f.random, issued.Context
	if r.IntN(3) == 0 {
		show := contexts.Part{Request: true, Candidates: r.IntN(2) == 0, Prompt: r.IntN(2) == 0}
		for i := range b.Turns {
			if r.IntN(2) == 0 {
				show.Turns = append(show.Turns, b.Turns[i].ID)
			}
		}
		for i := range b.Facts {
			if r.IntN(2) == 0 {
				show.Facts = append(show.Facts, b.Facts[i].Fact.ID())
			}
		}
		part, err := b.Disclose(sha256.Sum256(issued.Bundle), show)
		if err != nil {
			return err
		}
		delete(s.files, evidence.FileBundle)
		s.files[evidence.FileDisclosure] = part.Append(nil)
	}
	s.name, s.remakes = fmt.Sprintf("fresh context %d", len(f.assembled)), true
	f.assembled = append(f.assembled, s)
	return nil
}

// remake changes a value of a context, makes what follows from it anew, and signs it, as somebody could who has the key. Only the checks of
// what the change is about are left to find it. Of a specimen without one, or if the change is no context, nothing is made anew.
func (s *specimen) remake(r *rand.Rand) (how string) {
	good := s.files[evidence.FileBundle]
	data, how := mutateJSON(r, good)
	for range 4 { // most changes are malformed, and seen enough
		if _, err := contexts.Parse(data); err == nil {
			break
		}
		data, how = mutateJSON(r, good)
	}
	s.files[evidence.FileBundle], s.trust = data, nil
	delete(s.files, evidence.FileAttestation)
	delete(s.files, evidence.FileProof)
	b, err := contexts.Parse(data)
	if err != nil {
		return how
	}
	skip := contexts.Checks[r.IntN(len(contexts.Checks))] // of most there is nothing to make anew
	if skip != contexts.CheckPrompt {
		b.Prompt.Cost = contexts.Tokens(string(b.Render()))
	}
	for range 3 {
		for _, c := range b.Check() {
			if c.Status == slice.StatusFail && c.ID != skip {
				agree(b, c)
			}
		}
	}
	secret, err := token.ParseSecret(s.secret)
	if err != nil {
		panic(err)
	}
	ring, err := token.Keyring{}.Rotate(token.KeyID(s.keyID), secret, 0)
	if err != nil {
		panic(err)
	}
	if seal, err := token.NewAuthority(ring).SealProvenance(b.Seal.Tenant, &b.Provenance); err == nil {
		b.Seal = seal
	}
	s.files[evidence.FileBundle] = b.Append(nil)
	return "a context made anew, but for " + string(skip) + ": " + how
}

// agree makes the field of the header agree that a check compares, or the prompt.
func agree(b *contexts.Bundle, c slice.Check) {
	digest, _ := dag.ParseDigest(c.Expected) // "" for a check that compares nothing
	switch c.ID {
	case contexts.CheckPrompt:
		b.Prompt.HMAC = digest
	case contexts.CheckRequest:
		b.Provenance.Anchor, _ = dag.ParseTurnID(c.Expected)
	case slice.CheckPolicyHash:
		b.Provenance.PolicyParamsHash = digest
	case slice.CheckSnapshot:
		b.Provenance.GraphSnapshotHash = digest
	case slice.CheckSliceID:
		b.Provenance.SliceID = slice.SliceID(c.Expected)
	}
}

// TestDifferentialBytes flips a bit of each byte of a context and of a part of one, and compares what the verifiers answer. It takes minutes:
// go test ./cmd/graphkernel -run TestDifferentialBytes -differential.for 1h.
func TestDifferentialBytes(t *testing.T) {
	if *differentialFor == 0 {
		t.Skip("it needs Python and Node.js: see its comment")
	}
	specimens := corpusSpecimens(t, golden.Contexts)
	codes := map[int]int{}
	verifiers, folder := startVerifiers(t), filepath.Join(t.TempDir(), "case")
	for _, of := range []struct{ name, file string }{{"good_format_markdown", evidence.FileBundle}, {"dropped_turn_and_candidates", evidence.FileDisclosure}} {
		good := specimens[slices.IndexFunc(specimens, func(s specimen) bool { return s.name == of.name })]
		for at := range good.files[of.file] {
			m := good
			m.files = maps.Clone(good.files)
			m.files[of.file] = bytes.Clone(good.files[of.file])
			m.files[of.file][at] ^= 1
			code, _ := compare(t, verifiers, folder, &m, fmt.Sprintf("byte %d of %s", at, of.file))
			codes[code]++
		}
	}
	t.Logf("exit codes %v", codes)
	if codes[0] > 0 || codes[10] < 1000 || codes[20] < 1000 || codes[21] == 0 {
		t.Errorf("exit codes %v", codes)
	}
}
