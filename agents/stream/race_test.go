//go:build race

package stream

// floodMiB is how much the flooding agent prints: the race detector makes reading it ten times slower.
const floodMiB = 20
