package endpoint_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/internal/endpoint"
)

const secretKey = "sk-never-shown"

// A server answers a request without a network.
type server func(r *http.Request) (*http.Response, error)

func (s server) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

// answer makes an answer; header has names and values in turn.
func answer(status int, body string, header ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// asking makes an endpoint over a server. It notes how long it would have slept.
func asking(t *testing.T, s server, slept *[]time.Duration) *endpoint.Endpoint {
	t.Helper()
	x, err := endpoint.New(endpoint.Config{Access: endpoint.Access{
		URL: "https://models.example/v1", Key: secretKey, Client: &http.Client{Transport: s}, Clock: func() time.Time { return noon },
		Sleep: func(_ context.Context, d time.Duration) error { *slept = append(*slept, d); return nil },
	}, Path: "/chat/completions", Model: "small", Most: 100})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestAddresses makes endpoints of addresses: those that are none are refused, and so is one to which turns would travel in the clear.
func TestAddresses(t *testing.T) {
	long := "https://host/" + strings.Repeat("x", endpoint.MaxURL-len("https://host//chat"))
	for _, c := range []struct {
		url, want string
		plaintext bool
		err       error
	}{
		{"https://host/v1", "https://host/v1/chat", false, nil},
		{"https://host/v1//", "https://host/v1/chat", false, nil},
		{"https://host/v1/chat", "https://host/v1/chat", false, nil},
		{"http://127.0.0.1:8000", "http://127.0.0.1:8000/chat", false, nil},
		{"http://[::1]/v1", "http://[::1]/v1/chat", false, nil},
		{"http://host/v1", "http://host/v1/chat", true, nil},
		{long, long + "/chat", false, nil},
		{long + "x", "", false, endpoint.ErrEndpoint},
		{"http://host/v1", "", false, endpoint.ErrPlaintext},
		{"http://127.0.0.1.host/v1", "", false, endpoint.ErrPlaintext},
		{"http://localhost.host/v1", "", false, endpoint.ErrPlaintext},
		{"ftp://host", "", true, endpoint.ErrEndpoint},
		{"https:///v1", "", false, endpoint.ErrEndpoint},
		{"host/v1", "", false, endpoint.ErrEndpoint},
		{"", "", false, endpoint.ErrEndpoint},
		{"https://user:" + secretKey + "@host", "", false, endpoint.ErrEndpoint},
		{"https://user:" + secretKey + "@ho st", "", false, endpoint.ErrEndpoint},
		{"https://host?key=" + secretKey, "", false, endpoint.ErrEndpoint},
		{"https://host?", "", false, endpoint.ErrEndpoint},
		{"https://host#" + secretKey, "", false, endpoint.ErrEndpoint},
	} {
		x, err := endpoint.New(endpoint.Config{Access: endpoint.Access{URL: c.url, AllowPlaintext: c.plaintext}, Path: "/chat"})
		if !errors.Is(err, c.err) || err == nil && x.URL() != c.want {
			t.Errorf("%s: %v, %v, want %q, %v", c.url, x, err, c.want, c.err)
		}
		if err != nil && strings.Contains(err.Error(), secretKey) {
			t.Errorf("%s: the error shows the password: %v", c.url, err)
		}
	}
	for _, key := range []string{"a b", "a\n", "\x00", "é", "\x7f"} {
		if _, err := endpoint.New(endpoint.Config{Access: endpoint.Access{URL: "https://host", Key: key}}); !errors.Is(err, endpoint.ErrEndpoint) {
			t.Errorf("key %q: %v, want ErrEndpoint", key, err)
		}
	}
}

// TestRefusals has an endpoint refuse with every status, and repeat the key. Who is told whether another question may fare better, and nobody sees the key.
func TestRefusals(t *testing.T) {
	for status := 201; status < 600; status++ {
		asked := 0
		var slept []time.Duration
		x := asking(t, func(r *http.Request) (*http.Response, error) {
			if asked++; r.Header.Get("Authorization") != "Bearer "+secretKey || r.Method != http.MethodPost {
				t.Errorf("%s with the headers %v", r.Method, r.Header)
			}
			return answer(status, "no: "+secretKey, "Location", "https://elsewhere.example/"), nil
		}, &slept)
		text, tries, err := x.Post(t.Context(), []byte("{}"))
		var unusable *endpoint.UnusableError
		want := 1
		if status == 429 || status >= 500 {
			want = endpoint.MaxTries
		}
		if text != nil || err == nil || tries != want || asked != want || len(slept) != want-1 {
			t.Errorf("%d: %q, %d tries, %d asked, slept %v, %v, want %d tries", status, text, tries, asked, slept, err, want)
			continue
		}
		if errors.As(err, &unusable) != (status == 400 || status == 413 || status == 422) {
			t.Errorf("%d: %v is about this question: %t", status, err, unusable != nil)
		}
		if strings.Contains(err.Error(), secretKey) || !strings.Contains(err.Error(), fmt.Sprint(status)) || strings.Contains(err.Error(), "redirect") != (status < 400 && status >= 300) {
			t.Errorf("%d: the error is %v", status, err)
		}
	}
}

// TestKeyIsHidden prints an endpoint in every way.
func TestKeyIsHidden(t *testing.T) {
	x := asking(t, nil, new([]time.Duration))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{x, *x, []any{x}} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, secretKey) || strings.Contains(text, fmt.Sprintf("%x", secretKey)) {
				t.Errorf("%s shows the key: %s", verb, text)
			}
		}
	}
}

