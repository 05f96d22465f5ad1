package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/store"
)

// logTenant returns the tenant whose ledger a request asks for: the caller's own, or the tenant of the public ledger
// in the path. The answer does not reveal whether a tenant without a public ledger exists.
func logTenant(c *call) (dag.Tenant, error) {
	tenant := c.tenant()
	if c.op.open() {
		tenant = dag.Tenant(c.params["tenant"])
		if !slices.Contains(c.server.config.PublicLogs, tenant) {
			return "", &problem{code: api.CodeNotFound, detail: fmt.Sprintf("no ledger of a tenant %.80q is open to everybody here", tenant)}
		}
	}
	if c.server.config.Kernel.Ledger().Identity().Name() == "" {
		return "", identity.ErrNone
	}
	return tenant, nil
}

// patient returns a context that does not end when the client disconnects. A checkpoint that witnesses cosign for one
// request is kept for other requests, so it must not lack cosignatures because the first client disconnected.
func patient(c *call) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.ctx), c.server.config.Limits.Timeout)
}

func getCheckpoint(c *call) error {
	tenant, err := logTenant(c)
	if err != nil {
		return err
	}
	ctx, cancel := patient(c)
	defer cancel()
	now, err := c.server.config.Kernel.Ledger().Checkpoint(ctx, tenant)
	if err != nil {
		return err
	}
	c.server.show(ctx, tenant, &now)
	return c.write(http.StatusOK, textType, now.Note)
}

// shown remembers the last checkpoint of each tenant that was returned, so that each checkpoint is counted once, and
// each refusal by a witness is logged once.
type shown struct {
	mu   sync.Mutex
	last *lru.Cache[dag.Tenant, string] // guarded by mu
}

// keptShown is the maximum number of tenants remembered. The checkpoint of an evicted tenant is counted again.
const keptShown = 10_000

func newShown() (*shown, error) {
	last, err := lru.New[dag.Tenant, string](keptShown)
	return &shown{last: last}, err
}

func (s *shown) isNew(tenant dag.Tenant, note []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, _ := s.last.Get(tenant)
	s.last.Add(tenant, string(note))
	return before != string(note)
}

// The results of asking a witness for a cosignature.
const (
	cosigned    = "cosigned"
	notCosigned = "refused"
)

// show counts a checkpoint that is returned.
func (s *Server) show(ctx context.Context, tenant dag.Tenant, now *notary.Checkpoint) {
	if !s.shown.isNew(tenant, now.Note) {
		return
	}
	s.metrics.checkpoints.Inc()
	s.metrics.cosignatures.WithLabelValues(cosigned).Add(float64(max(0, s.config.Asked-len(now.Refusals))))
	s.metrics.cosignatures.WithLabelValues(notCosigned).Add(float64(len(now.Refusals)))
	for _, r := range now.Refusals {
		s.config.Log.WarnContext(ctx, "a witness did not cosign", "witness", r.Witness, "tenant", string(tenant), "size", now.Size, "error", r.Err.Error())
	}
}

// showProven counts a proof. If witnesses are asked for cosignatures, it also counts the proof's checkpoint; that
// checkpoint is cached, so reading it costs no request.
func (s *Server) showProven(ctx context.Context, tenant dag.Tenant) {
	s.metrics.proofs.Inc()
	if s.config.Asked == 0 {
		return
	}
	if now, err := s.config.Kernel.Ledger().Checkpoint(ctx, tenant); err == nil { // the proof does not depend on it
		s.show(ctx, tenant, &now)
	}
}

// A tile is a part of a ledger, named as in C2SP tlog-tiles.
type tile struct {
	entries bool // the tile contains leaves, not hashes
	level   int
	index   uint64
	width   int // ledger.TileWidth if the tile is full
}

