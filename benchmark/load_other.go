//go:build !linux

package benchmark

// loadAverage is unknown where there is no /proc.
func loadAverage() float64 { return -1 }
