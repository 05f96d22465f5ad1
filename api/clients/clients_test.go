package clients_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api/clients"
)

var update = flag.Bool("update", false, "write the clients")

// TestClients holds that the clients which are checked in are what the description makes.
func TestClients(t *testing.T) {
	root := filepath.Join("..", "..")
	openapi, err := os.ReadFile(filepath.Join(root, "server", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := clients.Read(openapi)
	if err != nil {
		t.Fatal(err)
	}
	for path, made := range map[string][]byte{
		"clients/python/graphkernel/api.py": d.Python(),
		"clients/typescript/src/api.ts":     d.TypeScript(),
	} {
		path = filepath.Join(root, filepath.FromSlash(path))
		if *update {
			if err := os.WriteFile(path, made, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(kept, made) {
			t.Errorf("%s is not what the description makes; write it with make generate", path)
		}
		for _, want := range []string{"retract", "fact"} {
			if n := strings.Count(strings.ToLower(string(made)), want); n < 3 {
				t.Errorf("%s has %q %d times", path, want, n)
			}
		}
	}
}
