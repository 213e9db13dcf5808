# SPDX-License-Identifier: BSD-3-Clause

# What reads files from outside, each in a program of its own with clang's
# libFuzzer and sanitizers.
FUZZERS := profile scenario trace import
FUZZ_PROFILES := $(filter-out profiles/print-keys.c,$(wildcard profiles/*.c))
FUZZ_SRC_profile := $(MODEL_SRC) $(FUZZ_PROFILES)
FUZZ_SRC_scenario := $(MODEL_SRC) $(FUZZ_PROFILES) \
  $(filter-out harness/spindle.c,$(HARNESS_SRC))
FUZZ_SRC_trace := $(MODEL_SRC) $(wildcard harness/trace-*.c) \
  $(addprefix harness/,replay-model.c replay-schedule.c util.c)
FUZZ_SRC_import := $(FUZZ_PROFILES) harness/util.c harness/words.c \
  $(filter-out harness/import-command.c,$(wildcard harness/import*.c))

FUZZ_PROGRAMS := $(FUZZERS:%=$(BUILD)/tests/fuzz/%-fuzz)
.SECONDEXPANSION:
$(FUZZ_PROGRAMS): $(BUILD)/tests/fuzz/%-fuzz: tests/fuzz/%-fuzz.c \
    $$(FUZZ_SRC_$$*) $(wildcard */*.h) | all
	@mkdir -p $(@D)
	clang $(ALL_CFLAGS) -O1 -I$(BUILD)/profiles -I$(BUILD)/harness \
	  -fsanitize=fuzzer,address,undefined \
	  -fno-sanitize-recover=undefined -o $@ $(filter %.c,$^) \
	  $(PROFILES_LIBS) $(NBD_LIBS) -lz -lm

## 
##   make fuzz-profile    the profile loader and the model under libFuzzer, for
##                        SECONDS (60); so are fuzz-scenario, fuzz-trace, and
##                        fuzz-import (DiskSim's parameters).  Needs clang
SECONDS ?= 60
.PHONY: $(FUZZERS:%=fuzz-%)
$(FUZZERS:%=fuzz-%): fuzz-%: $(BUILD)/tests/fuzz/%-fuzz
	@BUILD=$(BUILD) tests/fuzz/fuzz $* -max_total_time=$(SECONDS)

##   make check-fuzz      all four with FILES (100000) in all, then REQUESTS
##                        (1000000) of hostile NBD clients, with sanitizers
.PHONY: check-fuzz run-fuzz-nbd
check-fuzz:
	@harness/deps.sh asan clang
	+@$(MAKE) --no-print-directory $(FUZZ_PROGRAMS)
	@BUILD=$(BUILD) FILES=$(or $(FILES),100000) TEST_TIMEOUT=7200 \
	  $(TEST_RUN) tests/fuzz/files.sh
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan $(ASAN_FLAGS) \
	  run-fuzz-nbd
run-fuzz-nbd: all $(BUILD)/tests/wire/nbd-fuzz $(BUILD)/tests/keep-locales.so
	@NBDKIT=tests/nbdkit-asan TEST_SLOW=1 \
	  REQUESTS=$(or $(REQUESTS),1000000) \
	  LSAN_OPTIONS=suppressions=tests/lsan.supp TEST_TIMEOUT=7200 \
	  $(TEST_RUN) $(BUILD)/tests/wire/nbd-fuzz
