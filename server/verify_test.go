package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
)

func TestVerifyToken(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 3)
	bundle, _ := s.cut(s.admin(), 3)
	claim := claimOf(t, bundle)
	verify := func(body any) api.TokenVerdict {
		t.Helper()
		var v api.TokenVerdict
		s.expect(200, question{op: "verifyToken", key: s.keys[tenantA][access.Verifier], body: body}).decode(t, &v)
		if v.Admissible != (v.Outcome == "verified") || v.Admissible != (v.Reason == "") {
			t.Errorf("%+v contradicts itself", v)
		}
		return v
	}
	for range 2 { // the second from the cache
		if v := verify(claim); !v.Admissible || v.KeyID != "k1" {
			t.Errorf("got %+v", v)
		}
	}
	withoutKey := claim
	withoutKey.KeyID = ""
	if v := verify(withoutKey); !v.Admissible || v.KeyID != "k1" {
		t.Errorf("without a key id: got %+v", v)
	}
	var fields map[string]any
	text, err := json.Marshal(claim)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, name := range sortedKeys(fields) {
		good := fields[name].(string)
		flipped := []byte(good)
		if last := &flipped[len(flipped)-1]; *last == '1' {
			*last = '2'
		} else {
			*last = '1'
		}
		for _, bad := range []any{string(flipped), "", good + "0", strings.ToUpper(good) + "!", 5, nil, true, []any{good}, map[string]any{"a": good}, strings.Repeat("x", 100_000)} {
			fields[name] = bad
			if v := verify(fields); v.Admissible || v.Outcome == "verified" {
				t.Errorf("%s = %.60v: got %+v", name, bad, v)
			}
			tried++
		}
		delete(fields, name)
		if v := verify(fields); v.Admissible != (name == "key_id") {
			t.Errorf("without %s: got %+v", name, v)
		}
		fields[name] = good
	}
	if tried != 80 {
		t.Errorf("%d fields changed", tried)
	}
	delete(fields, "key_id")
	fields["token"] = "no token"
	if v := verify(fields); v.KeyID != "" {
		t.Errorf("nobody named a key: got %+v", v)
	}
	fields["token"] = claim.Token
	fields["key_id"] = "k9"
	if v := verify(fields); v.Outcome != "key_unknown" {
		t.Errorf("got %+v", v)
	}
	if v := verify(map[string]any{}); v.Outcome != "malformed" {
		t.Errorf("nothing: got %+v", v)
	}
	// What is no object is an error of form.
	for _, body := range []string{`[]`, `"x"`, `null`, `5`, `{`, `{"token":"a","token":"b"}`, "{\"token\":\"\xff\"}", ``} {
		if a := s.ask(question{op: "verifyToken", key: s.admin(), body: body}); a.status != 400 {
			t.Errorf("%q: got %d %s", body, a.status, a.body)
		}
	}
}

func TestVerifyBundle(t *testing.T) {
	s := start(t)
	s.chain(s.admin(), 5)
	bundle, id := s.cut(s.admin(), 3)
	verify := func(key string, body []byte) api.BundleVerdict {
		t.Helper()
		var v api.BundleVerdict
		s.expect(200, question{op: "verifyBundle", key: key, body: body}).decode(t, &v)
		sum := sha256.Sum256(body)
		if v.Admissible != (v.Outcome == "verified") || v.Admissible != (v.Reason == "") || v.BundleSHA256.String() != hex.EncodeToString(sum[:]) {
			t.Errorf("%+v contradicts itself", v)
		}
		return v
	}
	key := s.keys[tenantA][access.Verifier]
	v := verify(key, bundle)
	if !v.Admissible || v.SliceID != id || v.KeyID != "k1" || len(v.Checks) != 11 {
		t.Errorf("got %+v", v)
	}
	// One line feed at the end is a file's; two are not.
	var filed api.BundleVerdict
	s.expect(200, question{op: "verifyBundle", key: key, body: append(bytes.Clone(bundle), '\n')}).decode(t, &filed)
	if !filed.Admissible || filed.BundleSHA256 != v.BundleSHA256 {
		t.Errorf("with a line feed: got %+v", filed)
	}
	s.expect(200, question{op: "verifyBundle", key: key, body: append(bytes.Clone(bundle), "\n\n"...)}).decode(t, &filed)
	if filed.Outcome != "malformed" {
		t.Errorf("with two line feeds: got %+v", filed)
	}
	var again api.Replay
	s.expect(200, question{op: "replaySlice", key: s.admin(), path: map[string]string{"slice_id": id}, body: append(bytes.Clone(bundle), '\n')}).decode(t, &again)
	if again.Outcome != "identical" {
		t.Errorf("a replay with a line feed: got %+v", again)
	}
	for i := 0; i < len(bundle); i += 7 {
		changed := bytes.Clone(bundle)
		changed[i] ^= 1
		if v := verify(key, changed); v.Admissible {
			t.Errorf("byte %d changed: still admissible", i)
		}
	}
	// as_of is the one thing that the token does not cover; a hit in the cache skips
	// no check of the body.
	changed := bytes.Replace(bundle, []byte(`"turn 2"`), []byte(`"turn X"`), 1)
	if v := verify(key, changed); v.Admissible || !strings.HasPrefix(v.Reason, "bodies") {
		t.Errorf("got %+v", v)
	}
	if v := verify(key, []byte("no json")); v.Outcome != "malformed" {
		t.Errorf("got %+v", v)
	}
	pretty := &bytes.Buffer{}
	if err := json.Indent(pretty, bundle, "", " "); err != nil {
		t.Fatal(err)
	}
	if v := verify(key, pretty.Bytes()); v.Outcome != "malformed" {
		t.Errorf("another spelling: got %+v", v)
	}
	s.expect(200, question{op: "eraseTurn", key: s.admin(), path: map[string]string{"id": turnID(2)}, body: api.ErasureRequest{Reason: "asked for"}})
	redacted, _ := s.cut(s.admin(), 3)
	if v := verify(key, redacted); !v.Admissible || len(v.Redacted) != 1 || v.Redacted[0].String() != turnID(2) {
		t.Errorf("got %+v", v)
	}
}
