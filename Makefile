# SPDX-License-Identifier: BSD-2-Clause
# For people's fingers. Meson does the work; each target says what it does.
BUILD ?= build
PREFIX ?= /usr/local
MESON_OPTIONS ?=
NINJA = ninja -C $(BUILD)

.PHONY: all demo check install lint fuzz macos interop chaos clean help
all: $(BUILD)/build.ninja
	@$(NINJA)

$(BUILD)/build.ninja:
	@meson setup $(BUILD) --prefix=$(PREFIX) $(MESON_OPTIONS)

help:
	@echo "make            build into $(BUILD)/"
	@echo "make demo       install what is missing, build, show it working"
	@echo "make check      build, run every test that needs no privilege"
	@echo "make install    install into PREFIX=$(PREFIX)"
	@echo "make lint       house rules, shell, spelling, manual pages"
	@echo "make fuzz       SECONDS=60 of each fuzzer"
	@echo "make macos      cross-build for macOS arm64 and x86_64 with zig, and check what comes out"
	@echo "make interop    other people's programs: tests/interop/programs and pyverbs"
	@echo "make chaos      16 processes killed at random for a minute; a million messages; UC flood"
	@echo "make clean      remove the build folders"

demo:
	@tools/demo $(BUILD)

check:
	@tools/check $(BUILD)

install: all
	@meson install -C $(BUILD) --no-rebuild

lint:
	@tools/lint

fuzz:
	@tools/fuzz $(or $(SECONDS),60)

macos:
	@tools/macos build-macos

interop: all
	@tests/interop/programs --build $(BUILD)
	@tests/interop/pyverbs --build $(BUILD)

chaos: all
	@$(BUILD)/tests/chaos/chaos -p 16 -q 8 -t 60
	@$(BUILD)/tests/soak/million -n 1000000
	@VERBIFROST_RCVBUF_BYTES=212992 $(BUILD)/tests/soak/million -u -n 4000

clean:
	@rm -rf $(BUILD) build-*
