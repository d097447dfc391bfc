package slurm

import (
	"fmt"
	"strconv"
	"strings"
)

// script is what the scheduler starts. It holds nothing of the command: that
// travels as data, so that no quoting can go wrong, and no size is too large for
// the scheduler's own limit on scripts.
func script(self string, f folder, attempt int) string {
	dir, program := quote(string(f)), quote(self)
	return fmt.Sprintf(`#!/bin/sh
# A job of si: takes the measurements that its folder asks for.
if [ ! -d %[1]s ]; then
	echo 'si: the folder of the job is not there; is its file system mounted on this node?' >&2
	exit 71
fi
exec >>%[2]s 2>&1
if [ ! -x %[3]s ]; then
	echo "si: the program cannot be executed on node $(uname -n)"
	exit 72
fi
exec %[3]s %[4]s %[1]s %[5]s
`, dir, quote(f.log()), program, serveArg, strconv.Itoa(attempt))
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
