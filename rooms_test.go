package graphkernel_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw the picture of docs/architecture.md anew")

// A room is a part of the house.
type room struct {
	name     string
	of       string   // what is in it, for the picture
	packages []string // as path.Match takes them; one that is named without a pattern counts before all patterns
}

// rooms are the parts of the house from the ground up: a package imports those of its own room and of rooms below.
var rooms = []room{
	{"ground", "words, forms, numbers, policies", []string{"dag", "internal/*", "normalize", "policy", "access", "history", "history/follow", "ledger", "standing", "standing/settings"}},
	{"retrieval", "words and vectors", []string{"retrieval", "retrieval/*", "retrieval/embed/*"}},
	{"statements", "testimony, and what is held", []string{"knowledge", "belief", "belief/*"}},
	{"evidence", "bundles, tokens, verdicts", []string{
		"slice", "slice/*", "slice/contexts/*", "render", "token", "ledger/attest", "ledger/monitor", "evidence", "atlas", "belief/persona", "history/erasures", "policy/registry", "policy/standard",
		"guard", "retention",
	}},
	{"intake", "importers, hooks, secrets", []string{"ingest", "ingest/*", "capture", "capture/*"}},
	{"stores", "two databases, and what they keep", []string{
		"store", "store/*", "access/apikeys", "history/heldback", "retrieval/segments", "ledger/identity", "ledger/witness", "working",
	}},
	{"contract", "operations and their types", []string{"api", "api/*"}},
	{"memory", "what is kept of a store, and follows it", []string{"projection"}},
	{"kernel", "the engine that programs embed", []string{"kernel", "atlas/survey", "belief/space", "working/session", "slice/contexts/assemble", "slice/contexts/quote", "knowledge/query", "retrieval/find", "ingest/admission", "ledger/notary", "standing/census"}},
	{"client", "for programs elsewhere", []string{"client"}},
	{"service", "HTTP, MCP, the pages", []string{"server", "server/*", "api/fault", "console", "verifiers/js"}},
	{"commands", "what people type", []string{"cmd/*", "cmd/graphkernel/*"}},
}

// outside are packages that are in no room: tests' own, examples and what is measured against.
var outside = []string{
	"internal/cluster", "internal/faultproxy", "internal/kerneltest", "internal/modeltest", "internal/pgstore", "internal/pgtest", "internal/race", "store/storetest", "golden", "examples/*",
}

func among(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, pkg); return ok })
}

// roomOf returns the number of the room that a package is in.
func roomOf(t *testing.T, pkg string) int {
	t.Helper()
	var named, fits []int
	for i := range rooms {
		if slices.Contains(rooms[i].packages, pkg) {
			named = append(named, i)
		}
		if among(rooms[i].packages, pkg) {
			fits = append(fits, i)
		}
	}
	if len(named) > 0 {
		fits = named
	}
	if len(fits) != 1 {
		t.Fatalf("package %s is in %d rooms, want one: see rooms in rooms_test.go", pkg, len(fits))
	}
	return fits[0]
}

// ofTheKernel are the rooms of the kernel: each is handed what it needs, and the kernel hands it.
var ofTheKernel = []string{"atlas/survey", "belief/space", "working/session", "slice/contexts/assemble", "knowledge/query", "retrieval/find", "ingest/admission", "ledger/notary", "standing/census"}

// TestRoomsOfTheKernel makes sure that no room of the kernel reaches into the kernel, into a door or into another room, directly or by way of a package of this module.
func TestRoomsOfTheKernel(t *testing.T) {
	for _, of := range ofTheKernel {
		if !slices.Contains(mayImport["kernel"], of) {
			t.Errorf("the kernel does not import its room %s", of)
		}
		seen := map[string]bool{of: true}
		for next := []string{of}; len(next) > 0; next = next[1:] {
			for _, imported := range mayImport[next[0]] {
				if imported == "kernel" || imported == "server" || strings.HasPrefix(imported, "server/") || slices.Contains(ofTheKernel, imported) {
					t.Errorf("%s reaches into %s, by way of %s", of, imported, next[0])
				}
				if !seen[imported] {
					seen[imported] = true
					next = append(next, imported)
				}
			}
		}
		if len(seen) < 10 {
			t.Errorf("%s reaches %d packages only", of, len(seen))
		}
	}
}

// TestRooms puts every package into a room, holds that none imports a room above its own, and that the picture of docs/architecture.md is made from these imports.
func TestRooms(t *testing.T) {
	uses := make([]map[int]bool, len(rooms))
	for i := range uses {
		uses[i] = map[int]bool{}
	}
	looked := 0
	for pkg, list := range mayImport {
		if among(outside, pkg) {
			continue
		}
		of := roomOf(t, pkg)
		looked++
		for _, imported := range list {
			if _, ours := mayImport[imported]; !ours || among(outside, imported) {
				continue
			}
			below := roomOf(t, imported)
			if below > of {
				t.Errorf("%s (%s) imports %s, which is in a room above it (%s)", pkg, rooms[of].name, imported, rooms[below].name)
			}
			uses[of][below] = true
		}
	}
	if looked < 60 {
		t.Fatalf("looked at %d packages only", looked)
	}

	const file, begin, end = "docs/architecture.md", "<!-- rooms -->\n", "<!-- /rooms -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := bytes.Cut(text, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		t.Fatalf("%s has no place for the picture, between %s and %s", file, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	drawn := slices.Concat(before, []byte(begin+picture(uses)+end), after)
	if *update {
		if err := os.WriteFile(file, drawn, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(drawn, text) {
		t.Errorf("the picture of %s is not that of the imports; go test . -run TestRooms -update draws it", file)
	}
}

// picture draws the rooms with an arrow to each room below that is not used by way of another.
func picture(uses []map[int]bool) string {
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	for i := len(rooms) - 1; i >= 0; i-- {
		fmt.Fprintf(&b, "  %s[\"<b>%s</b><br>%s\"]\n", rooms[i].name, rooms[i].name, rooms[i].of)
	}
	var reaches func(from, to int) bool
	reaches = func(from, to int) bool {
		if from == to {
			return true
		}
		for next := range uses[from] {
			if next != from && reaches(next, to) {
				return true
			}
		}
		return false
	}
	for i := len(rooms) - 1; i >= 0; i-- {
		for below := i - 1; below >= 0; below-- {
			if !uses[i][below] {
				continue
			}
			byWay := false
			for other := range uses[i] {
				byWay = byWay || other != i && other != below && reaches(other, below)
			}
			if !byWay {
				fmt.Fprintf(&b, "  %s --> %s\n", rooms[i].name, rooms[below].name)
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}
