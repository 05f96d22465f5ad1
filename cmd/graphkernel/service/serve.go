package service

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/cmd/graphkernel/cli"
	"github.com/graphkernel/graphkernel/console"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest/secrets"
	"github.com/graphkernel/graphkernel/internal/loopback"
	"github.com/graphkernel/graphkernel/internal/secretfile"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/server"
	"github.com/graphkernel/graphkernel/server/mcp"
	"github.com/graphkernel/graphkernel/token"
)

func serveCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the kernel over HTTP and MCP",
		Long: `Agents admit turns and ask for slices, services verify, and auditors replay. /docs is the description for
people, /openapi.json the one for programs, and /mcp speaks the Model Context Protocol.

Every request needs an API key (graphkernel apikey create). With --dev there is one key for this run, of the
role admin, which is printed, and slices are signed with a random key that is discarded afterwards. So that
nothing signed with it stays in a ledger for good, the store is temporary, too, unless --store names one:
GRAPHKERNEL_STORE, and the store in a settings file, are not used.

By default the service listens on loopback. While it runs, a keyring that is rotated or retired takes effect at
once, and so does an identity; SIGHUP makes the service read them again. SIGTERM ends it when the running
requests are done.

With --output json, standard output shows where the service listens, once it does:

  {"url","key","tenant"} (key and tenant with --dev alone)`,
		Example: `  graphkernel serve --dev
  graphkernel serve --addr :8443 --tls-cert cert.pem --tls-key key.pem
  graphkernel serve --config service.yaml`,
		Args: cli.NoArgs,
	}
	file := registerSettings(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		conf, err := configure(a, c, *file)
		if err != nil {
			return err
		}
		for {
			if err := serve(a, c.Context(), &reading{configuration: conf}); !errors.Is(err, errWritable) {
				return err
			}
		}
	}
	return c
}

// A Service is the configuration of a service, as the settings define it.
type Service struct {
	limits   server.Limits
	caches   caches
	cors     []string
	proxies  []netip.Prefix
	mcp      bool
	console  bool
	readings []dag.Tenant      // tenants of which reads are logged
	provider *console.Provider // with which people sign in; nil: none
	tools    mcp.Selection
	level    slog.Level
	stopping server.Stopping
	Exporter string
	sample   float64
	ledger   ledgerSettings
	secrets  secrets.Policy // for transcripts
	admitted secrets.Policy // for text that comes over HTTP and MCP
	working  workingMemory
}

// caches are the limits of the kernel's caches, in bytes.
type caches struct{ graphs, cuts, texts int }

// service reads every setting.
func (r *reading) service() (*Service, error) {
	s := &Service{
		limits: r.limits(), caches: caches{r.number("cache.graph_bytes", 1), r.number("cache.cut_bytes", 1), r.number("cache.text_bytes", 1)}, cors: r.origins("cors"), proxies: r.networks("trusted_proxies"), mcp: r.flag("mcp"), console: r.flag("console"), readings: r.tenants("log.readings"),
		stopping: server.Stopping{Delay: r.pause("shutdown_delay"), Grace: r.duration("shutdown_grace")}, Exporter: r.text("trace.exporter"), sample: r.share("trace.sample"),
	}
	s.ledger = r.ledger()
	s.secrets = readAs(r, "secrets", fmt.Sprintf("one of %q", secrets.Policies), secrets.ParsePolicy)
	s.admitted = readAs(r, "admitted_secrets", "report, refuse or off", cli.ParseAdmitted)
	s.working = r.workingMemory()
	r.addr("addr")
	s.tools = r.tools("mcp_tools")
	s.level = readAs(r, "log.level", "debug, info, warn or error", func(text string) (l slog.Level, err error) {
		return l, l.UnmarshalText([]byte(text))
	})
	if known := append(slices.Sorted(maps.Keys(exporters)), "none"); !slices.Contains(known, s.Exporter) && r.err == nil {
		r.err = cli.Usagef("trace.exporter is %q (%s), want %s", s.Exporter, r.origin["trace.exporter"], strings.Join(known, " or "))
	}
	if (r.text("tls.cert") == "") != (r.text("tls.key") == "") && r.err == nil {
		r.err = cli.Usagef("tls.cert and tls.key need each other; one of them is missing")
	}
	s.provider = r.provider()
	if len(s.readings) > 0 && s.level > slog.LevelInfo && r.err == nil {
		r.err = cli.Usagef("log.readings needs log.level info or debug, got %s (%s)", r.text("log.level"), r.origin["log.level"])
	}
	given := 0
	for _, key := range []string{"oidc.issuer", "oidc.audience", "oidc.jwks"} {
		if r.text(key) != "" {
			given++
		}
	}
	if given != 0 && given != 3 && r.err == nil {
		r.err = cli.Usagef("give all of oidc.issuer, oidc.audience and oidc.jwks, or none of them; %d are given", given)
	}
	return s, r.err
}

