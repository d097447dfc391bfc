package slurm

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// hide keeps the command, which runs as the same user, from reading the nonce in
// this process's memory. Root is not kept from it.
func hide() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// loadAverage is the node's load over the last minute, -1 when unknown.
func loadAverage() float64 {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return -1
	}
	first, _, _ := strings.Cut(string(data), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return -1
	}
	return load
}
