package server_test

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write openapi.json")

// TestDescription holds that openapi.json is what the declared operations make.
func TestDescription(t *testing.T) {
	s := start(t)
	served := append(s.get("/openapi.json").body, '\n')
	if *update {
		if err := os.WriteFile("openapi.json", served, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, served) {
		t.Error("openapi.json is not what the operations make; write it with -update")
	}
}
