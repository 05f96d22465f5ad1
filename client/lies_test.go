package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
	"github.com/graphkernel/graphkernel/server"
)

// fake returns a client of a service that does as it is told.
func fake(t testing.TB, o client.Options, h http.HandlerFunc) *client.Client {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	return must(client.New(web.URL, "key", awake(o)))
}

// A told answer is what a fake says.
type told struct {
	status int
	header map[string]string
	body   []byte
	cut    bool // the connection ends before the body
}

func (a told) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	if a.cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
		w.WriteHeader(max(a.status, 200))
		_, _ = w.Write(a.body[:len(a.body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(max(a.status, 200))
	_, _ = w.Write(a.body)
}

func digest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// TestSliceLies changes a true answer in every way that a client must notice.
func TestSliceLies(t *testing.T) {
	c := serve(t, server.Limits{}).client(t, "default", access.Admin, client.Options{})
	true3 := cutOf(t, c)
	true1 := must(c.Slices().Cut(t.Context(), client.Request{Anchor: ids[1]}))
	early := must(c.Slices().Cut(t.Context(), client.Request{Anchor: ids[3], AsOf: 4}))
	if err := c.Policies().Register(t.Context(), must(standard.Forms().ParseRegistration([]byte(`{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":2}}`)))); err != nil {
		t.Fatal(err)
	}
	narrow := must(c.Slices().Cut(t.Context(), client.Request{Anchor: ids[3], Policy: "narrow@1"}))

	honest := func(b client.Bundle) *told {
		return &told{header: map[string]string{
			"Content-Type": "application/json", "ETag": `"` + b.SHA256.String() + `"`, "Slice-Id": string(b.Claim.Provenance.SliceID),
		}, body: slices.Clone(b.Bytes)}
	}
	sealed := func(a *told) { a.header["ETag"] = `"` + digest(a.body) + `"` }
	replaced := func(from, to string) func(*told) {
		return func(a *told) {
			body := bytes.Replace(a.body, []byte(from), []byte(to), 1)
			if bytes.Equal(body, a.body) {
				t.Fatalf("%q does not stand in the bundle", from)
			}
			a.body = body
		}
	}
	both := func(f, g func(*told)) func(*told) { return func(a *told) { f(a); g(a) } }
	for _, tc := range []struct {
		name   string
		ask    client.Request
		from   client.Bundle
		change func(*told)
		want   string // "": it is good
	}{
		{"nothing", client.Request{Anchor: ids[3]}, true3, func(*told) {}, ""},
		{"nothing, all named", client.Request{Anchor: ids[3], Policy: "default@3", AsOf: 4}, early, func(*told) {}, ""},
		{"a word", client.Request{Anchor: ids[3]}, true3, replaced("tests pass", "tests fail"), "SHA-256"},
		{"a word and the digest", client.Request{Anchor: ids[3]}, true3, both(replaced("tests pass", "tests fail"), sealed), "check bodies fails"},
		{"the reading order and the digest", client.Request{Anchor: ids[3]}, true3, both(replaced(`"slice_id":"`, `"slice_id":"0`), sealed), "malformed bundle"},
		{"a space and the digest", client.Request{Anchor: ids[3]}, true3, both(replaced(`{"anchor"`, `{ "anchor"`), sealed), "malformed bundle"},
		{"the version and the digest", client.Request{Anchor: ids[3]}, true3, both(replaced("gkp/3", "gkp/9"), sealed), "unknown version"},
		{"the digest", client.Request{Anchor: ids[3]}, true3, func(a *told) { a.header["ETag"] = `"` + digest(nil) + `"` }, "SHA-256"},
		{"no digest", client.Request{Anchor: ids[3]}, true3, func(a *told) { delete(a.header, "ETag") }, "SHA-256"},
		{"a weak digest", client.Request{Anchor: ids[3]}, true3, func(a *told) { a.header["ETag"] = "W/" + a.header["ETag"] }, "SHA-256"},
		{"the slice id", client.Request{Anchor: ids[3]}, true3, func(a *told) { a.header["Slice-Id"] = "0123456789abcdef" }, "announced as slice"},
		{"no slice id", client.Request{Anchor: ids[3]}, true3, func(a *told) { delete(a.header, "Slice-Id") }, "announced as slice"},
		{"another anchor", client.Request{Anchor: ids[3]}, true1, func(*told) {}, "the anchor of the bundle is"},
		{"another policy", client.Request{Anchor: ids[3]}, narrow, func(*told) {}, "the policy of the bundle is"},
		{"the default policy", client.Request{Anchor: ids[3], Policy: "narrow@1"}, true3, func(*told) {}, "the policy of the bundle is"},
		{"another view", client.Request{Anchor: ids[3], AsOf: 5}, early, func(*told) {}, "as of 4"},
		{"half", client.Request{Anchor: ids[3]}, true3, func(a *told) { a.body = a.body[:len(a.body)/2] }, "SHA-256"},
		{"nothing at all", client.Request{Anchor: ids[3]}, true3, both(func(a *told) { a.body = nil }, sealed), "malformed bundle"},
		{"the media type", client.Request{Anchor: ids[3]}, true3, func(a *told) { a.header["Content-Type"] = "text/html" }, "text/html"},
		{"no media type", client.Request{Anchor: ids[3]}, true3, func(a *told) { a.header["Content-Type"] = "" }, "want application/json"},
		{"the status", client.Request{Anchor: ids[3]}, true3, func(a *told) { a.status = 201 }, "status 201"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := honest(tc.from)
			tc.change(a)
			asked := 0
			c := fake(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
				asked++
				a.ServeHTTP(w, r)
			})
			b, err := c.Slices().Cut(t.Context(), tc.ask)
			switch {
			case tc.want == "" && (err != nil || !bytes.Equal(b.Bytes, tc.from.Bytes)):
				t.Errorf("got %v", err)
			case tc.want != "" && (!errors.Is(err, client.ErrAnswer) || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want ErrAnswer with %q", err, tc.want)
			case tc.want != "" && (b.Bytes != nil || b.Claim != nil):
				t.Error("a bundle came with the error")
			case asked != 1:
				t.Errorf("asked %d times", asked)
			}
			if a.status != 0 || a.header["Content-Type"] != "application/json" {
				return
			}
			// The same in a batch.
			body := must(json.Marshal(map[string]any{"results": []map[string]any{{
				"status": 200, "slice_id": a.header["Slice-Id"], "bundle_sha256": strings.Trim(a.header["ETag"], `"`),
			}}}))
			bundle := a.body
			if !json.Valid(bundle) {
				return
			}
			body = bytes.Replace(body, []byte(`,"slice_id"`), append(append([]byte(`,"bundle":`), bundle...), `,"slice_id"`...), 1)
			c = fake(t, client.Options{}, told{header: map[string]string{"Content-Type": "application/json"}, body: body}.ServeHTTP)
			list, err := c.Slices().CutBatch(t.Context(), []client.Request{tc.ask})
			if _, bad := dag.ParseDigest(strings.Trim(a.header["ETag"], `"`)); bad != nil {
				if !errors.Is(err, client.ErrAnswer) {
					t.Errorf("batch with a malformed digest: got %v", err)
				}
				return // the whole answer is malformed
			}
			if err != nil || len(list) != 1 {
				t.Fatalf("batch: %v", err)
			}
			if got := list[0]; (got.Err == nil) != (tc.want == "") || got.Err != nil && (!errors.Is(got.Err, client.ErrAnswer) || got.Bytes != nil) {
				t.Errorf("batch: got %v", got.Err)
			}
			if _, err := c.Slices().CutBatch(t.Context(), []client.Request{tc.ask, tc.ask}); !errors.Is(err, client.ErrAnswer) {
				t.Errorf("one result for two requests: got %v", err)
			}
		})
	}
}

// TestMangledSlice changes each byte of a bundle; the service announces the changed
// bytes. None gets through.
func TestMangledSlice(t *testing.T) {
	b := cutOf(t, serve(t, server.Limits{}).client(t, "default", access.Agent, client.Options{}))
	var at int
	through := func(q *http.Request) (*http.Response, error) {
		body := slices.Clone(b.Bytes)
		body[at] ^= 1
		return &http.Response{
			StatusCode: 200, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)), Request: q,
			Header: http.Header{"Content-Type": {"application/json"}, "Etag": {`"` + digest(body) + `"`}, "Slice-Id": {string(b.Claim.Provenance.SliceID)}},
		}, nil
	}
	c := must(client.New("https://kernel.example", "key", client.Options{Transport: roundTripper(through)}))
	unsigned := 0
	for at = range b.Bytes {
		got, err := c.Slices().Cut(t.Context(), client.Request{Anchor: ids[3]})
		if errors.Is(err, client.ErrAnswer) {
			continue
		}
		// What the body does not determine is for the token to tell.
		if err != nil || got.Claim.Provenance == b.Claim.Provenance && got.Claim.Seal == b.Claim.Seal && got.Claim.AsOf == b.Claim.AsOf {
			t.Errorf("byte %d, %q: got %v", at, b.Bytes[max(0, at-20):at+1], err)
		}
		unsigned++
	}
	if unsigned == 0 || unsigned > 60 {
		t.Errorf("%d changed bundles agree with themselves", unsigned)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

// TestVerdictLies changes true verdicts in every way that a client must notice.
func TestVerdictLies(t *testing.T) {
	c := serve(t, server.Limits{}).client(t, "default", access.Agent, client.Options{})
	good := cutOf(t, c)
	_, verdict, err := c.Slices().Verify(t.Context(), good.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(good.Bytes, []byte("tests pass"), []byte("tests fail"), 1)
	for _, tc := range []struct {
		name   string
		bundle []byte
		change func(*api.BundleVerdict)
		want   string
	}{
		{"nothing", good.Bytes, func(*api.BundleVerdict) {}, ""},
		{"a verdict on other bytes", changed, func(*api.BundleVerdict) {}, "the verdict is of bytes"},
		{"a verdict on changed bytes", changed, func(v *api.BundleVerdict) { v.BundleSHA256 = sha256.Sum256(changed) }, "check bodies fails"},
		{"a verdict on no bundle", []byte("{}"), func(v *api.BundleVerdict) { v.BundleSHA256 = sha256.Sum256([]byte("{}")) }, "malformed bundle"},
		{"no digest", good.Bytes, func(v *api.BundleVerdict) { v.BundleSHA256 = dag.Digest{} }, "the verdict is of bytes"},
		{"another slice", good.Bytes, func(v *api.BundleVerdict) { v.SliceID = "0123456789abcdef" }, "the verdict is of slice"},
		{"no slice", good.Bytes, func(v *api.BundleVerdict) { v.SliceID = "" }, "the verdict is of slice"},
		{"another key", good.Bytes, func(v *api.BundleVerdict) { v.KeyID = "k2" }, "the verdict is of slice"},
		{"admissible and tampered", good.Bytes, func(v *api.BundleVerdict) { v.Outcome = "tampered" }, "admissible is true"},
		{"verified and not admissible", good.Bytes, func(v *api.BundleVerdict) { v.Admissible = false }, "admissible is false"},
		{"a failed check", good.Bytes, func(v *api.BundleVerdict) { v.Checks[3].Status = "fail" }, `is "fail"`},
		{"a skipped check", good.Bytes, func(v *api.BundleVerdict) { v.Checks[10].Status = "skipped" }, `is "skipped"`},
		{"no token", good.Bytes, func(v *api.BundleVerdict) { v.Checks = v.Checks[:10] }, "check token was not made"},
		{"no checks", good.Bytes, func(v *api.BundleVerdict) { v.Checks = nil }, "check token was not made"},
		{"nothing but yes", good.Bytes, func(v *api.BundleVerdict) { *v = api.BundleVerdict{Admissible: true} }, "the verdict is of bytes"},
		{"no", good.Bytes, func(v *api.BundleVerdict) {
			*v = api.BundleVerdict{Outcome: "key_unknown", BundleSHA256: v.BundleSHA256}
		}, "not admissible"},
	} {
		v := verdict
		v.Checks = slices.Clone(verdict.Checks)
		tc.change(&v)
		c := fake(t, client.Options{}, told{header: map[string]string{"Content-Type": "application/json"}, body: must(json.Marshal(v))}.ServeHTTP)
		verified, got, err := c.Slices().Verify(t.Context(), tc.bundle)
		switch tc.want {
		case "":
			if err != nil || !verified.OK() {
				t.Errorf("%s: got %v", tc.name, err)
			}
			continue
		case "not admissible":
			if err != nil || got.Outcome != "key_unknown" {
				t.Errorf("%s: got %v", tc.name, err)
			}
		default:
			if !errors.Is(err, client.ErrAnswer) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want ErrAnswer with %q", tc.name, err, tc.want)
			}
		}
		empty(t, tc.name, verified)
	}
	for _, body := range []string{"", "null", "[]", "true", `{"admissible":"true"}`, `{"admissible":true`, `{}{}`} {
		c := fake(t, client.Options{}, told{header: map[string]string{"Content-Type": "application/json"}, body: []byte(body)}.ServeHTTP)
		verified, _, err := c.Slices().Verify(t.Context(), good.Bytes)
		if !errors.Is(err, client.ErrAnswer) {
			t.Errorf("%s: got %v", body, err)
		}
		empty(t, body, verified)
	}
	c = fake(t, client.Options{}, told{header: map[string]string{"Content-Type": "application/json"}, body: []byte(`{"admissible":true,"outcome":"tampered"}`)}.ServeHTTP)
	if v, err := c.Slices().VerifyToken(t.Context(), api.TokenClaim{}); !errors.Is(err, client.ErrAnswer) || v.Admissible {
		t.Errorf("got %+v, %v", v, err)
	}
}

// TestPolicyLies holds that a policy is taken only under its own id and hash.
func TestPolicyLies(t *testing.T) {
	p := must(standard.Forms().ParseRegistration([]byte(`{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":2}}`)))
	for _, tc := range []struct{ id, hash, fingerprint string }{
		{"narrow@2", p.Hash().String(), ""},
		{"narrow@1", digest(nil), ""},
		{"narrow@1", p.Hash().String(), "0123456789abcdef"},
	} {
		w := api.RegisteredPolicy{PolicyID: policy.ID(tc.id), PolicyParamsHash: tc.hash, Policy: json.RawMessage(`{"type":"slice_policy_v1","max_nodes":2}`)}
		c := fake(t, client.Options{}, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			if r.URL.Path == "/api/policies" && r.Method == http.MethodGet {
				_ = json.NewEncoder(rw).Encode(api.Policies{Policies: []api.RegisteredPolicy{w}, RegistryFingerprint: tc.fingerprint})
				return
			}
			_ = json.NewEncoder(rw).Encode(w)
		})
		_, all := c.Policies().All(t.Context())
		if !errors.Is(all, client.ErrAnswer) {
			t.Errorf("%+v: got %v", tc, all)
		}
		if tc.fingerprint != "" {
			continue
		}
		_, one := c.Policies().Get(t.Context(), "narrow@1")
		if bind := c.Policies().Register(t.Context(), p); !errors.Is(one, client.ErrAnswer) || !errors.Is(bind, client.ErrAnswer) {
			t.Errorf("%+v: got %v, %v", tc, one, bind)
		}
	}
}

