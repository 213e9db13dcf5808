# SPDX-License-Identifier: BSD-3-Clause

# The guest's init: 32-bit, no libc, no headers or libraries of one.
AGENT_SRC := $(wildcard harness/agent/*.c)
AGENT_OBJ := $(AGENT_SRC:%.c=$(BUILD)/%.o)
AGENT_CFLAGS = -std=c11 -m32 -march=i486 -Os -ffreestanding -fno-pic \
               -fno-stack-protector -fno-asynchronous-unwind-tables \
               -fcf-protection=none $(WARN)
ALL += $(BUILD)/agent

$(BUILD)/harness/agent/%.o: harness/agent/%.c
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/agent: $(AGENT_OBJ)
	$(CC) -m32 -nostdlib -static -s -Wl,--build-id=none \
	  -Wl,-z,noseparate-code -Wl,-z,max-page-size=4096 -o $@ $^
