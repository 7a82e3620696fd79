# Everything a contributor runs. Only Go is needed; lint fetches its tool where it is missing.

GO ?= go
FUZZTIME ?= 30s
GOLANGCI ?= $(or $(shell command -v golangci-lint),$(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0)

# A test that was skipped for a reason that matches this pattern fails the run.
MUST_RUN ?=
# The race detector needs a C compiler on most systems; without one the tests run without it. The commands beside the
# tests take the same flag, so that nothing is compiled twice.
RACE := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)

.PHONY: test check build lint bench fuzz clean

# Tests that want a Chroma server run when CHROMAFS_TEST_CHROMA names one (see scripts/services), and are skipped else.
test: check
	$(GO) run $(RACE) ./tools/gotest $(if $(MUST_RUN),-must-run '$(MUST_RUN)') -- $(RACE) -timeout 20m ./...
	@$(if $(RACE),,echo 'without the race detector: it needs cgo and a C compiler')

check:
	@unformatted=$$(find . -path './.?*' -prune -o -name node_modules -prune -o -name '*.go' -print0 | \
		xargs -0 "$$($(GO) env GOROOT)/bin/gofmt" -l); \
	test -z "$$unformatted" || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }
	$(GO) vet $(RACE) ./...

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o bin/chromafs ./cmd/chromafs

lint:
	$(GOLANGCI) run

bench:
	$(GO) run ./tools/bench

# Every fuzz target for FUZZTIME each.
fuzz:
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

clean:
	-scripts/services down
	rm -rf bin dist .cache
