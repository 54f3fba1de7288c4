# Every target needs Go 1.26 and make, and the race detector a C compiler;
# whatever else is needed is built from Go modules, pinned by their go.sum.

GO       ?= go
COVERAGE := 85

# The libraries of Kubernetes take minutes to compile, so all is compiled in
# two ways only: as the plugin, kubectl and the servers are, and for the race
# detector, which needs C.
USERFLAGS          := $(shell $(GO) env GOFLAGS)
GOFLAGS            := $(filter-out -trimpath,$(USERFLAGS)) -trimpath
export GOFLAGS
export CGO_ENABLED := 0
WITHC              := CGO_ENABLED=1 GOFLAGS="$(USERFLAGS)"

# The packages in which much runs at the same time. "make test" has their tests run
# under the race detector, and "make race" all tests that run the plugin's code.
RACE    := $(WITHC) $(GO) test -race
ENGINES := $(addprefix ./internal/,census create duplicates exactlyonce exporter live prune serverinfo wait)
QUICK   := ./pkg/... ./internal/... ./docs/... ./test/docs ./test/offline ./test/lint ./test/prose ./test/schema
# The longest first, so that the others run beside it.
ALL      = ./test/e2e $(shell $(GO) list ./... | grep -vE '/test/(e2e|release)$$')

# A release needs programs that are not built here: syft for SBOMs, cosign with
# its service for signatures, and docker with a registry for the image.
SKIP       ?= sbom,sign,docker
GORELEASER := $(GO) tool -modfile=tools/release/go.mod goreleaser
# goreleaser forgets the commit where there is no remote.
REMOTE     := GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/kubectl-genname/kubectl-genname

