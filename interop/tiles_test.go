package interop_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"
	"k8s.io/klog/v2"

	"github.com/graphkernel/graphkernel/ledger"
)

// resources returns all that a log of C2SP tlog-tiles v0.1.0 has, by path. It is written out
// here from the specification; TestFsckService asks the service's own.
func (l *log) resources() map[string][]byte {
	all := map[string][]byte{}
	all["checkpoint"], _ = l.checkpoint()
	for level, hashes := range l.nodes {
		for first := 0; first < len(hashes); first += ledger.TileWidth {
			width := min(ledger.TileWidth, len(hashes)-first)
			var tile []byte
			for _, h := range hashes[first : first+width] {
				tile = append(tile, h[:]...)
			}
			all[fmt.Sprintf("tile/%d/%s", level, tilePath(first/ledger.TileWidth, width))] = tile
		}
	}
	for first := 0; first < len(l.leaves); first += ledger.TileWidth {
		width := min(ledger.TileWidth, len(l.leaves)-first)
		var entries []byte
		for _, leaf := range l.leaves[first : first+width] {
			entries = binary.BigEndian.AppendUint16(entries, uint16(len(leaf)))
			entries = append(entries, leaf...)
		}
		all["tile/entries/"+tilePath(first/ledger.TileWidth, width)] = entries
	}
	return all
}

// tilePath writes a tile's number in groups of three digits, all but the last with an x,
// and the width of one that is not full.
func tilePath(n, width int) string {
	path := fmt.Sprintf("%03d", n%1000)
	for n /= 1000; n > 0; n /= 1000 {
		path = fmt.Sprintf("x%03d/%s", n%1000, path)
	}
	if width < ledger.TileWidth {
		path += fmt.Sprintf(".p/%d", width)
	}
	return path
}

// files serves resources by their paths.
func files(all map[string][]byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := all[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	})
}

// TestMain keeps Tessera's log lines out of the way.
func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// checkLog lets Tessera's fsck check a log over HTTP.
func checkLog(t *testing.T, h http.Handler, key ledger.Key) error {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	verifier, err := note.NewVerifier(key.String())
	if err != nil {
		t.Fatalf("vkey %s: %v", key, err)
	}
	fetcher := must(client.NewHTTPFetcher(must(url.Parse(server.URL+"/")), server.Client()))
	// A worker that finds something wrong ends, and with all of them gone the check would
	// wait for ever. One resource at a time is wrong here.
	check := fsck.New(origin, verifier, fetcher, leafHashes, fsck.Opts{N: 16})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return check.Check(ctx)
}

// leafHashes reads an entry bundle.
func leafHashes(bundle []byte) (hashes [][]byte, err error) {
	for len(bundle) > 0 {
		if len(bundle) < 2 || len(bundle)-2 < int(binary.BigEndian.Uint16(bundle)) {
			return nil, fmt.Errorf("an entry ends behind the bundle's %d bytes", len(bundle))
		}
		end := 2 + int(binary.BigEndian.Uint16(bundle))
		hashes = append(hashes, hasher.HashLeaf(bundle[2:end]))
		bundle = bundle[end:]
	}
	return hashes, nil
}

func TestFsck(t *testing.T) {
	for _, size := range []int{0, 1, 2, 255, 256, 257, 511, 512, 65535, 65536, 65537, 70001} {
		l := numbered(size)
		_, key := l.checkpoint()
		if err := checkLog(t, files(l.resources()), key); err != nil {
			t.Errorf("%d leaves: %v", size, err)
		}
	}
}

// TestFsckCatches changes a bit of each kind of resource, and takes each away.
func TestFsckCatches(t *testing.T) {
	for _, size := range []int{257, 65537, 70001} {
		l := numbered(size)
		_, key := l.checkpoint()
		all := l.resources()
		kinds := map[string]string{}
		for _, path := range slices.Sorted(maps.Keys(all)) {
			kinds[kindOf(path)] = path // the last of the kind
		}
		if size == 70001 && len(kinds) != 8 || len(kinds) < 5 {
			t.Fatalf("%d leaves have resources of %d kinds: %v", size, len(kinds), kinds)
		}
		for kind, path := range kinds {
			for _, change := range []struct {
				how string
				do  func(data []byte) []byte
			}{
				{"first byte", func(d []byte) []byte { d[0] ^= 1; return d }},
				{"middle", func(d []byte) []byte { d[len(d)/2] ^= 1; return d }},
				{"end", func(d []byte) []byte { d[len(d)-2] ^= 1; return d }},
				{"shorter", func(d []byte) []byte { return d[:len(d)-1] }},
				{"absent", func([]byte) []byte { return nil }},
			} {
				bad := maps.Clone(all)
				bad[path] = change.do(bytes.Clone(all[path]))
				if bad[path] == nil {
					delete(bad, path)
				}
				if err := checkLog(t, files(bad), key); err == nil {
					t.Errorf("%d leaves, %s (%s), %s: nothing was found", size, kind, path, change.how)
				}
			}
		}
	}
}

func kindOf(path string) string {
	kind := path
	if rest, ok := strings.CutPrefix(path, "tile/"); ok {
		kind, _, _ = strings.Cut(rest, "/")
	}
	if strings.Contains(path, ".p/") {
		kind += ", partial"
	}
	return kind
}

// TestCheckpointNote lets golang.org/x/mod open our checkpoint with our vkey.
func TestCheckpointNote(t *testing.T) {
	l := numbered(300)
	signed, key := l.checkpoint()
	n, err := note.Open(signed, note.VerifierList(must(note.NewVerifier(key.String()))))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%s\n300\n%s\n", origin, base64.StdEncoding.EncodeToString(l.roots[300][:]))
	if n.Text != want || len(n.Sigs) != 1 || len(n.UnverifiedSigs) != 0 {
		t.Errorf("got %q with %d signatures, want %q", n.Text, len(n.Sigs), want)
	}
}
