# The tools that check the code are pinned in tools/, a module of its own.
GO ?= go
BIN := bin/si
TOOL := $(GO) tool -modfile=tools/go.mod
# The race detector needs a C compiler; without one the tests run without it.
CC_FOUND := $(shell command -v $$($(GO) env CC) 2>/dev/null)
RACE := $(if $(CC_FOUND),-race,)
TESTFLAGS ?= -timeout 15m

.PHONY: build test race test-crash test-agents lint fmt demo install bench sim campaign clean

build:
	$(GO) build -o $(BIN) ./cmd/si

demo: build
	$(BIN) demo

test:
	$(if $(RACE),CGO_ENABLED=1 )$(GO) test $(RACE) $(TESTFLAGS) ./cmd ./...
	@$(if $(RACE),:,echo "note: no C compiler found, so the tests ran without the race detector")

race:
	CGO_ENABLED=1 $(GO) test -race $(TESTFLAGS) ./...

# Kills the program before and after every durable write, instead of once a
# distinct one.
test-crash:
	SI_CRASH_ALL=1 $(GO) test -timeout 60m -count 1 -v -run 'TestCrash' ./cmd/...

# The Go in PATH may be older than what the tools want: they are built by
# the toolchain that go.mod of tools/ names.
lint:
	$(TOOL) golangci-lint run ./...
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...

fmt:
	$(TOOL) golangci-lint fmt ./...

bench: build
	$(GO) test -run '^$$' -bench . -benchtime 3x -count 1 ./...

sim:
	$(GO) test -timeout 0 -count 1 -v -run 'TestTable|TestFigures|TestOlderRuleKeepsNulls|TestLateCampaign' ./benchmark/duel/sim -args -sim.rounds=20000 -sim.campaigns=8000

# Whole campaigns on this machine's clock: 100 rounds in which nothing is better, and
# 20 planted gains. Some 15 minutes on a machine that does nothing else.
campaign:
	SI_CAMPAIGN=100 $(GO) test -timeout 2h -count 1 -v -run 'TestNullCampaign|TestPlantedGains' ./cmd

install:
	$(GO) install -trimpath ./cmd/si

clean:
	rm -rf bin

# Measures on a real Slurm of two virtual nodes, which is started for it and
# stopped again. It needs root, and Debian's packages slurm-wlm and munge.
.PHONY: test-slurm
test-slurm:
	SI_SLURM=1 $(GO) test -timeout 15m -count 1 -v -run 'TestSlurm|TestStartAndStop' ./benchmark/slurm ./internal/slurmtest

# Real agent programs play against a scripted model server. They are installed with
# npm into the user's cache folder, 2 GB; no account, no key, no model is used.
test-agents:
	SI_AGENTS=1 $(GO) test -timeout 30m -count 1 -v -run 'Agent|Real' ./internal/realagents ./agents/stream ./agents/acp
	SI_AGENTS=1 $(GO) test -timeout 30m -count 1 -v -run 'TestRealAgents' ./cmd
