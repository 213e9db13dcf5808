#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# time limit: 3600
#
# 64 runs as an array job of a Slurm of one node, which is started for it
# with files of its own only.  Some are killed and queued again.

. tests/guest/run-lib.sh
PATH=$PATH:/usr/sbin
for program in munged slurmctld slurmd sbatch; do
  if ! command -v $program >/dev/null; then
    echo "1..0 # SKIP no $program (slurmctld, slurmd, slurm-client, munge)"
    exit 0
  fi
done
if [ "$(id -u)" != 0 ]; then
  echo "1..0 # SKIP slurmd wants to be root"
  exit 0
fi
. tests/guest/matrix-lib.sh
matrix "${SEEDS:-16}"

s=$work/slurm
mkdir -p "$s/state" "$s/spool"
node=$(hostname -s)
pids=
stop_slurm () {
  scancel --user=root 2>/dev/null
  # shellcheck disable=SC2086 # a list of words
  kill $pids 2>/dev/null
  # shellcheck disable=SC2086
  wait $pids 2>/dev/null
  rm -rf "$work"
}
trap stop_slurm EXIT
trap 'exit 1' INT TERM HUP

# munged wants nobody else to be able to write where its socket is.
chmod 755 "$work"
dd if=/dev/urandom of="$s/key" bs=1024 count=1 status=none
chmod 400 "$s/key"
cat >"$s/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$s/munge.socket
CryptoType=crypto/munge
CredType=cred/munge
SlurmctldPort=${SLURM_PORT:-26817}
SlurmdPort=$((${SLURM_PORT:-26817} + 1))
SlurmctldPidFile=$s/slurmctld.pid
SlurmdPidFile=$s/slurmd.pid
SlurmctldLogFile=$s/slurmctld.log
SlurmdLogFile=$s/slurmd.log
StateSaveLocation=$s/state
SlurmdSpoolDir=$s/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
KillWait=2
MinJobAge=3600
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$node Default=YES State=UP
END
export SLURM_CONF=$s/slurm.conf

# until SECONDS COMMAND...
until_true () {
  local i n=$(($1 * 5))
  shift
  for ((i = 0; i < n; i++)); do
    "$@" && return
    sleep 0.2
  done
  false
}

start_slurm () {
  munged --foreground --force --key-file="$s/key" --socket="$s/munge.socket" \
    --pid-file="$s/munge.pid" --log-file="$s/munge.log" \
    --seed-file="$s/munge.seed" 2>"$s/munge.err" &
  pids=$!
  until_true 30 [ -S "$s/munge.socket" ] || return
  slurmctld -D >"$s/slurmctld.out" 2>&1 &
  pids+=" $!"
  slurmd -D >"$s/slurmd.out" 2>&1 &
  pids+=" $!"
  until_true 60 eval '[ "$(sinfo -ho %T 2>/dev/null)" = idle ]' || {
    tail -n 5 "$s"/*.log "$s"/*.err >&2
    return 1
  }
}

# submit ARRAY [BEFORE]: a task does BEFORE and then a line of the plan.
submit () {
  # shellcheck disable=SC2016 # Slurm sets it
  job=$(sbatch --parsable --array="$1" --output=/dev/null \
          --chdir="$work" --wrap \
          "${2-}"' sed -n "${SLURM_ARRAY_TASK_ID}p" '"$work/plan | sh") &&
    [ -n "$job" ]
}
ended () {
  [ -z "$(squeue -hj "$job" 2>/dev/null)" ]
}
runs_part () {
  pgrep -f "^$spindle run --part=$1/" >/dev/null
}

# Tasks 5 and 6 get stuck: one is cancelled, the other one killed.
# shellcheck disable=SC2016
stuck='case $SLURM_ARRAY_TASK_ID in 5|6) export NO_GUEST_MS=3600000;; esac;'
kill_some () {
  until_true 1800 runs_part 5 && scancel "${job}_5" &&
    until_true 1800 runs_part 6 &&
    pkill -KILL -f "^$spindle run --part=6/.*--keep=$work/parts/" &&
    until_true 1800 ended
}
missing_parts () {
  sed -n 's/.* runs are missing: //p' "$work/err"
}

check "all runs in turn" sequential 2 one
check "a plan has a line for each" make_plan
check "Slurm starts" start_slurm
check "an array of $runs" submit "1-$runs" "$stuck"
check "one task is cancelled, one run is killed" kill_some
check "merge misses them" \
  gives 3 "2 of $runs runs are missing: 5-6" merge all "$work/parts"
check "they are queued again" submit "$(missing_parts)"
check "and run" until_true 600 ended
check "now nothing is missing" merge all "$work/parts"
check "and all is as if they had run in turn" same one all
finish
