# Every target needs Go 1.26 and make. The race detector also needs a C compiler. All
# other programs are built from Go modules, at the versions of their go.sum.

GO       ?= go
COVERAGE := 85

# The libraries of Kubernetes take minutes to compile. So there are only two ways to
# compile: without C (the plugin, kubectl, the servers and most tests), and with C for
# the race detector.
USERFLAGS          := $(shell $(GO) env GOFLAGS)
GOFLAGS            := $(filter-out -trimpath,$(USERFLAGS)) -trimpath
export GOFLAGS
export CGO_ENABLED := 0
WITHC              := CGO_ENABLED=1 GOFLAGS="$(filter-out -trimpath,$(USERFLAGS))"

# ENGINES are the packages whose goroutines share state.
RACE    := $(WITHC) $(GO) test -race
ENGINES := $(addprefix ./internal/,census create duplicates exporter follow intercept lint live logs prune serverinfo untrusted wait)
QUICK   := ./pkg/... ./internal/... ./docs/... ./test/docs ./test/offline ./test/lint ./test/prose ./test/schema
# The plugin's packages, without the lab, test/release and test/sessions. go test starts
# packages in this order. test/e2e takes longest, so it is first.
MODULE  := github.com/kubectl-genname/kubectl-genname
PLUGIN   = ./test/e2e $(filter-out $(MODULE)/lab/% $(MODULE)/test/e2e $(MODULE)/test/sessions $(MODULE)/test/release,$(shell $(GO) list ./...))

# Property tests generate their input from this seed. The seed is always the same, so a
# check fails because of a change, and not by chance. "chance" of lab/Makefile uses another seed.
export RAPID_SEED ?= 1

# The other modules that "make lint" vets. The modules of tools have no code. Those of
# test/controlplane contain all of Kubernetes, which takes minutes to vet.
MODULES = $(patsubst %/go.mod,%,$(filter-out tools/% test/controlplane/%,$(shell git ls-files '*/go.mod')))

# The library is a module of its own.
LIBRARY := $(GO) test -C pkg/once

# The modules that need controller-runtime.
CONTROLLERS := pkg/once/oncecr examples/controller

.DEFAULT_GOAL := help
.PHONY: help build control-plane demo unit near bare test test-plugin test-sessions test-library modules lab-test engines race cover conformance fuzz fuzz-targets lint lines generated docs schemas image clean

# Measurements are in lab/Makefile, and releases in packaging/Makefile: make -f lab/Makefile help
help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

build: ## Build the plugin into bin/
	$(GO) build -o bin/ ./cmd/kubectl-genname

control-plane: ## Build kube-apiserver, etcd and kubectl into the user's cache (5 minutes, once)
	$(GO) run ./test/controlplane/run

demo: control-plane build ## Run a tour of the commands on a real kube-apiserver
	$(GO) run ./test/controlplane/run --controllers=job-controller --nodes bash examples/demo.sh

unit: ## Run the tests that need no control plane (seconds)
	$(GO) test -short $(QUICK)
	$(LIBRARY) -short ./...

