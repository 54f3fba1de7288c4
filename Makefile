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

# ENGINES are the packages with many goroutines. "make test" runs their tests once, under
# the race detector. "make race" runs all tests of the plugin's code under it.
RACE    := $(WITHC) $(GO) test -race
ENGINES := $(addprefix ./internal/,census create duplicates exactlyonce exporter live prune serverinfo wait)
QUICK   := ./pkg/... ./internal/... ./docs/... ./test/docs ./test/offline ./test/lint ./test/prose ./test/schema
# The plugin's packages, without the engines, the lab, test/release and test/sessions. go
# test starts packages in this order. test/e2e takes longest, so it is first.
MODULE  := github.com/kubectl-genname/kubectl-genname
PLUGIN   = ./test/e2e $(filter-out $(MODULE)/lab/% $(MODULE)/test/e2e $(MODULE)/test/sessions $(MODULE)/test/release $(ENGINES:./%=$(MODULE)/%),$(shell $(GO) list ./...))

# A full release needs programs that this Makefile doesn't build: syft for SBOMs, cosign
# with its service for signatures, and docker with a registry for the image. SKIP leaves
# these parts out.
SKIP       ?= sbom,sign,docker
GORELEASER := $(GO) tool -modfile=tools/release/go.mod goreleaser
# Without a remote, goreleaser doesn't find the commit. So git gets a remote from variables.
REMOTE     := GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/kubectl-genname/kubectl-genname

