package sandbox

// trial is what the probe has tried inside a sandbox. Each path is of a kind that
// the trial's profile makes so; see ground.
type trial struct {
	Writable  pathBytes `json:"writable"`
	Fixed     pathBytes `json:"fixed"` // a read-only file in the writable folder
	Outside   pathBytes `json:"outside"`
	Secrets   []pathBytes
	Arm       pathBytes `json:"arm,omitempty"` // a file that is there only if a bind works
	Port      int       `json:"port"`          // where somebody listens on the machine's loopback; 0: unknown
	Process   int       `json:"process"`       // one outside
	Namespace string    `json:"namespace"`     // of that process
}

// tried says of each promise that was tried whether it held.
type tried map[Promise]bool
