# SPDX-License-Identifier: BSD-3-Clause
#
# The loader.  Others link $(PROFILES_LIB) and $(PROFILES_LIBS).

PROFILES_LIB := $(BUILD)/profiles/libprofiles.a
PROFILES_LIBS := $(shell pkg-config --libs libconfig 2>/dev/null || \
                   echo -lconfig) -ldl
PROFILES_OBJS := $(addprefix $(BUILD)/profiles/,checks.o describe.o keys.o lists.o \
                   loader.o nearest.o scan.o search.o value.o)

ALL += $(PROFILES_LIB) $(BUILD)/profiles/print-keys

$(PROFILES_LIB): $(PROFILES_OBJS)
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/profiles/print-keys: $(BUILD)/profiles/print-keys.o $(PROFILES_LIB)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PROFILES_LIBS)

# Written anew only when make is given another place to install to.
$(BUILD)/profiles/search.o: $(BUILD)/profiles/datadir.h
$(BUILD)/profiles/search.o: ALL_CFLAGS += -I$(BUILD)/profiles
$(BUILD)/profiles/datadir.h: FORCE
	@mkdir -p $(@D)
	@(echo '#define SPINDLE_DATADIR "$(DATADIR)"'; \
	  echo '#define SPINDLE_BINDIR "$(BINDIR)"'; \
	  echo '#define SPINDLE_PLUGINDIR "$(PLUGINDIR)"') >$@.new
	@cmp -s $@ $@.new && rm $@.new || mv $@.new $@
.PHONY: FORCE
FORCE:

# Put the table of keys into the README again after a change to keys.c.
.PHONY: profiles-readme
profiles-readme: $(BUILD)/profiles/print-keys
	$< >$(BUILD)/profiles/keys.md
	sed -i -e '/^<!-- keys -->$$/,/^<!-- end of keys -->$$/{/^<!-- /!d}' \
	  -e '/^<!-- keys -->$$/r $(BUILD)/profiles/keys.md' profiles/README.md
