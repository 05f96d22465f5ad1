package main

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMaker reads what is made of the small set of triples.
func TestMaker(t *testing.T) {
	p, err := readPassages(filepath.Join("testdata", "data", "multihop"))
	if err != nil {
		t.Fatal(err)
	}
	m := newMaker(p, &Evaluation{})
	want := map[string]string{ // of the triple of the first passage
		"attribute":    "Northern Light is published by what? 0",
		"relationship": "How are Northern Light and Harbour Press connected? 0 1",
		"multi-hop":    "Northern Light is published by what, and that was founded by what? 0 2",
		"predicate":    "Who or what is published by Harbour Press? 0",
	}
	made := 0
	for _, k := range kinds {
		r := rand.New(rand.NewPCG(1, 1))
		q, ok := k.draw(m, r, &p.triples[0])
		for range 20 { // not every change changes this name
			if !ok {
				q, ok = k.draw(m, r, &p.triples[0])
			}
		}
		if want[k.name] == "" {
			if name, _, found := strings.Cut(q.text, " is published by"); !ok || !found || name == "Northern Light" {
				t.Errorf("%s: %q, %t", k.name, q.text, ok)
			}
			continue
		}
		made++
		got := q.text
		for _, need := range q.needs {
			for i := range p.turns {
				if need[p.turns[i].ID] {
					got += " " + string(rune('0'+i))
				}
			}
		}
		if !ok || got != want[k.name] {
			t.Errorf("%s: %q, %t, want %q", k.name, got, ok, want[k.name])
		}
	}
	if made != len(want) {
		t.Errorf("%d kinds were made, want %d", made, len(want))
	}
}

func TestNamed(t *testing.T) {
	names := map[string]bool{"ada-quill": true, "quill": true, "port-anne": true, "is": true}
	for text, want := range map[string]string{
		"Is Ada Quill from Port Anne?": "is ada-quill port-anne",
		"is ada quill of Quill":        "ada-quill quill",
		"quill":                        "",
	} {
		if got := strings.Join(named(text, names, false), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := named("is it", names, true); !slices.Equal(got, []string{"is"}) {
		t.Errorf("with small letters: %q", got)
	}
}

func TestMistyped(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	made := 0
	for range 100 {
		got, ok := mistyped(r, "Ada Quill")
		if !ok {
			continue
		}
		made++
		if got == "Ada Quill" || len(got) != len("Ada Quill") || got[0] != 'A' || !strings.Contains(got, " ") {
			t.Errorf("got %q", got)
		}
	}
	if made == 0 {
		t.Error("none was made")
	}
	if _, ok := mistyped(r, "Ann"); ok {
		t.Error("a name of three letters was changed")
	}
}
