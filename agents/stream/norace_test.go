//go:build !race

package stream

// floodMiB is how much the flooding agent prints.
const floodMiB = 200