// TestHugeAnswers holds that an answer is read up to its bound, announced or not.
func TestHugeAnswers(t *testing.T) {
	for _, announced := range []bool{true, false} {
		c := fake(t, client.Options{AnswerBytes: 1000}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if announced {
				w.Header().Set("Content-Length", strconv.FormatInt(1<<40, 10))
			}
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 4096)); err != nil {
					return
				}
			}
		})
		want := "more than 1000 bytes"
		if announced {
			want = "1099511627776 bytes, want at most 1000"
		}
		if _, err := c.Slices().Cut(t.Context(), client.Request{Anchor: ids[3]}); !errors.Is(err, client.ErrAnswer) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v", err)
		}
	}
	// What fits exactly is taken.
	body := []byte(`{"status":"ok"}`)
	for _, most := range []int64{int64(len(body)), int64(len(body)) - 1} {
		c := fake(t, client.Options{AnswerBytes: most}, told{header: map[string]string{"Content-Type": "application/json"}, body: body}.ServeHTTP)
		if _, err := c.Health(t.Context(), client.Live); (err == nil) != (most == int64(len(body))) {
			t.Errorf("%d bytes: got %v", most, err)
		}
	}
}

func TestHugeRequest(t *testing.T) {
	asked := false
	c := fake(t, client.Options{BodyBytes: 1000}, func(http.ResponseWriter, *http.Request) { asked = true })
	if _, _, err := c.Slices().Verify(t.Context(), make([]byte, 1001)); !errors.Is(err, client.ErrTooLarge) || asked {
		t.Errorf("got %v", err)
	}
}

