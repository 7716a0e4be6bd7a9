# SPDX-License-Identifier: MIT OR Apache-2.0
# make               builds target/release/libverbena.so, libverbena.a, the pkg-config files
# make demo          two processes move 64 MiB over RDMA on a real kernel device, in a small VM
# make check         every test
# make install       PREFIX=/usr/local DESTDIR=
# make bench-overhead  what a call costs, in instructions, against raw verbs
# make header        writes what is made from the sources: header, symbol list, version script, ctypes declarations

SHELL := /bin/bash
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DESTDIR ?=

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
SONAME := libverbena.so.$(word 1,$(subst ., ,$(VERSION)))
OUT := target/release
ARCHIVE := $(OUT)/libverbena.a
SHARED := $(OUT)/libverbena.so.$(VERSION)
SOURCES := Cargo.toml Cargo.lock build.rs $(shell find src -name '*.rs')

.PHONY: all build setup header demo check install uninstall bench-overhead clean

all: setup build

setup:
	@scripts/setup build abi

build: $(SHARED) $(OUT)/pkgconfig/verbena.pc

# cargo decides what is out of date; the archive's own time stamp tells make whether to link anew.
.PHONY: cargo
cargo:
	@cargo rustc --quiet --release --lib --crate-type staticlib

$(ARCHIVE): cargo ;

$(SHARED): $(ARCHIVE) abi/libverbena.map scripts/link-so
	scripts/link-so $(ARCHIVE) $@ abi/libverbena.map $(SONAME)
	ln -sf $(notdir $@) $(OUT)/$(SONAME)
	ln -sf $(SONAME) $(OUT)/libverbena.so

# For use without installing: the header in the source tree, the libraries in target/release.
$(OUT)/pkgconfig/verbena.pc: pkgconfig/verbena.pc.in Cargo.toml Makefile
	@mkdir -p $(@D)
	sed -e 's|@prefix@|$(CURDIR)|; s|@libdir@|$(CURDIR)/$(OUT)|; s|@includedir@|$(CURDIR)/include|; s|@version@|$(VERSION)|' $< > $@

header:
	@scripts/setup header
	scripts/gen-all

demo: all
	@scripts/setup vm
	scripts/demo

check:
	@scripts/setup
	@$(MAKE) --no-print-directory build
	scripts/check

install: all
	scripts/install "$(DESTDIR)" "$(PREFIX)" "$(LIBDIR)" "$(INCLUDEDIR)"

uninstall:
	scripts/install --uninstall "$(DESTDIR)" "$(PREFIX)" "$(LIBDIR)" "$(INCLUDEDIR)"

bench-overhead: all
	@scripts/setup bench
	bench/overhead

clean:
	cargo clean
