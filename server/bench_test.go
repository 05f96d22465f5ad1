package server_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/store/memory"
	"github.com/graphkernel/graphkernel/token"
	"github.com/graphkernel/graphkernel/wire"
)

type nowhere struct{ header http.Header }

func (w *nowhere) Header() http.Header         { return w.header }
func (w *nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (w *nowhere) WriteHeader(int)             {}

func BenchmarkVerifyToken(b *testing.B) {
	ctx := context.Background()
	st := memory.Open(&memory.Disk{}, memory.Options{})
	secret, _ := token.DrawSecret(nil)
	ring, err := token.Keyring{}.Rotate("k1", secret, 1)
	if err != nil {
		b.Fatal(err)
	}
	k, err := kernel.Open(kernel.Config{Store: st, Authority: token.NewAuthority(ring), Clock: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	key, _, err := k.CreateKey(ctx, dag.DefaultTenant, access.Agent, "")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := k.Admit(ctx, dag.DefaultTenant, []dag.Draft{{ID: dag.TurnID{1}, Conversation: dag.ConversationID{1}, Role: dag.RoleUser, Author: "human:guest", Content: "hello", CreatedAt: 1}}); err != nil {
		b.Fatal(err)
	}
	issued, err := k.Slice(ctx, dag.DefaultTenant, kernel.Request{Anchor: dag.TurnID{1}})
	if err != nil {
		b.Fatal(err)
	}
	p := issued.Slice.Provenance
	claim, _ := json.Marshal(wire.TokenClaim{
		SliceID: string(p.SliceID), AnchorTurnID: p.Anchor.String(), PolicyID: string(p.PolicyID), PolicyParamsHash: p.PolicyParamsHash.String(),
		GraphSnapshotHash: p.GraphSnapshotHash.String(), SchemaVersion: p.SchemaVersion, Token: issued.Seal.Token, KeyID: issued.Seal.KeyID,
	})
	s, err := server.New(ctx, server.Config{Kernel: k, Log: slog.New(slog.NewJSONHandler(io.Discard, nil)), Clock: time.Now, Limits: server.Limits{Rate: 1e9}})
	if err != nil {
		b.Fatal(err)
	}
	e := echo.New()
	e.POST("/api/verify_token", func(c echo.Context) error {
		var claim wire.TokenClaim
		if err := json.NewDecoder(c.Request().Body).Decode(&claim); err != nil {
			return err
		}
		h := hmac.New(sha256.New, make([]byte, 32))
		_, _ = io.WriteString(h, claim.SliceID+"|"+claim.AnchorTurnID+"|"+claim.PolicyID+"|"+claim.PolicyParamsHash+"|"+claim.GraphSnapshotHash+"|"+claim.SchemaVersion)
		ok := hmac.Equal([]byte(hex.EncodeToString(h.Sum(nil)[:16])), []byte(claim.Token))
		return c.JSON(http.StatusOK, wire.TokenVerdict{Admissible: ok, KeyID: claim.KeyID})
	})
	for name, h := range map[string]http.Handler{"bare": e, "server": s} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/verify_token", bytes.NewReader(claim))
				r.Header.Set("Authorization", "Bearer "+key)
				r.Header.Set("Content-Type", "application/json")
				h.ServeHTTP(&nowhere{http.Header{}}, r)
			}
		})
	}
}
