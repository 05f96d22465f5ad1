package client_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/slice"
)

// empty holds that v has no evidence, and returns none.
func empty(t *testing.T, how string, v client.Verified) {
	t.Helper()
	if v.OK() || v.Provenance() != (slice.Provenance{}) || v.Tenant() != "" || v.KeyID() != "" || v.AsOf() != 0 || v.Turns() != nil || v.Edges() != nil || v.Bytes() != nil {
		t.Errorf("%s gives evidence", how)
	}
}

func verified(t *testing.T) client.Verified {
	t.Helper()
	c := serve(t, server.Limits{}).client(t, "default", access.Agent, client.Options{})
	v, verdict, err := c.Slices().Verify(t.Context(), cutOf(t, c).Bytes)
	if err != nil || !v.OK() {
		t.Fatalf("%+v, %v", verdict, err)
	}
	return v
}

// Ways of holding a Verified.
type (
	embeds struct{ client.Verified }
	holds  struct {
		V    client.Verified
		P    *client.Verified
		List []client.Verified
		Map  map[string]client.Verified
	}
	named client.Verified
)

func TestZeroVerified(t *testing.T) {
	full := verified(t)
	var zero client.Verified
	empty(t, "the zero value", zero)
	empty(t, "new", *new(client.Verified))
	empty(t, "reflect.New", reflect.New(reflect.TypeFor[client.Verified]()).Elem().Interface().(client.Verified))
	empty(t, "a conversion", client.Verified(named{}))
	empty(t, "embedding", embeds{}.Verified)
	empty(t, "an element", make([]client.Verified, 3)[1])
	v := reflect.ValueOf(&zero).Elem()
	if v.NumField() == 0 {
		t.Fatal("there is nothing to reach")
	}
	for i := range v.NumField() {
		if v.Field(i).CanSet() || v.Field(i).CanInterface() {
			t.Errorf("field %s can be reached", v.Type().Field(i).Name)
		}
		func() {
			defer func() { _ = recover() }()
			v.Field(i).Set(reflect.ValueOf(full).Field(i))
			t.Errorf("field %s can be set", v.Type().Field(i).Name)
		}()
	}
	empty(t, "reflection", zero)
}

// TestCoders holds that evidence cannot be decoded, and does not leave as something
// that could be.
func TestCoders(t *testing.T) {
	full := verified(t)
	bundle := full.Bytes()
	quoted := must(json.Marshal(string(bundle)))
	refused := 0
	for _, text := range [][]byte{
		bundle, quoted, []byte(`{}`), []byte(`null`), []byte(`true`), []byte(`{"evidence":{}}`), []byte(`{"V":{}}`), []byte(`{"P":{}}`), []byte(`{"List":[{}]}`),
		[]byte(`{"Map":{"x":{}}}`), []byte(`{"V":null,"List":[null]}`), []byte(`{"V":` + string(bundle) + `}`), []byte(`{"evidence":{"bundle":` + string(bundle) + `}}`),
	} {
		var plain client.Verified
		var in embeds
		var held holds
		for _, into := range []any{&plain, &in, &held} {
			if err := json.Unmarshal(text, into); errors.Is(err, client.ErrDecode) {
				refused++
			}
		}
		empty(t, "json", plain)
		empty(t, "json, embedded", in.Verified)
		empty(t, "json, field", held.V)
		if held.P != nil {
			empty(t, "json, pointer", *held.P)
		}
		for _, v := range held.List {
			empty(t, "json, element", v)
		}
		for _, v := range held.Map {
			empty(t, "json, map", v)
		}
	}
	if refused < 10 {
		t.Errorf("%d texts were refused", refused)
	}
	var v client.Verified
	for name, err := range map[string]error{
		"UnmarshalJSON": v.UnmarshalJSON(bundle), "UnmarshalText": v.UnmarshalText(bundle), "UnmarshalBinary": v.UnmarshalBinary(bundle), "GobDecode": v.GobDecode(bundle),
		"MarshalJSON": second(full.MarshalJSON()), "MarshalText": second(full.MarshalText()), "MarshalBinary": second(full.MarshalBinary()), "GobEncode": second(full.GobEncode()),
	} {
		if !errors.Is(err, client.ErrDecode) {
			t.Errorf("%s: got %v, want ErrDecode", name, err)
		}
	}
	empty(t, "a decoder", v)
	for name, v := range map[string]any{"value": full, "pointer": &full, "embedded": embeds{full}, "field": holds{V: full}, "zero": client.Verified{}} {
		if text, err := json.Marshal(v); !errors.Is(err, client.ErrDecode) {
			t.Errorf("json, %s: got %.40s, %v", name, text, err)
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(v); !errors.Is(err, client.ErrDecode) {
			t.Errorf("gob, %s: got %d bytes, %v", name, b.Len(), err)
		}
	}
	// A failed decoding does not change what was verified.
	if err := json.Unmarshal([]byte(`{}`), &full); !errors.Is(err, client.ErrDecode) || !bytes.Equal(full.Bytes(), bundle) {
		t.Errorf("got %v", err)
	}
}

func second(_ []byte, err error) error { return err }

// TestVerifiedCopies changes all that evidence gives, and the bytes that were handed
// in. The evidence stays what it was.
func TestVerifiedCopies(t *testing.T) {
	c := serve(t, server.Limits{}).client(t, "default", access.Agent, client.Options{})
	data := cutOf(t, c).Bytes
	v, verdict, err := c.Slices().Verify(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	type all struct {
		Provenance slice.Provenance
		Tenant     dag.Tenant
		KeyID      string
		AsOf       dag.Seq
		Turns      []slice.BundleTurn
		Edges      []dag.Edge
		Bytes      []byte
	}
	read := func(v client.Verified) all {
		return all{v.Provenance(), v.Tenant(), v.KeyID(), v.AsOf(), v.Turns(), v.Edges(), v.Bytes()}
	}
	other, _, err := c.Slices().Verify(t.Context(), bytes.Clone(data)) // shares nothing with v
	if err != nil {
		t.Fatal(err)
	}
	want := read(other)
	if want.Tenant != "default" || want.KeyID != "k1" || want.AsOf != 4 || want.Provenance.Anchor != ids[3] || len(want.Edges) != 3 {
		t.Fatalf("got %+v", want)
	}
	for i, turn := range want.Turns {
		if turn.ID != ids[i] || turn.Body.Content != texts[i] {
			t.Errorf("turn %d is %s", i, turn.ID)
		}
	}
	check := func(what string) {
		t.Helper()
		if diff := cmp.Diff(want, read(v)); diff != "" {
			t.Errorf("%s changed the evidence: -want +got:\n%s", what, diff)
		}
	}
	clear(data)
	check("the bytes that were handed in")
	clear(v.Bytes())
	check("Bytes")
	turns := v.Turns()
	for i := range turns {
		turns[i].Body.Content, turns[i].Body.Salt = "changed", dag.Salt{}
		clear(turns[i].Body.Attrs)
		turns[i].Role = dag.RoleSystem
	}
	slices.Reverse(turns)
	check("Turns")
	clear(v.Edges())
	check("Edges")
	p := v.Provenance()
	p.GraphSnapshotHash[0] ^= 1
	clear(verdict.Checks)
	check("the verdict")
}
