# Every target sets up what it needs. Tools go to ./bin, not to the machine.

STATICCHECK_VERSION := v0.8.2
FUZZTIME ?= 10m
DIFFERENTIAL_TIME ?= 1m
SOAKTIME ?= 3m

.PHONY: demo serve build test check postgres unit race processors conformance verifiers clients differential interop generate tidy bench bench-http eval soak fuzz clean

demo: ## see the kernel at work, in a temporary folder
	go run ./cmd/graphkernel demo

serve: ## the service on loopback, with a key for this run
	go run ./cmd/graphkernel serve --dev

build: ## the program, at ./bin/graphkernel
	go build -trimpath -o bin/graphkernel ./cmd/graphkernel

test: check tidy unit race processors conformance verifiers clients differential interop ## everything that must hold before a change lands
	@echo "everything holds"

check: bin/staticcheck-$(STATICCHECK_VERSION) ## formatting, vet, staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not formatted:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go -C bench vet ./...
	go -C eval vet ./...
	go vet -tags otlp ./cmd/graphkernel/...
	bin/staticcheck-$(STATICCHECK_VERSION) ./...
	cd bench && ../bin/staticcheck-$(STATICCHECK_VERSION) ./...
	cd eval && ../bin/staticcheck-$(STATICCHECK_VERSION) ./...

tidy: ## go.mod and go.sum say what is used, and no more
	go mod tidy -diff
	go -C bench mod tidy -diff
	go -C eval mod tidy -diff
	go mod verify

postgres: ## a PostgreSQL server's programs for the tests, where there are none
	.ci/postgres

# The package whose tests take longest begins first, so that the others run beside it.
LONGEST := ./store/postgres

# Random and exhaustive runs have a short form, which draws other cases each time and logs its seed. "make soak"
# has their length.
unit: postgres ## every test, in a random order and the short form of random runs; fuzz seeds and the README's session included
	GKTEST_POSTGRES=required go test -short -shuffle=on -timeout 30m $(LONGEST) ./...
	GKTEST_POSTGRES=required go -C bench test -shuffle=on ./...
	go -C eval test -shuffle=on ./...

# The race detector makes tests about ten times as slow, so it watches packages that use more than
# one goroutine (those that import sync, by their code or their tests). SQLite and its libc are C turned into Go; watching them would take half of the time.
SYNCHRONIZED = $$(go list -f '{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}} ' ./... | \
	grep -E ' (sync|sync/atomic|golang.org/x/sync/errgroup) ' | cut -d ' ' -f 1)
UNWATCHED := -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false

race: postgres ## the packages that use goroutines, under the race detector
	GKTEST_POSTGRES=required go test -race $(UNWATCHED) -short -shuffle=on -timeout 30m $(LONGEST) $(SYNCHRONIZED)

processors: ## the same bytes on 32 bits, on arm64 and on a big-endian machine
	.ci/processors

conformance: ## the public suite of the Model Context Protocol, and its memory server beside ours
	.ci/conformance

verifiers: conformance ## the three verifiers on the corpus, and the tests of two of them
	.ci/verifiers

clients: conformance ## the clients in Python and TypeScript, against a service
	.ci/clients

generate: ## what is made from the declarations: the description, the clients, tables of the docs, the help that tests hold
	go test ./server -run '^TestDescription$$' -update
	go test ./server/mcp -run '^(TestSizes|TestManual)$$' -update
	go test ./api/clients -run '^TestClients$$' -update
	go test ./cmd/graphkernel -run '^TestHelp$$' -update

differential: conformance ## the three verifiers side by side on mutants, for DIFFERENTIAL_TIME
	.ci/differential $(DIFFERENTIAL_TIME)

interop: ## what others wrote judges ours: DSSE, in-toto, Merkle trees, tiles, PROV, cosign
	.ci/interop

bench: ## times and ratios, beside what they are compared with
	go -C bench run .

bench-http: ## the service under load, beside a bare handler and the library
	go -C bench run ./http

eval: ## what is chosen for an agent, beside simpler ways to choose it, on data that others wrote
	go -C eval run .

soak: postgres ## every test at its full length, and the service under full load for SOAKTIME: memory, goroutines, errors
	GKTEST_POSTGRES=required go test -count=1 -shuffle=on -timeout 2h $(LONGEST) ./...
	go -C bench run ./http -soak $(SOAKTIME)

fuzz: ## each parser for FUZZTIME
	.ci/fuzz $(FUZZTIME)

bin/staticcheck-$(STATICCHECK_VERSION):
	GOBIN=$(CURDIR)/bin go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)
	mv bin/staticcheck $@

clean:
	rm -rf bin
