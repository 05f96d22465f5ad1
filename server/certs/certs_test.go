package certs_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/graphkernel/graphkernel/server/certs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair makes a self-signed certificate with a serial number, and its key.
func pair(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(4e9, 0), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}

// A folder holds a pair of files.
type folder struct {
	t         *testing.T
	cert, key string
}

func newFolder(t *testing.T) *folder {
	dir := t.TempDir()
	return &folder{t, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

// replace puts a file in another's place by renaming it.
func (f *folder) replace(path string, data []byte, mode os.FileMode) {
	f.t.Helper()
	next := path + ".next"
	if err := os.WriteFile(next, data, 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Chmod(next, mode); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		f.t.Fatal(err)
	}
}

// A service is a real server with a reloader and its log.
type service struct {
	t        *testing.T
	address  string
	reloader *certs.Reloader
	log      *bytes.Buffer
}

// look makes the reloader look at the files once, and returns when it has: a Watch
// whose ticks end after the first.
func (s *service) look() {
	ticks := make(chan time.Time, 1)
	ticks <- time.Time{}
	close(ticks)
	s.reloader.Watch(s.t.Context(), ticks)
}

func serve(t *testing.T, f *folder) *service {
	t.Helper()
	s := &service{t: t, log: &bytes.Buffer{}}
	r, err := certs.Open(f.cert, f.key, slog.New(slog.NewTextHandler(s.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		TLSConfig: r.TLSConfig(), ErrorLog: log.New(io.Discard, "", 0), // one handshake is to fail
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }),
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.ServeTLS(l, "", "") }()
	t.Cleanup(func() { _ = server.Close(); <-served })
	s.address, s.reloader = l.Addr().String(), r
	return s
}

// serial connects anew, trusting one certificate, and gives its serial number.
func (s *service) serial(trusted []byte) (int64, error) {
	s.t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(trusted) {
		s.t.Fatal("no certificate to trust")
	}
	c, err := tls.Dial("tcp", s.address, &tls.Config{RootCAs: pool, ServerName: "localhost"})
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64(), nil
}

func (s *service) shows(when string, trusted []byte, want int64) {
	s.t.Helper()
	if got, err := s.serial(trusted); err != nil || got != want {
		s.t.Errorf("%s: certificate %d, %v, want %d", when, got, err, want)
	}
}

func (s *service) logged(when, text string, want int) {
	s.t.Helper()
	if got := strings.Count(s.log.String(), text); got != want {
		s.t.Errorf("%s: %q was logged %d times, want %d:\n%s", when, text, got, want, s.log)
	}
}

const (
	taken    = "certificate reloaded"
	notTaken = "the new certificate is not used"
)

// TestReload replaces the pair in every order, with what fits and what does not.
func TestReload(t *testing.T) {
	cert1, key1 := pair(t, 1)
	cert2, key2 := pair(t, 2)
	cert3, key3 := pair(t, 3)
	f := newFolder(t)
	f.replace(f.cert, cert1, 0o644)
	f.replace(f.key, key1, 0o600)
	s := serve(t, f)
	s.shows("at first", cert1, 1)
	s.look()
	s.logged("nothing changed", "msg", 0)

	f.replace(f.cert, cert2, 0o644)
	s.shows("before a look", cert1, 1)
	s.look()
	s.look()
	s.shows("with half a pair", cert1, 1)
	s.logged("half a pair", notTaken, 1)
	f.replace(f.key, key2, 0o640)
	s.look()
	s.shows("with the whole pair", cert2, 2)
	s.logged("the whole pair", taken, 1)
	if _, err := s.serial(cert1); err == nil {
		t.Error("the old certificate is still shown")
	}

	broken := 1
	for _, c := range []struct {
		name  string
		spoil func()
	}{
		{"an empty certificate", func() { f.replace(f.cert, nil, 0o644) }},
		{"no certificate in it", func() { f.replace(f.cert, []byte("hello"), 0o644) }},
		{"half a certificate", func() { f.replace(f.cert, cert3[:len(cert3)/2], 0o644) }},
		{"another's certificate", func() { f.replace(f.cert, cert3, 0o644) }},
		{"another's key", func() { f.replace(f.cert, cert2, 0o644); f.replace(f.key, key3, 0o600) }},
		{"no key in it", func() { f.replace(f.key, cert2, 0o600) }},
		{"a key too large", func() { f.replace(f.key, bytes.Repeat([]byte("\n"), 2<<20), 0o600) }},
		{"a key for everybody", func() { f.replace(f.key, key2, 0o644) }},
		{"no key", func() { remove(t, f.key) }},
		{"no certificate", func() { f.replace(f.key, key2, 0o600); remove(t, f.cert) }},
		{"a folder", func() {
			if err := os.Mkdir(f.cert, 0o700); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		if c.name == "a key for everybody" && runtime.GOOS == "windows" {
			continue
		}
		c.spoil()
		s.look()
		s.look()
		broken++
		s.shows(c.name, cert2, 2)
		s.logged(c.name, notTaken, broken)
	}
	remove(t, f.cert)
	f.replace(f.cert, cert2, 0o644)
	s.look()
	s.shows("the old pair again", cert2, 2)
	f.replace(f.key, key3, 0o400)
	f.replace(f.cert, cert3, 0o644)
	s.look()
	s.shows("at the end", cert3, 3)
	s.logged("at the end", notTaken, broken)
	s.logged("at the end", taken, 3)
	if strings.Contains(s.log.String(), "PRIVATE") {
		t.Errorf("the log holds a key: %s", s.log)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// TestTLSConfig speaks HTTP/2 and HTTP/1.1, and not TLS 1.1.
func TestTLSConfig(t *testing.T) {
	cert, key := pair(t, 1)
	f := newFolder(t)
	f.replace(f.cert, cert, 0o644)
	f.replace(f.key, key, 0o600)
	s := serve(t, f)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	for protocol, http2 := range map[string]bool{"HTTP/2.0": true, "HTTP/1.1": false} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "localhost"}, ForceAttemptHTTP2: http2, DisableKeepAlives: true}
		answer, err := (&http.Client{Transport: transport}).Get("https://" + s.address)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		if err := answer.Body.Close(); err != nil {
			t.Fatal(err)
		}
		transport.CloseIdleConnections()
		if err != nil || string(got) != protocol {
			t.Errorf("spoke %q, %v, want %s", got, err, protocol)
		}
	}
	old := &tls.Config{RootCAs: pool, ServerName: "localhost", MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if c, err := tls.Dial("tcp", s.address, old); err == nil {
		_ = c.Close()
		t.Error("TLS 1.1 was spoken")
	}
}

// TestWatchEnds ends Watch by its ticks.
func TestWatchEnds(t *testing.T) {
	cert, key := pair(t, 1)
	f := newFolder(t)
	f.replace(f.cert, cert, 0o644)
	f.replace(f.key, key, 0o600)
	r, err := certs.Open(f.cert, f.key, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ticks := make(chan time.Time)
	close(ticks)
	r.Watch(t.Context(), ticks) // returns
}

func TestOpenRefuses(t *testing.T) {
	cert, key := pair(t, 1)
	_, other := pair(t, 2)
	for _, c := range []struct {
		name      string
		cert, key []byte // nil: no file
		mode      os.FileMode
		want      string // "": it is taken
	}{
		{"a pair", cert, key, 0o600, ""},
		{"a pair that nobody may write", cert, key, 0o400, ""},
		{"a pair of a group", cert, key, 0o440, ""},
		{"a key for the group to write", cert, key, 0o660, "mode 0660"},
		{"a key for everybody", cert, key, 0o644, "mode 0644"},
		{"a key for others alone", cert, key, 0o604, "mode 0604"},
		{"a key to run", cert, key, 0o700, "mode 0700"},
		{"no certificate", nil, key, 0o600, "cert.pem"},
		{"no key", cert, nil, 0o600, "key.pem"},
		{"another's key", cert, other, 0o600, "do not fit together"},
		{"the two exchanged", key, cert, 0o600, "do not fit together"},
	} {
		if strings.HasPrefix(c.want, "mode") && runtime.GOOS == "windows" {
			continue
		}
		f := newFolder(t)
		if c.cert != nil {
			f.replace(f.cert, c.cert, 0o644)
		}
		if c.key != nil {
			f.replace(f.key, c.key, c.mode)
		}
		r, err := certs.Open(f.cert, f.key, slog.New(slog.DiscardHandler))
		if c.want == "" {
			if err != nil || r == nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err == nil || r != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}
