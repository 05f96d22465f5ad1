# Every target sets up what it needs. Tools go to ./bin, not to the machine.

STATICCHECK_VERSION := v0.8.2
FUZZTIME ?= 10m
DIFFERENTIAL_TIME ?= 1m

.PHONY: demo serve build test check postgres race processors conformance verifiers differential interop tidy bench eval-knowledge bench-http soak fuzz clean

demo: ## see the kernel at work, in a temporary folder
	go run ./cmd/graphkernel demo

serve: ## the service on loopback, with a key for this run
	go run ./cmd/graphkernel serve --dev

build: ## the program, at ./bin/graphkernel
	go build -trimpath -o bin/graphkernel ./cmd/graphkernel

test: check tidy race processors conformance verifiers differential interop ## everything that must hold before a change lands
	@echo "everything holds"

check: bin/staticcheck-$(STATICCHECK_VERSION) ## formatting, vet, staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not formatted:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go vet -tags otlp ./cmd/graphkernel
	bin/staticcheck-$(STATICCHECK_VERSION) ./...

tidy: ## go.mod and go.sum say what is used, and no more
	go mod tidy -diff
	go mod verify

postgres: ## a PostgreSQL server's programs for the tests, where there are none
	.ci/postgres

race: postgres ## every test, with the race detector and in a random order; fuzz seeds and the README's session included
	GKTEST_POSTGRES=required go test -race -shuffle=on -timeout 30m ./...

processors: ## the same bytes on 32 bits, on arm64 and on a big-endian machine
	.ci/processors

conformance: ## the public suite of the Model Context Protocol, and its memory server beside ours
	.ci/conformance

verifiers: conformance ## the three verifiers on the corpus, and the tests of two of them
	.ci/verifiers

differential: conformance ## the three verifiers side by side on mutants, for DIFFERENTIAL_TIME
	.ci/differential $(DIFFERENTIAL_TIME)

interop: ## what others wrote judges ours: DSSE, in-toto, Merkle trees, tiles, PROV, cosign
	.ci/interop

bench: ## times and ratios, beside what they are compared with
	go run ./bench

eval-knowledge: ## how far facts lead to the passages that answer questions, beside BM25
	go run ./bench/eval

bench-http: ## the service under load, beside a bare handler and the library
	go run ./bench/http

soak: ## the service under full load for three minutes: memory, goroutines, errors
	go run ./bench/http -soak 3m

fuzz: ## each parser for FUZZTIME
	.ci/fuzz $(FUZZTIME)

bin/staticcheck-$(STATICCHECK_VERSION):
	GOBIN=$(CURDIR)/bin go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)
	mv bin/staticcheck $@

clean:
	rm -rf bin
