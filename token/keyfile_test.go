package token_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/token"
)

// threeKeys returns a ring with a key of each state.
func threeKeys(t fataler) token.Keyring {
	t.Helper()
	r, err := ringOf(t, "k1", "k2", "k3").Retire("k2", 7)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}

func save(t testing.TB, path string, r token.Keyring) []byte {
	t.Helper()
	if err := token.SaveKeyring(path, r, false); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// same reports whether two rings have the same keys with the same secrets.
func same(t testing.TB, a, b token.Keyring) bool {
	t.Helper()
	folder := t.TempDir()
	return bytes.Equal(save(t, filepath.Join(folder, "a"), a), save(t, filepath.Join(folder, "b"), b))
}

func TestKeyringFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folders", "keyring.json")
	if _, err := token.LoadKeyring(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v, want fs.ErrNotExist", err)
	}
	for _, r := range []token.Keyring{threeKeys(t), ringOf(t, "k1"), {}} {
		data := save(t, path, r)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("mode %04o", info.Mode().Perm())
		}
		got, err := token.LoadKeyring(path)
		if err != nil || !slices.Equal(got.Keys(), r.Keys()) || !same(t, got, r) {
			t.Errorf("got %+v, %v, want %+v", got.Keys(), err, r.Keys())
		}
		if bytes.Contains(data, bytes.Repeat([]byte("02"), 32)) {
			t.Error("the secret of a retired key is in the file")
		}
	}
	names, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(names) != 1 {
		t.Errorf("files left: %v, %v", names, err)
	}
	hidden, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err != nil || len(hidden) != 0 {
		t.Errorf("files left: %v, %v", hidden, err)
	}
}

// TestKeyringFileExclusive holds that an exclusive save replaces nothing.
func TestKeyringFileExclusive(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "keyring.json")
	first, second := ringOf(t, "k1"), ringOf(t, "k1", "k2")
	if err := token.SaveKeyring(path, first, true); err != nil {
		t.Fatal(err)
	}
	if err := token.SaveKeyring(path, second, true); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want fs.ErrExist", err)
	}
	if got, err := token.LoadKeyring(path); err != nil || len(got.Keys()) != 1 {
		t.Errorf("%d keys, %v", len(got.Keys()), err)
	}
	if err := token.SaveKeyring(path, second, false); err != nil {
		t.Fatal(err)
	}
	if got, err := token.LoadKeyring(path); err != nil || len(got.Keys()) != 2 {
		t.Errorf("%d keys, %v", len(got.Keys()), err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("files left: %v, %v", entries, err)
	}
	// A path that is a folder cannot be replaced, and nothing is left over.
	if err := os.MkdirAll(filepath.Join(folder, "dir", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, exclusive := range []bool{true, false} {
		if err := token.SaveKeyring(filepath.Join(folder, "dir"), first, exclusive); err == nil {
			t.Error("a folder was replaced")
		}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 2 {
		t.Errorf("files left: %v, %v", entries, err)
	}
}

// TestKeyringFileModes refuses each bit that lets others at the secrets, alone
// and together.
func TestKeyringFileModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	path := filepath.Join(t.TempDir(), "keyring.json")
	save(t, path, threeKeys(t))
	refused := 0
	for mode := fs.FileMode(0o400); mode <= 0o777; mode++ {
		if mode&0o400 == 0 {
			continue
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := token.LoadKeyring(path)
		if wide := mode&0o177 != 0; wide != errors.Is(err, token.ErrKeyFile) || !wide && err != nil {
			t.Errorf("mode %04o: %v", mode, err)
		}
		if err != nil {
			refused++
			if !strings.Contains(err.Error(), fmt.Sprintf("%04o", mode)) || !strings.Contains(err.Error(), "chmod 600") {
				t.Errorf("mode %04o: the message does not help: %v", mode, err)
			}
		}
	}
	if refused != 254 {
		t.Errorf("%d modes were refused, want all but 0400 and 0600", refused)
	}
}

func TestKeyringFileKinds(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "keyring.json")
	save(t, path, threeKeys(t))
	if _, err := token.LoadKeyring(folder); !errors.Is(err, token.ErrKeyFile) {
		t.Errorf("a folder: got %v, want ErrKeyFile", err)
	}
	big := filepath.Join(folder, "big")
	if err := os.WriteFile(big, bytes.Repeat([]byte(" "), 4<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := token.LoadKeyring(big); !errors.Is(err, token.ErrKeyFile) || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("a file above 4 MiB: got %v, want ErrKeyFile", err)
	}
	none := filepath.Join(folder, "none")
	if err := os.WriteFile(none, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := token.LoadKeyring(none); !errors.Is(err, token.ErrKeyFile) {
		t.Errorf("an empty file: got %v, want ErrKeyFile", err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	if r, err := token.LoadKeyring(link); err != nil || len(r.Keys()) != 3 {
		t.Errorf("a link: got %v", err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := token.LoadKeyring(link); !errors.Is(err, token.ErrKeyFile) && runtime.GOOS != "windows" {
		t.Errorf("a link to a file that is open to others: got %v, want ErrKeyFile", err)
	}
	if err := os.Symlink(filepath.Join(folder, "gone"), filepath.Join(folder, "dangling")); err != nil {
		t.Fatal(err)
	}
	if _, err := token.LoadKeyring(filepath.Join(folder, "dangling")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link to nothing: got %v, want fs.ErrNotExist", err)
	}
}

// leaks reports whether a message shows eight bytes of a secret in a row.
func leaks(message string, secrets ...string) bool {
	for _, s := range secrets {
		for i := 0; i+16 <= len(s); i++ {
			if strings.Contains(message, s[i:i+16]) {
				return true
			}
		}
	}
	return false
}

// TestKeyringMangled turns every bit of a keyring's file around, and puts every
// character that JSON uses in every place. What is still read is well formed, and
// no message shows a secret.
func TestKeyringMangled(t *testing.T) {
	// Secrets whose every part is known when it is seen.
	const one, two = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0", "a0b1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f5061728394a5b6c7d8e9f"
	var ring token.Keyring
	for id, secret := range map[token.KeyID]string{"k1": one, "k2": two} {
		var err error
		if ring, err = ring.Rotate(id, secretOf(t, secret), 1_772_614_800_000_000); err != nil {
			t.Fatal(err)
		}
	}
	data := save(t, filepath.Join(t.TempDir(), "keyring.json"), ring)
	if !leaks(string(data), one) || !leaks(string(data), two) {
		t.Fatal("the file holds no secret")
	}
	accepted, refused := 0, 0
	look := func(bad []byte) {
		r, err := token.ParseKeyring(bad)
		if err == nil {
			accepted++
			wellFormed(t, r)
			return
		}
		refused++
		if !errors.Is(err, token.ErrKeyFile) || len(r.Keys()) != 0 {
			t.Errorf("%v, and %d keys", err, len(r.Keys()))
		}
		if leaks(err.Error(), one, two) {
			t.Errorf("the message shows a secret: %v", err)
		}
	}
	for i := range data {
		bad := slices.Clone(data)
		for bit := range 8 {
			bad[i] = data[i] ^ 1<<bit
			look(bad)
		}
		for _, c := range []byte("\"\\{}[]:,0aZ \n\x00\xff") {
			bad[i] = c
			look(bad)
		}
		look(data[:i])
		look(slices.Delete(slices.Clone(data), i, i+1))
		look(slices.Insert(slices.Clone(data), i, '"'))
	}
	if accepted == 0 || refused < 1000 {
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
}

// wellFormed holds what is true of every ring.
func wellFormed(t fataler, r token.Keyring) {
	t.Helper()
	signers := 0
	seen := map[token.KeyID]bool{}
	for _, k := range r.Keys() {
		if _, err := token.ParseKeyID(string(k.ID)); err != nil || seen[k.ID] || !k.CreatedAt.Valid() || !k.RetiredAt.Valid() {
			t.Fatalf("key %+v", k)
		}
		seen[k.ID] = true
		switch k.State {
		case token.Signing:
			signers++
		case token.Live, token.Retired:
		default:
			t.Fatalf("key %+v", k)
		}
	}
	if signers > 1 {
		t.Fatalf("%d keys sign", signers)
	}
}

func TestParseKeyringRefuses(t *testing.T) {
	good := string(save(t, filepath.Join(t.TempDir(), "keyring.json"), threeKeys(t)))
	if r, err := token.ParseKeyring([]byte(good)); err != nil || len(r.Keys()) != 3 {
		t.Fatalf("got %v", err)
	}
	for _, tc := range []struct{ name, old, new, word string }{
		{"another type", "graphkernel_keyring_v1", "graphkernel_keyring_v2", "type"},
		{"no type", `,"type":"graphkernel_keyring_v1"`, ``, "type"},
		{"an unknown member", `"keys":`, `"more":1,"keys":`, "more"},
		{"an unknown member of a key", `"id":"k1"`, `"id":"k1","more":1`, "more"},
		{"two that sign", `"state":"live"`, `"state":"signing"`, "sign"},
		{"an id twice", `"id":"k2"`, `"id":"k1"`, "twice"},
		{"a bad id", `"id":"k2"`, `"id":"K2"`, "keys[1].id"},
		{"a bad state", `"state":"live"`, `"state":"alive"`, "keys[0].state"},
		{"a short secret", `"secret":"00`, `"secret":"`, "keys[0].secret"},
		{"a capital secret", `0a0b`, `0A0B`, "keys[0].secret"},
		{"no secret", `"secret":"` + testSecret + `",`, ``, "secret"},
		{"a secret on a retired key", `"state":"retired"`, `"secret":"` + testSecret + `","state":"retired"`, "secret"},
		{"a retired key without its time", `"retired_at":"1970-01-01T00:00:00.000007Z",`, ``, "retired_at"},
		{"a time of retirement on a live key", `"id":"k1"`, `"id":"k1","retired_at":"1970-01-01T00:00:00.000007Z"`, "retired_at"},
		{"a bad time", `00.000000Z`, `00Z`, "created_at"},
		{"a repeated member", `"id":"k1"`, `"id":"k1","id":"k1"`, "repeated"},
		{"null", `"id":"k1"`, `"id":null`, "keys[0].id"},
		{"keys, an object", `"keys":[`, `"keys":{"a":[`, ""},
		{"text behind it", "\n", "\nx", "after"},
	} {
		bad := strings.Replace(good, tc.old, tc.new, 1)
		if bad == good {
			t.Fatalf("%s: nothing was changed", tc.name)
		}
		r, err := token.ParseKeyring([]byte(bad))
		if !errors.Is(err, token.ErrKeyFile) || !strings.Contains(err.Error(), tc.word) || len(r.Keys()) != 0 {
			t.Errorf("%s: got %v, want ErrKeyFile naming %q", tc.name, err, tc.word)
		}
		if leaks(fmt.Sprint(err), testSecret) {
			t.Errorf("%s: the message shows a secret: %v", tc.name, err)
		}
	}
}

// TestKeyringFileLaw holds that what is saved is what is loaded, for any ring.
func TestKeyringFileLaw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyring.json")
	rapid.Check(t, func(rt *rapid.T) {
		var ring token.Keyring
		for i := range rapid.IntRange(0, 5).Draw(rt, "keys") {
			secret, err := token.NewSecret(rapid.SliceOfN(rapid.Byte(), 32, 80).Draw(rt, "secret"))
			if err != nil {
				rt.Fatal(err)
			}
			id := token.KeyID(fmt.Sprintf("%s-%d", rapid.StringMatching(`[a-z0-9]{1,10}`).Draw(rt, "id"), i))
			next, err := ring.Rotate(id, secret, dag.Time(rapid.Int64Range(0, int64(dag.MaxTime)).Draw(rt, "now")))
			if err != nil {
				continue // the same secret again
			}
			ring = next
			if rapid.Bool().Draw(rt, "retire") && i > 0 {
				if next, err := ring.Retire(ring.Keys()[0].ID, 5); err == nil {
					ring = next
				}
			}
		}
		data := save(t, path, ring)
		got, err := token.LoadKeyring(path)
		if err != nil || !slices.Equal(got.Keys(), ring.Keys()) {
			rt.Fatalf("got %+v, %v, want %+v", got.Keys(), err, ring.Keys())
		}
		if again := save(t, path, got); !bytes.Equal(again, data) {
			rt.Fatalf("saved again it differs")
		}
	})
}

// TestChangeKeyring changes one file from many sides at once. No change is lost.
func TestChangeKeyring(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "keyring.json")
	const changers = 8
	var wg sync.WaitGroup
	var mu sync.Mutex
	absent := 0
	for n := range changers {
		wg.Go(func() {
			_, err := token.ChangeKeyring(path, func(r token.Keyring, exists bool) (token.Keyring, error) {
				if !exists {
					mu.Lock()
					absent++
					mu.Unlock()
				}
				return r.Rotate(r.NextID(), numbered(t, n+1), 0)
			})
			if err != nil {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	r, err := token.LoadKeyring(path)
	if err != nil || len(r.Keys()) != changers || absent != 1 {
		t.Errorf("%d keys, %v; the file was absent %d times", len(r.Keys()), err, absent)
	}
	// A change that fails changes nothing and leaves no lock.
	stop := errors.New("stop")
	if _, err := token.ChangeKeyring(path, func(token.Keyring, bool) (token.Keyring, error) { return token.Keyring{}, stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("files left: %v, %v", entries, err)
	}
	if again, err := token.LoadKeyring(path); err != nil || !same(t, again, r) {
		t.Errorf("a change that failed changed the file: %v", err)
	}
}

func FuzzParseKeyring(f *testing.F) {
	for _, r := range []token.Keyring{threeKeys(f), ringOf(f, "k1"), {}} {
		f.Add(save(f, filepath.Join(f.TempDir(), "keyring.json"), r))
	}
	f.Add([]byte(`{"keys":[{"created_at":"1970-01-01T00:00:00.000000Z","id":"k1","secret":"` + testSecret + `","state":"live"}],"type":"graphkernel_keyring_v1"}`))
	f.Add([]byte(`{"keys":[],"type":"graphkernel_keyring_v1","type":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := token.ParseKeyring(data)
		if err != nil {
			if !errors.Is(err, token.ErrKeyFile) || len(r.Keys()) != 0 {
				t.Fatalf("%v, and %d keys", err, len(r.Keys()))
			}
			return
		}
		wellFormed(t, r)
		p := provenance(t)
		a := token.NewAuthority(r)
		if _, err := r.Signer(); err == nil {
			if _, err := a.Keyring().Signer(); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Check(&p, pinnedUnder("nobody")); err == nil {
			t.Fatal("a key that nobody has verifies")
		}
	})
}