# Properties are drawn by a seed: a check that blocks fails for what was changed,
# and not by chance. "make chance" takes another one.
export RAPID_SEED ?= 1
PROPERTIES = $(shell git grep -l pgregory.net/rapid -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')

# The modules beside the plugin's that have code to vet. Those of tools have
# none, and those of test/controlplane are built by control-plane: they are all
# of Kubernetes, which takes minutes to vet.
MODULES = $(patsubst %/go.mod,%,$(filter-out tools/% test/controlplane/%,$(shell git ls-files '*/go.mod')))

# The packages that others import, and that follow semantic versions.
PUBLIC := ./pkg/once ./pkg/once/oncetest ./pkg/once/oncecr ./pkg/once/names ./pkg/analyze

# The library is a module of its own.
LIBRARY := $(GO) test -C pkg/once

# The modules that need controller-runtime.
CONTROLLERS := pkg/once/oncecr examples/controller lab/reconcile

.DEFAULT_GOAL := help
.PHONY: help build control-plane demo test race unit bare release-test cover chance fuzz fuzz-targets lint bench faults churn clock compat foreign figures schemas measure controllers reconcile prune-trial wait-types published admission rules docs apidiff exports release-commit release-snapshot release-twice vulnerabilities release clean

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build the plugin into bin/
	$(GO) build -o bin/ ./cmd/kubectl-genname

control-plane: ## Build kube-apiserver, etcd and kubectl into the user's cache (5 minutes, once)
	$(GO) run ./test/controlplane/run

demo: control-plane build ## Tour the commands on a real kube-apiserver
	$(GO) run ./test/controlplane/run --controllers=job-controller --nodes bash examples/demo.sh

unit: ## Run the tests that need no control plane (seconds)
	$(GO) test -short $(QUICK)
	$(LIBRARY) -short ./...

bare: control-plane ## Run the quick tests, and those that kubectl runs in, in a bare environment
	.ci/bare $(GO) test -short -count=1 $(QUICK)
	.ci/bare $(GO) test -count=1 -run 'Kubectl|Completion' ./test/e2e

test: control-plane build ## Run all tests but those of a release, on a real control plane (minutes)
	@echo "kube-controller-manager, for the demo: 2 minutes at first"
	$(GO) run ./test/controlplane/run --controllers=job-controller true
	@echo "All tests of the plugin: 8 minutes"
	$(GO) test -timeout 20m -coverpkg=./pkg/...,./internal/... -coverprofile=cover.out $(ALL)
	@$(MAKE) --no-print-directory cover
	@echo "The alerts and the dashboard in Prometheus' engine, which is built at first: 2 minutes"
	$(GO) test -C test/monitoring ./...
	@echo "The library at its lowest versions: a minute at first"
	$(LIBRARY) ./...
	@echo "The modules for controllers, and at first controller-runtime: 2 minutes"
	for module in $(CONTROLLERS); do $(GO) test -C $$module ./... || exit 1; done
	@echo "The engines under the race detector, and at first Kubernetes' libraries: 3 minutes"
	$(RACE) -short -timeout 20m $(ENGINES)

race: control-plane ## Run all tests that run the plugin's code under the race detector (10 minutes)
	$(RACE) -timeout 30m ./pkg/... ./internal/... ./test/e2e ./test/offline ./test/lint ./test/census ./lab/faults ./test/faultproxy

release-test: control-plane ## Make a release of this platform and take it apart (goreleaser: 3 minutes at first)
	@echo "goreleaser, whose libraries are those of three clouds: 3 minutes at first"
	$(GORELEASER) check
	$(GO) test -timeout 20m ./test/release

cover: # Fail if pkg/ and internal/ are covered less than they should be (after test)
	@$(GO) tool cover -func=cover.out | awk -v least=$(COVERAGE) '/^total:/ {print "coverage of pkg/ and internal/: " $$3; exit ($$3+0 < least)}'

chance: control-plane ## Run the tests that follow from a seed with another one; SEED= repeats it
	@seed=$${SEED:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}; echo "make chance SEED=$$seed"; \
	RAPID_SEED=$$seed $(GO) test -count=1 $(PROPERTIES) && \
	GENNAME_SEED=$$seed $(RACE) -count=1 -timeout 20m -run 'TestFaults|TestAuditOfChance' ./lab/faults ./test/e2e

# Each is a package and a function in it.
FUZZ  = $(shell git grep -o '^func Fuzz[A-Za-z]*' -- '*_test.go' | sed -E 's|([^:]*)/[^/]*:func (.*)|./\1/\2|')
TIME ?= 10s

library: ## Test the library with the oldest Go that it takes, and with the newest Kubernetes modules
	GOTOOLCHAIN=go$$($(GO) -C pkg/once mod edit -json | awk -F '"' '$$2 == "Go" {print $$4}') $(LIBRARY) ./...
	newest=$$(mktemp -d) && trap 'rm -rf "$$newest"' EXIT && cp pkg/once/go.mod pkg/once/go.sum "$$newest" && \
	$(GO) -C pkg/once get -modfile="$$newest/go.mod" k8s.io/api@latest k8s.io/apimachinery@latest k8s.io/client-go@latest && \
	$(LIBRARY) -mod=mod -modfile="$$newest/go.mod" ./...

fuzz: ## Fuzz each target for TIME (10s), or TARGET= alone
	@for target in $(or $(TARGET),$(FUZZ)); do echo "$$target for $(TIME)"; \
	$(GO) test -C "$${target%/*}" -run '^$$' -fuzz "^$${target##*/}$$" -fuzztime $(TIME) . || exit 1; done

fuzz-targets: # Print what TARGET= of fuzz can be (.github/workflows/nightly.yaml)
	@printf '%s\n' $(FUZZ)

lint: ## Run the linters over the code and the workflows
	@echo "golangci-lint: 2 minutes at first"
	$(GO) tool -modfile=tools/go.mod golangci-lint run ./...
	@for module in pkg/once pkg/once/oncecr; do echo "golangci-lint in $$module"; \
	(linter=$$($(GO) tool -modfile=tools/go.mod -n golangci-lint) && cd $$module && $$linter run ./...) || exit 1; done
	@for module in $(MODULES); do echo "go vet in $$module"; $(GO) vet -C $$module ./... || exit 1; done
	$(GO) tool -modfile=tools/actionlint/go.mod actionlint

apidiff: ## Compare the packages that others import with the exports of the last release
	.ci/apidiff $(PUBLIC)

exports: ## Write the exports that apidiff compares with: make exports VERSION=v0.1.0
	.ci/apidiff -w '$(VERSION)' $(PUBLIC)

vulnerabilities: ## Look for known vulnerabilities that the code reaches (asks vuln.go.dev)
	$(GO) tool -modfile=tools/govulncheck/go.mod govulncheck ./...

docs: ## Write the command reference, and pictures of the recorded terminals
	rm -rf docs/reference/commands
	$(GO) run ./docs/generate --markdown docs/reference/commands --screens docs/figures

release-commit: ## Commit the requirements of a release, after the library's tag: make release-commit VERSION=v0.1.0
	@.ci/release-commit '$(VERSION)'

release-snapshot: ## Make a release of all platforms into dist/ and test it; SKIP= adds SBOMs, signatures and images
	$(REMOTE) $(GORELEASER) release --snapshot --clean $(if $(SKIP),--skip=$(SKIP))
	$(GO) run ./krew/render dist > dist/genname.yaml
	$(GO) test -count=1 ./test/release -args -dist=$(CURDIR)/dist

release: # Make a draft release of the tag that is checked out, with SBOMs, signatures and the image, and test it (.github/workflows/release.yaml)
	$(GORELEASER) release --clean
	$(GO) run ./krew/render dist > dist/genname.yaml
	$(GO) test -count=1 ./test/release -args -dist=$(CURDIR)/dist

release-twice: ## Make the release of the commit in two folders, and compare every byte
	@git diff --quiet HEAD || { echo "there are changes that are not committed, and a program says so"; exit 1; }
	$(MAKE) release-snapshot
	rm -rf bin/again && git worktree prune && git worktree add --quiet --detach bin/again
	cd bin/again && $(REMOTE) $(GORELEASER) release --snapshot --clean $(if $(SKIP),--skip=$(SKIP))
	diff dist/checksums.txt bin/again/dist/checksums.txt && echo "both releases are identical"
	git worktree remove --force bin/again

bench: control-plane ## Measure on real servers, into docs/internals/benchmarks.md (an hour on an idle machine)
	$(GO) test -run '^$$' -bench . -benchmem ./pkg/... ./internal/...
	$(GO) run -C lab/bench . create audit live startup

# The documented fault test is that of 5,000 objects and the usual seed.
N        ?= 5000
FAULTS  = $(GO) run ./lab/faults/run -objects $(N) $(if $(SEED),-seed $(SEED)) $(if $(ONLY),-only $(ONLY)) \
            $(if $(SEED)$(ONLY)$(filter-out 5000,$(N)),,-write docs/internals/benchmarks.md)

faults: build control-plane ## Create objects through injected faults, into docs/internals/benchmarks.md (15 minutes); N= SEED= ONLY= only print
	$(FAULTS)
	$(FAULTS) -replicated -by-request -server-kills 7

# The documented run is that of five minutes and the usual seed.
FOR ?= 5m

churn: build control-plane ## Have audit --watch follow what comes and goes while parts of a replicated control plane fail, into docs/internals/watch-engine.md (8 minutes); FOR= SEED= only print
	$(GO) run ./lab/faults/run -follow $(FOR) -replicated -by-request -server-kills 7 $(if $(SEED),-seed $(SEED)) \
	$(if $(SEED)$(filter-out 5m,$(FOR)),,-write docs/internals/watch-engine.md)

compat: build control-plane ## Try every minor version of kube-apiserver and kubectl, into docs/reference/server-versions.md (10 minutes; at first 5 for each more)
	$(GO) run ./lab/compat -write docs/reference/server-versions.md

foreign: control-plane ## Try the linux/arm64 program under qemu (Debian: qemu-user-static), into docs/reference/server-versions.md (5 minutes)
	@command -v qemu-aarch64-static > /dev/null || { echo "error: qemu-aarch64-static is not there: apt-get install qemu-user-static" >&2; exit 1; }
	GOARCH=arm64 $(GO) build -ldflags="-s -w" -o bin/arm64/ ./cmd/kubectl-genname
	$(GO) run ./lab/compat -plugin lab/compat/arm64 -only v1.34.4 -section foreign -write docs/reference/server-versions.md

figures: build ## Draw the pictures of docs/figures, by the commands of docs/internals/kep-4420.md
	@grep -o '^    kubectl genname report --plot .*' docs/internals/kep-4420.md | sed 's|kubectl genname|bin/kubectl-genname|' | sh -ex > /dev/null

schemas: ## Write docs/schemas and docs/reference/formats from the Go types
	$(GO) test ./test/schema -run Generated -update

rules: ## Write docs/rules from the rules of lint
	$(GO) test ./internal/lint/rules -run Pages -update

controllers: control-plane ## Have the real controllers derive names, into docs/reference/derived-names.md (kube-controller-manager: 4 minutes at first)
	$(GO) run ./test/lint/controllers

wait-types: control-plane ## Have create --wait follow each custom resource that it knows, with the real CRDs (2 minutes; at first 2 more)
	$(GO) test -count=1 ./test/waiting -run TestTypes -all-types

prune-trial: control-plane ## Delete 60,000 of 100,000 objects with prune while all goes wrong, and compare it with kubectl (15 minutes)
	$(GO) run ./test/pruning/run $(if $(SEED),-seed $(SEED))

clock: control-plane ## Run the tests of create with clocks that are an hour ahead, an hour behind, and stepping (20 minutes)
	lab/clock/run

reconcile: control-plane ## Have controllers create 1,000 objects under faults, into docs/internals/reconcile.md (15 minutes); VERSION= is the server's
	$(GO) run -C lab/reconcile ./run -write ../../docs $(if $(VERSION),-version=$(VERSION))

admission: ## Test examples/admission on an API server of another version: make admission VERSION=v1.30.14
	$(GO) test ./test/lint -run TestAdmissionPolicies -server-version $(or $(VERSION),v1.30.14)

# What builds the image, and from where its certificates are.
CONTAINER    ?= $(shell command -v podman || command -v docker)
CERTIFICATES ?= /etc/ssl/certs/ca-certificates.crt
# The image of deploy/exporter, with the version that .ci/release-commit writes there.
IMAGE        ?= $(shell awk '/- name:/ {name=$$3} /newTag:/ {print name ":" $$2}' deploy/exporter/base/kustomization.yaml)
ARCH         := $(shell $(GO) env GOARCH)

.PHONY: image
image: ## Build the exporter's image with podman or docker; IMAGE= CONTAINER=
	@test -n "$(CONTAINER)" || { echo "error: neither podman nor docker is installed" >&2; exit 1; }
	mkdir -p bin/image/linux/$(ARCH) bin/image/bin
	GOOS=linux $(GO) build -ldflags="-s -w" -o bin/image/linux/$(ARCH)/ ./cmd/kubectl-genname
	cp $(CERTIFICATES) bin/image/bin/ca-certificates.crt
	$(CONTAINER) build --build-arg TARGETPLATFORM=linux/$(ARCH) --file packaging/image/Dockerfile --tag $(IMAGE) bin/image

# The Prometheus server without its web pages and without service discovery of clouds.
bin/prometheus: tools/prometheus/go.mod
	@echo "Prometheus: 4 minutes at first"
	$(GO) build -C tools/prometheus -ldflags="-s -w" -tags remove_all_sd -o $(CURDIR)/$@ github.com/prometheus/prometheus/cmd/prometheus

# Of 10,000 names each, the 300 prefixes need about 16 GiB of memory.
CROWD ?= 1000

.PHONY: exporter
exporter: control-plane build image bin/prometheus ## Run the exporter's image through incidents with a real Prometheus, into docs/internals/exporter.md (45 minutes); CONTAINER= CROWD=
	$(GO) run ./lab/exporter -container $(CONTAINER) -crowd $(CROWD) -write docs/internals/exporter.md incidents figure guide memory

published: ## Lint what others have published, into test/lint/published/findings.txt (downloads 22 Go modules)
	$(GO) run ./test/lint/published

measure: control-plane ## Measure conflicts on real servers for docs/internals/measured.md (a quarter of an hour)
	$(GO) run ./lab/experiment/measure
	cd lab/experiment/figure && $(GO) run . ../../../docs/measured

clean: ## Remove what was built here (not the user's cache)
	rm -rf bin dist cover.out
