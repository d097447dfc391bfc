#!/bin/sh
# A real Slurm on one machine, for tests: its own munged, slurmctld and virtual
# nodes (several slurmd on one host), all on the loopback interface, with every
# file in one folder and nothing under /etc.
#
#   slurm.sh up FOLDER PORT NODES    start; PORT and the NODES ports above it must be free
#   slurm.sh down FOLDER             stop what up started there, and remove the folder
#   slurm.sh drop FOLDER NODE        kill the daemon of a node, as if the machine were gone
#   slurm.sh raise FOLDER NODE       start it again
#
# Needs root, because slurmd starts jobs for others, and the programs of Debian's
# packages slurm-wlm and munge. The partitions are "bench" (all nodes, default)
# and "short" (one minute at most). Nodes are called c<PORT>n1, c<PORT>n2, ... so
# that the control groups of two such clusters do not meet.
set -eu

say() { echo "slurm.sh: $*" >&2; }

usage() { say "usage: slurm.sh up FOLDER PORT NODES | down FOLDER | drop FOLDER NODE | raise FOLDER NODE"; exit 2; }

[ $# -ge 2 ] || usage
act=$1 dir=$2
export SLURM_CONF="$dir/slurm.conf"

# Daemons are ended by number, and only when the number is still theirs: each
# has a file of this cluster's folder on its command line or open.
pids() { cat "$dir"/run/*.pid "$dir/pids" 2>/dev/null | sort -un; }
ours() { [ -d "/proc/$1" ] && { tr '\0' ' ' <"/proc/$1/cmdline" | grep -qF "$dir/" || ls -l "/proc/$1/fd" 2>/dev/null | grep -qF " $dir/"; }; }
alive() { for p in $(pids); do if ours "$p"; then echo "$p"; fi; done; }
stepds() { for p in $(pgrep -x slurmstepd || true); do if ours "$p"; then echo "$p"; fi; done; }
end() { # SIGNAL PID...
	sig=$1
	shift
	for p in "$@"; do kill "-$sig" "$p" 2>/dev/null || true; done
}

down() {
	[ -f "$SLURM_CONF" ] || return 0
	jobs=$(timeout 5 squeue -h -o %A 2>/dev/null || true)
	[ -z "$jobs" ] || timeout 5 scancel -s KILL -f $jobs 2>/dev/null || true
	end KILL $(stepds)
	end TERM $(alive)
	for _ in $(seq 50); do
		[ -n "$(alive)" ] || break
		sleep 0.1
	done
	end KILL $(alive)
	for cluster in /sys/fs/cgroup/*/slurm_$(sed -n 's/^ClusterName=//p' "$SLURM_CONF")n*; do
		[ ! -d "$cluster" ] || find "$cluster" -depth -type d -exec rmdir {} \; 2>/dev/null || true
	done
	rm -rf "$dir"
}

raise() { # NODE
	mkdir -p "$dir/spool/$1"
	slurmd -f "$SLURM_CONF" -N "$1" >>"$dir/log/start.log" 2>&1 </dev/null
}

# The cgroup plug-in ends what has left the job's session; without it Slurm knows
# a job by its process tree only.
configure() { # PORT NODES
	host=$(hostname -s)
	track=proctrack/linuxproc
	groups="CgroupAutomount=no"
	if [ -w /sys/fs/cgroup/freezer/tasks ]; then
		track=proctrack/cgroup
		groups="CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
CgroupAutomount=no"
	fi
	echo "$groups" >"$dir/cgroup.conf"
	memory=$(awk '/MemTotal/{print int($2/1024*0.8)}' /proc/meminfo)
	cat <<EOF
ClusterName=c$1
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
SlurmctldPort=$1
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
ProctrackType=$track
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
EnforcePartLimits=NO
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=100000,batch_sched_delay=1,bf_interval=1
AccountingStorageType=accounting_storage/none
AccountingStoreFlags=job_comment
JobAcctGatherType=jobacct_gather/none
KillWait=5
SlurmctldTimeout=30
SlurmdTimeout=30
CompleteWait=0
EOF
	nodes=""
	for i in $(seq "$2"); do
		nodes="${nodes:+$nodes,}c$1n$i"
		echo "NodeName=c$1n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$(($1 + i)) CPUs=$(nproc) RealMemory=$((memory / $2)) State=UNKNOWN"
	done
	echo "PartitionName=bench Nodes=$nodes Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO"
	echo "PartitionName=short Nodes=$nodes MaxTime=1 State=UP OverSubscribe=NO"
}

idle() { sinfo -h -p bench -t idle -o %D 2>/dev/null | awk '{n += $1} END {print n + 0}'; }

up() { # PORT NODES
	[ "$(id -u)" = 0 ] || { say "it must run as root"; exit 1; }
	for program in munged slurmctld slurmd sbatch; do
		command -v $program >/dev/null || { say "$program is not installed; apt-get install slurm-wlm munge"; exit 1; }
	done
	mkdir -p "$dir/run" "$dir/log" "$dir/state" "$dir/spool" "$dir/munge"
	chmod 755 "$dir" "$dir"/*
	dd if=/dev/urandom of="$dir/munge/key" bs=1024 count=1 2>/dev/null
	chmod 400 "$dir/munge/key"
	# munged refuses a socket below a folder that others can write to, as a
	# temporary folder is; the key is this test's alone.
	munged --force --key-file "$dir/munge/key" --socket "$dir/munge/socket" --pid-file "$dir/run/munged.pid" \
		--log-file "$dir/log/munged.log" --seed-file "$dir/munge/seed" --num-threads 2 >"$dir/log/start.log" 2>&1 </dev/null
	configure "$1" "$2" >"$SLURM_CONF"
	slurmctld -f "$SLURM_CONF" >>"$dir/log/start.log" 2>&1 </dev/null
	for i in $(seq "$2"); do raise "c$1n$i"; done
	for _ in $(seq 150); do
		[ "$(idle)" != "$2" ] || break
		sleep 0.1
	done
	# A daemon that stops removes its file before it is gone.
	cat "$dir"/run/*.pid >"$dir/pids"
	[ "$(idle)" = "$2" ] || { say "the nodes did not become idle within 15 s:"; tail -n 5 "$dir"/log/*.log >&2; down; exit 1; }
}

case $act in
up) [ $# = 4 ] || usage; up "$3" "$4" ;;
down) down ;;
drop) [ $# = 3 ] || usage; end KILL "$(cat "$dir/run/slurmd-$3.pid")" ;;
raise) [ $# = 3 ] || usage; raise "$3"; cat "$dir"/run/*.pid >>"$dir/pids" ;;
*) usage ;;
esac
