package console

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
)

// How long a sign-in is valid.
const (
	idle   = 30 * time.Minute // after the last page
	whole  = 12 * time.Hour   // after it began
	renew  = time.Minute      // an older cookie is renewed
	before = 10 * time.Minute // from the form to its answer
)

// The names of the cookies. A cookie that was set over TLS has the prefix that prevents other hosts and plain HTTP from setting it.
const (
	signedCookie = "graphkernel"
	beganCookie  = "graphkernel_begin"
	securePrefix = "__Host-"
)

// maxCookie is the maximum length of a cookie's value. Browsers drop longer ones.
const maxCookie = 3800

// A signature is the content of a sign-in's cookie.
type signature struct {
	ID    string `json:"i"`
	Key   string `json:"k,omitempty"`
	Began int64  `json:"b"` // Unix seconds
	Seen  int64  `json:"s"`
	To    string `json:"t,omitempty"` // of a sign-in that has begun: the path to go on to
	Code  string `json:"c,omitempty"` // the verifier of PKCE
	Nonce string `json:"n,omitempty"`
}

// A seal encrypts cookies, so that only this service can read or make them.
type seal struct {
	aead   cipher.AEAD
	mac    []byte
	random io.Reader
}

func newSeal(secret []byte, random io.Reader) (seal, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "graphkernel console cookie", 32)
	if err != nil {
		return seal{}, err
	}
	mac, err := hkdf.Key(sha256.New, secret, nil, "graphkernel console token", 32)
	if err != nil {
		return seal{}, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return seal{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return seal{aead, mac, random}, err
}

// close returns the value of the cookie with a name. A value is valid only under its name.
func (s *seal) close(name string, sign *signature) (string, error) {
	text, err := json.Marshal(sign)
	if err != nil {
		return "", err
	}
	value := base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, []byte(name)))
	if len(value) > maxCookie {
		return "", refused(http.StatusRequestHeaderFieldsTooLarge, "the token has %d bytes, too many for a cookie", len(sign.Key))
	}
	return value, nil
}

var errSeal = errors.New("the cookie was not made by this service")

func (s *seal) open(name, value string) (*signature, error) {
	closed, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		return nil, errSeal
	}
	text, err := s.aead.Open(nil, nil, closed, []byte(name))
	if err != nil {
		return nil, errSeal
	}
	sign := new(signature)
	return sign, json.Unmarshal(text, sign)
}

// token returns the token for the forms of a signed-in browser, which no other site can send.
func (s *seal) token(id string) string {
	h := hmac.New(sha256.New, s.mac)
	h.Write([]byte(id))
	return hex.EncodeToString(h.Sum(nil))
}

// draw returns a random id for a sign-in.
func (s *seal) draw() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(s.random, b[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(b[:]), nil
}

// ended are the sign-ins that were signed out before they expired, and the open streams of all others. Other processes of the service do
// not know about them.
type ended struct {
	mu      sync.Mutex
	until   map[string]int64
	upTo    int64                     // every sign-in that began up to then has ended, because there was no room to list them
	open    map[string]map[int]func() // by sign-in: functions that close its open streams
	watched int
}

// mostEnded limits the memory of ended. If that many people sign out within half an hour, everybody has to sign in again: no sign-out is
// forgotten.
const mostEnded = 100_000

// add ends a sign-in. It is remembered until its cookie has expired.
func (e *ended) add(id string, now, until int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.until) >= mostEnded {
		maps.DeleteFunc(e.until, func(_ string, until int64) bool { return until < now })
	}
	if len(e.until) >= mostEnded {
		clear(e.until)
		e.upTo = now
		for _, list := range e.open {
			closeAll(list)
		}
	}
	if e.until == nil {
		e.until = map[string]int64{}
	}
	e.until[id] = until
	closeAll(e.open[id])
}

func closeAll(list map[int]func()) {
	for _, end := range list {
		end()
	}
}

func (e *ended) has(s *signature) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, found := e.until[s.ID]
	return found || s.Began <= e.upTo
}

// watch registers a function to call when a sign-in is ended, until forget is called.
func (e *ended) watch(s *signature, end func()) (forget func()) {
	e.mu.Lock()
	e.watched++
	n := e.watched
	if e.open == nil {
		e.open = map[string]map[int]func(){}
	}
	if e.open[s.ID] == nil {
		e.open[s.ID] = map[int]func(){}
	}
	e.open[s.ID][n] = end
	e.mu.Unlock()
	if e.has(s) { // it was ended in the meantime
		end()
	}
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if delete(e.open[s.ID], n); len(e.open[s.ID]) == 0 {
			delete(e.open, s.ID)
		}
	}
}

