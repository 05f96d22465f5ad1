package service

import (
	"net"
	"net/http"
	"time"

	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/store"
)

// ledgerSettings are the settings of the ledgers and of the witness.
type ledgerSettings struct {
	public    []dag.Tenant
	witnesses *ledger.Trust // nil: no witnesses are asked
	every     time.Duration
	timeout   time.Duration
	logs      *ledger.Trust // nil: this kernel is not a witness
}

func (r *reading) ledger() ledgerSettings {
	s := ledgerSettings{
		public: r.tenants("log.public"), witnesses: r.trust("log.witnesses"), every: r.duration("log.every"),
		timeout: r.duration("log.witness_timeout"), logs: r.trust("witness.logs"),
	}
	if s.witnesses != nil && len(s.asked()) == 0 && r.err == nil {
		r.err = cli.Usagef("log.witnesses (%s): %s names no witness with a URL, so there is nobody to ask", r.origin["log.witnesses"], r.text("log.witnesses"))
	}
	if s.logs != nil && len(s.logs.Logs) == 0 && r.err == nil {
		r.err = cli.Usagef("witness.logs (%s): %s names no log, so there is nothing to cosign", r.origin["witness.logs"], r.text("witness.logs"))
	}
	return s
}

// needsIdentity reports whether a setting requires a kernel with an identity.
func (s *ledgerSettings) needsIdentity() bool {
	return s.public != nil || s.witnesses != nil || s.logs != nil
}

// asked returns the witnesses with a URL.
func (s *ledgerSettings) asked() (list []ledger.TrustedWitness) {
	if s.witnesses == nil {
		return nil
	}
	for _, w := range s.witnesses.Witnesses {
		if w.URL != "" {
			list = append(list, w)
		}
	}
	return list
}

// asker returns the asker of the witnesses; nil if there are none.
func (s *ledgerSettings) asker() *witness.Asker {
	asked := s.asked()
	if len(asked) == 0 {
		return nil
	}
	return witness.NewAsker(&http.Client{
		Timeout: s.timeout,
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: s.timeout}).DialContext,
			TLSHandshakeTimeout: s.timeout,
			IdleConnTimeout:     90 * time.Second,
			ForceAttemptHTTP2:   true,
		},
	}, asked)
}

// witness returns the witness that this kernel is; nil if it is not one. The witness keeps its state in the store, in the default tenant, so that all
// services on one store are one witness.
func (s *ledgerSettings) witness(id identity.Identity, state store.Store, clock func() time.Time) (*witness.Witness, error) {
	if s.logs == nil {
		return nil, nil
	}
	hand, err := id.Witness()
	if err != nil {
		return nil, err
	}
	return witness.New(witness.Config{State: state, Moved: store.ErrMoved, Tenant: dag.DefaultTenant, Cosigner: hand, Logs: s.logs, Clock: clock})
}
