//go:build race

package acp

// floodBytes is less under the race detector, which makes all of it slow.
const floodBytes = 20 << 20
