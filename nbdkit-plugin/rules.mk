# SPDX-License-Identifier: BSD-3-Clause

PLUGIN := $(BUILD)/nbdkit-spindle-plugin.so
PLUGIN_OBJS := $(addprefix $(BUILD)/nbdkit-plugin/,backing.o \
                 backing-nbd.o bad-sectors.o \
                 change.o clock-real.o clock-virtual.o control.o drive.o \
                 histogram.o owned.o plugin.o power.o power-config.o \
                 real-time.o stats.o trace.o undo.o)

PLUGIN_LIBS := $(shell pkg-config --libs libnbd 2>/dev/null || echo -lnbd)

ALL += $(PLUGIN) $(PLUGIN:.so=.1)

# nbdkit's callbacks have parameters that not everybody needs, and its macro
# defines a function that no header declares.
$(BUILD)/nbdkit-plugin/plugin.o: ALL_CFLAGS += -Wno-unused-parameter \
                                          -Wno-missing-prototypes

$(PLUGIN): $(PLUGIN_OBJS) $(MODEL_OBJ) $(PROFILES_LIB) \
           nbdkit-plugin/plugin.syms
	$(CC) -shared $(CFLAGS) $(LDFLAGS) -pthread \
	  -Wl,--version-script=nbdkit-plugin/plugin.syms \
	  -o $@ $(filter %.o %.a,$^) $(PROFILES_LIBS) $(PLUGIN_LIBS)

$(BUILD)/nbdkit-spindle-plugin.1: nbdkit-plugin/nbdkit-spindle-plugin.pod
	@mkdir -p $(@D)
	pod2man -u -s 1 -n nbdkit-spindle-plugin -c "nbdkit PLUGIN" \
	  -r "spindle $(VERSION)" $< $@