// TestRedirects holds that nobody is followed, and that the key stays here.
func TestRedirects(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		reached := false
		elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
		defer elsewhere.Close()
		c := fake(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL+r.URL.Path, status) })
		_, err := c.Turns().Get(t.Context(), ids[0])
		_, post := c.Slices().Cut(t.Context(), client.Request{Anchor: ids[0]})
		var stream error
		for _, stream = range c.Events(t.Context(), client.Beginning) {
			break
		}
		if !errors.Is(err, client.ErrAnswer) || !errors.Is(post, client.ErrAnswer) || !errors.Is(stream, client.ErrAnswer) || reached {
			t.Errorf("%d: got %v, %v, %v; reached: %t", status, err, post, stream, reached)
		}
	}
}

// TestRetries holds what is asked again, how often, and after how long.
func TestRetries(t *testing.T) {
	ok := told{header: map[string]string{"Content-Type": "application/json"}, body: []byte(`{"seq":1}`)}
	refused := func(status int, after string) told {
		h := map[string]string{"Content-Type": "application/problem+json"}
		if after != "" {
			h["Retry-After"] = after
		}
		return told{status: status, header: h, body: must(json.Marshal(api.Problem{Code: "overloaded", Detail: "later", Status: status, RequestID: "r1"}))}
	}
	half := ok
	half.cut = true
	const ms = time.Millisecond
	for _, tc := range []struct {
		name    string
		answers []told // the last again and again
		asked   int
		slept   []time.Duration
		status  int // of the problem; 0: none; -1: another error
	}{
		{"good", []told{ok}, 1, nil, 0},
		{"429", []told{refused(429, "2"), ok}, 2, []time.Duration{2250 * ms}, 0},
		{"503", []told{refused(503, "1"), refused(503, "4"), ok}, 3, []time.Duration{1125 * ms, 4500 * ms}, 0},
		{"429 for ever", []told{refused(429, "1")}, 4, []time.Duration{1125 * ms, 1125 * ms, 1125 * ms}, 429},
		{"429, not said when", []told{refused(429, ""), ok}, 1, nil, 429},
		{"503, at a date", []told{refused(503, "Wed, 21 Oct 2026 07:28:00 GMT"), ok}, 1, nil, 503},
		{"503, too late", []told{refused(503, "3600"), ok}, 1, nil, 503},
		{"500", []told{refused(500, "1"), ok}, 1, nil, 500},
		{"504", []told{refused(504, "1"), ok}, 1, nil, 504},
		{"401", []told{refused(401, "1"), ok}, 1, nil, 401},
		{"cut", []told{half, ok}, 2, []time.Duration{75 * ms}, 0},
		{"cut for ever", []told{half}, 4, []time.Duration{75 * ms, 150 * ms, 300 * ms}, -1},
		{"a proxy", []told{{status: 502, header: map[string]string{"Content-Type": "text/html"}, body: []byte("<h1>Bad Gateway")}}, 1, nil, 502},
	} {
		asked := 0
		var slept []time.Duration
		c := fake(t, client.Options{
			Jitter: func() float64 { return 0.5 },
			Sleep: func(_ context.Context, d time.Duration) error {
				slept = append(slept, d)
				return nil
			},
		}, func(w http.ResponseWriter, r *http.Request) {
			a := tc.answers[min(asked, len(tc.answers)-1)]
			asked++
			a.ServeHTTP(w, r)
		})
		_, err := c.Turns().Get(t.Context(), ids[0])
		var p *client.Problem
		status := 0
		if errors.As(err, &p) {
			status = p.Status
		} else if err != nil {
			status = -1
		}
		if status != tc.status || asked != tc.asked || !slices.Equal(slept, tc.slept) {
			t.Errorf("%s: got %v, asked %d times, slept %s; want %d, %d, %s", tc.name, err, asked, slept, tc.status, tc.asked, tc.slept)
		}
		if tc.name == "503, too late" && p.RetryAfter != time.Hour {
			t.Errorf("got %s", p.RetryAfter)
		}
		if tc.name == "cut for ever" && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("got %v", err)
		}
		if tc.name == "a proxy" && (err.Error() != "graphkernel: the answer was 502 Bad Gateway, without a problem document" || p.Code != "") {
			t.Errorf("got %v", err)
		}
	}
}

