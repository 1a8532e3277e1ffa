# SPDX-License-Identifier: Apache-2.0

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
BIN := $(CURDIR)/bin
TOOLS := $(BIN)/tools

# Tests that start a control plane; all others need nothing but Go.
INTEGRATION := ./test/integration/... ./internal/testenv/... ./internal/devmode/...
# A package's tests are limited in time so that a hang shows where it hangs. What go vet finds, `make lint` tells; a test binary without
# debug information links in half the time.
# Integration tests come first and three packages at a time: they take longest, and wait more than they compute.
TEST_FLAGS ?= -race -timeout 15m -p 3 -vet=off -ldflags='-s -w'
# Memory is cheaper than time: linkers, tests and their API servers collect garbage more seldom, which is a sixth of what all of it takes.
test test-unit test-integration: export GOGC ?= 400

##@ Start here

.PHONY: help
help: ## Print this list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z][a-z0-9-]*:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: controlplane build ## Watch simulated servers live: a scripted tour that checks each step
	$(BIN)/holdfast dev --tour

##@ Build

.PHONY: build
build: ## Build bin/holdfast
	$(GO) build -trimpath -o $(BIN)/holdfast ./cmd/holdfast

.PHONY: controlplane
controlplane: ## Build etcd and kube-apiserver from source, once (minutes); honours KUBEBUILDER_ASSETS
	@hack/controlplane/build.sh controlplane

.PHONY: kubectl
kubectl: ## Build kubectl from source, once
	@hack/controlplane/build.sh kubectl

##@ Test

.PHONY: oracles
oracles: ## Fetch Debian's cloud-init and sshd, once, for the tests that ask them (Debian only; the tests skip without them)
	@hack/cloudinit/fetch.sh

.PHONY: test
test: controlplane kubectl ## Run all tests: unit, integration on a real API server, architecture
	$(GO) build -race ./... # first, so that tests which count seconds do not share the machine with the compiler
	$(GO) test $(TEST_FLAGS) $(INTEGRATION) ./...
	$(GO) test -vet=off ./internal/explorer/... # to the end of what the race detector is too slow for

.PHONY: test-unit
test-unit: ## Run the tests that need no control plane
	$(GO) test $(TEST_FLAGS) $$(comm -23 <($(GO) list ./... | sort) <($(GO) list $(INTEGRATION) | sort))

.PHONY: test-integration
test-integration: controlplane kubectl ## Run the tests that start a control plane
	$(GO) test $(TEST_FLAGS) $(INTEGRATION)

.PHONY: scale
scale: controlplane ## Enroll and claim 500 simulated BMCs, claim 1,000 VMs, and print time, processor time, memory and conflicts
	HOLDFAST_SCALE=500 $(GO) test -count=1 -v -timeout 15m -run Fleet ./test/integration/scale/
	HOLDFAST_SCALE=1000 $(GO) test -count=1 -v -timeout 40m -run Class ./test/integration/scale/
	HOLDFAST_SCALE=1000 $(GO) test -count=1 -v -run Fleet ./test/integration/monitor/

# TABLES=4,5 N=1000 PROFILE=folder take some tables, with a fleet of another size, and keep profiles of the manager.
BENCH_TEST = $(GO) test -count=1 -v -parallel 4 -run '^TestBenchmarks$$'

.PHONY: bench
bench: controlplane ## Measure the six tables of docs/benchmarks.md and write them (25 minutes; TABLES=4 N=1000 PROFILE=folder)
	BENCH=full BENCH_OUT=docs/benchmarks.md $(BENCH_TEST) -timeout 60m ./test/bench

.PHONY: bench-tiny
bench-tiny: controlplane ## Every path of the benchmarks but the peers of the status library, as small as can be; fails where a count misses its aim (2 minutes)
	BENCH=tiny BENCH_OUT=bin/benchmarks.md $(BENCH_TEST) -race -timeout 15m ./test/bench

.PHONY: bench-quick
bench-quick: controlplane ## The same tables at small size, written to bin/benchmarks.md (3 minutes)
	BENCH=quick BENCH_OUT=bin/benchmarks.md $(BENCH_TEST) -timeout 15m ./test/bench

.PHONY: e2e-openstack
e2e-openstack: controlplane ## Lead virtual servers through a real OpenStack, which ../shared/openstack starts (root); skipped where there is none
	@hack/e2e-openstack.sh

.PHONY: explore
explore: ## Explore the lifecycle exhaustively, with the mutants that it must catch
	$(GO) run ./hack/explore

.PHONY: chaos-check
chaos-check: controlplane ## Show that a fault campaign can fail: one with a sabotage in it (a minute)
	CHAOS_CHECK=1 $(GO) test -race -count=1 -timeout 15m -run InNobodysName ./internal/chaos

.PHONY: chaos
chaos: controlplane build ## Run the fault campaign: DURATION=3m SERVERS=50 SEED=1, FAULTS=… for some faults alone, WITHOUT=… for all others
	$(GO) run ./hack/chaos

##@ Check

.PHONY: check-format
check-format: ## Fail if a Go file is not formatted by gofmt
	@unformatted=$$(git ls-files -z '*.go' | xargs -0 gofmt -s -l); \
	if [[ -n "$$unformatted" ]]; then printf 'not formatted (make fmt):\n%s\n' "$$unformatted"; exit 1; fi

.PHONY: lint
lint: check-format $(TOOLS)/golangci-lint ## Check format, go vet, and the linters of .golangci.yml
	$(GO) vet ./...
	$(TOOLS)/golangci-lint run --allow-parallel-runners ./...

.PHONY: fmt
fmt: $(TOOLS)/golangci-lint ## Format the Go files
	$(TOOLS)/golangci-lint fmt

.PHONY: generate
generate: $(TOOLS)/controller-gen ## Generate deep copies and CRDs from the types
	$(TOOLS)/controller-gen object paths=./api/... paths=./status/...
	$(TOOLS)/controller-gen crd paths=./api/... output:crd:dir=config/crd
	$(TOOLS)/controller-gen crd paths=./status/statustest/widget output:crd:dir=status/statustest/widget

# What `make generate` writes.
GENERATED := ':(glob)**/zz_generated.*' 'config/crd/*.yaml' 'status/statustest/widget/*.yaml'

.PHONY: check-generated
check-generated: generate ## Fail if a generated file is not committed as generated
	@git diff --exit-code -- $(GENERATED)
	@untracked=$$(git ls-files --others --exclude-standard -- $(GENERATED)); \
	if [[ -n "$$untracked" ]]; then printf 'generated but not committed:\n%s\n' "$$untracked"; exit 1; fi

##@ Clean up

.PHONY: clean
clean: ## Remove what was built, the control plane excepted
	rm -rf $(BIN)/holdfast $(TOOLS)

# Tools are rebuilt when hack/tools pins another version.
$(TOOLS)/golangci-lint: hack/tools/go.mod
	@echo "building golangci-lint (the first time takes a minute)"
	@cd hack/tools && $(GO) build -trimpath -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(TOOLS)/controller-gen: hack/tools/go.mod
	@cd hack/tools && $(GO) build -trimpath -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen
