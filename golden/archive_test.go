package golden_test

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/graphkernel/graphkernel/golden"
)

// archived are the folders whose files the archive has.
var archived = []string{"testdata", string(golden.Beliefs), string(golden.Contexts), string(golden.Facts), string(golden.Turns)}

// TestArchive compares the archive that the program has with the folders, file by file.
func TestArchive(t *testing.T) {
	folders := os.DirFS(".")
	want := walk(t, folders)
	if len(want) < 50 {
		t.Fatalf("the folders have %d files", len(want))
	}
	if *update {
		if err := os.WriteFile("cases.zip.zst", pack(t, folders, want), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Skip("written; run again without -update")
	}
	all, err := golden.Files()
	if err != nil {
		t.Fatal(err)
	}
	if got := walk(t, all); !slices.Equal(got, want) {
		t.Fatalf("the archive has %d files, the folders %d; make generate makes it again", len(got), len(want))
	}
	for _, name := range want {
		got, err := fs.ReadFile(all, name)
		if err != nil {
			t.Fatal(err)
		}
		is, err := fs.ReadFile(folders, name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, is) {
			t.Errorf("%s is another one in the archive; make generate makes it again", name)
		}
	}
}

func walk(t *testing.T, in fs.FS) (names []string) {
	t.Helper()
	for _, folder := range archived {
		err := fs.WalkDir(in, folder, func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	return names
}

// pack makes the archive. The same files make the same bytes.
func pack(t *testing.T, in fs.FS, names []string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		data, err := fs.ReadFile(in, name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(16<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return e.EncodeAll(b.Bytes(), nil)
}

// TestDamagedArchive refuses an archive that is cut off or changed.
func TestDamagedArchive(t *testing.T) {
	whole, err := golden.Unpack(golden.Archive)
	if err != nil {
		t.Fatal(err)
	}
	names := walk(t, whole)
	if len(names) < 50 {
		t.Fatalf("%d names", len(names))
	}
	for n := 0; n < len(golden.Archive); n += 1 + len(golden.Archive)/50 {
		if _, err := golden.Unpack(golden.Archive[:n]); err == nil {
			t.Errorf("%d bytes of it are an archive", n)
		}
		changed := bytes.Clone(golden.Archive)
		changed[n] ^= 0x55
		if all, err := golden.Unpack(changed); err == nil {
			for _, name := range names {
				want, err := fs.ReadFile(whole, name)
				if err != nil {
					t.Fatal(err)
				}
				if data, err := fs.ReadFile(all, name); err == nil && !bytes.Equal(data, want) {
					t.Errorf("with byte %d changed, %s is another one", n, name)
				}
			}
		}
	}
}
