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
	h "github.com/graphkernel/graphkernel/internal/markup"
	"github.com/graphkernel/graphkernel/policy"
)

// problemIn returns the service's problem in an error, or nil.
func problemIn(err error) *client.Problem {
	var p *client.Problem
	errors.As(err, &p)
	return p
}

type policiesData struct {
	List  []policyLine
	May   bool // the caller may register policies
	Text  string
	Wrong string
}

type policyLine struct {
	api.RegisteredPolicy
	Type string
}

func (d *policiesData) body(token string) h.Node {
	return h.Group{
		h.H1(h.Text("Policies")),
		table("Registered policies", "Policy|Type|Hash of its parameters", h.Map(d.List, func(p policyLine) h.Node {
			return row(policyLink(string(p.PolicyID)), h.Td(h.Text(p.Type)), h.Td(shortID(p.PolicyParamsHash)))
		})),
		h.If(d.May, h.H2(h.Text("Register a policy")), wrong(d.Wrong), post("stack", "/policies", token,
			h.Label(h.For("policy"), h.Text("Policy, as JSON")),
			h.Textarea(h.ID("policy"), h.Name("policy"), h.Rows("8"), h.SpellCheck("false"), h.Required(), h.Aria("describedby", "policy-help"), h.Placeholder(`{"policy_id": "narrow@1", "policy": {"type": "slice_policy_v1", "max_nodes": 32}}`), h.Text(d.Text)),
			h.P(h.ID("policy-help"), h.Class("dim"), h.Text("A policy keeps its parameters for good: changed ones get a new version.")), h.P(button("Register")))),
	}
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
	return &page{title: "Policies", content: &d}, nil
}

// registerPolicy registers the policy in the form: an id and parameters, in the format of the command line.
func registerPolicy(v *visit) (*page, error) {
	text := v.r.PostFormValue("policy")
	var in api.PolicyRegistration
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return v.again(v.policies(text, "That is no JSON of the form {\"policy_id\":…,\"policy\":{…}}: "+err.Error()))
	}
	got, err := ask(v, api.RegisterPolicy, in)
	if p := problemIn(err); p != nil && p.Status < 500 && p.Status != http.StatusUnauthorized {
		return v.again(v.policies(text, p.Detail))
	}
	if err != nil {
		return nil, err
	}
	return &page{to: string("/policies/" + got.PolicyID)}, nil
}

// again shows a form again that was not accepted.
func (v *visit) again(p *page, err error) (*page, error) {
	if err == nil {
		err = v.answer(http.StatusUnprocessableEntity, p)
	}
	return nil, err
}

type policyData struct {
	api.RegisteredPolicy
	Parameters []parameter
	JSON       string
}

func (d *policyData) body(string) h.Node {
	return h.Group{
		h.H1(h.Text(string("Policy " + d.PolicyID))), para("dim", h.Text("Hash of the parameters "), code(d.PolicyParamsHash)), listParameters(d.Parameters),
		h.Details(h.Summary(h.Text("As JSON, to register a changed one")), h.Pre(text(d.JSON))),
	}
}

func policyPage(v *visit) (*page, error) {
	got, err := ask(v, api.GetPolicy, api.PolicyByID{PolicyID: policy.ID(v.r.PathValue("id"))})
	if err != nil {
		return nil, err
	}
	of := map[string]any{}
	if err := json.Unmarshal(got.Policy, &of); err != nil {
		return nil, fmt.Errorf("policy %s cannot be read: %w", got.PolicyID, err)
	}
	whole, err := json.MarshalIndent(map[string]any{"policy_id": got.PolicyID, "policy": of}, "", "  ")
	return &page{title: string("Policy " + got.PolicyID), content: &policyData{got, parameters("", of), string(whole)}}, err
}

type keysData struct {
	Tenant string
	Keys   []api.APIKey
	Made   *api.MadeAPIKey
	Ask    string // the id of a key to revoke: the page first asks for confirmation
	Wrong  string
	Roles  []access.Role
	Self   string
}

