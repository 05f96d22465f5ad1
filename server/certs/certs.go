// Package certs owns the certificate that the service shows: it reads a pair of PEM
// files, and takes the next pair when somebody, or a program that renews them, has
// put other files in their place.
//
// Two files cannot be replaced at one moment. A pair is taken when its key is the
// certificate's; until then the one before stays.
//
// The key's file may be read and written by its owner and read by its group, as
// systemd and Kubernetes hand credentials to a service: any wider mode than 0640 is
// refused. Windows has no such modes and is not asked.
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

// maxFile bounds the bytes of either file.
const maxFile = 1 << 20

// widest is the widest mode of a key's file.
const widest = 0o640

// A Reloader holds a certificate and the files that the next one comes from. It is
// safe for use by many goroutines, except for Watch, which one at a time may run.
type Reloader struct {
	certFile, keyFile string
	log               *slog.Logger
	current           atomic.Pointer[tls.Certificate]
	seen              [sha256.Size]byte // what the files held at the last look; Watch's own
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

// TLSConfig returns a server's configuration: TLS 1.2 at least, HTTP/2 and HTTP/1.1,
// and for each handshake the certificate that is current then. Connections that
// are keep theirs.
func (r *Reloader) TLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return r.current.Load(), nil },
	}
}

// Watch looks at the files at every tick until ctx ends or the ticks do. A new pair is
// taken and logged; one that does not fit is logged once, and the last good one stays.
// It compares what the files hold: their times may be those of a backup, or too coarse.
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
		r.log.WarnContext(ctx, "the new certificate is not taken; the one before stays", "error", err)
		return
	}
	r.current.Store(pair)
	r.log.InfoContext(ctx, "certificate taken over", "names", pair.Leaf.DNSNames, "not_after", pair.Leaf.NotAfter)
}

// read reads the pair. held is the digest of what was found, a fault included, so that
// the same fault is known again.
func (r *Reloader) read() (pair *tls.Certificate, held [sha256.Size]byte, err error) {
	cert, certErr := readFile(r.certFile, 0o777)
	key, keyErr := readFile(r.keyFile, widest)
	if err := errors.Join(certErr, keyErr); err != nil {
		return nil, sha256.Sum256([]byte(err.Error())), fmt.Errorf("certs: %w", err)
	}
	both := sha256.New()
	fmt.Fprintf(both, "%d ", len(cert)) // where one ends and the other begins
	both.Write(cert)
	both.Write(key)
	both.Sum(held[:0])
	p, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, held, fmt.Errorf("certs: %s and %s are no pair: %w", r.certFile, r.keyFile, err)
	}
	return &p, held, nil
}

// readFile reads a regular file, or what a link leads to, whose mode is not too wide.
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
		return nil, fmt.Errorf("%s has mode %04o, which lets others at the private key; run: chmod 600 %s", path, mode, path)
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
