package sandbox

import "fmt"

// Versions of the kernel's interface that changed what can be enforced. The
// numbers are those of its documentation, userspace-api/landlock.
const (
	abiRefer    = 2  // moves between folders can be allowed
	abiTruncate = 3  // cutting files short can be refused
	abiTCP      = 4  // Linux 6.7
	abiIoctl    = 5  // Linux 6.10
	abiScope    = 6  // Linux 6.12: signals and abstract sockets
	abiUnix     = 9  // sockets in the file system
	abiUDP      = 10 // UDP
)

// landOf translates a profile for Landlock, which only allows: what it allows for
// a folder holds for all in it.
func landOf(p Profile, r resolved) (*land, error) {
	hide := append(append([]string(nil), r.hidden...), r.private...)
	l := &land{
		Writable: toBytes(r.writable), Hidden: toBytes(hide), Devices: toBytes(r.devices), Network: p.Network,
	}
	for _, h := range hide {
		for _, w := range r.writable {
			if h == w || within(h, w) {
				return nil, fmt.Errorf("hide %s: Landlock cannot, because the folder %s around it is writable; install bubblewrap, or make less writable", h, w)
			}
		}
	}
	for _, v := range r.readOnly {
		for _, h := range hide {
			if within(v, h) {
				l.Visible = append(l.Visible, pathBytes(v))
				break
			}
		}
	}
	return l, nil
}
