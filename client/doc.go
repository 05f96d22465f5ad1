// Package client speaks to a Graph Kernel service: it admits turns, asks for slices,
// has them verified, and reads what was issued; it records facts and walks between them.
// Package api declares its operations.
//
//	c, err := client.New("https://kernel.example", key, client.Options{})
//	bundle, err := c.Slices().Cut(ctx, client.Request{Anchor: id})
//	verified, verdict, err := c.Slices().Verify(ctx, bundle.Bytes)
//	if !verified.OK() {
//		return errors.New(verdict.Reason)
//	}
//	act(verified) // takes a client.Verified, so nothing unverified gets there
//
// What arrives is not believed because it arrived. A bundle is handed out only if its
// digest is the one announced, its bytes are canonical, its body agrees with its
// header, and it is of the anchor, policy and view that were asked for. Only the token
// is left to the service, which has the keys. A program that has them itself needs no
// service to verify: it uses token.Verifier and gets a token.Admissible.
//
// A program that trusts the service with nothing uses a [Trusted]: it returns the keys of the
// ledger and of the signers, which it got otherwise, and the policies with their
// parameters, and keeps the last checkpoint. What it gets is a [Proven]. A service that
// rewrites its history, shows different people different ones, swaps keys, or leaves
// the evidence out, is found out.
//
//	t, err := client.NewTrusted(c, client.Expect{Trust: trust, Tenant: "default", Load: load, Save: save})
//	proven, err := t.Slice(ctx, client.Request{Anchor: id})
//
// Every request of this service may be repeated: admitting what is there counts as
// existing, the same slice of the same view is the same bytes, registering and erasing
// again change nothing. So a request whose connection broke is sent again, a bounded
// number of times, and one that was refused for now (429, 503) is sent again after the
// time that the service gave. The exceptions are AdmitLines and LearnLines, whose stream can be read
// only once.
//
// Errors that the service answers with are a *[Problem], told apart by [api.Code]. An
// answer that breaks the contract is [ErrAnswer].
package client
