# SPDX-License-Identifier: MIT OR Apache-2.0
# make               builds target/release/libverbena.so, libverbena.a, the pkg-config files
# make demo          two processes move data over SRD, on softnic and the real libefa
# make demo-vm       two processes move 64 MiB over RC on a real kernel device, in a small VM
# make check         every test
# make check-compat  libverbena and softnic below rdma-core 33, 44, 56 and 65; src/sys against the headers of three
# make install       PREFIX=/usr/local DESTDIR=
#                    LINK_VERBS=1, here and for make: libverbena.so needs libibverbs.so.1 (for packagers; cargo's link-verbs)
# make bench-overhead  what a call costs, in instructions, against raw verbs
# make bench-softnic   how fast softnic is, as ratios
# make header        writes what is made from the sources: header, symbol list, version script, declarations for Python and Julia

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
comma := ,
VERBS_LIBS := $(if $(filter 1,$(LINK_VERBS)),-Wl$(comma)--push-state$(comma)--no-as-needed -l:libibverbs.so.1 -Wl$(comma)--pop-state)

.PHONY: all build setup header demo demo-vm check check-compat install uninstall bench-overhead bench-softnic clean

all: setup build softnic

setup:
	@scripts/setup build abi

build: $(SHARED) $(OUT)/pkgconfig/verbena.pc

# cargo decides what is out of date; the archive's own time stamp tells make whether to link anew.
.PHONY: cargo
cargo:
	@cargo rustc --quiet --release --lib --crate-type staticlib

$(ARCHIVE): cargo ;

# Changes only when LINK_VERBS does, and then everything that it is in is made anew.
$(OUT)/verbs-libs: cargo
	@echo '$(VERBS_LIBS)' | cmp -s - $@ || echo '$(VERBS_LIBS)' > $@

$(SHARED): $(ARCHIVE) $(OUT)/verbs-libs abi/libverbena.map scripts/link-so
	scripts/link-so $(ARCHIVE) $@ abi/libverbena.map $(SONAME) $(VERBS_LIBS)
	ln -sf $(notdir $@) $(OUT)/$(SONAME)
	ln -sf $(SONAME) $(OUT)/libverbena.so

# softnic: the runner, and the object that it preloads, which must load wherever the library does.
.PHONY: softnic
softnic: $(OUT)/libsoftnic.so

.PHONY: cargo-softnic
cargo-softnic:
	@cargo build --quiet --release -p softnic
	@cargo rustc --quiet --release -p softnic-preload --lib --crate-type staticlib

$(OUT)/libsoftnic.a: cargo-softnic ;

$(OUT)/libsoftnic.so: $(OUT)/libsoftnic.a softnic/preload/exports.map scripts/link-so
	scripts/link-so $< $@ softnic/preload/exports.map libsoftnic.so

# For use without installing: the header in the source tree, the libraries in target/release.
$(OUT)/pkgconfig/verbena.pc: pkgconfig/verbena.pc.in Cargo.toml Makefile $(OUT)/verbs-libs
	@mkdir -p $(@D)
	sed -e 's|@prefix@|$(CURDIR)|; s|@libdir@|$(CURDIR)/$(OUT)|; s|@includedir@|$(CURDIR)/include|; s|@version@|$(VERSION)|; s|@verbs@|$(VERBS_LIBS)|' $< > $@

header:
	@scripts/setup header
	scripts/gen-all

demo: all
	@scripts/setup demo
	scripts/demo

demo-vm: setup build
	@scripts/setup vm
	scripts/demo-vm

check-compat: all
	@scripts/setup compat abi vm
	scripts/check-compat

check:
	@scripts/setup
	@$(MAKE) --no-print-directory build softnic
	scripts/check

install: all
	VERBS_LIBS='$(VERBS_LIBS)' scripts/install "$(DESTDIR)" "$(PREFIX)" "$(LIBDIR)" "$(INCLUDEDIR)"

uninstall:
	scripts/install --uninstall "$(DESTDIR)" "$(PREFIX)" "$(LIBDIR)" "$(INCLUDEDIR)"

bench-overhead: all
	@scripts/setup bench
	bench/overhead

bench-softnic: all
	@scripts/setup demo
	bench/softnic-speed

clean:
	cargo clean