// TestNothingHeard holds that a connection that cannot be made is tried again, but a
// stream of lines is not.
func TestNothingHeard(t *testing.T) {
	tries := 0
	broken := errors.New("no route to host")
	c := must(client.New("https://kernel.example", "key", awake(client.Options{Attempts: 3, Transport: roundTripper(func(q *http.Request) (*http.Response, error) {
		tries++
		if q.Body != nil {
			_, _ = io.Copy(io.Discard, q.Body)
		}
		return nil, broken
	})})))
	if _, err := c.Turns().Erase(t.Context(), ids[0], "x"); !errors.Is(err, broken) || tries != 3 {
		t.Errorf("got %v after %d tries", err, tries)
	}
	tries = 0
	if _, err := c.Turns().AdmitLines(t.Context(), strings.NewReader("{}\n")); !errors.Is(err, broken) || tries != 1 {
		t.Errorf("a stream: got %v after %d tries", err, tries)
	}
	tries = 0
	if _, err := c.Health(t.Context(), client.Live); !errors.Is(err, broken) || tries != 1 {
		t.Errorf("health: got %v after %d tries", err, tries)
	}
	tries = 0
	for _, err := range c.Events(t.Context(), client.Beginning) {
		if !errors.Is(err, broken) || tries != 3 {
			t.Errorf("events: got %v after %d tries", err, tries)
		}
	}
}

