# SPDX-License-Identifier: BSD-3-Clause

CMOCKA_LIBS := $(shell pkg-config --libs cmocka 2>/dev/null)
TEST_CFLAGS := -Itests/unit -Itests/wire
$(BUILD)/tests/%.o: ALL_CFLAGS += $(TEST_CFLAGS)

# Unit tests: the model and the loader in one process.
UNIT_C := model-test geometry-test variants-test power-test idle-test \
          soak-test
UNIT_TESTS += $(UNIT_C:%=$(BUILD)/tests/unit/%) tests/unit/determinism-test.sh
$(UNIT_C:%=$(BUILD)/tests/unit/%): %: %.o $(BUILD)/tests/unit/drives.o \
    $(MODEL_OBJ)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(CMOCKA_LIBS)

# Only for tests/nbdkit-asan.
$(BUILD)/tests/keep-locales.so: tests/keep-locales.c
	@mkdir -p $(@D)
	$(CC) -shared -fPIC -o $@ $<

# The profile loader, and the runner itself.
UNIT_TESTS += $(BUILD)/tests/unit/loader-test tests/unit/runner-test.sh
$(BUILD)/tests/unit/loader-test: $(BUILD)/tests/unit/loader-test.o \
    $(PROFILES_LIB)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PROFILES_LIBS) $(CMOCKA_LIBS)

# The clock page and its two clients.
NBD_LIBS := $(shell pkg-config --libs libnbd 2>/dev/null)
CLOCK_C := clock-test clock-stream-test
WIRE_TESTS += $(CLOCK_C:%=$(BUILD)/tests/wire/%)
$(BUILD)/tests/wire/clock-test: %: %.o $(BUILD)/tests/wire/clock-drive.o \
    $(BUILD)/tests/wire/server.o $(BUILD)/nbdkit-plugin/clock-client.o \
    $(MODEL_OBJ) $(PROFILES_LIB)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(CMOCKA_LIBS) $(NBD_LIBS) \
	  $(PROFILES_LIBS)
$(BUILD)/tests/wire/clock-stream-test: %: %.o \
    $(BUILD)/qemu-configs/bridge/stream.o \
    $(BUILD)/qemu-configs/bridge/replies.o
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(CMOCKA_LIBS)

# The agent in a real guest, and how it gets there.
BOOT_OBJ := $(addprefix $(BUILD)/harness/,initramfs.o kernel-modules.o \
              kernel.o script.o util.o words.o)
AGENT_TEST_C := $(BUILD)/tests/guest/agent-image \
                $(BUILD)/tests/guest/agent-pattern
GUEST_TESTS += tests/guest/agent-test.sh
tests/guest/agent-test.sh: $(AGENT_TEST_C) $(BUILD)/agent
$(BUILD)/tests/guest/agent-image: $(BOOT_OBJ)
$(AGENT_TEST_C): %: %.o
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^
UNIT_TESTS += $(BUILD)/tests/unit/initramfs-test
$(BUILD)/tests/unit/initramfs-test: %: %.o $(BOOT_OBJ)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(CMOCKA_LIBS)

# Installed, and as it is documented.
UNIT_TESTS += tests/unit/install-test.sh
WIRE_TESTS += tests/docs-check.sh

# The plugin: two of its modules alone, then all of it over NBD.
PLUGIN_C := backing-test control-test data-test kill-test nbd-fuzz \
            power-oracle power-test virtual-test
UNIT_TESTS += $(BUILD)/tests/unit/undo-test $(BUILD)/tests/unit/histogram-test
WIRE_TESTS += $(PLUGIN_C:%=$(BUILD)/tests/wire/%) tests/wire/params-test.sh \
              tests/wire/uri-test.sh tests/wire/ctl-test.sh \
              tests/wire/fio-verify.sh \
              tests/wire/security-test.sh
$(BUILD)/tests/unit/undo-test $(BUILD)/tests/unit/histogram-test: \
    $(BUILD)/tests/unit/%-test: $(BUILD)/tests/unit/%-test.o \
    $(BUILD)/nbdkit-plugin/%.o
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(CMOCKA_LIBS)
$(PLUGIN_C:%=$(BUILD)/tests/wire/%): %: %.o $(BUILD)/tests/wire/server.o \
    $(addprefix $(BUILD)/tests/wire/,clock-drive.o history.o) \
    $(BUILD)/nbdkit-plugin/clock-client.o $(BUILD)/disk-model/fixed.o
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(CMOCKA_LIBS) $(NBD_LIBS)

