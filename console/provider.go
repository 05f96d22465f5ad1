package console

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"github.com/graphkernel/graphkernel/internal/loopback"
)

// A Provider is an OpenID provider (OpenID Connect Core 1.0) that people sign in with, by an authorization code with PKCE (RFC 7636). The
// token it issues is then presented to the service like any JWT: the service decides whether the token is valid, and what its holder may
// do.
type Provider struct {
	Issuer string       // its URL; its discovery document is below it
	Client string       // the client id of this console at the provider
	Secret string       // of that client; "": it is a public client
	URL    string       // of this console, as browsers know it: the provider sends them back to URL/sign-in/return
	Scopes []string     // in addition to openid
	HTTP   *http.Client // nil: a client that uses the proxy named by the environment, and waits at most 10 seconds
}

// endpoints are the endpoints of a provider, once they were discovered.
type endpoints struct {
	known atomic.Pointer[oauth2.Endpoint]
}

// Check reports what is missing or not allowed.
func (p *Provider) Check() error {
	for _, u := range []struct{ name, text string }{{"issuer", p.Issuer}, {"URL", p.URL}} {
		if !isPrivate(u.text) {
			return fmt.Errorf("console: the %s of a provider is https://HOST, or http to this host; got %.200q", u.name, u.text)
		}
	}
	if p.Client == "" {
		return errors.New("console: the provider needs the id of a client")
	}
	return nil
}

// isPrivate reports whether nobody on the network can read what is sent to a URL.
func isPrivate(text string) bool {
	at, err := url.Parse(text)
	return err == nil && at.Host != "" && at.User == nil && (at.Scheme == "https" || at.Scheme == "http" && loopback.Is(at.Hostname()))
}

// host returns the name of the provider to show to people.
func (p *Provider) host() string {
	u, err := url.Parse(p.Issuer)
	if err != nil {
		return p.Issuer
	}
	return u.Host
}

// client returns the client for requests to the provider. Its timeout is short, because a person is waiting and holds a connection.
func (p *Provider) client() *http.Client {
	if p.HTTP != nil {
		return p.HTTP
	}
	return &http.Client{Timeout: 10 * time.Second}
}

// context returns a context with the client for requests to the provider.
func (p *Provider) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, p.client())
}

// discover asks the provider for its endpoints (OpenID Connect Discovery 1.0), until one request succeeded.
func (e *endpoints) discover(ctx context.Context, p *Provider) (*oauth2.Config, error) {
	known := e.known.Load()
	if known == nil {
		var found struct {
			Issuer string `json:"issuer"`
			Ask    string `json:"authorization_endpoint"`
			Token  string `json:"token_endpoint"`
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(p.Issuer, "/")+"/.well-known/openid-configuration", http.NoBody)
		if err != nil {
			return nil, err
		}
		resp, err := p.client().Do(r)
		if err != nil {
			return nil, refused(http.StatusBadGateway, "the provider %s does not answer", p.host())
		}
		defer func() { _ = resp.Body.Close() }() // it was read
		err = json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&found)
		if resp.StatusCode != http.StatusOK || err != nil || found.Issuer != p.Issuer || found.Ask == "" || found.Token == "" {
			return nil, refused(http.StatusBadGateway, "the provider %s does not describe itself (OpenID Connect Discovery), or names another issuer", p.host())
		}
		if !isPrivate(found.Ask) || !isPrivate(found.Token) {
			return nil, refused(http.StatusBadGateway, "the provider %s would be asked without encryption: its endpoints are not https", p.host())
		}
		known = &oauth2.Endpoint{AuthURL: found.Ask, TokenURL: found.Token}
		e.known.Store(known)
	}
	return &oauth2.Config{
		ClientID: p.Client, ClientSecret: p.Secret, Endpoint: *known,
		RedirectURL: strings.TrimRight(p.URL, "/") + "/sign-in/return", Scopes: append([]string{"openid"}, p.Scopes...),
	}, nil
}

// toProvider redirects a browser to the provider.
func toProvider(v *visit) (*page, error) {
	p := v.config.SignIn
	if p == nil {
		return nil, refused(http.StatusNotFound, "this service has no provider to sign in with")
	}
	c, err := v.endpoints.discover(p.context(v.ctx()), p)
	if err != nil {
		return nil, err
	}
	nonce, err := v.seal.draw()
	if err != nil {
		return nil, err
	}
	// The provider redirects the browser back from another site, so this cookie alone is Lax.
	err = v.begin(v.r.URL.Query().Get("to"), http.SameSiteLaxMode, func(s *signature) { s.Code, s.Nonce = oauth2.GenerateVerifier(), nonce })
	if err != nil {
		return nil, err
	}
	to := c.AuthCodeURL(v.seal.token(v.sign.ID), oauth2.S256ChallengeOption(v.sign.Code), oauth2.SetAuthURLParam("nonce", nonce))
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil, nil
}

// fromProvider handles the browser's return from the provider: it exchanges the code, and signs in with the issued token.
func fromProvider(v *visit) (*page, error) {
	p := v.config.SignIn
	begun := v.cookie(beganCookie, before, before)
	q := v.r.URL.Query()
	if p == nil || begun == nil || begun.Code == "" || !hmac.Equal([]byte(q.Get("state")), []byte(v.seal.token(begun.ID))) {
		return nil, refused(http.StatusForbidden, "this sign-in did not begin here, or it took too long; begin again")
	}
	v.used.add(begun.ID, v.config.Clock().Unix(), v.config.Clock().Add(before).Unix()) // once
	if from := q.Get("iss"); from != "" && from != p.Issuer {                          // RFC 9207
		return nil, refused(http.StatusForbidden, "this answer is from the provider %.200q, but %s was asked", from, p.host())
	}
	if text := q.Get("error"); text != "" {
		return nil, refused(http.StatusForbidden, "the provider %s refused: %.200s %.500s", p.host(), text, q.Get("error_description"))
	}
	ctx := p.context(v.ctx())
	c, err := v.endpoints.discover(ctx, p)
	if err != nil {
		return nil, err
	}
	issued, err := c.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(begun.Code))
	if err != nil { // the error may contain the code
		return nil, refused(http.StatusBadGateway, "the provider %s did not exchange the code of this sign-in", p.host())
	}
	identity, _ := issued.Extra("id_token").(string)
	for _, bearer := range []string{identity, issued.AccessToken} {
		if bearer == "" || strings.Count(bearer, ".") != 2 || bearer == identity && nonceOf(identity) != begun.Nonce {
			continue
		}
		wrong, err := v.signInWith(bearer)
		if err != nil {
			return nil, err
		}
		if wrong == "" {
			// The browser comes from another site, so it would not send the cookie with a redirect.
			return &page{title: "Signed in", content: signedIn(within(begun.To)), onward: within(begun.To)}, nil
		}
	}
	return nil, refused(http.StatusForbidden, "the provider %s signed you in, but the service accepts no token that it issued: the settings oidc.issuer and oidc.audience and the claims of tenant and role have to match", p.host())
}

// nonceOf returns the nonce of a token. The service checks whether the token is valid.
func nonceOf(token string) string {
	var claims struct{ Nonce string }
	parts := strings.Split(token, ".")
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return ""
	}
	return claims.Nonce
}
