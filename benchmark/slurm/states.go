package slurm

import (
	"strings"

	"si/internal/clean"
)

// parseState reads "STATE|node|reason", as squeue and sacct are asked to print
// it. Of several lines the last one counts: sacct lists a requeued job more than
// once.
func parseState(out string) (state, bool) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	fields := strings.SplitN(lines[len(lines)-1], "|", 3)
	if len(fields) < 3 {
		return state{}, false
	}
	// sacct: "CANCELLED by 1000".
	word, _, _ := strings.Cut(strings.TrimSpace(fields[0]), " ")
	st := state{word: clean.Line(word, 40), reason: clean.Line(fields[2], 200)}
	if plainWord(strings.TrimSpace(fields[1])) {
		st.node = strings.TrimSpace(fields[1])
	}
	st.phase = phaseOf(word)
	switch word {
	case "PENDING":
		st.impossible = impossibleReason(st.reason)
		if st.reason == "launch failed requeued held" || st.reason == "JobHoldMaxRequeue" {
			st.phase = lost
		}
	case "TIMEOUT", "TIMEOUT+":
		st.timedOut = true
	case "OUT_OF_MEMORY", "OUT_OF_ME+":
		st.outOfMem = true
	}
	return st, true
}

// phaseOf knows the states of squeue(1), JOB STATE CODES. A word that it does
// not know is no reason to give a job up.
func phaseOf(word string) phase {
	switch word {
	case "PENDING":
		return pending
	case "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED":
		return running
	case "COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "OUT_OF_ME+", "CANCELLED", "CANCELLED+", "DEADLINE":
		return ended
	case "NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "REVOKED":
		return lost
	}
	return unknown
}

// impossibleReason knows the reasons of squeue(1), JOB REASON CODES, that no
// waiting resolves: the request asks for more than the partition, the account or
// a limit of each job allows. A job that waits for a busy, drained or absent node
// has a chance and is not among them.
func impossibleReason(reason string) bool {
	switch reason {
	case "PartitionConfig", "PartitionNodeLimit", "PartitionTimeLimit", "NodeLimit", "TimeLimit", "BadConstraints", "DependencyNeverSatisfied",
		"AccountNotAllowed", "InvalidAccount", "InvalidQOS", "QOSNotAllowed":
		return true
	}
	return strings.Contains(reason, "PerJob") || strings.Contains(reason, "MaxWallDuration")
}