// parseTile parses a path that matches the contract's pattern.
func parseTile(path string) (t tile, err error) {
	level, path, _ := strings.Cut(path, "/")
	t.entries, t.width = level == "entries", ledger.TileWidth
	if !t.entries {
		if t.level, err = strconv.Atoi(level); err != nil {
			return tile{}, fmt.Errorf("%w: level %.20q of a tile", dag.ErrForm, level)
		}
	}
	path, width, partial := strings.Cut(path, ".p/")
	if partial {
		if t.width, err = strconv.Atoi(width); err != nil {
			return tile{}, fmt.Errorf("%w: width %.20q of a tile", dag.ErrForm, width)
		}
	}
	for digits := range strings.SplitSeq(path, "/") {
		n, err := strconv.ParseUint(strings.TrimPrefix(digits, "x"), 10, 16)
		if err != nil {
			return tile{}, fmt.Errorf("%w: index %.60q of a tile", dag.ErrForm, path)
		}
		t.index = 1000*t.index + n
	}
	return t, nil
}

// maxLevel is the highest level of a tile.
const maxLevel = 5

// beyond reports whether the tile is beyond any possible ledger.
func (t tile) beyond() bool {
	return t.level > maxLevel || t.index >= ledger.MaxSize/ledger.TileWidth
}

func (t tile) String() string {
	what := fmt.Sprintf("hashes of level %d", t.level)
	if t.entries {
		what = "leaves"
	}
	return fmt.Sprintf("%d %s from %d on", t.width, what, t.index*ledger.TileWidth)
}

func getTile(c *call) error { return sendTile(c, c.params["tile"]) }

// getEntries returns tile/entries under the path that some clients of logs use.
func getEntries(c *call) error { return sendTile(c, "entries/"+c.params["entries"]) }

// sendTile answers with a tile or a bundle of entries. Its content never changes: a partial tile is the beginning of
// the full one.
func sendTile(c *call, path string) error {
	tenant, err := logTenant(c)
	if err != nil {
		return err
	}
	t, err := parseTile(path)
	if err != nil {
		return err
	}
	if t.entries && !c.op.open() && !c.who.Role.May(access.Read) {
		return forbidden(c.who.Role, access.Read)
	}
	k := c.server.config.Kernel
	from := t.index * ledger.TileWidth
	var data []byte
	n := 0
	switch {
	case t.beyond():
	case t.entries:
		leaves, err := k.Ledger().Leaves(c.ctx, tenant, from, t.width)
		if err != nil {
			return err
		}
		n = len(leaves)
		for _, leaf := range leaves {
			data = append(binary.BigEndian.AppendUint16(data, uint16(len(leaf))), leaf...) //nolint:gosec // a leaf has at most ledger.MaxLeaf bytes
		}
	default:
		hashes, err := k.Ledger().Hashes(c.ctx, tenant, t.level, from, t.width)
		if err != nil {
			return err
		}
		n = len(hashes)
		for i := range hashes {
			data = append(data, hashes[i][:]...)
		}
	}
	if n < t.width {
		return &problem{code: api.CodeNotFound, detail: fmt.Sprintf("the ledger does not have %s", t)}
	}
	header := c.echo.Response().Header()
	header["Cache-Control"] = immutableTo(c.op.open())
	if t.entries {
		header["Vary"] = append(header["Vary"], "Accept-Encoding")
		if takesGzip(c.echo.Request().Header) {
			header["Content-Encoding"] = []string{"gzip"}
			data = zipped(data)
		}
	}
	return c.write(http.StatusOK, bytesType, data)
}

var bytesType = []string{"application/octet-stream"}

// immutableTo returns the Cache-Control header of an answer that may be cached for ever, by everybody or by the
// client alone.
func immutableTo(everybody bool) []string {
	if everybody {
		return []string{"public, max-age=31536000, immutable"}
	}
	return []string{"private, max-age=31536000, immutable"}
}

