// Package client calls a Graph Kernel service: it admits turns, requests slices, has them verified, and reads the
// issued records; it records facts and traverses them. Package api declares the operations of the service.
//
//	c, err := client.New("https://kernel.example", key, client.Options{})
//	bundle, err := c.Slices().Cut(ctx, client.Request{Anchor: id})
//	verified, verdict, err := c.Slices().Verify(ctx, bundle.Bytes)
//	if !verified.OK() {
//		return errors.New(verdict.Reason)
//	}
//	act(verified) // takes a client.Verified, so nothing unverified gets there
//
// The client checks what it receives. It returns a bundle only if its digest is the announced one, its bytes are
// canonical, its body agrees with its header, and it has the requested anchor, policy and view. Only the token is
// left to the service, which has the keys. A program that has the keys itself needs no service to verify: it uses
// token.Verifier and gets a token.Admissible.
//
// A program that does not trust the service at all uses a [Trusted]. The program supplies the keys of the ledger and
// of the signers, which it got elsewhere, and the policies with their parameters; it keeps the last checkpoint. The
// result is a [Proven]. A Trusted detects a service that rewrites its history, shows different histories to different
// people, swaps keys, or leaves out the evidence.
//
//	t, err := client.NewTrusted(c, client.Expect{Trust: trust, Tenant: "default", Load: load, Save: save})
//	proven, err := t.Slice(ctx, client.Request{Anchor: id})
//
// Almost every request may be repeated: admitting a turn again counts it as existing, the same slice of the same view
// has the same bytes, and registering or erasing again changes nothing. So a request is sent again if its connection
// broke, a bounded number of times, and if it was refused for the moment (429, 503), after the time that the service
// names. The exceptions are AdmitLines and LearnLines, whose stream can be read only once, and operations that make
// something new each time, such as [api.CreateKey].
//
// An error answer of the service is a *[Problem]; its [api.Code] says which. An answer that breaks the contract is
// [ErrAnswer].
package client
