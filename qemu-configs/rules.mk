# SPDX-License-Identifier: BSD-3-Clause

# The bridge, and what tests need: one that is wrong on purpose, one that
# provokes races, and that one without the cure.
BRIDGE_SOURCES := $(wildcard qemu-configs/bridge/*.c) \
                  nbdkit-plugin/clock-client.c
BRIDGE_HEADERS := $(wildcard qemu-configs/bridge/*.h) \
                  $(wildcard nbdkit-plugin/clock-*.h)
BRIDGES := $(BUILD)/spindle-clock.so \
           $(addprefix $(BUILD)/tests/spindle-clock-, \
                       wrong.so fuzz.so fuzz-no-cure.so)
ALL += $(BRIDGES)

$(BUILD)/tests/spindle-clock-wrong.so: BRIDGE_FLAGS := -DCLOCK_FAULT_LATE
# It has a siglongjmp of its own: no fortified one.
FUZZ_FLAGS := -U_FORTIFY_SOURCE -DCLOCK_FUZZ
$(BUILD)/tests/spindle-clock-fuzz.so: BRIDGE_FLAGS := $(FUZZ_FLAGS)
$(BUILD)/tests/spindle-clock-fuzz-no-cure.so: \
  BRIDGE_FLAGS := $(FUZZ_FLAGS) -DCLOCK_NO_CURE

$(BRIDGES): $(BRIDGE_SOURCES) $(BRIDGE_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(BRIDGE_FLAGS) -fvisibility=hidden -shared \
	  -o $@ $(BRIDGE_SOURCES) -ldl -lpthread

# The machines, where the spindle command looks for them.
QEMU_CONFIGS := $(patsubst %,$(BUILD)/%,$(wildcard qemu-configs/*.cfg))
ALL += $(QEMU_CONFIGS)

$(BUILD)/qemu-configs/%.cfg: qemu-configs/%.cfg
	@mkdir -p $(@D)
	cp $< $@