# More of what make check does a little of.
## 
##   make check-power     cut the power CUTS times (2000), or as SEED says
##   make check-kill-plugin   kill the plugin N times (500)
##   make check-soak      HOURS (720) of model time, three drives
.PHONY: check-power check-kill-plugin check-soak
check-soak: $(BUILD)/tests/unit/soak-test
	@HOURS=$(or $(HOURS),720) $<
check-power: all $(BUILD)/tests/wire/power-oracle
	@CUTS=$(or $(CUTS),2000) BUILD=$(BUILD) \
	  $(BUILD)/tests/wire/power-oracle
check-kill-plugin: all $(BUILD)/tests/wire/kill-test
	@N=$(or $(N),500) BUILD=$(BUILD) \
	  $(BUILD)/tests/wire/kill-test

# What a command costs in the model.
$(BUILD)/tests/bench/model-bench: %: %.o $(BUILD)/tests/unit/drives.o \
    $(MODEL_OBJ)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(CMOCKA_LIBS)
## 
##   make bench-model     nanoseconds a command costs in the model
.PHONY: bench-model
bench-model: $(BUILD)/tests/bench/model-bench
	@$<

# The plugin against others.
$(BUILD)/tests/bench/nbd-bench: %: %.o
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(NBD_LIBS)
##   make bench           the plugin and the real clock against nbdkit's own
.PHONY: bench
bench: all $(BUILD)/tests/bench/nbd-bench
	@BUILD=$(BUILD) tests/bench/overhead.sh
	@BUILD=$(BUILD) tests/bench/real-clock.sh

# The harness: scenarios and results alone, then whole runs.
HARNESS_C := scenario-test results-test disk-image-test place-test
UNIT_TESTS += $(HARNESS_C:%=$(BUILD)/tests/unit/%)
$(HARNESS_C:%=$(BUILD)/tests/unit/%): %: %.o \
    $(filter-out $(BUILD)/harness/spindle.o,$(HARNESS_OBJ)) $(MODEL_OBJ) \
    $(PROFILES_LIB)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PROFILES_LIBS) \
	  $(CMOCKA_LIBS) $(NBD_LIBS) -lm
UNIT_TESTS += tests/unit/cpu-test.sh
GUEST_TESTS += tests/guest/run-two.sh tests/guest/kill.sh \
               tests/guest/matrix.sh tests/guest/crash.sh \
               tests/guest/bad-sectors.sh
##   make check-crash     the power is cut under ext4, SEEDS (200) times with
##                        barriers and without
.PHONY: check-crash
check-crash: all
	@BUILD=$(BUILD) tests/guest/crash.sh SEEDS=$(or $(SEEDS),200)
##   make check-matrix    the same trace on every bus, under load, with each
##                        QEMU: a million requests, hours
##   make check-kill      200 times: nbdkit, QEMU or spindle is killed
.PHONY: check-matrix check-kill
check-matrix: all
	@BUILD=$(BUILD) tests/guest/matrix.sh full
check-kill: all
	@BUILD=$(BUILD) tests/guest/kill.sh N=200
##   make check-reports   the scenarios of all reports, a part of the work of
##                        each: minutes; with KERNEL=NAME or KERNEL=all on
##                        kernels in SPINDLE_KERNELS
.PHONY: check-reports
check-reports: all
	@$(BUILD)/spindle run $(if $(KERNEL),--kernel $(KERNEL)) \
	  --keep $(BUILD)/reports$(if $(KERNEL),-$(KERNEL)) \
	  $(patsubst harness/scenarios/%.cfg,%,$(SCENARIOS))
##   make kernels         Debian's kernels 5.10, 6.1 and 6.12, and a 32-bit one,
##                        into $(BUILD)/kernels, for SPINDLE_KERNELS
##   make check-kernels   the agent on each of them, or on those in
##                        SPINDLE_KERNELS: little memory and 2 GiB, IDE and AHCI
.PHONY: kernels check-kernels
kernels:
	@tests/guest/fetch-kernels.sh $(BUILD)/kernels
check-kernels: all
	@if [ -n "$$SPINDLE_KERNELS" ]; then :; else \
	  [ -d $(BUILD)/kernels ] || $(MAKE) --no-print-directory kernels; fi
	@SPINDLE_KERNELS=$${SPINDLE_KERNELS:-$(BUILD)/kernels} BUILD=$(BUILD) \
	  tests/guest/kernels.sh
##   make bench-speed     virtual seconds a real second, waiting for a disk
.PHONY: bench bench-speed
bench: bench-model bench-speed
bench-speed: all
	@BUILD=$(BUILD) tests/bench/virtual-speed.sh
