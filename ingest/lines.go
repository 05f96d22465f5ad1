package ingest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest line that is read, in bytes. A turn's content has at most 8 MiB, which takes 48 MiB if every byte is
// escaped.
const MaxLine = 64 << 20

// errLongLine says that a line was longer than MaxLine. The reader has skipped the line.
var errLongLine = fmt.Errorf("line has more than %d bytes", MaxLine)

// lines reads a file line by line. Its memory is bounded by the longest line.
type lines struct {
	ctx    context.Context
	file   io.ReadCloser
	in     *bufio.Reader
	long   []byte // a line that does not fit into the buffer of in
	number int    // number of the last returned line, from 1
	most   int    // MaxLine, or less in tests
	bytes  int64  // bytes read since the last call of take

	broken func(error) // called if the file cannot be unpacked from here on, which then is its end; nil: that is an error
	ended  bool        // broken was called
}

func openLines(ctx context.Context, files *tree, path string) (*lines, error) {
	file, err := files.openText(path)
	if err != nil {
		return nil, err
	}
	return &lines{ctx: ctx, file: file, in: bufio.NewReaderSize(file, 256<<10), most: MaxLine}, nil
}

func (l *lines) close() { l.file.Close() }

func (l *lines) at() int { return l.number }

// take returns the number of bytes read since its last call.
func (l *lines) take() int64 {
	n := l.bytes
	l.bytes = 0
	return n
}

// next returns the next line without its line feed or CR LF. The bytes are valid until the next call. After the last line it
// returns io.EOF.
func (l *lines) next() ([]byte, error) {
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	if l.ended {
		return nil, io.EOF
	}
	l.long = l.long[:0]
	tooLong := false
	for {
		part, err := l.in.ReadSlice('\n')
		l.bytes += int64(len(part))
		if l.broken != nil && errors.Is(err, ErrArchive) {
			l.broken(err)
			l.ended, err = true, io.EOF
		}
		if err == nil && len(l.long) == 0 && !tooLong {
			l.number++
			if line := trimEOL(part); len(line) <= l.most {
				return line, nil
			}
			return nil, errLongLine
		}
		if len(l.long)+len(part) > l.most+2 {
			tooLong, l.long = true, l.long[:0]
		} else if !tooLong {
			l.long = append(l.long, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if err := l.ctx.Err(); err != nil {
				return nil, err
			}
			continue
		case err != nil && err != io.EOF:
			return nil, fmt.Errorf("ingest: %w", err)
		case tooLong:
			l.number++
			return nil, errLongLine
		case err == io.EOF && len(l.long) == 0:
			return nil, io.EOF
		}
		l.number++
		if line := trimEOL(l.long); len(line) <= l.most {
			return line, nil
		}
		return nil, errLongLine
	}
}

func trimEOL(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// isBlank reports whether a line has only white space of JSON.
func isBlank(line []byte) bool { return len(bytes.Trim(line, " \t\r\n")) == 0 }
