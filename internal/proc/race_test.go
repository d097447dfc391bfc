//go:build race

package proc

// supervisorMax allows for the race detector's shadow memory.
const supervisorMax = 64 << 20
