package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/graphkernel/graphkernel/client"
	h "github.com/graphkernel/graphkernel/internal/markup"
)

// longestTo is the maximum size, in bytes of JSON, of the path to go on to, so that it fits into a cookie.
const longestTo = 2000

// within returns the path to go on to after a sign-in: to if it is a path of this console, and the home page otherwise.
func within(to string) string {
	if !strings.HasPrefix(to, "/") || h.Address(to) != to || strings.HasPrefix(to, "/sign-") {
		return "/"
	}
	if text, err := json.Marshal(to); err != nil || len(text) > longestTo {
		return "/"
	}
	return to
}

type signInData struct {
	Provider string
	To       string
	Wrong    string
}

// begin sets the cookie that ties a form to its browser.
func (s *session) begin(to string, site http.SameSite, with func(*signature)) error {
	id, err := s.seal.draw()
	if err != nil {
		return err
	}
	now := s.config.Clock().Unix()
	s.sign = &signature{ID: id, Began: now, Seen: now, To: within(to)}
	if with != nil {
		with(s.sign)
	}
	return s.set(beganCookie, s.sign, before, site)
}

func signInPage(v *visit) (*page, error) {
	to := v.r.URL.Query().Get("to")
	if err := v.begin(to, http.SameSiteStrictMode, nil); err != nil {
		return nil, err
	}
	return v.signInForm(within(to), ""), nil
}

func (v *visit) signInForm(to, wrong string) *page {
	data := &signInData{To: to, Wrong: wrong}
	if v.config.SignIn != nil {
		data.Provider = v.config.SignIn.host()
	}
	return &page{title: "Sign in", content: data}
}

func (d *signInData) body(token string) h.Node {
	return h.Group{
		h.H1(h.Text("Sign in")), wrong(d.Wrong),
		h.If(d.Provider != "", h.P(h.A(h.Class("button"), h.Href("/sign-in/provider?"+query("to", d.To)), h.Text("Sign in with "+d.Provider))), h.P(h.Text("Or with an API key:"))),
		post("stack", "/sign-in", token, hidden("to", d.To),
			field("key", "API key", "key", h.Type("password"), h.AutoComplete("current-password"), h.SpellCheck("false"), h.Required(), h.AutoFocus(), h.Aria("describedby", "key-help")),
			h.P(h.ID("key-help"), h.Class("dim"), h.Text("It begins with "), code("gk1."), h.Text(" and "), code("graphkernel apikey create --role auditor"), h.Text(" makes one, which may read everything and change nothing. Your browser keeps it sealed, until half an hour after the last page.")),
			h.P(button("Sign in"))),
	}
}

// A signedIn is the path to go on to after signing in with a provider.
type signedIn string

func (to signedIn) body(string) h.Node {
	return h.Group{h.H1(h.Text("Signed in")), h.P(link(string(to), h.Text("Go on")))}
}

// signIn signs in with a key.
func signIn(v *visit) (*page, error) {
	to := within(v.r.PostFormValue("to"))
	wrong, err := v.signInWith(strings.TrimSpace(v.r.PostFormValue("key")))
	if err != nil {
		return nil, err
	}
	if wrong != "" {
		v.answer(http.StatusUnauthorized, v.signInForm(to, wrong))
		return nil, nil
	}
	return &page{to: to}, nil
}

// signInWith asks the service whether a bearer token is valid, and sets the cookie. If it is not, it returns what is wrong.
func (s *session) signInWith(bearer string) (wrong string, err error) {
	if bearer == "" {
		return "Give an API key.", nil
	}
	if s.use(bearer) != nil { // the error does not contain the key
		return "That is no API key: it holds spaces or other signs.", nil
	}
	_, err = s.client.Caller(s.ctx())
	var problem *client.Problem
	if errors.As(err, &problem) && problem.Status == http.StatusUnauthorized {
		return "The service does not know this key, or it was revoked.", nil
	}
	if err != nil {
		return "", err
	}
	id, err := s.seal.draw() // a new id: an attacker may have fixed the old one
	if err != nil {
		return "", err
	}
	now := s.config.Clock().Unix()
	if before := s.cookie(signedCookie, idle, whole); before != nil {
		s.end(before) // this browser forgets it, so nobody could end it later
	}
	s.clear(beganCookie)
	return "", s.set(signedCookie, &signature{ID: id, Key: bearer, Began: now, Seen: now}, idle, http.SameSiteStrictMode)
}

// signOut ends a sign-in.
func signOut(v *visit) (*page, error) {
	if v.sign != nil && v.sign.Key != "" { // not a sign-in that has only begun: anybody can make as many of those as they like
		v.end(v.sign)
	}
	v.clear(signedCookie)
	return &page{to: "/sign-in"}, nil
}