func (d *keysData) body(token string) h.Node {
	return h.Group{
		h.H1(h.Text("Keys of " + d.Tenant)), d.made(), wrong(d.Wrong),
		table("API keys, the oldest first", "Id|Role|May admit|Note|Made|Ended", h.Map(d.Keys, func(k api.APIKey) h.Node {
			admits := dim("nothing")
			if k.Roles != "" {
				admits = h.Group{h.Text(k.Roles), h.If(k.Authors != "", h.Text(" by "), bdi(k.Authors)), h.If(k.Spaces != "", h.Text("; beliefs of "+k.Spaces))}
			}
			return row(h.Group{code(k.ID), h.If(k.ID == d.Self, space, dim("(yours)"))}, h.Td(h.Text(k.Role)), h.Td(admits), h.Td(bdi(k.Note)), h.Td(moment(k.CreatedAt)), h.Td(d.ended(&k, token)))
		})),
		h.H2(h.Text("Make a key")),
		post("stack", "/keys", token,
			h.Label(h.For("role"), h.Text("Role")), h.Select(h.ID("role"), h.Name("role"), h.Map(d.Roles, func(r access.Role) h.Node { return h.Option(h.Text(string(r))) })),
			field("note", "What it is for", "note", h.MaxLength("200")),
			field("roles", "Roles of the turns that it may admit, with commas between them; those of its role if empty", "roles"),
			field("authors", "Patterns of their authors, with commas between them; any if empty", "authors"),
			field("spaces", "Patterns of the spaces of beliefs that are there for an agent, with commas between them; all if empty", "spaces"),
			h.P(button("Make the key"))),
		para("dim", h.Text("To rotate a key, make a new one, hand it over, and revoke the old one.")),
	}
}

// made shows a new key; it is shown only once.
func (d *keysData) made() h.Node {
	if d.Made == nil {
		return nil
	}
	return h.Div(h.Class("made"), h.Role("alert"), h.P(h.Text("This is the new key, of role "+d.Made.Role+". It is not shown again.")), h.P(h.Code(h.Class("secret"), h.Text(d.Made.Key))))
}

// ended shows when a key ended, or the form that revokes it, which asks for confirmation first.
func (d *keysData) ended(k *api.APIKey, token string) h.Node {
	path := "/keys/" + url.PathEscape(k.ID) + "/revoke"
	switch {
	case k.RevokedAt != 0:
		return moment(k.RevokedAt)
	case k.ID != d.Ask:
		return post("", path, token, h.Button(h.Aria("label", "Revoke "+k.ID), h.Text("Revoke …")))
	}
	return post("sure", path, token, hidden("sure", "yes"),
		h.P(h.Text("Whoever uses this key is refused from then on. It cannot be undone."), h.If(k.ID == d.Self, h.Text(" You signed in with it."))),
		h.Button(h.Class("danger"), h.AutoFocus(), h.Text("Revoke "+k.ID)), space, link("/keys", h.Text("Keep it")))
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
	return &page{title: "Keys", content: &d}, nil
}

// createKey makes a key and shows it, only once.
func createKey(v *visit) (*page, error) {
	form := v.r.PostFormValue
	made, err := ask(v, api.CreateKey, api.NewAPIKey{Role: form("role"), Note: strings.TrimSpace(form("note")), Roles: strings.TrimSpace(form("roles")), Authors: strings.TrimSpace(form("authors")), Spaces: strings.TrimSpace(form("spaces"))})
	if p := problemIn(err); p != nil && p.Status < 500 && p.Status != http.StatusUnauthorized && p.Status != http.StatusForbidden {
		return v.again(v.keys(nil, p.Detail))
	}
	if err != nil {
		return nil, err
	}
	return v.keys(&made, "")
}

// revokeKey revokes a key, after the confirmation.
func revokeKey(v *visit) (*page, error) {
	if v.r.PostFormValue("sure") != "yes" {
		return &page{to: "/keys?" + url.Values{"revoke": {v.r.PathValue("id")}}.Encode()}, nil
	}
	_, err := ask(v, api.RevokeKey, api.APIKeyByID{ID: v.r.PathValue("id")})
	return &page{to: "/keys"}, err
}
