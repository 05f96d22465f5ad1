package browser

import (
	"net/http"
	"os"
	"regexp"
	"testing"
)

// elsewhere are routes that are no page to look at, with what holds them.
var elsewhere = map[string]string{
	"GET /live": "TestLive", "GET /slices/{id}/{file}": "TestVerifies", "GET /sign-in": "TestAccessible", "POST /sign-in": "TestKeyboard", "POST /sign-out": "TestKeyboard",
	"POST /policies": "TestWithoutJavaScript", "POST /keys": "TestWithoutJavaScript", "POST /keys/{id}/revoke": "TestRevoke", "POST /check": "TestCheck",
	"GET /sign-in/provider": "the tests of package console", "GET /sign-in/return": "the tests of package console", "GET /contexts": "TestNoPage of package console",
}

var routeLine = regexp.MustCompile(`(?m)^\t\{"((?:GET|POST) [^"]+)", `)

// TestEveryRoute compares the pages that are looked at with the routes of the console: a new page is looked at, too.
func TestEveryRoute(t *testing.T) {
	t.Parallel()
	routes := routeLine.FindAllStringSubmatch(string(must(os.ReadFile("../console/console.go"))), -1)
	if len(routes) < 20 {
		t.Fatalf("only %d routes were found", len(routes))
	}
	mux, looked := http.NewServeMux(), map[string]bool{}
	for _, r := range routes {
		mux.HandleFunc(r[1], http.NotFound)
	}
	for _, p := range open(t).pages() {
		_, pattern := mux.Handler(must(http.NewRequest(http.MethodGet, p.path, nil)))
		looked[pattern] = true
	}
	for _, r := range routes {
		if !looked[r[1]] && elsewhere[r[1]] == "" {
			t.Errorf("no page that is looked at is of %q: add one to pages", r[1])
		}
	}
}
