# SPDX-License-Identifier: BSD-3-Clause

# The guest's init: 32-bit x86, no libc, no headers or libraries of one.
AGENT_CC ?= $(CC)
AGENT_SRC := $(wildcard harness/agent/*.c)
AGENT_OBJ := $(AGENT_SRC:%.c=$(BUILD)/%.o)
AGENT_CFLAGS = -std=c11 -m32 -march=i486 -Os -ffreestanding -fno-pic \
               -fno-stack-protector -fno-asynchronous-unwind-tables \
               -fcf-protection=none $(WARN)
ALL += $(BUILD)/agent

$(BUILD)/harness/agent/%.o: harness/agent/%.c
	@mkdir -p $(@D)
	$(AGENT_CC) $(AGENT_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/agent: $(AGENT_OBJ)
	$(AGENT_CC) -m32 -nostdlib -static -s -Wl,--build-id=none \
	  -Wl,-z,noseparate-code -Wl,-z,max-page-size=4096 -o $@ $^

# The spindle command.
REPLAY_SRC := $(wildcard harness/replay*.c harness/trace-*.c)
REPLAY_OBJ := $(REPLAY_SRC:%.c=$(BUILD)/%.o)
REPLAY_LIBS := $(shell pkg-config --libs libnbd zlib 2>/dev/null || \
                 echo -lnbd -lz) -lm
IMPORT_SRC := $(wildcard harness/import*.c)
IMPORT_OBJ := $(IMPORT_SRC:%.c=$(BUILD)/%.o)
PROBE_SRC := $(wildcard harness/command-pro*.c harness/probe*.c \
               harness/profile*.c harness/target*.c)
PROBE_OBJ := $(PROBE_SRC:%.c=$(BUILD)/%.o) \
             $(BUILD)/nbdkit-plugin/clock-client.o
FIT_SRC := $(wildcard harness/fit*.c harness/command-fit.c)
FIT_OBJ := $(FIT_SRC:%.c=$(BUILD)/%.o)
# Optional: spindle fit says that it is missing.
NLOPT_LIBS := $(shell pkg-config --libs nlopt 2>/dev/null)
NLOPT_CFLAGS := $(shell pkg-config --cflags nlopt 2>/dev/null)
$(BUILD)/harness/fit.o: $(BUILD)/harness/nlopt-there.h
$(BUILD)/harness/fit.o: ALL_CFLAGS += -I$(BUILD)/harness $(NLOPT_CFLAGS)
$(BUILD)/harness/nlopt-there.h: FORCE
	@mkdir -p $(@D)
	@echo '$(if $(NLOPT_LIBS),#define HAVE_NLOPT 1)' >$@.new
	@cmp -s $@ $@.new && rm $@.new || mv $@.new $@
HARNESS_SRC := $(filter-out $(REPLAY_SRC) $(IMPORT_SRC) $(PROBE_SRC) \
                 $(FIT_SRC), \
                 $(wildcard harness/*.c))
HARNESS_OBJ := $(HARNESS_SRC:%.c=$(BUILD)/%.o)
SCENARIOS := $(wildcard harness/scenarios/*.cfg)
ALL += $(BUILD)/spindle $(BUILD)/spindle.1 $(BUILD)/spindle-scenario.5 \
       $(addprefix $(BUILD)/spindle-,replay.1 profile.1 probe.1 fit.1) \
       $(SCENARIOS:harness/%=$(BUILD)/%)

# Written anew only when make is given another place to install to.
$(BUILD)/harness/pieces.o: $(BUILD)/harness/places.h
$(BUILD)/harness/pieces.o: ALL_CFLAGS += -I$(BUILD)/harness
$(BUILD)/harness/places.h: FORCE
	@mkdir -p $(@D)
	@(echo '#define PLACE_PLUGINS "$(PLUGINDIR)"'; \
	  echo '#define PLACE_BIN "$(BINDIR)"'; \
	  echo '#define PLACE_LIB "$(LIBDIR)/spindle"'; \
	  echo '#define PLACE_DATA "$(DATADIR)"') >$@.new
	@cmp -s $@ $@.new && rm $@.new || mv $@.new $@

$(BUILD)/spindle: $(HARNESS_OBJ) $(REPLAY_OBJ) $(IMPORT_OBJ) $(PROBE_OBJ) \
    $(FIT_OBJ) $(MODEL_OBJ) $(PROFILES_LIB)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PROFILES_LIBS) $(REPLAY_LIBS) \
	  $(NLOPT_LIBS)

$(BUILD)/scenarios/%.cfg: harness/scenarios/%.cfg
	@mkdir -p $(@D)
	cp $< $@

$(BUILD)/spindle.1: harness/spindle.pod
	@mkdir -p $(@D)
	pod2man -u -s 1 -n spindle -c spindle -r "spindle $(VERSION)" $< $@

$(BUILD)/spindle-%.1: harness/%.pod
	@mkdir -p $(@D)
	pod2man -u -s 1 -n spindle-$* -c spindle -r "spindle $(VERSION)" $< $@

$(BUILD)/spindle-scenario.5: harness/scenario.pod
	@mkdir -p $(@D)
	pod2man -u -s 5 -n spindle-scenario -c spindle \
	  -r "spindle $(VERSION)" $< $@

## 
##   build/spindle --help   the command behind all of it
# make read the rules before deps may have installed libraries.
demo: deps
	+@$(MAKE) --no-print-directory run-demo
.PHONY: run-demo
run-demo: all
	$(BUILD)/spindle demo --keep $(BUILD)/demo

# Put the table of drives into the documentation again after a change to
# profiles or model.
.PHONY: drives-table
drives-table: $(BUILD)/spindle
	$< profile check --markdown profiles/*.cfg >$(BUILD)/drives.md || test $$? = 1
	sed -i -e '/^<!-- drives -->$$/,/^<!-- end of drives -->$$/{/^<!-- /!d}' \
	  -e '/^<!-- drives -->$$/r $(BUILD)/drives.md' docs/drives.md

# The boot sector that is built into the program.
$(BUILD)/harness/probe-sector.bin: harness/probe-sector.s
	@mkdir -p $(@D)
	as --32 -o $(@:.bin=.o) $<
	ld -m elf_i386 -Ttext 0x7c00 --oformat binary -o $@ $(@:.bin=.o)
$(BUILD)/harness/accel.o: $(BUILD)/harness/probe-sector.bin
$(BUILD)/harness/accel.o: ALL_CFLAGS += -Wa,-I$(BUILD)/harness

# Scripts that are built into the program.
$(BUILD)/harness/kernel.o: harness/fetch-kernel.sh
$(BUILD)/harness/initramfs.o: harness/ext2-initrd.sh
$(BUILD)/harness/crash.o: harness/crash-image.sh
$(BUILD)/harness/disk-image.o: harness/disk-image.sh
