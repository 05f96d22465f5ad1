package monitor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/ledger"
)

// HTTP is a log that is served as C2SP tlog-tiles. It is safe for concurrent use.
type HTTP struct {
	client *http.Client
	prefix string
	key    func() string // a function, so that printers do not show the key
}

// NewHTTP returns the log at a URL prefix. key is an API key for a log that is not public, or "".
func NewHTTP(client *http.Client, prefix, key string) *HTTP {
	return &HTTP{client, strings.TrimSuffix(prefix, "/"), func() string { return key }}
}

// ErrAbsent is wrapped when the log's server answers 404.
var ErrAbsent = errors.New("the log has no such resource")

// get reads one resource; most is the maximum size in bytes.
func (h *HTTP) get(ctx context.Context, path string, most int64) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.prefix+path, nil)
	if err != nil {
		return nil, err
	}
	if key := h.key(); key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := h.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", h.prefix+path, err)
	case answer.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%s: %w", h.prefix+path, ErrAbsent)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %d: %.200q", h.prefix+path, answer.StatusCode, data)
	case int64(len(data)) > most:
		return nil, fmt.Errorf("%w: %s has more than %d bytes", ledger.ErrForm, h.prefix+path, most)
	}
	return data, nil
}

// Checkpoint reads the newest checkpoint.
func (h *HTTP) Checkpoint(ctx context.Context) ([]byte, error) {
	return h.get(ctx, "/checkpoint", ledger.MaxCheckpoint)
}

// Hashes reads the first n hashes of a tile. If the log has deleted the partial tile because the tile is now full, it
// reads the full tile.
func (h *HTTP) Hashes(ctx context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	if from%ledger.TileWidth != 0 || n < 1 || n > ledger.TileWidth {
		return nil, fmt.Errorf("%w: %d hashes from %d on are not a tile", ledger.ErrForm, n, from)
	}
	data, err := h.tile(ctx, fmt.Sprint(level), from/ledger.TileWidth, n, ledger.TileWidth*tlog.HashSize)
	if err != nil {
		return nil, err
	}
	if len(data) < n*tlog.HashSize || len(data)%tlog.HashSize != 0 {
		return nil, fmt.Errorf("%w: the tile has %d bytes, want %d", ledger.ErrForm, len(data), n*tlog.HashSize)
	}
	hashes := make([]ledger.Hash, n)
	for i := range hashes {
		hashes[i] = ledger.Hash(data[i*tlog.HashSize:])
	}
	return hashes, nil
}

// Leaves reads the first n leaves of an entry bundle.
func (h *HTTP) Leaves(ctx context.Context, from uint64, n int) ([][]byte, error) {
	if from%ledger.TileWidth != 0 || n < 1 || n > ledger.TileWidth {
		return nil, fmt.Errorf("%w: %d leaves from %d on are not an entry bundle", ledger.ErrForm, n, from)
	}
	data, err := h.tile(ctx, "entries", from/ledger.TileWidth, n, ledger.TileWidth*(2+ledger.MaxLeaf))
	if err != nil {
		return nil, err
	}
	leaves := make([][]byte, 0, n)
	for range n {
		if len(data) < 2 || len(data) < 2+int(binary.BigEndian.Uint16(data)) {
			return nil, fmt.Errorf("%w: the entry bundle has %d leaves, want %d", ledger.ErrForm, len(leaves), n)
		}
		end := 2 + int(binary.BigEndian.Uint16(data))
		leaves = append(leaves, data[2:end])
		data = data[end:]
	}
	return leaves, nil
}

func (h *HTTP) tile(ctx context.Context, level string, index uint64, width int, most int64) ([]byte, error) {
	full := "/tile/" + level + "/" + TileIndex(index)
	if width == ledger.TileWidth {
		return h.get(ctx, full, most)
	}
	data, err := h.get(ctx, fmt.Sprintf("%s.p/%d", full, width), most)
	if errors.Is(err, ErrAbsent) {
		data, err = h.get(ctx, full, most)
	}
	return data, err
}

// TileIndex returns the index of a tile as in paths: 1234067 is x001/x234/067.
func TileIndex(n uint64) string {
	path := fmt.Sprintf("%03d", n%1000)
	for n /= 1000; n > 0; n /= 1000 {
		path = fmt.Sprintf("x%03d/%s", n%1000, path)
	}
	return path
}
