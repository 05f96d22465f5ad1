# Every target sets up what it needs. Tools go to ./bin; as root on Debian, tests also install packages of the system (PostgreSQL, PgBouncer, QEMU, Buildah, bsdtar, Chromium).

STATICCHECK_VERSION := v0.8.2
FUZZTIME ?= 10m
DIFFERENTIAL_TIME ?= 1m
SOAKTIME ?= 3m

.PHONY: examples demo serve build install test check peers postgres unit race processors conformance verifiers clients differential interop browser release image generate tidy bench bench-http eval soak fuzz clean

FIRST = echo "building graphkernel; the first time takes minutes"

demo: ## see the kernel at work, in a temporary folder
	@$(FIRST)
	go run ./cmd/graphkernel demo

serve: ## the service on loopback, with a key for this run
	go run ./cmd/graphkernel serve --dev

build: ## the program, at ./bin/graphkernel
	go build -trimpath -o bin/graphkernel ./cmd/graphkernel

# A larger heap between collections takes a fifth off the processor's time.
#
# Go's tests wait for disks and servers a third of their time, so they run side by side. What comes after them mostly waits for one
# process, so it runs three at a time, the longest first; -O keeps the output of each together. The mutants have a time to run, and again the machine.
OUTPUT := $(if $(filter output-sync,$(.FEATURES)),-O)

install: ## both programs, into the folder of Go's programs
	@$(FIRST)
	go install -ldflags '-s -w' ./cmd/graphkernel ./cmd/graphkernel-hook
	@to=$$(go env GOBIN); to=$${to:-$$(go env GOPATH)/bin}; echo "graphkernel and graphkernel-hook are in $$to"; \
	case ":$$PATH:" in *:"$$to":*) ;; *) echo "put it on the PATH: export PATH=$$to:\$$PATH" ;; esac

test: export GOGC ?= 400
test: ## everything that must hold before a change lands
	$(MAKE) check tidy peers
	$(MAKE) -j2 race unit
	$(MAKE) -j3 $(OUTPUT) processors verifiers clients release browser interop conformance examples
	$(MAKE) differential
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

# Every test runs once, in a random order, under the race detector or without it: .ci/unit says which. Random and exhaustive
# runs have a short form, which draws other cases each time and logs its seed. "make soak" has their length.
race: postgres ## the packages that use goroutines, under the race detector
	.ci/unit race

unit: postgres ## all other tests; fuzz seeds and the README's session included
	.ci/unit plain
	GKTEST_POSTGRES=required go -C bench test -shuffle=on ./...
	go -C eval test -shuffle=on ./...

processors: ## the same bytes on 32 bits, on arm64 and on a big-endian machine
	.ci/processors

peers: # the public suite and the Node.js that several stages need
	.ci/conformance install

conformance: peers ## the public suite of the Model Context Protocol, and its memory server beside ours
	.ci/conformance

examples: peers ## the patches of docs/example, applied to a copy: made, tested, counted and taken back
	.ci/examples

verifiers: peers ## the verifiers in Python and JavaScript on the corpus, and their tests
	.ci/verifiers

clients: peers ## the clients in Python and TypeScript, against a service
	.ci/clients

generate: ## what is made from the declarations: the description, the clients, tables of the docs, the help that tests hold, the verifier's page
	go test . -run '^TestRooms$$' -update
	go test ./server -run '^TestDescription$$' -update
	go test ./server/mcp -run '^(TestSizes|TestManual)$$' -update
	go test ./api/clients -run '^TestClients$$' -update
	go test ./cmd/graphkernel -run '^(TestHelp|TestSynopses)$$' -update
	go test ./golden -run '^TestArchive$$' -update
	go test ./verifiers/js -run '^TestPage$$' -update

differential: peers ## the three verifiers side by side on mutants, for DIFFERENTIAL_TIME
	.ci/differential $(DIFFERENTIAL_TIME)

browser: ## the console's pages in Chromium: with and without JavaScript, by keyboard, at every width, under axe-core
	.ci/browser

interop: ## what others wrote judges ours: DSSE, in-toto, Merkle trees, tiles, PROV, cosign
	.ci/interop

release: ## archives, packages and the image of a release, built and started once, and published nowhere
	.ci/release

image: ## the image that Containerfile describes, with podman, buildah or docker, whichever is there
	.ci/release files
	platform=linux/$$(go env GOARCH) && mkdir -p bin/$$platform && CGO_ENABLED=0 GOOS=linux go build -trimpath -ldflags="-s -w" -o bin/$$platform/graphkernel ./cmd/graphkernel && \
		mkdir -p bin/context/bin/release bin/context/linux && cp -a bin/release/image bin/context/bin/release/ && cp -a bin/$$platform bin/context/linux/ && \
		$$(command -v podman || command -v buildah || command -v docker) build --build-arg TARGETPLATFORM=$$platform -t graphkernel -f Containerfile bin/context

bench: ## times and ratios, beside what they are compared with
	go -C bench run .

bench-http: ## the service under load, beside a bare handler and the library
	go -C bench run ./http

eval: ## what is chosen for an agent, beside simpler ways to choose it, on data that others wrote
	go -C eval run .

soak: postgres ## every test at its full length, and the service under full load for SOAKTIME: memory, goroutines, errors
	GKTEST_POSTGRES=required go test -count=1 -shuffle=on -timeout 2h ./store/postgres ./... # the longest first, so that the others run beside it
	go -C bench run ./http -soak $(SOAKTIME)

fuzz: ## each parser for FUZZTIME
	.ci/fuzz $(FUZZTIME)

bin/staticcheck-$(STATICCHECK_VERSION):
	GOBIN=$(CURDIR)/bin go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)
	mv bin/staticcheck $@

clean:
	rm -rf bin
