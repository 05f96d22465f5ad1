package golden

import (
	"archive/zip"
	"bytes"
	_ "embed" // the archive
	"fmt"
	"io/fs"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// The files of the cases say much the same. The program has them as one archive of stored files, compressed as a whole, which is a fifteenth of their size.
// "go test ./golden -run TestArchive -update" makes it of the folders.
//
//go:embed cases.zip.zst
var archive []byte

// maxArchive bounds the archive, unpacked, in bytes.
const maxArchive = 64 << 20

// files are the folders of the cases, and testdata.
var files = sync.OnceValues(func() (fs.FS, error) { return unpack(archive) })

func unpack(packed []byte) (fs.FS, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxArchive))
	if err != nil {
		return nil, fmt.Errorf("golden: %w", err)
	}
	defer d.Close()
	data, err := d.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("golden: %w", err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("golden: %w", err)
	}
	return z, nil
}

func readFile(name string) ([]byte, error) {
	all, err := files()
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(all, name)
}

func readDir(name string) ([]fs.DirEntry, error) {
	all, err := files()
	if err != nil {
		return nil, err
	}
	return fs.ReadDir(all, name)
}