// TestContext holds that ctx ends waiting and asking.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked, slept := 0, 0
	c := fake(t, client.Options{Sleep: func(ctx context.Context, _ time.Duration) error {
		slept++
		cancel()
		return ctx.Err()
	}}, func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(429)
	})
	_, err := c.Turns().Get(ctx, ids[0])
	var p *client.Problem
	if !errors.Is(err, context.Canceled) || !errors.As(err, &p) || asked != 1 {
		t.Errorf("got %v after %d requests", err, asked)
	}
	if _, err := c.Turns().Get(ctx, ids[0]); !errors.Is(err, context.Canceled) || asked != 1 || slept != 1 {
		t.Errorf("got %v after %d requests and %d sleeps", err, asked, slept)
	}
}

// TestNoAnswer holds that nothing is made of an answer that says nothing.
func TestNoAnswer(t *testing.T) {
	for _, body := range []string{"", "null", " null", "[]", "0", `"x"`} {
		c := fake(t, client.Options{}, told{header: map[string]string{"Content-Type": "application/json"}, body: []byte(body)}.ServeHTTP)
		if r, err := c.Turns().Admit(t.Context(), drafts()); !errors.Is(err, client.ErrAnswer) {
			t.Errorf("%q: got %+v, %v", body, r, err)
		}
	}
	c := fake(t, client.Options{}, told{status: 418, header: map[string]string{"X-Request-Id": "r7"}}.ServeHTTP)
	var p *client.Problem
	if _, err := c.Turns().Get(t.Context(), ids[0]); !errors.As(err, &p) || p.RequestID != "r7" || p.Status != 418 {
		t.Errorf("got %v", err)
	}
}

