package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// A bare process answers with an HMAC of what it was sent.
type bare struct {
	addr    string
	process *exec.Cmd
}

func startBare(ctx context.Context) (*bare, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, self)
	c.Env = append(os.Environ(), bareVariable+"="+addr)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return nil, err
	}
	b := &bare{addr, c}
	return b, awaitAnswer("http://" + addr + "/")
}

func (b *bare) stop() {
	_ = b.process.Process.Kill() // its end is what is wanted
	_ = b.process.Wait()
}

// serveBare is what a handler costs that does nothing but what it must.
func serveBare(addr string) error {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	secret := bytes.Repeat([]byte{7}, 32)
	e.GET("/", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.POST("/", func(c echo.Context) error {
		var claim api.TokenClaim
		if err := json.NewDecoder(c.Request().Body).Decode(&claim); err != nil {
			return err
		}
		h := hmac.New(sha256.New, secret)
		_, _ = io.WriteString(h, claim.SliceID+"|"+claim.AnchorTurnID+"|"+claim.PolicyID+"|"+claim.PolicyParamsHash+"|"+claim.GraphSnapshotHash+"|"+claim.SchemaVersion) // never fails
		ok := hmac.Equal([]byte(hex.EncodeToString(h.Sum(nil)[:16])), []byte(claim.Token))
		return c.JSON(http.StatusOK, api.TokenVerdict{Admissible: ok, KeyID: claim.KeyID})
	})
	return e.Start(addr)
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// awaitAnswer waits until a process answers.
func awaitAnswer(url string) error {
	var err error
	for range 500 {
		var r *http.Response
		if r, err = http.Get(url); err == nil {
			return r.Body.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// A service is the real program at work.
type service struct {
	folder, addr, url, key string
	process                *exec.Cmd
	log                    *os.File
	turns                  int
	admission              time.Duration
	anchors                []string
}

const widePolicy = "wide@1"

func startService(ctx context.Context, folder, sample string) (s *service, err error) {
	program := filepath.Join(folder, "graphkernel")
	const module = "github.com/graphkernel/graphkernel"
	source, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, module+"/cmd/graphkernel")
	build.Dir = strings.TrimSpace(string(source)) // the program has a go.mod of its own
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	s = &service{folder: folder}
	s.log, err = os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, err
	}
	store, keys := "--store=sqlite:"+filepath.Join(folder, "store.db"), "--keys="+filepath.Join(folder, "keys.json")
	var made struct{ Key string }
	if out, err := exec.CommandContext(ctx, program, keys, "keys", "init").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("keys init: %w\n%s", err, out)
	}
	out, err := exec.CommandContext(ctx, program, store, "--output", "json", "apikey", "create", "--role", "admin").Output()
	if err != nil {
		return nil, fmt.Errorf("apikey create: %w", err)
	}
	if err := json.Unmarshal(out, &made); err != nil {
		return nil, err
	}
	s.key = made.Key
	if s.addr, err = freeAddr(); err != nil {
		return nil, err
	}
	s.url = "http://" + s.addr
	s.process = exec.CommandContext(ctx, program, store, keys, "serve", "--addr", s.addr,
		"--limits-rate", "1000000", "--limits-burst", "1000000", "--trace-exporter", "log", "--trace-sample", sample)
	s.process.Stderr = s.log
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	if err := awaitAnswer(s.url + "/health/ready"); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, s.fill()
}

func (s *service) stop() error {
	if err := s.process.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	err := s.process.Wait()
	if closed := s.log.Close(); err == nil {
		err = closed
	}
	if err != nil {
		text, _ := os.ReadFile(filepath.Join(s.folder, "log"))
		return fmt.Errorf("the service ended with %w: …%s", err, text[max(0, len(text)-2000):])
	}
	return nil
}

// ask makes one request and reads its answer.
func (s *service) ask(method, path, media string, body []byte) ([]byte, error) {
	r, err := http.NewRequest(method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", media)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, data)
	}
	return data, err
}

// Shape of the graph: chains, with a side remark on each turn; texts of about 400
// bytes.
const (
	filledConversations = 20
	filledTurns         = 1_000 // of each conversation
	filledAnchors       = 200
)

func turnID(conversation, n int) string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", conversation+1, n+1)
}

// line returns the nth turn of a conversation.
func line(conversation, n int) []byte {
	parents := []map[string]string{}
	if n > 0 {
		before := n - 1 // of a side remark: what it remarks on
		if n%2 == 0 {
			before = n - 2
		}
		parents = append(parents, map[string]string{"id": turnID(conversation, before), "kind": "reply"})
	}
	b, err := json.Marshal(map[string]any{
		"id": turnID(conversation, n), "conversation": fmt.Sprintf("%08x-0000-4000-8000-ffffffffffff", conversation+1), "parents": parents,
		"role": []string{"user", "assistant", "tool"}[n%3], "author": "model:helper",
		"created_at": time.Unix(1_767_225_600+int64(n), 0).UTC().Format(time.RFC3339), "salience": 0.5, "phase": "planning",
		"content": strings.Repeat("The deployment waits for the migration. ", 10) + strconv.Itoa(n),
	})
	if err != nil {
		panic(err) // a map of strings
	}
	return b
}

// fill admits the graph and registers a policy that selects 256 turns of it.
func (s *service) fill() error {
	var lines bytes.Buffer
	for c := range filledConversations {
		for n := range filledTurns {
			lines.Write(line(c, n))
			lines.WriteByte('\n')
			s.turns++
		}
	}
	started := time.Now()
	if _, err := s.ask("POST", "/api/turns", "application/x-ndjson", lines.Bytes()); err != nil {
		return err
	}
	s.admission = time.Since(started)
	for i := range filledAnchors {
		s.anchors = append(s.anchors, turnID(i%filledConversations, filledTurns/4+2*(i%(filledTurns/4))))
	}
	_, err := s.ask("POST", "/api/policies", "application/json", []byte(`{"policy_id":"`+widePolicy+`","policy":{"type":"slice_policy_v1","max_nodes":256,"max_radius":64,
		"phase_weights":{"synthesis":1,"planning":0.9,"consolidation":0.6,"debugging":0.5,"exploration":0.3},"salience_weight":0.3,"distance_decay":0.99,"include_siblings":true,"max_siblings":5}}`))
	return err
}

// claim returns the body of a verification that holds.
func (s *service) claim() ([]byte, error) {
	data, err := s.ask("POST", "/api/slice", "application/json", []byte(`{"anchor":"`+s.anchors[0]+`"}`))
	if err != nil {
		return nil, err
	}
	var b struct {
		Provenance map[string]string `json:"provenance"`
		Token      string            `json:"token"`
		KeyID      string            `json:"key_id"`
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, err
	}
	b.Provenance["token"], b.Provenance["key_id"] = b.Token, b.KeyID
	return json.Marshal(b.Provenance)
}

// A library is the kernel in this process, over the service's own store.
type library struct {
	kernel   *kernel.Kernel
	close    func()
	anchors  []dag.TurnID
	selected int
}

func openLibrary(ctx context.Context, s *service) (*library, error) {
	st, err := sqlite.Open(ctx, filepath.Join(s.folder, "store.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	ring, err := token.LoadKeyring(filepath.Join(s.folder, "keys.json"))
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	k, err := kernel.Open(kernel.Config{Store: st, Authority: token.NewAuthority(ring), Clock: time.Now})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	l := &library{kernel: k, close: func() { _ = st.Close() }} // the service closes it as well
	for _, anchor := range s.anchors {
		id, err := dag.ParseTurnID(anchor)
		if err != nil {
			return nil, err
		}
		l.anchors = append(l.anchors, id)
		issued, err := k.Slices().Cut(ctx, dag.DefaultTenant, kernel.Request{Anchor: id, Policy: widePolicy}) // warms up
		if err != nil {
			return nil, err
		}
		l.selected = len(issued.Slice.Turns)
	}
	return l, nil
}

// rate cuts slices with every processor for a time.
func (l *library) rate(ctx context.Context, during time.Duration) (float64, error) {
	var cut atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, runtime.GOMAXPROCS(0))
	started := time.Now()
	for i := range errs {
		wg.Go(func() {
			for n := i * 31; time.Since(started) < during; n++ {
				if _, errs[i] = l.kernel.Slices().Cut(ctx, dag.DefaultTenant, kernel.Request{Anchor: l.anchors[n%len(l.anchors)], Policy: widePolicy}); errs[i] != nil {
					return
				}
				cut.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(cut.Load()) / time.Since(started).Seconds(), errors.Join(errs...)
}
