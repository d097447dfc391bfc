//go:build !race

package acp

const floodBytes = 200 << 20
