package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestAttackForgetting signs out so often that there is no room to remember it: no sign-out may be forgotten.
func TestAttackForgetting(t *testing.T) {
	var e ended
	stolen := &signature{ID: "stolen", Began: 1000}
	e.add(stolen.ID, 1010, 3000)
	closed := 0
	forget := e.watch(&signature{ID: "open", Began: 1000}, func() { closed++ })
	defer forget()
	for i := range mostEnded + 10 {
		e.add(fmt.Sprint(i), 1020, 3000)
		if !e.has(stolen) {
			t.Fatalf("after %d more sign-outs the first one is forgotten", i)
		}
	}
	if len(e.until) > mostEnded || closed != 1 {
		t.Errorf("%d are remembered, %d streams were closed", len(e.until), closed)
	}
	if e.has(&signature{ID: "new", Began: 1021}) {
		t.Error("a sign-in of afterwards has ended")
	}
	e = ended{}
	for i := range mostEnded {
		e.add(fmt.Sprint(i), 1000, 1100)
	}
	if e.add("later", 1200, 1300); len(e.until) != 1 || e.upTo != 0 {
		t.Errorf("%d are remembered, up to %d: those that ended by themselves take room", len(e.until), e.upTo)
	}
}

// TestAttackForgettingByStrangers signs out without having signed in: anybody could, as often as they like.
func TestAttackForgettingByStrangers(t *testing.T) {
	co, err := New(Config{Service: http.NotFoundHandler(), Clock: func() time.Time { return time.Unix(1000, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	form := httptest.NewRecorder()
	co.ServeHTTP(form, httptest.NewRequest(http.MethodGet, "/sign-in", http.NoBody))
	token := regexp.MustCompile(`name="token" value="([0-9a-f]+)"`).FindStringSubmatch(form.Body.String())
	if len(form.Result().Cookies()) != 1 || token == nil {
		t.Fatalf("%d\n%s", form.Code, form.Body)
	}
	r := httptest.NewRequest(http.MethodPost, "/sign-out", strings.NewReader("token="+token[1]))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(form.Result().Cookies()[0])
	answer := httptest.NewRecorder()
	if co.ServeHTTP(answer, r); answer.Code != http.StatusSeeOther || len(co.ended.until) != 0 {
		t.Errorf("%d; %d sign-outs are remembered", answer.Code, len(co.ended.until))
	}
}
