package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/slice"
)

// attestBundle signs an issued bundle for third parties. Any holder of the bundle may ask for it.
func attestBundle(c *call) error {
	if len(c.body) == 0 {
		return &problem{code: api.CodeInvalid, place: "body", detail: "the body is empty; want the bundle's bytes"}
	}
	return evidence(c, func(ctx context.Context, k *kernel.Kernel) (*notary.Evidence, error) {
		return k.Ledger().Attest(ctx, c.tenant(), c.bundle())
	})
}

// convertBundle returns an issued bundle in another format.
func convertBundle(c *call) error {
	k := c.server.config.Kernel
	if k.Ledger().Identity().Name() == "" {
		return identity.ErrNone
	}
	ctx, cancel := patient(c)
	defer cancel()
	w, err := k.Ledger().Convert(ctx, c.tenant(), c.bundle(), c.params["to"])
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, w)
}

// recorded returns the bundle that a request names; without a digest it is the newest.
func recorded(c *call) (slice.SliceID, *dag.Digest, error) {
	id, err := dag.AnyCase(slice.ParseSliceID)(c.params["slice_id"])
	if err != nil {
		return "", nil, err
	}
	c.slice = string(id)
	text, ok := c.params["bundle"]
	if !ok {
		return id, nil, nil
	}
	digest, err := dag.AnyCase(dag.ParseDigest)(text)
	return id, &digest, err
}

// getBundle makes an issued bundle again, byte for byte.
func getBundle(c *call) error {
	id, digest, err := recorded(c)
	if err != nil {
		return err
	}
	bundle, err := c.server.config.Kernel.Slices().Bundle(c.ctx, c.tenant(), id, digest)
	if err != nil {
		return err
	}
	header := c.echo.Response().Header()
	header["Slice-Id"] = []string{c.slice}
	header["Etag"] = []string{fmt.Sprintf("%q", dag.Digest(sha256.Sum256(bundle)).String())}
	return c.write(http.StatusOK, jsonType, bundle)
}

func getEvidence(c *call) error {
	id, digest, err := recorded(c)
	if err != nil {
		return err
	}
	return evidence(c, func(ctx context.Context, k *kernel.Kernel) (*notary.Evidence, error) {
		return k.Ledger().AttestRecorded(ctx, c.tenant(), id, digest)
	})
}

func evidence(c *call, ask func(context.Context, *kernel.Kernel) (*notary.Evidence, error)) error {
	k := c.server.config.Kernel
	if k.Ledger().Identity().Name() == "" {
		return identity.ErrNone
	}
	ctx, cancel := patient(c)
	defer cancel()
	e, err := ask(ctx, k)
	if err != nil {
		return err
	}
	c.slice = string(e.Record.Provenance.SliceID)
	c.server.showProven(ctx, c.tenant())
	return c.json(http.StatusOK, e.Answer())
}

// getLogKeys returns the keys of the caller's tenant.
func getLogKeys(c *call) error {
	return keys(c, []dag.Tenant{c.tenant()}, attest.AppendKeys)
}

// wellKnownKeys returns the kernel's name, and the keys of the tenants with a public ledger.
func wellKnownKeys(c *call) error {
	return keys(c, c.server.config.PublicLogs, attest.AppendKeys)
}

// wellKnownJWKS returns the same attestation keys for programs that only support JWK. Retired keys are included,
// because signatures made with them remain valid.
func wellKnownJWKS(c *call) error {
	return keys(c, c.server.config.PublicLogs, func(dst []byte, k *attest.Keys) ([]byte, error) {
		all := make([]ledger.Key, len(k.Attestation))
		for i := range all {
			all[i] = k.Attestation[i].Key
		}
		return attest.AppendJWKS(dst, all, k.Sigstore)
	})
}

func keys(c *call, of []dag.Tenant, write func([]byte, *attest.Keys) ([]byte, error)) error {
	k, err := keysOf(c.server.config.Kernel.Ledger().Identity(), of)
	if err != nil {
		return err
	}
	data, err := write(nil, k)
	if err != nil {
		return err
	}
	return c.write(http.StatusOK, jsonType, data)
}

// keysOf returns the public keys of an identity for the given tenants.
func keysOf(id identity.Identity, tenants []dag.Tenant) (*attest.Keys, error) {
	keys := &attest.Keys{Name: id.Name()}
	for _, tenant := range slices.Sorted(slices.Values(tenants)) {
		_, log, err := id.Log(tenant)
		if err != nil {
			return nil, err
		}
		keys.Logs = append(keys.Logs, log)
		for _, a := range id.Attestations(tenant) {
			keys.Attestation = append(keys.Attestation, attest.DatedKey{Key: a.Key, Created: a.CreatedAt, Retired: a.RetiredAt})
		}
	}
	private, err := id.Sigstore()
	if err != nil {
		return nil, err
	}
	sigstore, err := attest.NewSigstoreKey(&private.PublicKey)
	if err != nil {
		return nil, err
	}
	keys.Sigstore = &sigstore
	return keys, nil
}

// addCheckpoint cosigns the checkpoint of another ledger, or answers with the reason for refusing, as plain text with
// the statuses of C2SP tlog-witness.
func addCheckpoint(c *call) error {
	if c.server.config.Witness == nil {
		return &problem{code: api.CodeNotFound, detail: "this kernel is no witness"}
	}
	lines, err := c.server.config.Witness.Add(c.ctx, c.body)
	var stale *witness.StaleError
	if errors.As(err, &stale) {
		return c.write(http.StatusConflict, sizeType, append(strconv.AppendUint(nil, stale.Size, 10), '\n'))
	}
	if err != nil {
		return err
	}
	return c.write(http.StatusOK, textType, lines)
}

// sizeType is the media type of the size that a witness has recorded.
var sizeType = []string{"text/x.tlog.size"}
