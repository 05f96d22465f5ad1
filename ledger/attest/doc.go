// Package attest owns the documents that a kernel signs for people who do not share its secret, and the forms in which
// other tools read them: the in-toto statement about a bundle, the DSSE envelope around it, the documents that publish
// keys, and the exports to Sigstore, W3C PROV and OpenLineage. It is pure: the holder of a private key passes a Signer,
// and callers pass times and indexes.
//
// An attestation is canonical JSON, as is the payload inside:
//
//	{"payload":BASE64,"payloadType":"application/vnd.in-toto+json",
//	"signatures":[{"keyid":HEX,"sig":BASE64}]}
//
//	{"_type":"https://in-toto.io/Statement/v1","predicate":{"anchorTurnId":ID,…},
//	"predicateType":"https://github.com/graphkernel/graphkernel/attestation/slice/v1",
//	"subject":[{"digest":{"sha256":HEX},"name":"slice-0f1e2d3c4b5a6978.json"}]}
//
// [Seal] signs, [Envelope.Verify] returns the verified payload, [ParseStatement] reads exactly those bytes, and
// [Statement.Match] compares the statement with a bundle that slice.ParseBundle read and slice.Bundle.Check accepted. A
// signature covers the whole payload and its type. It does not cover key ids, which only say which key to try.
//
// Source: docs/evidence.md, sections 1 and 5; DSSE v1.0; in-toto Statement v1. The exports name their own sources.
package attest

import "errors"

// Errors that callers branch on.
var (
	ErrForm       = errors.New("malformed attestation") // wrapped; the message names the place
	ErrVersion    = errors.New("unknown version of an attestation")
	ErrKeyUnknown = errors.New("no signature by a trusted key")
)
