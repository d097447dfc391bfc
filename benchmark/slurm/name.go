package slurm

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// nameMax bounds the readable part of a name: schedulers cut long ones.
const nameMax = 40

// jobName is the name of the job of a key in a work folder. The readable part is
// for people; the digest makes it unique, and differs between two tracks that
// use the same keys.
func jobName(workDir, key string) string {
	readable := strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return '_'
	}, key)
	sum := sha256.Sum256([]byte(workDir + "\x00" + key))
	return "si_" + readable[:min(nameMax, len(readable))] + "_" + hex.EncodeToString(sum[:8])
}

func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
}

// plainWord reports whether s can stand in an option's value: Slurm reads a list
// of nodes with a slash as a file, and brackets as a range.
func plainWord(s string) bool {
	return s != "" && s[0] != '-' && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0
}

func plainList(s string) bool {
	for word := range strings.SplitSeq(s, ",") {
		if !plainWord(word) {
			return false
		}
	}
	return true
}