// TestWaits asks again after the time that the endpoint names, but never sooner than after one that doubles, and not after more than MaxWait.
func TestWaits(t *testing.T) {
	second := time.Second
	for after, want := range map[string][]time.Duration{
		"":                              {1 * second, 2 * second, 4 * second, 8 * second},
		"5":                             {5 * second, 5 * second, 5 * second, 8 * second},
		"60":                            {60 * second, 60 * second, 60 * second, 60 * second},
		"61":                            nil,
		"4000000000":                    {1 * second, 2 * second, 4 * second, 8 * second}, // no number of seconds that anybody waits
		"-5":                            {1 * second, 2 * second, 4 * second, 8 * second},
		"soon":                          {1 * second, 2 * second, 4 * second, 8 * second},
		"Fri, 02 Jan 2026 12:00:03 GMT": {3 * second, 3 * second, 4 * second, 8 * second},
		"Fri, 02 Jan 2026 11:00:00 GMT": {1 * second, 2 * second, 4 * second, 8 * second},
		"Fri, 02 Jan 2026 12:01:01 GMT": nil,
	} {
		var slept []time.Duration
		x := asking(t, func(*http.Request) (*http.Response, error) { return answer(503, "busy", "Retry-After", after), nil }, &slept)
		_, tries, err := x.Post(t.Context(), nil)
		if err == nil || tries != len(want)+1 || !slices.Equal(slept, want) || (want == nil) != strings.Contains(err.Error(), "ask again then") {
			t.Errorf("Retry-After %q: slept %v in %d tries, %v, want %v", after, slept, tries, err, want)
		}
	}
}

// TestAnswers reads an answer of the most bytes and refuses a longer one; an answer after a refusal counts.
func TestAnswers(t *testing.T) {
	for _, size := range []int{0, 99, 100, 101, 1000} {
		asked := 0
		var slept []time.Duration
		x := asking(t, func(r *http.Request) (*http.Response, error) {
			if body, err := io.ReadAll(r.Body); err != nil || string(body) != "the request" {
				t.Errorf("asked %q, %v", body, err)
			}
			if asked++; asked == 1 {
				return answer(500, strings.Repeat("long", 1000)), nil
			}
			return answer(200, strings.Repeat("x", size)), nil
		}, &slept)
		text, tries, err := x.Post(t.Context(), []byte("the request"))
		var unusable *endpoint.UnusableError
		if tries != 2 || (size <= 100) != (err == nil) || (size > 100) != errors.As(err, &unusable) || err == nil && len(text) != size {
			t.Errorf("an answer of %d bytes: %q, %d tries, %v", size, text, tries, err)
		}
	}
}

// TestEnds ends the asking: by the context, while it asks and while it waits, and by the time of one try.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hangs := server(func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() })
	config := endpoint.Config{Access: endpoint.Access{URL: "https://host", Key: secretKey, Timeout: time.Nanosecond, Client: &http.Client{Transport: hangs}}, Model: "small", Most: 10}
	x, err := endpoint.New(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, tries, err := x.Post(ctx, nil); tries != 1 || err == nil || !strings.Contains(err.Error(), "no answer within 1ns") {
		t.Errorf("a try that takes too long: %d, %v", tries, err)
	}
	config.Timeout, config.Client = 0, &http.Client{Transport: server(func(*http.Request) (*http.Response, error) { cancel(); return answer(503, ""), nil })}
	if x, err = endpoint.New(config); err != nil {
		t.Fatal(err)
	}
	if _, tries, err := x.Post(ctx, nil); tries != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("the context ended while it waited: %d, %v", tries, err)
	}
	config.Client = &http.Client{Transport: server(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") })}
	if x, err = endpoint.New(config); err != nil {
		t.Fatal(err)
	}
	if _, tries, err := x.Post(t.Context(), nil); tries != 1 || err == nil || err.Error() != "asking https://host: no route" {
		t.Errorf("no connection: %d, %v", tries, err)
	}
}