// provider reads the provider with which people sign in to the pages.
func (r *reading) provider() *console.Provider {
	client := r.text("console_oidc.client")
	if client == "" {
		for _, key := range []string{"console_oidc.secret_file", "console_oidc.url", "console_oidc.scopes"} {
			if r.text(key) != "" && r.err == nil {
				r.err = cli.Usagef("%s is given (%s) without console_oidc.client", key, r.origin[key])
			}
		}
		return nil
	}
	p := &console.Provider{Issuer: r.text("oidc.issuer"), Client: client, URL: r.text("console_oidc.url"), Scopes: r.list("console_oidc.scopes")}
	if path := r.text("console_oidc.secret_file"); path != "" && r.err == nil {
		secret, err := secretfile.Load(path, 64<<10)
		if err != nil {
			r.err = fmt.Errorf("console_oidc.secret_file (%s): %w", r.origin["console_oidc.secret_file"], err)
		}
		p.Secret = strings.TrimSpace(string(secret))
	}
	if err := p.Check(); err != nil && r.err == nil {
		r.err = cli.Usagef("console_oidc (oidc.issuer, console_oidc.url): %v", err)
	}
	return p
}

// tools reads the selection of tools for agents.
func (r *reading) tools(key string) mcp.Selection {
	selected, err := mcp.ParseTools(strings.Join(r.list(key), ","))
	if err != nil && r.err == nil {
		r.err = cli.Usagef("%s (%s): %v", key, r.origin[key], err)
	}
	return selected
}