GUEST_TESTS += tests/guest/run-files.sh
GUEST_TESTS += tests/guest/run-errors.sh tests/guest/run-exact.sh \
               tests/guest/run-vm.sh
GUEST_TESTS += $(addprefix tests/guest/clock-,ide.sh ahci.sh ncq.sh \
                 identify.sh faults.sh fuzz.sh)

# Replay: the readers and the engine in one process, the command, and NBD.
REPLAY_C := $(BUILD)/tests/unit/trace-test $(BUILD)/tests/unit/replay-test
REPLAY_WIRE := $(BUILD)/tests/wire/replay-test
UNIT_TESTS += $(REPLAY_C) tests/unit/replay-command-test.sh
WIRE_TESTS += $(REPLAY_WIRE)
$(REPLAY_C): $(BUILD)/tests/unit/drives.o
$(REPLAY_WIRE): $(BUILD)/tests/wire/server.o \
  $(BUILD)/nbdkit-plugin/clock-client.o
$(REPLAY_C) $(REPLAY_WIRE): %: %.o $(REPLAY_OBJ) $(MODEL_OBJ) \
    $(addprefix $(BUILD)/harness/,child.o gnuplot.o json.o options.o pieces.o table.o \
      util.o words.o) \
    $(PROFILES_LIB)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PROFILES_LIBS) \
	  $(CMOCKA_LIBS) $(REPLAY_LIBS)

# Import: the readers and the mapping, the command, and what the loader
# makes of it.
IMPORT_TEST := $(BUILD)/tests/unit/import-test
UNIT_TESTS += $(IMPORT_TEST) tests/unit/import-command-test.sh
$(IMPORT_TEST): %: %.o $(IMPORT_OBJ) $(PROFILES_LIB) \
    $(addprefix $(BUILD)/harness/,options.o util.o words.o)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PROFILES_LIBS) \
	  $(CMOCKA_LIBS) -lz

# What holds for every profile: the loader and the model together.
UNIT_TESTS += $(BUILD)/tests/unit/profiles-test
$(BUILD)/tests/unit/profiles-test: %: %.o $(BUILD)/tests/unit/drives.o \
    $(MODEL_OBJ) $(PROFILES_LIB)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PROFILES_LIBS) $(CMOCKA_LIBS)

# Profiles from outside.
UNIT_TESTS += tests/unit/profile-command-test.sh

# The probe: of the model itself, over NBD, and of many more drives.
PROBE_TEST := $(BUILD)/tests/unit/probe-test
UNIT_TESTS += $(PROBE_TEST)
$(PROBE_TEST): %: %.o $(BUILD)/tests/unit/random-drive.o \
    $(filter-out %/command-profile.o %/probe-calibrate.o,$(PROBE_OBJ)) \
    $(addprefix $(BUILD)/harness/,child.o gnuplot.o json.o options.o pieces.o \
      table.o util.o words.o) \
    $(MODEL_OBJ) $(PROFILES_LIB)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PROFILES_LIBS) \
	  $(CMOCKA_LIBS) $(REPLAY_LIBS)
WIRE_TESTS += tests/wire/probe-test.sh
##   make check-probe     the probe of every profile, and of N (20) drives made
##                        at random, as PROBE_TEST_SEED says
.PHONY: check-probe
check-probe: all $(PROBE_TEST)
	@PROBE_TEST_COUNT=$(or $(N),20) $(PROBE_TEST)

# The fit, with a host made up in place of guests, and in guests.
FIT_TEST := $(BUILD)/tests/unit/fit-test
UNIT_TESTS += tests/unit/fit-command-test.sh $(FIT_TEST)
$(FIT_TEST).o: $(BUILD)/harness/nlopt-there.h
$(FIT_TEST).o: ALL_CFLAGS += -I$(BUILD)/harness
$(FIT_TEST): %: %.o \
    $(filter-out %/command-fit.o %/fit-record.o,$(FIT_OBJ)) $(REPLAY_OBJ) \
    $(filter-out $(BUILD)/harness/spindle.o,$(HARNESS_OBJ)) $(MODEL_OBJ) \
    $(PROFILES_LIB)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(PROFILES_LIBS) \
	  $(CMOCKA_LIBS) $(REPLAY_LIBS) $(NLOPT_LIBS)
##   make check-fit       figures that were hidden, found again in guests
.PHONY: check-fit
check-fit: deps
	+@$(MAKE) --no-print-directory all
	@BUILD=$(BUILD) $(TEST_RUN) tests/guest/fit.sh
