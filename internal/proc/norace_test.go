//go:build !race

package proc

// supervisorMax is the design's limit for the resident size of a supervisor.
const supervisorMax = 16 << 20