// TestHealthProblem holds that a service that is not well says so without an error.
func TestHealthProblem(t *testing.T) {
	c := fake(t, client.Options{}, told{status: 503, header: map[string]string{"Content-Type": "application/json"}, body: []byte(`{"status":"unavailable","checks":{"store":"does not answer"}}`)}.ServeHTTP)
	if h, err := c.Health(t.Context(), client.Ready); err != nil || h.Status != "unavailable" || h.Checks["store"] != "does not answer" {
		t.Errorf("got %+v, %v", h, err)
	}
	c = fake(t, client.Options{}, told{status: 503, header: map[string]string{"Content-Type": "text/html"}}.ServeHTTP)
	var p *client.Problem
	if _, err := c.Health(t.Context(), client.Ready); !errors.As(err, &p) || p.Status != 503 {
		t.Errorf("got %v", err)
	}
}

// TestEndlessListing holds that a page that leads to itself ends a listing.
func TestEndlessListing(t *testing.T) {
	c := fake(t, client.Options{}, told{header: map[string]string{"Content-Type": "application/json"}, body: []byte(`{"conversations":[{"id":"0b5e0000-0000-4000-8000-000000000001"}],"next":"7"}`)}.ServeHTTP)
	n := 0
	var last error
	for _, err := range c.Turns().Conversations(t.Context()) {
		n++
		last = err
	}
	if n != 2 || !errors.Is(last, client.ErrAnswer) {
		t.Errorf("got %d, %v", n, last)
	}
}

// TestEarlyRefusal holds that a stream that is refused at once is hardly sent.
func TestEarlyRefusal(t *testing.T) {
	s := serve(t, server.Limits{})
	c := s.client(t, "default", access.Auditor, client.Options{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}})
	lines := &endless{}
	if _, err := c.Turns().AdmitLines(t.Context(), lines); !errors.Is(err, api.CodeForbidden) {
		t.Errorf("got %v", err)
	}
	if n := lines.read.Load(); n != 0 {
		t.Errorf("%d bytes were read", n)
	}
}

type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read.Add(int64(len(p)))
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}
