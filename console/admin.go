package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
)

// problemIn is the service's problem in an error, or nil.
func problemIn(err error) *client.Problem {
	var p *client.Problem
	errors.As(err, &p)
	return p
}

type policiesData struct {
	List  []policyLine
	May   bool // register
	Text  string
	Wrong string
}

type policyLine struct {
	api.RegisteredPolicy
	Type string
}

func (v *visit) may(p access.Permission) bool {
	return v.who != nil && access.Role(v.who.Role).May(p)
}

func policies(v *visit) (*page, error) { return v.policies("", "") }

func (v *visit) policies(text, wrong string) (*page, error) {
	got, err := ask(v, api.ListPolicies, api.None{})
	if err != nil {
		return nil, err
	}
	d := policiesData{May: v.may(access.Register), Text: text, Wrong: wrong}
	for _, p := range got.Policies {
		var kind struct{ Type string }
		_ = json.Unmarshal(p.Policy, &kind) // its type is shown if it has one
		d.List = append(d.List, policyLine{p, kind.Type})
	}
	return &page{"Policies", "policies", &d, ""}, nil
}

// registerPolicy registers what the form has: an id and parameters, as the command takes them.
func registerPolicy(v *visit) (*page, error) {
	text := v.r.PostFormValue("policy")
	var in api.PolicyRegistration
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return v.again(text, "That is no JSON of the form {\"policy_id\":…,\"policy\":{…}}: "+err.Error())
	}
	got, err := ask(v, api.RegisterPolicy, in)
	if p := problemIn(err); p != nil && p.Status < 500 && p.Status != http.StatusUnauthorized {
		return v.again(text, p.Detail)
	}
	if err != nil {
		return nil, err
	}
	return &page{to: "/policies/" + got.PolicyID}, nil
}

func (v *visit) again(text, wrong string) (*page, error) {
	p, err := v.policies(text, wrong)
	if err == nil {
		v.answer(http.StatusUnprocessableEntity, p)
	}
	return nil, err
}

type policyData struct {
	api.RegisteredPolicy
	Parameters []parameter
	JSON       string
}

func policyPage(v *visit) (*page, error) {
	got, err := ask(v, api.GetPolicy, api.PolicyByID{PolicyID: v.r.PathValue("id")})
	if err != nil {
		return nil, err
	}
	of := map[string]any{}
	if err := json.Unmarshal(got.Policy, &of); err != nil {
		return nil, fmt.Errorf("policy %s cannot be read: %w", got.PolicyID, err)
	}
	whole, err := json.MarshalIndent(map[string]any{"policy_id": got.PolicyID, "policy": of}, "", "  ")
	return &page{"Policy " + got.PolicyID, "policy", policyData{got, parameters("", of), string(whole)}, ""}, err
}

type keysData struct {
	Tenant string
	Keys   []api.APIKey
	Made   *api.MadeAPIKey
	Ask    string // the id of a key that is to be revoked: a question comes first
	Wrong  string
	Roles  []access.Role
	Self   string
}

func keys(v *visit) (*page, error) { return v.keys(nil, "") }

func (v *visit) keys(made *api.MadeAPIKey, wrong string) (*page, error) {
	got, err := ask(v, api.ListKeys, api.None{})
	if err != nil {
		return nil, err
	}
	d := keysData{Tenant: got.Tenant, Keys: got.Keys, Made: made, Wrong: wrong, Ask: v.r.URL.Query().Get("revoke"), Roles: access.Roles[:]}
	if parts := strings.Split(v.bearer, "."); len(parts) == 4 {
		d.Self = parts[2]
	}
	return &page{"Keys", "keys", &d, ""}, nil
}

// createKey makes a key and shows it this once.
func createKey(v *visit) (*page, error) {
	form := v.r.PostFormValue
	made, err := ask(v, api.CreateKey, api.NewAPIKey{Role: form("role"), Note: strings.TrimSpace(form("note")), Roles: strings.TrimSpace(form("roles")), Authors: strings.TrimSpace(form("authors")), Spaces: strings.TrimSpace(form("spaces"))})
	if p := problemIn(err); p != nil && p.Status < 500 && p.Status != http.StatusUnauthorized && p.Status != http.StatusForbidden {
		answer, err := v.keys(nil, p.Detail)
		if err == nil {
			v.answer(http.StatusUnprocessableEntity, answer)
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	return v.keys(&made, "")
}

// revokeKey ends a key, after the question.
func revokeKey(v *visit) (*page, error) {
	if v.r.PostFormValue("sure") != "yes" {
		return &page{to: "/keys?" + url.Values{"revoke": {v.r.PathValue("id")}}.Encode()}, nil
	}
	_, err := ask(v, api.RevokeKey, api.APIKeyByID{ID: v.r.PathValue("id")})
	return &page{to: "/keys"}, err
}