// takesGzip reports whether a client names gzip in Accept-Encoding, without a weight of zero (RFC 9110, section
// 12.5.3). A wildcard is not enough.
func takesGzip(h http.Header) bool {
	for part := range strings.SplitSeq(strings.Join(h["Accept-Encoding"], ","), ",") {
		coding, weight, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		weight = strings.TrimSpace(weight)
		q, err := strconv.ParseFloat(strings.TrimPrefix(weight, "q="), 64)
		return weight == "" || err == nil && q > 0
	}
	return false
}

// zipped compresses leaves. They compress well, because they contain the same names.
func zipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	if closed := w.Close(); err != nil || closed != nil {
		panic("server: compressing into memory")
	}
	return b.Bytes()
}

// numberOf parses a number that matches the contract's pattern.
func numberOf(c *call, name string) (uint64, error) {
	n, err := strconv.ParseUint(c.params[name], 10, 64)
	if err != nil {
		return 0, &problem{code: api.CodeInvalid, place: "query parameter " + name, detail: fmt.Sprintf("query parameter %s is %.40q, want an integer, written plainly", name, c.params[name])}
	}
	return n, nil
}

func getProof(c *call) error {
	tenant, err := logTenant(c)
	if err != nil {
		return err
	}
	index, err := numberOf(c, "index")
	if err != nil {
		return err
	}
	ctx, cancel := patient(c)
	defer cancel()
	proof, err := c.server.config.Kernel.Ledger().Prove(ctx, tenant, index)
	if err != nil {
		return err
	}
	c.server.showProven(ctx, tenant)
	return c.write(http.StatusOK, textType, proof.Append(nil))
}

// getConsistency proves the consistency of two sizes of the ledger, up to the present. Any reader of the tiles can
// make the same proof.
func getConsistency(c *call) error {
	tenant, err := logTenant(c)
	if err != nil {
		return err
	}
	from, err := numberOf(c, "from")
	if err != nil {
		return err
	}
	to, err := numberOf(c, "to")
	if err != nil {
		return err
	}
	if from > to {
		return &problem{code: api.CodeInvalid, place: "query parameter from", detail: fmt.Sprintf("from is %d, but must not exceed to, which is %d: a ledger does not shrink", from, to)}
	}
	now, err := c.server.config.Kernel.Ledger().Root(c.ctx, tenant)
	if err != nil {
		return err
	}
	if to > now.Size {
		return &problem{code: api.CodeNotFound, detail: fmt.Sprintf("the ledger has %d leaves, not %d yet", now.Size, to)}
	}
	var proof []ledger.Hash
	if 0 < from && from < to { // otherwise there is nothing to prove
		read := &tiles{ctx: c.ctx, kernel: c.server.config.Kernel, tenant: tenant}
		hashes := tlog.TileHashReader(tlog.Tree{N: int64(now.Size), Hash: now.Hash}, read)
		if proof, err = tlog.ProveTree(int64(to), int64(from), hashes); err != nil {
			return fmt.Errorf("%w: proving the step from %d to %d leaves of tenant %s: %w", store.ErrDamaged, from, to, tenant, err)
		}
	}
	return c.write(http.StatusOK, textType, ledger.FormatHashes(proof))
}

// tiles reads a ledger's hashes for proofs. The proofs are checked against the ledger's root.
type tiles struct {
	ctx    context.Context
	kernel *kernel.Kernel
	tenant dag.Tenant
}

func (t *tiles) Height() int                         { return 8 } // tiles of 256 hashes
func (t *tiles) SaveTiles(_ []tlog.Tile, _ [][]byte) {}
func (t *tiles) ReadTiles(want []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(want))
	for i, w := range want {
		hashes, err := t.kernel.Ledger().Hashes(t.ctx, t.tenant, w.L, uint64(w.N)*ledger.TileWidth, w.W)
		if err != nil {
			return nil, err
		}
		for j := range hashes {
			data[i] = append(data[i], hashes[j][:]...)
		}
	}
	return data, nil
}
