package ingest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// A packing is a format in which single files are compressed.
type packing struct {
	ext  string
	mark []byte // the first bytes of such files
	open func(io.Reader) (io.Reader, error)
}

// maxWindow bounds the memory for unpacking a zstd file: its strongest level has a window of 128 MiB.
const maxWindow = 128 << 20

// packings lists the supported formats. Codex CLI compresses sessions with zstd after a week.
var packings = []packing{
	{".gz", []byte{0x1f, 0x8b, 8}, func(in io.Reader) (io.Reader, error) { return gzip.NewReader(in) }},
	{".zst", []byte{0x28, 0xb5, 0x2f, 0xfd}, func(in io.Reader) (io.Reader, error) {
		d, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}},
}

// packingOf returns the packing of a file with these first bytes, or nil.
func packingOf(head []byte) *packing {
	for i := range packings {
		if bytes.HasPrefix(head, packings[i].mark) {
			return &packings[i]
		}
	}
	return nil
}

// unpackedName returns the name of a packed file without its extension, or "" if the name has no such extension.
func unpackedName(path string) string {
	for i := range packings {
		if name, ok := strings.CutSuffix(path, packings[i].ext); ok {
			return name
		}
	}
	return ""
}

// Locate returns the path of a transcript: the path that its agent reported, or, if the agent has compressed the file since,
// the path of the compressed file next to it. If neither exists, the error is [fs.ErrNotExist].
func Locate(path string) (string, error) {
	_, err := os.Stat(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	for i := range packings {
		if _, packed := os.Stat(path + packings[i].ext); packed == nil {
			return path + packings[i].ext, nil
		}
	}
	return path, err
}

// Open opens a file and unpacks it if it is packed, within the bounds of an import.
func Open(path string) (io.ReadCloser, error) {
	t := &tree{}
	head, err := t.headOf(path)
	if err != nil {
		return nil, err
	}
	if p := packingOf(head); p != nil {
		if err := t.unpack(path, p); err != nil {
			return nil, err
		}
	}
	return t.open(path)
}

// unpack makes later readers of a packed file read its unpacked content.
func (t *tree) unpack(path string, p *packing) error {
	packed, err := t.size(path)
	if err != nil {
		return err
	}
	plain := t.members[path]
	t.add(path, &member{
		base:  strings.TrimSuffix(t.base(path), p.ext),
		size:  -1,
		plain: plain,
		open: func() (io.ReadCloser, error) {
			var file io.ReadCloser
			if plain != nil {
				file, err = plain.open()
			} else {
				file, err = os.Open(path)
			}
			if err != nil {
				return nil, err
			}
			in, err := p.open(file)
			if err != nil {
				file.Close()
				return nil, fmt.Errorf("%w: %w", ErrArchive, err)
			}
			return &unpacking{Reader: in, below: file, packed: uint64(packed)}, nil
		},
	})
	return nil
}

// unpackAmong calls unpack for the packed files among the paths of a folder or an archive, and leaves out those that also exist
// unpacked. It returns the paths to be read.
func (s *sources) unpackAmong(paths []string) (read []string, err error) {
	for _, path := range paths {
		name := unpackedName(path)
		if name == "" {
			read = append(read, path)
			continue
		}
		head, err := s.files.headOf(path)
		if err != nil {
			return nil, err
		}
		p := packingOf(head)
		switch _, there := slices.BinarySearch(paths, name); {
		case p != nil && there:
			s.copies = append(s.copies, path)
			continue
		case p != nil:
			if err := s.files.unpack(path, p); err != nil {
				return nil, err
			}
			s.files.members[path].packed = true
		}
		read = append(read, path)
	}
	return read, nil
}
