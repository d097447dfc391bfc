package sandbox

import "strconv"

const (
	whyEachProcess = "of each process, not of all together"
	whyTried       = "it was tried, and not refused"
)

// bwrapReport says what bubblewrap enforces; got is what a trial showed.
func bwrapReport(version string, got tried, keepUserns bool) Report {
	not := refuted(got)
	but := map[Promise]string{
		ReadOnlyInside: "a second name that a file already has in a writable folder stays writable",
		MemoryLimit:    whyEachProcess,
	}
	if keepUserns {
		not[NoNesting] = "this bubblewrap is older than 0.8 and cannot refuse them; mounts stay locked all the same"
	}
	if why := processesUncounted(); why != "" {
		not[ProcessLimit] = why
	}
	return Report{Kind: Bubblewrap, Version: version, Findings: findings(not, but)}
}

// landlockReport says what Landlock enforces in the version of its interface.
func landlockReport(abi int, got tried) Report {
	not := refuted(got)
	but := map[Promise]string{
		WriteConfined: "modes, owners and times of files outside can still be changed, and /dev/shm written to",
		PathsHidden:   "their names can be listed",
		OwnProcesses:  "they can be seen",
		MemoryLimit:   whyEachProcess,
	}
	not[ReadOnlyInside] = "Landlock cannot take back what it allows for the folder"
	not[SamePath] = "Landlock has no mounts"
	not[NoNesting] = "Landlock does not refuse them; it stays in force in them"
	not[ProcessLimit] = "it would count all processes of the user"
	if abi < abiTruncate {
		not[WriteConfined] = "this kernel's Landlock lets files outside be cut short"
	}
	switch {
	case abi < abiTCP:
		not[NetworkOff] = "this kernel's Landlock knows no network"
	case abi < abiUDP:
		not[NetworkOff] = "TCP is refused; UDP and sockets in the file system are not"
	}
	if abi < abiScope {
		not[OwnProcesses] = "this kernel's Landlock lets processes of the user be signalled"
	}
	return Report{Kind: Landlock, Version: "ABI " + strconv.Itoa(abi), Findings: findings(not, but)}
}

// noneReport says why nothing is enforced.
func noneReport(why string, failures, hints []string) Report {
	not := map[Promise]string{}
	for _, p := range Promises() {
		not[p] = why
	}
	but := map[Promise]string{}
	if helperWorks {
		delete(not, FileLimit)
		delete(not, MemoryLimit)
		but[MemoryLimit] = whyEachProcess
	}
	return Report{Kind: None, Findings: findings(not, but), Failures: failures, Advice: hints}
}

func refuted(got tried) map[Promise]string {
	not := map[Promise]string{}
	for p, held := range got {
		if !held {
			not[p] = whyTried
		}
	}
	return not
}
