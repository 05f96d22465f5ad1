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

	"github.com/graphkernel/graphkernel/client"
)

// How long a sign-in holds.
const (
	idle   = 30 * time.Minute // after the last page
	whole  = 12 * time.Hour   // after it began
	renew  = time.Minute      // a cookie that is older is made anew
	before = 10 * time.Minute // from the form to its answer
)

// The names of the cookies. One that a browser took over TLS has the prefix that keeps other hosts and plain HTTP from setting it.
const (
	signedCookie = "graphkernel"
	beganCookie  = "graphkernel_begin"
	securePrefix = "__Host-"
)

// maxCookie is how long a cookie's value may be. Browsers drop longer ones.
const maxCookie = 3800

// A signature is a sign-in, as its cookie has it.
type signature struct {
	ID    string `json:"i"`
	Key   string `json:"k,omitempty"`
	Began int64  `json:"b"` // Unix seconds
	Seen  int64  `json:"s"`
	To    string `json:"t,omitempty"` // of a sign-in that has begun: where to go on to
	Code  string `json:"c,omitempty"` // the verifier of PKCE
	Nonce string `json:"n,omitempty"`
}

// A seal closes cookies, so that only this service reads them and makes them.
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

// close writes a signature for the cookie of a name: one cookie is no other.
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

var errSeal = errors.New("this is no cookie of this service")

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

// token is what a form of a signed-in browser carries, so that no other site can send it.
func (s *seal) token(id string) string {
	h := hmac.New(sha256.New, s.mac)
	h.Write([]byte(id))
	return hex.EncodeToString(h.Sum(nil))
}

// draw draws the id of a sign-in.
func (s *seal) draw() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(s.random, b[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(b[:]), nil
}

// ended are sign-ins that were signed out before they ended by themselves, and what is open on behalf of the others. Other processes of the service do not
// know of them.
type ended struct {
	mu      sync.Mutex
	until   map[string]int64
	upTo    int64                     // whatever began up to then has ended, since there was no more room to say what has
	open    map[string]map[int]func() // by sign-in: what ends each thing that is open
	watched int
}

// mostEnded bounds the memory of ended. Where so many sign out within half an hour, everybody has to sign in again: no sign-out is forgotten.
const mostEnded = 100_000

// add ends a sign-in. It is remembered until then, when its cookie has ended by itself.
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

// watch has a function called when a sign-in is ended, until forget is called.
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
	if e.has(s) { // it was ended meanwhile
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

// secure reports whether the browser came over TLS, as far as this process or a proxy says so. A client that says so of itself only
// keeps its own cookies from plain HTTP.
func secure(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

func cookieName(r *http.Request, name string) string {
	if secure(r) {
		return securePrefix + name
	}
	return name
}

// set puts a signature into a cookie.
func (v *visit) set(name string, sign *signature, lasts time.Duration, site http.SameSite) error {
	name = cookieName(v.r, name)
	value, err := v.seal.close(name, sign)
	if err != nil {
		return err
	}
	http.SetCookie(v.w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: int(lasts / time.Second), HttpOnly: true, Secure: secure(v.r), SameSite: site})
	return nil
}

// clear takes cookies away.
func (v *visit) clear(names ...string) {
	for _, name := range names {
		http.SetCookie(v.w, &http.Cookie{Name: cookieName(v.r, name), Path: "/", MaxAge: -1, HttpOnly: true, Secure: secure(v.r), SameSite: http.SameSiteStrictMode})
	}
	v.sign, v.who = nil, nil
}

// cookie opens a cookie. It returns nil if there is none that holds. Of several with the name, such as other services of this host may set over plain
// HTTP, it is the first that holds.
func (v *visit) cookie(name string, idle, whole time.Duration) *signature {
	memory := &v.ended
	if name == beganCookie {
		memory = &v.used
	}
	name = cookieName(v.r, name)
	now := v.config.Clock()
	for _, c := range v.r.CookiesNamed(name) {
		sign, err := v.seal.open(name, c.Value)
		if err == nil && !memory.has(sign) && now.Sub(time.Unix(sign.Seen, 0)) < idle && now.Sub(time.Unix(sign.Began, 0)) < whole {
			return sign
		}
	}
	return nil
}

// end ends a sign-in. Its cookie may be renewed by a request that is on its way.
func (v *visit) end(sign *signature) {
	now := v.config.Clock()
	v.ended.add(sign.ID, now.Unix(), now.Add(idle+renew).Unix())
}

// left is how long a sign-in holds if no page is asked for.
func (v *visit) left(sign *signature) time.Duration {
	now := v.config.Clock()
	return min(idle-now.Sub(time.Unix(sign.Seen, 0)), whole-now.Sub(time.Unix(sign.Began, 0)))
}

// enter finds who asks: by the header that the service takes, or else by the cookie.
func (v *visit) enter() error {
	bearer, brought := strings.CutPrefix(v.r.Header.Get("Authorization"), "Bearer ")
	if !brought {
		if v.sign = v.cookie(signedCookie, idle, whole); v.sign == nil {
			return errNobody
		}
		bearer = v.sign.Key
	}
	if err := v.use(bearer); err != nil {
		return refused(http.StatusUnauthorized, "%v", err)
	}
	who, err := v.client.Caller(v.ctx())
	var problem *client.Problem
	if !brought && errors.As(err, &problem) && problem.Status == http.StatusUnauthorized {
		v.clear(signedCookie) // the key has ended
		return errNobody
	}
	if err != nil {
		return err
	}
	v.who = &who
	if now := v.config.Clock(); v.sign != nil && now.Sub(time.Unix(v.sign.Seen, 0)) >= renew && v.r.URL.Path != "/live" { // a stream is opened again by itself, and is no sign of a reader
		v.sign.Seen = now.Unix()
		return v.set(signedCookie, v.sign, idle, http.SameSiteStrictMode)
	}
	return nil
}

// own refuses a form that another site made the browser send. Who brings a key in a header sends no form.
func (v *visit) own() error {
	if site := v.r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return refused(http.StatusForbidden, "this form was sent from another site (Sec-Fetch-Site: %.20s)", site)
	}
	if origin := v.r.Header.Get("Origin"); origin != "" && origin != "http://"+v.r.Host && origin != "https://"+v.r.Host {
		return refused(http.StatusForbidden, "this form was sent from another site (Origin: %.100s)", origin)
	}
	if v.bearer != "" && v.sign == nil { // the key came in the header. Any other Authorization may be of a proxy, which a browser adds by itself
		return nil
	}
	sign := v.sign
	if sign == nil {
		if sign = v.cookie(signedCookie, idle, whole); sign == nil || strings.HasPrefix(v.r.URL.Path, "/sign-in") {
			sign = v.cookie(beganCookie, before, before)
		}
	}
	if sign == nil {
		return refused(http.StatusForbidden, "this form is too old, or your browser takes no cookies; load the page again")
	}
	v.sign = sign
	if given := v.r.PostFormValue("token"); !hmac.Equal([]byte(given), []byte(v.seal.token(sign.ID))) {
		return refused(http.StatusForbidden, "this form is not one that this service made for you; load the page again")
	}
	return nil
}
