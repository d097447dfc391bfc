package findings

import (
	"hash/fnv"
	"path"
	"strconv"
	"strings"
)

// maxSignature is the longest signature that MISTAKES.md takes, in bytes.
const maxSignature = 60

// Signature makes the name of a failure out of words: lower-case letters and digits
// joined by hyphens. One that would be too long is cut and told from others of the
// same beginning by a hash of the whole.
func Signature(words ...string) string {
	parts := strings.FieldsFunc(strings.ToLower(strings.Join(words, " ")), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	name := strings.Join(parts, "-")
	if name == "" {
		name = "unnamed"
	}
	if len(name) <= maxSignature {
		return name
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	tail := "-" + strconv.FormatUint(uint64(h.Sum32()), 36)
	return strings.TrimRight(name[:maxSignature-len(tail)], "-") + tail
}

// area is what some files have in common: the one file, their folder, or the whole
// repository.
func area(files []string) string {
	if len(files) == 0 {
		return "repository"
	}
	common := files[0]
	for _, f := range files[1:] {
		for common != "." && f != common && !strings.HasPrefix(f, common+"/") {
			common = path.Dir(common)
		}
	}
	if common == "." || common == "/" {
		return "repository"
	}
	return common
}
