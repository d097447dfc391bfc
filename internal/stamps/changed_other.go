//go:build unix && !linux

package stamps

import "golang.org/x/sys/unix"

// Sure says that the stamps do not show every change.
const Sure = false

// changed is the time that the file itself tells, which its owner can set.
func changed(st *unix.Stat_t) [2]int64 { return [2]int64{int64(st.Mtim.Sec), int64(st.Mtim.Nsec)} }
