package console

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// An exchange is a browser's request and the answer to it.
type exchange struct {
	w http.ResponseWriter
	r *http.Request
}

func (e *exchange) ctx() context.Context { return e.r.Context() }

// mostForm is the maximum size of a form in bytes.
const mostForm = 1 << 20

// read parses the query and the form. It rejects them if any part cannot be parsed, because net/http would leave that part out.
func (e *exchange) read() error {
	q, err := url.ParseQuery(e.r.URL.RawQuery)
	if err != nil {
		return refused(http.StatusBadRequest, "the query of this address cannot be read: %v", err)
	}
	if e.r.Method == http.MethodPost && e.r.URL.Path != checkPath {
		e.r.Body = http.MaxBytesReader(e.w, e.r.Body, mostForm)
		if media, _, err := mime.ParseMediaType(e.r.Header.Get("Content-Type")); err != nil || media != "application/x-www-form-urlencoded" {
			return refused(http.StatusUnsupportedMediaType, "a form is application/x-www-form-urlencoded; got the Content-Type %.80q", e.r.Header.Get("Content-Type"))
		}
		var tooLong *http.MaxBytesError
		if err := e.r.ParseForm(); errors.As(err, &tooLong) {
			return refused(http.StatusRequestEntityTooLarge, "this form has more than %d bytes", mostForm)
		} else if err != nil {
			return refused(http.StatusBadRequest, "this form cannot be read: %v", err)
		}
	}
	if !utf8.ValidString(e.r.URL.Path) {
		return refused(http.StatusBadRequest, "the path of this address is not UTF-8: %.200q", e.r.URL.Path)
	}
	for _, values := range []url.Values{q, e.r.PostForm} {
		for name, list := range values {
			for _, value := range append(list, name) {
				if !utf8.ValidString(value) {
					return refused(http.StatusBadRequest, "%.40q is not UTF-8: %.200q", name, value)
				}
			}
		}
	}
	return nil
}

// readFile reads a form with a file into memory. The file belongs to the caller, so it is never written to the disk of this machine.
func (e *exchange) readFile() error {
	if media, _, err := mime.ParseMediaType(e.r.Header.Get("Content-Type")); err != nil || media != "multipart/form-data" {
		return refused(http.StatusUnsupportedMediaType, "a form with a file is multipart/form-data; got the Content-Type %.80q", e.r.Header.Get("Content-Type"))
	}
	e.r.Body = http.MaxBytesReader(e.w, e.r.Body, mostFile)
	var tooLong *http.MaxBytesError
	if err := e.r.ParseMultipartForm(mostFile); errors.As(err, &tooLong) {
		return refused(http.StatusRequestEntityTooLarge, "this file has more than %d bytes; check it with graphkernel verify", mostFile)
	} else if err != nil {
		return refused(http.StatusBadRequest, "this form cannot be read: %v", err)
	}
	return nil
}

// compress sends an answer, compressed if the browser accepts that. The only secret in it is the token, which belongs to one sign-in.
// Compression does not reveal it, although the page also contains text by others: another site can cause the request but cannot read the
// answer.
func (e *exchange) compress(status int, data []byte) {
	h := e.w.Header()
	h.Set("Vary", "Accept-Encoding")
	if len(data) > 1<<10 && strings.Contains(e.r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		e.w.WriteHeader(status)
		w, _ := gzip.NewWriterLevel(e.w, gzip.BestSpeed) // the level exists
		_, _ = w.Write(data)                             // the browser is gone
		_ = w.Close()
		return
	}
	e.w.WriteHeader(status)
	_, _ = e.w.Write(data) // the browser is gone
}

// file sends bytes as a file download.
func (e *exchange) file(name, media string, data []byte) {
	h := e.w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	e.compress(http.StatusOK, data)
}
