package notary

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// Prov returns an issued bundle as W3C PROV-JSON. Errors are those of Attest.
func (k Attestor) Prov(ctx context.Context, tenant dag.Tenant, bundle []byte) ([]byte, error) {
	return k.convert(ctx, tenant, bundle, attest.AppendProv)
}

// OpenLineage returns an issued bundle as an OpenLineage event. Errors are those of Attest.
func (k Attestor) OpenLineage(ctx context.Context, tenant dag.Tenant, bundle []byte) ([]byte, error) {
	return k.convert(ctx, tenant, bundle, attest.AppendOpenLineage)
}

// ErrNoExport is returned when a slice of facts, a context or evidence of a belief is converted to PROV or OpenLineage, which have a form for
// slices of turns only. Evidence of every kind can be exported to Sigstore.
var ErrNoExport = errors.New("slices of facts, contexts and evidence of beliefs have no form in PROV and OpenLineage; attest the bundle, or convert it to sigstore")

func (k Attestor) convert(ctx context.Context, tenant dag.Tenant, bundle []byte, as func([]byte, *attest.Statement, *slice.Bundle) ([]byte, error)) ([]byte, error) {
	if kinds.Of(bundle) != slice.Bundles {
		return nil, ErrNoExport
	}
	e, err := k.Attest(ctx, tenant, bundle)
	if err != nil {
		return nil, err
	}
	b, err := slice.ParseBundle(bundle)
	if err != nil {
		return nil, err
	}
	return as(nil, e.Statement, b)
}

// A Sigstore export contains the files that cosign needs to verify a bundle offline.
type Sigstore struct {
	Bundle      []byte // a Sigstore bundle, v0.3
	TrustedRoot []byte // the log, for --trusted-root
	PublicKey   []byte // PEM, for --key
}

// Sigstore signs an issued bundle with the sigstore key, and appends the entry that cosign
// looks for to the ledger. The entry is a separate leaf; repeating the call does not append
// it again. Errors are those of Attest.
func (k Attestor) Sigstore(ctx context.Context, tenant dag.Tenant, bundle []byte) (*Sigstore, error) {
	e, err := k.Attest(ctx, tenant, bundle)
	if err != nil {
		return nil, err
	}
	id := k.signatory.Identity()
	private, err := id.Sigstore()
	if err != nil {
		return nil, err
	}
	signer, public, err := attest.NewSigstoreSigner(private)
	if err != nil {
		return nil, err
	}
	sealed, err := attest.Seal(e.Statement.Append(nil), signer)
	if err != nil {
		return nil, err
	}
	envelope, err := attest.ParseEnvelope(sealed)
	if err != nil {
		return nil, err
	}
	leaf, err := attest.SigstoreLeaf(envelope, public)
	if err != nil {
		return nil, err
	}
	places, err := attest.Recorded().Put(ctx, k.store, tenant, [][]byte{leaf})
	if err != nil {
		return nil, err
	}
	proof, err := k.log.Prove(ctx, tenant, places[0])
	if err != nil {
		return nil, err
	}
	_, log, err := id.Log(tenant)
	if err != nil {
		return nil, err
	}
	out := &Sigstore{PublicKey: []byte(public.PEM())}
	out.Bundle, err = attest.AppendSigstoreBundle(nil, &attest.SigstoreEntry{
		Envelope: envelope, Key: public, Log: log, Index: proof.Index, Path: proof.Path, Checkpoint: proof.Checkpoint,
	})
	if err != nil {
		return nil, err
	}
	created := id.Attestations(tenant)[0].CreatedAt // the identity's own
	out.TrustedRoot, err = attest.AppendTrustedRoot(nil, log, created)
	return out, err
}

// Convert returns an issued bundle in another form: prov, openlineage or sigstore. The contents of the files
// must be written unchanged.
func (k Attestor) Convert(ctx context.Context, tenant dag.Tenant, bundle []byte, to string) (api.Converted, error) {
	files := map[string]string{}
	switch to {
	case "sigstore":
		export, err := k.Sigstore(ctx, tenant, bundle)
		if err != nil {
			return api.Converted{}, err
		}
		files["bundle.sigstore.json"], files["trusted_root.json"], files["cosign.pub"] = string(export.Bundle), string(export.TrustedRoot), string(export.PublicKey)
	case "prov", "openlineage":
		as := k.Prov
		if to == "openlineage" {
			as = k.OpenLineage
		}
		text, err := as(ctx, tenant, bundle)
		if err != nil {
			return api.Converted{}, err
		}
		files[to+".json"] = string(text)
	default:
		return api.Converted{}, fmt.Errorf("%w: a bundle is converted to prov, openlineage or sigstore, got %.40q", dag.ErrForm, to)
	}
	return api.Converted{Files: files}, nil
}