// secure reports whether the browser used TLS, as seen by this process or reported by a proxy. A client that forges the report only
// prevents its own cookies from being sent over plain HTTP.
func secure(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

func cookieName(r *http.Request, name string) string {
	if secure(r) {
		return securePrefix + name
	}
	return name
}

// A session is who visits, as far as a key or a cookie says.
type session struct {
	*Console
	asker
	who  *api.Caller // nil: nobody is signed in
	sign *signature  // nil: there is no cookie
}

// set stores a signature in a cookie.
func (s *session) set(name string, sign *signature, lasts time.Duration, site http.SameSite) error {
	name = cookieName(s.r, name)
	value, err := s.seal.close(name, sign)
	if err != nil {
		return err
	}
	http.SetCookie(s.w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(lasts / time.Second), HttpOnly: true, Secure: secure(s.r), SameSite: site})
	return nil
}

// clear deletes cookies.
func (s *session) clear(names ...string) {
	for _, name := range names {
		http.SetCookie(s.w, &http.Cookie{Name: cookieName(s.r, name), Path: "/", MaxAge: -1, HttpOnly: true, Secure: secure(s.r), SameSite: http.SameSiteStrictMode})
	}
	s.sign, s.who = nil, nil
}

// cookie opens a cookie. It returns nil if there is no valid one. If there are several with the name, which other services of this host can
// set over plain HTTP, it returns the first valid one.
func (s *session) cookie(name string, idle, whole time.Duration) *signature {
	memory := &s.ended
	if name == beganCookie {
		memory = &s.used
	}
	name = cookieName(s.r, name)
	now := s.config.Clock()
	for _, c := range s.r.CookiesNamed(name) {
		sign, err := s.seal.open(name, c.Value)
		if err == nil && !memory.has(sign) && now.Sub(time.Unix(sign.Seen, 0)) < idle && now.Sub(time.Unix(sign.Began, 0)) < whole {
			return sign
		}
	}
	return nil
}

// end ends a sign-in. It is remembered for longer than its cookie lasts, because a request in progress may renew the cookie.
func (s *session) end(sign *signature) {
	now := s.config.Clock()
	s.ended.add(sign.ID, now.Unix(), now.Add(idle+renew).Unix())
}

// left returns how long a sign-in stays valid without further pages.
func (s *session) left(sign *signature) time.Duration {
	now := s.config.Clock()
	return min(idle-now.Sub(time.Unix(sign.Seen, 0)), whole-now.Sub(time.Unix(sign.Began, 0)))
}

// enter identifies the caller, by the header that the service accepts or else by the cookie.
func (s *session) enter() error {
	bearer, brought := strings.CutPrefix(s.r.Header.Get("Authorization"), "Bearer ")
	if !brought {
		if s.sign = s.cookie(signedCookie, idle, whole); s.sign == nil {
			return errNobody
		}
		bearer = s.sign.Key
	}
	if err := s.use(bearer); err != nil {
		return refused(http.StatusUnauthorized, "%v", err)
	}
	who, err := s.client.Caller(s.ctx())
	var problem *client.Problem
	if !brought && errors.As(err, &problem) && problem.Status == http.StatusUnauthorized {
		s.clear(signedCookie) // the key was revoked
		return errNobody
	}
	if err != nil {
		return err
	}
	s.who = &who
	if now := s.config.Clock(); s.sign != nil && now.Sub(time.Unix(s.sign.Seen, 0)) >= renew && s.r.URL.Path != "/live" { // a stream reconnects by itself, so it does not show that anybody is reading
		s.sign.Seen = now.Unix()
		return s.set(signedCookie, s.sign, idle, http.SameSiteStrictMode)
	}
	return nil
}

// own rejects a form that another site made the browser send. A caller with a key in a header is exempt: a browser does not send such a
// request by itself.
func (s *session) own() error {
	if site := s.r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return refused(http.StatusForbidden, "this form was sent from another site (Sec-Fetch-Site: %.20s)", site)
	}
	if origin := s.r.Header.Get("Origin"); origin != "" && origin != "http://"+s.r.Host && origin != "https://"+s.r.Host {
		return refused(http.StatusForbidden, "this form was sent from another site (Origin: %.100s)", origin)
	}
	if s.bearer != "" && s.sign == nil { // the key came in the header. Other Authorization headers may belong to a proxy, and browsers add them by themselves
		return nil
	}
	sign := s.sign
	if sign == nil {
		if sign = s.cookie(signedCookie, idle, whole); sign == nil || strings.HasPrefix(s.r.URL.Path, "/sign-in") {
			sign = s.cookie(beganCookie, before, before)
		}
	}
	if sign == nil {
		return refused(http.StatusForbidden, "this form is too old, or your browser takes no cookies; load the page again")
	}
	s.sign = sign
	if given := s.r.PostFormValue("token"); !hmac.Equal([]byte(given), []byte(s.seal.token(sign.ID))) {
		return refused(http.StatusForbidden, "this service did not make this form for you; load the page again")
	}
	return nil
}

func (s *session) may(p access.Permission) bool {
	return s.who != nil && access.Role(s.who.Role).May(p)
}