# Property tests generate their input from this seed. The seed is always the same, so a
# check fails because of a change, and not by chance. "make chance" uses another seed.
export RAPID_SEED ?= 1
PROPERTIES = $(shell git grep -l pgregory.net/rapid -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')

# The other modules that "make lint" vets. The modules of tools have no code. Those of
# test/controlplane contain all of Kubernetes, which takes minutes to vet.
MODULES = $(patsubst %/go.mod,%,$(filter-out tools/% test/controlplane/%,$(shell git ls-files '*/go.mod')))

# The packages that other programs import. They follow semantic versions.
PUBLIC := ./pkg/once ./pkg/once/oncetest ./pkg/once/oncecr ./pkg/once/names ./pkg/analyze

# The library is a module of its own.
LIBRARY := $(GO) test -C pkg/once

# The modules that need controller-runtime.
CONTROLLERS := pkg/once/oncecr examples/controller

.DEFAULT_GOAL := help
.PHONY: help build control-plane demo test test-plugin test-engines test-modules lab-test race unit bare release-test cover chance fuzz fuzz-targets lint bench faults churn clock compat foreign figures schemas measure controllers reconcile prune-trial wait-types published admission rules docs apidiff exports release-commit release-snapshot release-twice vulnerabilities release clean

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build the plugin into bin/
	$(GO) build -o bin/ ./cmd/kubectl-genname

control-plane: ## Build kube-apiserver, etcd and kubectl into the user's cache (5 minutes, once)
	$(GO) run ./test/controlplane/run

demo: control-plane build ## Run a tour of the commands on a real kube-apiserver
	$(GO) run ./test/controlplane/run --controllers=job-controller --nodes bash examples/demo.sh

unit: ## Run the tests that need no control plane (seconds)
	$(GO) test -short $(QUICK)
	$(LIBRARY) -short ./...

bare: control-plane ## Run the quick tests, and the tests that run kubectl, with an empty home and almost no variables
	.ci/bare $(GO) test -short -count=1 $(QUICK)
	.ci/bare $(GO) test -count=1 -run 'Kubectl|Completion|WholeCluster/completion' ./test/e2e

test: control-plane build ## Run all tests except those of a release, on a real control plane (5 minutes)
	@echo "Building kube-controller-manager and KWOK: 4 minutes the first time"
	$(GO) run ./test/controlplane/run --controllers=job-controller --nodes true
	rm -rf bin/coverage && mkdir -p bin/coverage/sessions
	MAKE='$(MAKE)' .ci/beside test-plugin test-engines test-modules
	@$(MAKE) --no-print-directory cover

# The parts of test. They run beside each other, so each starts few programs at a time.
test-plugin: # The plugin, on servers that the packages share. Sessions print whole clusters, so theirs are their own
	$(GO) run ./test/controlplane/run --shared \
	$(GO) test -p 2 -timeout 20m -covermode=atomic -coverpkg=./pkg/...,./internal/... -coverprofile=cover.out $(PLUGIN)
	GENNAME_COVERAGE=$(CURDIR)/bin/coverage/sessions $(GO) test -count=1 ./test/sessions # a cached run counts for no coverage

test-engines: # The packages with many goroutines, under the race detector
	$(RACE) -p 2 -timeout 20m -covermode=atomic -coverpkg=./pkg/...,./internal/... -coverprofile=bin/coverage/engines.out $(ENGINES)

test-modules: # The other modules: alerts and dashboard in Prometheus' engine, the library with its lowest versions, controllers
	$(GO) test -C test/monitoring -p 1 ./...
	$(LIBRARY) -p 1 ./...
	for module in $(CONTROLLERS); do $(GO) test -C $$module -p 1 ./... || exit 1; done

lab-test: control-plane ## Run the tests of the lab: experiment, faults, exporter, reconcile (8 minutes)
	$(GO) test -p 2 -timeout 30m ./lab/...
	$(GO) test -C lab/reconcile ./...

race: control-plane ## Run the tests of the plugin's code under the race detector (10 minutes)
	$(RACE) -timeout 30m ./pkg/... ./internal/... ./test/e2e ./test/offline ./test/lint ./test/census ./lab/faults ./test/faultproxy

release-test: control-plane ## Make a release of this platform, and test its files (3 minutes more the first time)
	@echo "Building goreleaser: 3 minutes the first time"
	$(GORELEASER) check
	$(GO) test -timeout 20m ./test/release

cover: # Fail if the coverage of pkg/ and internal/ is too low. Run it after test
	@$(GO) tool covdata textfmt -i=bin/coverage/sessions -o=bin/coverage/sessions.out
	@tail -q -n +2 bin/coverage/engines.out bin/coverage/sessions.out | grep -v '/cmd/kubectl-genname/' >> cover.out
	@$(GO) tool cover -func=cover.out | awk -v least=$(COVERAGE) '/^total:/ {print "coverage of pkg/ and internal/: " $$3; exit ($$3+0 < least)}'

chance: control-plane ## Run the property tests and fault tests with a random seed (SEED= repeats a seed)
	@seed=$${SEED:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}; echo "make chance SEED=$$seed"; \
	RAPID_SEED=$$seed $(GO) test -count=1 $(PROPERTIES) && \
	GENNAME_SEED=$$seed $(RACE) -count=1 -timeout 20m -run 'TestFaults|TestAuditOfChance' ./lab/faults ./test/e2e

.PHONY: conformance
conformance: ## Check a program that creates objects: make conformance PROGRAM="path argument"
	@$(GO) run ./test/conformance $(PROGRAM)

# Each fuzz target is a package and a function in it.
FUZZ  = $(shell git grep -o '^func Fuzz[A-Za-z]*' -- '*_test.go' | sed -E 's|([^:]*)/[^/]*:func (.*)|./\1/\2|')
TIME ?= 10s

library: ## Test the library with its oldest Go version, and with the newest Kubernetes modules
	GOTOOLCHAIN=go$$($(GO) -C pkg/once mod edit -json | awk -F '"' '$$2 == "Go" {print $$4}') $(LIBRARY) ./...
	newest=$$(mktemp -d) && trap 'rm -rf "$$newest"' EXIT && cp pkg/once/go.mod pkg/once/go.sum "$$newest" && \
	$(GO) -C pkg/once get -modfile="$$newest/go.mod" k8s.io/api@latest k8s.io/apimachinery@latest k8s.io/client-go@latest && \
	$(LIBRARY) -mod=mod -modfile="$$newest/go.mod" ./...

fuzz: ## Fuzz all targets, or only TARGET=, for TIME= each (10s)
	@for target in $(or $(TARGET),$(FUZZ)); do echo "$$target for $(TIME)"; \
	$(GO) test -C "$${target%/*}" -run '^$$' -fuzz "^$${target##*/}$$" -fuzztime $(TIME) . || exit 1; done

fuzz-targets: # Print the values of TARGET= for fuzz (.github/workflows/nightly.yaml uses them)
	@printf '%s\n' $(FUZZ)

lint: ## Run the linters on the code, the scripts and the workflows
	@echo "Running golangci-lint: 2 minutes the first time"
	$(GO) tool -modfile=tools/go.mod golangci-lint run ./...
	@for module in pkg/once pkg/once/oncecr; do echo "golangci-lint in $$module"; \
	(linter=$$($(GO) tool -modfile=tools/go.mod -n golangci-lint) && cd $$module && $$linter run ./...) || exit 1; done
	@for module in $(MODULES); do echo "go vet in $$module"; $(GO) vet -C $$module ./... || exit 1; done
	@command -v shellcheck > /dev/null || { echo "error: shellcheck is not installed. On Debian, run: apt-get install shellcheck" >&2; exit 1; }
	git grep -lE '^#!/(usr/)?bin/(env )?(ba)?sh' -- ':!*.go' ':!*.md' | xargs shellcheck
	$(GO) tool -modfile=tools/actionlint/go.mod actionlint # with shellcheck for the scripts in workflows

apidiff: ## Compare the exported names of the public packages with those of the last release
	.ci/apidiff $(PUBLIC)

exports: ## Write the exported names of a release for apidiff: make exports VERSION=v0.1.0
	.ci/apidiff -w '$(VERSION)' $(PUBLIC)

vulnerabilities: ## Find known vulnerabilities in the code that the plugin calls (reads vuln.go.dev)
	$(GO) tool -modfile=tools/govulncheck/go.mod govulncheck ./...

docs: ## Write the command reference and the pictures of recorded terminals
	rm -rf docs/reference/commands
	$(GO) run ./docs/generate --markdown docs/reference/commands --screens docs/figures

release-commit: ## Make the commit of a release, after the library's tag: make release-commit VERSION=v0.1.0
	@.ci/release-commit '$(VERSION)'

release-snapshot: ## Make a release of all platforms into dist/, and test it (SKIP= adds SBOMs, signatures and images)
	$(REMOTE) $(GORELEASER) release --snapshot --clean $(if $(SKIP),--skip=$(SKIP))
	$(GO) run ./krew/render dist > dist/genname.yaml
	$(GO) test -count=1 ./test/release -args -dist=$(CURDIR)/dist

# The Go that compiles a release has the security fixes of the toolchain line, which a bot keeps up to date.
.PHONY: go-patch
go-patch: # Fail if this Go is older than the toolchain line of go.mod
	@want=$$(awk '$$1 == "toolchain" {print $$2}' go.mod) have=$$($(GO) env GOVERSION) && \
	printf '%s\n' "$$want" "$$have" | sort -C -V || { echo "error: this is $$have, and go.mod has the toolchain $$want. Install $$want" >&2; exit 1; }

release: go-patch # Make a draft release of the current tag, with SBOMs, signatures and the image, and test it (.github/workflows/release.yaml)
	$(GORELEASER) release --clean
	$(GO) run ./krew/render dist > dist/genname.yaml
	$(GO) test -count=1 ./test/release -args -dist=$(CURDIR)/dist

release-twice: ## Make the release of the current commit in two directories, and compare every byte
	@git diff --quiet HEAD || { echo "error: there are uncommitted changes, and the programs would contain a note about them. Commit or remove the changes" >&2; exit 1; }
	$(MAKE) release-snapshot
	rm -rf bin/again && git worktree prune && git worktree add --quiet --detach bin/again
	cd bin/again && $(REMOTE) $(GORELEASER) release --snapshot --clean $(if $(SKIP),--skip=$(SKIP))
	diff dist/checksums.txt bin/again/dist/checksums.txt && echo "both releases are identical"
	git worktree remove --force bin/again

bench: control-plane ## Measure speed and memory on real servers, and write docs/internals/benchmarks.md (an hour on an idle machine)
	$(GO) test -run '^$$' -bench . -benchmem ./pkg/... ./internal/...
	$(GO) run -C lab/bench . create audit live startup

# The page has the results of 5,000 objects and the default seed. Other runs only print.
N        ?= 5000
FAULTS  = $(GO) run ./lab/faults/run -objects $(N) $(if $(SEED),-seed $(SEED)) $(if $(ONLY),-only $(ONLY)) \
            $(if $(SEED)$(ONLY)$(filter-out 5000,$(N)),,-write docs/internals/benchmarks.md)

faults: build control-plane ## Create objects through injected faults, and write docs/internals/benchmarks.md (15 minutes; with N=, SEED= or ONLY= only print)
	$(FAULTS)
	$(FAULTS) -replicated -by-request -server-kills 7

# The page has the results of five minutes and the default seed. Other runs only print.
FOR ?= 5m

churn: build control-plane ## Test audit --watch while parts of a replicated control plane fail, and write docs/internals/watch-engine.md (8 minutes; with FOR= or SEED= only print)
	$(GO) run ./lab/faults/run -follow $(FOR) -replicated -by-request -server-kills 7 $(if $(SEED),-seed $(SEED)) \
	$(if $(SEED)$(filter-out 5m,$(FOR)),,-write docs/internals/watch-engine.md)

compat: build control-plane ## Test each supported version of kube-apiserver and kubectl, and write docs/reference/server-versions.md (10 minutes; the first time 5 more for each version)
	$(GO) run ./lab/compat -write docs/reference/server-versions.md

foreign: control-plane ## Test the linux/arm64 program under qemu, and write docs/reference/server-versions.md (5 minutes)
	@command -v qemu-aarch64-static > /dev/null || { echo "error: qemu-aarch64-static is not installed. On Debian, run: apt-get install qemu-user-static" >&2; exit 1; }
	GOARCH=arm64 $(GO) build -ldflags="-s -w" -o bin/arm64/ ./cmd/kubectl-genname
	$(GO) run ./lab/compat -plugin lab/compat/arm64 -only v1.34.4 -section foreign -write docs/reference/server-versions.md

figures: build ## Draw the plots of docs/figures with the commands of docs/internals/kep-4420.md
	@grep -o '^    kubectl genname report --plot .*' docs/internals/kep-4420.md | sed 's|kubectl genname|bin/kubectl-genname|' | sh -ex > /dev/null

schemas: ## Write docs/schemas and docs/reference/formats from the Go types
	$(GO) test ./test/schema -run Generated -update

rules: ## Write docs/rules from the rules of lint
	$(GO) test ./internal/lint/rules -run Pages -update

controllers: control-plane ## Read the names that the real controllers derive, and write docs/reference/derived-names.md (4 minutes more the first time)
	$(GO) run ./test/lint/controllers

wait-types: control-plane ## Test create --wait with the real CRD of each custom resource that it supports (2 minutes; the first time 4)
	$(GO) test -count=1 ./test/waiting -run TestTypes -all-types

prune-trial: control-plane ## Delete 60,000 of 100,000 objects with prune and with kubectl while faults are injected (15 minutes)
	$(GO) run ./test/pruning/run $(if $(SEED),-seed $(SEED))

clock: control-plane ## Run the tests of create with clocks that are an hour ahead, an hour behind, or jump (20 minutes)
	lab/clock/run

reconcile: control-plane ## Create 1,000 objects with controllers through injected faults, and write docs/internals/reconcile.md (15 minutes; VERSION= is the server version)
	$(GO) run -C lab/reconcile ./run -write ../../docs $(if $(VERSION),-version=$(VERSION))

admission: ## Test examples/admission on a kube-apiserver of another version: make admission VERSION=v1.30.14
	$(GO) test ./test/lint -run TestAdmissionPolicies -server-version $(or $(VERSION),v1.30.14)

# CONTAINER builds the image. CERTIFICATES is the file that is copied into it.
CONTAINER    ?= $(shell command -v podman || command -v docker)
CERTIFICATES ?= /etc/ssl/certs/ca-certificates.crt
# The image of deploy/exporter, with the version that .ci/release-commit writes there.
IMAGE        ?= $(shell awk '/- name:/ {name=$$3} /newTag:/ {print name ":" $$2}' deploy/exporter/base/kustomization.yaml)
ARCH         := $(shell $(GO) env GOARCH)

.PHONY: image
image: ## Build the exporter's image with podman or docker (IMAGE= is its name, CONTAINER= the program)
	@test -n "$(CONTAINER)" || { echo "error: neither podman nor docker is installed. Install one of them, or set CONTAINER=" >&2; exit 1; }
	mkdir -p bin/image/linux/$(ARCH) bin/image/bin
	GOOS=linux $(GO) build -ldflags="-s -w" -o bin/image/linux/$(ARCH)/ ./cmd/kubectl-genname
	cp $(CERTIFICATES) bin/image/bin/ca-certificates.crt
	$(CONTAINER) build --build-arg TARGETPLATFORM=linux/$(ARCH) --file packaging/image/Dockerfile --tag $(IMAGE) bin/image

# The Prometheus server, without its web interface and its service discovery.
bin/prometheus: tools/prometheus/go.mod
	@echo "Building Prometheus: 4 minutes the first time"
	$(GO) build -C tools/prometheus -ldflags="-s -w" -tags remove_all_sd -o $(CURDIR)/$@ github.com/prometheus/prometheus/cmd/prometheus

# The number of names of each of 300 prefixes. 10,000 names need about 16 GiB of memory.
CROWD ?= 2000

.PHONY: exporter
exporter: control-plane build image bin/prometheus ## Test the exporter's image in incidents with a real Prometheus, and write docs/internals/exporter.md (100 minutes; CONTAINER=, CROWD=)
	$(GO) run ./lab/exporter -container $(CONTAINER) -crowd $(CROWD) -write docs/internals/exporter.md incidents guide memory

published: ## Lint published manifests, and write test/lint/published/findings.txt (downloads 22 Go modules)
	$(GO) run ./test/lint/published

measure: control-plane ## Measure conflicts on real servers, and write docs/internals/measured.md (15 minutes)
	$(GO) run ./lab/experiment/measure
	cd lab/experiment/figure && $(GO) run . ../../../docs/measured

clean: ## Remove the built files, but not the user's cache
	rm -rf bin dist cover.out
