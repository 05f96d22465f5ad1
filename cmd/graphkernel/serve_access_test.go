package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"
)

// writeCert writes a certificate of its own for loopback and returns what trusts it.
func writeCert(t *testing.T, folder string, serial int64) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "graphkernel"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		temporary := filepath.Join(folder, name+".new")
		if err := os.WriteFile(temporary, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(temporary, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// TestServeTLS serves with a certificate and replaces it under the running service.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	trust := x509.NewCertPool()
	trust.AddCert(writeCert(t, folder, 1))
	s := startServe(t, folder, "--dev", "--tls-cert", filepath.Join(folder, "cert.pem"), "--tls-key", filepath.Join(folder, "key.pem"))
	if !strings.HasPrefix(s.url, "https://") {
		t.Fatalf("it listens on %s", s.url)
	}
	serial := func(most uint16) int64 {
		t.Helper()
		c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trust, MaxVersion: most}}}
		a, err := c.Get(s.url + "/health/ready")
		if err != nil {
			return 0
		}
		_ = a.Body.Close()
		return a.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(0); got != 1 {
		t.Fatalf("got the certificate of serial %d\n%s", got, s.stderr.Bytes())
	}
	if got := serial(tls.VersionTLS11); got != 0 {
		t.Error("it speaks TLS 1.1")
	}
	trust.AddCert(writeCert(t, folder, 2))
	for deadline := time.Now().Add(20 * time.Second); serial(0) != 2; {
		if time.Now().After(deadline) {
			t.Fatalf("the new certificate is not served\n%s", s.stderr.Bytes())
		}
	}
	if a, err := http.Get(strings.Replace(s.url, "https", "http", 1) + "/health/live"); err == nil {
		if a.StatusCode == http.StatusOK {
			t.Error("it answers in the clear")
		}
		_ = a.Body.Close()
	}
	s.stop()
}

// TestServeOIDC takes a JWT beside API keys.
func TestServeOIDC(t *testing.T) {
	t.Parallel()
	folder, apiKey := withKeys(t)
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := jwk.Import(private)
	if err != nil {
		t.Fatal(err)
	}
	if err := key.Set(jwk.KeyIDKey, "issuer-1"); err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	set := jwk.NewSet()
	if err := set.AddKey(public); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	jwks := filepath.Join(folder, "jwks.json")
	if err := os.WriteFile(jwks, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, folder, "--oidc-issuer", "https://issuer.example", "--oidc-audience", "graphkernel", "--oidc-jwks", "file:"+jwks)
	token := func(role, audience string) string {
		t.Helper()
		tok, err := jwt.NewBuilder().Issuer("https://issuer.example").Audience([]string{audience}).Subject("service-7").
			Claim("tenant", "default").Claim("role", role).IssuedAt(time.Now()).Expiration(time.Now().Add(time.Hour)).Build()
		if err != nil {
			t.Fatal(err)
		}
		signed, err := jwt.Sign(tok, jwt.WithKey(jwa.ES256(), key))
		if err != nil {
			t.Fatal(err)
		}
		return string(signed)
	}
	status := func(bearer string) int {
		t.Helper()
		s.key = bearer
		got, _ := s.get("/api/slices")
		return got
	}
	forged := strings.Split(token("auditor", "graphkernel"), ".")
	claims, err := base64.RawURLEncoding.DecodeString(forged[1])
	if err != nil {
		t.Fatal(err)
	}
	forged[1] = base64.RawURLEncoding.EncodeToString(bytes.Replace(claims, []byte("auditor"), []byte("admin"), 1))
	for name, tc := range map[string]struct {
		bearer string
		want   int
	}{
		"an auditor's token":         {token("auditor", "graphkernel"), 200},
		"a verifier's token":         {token("verifier", "graphkernel"), 403},
		"a token for somebody else":  {token("auditor", "another"), 401},
		"a token of an unknown role": {token("root", "graphkernel"), 401},
		"a forged token":             {strings.Join(forged, "."), 401},
		"an API key":                 {apiKey, 200},
	} {
		if got := status(tc.bearer); got != tc.want {
			t.Errorf("%s: got %d, want %d", name, got, tc.want)
		}
	}
	s.stop()
	if strings.Contains(s.stderr.String(), forged[2]) {
		t.Error("the log holds a token")
	}
	if !strings.Contains(s.stderr.String(), "jwt:service-7") {
		t.Error("the log does not say who asked")
	}
}