func serve(a *cli.App, ctx context.Context, r *reading) (err error) {
	if a.Settings.Getenv("GOGC") == "" {
		defer boundGarbage(ctx)()
	}
	settings, err := r.service()
	if err != nil {
		return err
	}
	ring, err := a.Signing.Keyring()
	if err != nil {
		return err
	}
	id, err := a.Signing.Identity()
	if err == nil && settings.ledger.needsIdentity() {
		id, err = a.Signing.Somebody()
	}
	if err != nil {
		return err
	}
	tenant, err := a.Settings.Tenant()
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", r.text("addr")) // the address is checked before a store is made
	if err != nil {
		return fmt.Errorf("addr %s: %w; --addr HOST:PORT names another, and port 0 takes a free one", r.text("addr"), err)
	}
	defer func() { _ = l.Close() }()
	removed, err := devStore(a)
	if err != nil {
		return err
	}
	defer removed(&err)
	backing, unwritable, err := openServed(ctx, a.Stores)
	if err != nil {
		return err
	}
	defer func() {
		if closed := backing.Close(); err == nil {
			err = closed
		}
	}()
	lines := newLineBuffer(a.IO.Stderr)
	defer lines.flush()
	log := slog.New(lines.handler(settings.level))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if unwritable != nil {
		log.ErrorContext(ctx, "the store takes no writes: the service answers read requests only, and restarts when the store takes writes again", "error", unwritable)
		tick := time.NewTicker(lookForRoom)
		defer tick.Stop()
		again := false
		room := make(chan struct{})
		go func() {
			defer close(room)
			awaitRoom(ctx, a.Stores, tick.C, log, func() { again = true; cancel() })
		}()
		defer func() {
			cancel()
			<-room
			if again && err == nil {
				err = errWritable
			}
		}()
	}
	observers, stopTracing, err := NewObservers(ctx, settings, log)
	if err != nil {
		return err
	}
	defer stopTracing()
	authority := token.NewAuthority(ring)
	watched := observers.store(backing)
	asker := settings.ledger.asker()
	engine := kernel.Config{
		Store: watched, Authority: authority, Clock: a.Clock, Observe: observers.kernel(log),
		SkeletonBytes: settings.caches.graphs, CutBytes: settings.caches.cuts, TextBytes: settings.caches.texts,
		Embedders: r.models.Embedders, Rerankers: r.models.Rerankers, ErasureSecret: a.Stores.ErasureSecret, IndexTexts: segments.TextsOfRequest,
		Identity: id, History: a.Signing.History(id), Fleeting: a.Settings.Dev, Witnesses: asker, CheckpointEvery: settings.ledger.every,
	}
	settings.working.apply(&engine, a.Settings.StoreName())
	cli.NewAdmitted(settings.admitted, logKept(log)).Apply(&engine)
	k, err := kernel.Open(engine)
	if err != nil {
		return err
	}
	program, _ := cli.BuildVersion()
	config := server.Config{
		Kernel: k, Log: log, Clock: a.Clock, Limits: settings.limits, CORS: settings.cors, TrustedProxies: settings.proxies,
		Registry: observers.Registry, Tracer: observers.provider, Version: program,
		PublicLogs: settings.ledger.public, Readings: settings.readings, Asked: len(settings.ledger.asked()),
	}
	if w, ok := backing.(interface{ Writable(context.Context) error }); ok {
		config.Writable = w.Writable
	}
	if c, ok := backing.(interface {
		Checksums(context.Context) (bool, error)
	}); ok {
		if on, err := c.Checksums(ctx); err == nil && !on {
			log.WarnContext(ctx, "the database keeps no checksums of its pages, so a damaged one may go unnoticed; stop the server and run pg_checksums --enable")
		}
	}
	if config.Witness, err = settings.ledger.witness(id, watched, a.Clock); err != nil {
		return err
	}
	if settings.mcp {
		tools := mcp.New(k, mcp.Options{Log: log, Version: program, Tools: settings.tools, Origins: settings.cors, Timeout: settings.limits.Timeout})
		defer tools.Close()
		config.MCP, config.OnStop = tools.Handler, tools.Close
	}
	if config.Authenticate, err = authenticators(a, ctx, r, k, log); err != nil {
		return err
	}
	if settings.console {
		config.Pages = func(service http.Handler) ([]string, server.Pages, error) {
			return pages(service, authority, a.Clock, program, settings.provider)
		}
	}
	var devKey string
	if a.Settings.Dev {
		if devKey, config.Authenticate, err = devAccess(tenant, a.Clock, config.Authenticate); err != nil {
			return err
		}
	}
	s, err := server.New(ctx, config)
	if err != nil {
		return err
	}
	remindOfKeys(a, ctx, r, k, tenant)
	if err := a.Stores.MayIssueFrom(ctx, backing); errors.Is(err, notary.ErrForked) {
		log.WarnContext(ctx, cli.Detail(err), "tenant", tenant, "error", err)
	}
	watchFiles(a, ctx, k, authority, log)
	go sweepWorking(ctx, k, log)
	var indexing sync.WaitGroup
	indexing.Go(func() { keepIndex(ctx, k, backing, log) })
	defer indexing.Wait()
	defer cancel()
	if spool, err := a.Settings.Spool(); err == nil { // without a home folder nothing is captured
		attend(a, ctx, cli.SessionOf(k, tenant, a.Clock).ReadyOver(backing), spool, a.Stores.Screen(settings.secrets, tenant, false), log)
	}
	alive := config.Writable
	if alive == nil {
		alive = func(context.Context) error { return nil }
	}
	return answer(a, ctx, r, s, l, settings.stopping, log, tenant, devKey, settings.console, alive)
}

