package agents

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"si/track"
)

// planPaths lists every file that a plan names, once, in its order.
func planPaths(p track.Plan) []string {
	var paths []string
	for _, f := range p.TargetFiles {
		paths = append(paths, tidy(f))
	}
	for _, s := range p.Steps {
		paths = append(paths, tidy(s.File))
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(paths, func(f string) bool {
		again := seen[f]
		seen[f] = true
		return again
	})
}

// tidy drops a leading ./, which models like to write.
func tidy(file string) string {
	for strings.HasPrefix(file, "./") {
		file = strings.TrimPrefix(file, "./")
	}
	return file
}

// pathFault says why a text cannot be the path of a file in the repository, ""
// when it can.
func pathFault(file string) string {
	switch {
	case file == "":
		return "is empty"
	case len(file) > 1024:
		return "is longer than 1024 bytes"
	case strings.ContainsFunc(file, unicode.IsControl):
		return "has a control character in it"
	case path.IsAbs(file) || strings.Contains(file, `\`):
		return "is not a path relative to the repository, written with /"
	case path.Clean(file) != strings.TrimSuffix(file, "/"):
		return "has an empty part, a . or a .. in it"
	}
	for part := range strings.SplitSeq(file, "/") {
		if part == ".." || strings.EqualFold(part, ".git") { // .git on file systems without case, too
			return "does not lie in the repository's tree"
		}
	}
	return ""
}

func checkScope(p track.Plan, in RuleInput) Check {
	var c Check
	for _, file := range planPaths(p) {
		switch fault := pathFault(file); {
		case fault != "":
			c.Reasons = append(c.Reasons, fmt.Sprintf("target_files: %q %s", file, fault))
		case in.InScope != nil && !in.InScope(file):
			c.Reasons = append(c.Reasons, fmt.Sprintf("target_files: %s is out of scope", file))
		case in.Exists != nil && !in.Exists(file) && !creates(p, file):
			c.Reasons = append(c.Reasons, fmt.Sprintf("target_files: %s does not exist, and no step says that it creates it", file))
		}
	}
	return c
}

// creates reports whether a step on the file speaks of making it. The contract
// has no field for that, so words decide; the prompt asks for "create".
func creates(p track.Plan, file string) bool {
	made := []string{"create", "new", "add", "introduce", "write", "generate", "copy", "move", "rename", "extract", "split"}
	for _, s := range p.Steps {
		if tidy(s.File) != file {
			continue
		}
		for word := range strings.FieldsFuncSeq(strings.ToLower(s.Change), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if slices.Contains(made, strings.TrimSuffix(strings.TrimSuffix(word, "s"), "d")) || slices.Contains(made, strings.TrimSuffix(word, "s")) {
				return true
			}
		}
	}
	return false
}

func checkSealed(p track.Plan, sealed func(string) bool) Check {
	var c Check
	if sealed == nil {
		return c
	}
	for _, file := range planPaths(p) {
		if sealed(file) {
			c.Reasons = append(c.Reasons, fmt.Sprintf("target_files: %s is sealed", file))
		}
	}
	return c
}
