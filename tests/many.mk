# SPDX-License-Identifier: BSD-3-Clause

# Many runs, with something quick instead of QEMU.
NO_GUEST := $(BUILD)/tests/guest/no-guest
$(NO_GUEST): %: %.o $(BUILD)/tests/wire/clock-drive.o \
    $(BUILD)/nbdkit-plugin/clock-client.o
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(NBD_LIBS)
GUEST_TESTS += tests/guest/plan.sh tests/guest/compare.sh
tests/guest/plan.sh tests/guest/compare.sh: $(NO_GUEST)
##   make check-plan      64 runs by GNU parallel, some killed, merged
##   make check-slurm     64 runs as an array of a Slurm that is started for
##                        it: slurmctld, slurmd and munge must be installed
.PHONY: check-plan check-slurm
check-plan: all $(NO_GUEST)
	@BUILD=$(BUILD) tests/run tests/guest/plan-64.sh
check-slurm: all $(NO_GUEST)
	@BUILD=$(BUILD) tests/run tests/guest/slurm.sh

##   make evidence        run every report, check every drive, and write
##                        build/evidence/evidence.md and its page of pictures
.PHONY: evidence
evidence: all
	@BUILD=$(BUILD) tests/evidence.sh $(BUILD)/evidence $(SCENARIO)

##   make bench-golden    what of real drives' behaviour nbdkit's filters
##                        show, and what DiskSim did; a part of make bench
.PHONY: bench bench-golden
bench: bench-golden
bench-golden: all
	@BUILD=$(BUILD) tests/bench/golden.sh
	@cat tests/bench/disksim.txt