// pages makes the console. Its cookies are sealed with the keyring, so that every process that signs with it can read them.
func pages(service http.Handler, authority *token.Authority, clock func() time.Time, version string, provider *console.Provider) ([]string, server.Pages, error) {
	secret, err := authority.Secret("console")
	if err != nil {
		secret = nil // nothing signs; a random secret is enough for this run
	}
	c, err := console.New(console.Config{Service: service, Clock: clock, Secret: secret, Version: version, SignIn: provider})
	if err != nil {
		return nil, nil, err
	}
	return c.Paths(), c, nil
}

// remindOfKeys says what to do if nobody has a key for the service yet.
func remindOfKeys(a *cli.App, ctx context.Context, r *reading, k *kernel.Kernel, tenant dag.Tenant) {
	if a.Settings.Dev || r.text("oidc.issuer") != "" {
		return
	}
	if keys, err := k.Keys().List(ctx, tenant); err == nil && len(keys) == 0 { // a read error will be reported soon by requests
		a.IO.Note("graphkernel: tenant %s has no API key yet; graphkernel apikey create --role agent makes one for an agent, and --role auditor one to read the pages", tenant)
	}
}

// answer prints where the service listens, and serves until ctx ends.
func answer(a *cli.App, ctx context.Context, r *reading, s *server.Server, l net.Listener, stopping server.Stopping, log *slog.Logger, tenant dag.Tenant, devKey string, console bool, alive func(context.Context) error) error {
	secure, err := tlsConfig(ctx, r, log)
	if err != nil {
		return err
	}
	scheme := "http"
	if secure != nil {
		scheme = "https"
	}
	url := scheme + "://" + l.Addr().String()
	if secure == nil && !loopback.Is(l.Addr().String()) {
		log.Warn("keys travel in the clear: the service listens beyond loopback without TLS; give tls.cert and tls.key, or put a proxy before it", "addr", l.Addr().String())
	}
	said := map[string]string{"url": url}
	if devKey != "" {
		said["key"], said["tenant"] = devKey, string(tenant)
	}
	if a.IO.Output == "json" {
		if err := a.IO.PrintJSON(said); err != nil {
			return err
		}
	}
	if console {
		a.IO.Note("graphkernel: listening on %s; open it in a browser, or see %s/docs", url, url)
	} else {
		a.IO.Note("graphkernel: listening on %s; %s/docs describes it", url, url)
	}
	if devKey != "" && a.IO.Output != "json" {
		a.IO.Warn("graphkernel: an API key for this run, role admin, tenant %s:", tenant)
		a.IO.Warn("  %s", devKey)
		if console {
			a.IO.Warn("and a link that signs a browser in with it: %s", link(url, devKey))
		}
	}
	go feedWatchdog(a, ctx, alive, log)
	err = s.Serve(ctx, l, secure, stopping)
	if err == nil {
		a.IO.Note("graphkernel: stopped")
	}
	return err
}

// devAccess makes an API key that is valid only for this run.
func devAccess(tenant dag.Tenant, clock func() time.Time, others authenticator) (string, authenticator, error) {
	now, err := dag.TimeOf(clock())
	if err != nil {
		return "", nil, err
	}
	text, key, err := access.Mint(rand.Reader, tenant, access.Admin, "made by --dev", now)
	if err != nil {
		return "", nil, err
	}
	return text, func(ctx context.Context, bearer string) (access.Identity, error) {
		if subtle.ConstantTimeCompare([]byte(bearer), []byte(text)) == 1 {
			return key.Identity(), nil
		}
		return others(ctx, bearer)
	}, nil
}

type authenticator = func(ctx context.Context, bearer string) (access.Identity, error)
