package stamps

import "golang.org/x/sys/unix"

// Sure says that the stamps show every change.
const Sure = true

func changed(st *unix.Stat_t) [2]int64 { return [2]int64{int64(st.Ctim.Sec), int64(st.Ctim.Nsec)} }
