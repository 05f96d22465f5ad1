# Every target sets up what it needs. Tools go to ./bin, not to the machine.

STATICCHECK_VERSION := v0.8.2
FUZZTIME ?= 10m

.PHONY: demo build test check race processors tidy bench fuzz clean

demo: ## see the kernel at work, in a temporary folder
	go run ./cmd/graphkernel demo

build: ## the program, at ./bin/graphkernel
	go build -trimpath -o bin/graphkernel ./cmd/graphkernel

test: check tidy race processors ## everything that must hold before a change lands
	@echo "everything holds"

check: bin/staticcheck-$(STATICCHECK_VERSION) ## formatting, vet, staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not formatted:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	bin/staticcheck-$(STATICCHECK_VERSION) ./...

tidy: ## go.mod and go.sum say what is used, and no more
	go mod tidy -diff
	go mod verify

race: ## every test, with the race detector and in a random order; fuzz seeds and the README's session included
	go test -race -shuffle=on ./...

processors: ## the same bytes on 32 bits, on arm64 and on a big-endian machine
	.ci/processors

bench: ## times and ratios, beside what they are compared with
	go run ./bench

fuzz: ## each parser for FUZZTIME
	.ci/fuzz $(FUZZTIME)

bin/staticcheck-$(STATICCHECK_VERSION):
	GOBIN=$(CURDIR)/bin go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)
	mv bin/staticcheck $@

clean:
	rm -rf bin
