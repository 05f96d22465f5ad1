package server_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/server"
)

// A nowhere takes an answer and keeps nothing of it.
type nowhere struct{ header http.Header }

func (w *nowhere) Header() http.Header         { return w.header }
func (w *nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (w *nowhere) WriteHeader(int)             {}

// BenchmarkVerifyToken compares the way of a verification with that of a bare
// handler, without the network. bench/http does so with it.
func BenchmarkVerifyToken(b *testing.B) {
	s := start(b, func(c *server.Config) { c.Limits = server.Limits{Rate: 1e9} })
	s.chain(s.admin(), 1)
	bundle, _ := s.cut(s.admin(), 1)
	claim, err := json.Marshal(claimOf(b, bundle))
	if err != nil {
		b.Fatal(err)
	}
	e := echo.New()
	e.POST("/api/verify_token", func(c echo.Context) error {
		var claim api.TokenClaim
		if err := json.NewDecoder(c.Request().Body).Decode(&claim); err != nil {
			return err
		}
		h := hmac.New(sha256.New, make([]byte, 32))
		_, _ = io.WriteString(h, claim.SliceID+"|"+claim.AnchorTurnID+"|"+claim.PolicyID+"|"+claim.PolicyParamsHash+"|"+claim.GraphSnapshotHash+"|"+claim.SchemaVersion) // never fails
		ok := hmac.Equal([]byte(hex.EncodeToString(h.Sum(nil)[:16])), []byte(claim.Token))
		return c.JSON(http.StatusOK, api.TokenVerdict{Admissible: ok, KeyID: claim.KeyID})
	})
	for _, candidate := range []struct {
		name string
		http.Handler
	}{{"bare", e}, {"server", s.server}} {
		b.Run(candidate.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/api/verify_token", bytes.NewReader(claim))
				r.Header.Set("Authorization", "Bearer "+s.keys[tenantA][access.Verifier])
				r.Header.Set("Content-Type", "application/json")
				candidate.ServeHTTP(&nowhere{http.Header{}}, r)
			}
		})
	}
}
