package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"

	verifier "github.com/graphkernel/graphkernel/verifiers/js"
)

//go:embed assets
var assetFiles embed.FS

// An asset is a file that pages load. It is compressed once, at the start.
type asset struct {
	media, tag   string
	data, packed []byte
}

func readAssets() (map[string]*asset, error) {
	list := map[string]*asset{"gkverify.mjs": {data: verifier.Module}}
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		data, err := assetFiles.ReadFile("assets/" + e.Name())
		if err != nil {
			return nil, err
		}
		list[e.Name()] = &asset{data: data}
	}
	for name, a := range list {
		if a.media = mime.TypeByExtension(path.Ext(name)); path.Ext(name) == ".mjs" {
			a.media = "text/javascript; charset=utf-8"
		}
		sum := sha256.Sum256(a.data)
		a.tag = `"` + hex.EncodeToString(sum[:8]) + `"`
		a.packed = pack(a.data)
	}
	return list, nil
}

// pack compresses bytes; writing to memory does not fail.
func pack(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level exists
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// asset sends a file that pages load. A browser caches it and asks whether it has changed.
func (co *Console) asset(w http.ResponseWriter, r *http.Request) {
	a := co.assets[r.PathValue("name")]
	if a == nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.tag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Type", a.media)
	if r.Header.Get("If-None-Match") == a.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	data := a.data
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		data = a.packed
	}
	_, _ = w.Write(data) // the browser is gone
}
