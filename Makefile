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

.PHONY: all help deps demo check check-unit check-wire check-guest \
        check-asan check-valgrind bench install uninstall clean

all: $(ALL)

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## spindle: a hard disk you can boot
##
##   make demo            boot a kernel on two emulated drives, print the tables
##   make check           build and run every test
##   make all             build only (into build/)
##   make deps            install the Debian packages that are missing

# One object per source, in a tree that mirrors the sources.
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

clean:
	rm -rf $(BUILD)
## 
##   make clean           remove build/
