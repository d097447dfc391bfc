package benchmark

import "si/internal/proc"

// maxResult bounds what is read from the result's descriptor, in bytes.
const maxResult = 1 << 20

// reportOf asks for descriptor 3 when settings want the result there. It is a socket
// (proc.Command.Report): who is not given it cannot open it again in /proc, as a pipe
// or a file could be. A program that may trace the harness can still take it from it.
func reportOf(s Spec) *proc.Output {
	if !s.ResultFD {
		return nil
	}
	return &proc.Output{HeadMax: maxResult}
}
