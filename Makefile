# SPDX-License-Identifier: BSD-3-Clause
#
# Every entry point.  `make help` lists them.  Each room says in its rules.mk
# what it builds; everything built lands in $(BUILD).

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
WERROR  ?=
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
           $(if $(WERROR),-Werror)
# -ffp-contract=off: nothing that decides time uses floating point, and
# this keeps it harmless where somebody slips.
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -fPIC -ffp-contract=off $(WARN) -I. \
             -Idisk-model -Iprofiles -Inbdkit-plugin $(CFLAGS)
VERSION := 0.1.0

# Where things are installed.  nbdkit looks for plugins only in its own
# directory, which does not follow PREFIX.
BINDIR  ?= $(PREFIX)/bin
LIBDIR  ?= $(PREFIX)/lib
DATADIR ?= $(PREFIX)/share/spindle
MANDIR  ?= $(PREFIX)/share/man
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
PLUGINDIR ?= $(or $(shell pkg-config nbdkit --variable=plugindir \
                    2>/dev/null),$(LIBDIR)/nbdkit/plugins)

ALL_CFLAGS += -DSPINDLE_VERSION='"$(VERSION)"'

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

ALL :=
UNIT_TESTS :=
WIRE_TESTS :=
GUEST_TESTS :=
CLEAN :=

include disk-model/rules.mk
include profiles/rules.mk
include nbdkit-plugin/rules.mk
include qemu-configs/rules.mk
include harness/rules.mk
include tests/rules.mk
include tests/fuzz/rules.mk
include tests/many.mk

.PHONY: all help build-tests deps check check-unit check-wire check-guest \
        check-docs check-asan check-valgrind demo install uninstall clean

all: $(ALL)

help:
	@sed -n 's/^## \{0,1\}//p' $(MAKEFILE_LIST)

## spindle: a hard disk you can boot
##
##   make demo            boot a kernel on two emulated drives, print the tables
##   make check           install what is missing, build, run every test
##   make all             build only (into build/)
##   make deps            install the Debian packages that are missing

# One object per source, in a tree that mirrors the sources.
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

deps:
	@harness/deps.sh

# ---- tests ----

TEST_RUN = BUILD=$(BUILD) tests/run

build-tests: all $(UNIT_TESTS) $(WIRE_TESTS) $(GUEST_TESTS)

# make read the rooms' rules before deps may have installed libraries: hence
# the second make.
check: deps
	+@$(MAKE) --no-print-directory build-tests
	+@$(MAKE) --no-print-directory run-all
.PHONY: run-all
run-all:
	@$(TEST_RUN) $(UNIT_TESTS) $(WIRE_TESTS) $(GUEST_TESTS)

## 
##   make check-unit      the model and the loader, in virtual time
##   make check-wire      the plugin, over NBD
##   make check-guest     guests under QEMU
check-unit: all $(UNIT_TESTS)
	@$(TEST_RUN) $(UNIT_TESTS)
check-wire: all $(WIRE_TESTS)
	@$(TEST_RUN) $(WIRE_TESTS)
check-guest: all $(GUEST_TESTS)
	@$(TEST_RUN) $(GUEST_TESTS)
check-docs: all
	@DOCS_SLOW=1 $(TEST_RUN) tests/docs-check.sh

##   make check-docs      every command in the documentation, also slow ones
##   make check-asan      unit and wire tests with gcc's sanitizers
##   make check-valgrind  unit and wire tests under valgrind
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
ASAN_FLAGS := CFLAGS='-O1 -g -fno-omit-frame-pointer $(SANITIZE)' \
  LDFLAGS='$(SANITIZE)'
check-asan:
	@harness/deps.sh asan
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan $(ASAN_FLAGS) run-asan
check-valgrind:
	@harness/deps.sh valgrind
	+@$(MAKE) --no-print-directory run-valgrind

.PHONY: run-asan run-valgrind
run-asan: all $(UNIT_TESTS) $(WIRE_TESTS) $(BUILD)/tests/keep-locales.so
	@NBDKIT=tests/nbdkit-asan TEST_SLOW=1 \
	  LSAN_OPTIONS=suppressions=tests/lsan.supp $(TEST_RUN) $(UNIT_TESTS) \
	  $(WIRE_TESTS)
run-valgrind: all $(UNIT_TESTS) $(WIRE_TESTS)
	@NBDKIT=tests/nbdkit-valgrind TEST_WRAPPER=tests/valgrind TEST_SLOW=1 \
	  TEST_TIMEOUT=1200 $(TEST_RUN) $(UNIT_TESTS) $(WIRE_TESTS)

# ---- installation ----

## 
##   make install         under PREFIX (/usr/local), with the plugin in
##                        nbdkit's PLUGINDIR; DESTDIR is honoured
##   make uninstall       take all of it away again
install: all
	install -D -t $(DESTDIR)$(BINDIR) $(BUILD)/spindle
	install -D -m 644 -t $(DESTDIR)$(PLUGINDIR) \
	  $(BUILD)/nbdkit-spindle-plugin.so
	install -D -m 644 -t $(DESTDIR)$(LIBDIR)/spindle \
	  $(BUILD)/spindle-clock.so
	install -D -t $(DESTDIR)$(LIBDIR)/spindle $(BUILD)/agent
	install -D -m 644 -t $(DESTDIR)$(DATADIR)/profiles profiles/*.cfg
	install -D -m 644 -t $(DESTDIR)$(DATADIR)/scenarios \
	  harness/scenarios/*.cfg
	install -D -m 644 -t $(DESTDIR)$(DATADIR)/qemu-configs \
	  qemu-configs/*.cfg
	install -D -m 644 harness/completion.bash \
	  $(DESTDIR)$(COMPLETIONDIR)/spindle
	install -D -m 644 -t $(DESTDIR)$(MANDIR)/man1 $(filter %.1,$(ALL))
	install -D -m 644 -t $(DESTDIR)$(MANDIR)/man5 $(filter %.5,$(ALL))

# Folders of ours go, and those below PREFIX that we may have made, if empty.
uninstall:
	rm -f $(DESTDIR)$(BINDIR)/spindle $(DESTDIR)$(COMPLETIONDIR)/spindle \
	  $(DESTDIR)$(PLUGINDIR)/nbdkit-spindle-plugin.so \
	  $(addprefix $(DESTDIR)$(LIBDIR)/spindle/,spindle-clock.so agent) \
	  $(addprefix $(DESTDIR)$(DATADIR)/,$(wildcard profiles/*.cfg) \
	    $(wildcard qemu-configs/*.cfg) \
	    $(patsubst harness/%,%,$(wildcard harness/scenarios/*.cfg))) \
	  $(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(filter %.1,$(ALL)))) \
	  $(addprefix $(DESTDIR)$(MANDIR)/man5/,$(notdir $(filter %.5,$(ALL))))
	@for folder in $(LIBDIR)/spindle $(DATADIR)/profiles \
	    $(DATADIR)/scenarios $(DATADIR)/qemu-configs $(DATADIR) \
	    $(COMPLETIONDIR) $(dir $(COMPLETIONDIR)) \
	    $(MANDIR)/man1 $(MANDIR)/man5; do \
	  ! [ -d $(DESTDIR)$$folder ] || \
	    rmdir --ignore-fail-on-non-empty $(DESTDIR)$$folder; \
	done

# For tests: the value of a variable.
print-%:
	@echo '$($*)'

clean:
	rm -rf $(BUILD)
## 
##   make clean           remove build/
