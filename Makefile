# The commands of a developer. Each installs what is missing before it begins (scripts/install-deps.sh).
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
BUILD := build/release
DEPS := scripts/install-deps.sh
KERNELS ?= 5.10 6.1 6.12 7.3 arm64/6.12
SECONDS ?= 60
FUZZERS ?= program strace recording message json compare

.PHONY: help demo test kernels bench install asan fuzz format lint clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make demo      build, and run the three experiments on the model and on this kernel
demo: configure
	@cmake --build $(BUILD) -j $(JOBS) --target command
	@scripts/demo.sh

## make test      build everything and run the tests
test: configure
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --preset release -j $(JOBS)

## make kernels   QEMU, and the kernels that the demo and the tests use, for the machine "vm"
kernels:
	@$(DEPS) build vm
	@cmake --preset release >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target command
	@$(BUILD)/src/cli/faultline kernel fetch $(KERNELS)

## make bench     the model against this kernel, and how it grows
bench: configure
	@cmake --build $(BUILD) -j $(JOBS) --target faultline_bench
	@scripts/bench.sh

## make install   into PREFIX (/usr/local), below DESTDIR if that is set
install: configure
	@cmake --build $(BUILD) -j $(JOBS)
	@cmake --install $(BUILD) --prefix $(PREFIX)

## make asan      the tests under the address and undefined-behaviour sanitizers
asan:
	@$(DEPS) build fuzz
	@cmake --preset asan >/dev/null
	@cmake --build build/asan -j $(JOBS)
	@ctest --preset asan -j $(JOBS)

## make fuzz      the fuzzers, each for SECONDS (60) on one processor
fuzz:
	@$(DEPS) build fuzz
	@cmake --preset asan >/dev/null
	@cmake --build build/asan -j $(JOBS) --target $(FUZZERS:%=fuzz_%)
	@scripts/fuzz.sh $(SECONDS) $(FUZZERS)

## make format    format every source file
format: lint-deps
	@scripts/format.sh

## make lint      check the format, and run clang-tidy over src/
lint: lint-deps
	@scripts/format.sh --check
	@scripts/lint.sh

## make clean     remove the builds of this Makefile
clean:
	rm -rf build/release build/debug build/asan build/fuzz build/bench-compare

.PHONY: deps lint-deps configure
deps:
	@$(DEPS) build

lint-deps:
	@$(DEPS) build lint

configure: deps
	@cmake --preset release >/dev/null