# NEAR are the packages that changed since BASE, and those that import them.
BASE ?= HEAD
NEAR  = { git diff --name-only $(BASE) -- '*.go'; git ls-files --others --exclude-standard '*.go'; } | xargs -rn1 dirname | sort -u | \
	awk 'NR == FNR {changed["$(MODULE)/" $$1]; next} {for (i = 1; i <= NF; i++) if ($$i in changed) {print $$1; next}}' - \
	<($(GO) list -f '{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./pkg/... ./internal/... ./cmd/...)

near: SHELL := bash
near: ## Test the packages that changed since BASE= (HEAD), and their importers (seconds)
	@packages=$$($(NEAR)); test -z "$$packages" || $(GO) test -short $$packages
	@git diff --quiet $(BASE) -- pkg/once || $(LIBRARY) -short ./...

bare: control-plane ## Run the quick tests, and the tests that run kubectl, with an empty home and almost no variables
	.ci/bare $(GO) test -short -count=1 $(QUICK)
	.ci/bare $(GO) test -count=1 -run 'Kubectl|Completion|WholeCluster/completion' ./test/e2e

test: control-plane build ## Run the tests of the plugin and the library on a real control plane (9 minutes)
	@echo "Building kube-controller-manager and KWOK: 4 minutes the first time"
	$(GO) run ./test/controlplane/run --controllers=job-controller --nodes true
	rm -rf bin/coverage && mkdir -p bin/coverage/sessions
	MAKE='$(MAKE)' .ci/beside test-plugin test-sessions test-library
	@$(MAKE) --no-print-directory cover

# The parts of test. They run beside each other, so each starts few programs at a time.
test-plugin: # The plugin, on servers that the packages share
	$(GO) run ./test/controlplane/run --shared \
	$(GO) test -p 2 -vet=off -timeout 20m -covermode=atomic -coverpkg=./pkg/...,./internal/... -coverprofile=cover.out $(PLUGIN)

test-sessions: # Sessions print whole clusters, so their servers are their own. Some sessions mostly wait, so four run at a time. A cached run counts for no coverage
	GENNAME_COVERAGE=$(CURDIR)/bin/coverage/sessions $(GO) test -count=1 -parallel 4 -timeout 20m ./test/sessions

test-library: # pkg/once, with the lowest versions of its dependencies
	$(LIBRARY) -p 1 ./...

# .ci/run also runs these two. They compile most packages again, and few changes need them.
engines: ## Run the tests of the packages that start goroutines under the race detector (3 minutes)
	$(RACE) -timeout 20m $(ENGINES)

modules: control-plane ## Run the tests of the other modules: alerts and dashboard in Prometheus' engine, controllers (3 minutes)
	for module in test/monitoring $(CONTROLLERS); do $(GO) test -C $$module -p 1 ./... || exit 1; done

lab-test: control-plane ## Run the tests of the lab: experiment, faults, exporter (8 minutes)
	$(GO) test -p 2 -timeout 30m ./lab/...

race: control-plane ## Run the tests of the plugin's code under the race detector (10 minutes)
	$(RACE) -timeout 30m ./pkg/... ./internal/... ./test/e2e ./test/offline ./test/lint ./test/census ./lab/faults ./test/faultproxy

cover: # Fail if the coverage of pkg/ and internal/ is too low. Run it after test
	@$(GO) tool covdata textfmt -i=bin/coverage/sessions -o=bin/coverage/sessions.out
	@tail -n +2 bin/coverage/sessions.out | grep -v '/cmd/kubectl-genname/' >> cover.out
	@$(GO) tool cover -func=cover.out | awk -v least=$(COVERAGE) '/^total:/ {print "coverage of pkg/ and internal/: " $$3; exit ($$3+0 < least)}'

conformance: $(if $(SERVER),control-plane) ## Check a program that creates objects: make conformance PROGRAM="path argument" (SERVER=real: not in memory)
	@$(if $(SERVER),$(GO) run ./test/controlplane/run sh -c '$(GO) run ./test/conformance -kubeconfig "$$KUBECONFIG" "$$@"' -,$(GO) run ./test/conformance) $(PROGRAM)

.PHONY: clients
clients: control-plane build # Write docs/concepts/lost-responses.md (10 minutes). It needs node, npm, ansible and python3-kubernetes
	npm install --prefix test/conformance/programs/javascript --no-package-lock
	$(GO) run ./test/controlplane/run sh -c 'cd test/conformance && $(GO) run . -page ../../docs/concepts/lost-responses.md'

# Each fuzz target is a package and a function in it.
FUZZ  = $(shell git grep -o '^func Fuzz[A-Za-z]*' -- '*_test.go' | sed -E 's|([^:]*)/[^/]*:func (.*)|./\1/\2|')
TIME ?= 10s

fuzz: ## Fuzz all targets, or only TARGET=, for TIME= each (10s), with 8 GB of memory
	@ulimit -v 8000000; for target in $(or $(TARGET),$(FUZZ)); do echo "$$target for $(TIME)"; \
	$(GO) test -C "$${target%/*}" -run '^$$' -fuzz "^$${target##*/}$$" -fuzztime $(TIME) -fuzzminimizetime 1x . || exit 1; done

fuzz-targets: # Print the values of TARGET= for fuzz (.github/workflows/nightly.yaml uses them)
	@printf '%s\n' $(FUZZ)

lint: ## Run the linters on the code, the scripts and the workflows
	@echo "Running golangci-lint: 4 minutes the first time"
	$(GO) tool -modfile=tools/go.mod golangci-lint run ./...
	@for module in pkg/once pkg/once/oncecr; do echo "golangci-lint in $$module"; \
	(linter=$$($(GO) tool -modfile=tools/go.mod -n golangci-lint) && cd $$module && $$linter run ./...) || exit 1; done
	@for module in $(MODULES); do echo "go vet in $$module"; $(GO) vet -C $$module ./... || exit 1; done
	@command -v shellcheck > /dev/null || { echo "error: shellcheck is not installed. On Debian, run: apt-get install shellcheck" >&2; exit 1; }
	git grep -lE '^#!/(usr/)?bin/(env )?(ba)?sh' -- ':!*.go' ':!*.md' | xargs shellcheck
	$(GO) tool -modfile=tools/small/go.mod actionlint # with shellcheck for the scripts in workflows

# The linter needs minutes to compile. This needs none of it, so a long line is found at once.
lines: ## Fail if Go code isn't formatted, or has lines over 120 columns (seconds)
	@test -z "$$(gofmt -l $$(git ls-files '*.go') | tee /dev/stderr)"
	@git ls-files '*.go' | grep -vE '_test\.go$$|^(test|lab)/' | xargs perl -CSD -ne 's/\t/    /g; $$long = print "$$ARGV: $$_" if length > 121; END {exit !!$$long}'

generated: ## Fail if generated files are not those of the code, or pages are wrong
	$(GO) test -short ./docs/... ./test/docs ./test/prose ./test/schema

docs: ## Write the command reference and the pictures of recorded terminals
	rm -rf docs/reference/commands
	$(GO) run ./docs/generate --markdown docs/reference/commands --screens docs/figures

schemas: ## Write docs/schemas and docs/reference/formats from the Go types
	$(GO) test ./test/schema -run Generated -update

# CONTAINER builds the image. CERTIFICATES is the file that is copied into it.
CONTAINER    ?= $(shell command -v podman || command -v docker)
CERTIFICATES ?= /etc/ssl/certs/ca-certificates.crt
# The image of deploy/exporter, with the version that .ci/release-commit writes there.
IMAGE        ?= $(shell awk '/- name:/ {name=$$3} /newTag:/ {print name ":" $$2}' deploy/exporter/base/kustomization.yaml)
ARCH         := $(shell $(GO) env GOARCH)

image: ## Build the exporter's image with podman or docker (IMAGE= is its name, CONTAINER= the program)
	@test -n "$(CONTAINER)" || { echo "error: neither podman nor docker is installed. Install one of them, or set CONTAINER=" >&2; exit 1; }
	mkdir -p bin/image/linux/$(ARCH) bin/image/bin
	GOOS=linux $(GO) build -ldflags="-s -w" -o bin/image/linux/$(ARCH)/ ./cmd/kubectl-genname
	cp $(CERTIFICATES) bin/image/bin/ca-certificates.crt
	$(CONTAINER) build --build-arg TARGETPLATFORM=linux/$(ARCH) --file packaging/image/Dockerfile --tag $(IMAGE) bin/image

clean: ## Remove the built files, but not the user's cache
	rm -rf bin dist cover.out
