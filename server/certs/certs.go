// Package certs owns the TLS certificate of the service: it reads a pair of PEM files, and loads the new pair when
// somebody, or a program that renews certificates, has replaced the files.
//
// Two files cannot be replaced at the same moment. A pair is loaded once its key matches its certificate; until then
// the previous pair stays.
//
// The key's file may be readable and writable by its owner and readable by its group, as systemd and Kubernetes provide
// credentials to a service: any wider mode than 0640 is refused. Windows has no such modes, so there the mode is not
// checked.
package certs

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

// maxFile is the maximum size in bytes of either file.
const maxFile = 1 << 20

// widest is the widest allowed mode of a key's file.
const widest = 0o640

// A Reloader holds a certificate and the paths of the files with the next one. It is safe for use by many goroutines,
// except for Watch, which must not run more than once at a time.
type Reloader struct {
	certFile, keyFile string
	log               *slog.Logger
	current           atomic.Pointer[tls.Certificate]
	seen              [sha256.Size]byte // digest of the files at the last check; only Watch uses it
}

// Open reads a pair of PEM files: a certificate with its chain, and its private key.
func Open(certFile, keyFile string, log *slog.Logger) (*Reloader, error) {
	r := &Reloader{certFile: certFile, keyFile: keyFile, log: log}
	pair, held, err := r.read()
	if err != nil {
		return nil, err
	}
	r.seen = held
	r.current.Store(pair)
	return r, nil
}

// TLSConfig returns a server configuration with TLS 1.2 or later, HTTP/2 and HTTP/1.1. Each handshake uses the current
// certificate. Open connections keep theirs.
func (r *Reloader) TLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return r.current.Load(), nil },
	}
}

// Watch checks the files at every tick until ctx ends or the ticks end. It loads and logs a new pair; it logs an
// invalid pair once and keeps the last valid one. It compares the contents of the files, because their times may be
// those of a backup, or too coarse.
func (r *Reloader) Watch(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case _, more := <-ticks:
			if !more {
				return
			}
			r.look(ctx)
		}
	}
}

func (r *Reloader) look(ctx context.Context) {
	pair, held, err := r.read()
	if held == r.seen {
		return
	}
	r.seen = held
	if err != nil {
		r.log.WarnContext(ctx, "the new certificate is not used; the previous one stays in use", "error", err)
		return
	}
	r.current.Store(pair)
	r.log.InfoContext(ctx, "certificate reloaded", "names", pair.Leaf.DNSNames, "not_after", pair.Leaf.NotAfter)
}

// read reads the pair. held is the digest of the files or of the error, so that a repeated error is recognized.
func (r *Reloader) read() (pair *tls.Certificate, held [sha256.Size]byte, err error) {
	cert, certErr := readFile(r.certFile, 0o777)
	key, keyErr := readFile(r.keyFile, widest)
	if err := errors.Join(certErr, keyErr); err != nil {
		return nil, sha256.Sum256([]byte(err.Error())), fmt.Errorf("certs: %w", err)
	}
	both := sha256.New()
	fmt.Fprintf(both, "%d ", len(cert)) // marks where cert ends and key begins
	both.Write(cert)
	both.Write(key)
	both.Sum(held[:0])
	p, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, held, fmt.Errorf("certs: the certificate %s and the private key %s do not fit together: %w", r.certFile, r.keyFile, err)
	}
	return &p, held, nil
}

// readFile reads a regular file, or the target of a link, if its mode is not too wide.
func readFile(path string, widest os.FileMode) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&^widest != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%s has mode %04o, which gives other users access to the private key; run: chmod 600 %s", path, mode, path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", path, maxFile)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
