package survey

import (
	"path"
	"strings"

	"si/benchmark"
	"si/internal/lazyre"
	"si/track"
)

var (
	shellFile     = lazyre.New(`\.(sh|bash)$`)
	hyperfineLine = lazyre.New(`^\s*@?(?:[A-Z_]+=\S+\s+|exec\s+)*(hyperfine\s.*)$`)
	exportJSON    = lazyre.New(`--export-json[= ]+["']?([^\s"'\\]+)`)
	variable      = lazyre.New(`\$[({A-Za-z_@*#0-9]`)
)

// resultHyperfine is where our own command lets hyperfine leave its result.
const resultHyperfine = ".si-hyperfine.json"

func usesHyperfine(text string) bool {
	for line := range strings.Lines(text) {
		if !comment(line) && hyperfineLine.MatchString(strings.TrimRight(line, "\r\n")) {
			return true
		}
	}
	return false
}

// hyperfines are shell scripts that call hyperfine.
func hyperfines(i *index) (found []Finding) {
	for _, file := range i.match(shellFile) {
		h, ok := i.first(file, hyperfineLine)
		if !ok {
			continue
		}
		f := Finding{
			Tool: "hyperfine", File: h.file, Line: h.line, Text: h.text, Format: benchmark.FormatHyperfine,
			Metric: "geomean", Direction: track.LowerIsBetter, Sealed: []string{file}, Sure: Author,
		}
		call := callAt(i.text(file), h.line)
		shell := runWith[path.Ext(file)]
		if strings.Contains(firstLine(i.text(file)), "bash") {
			shell = "bash "
		}
		switch m := exportJSON.FindStringSubmatch(call); {
		case m != nil && !variable.MatchString(m[1]):
			f.Command = shell + quote(file)
			f.ResultFiles = []string{path.Clean(strings.TrimPrefix(m[1], "./"))}
		case !variable.MatchString(call):
			f.Command = strings.Replace(strings.TrimPrefix(call, "exec "), "hyperfine", "hyperfine --export-json "+resultHyperfine, 1)
			f.ResultFiles, f.Sure = []string{resultHyperfine}, Tool
			f.Note = "the script keeps no result, so its call is offered with --export-json; what the script does before it is left out"
		default:
			f.Command, f.Sure = shell+quote(file), Guess
			f.ResultFiles = []string{resultHyperfine}
			f.Note = "the script keeps no result: let it call hyperfine with --export-json " + resultHyperfine
		}
		found = append(found, f)
	}
	return found
}

// callAt is the command that begins in a line, with the lines that a backslash
// joins to it, as one line.
func callAt(text string, line int) string {
	lines := strings.Split(text, "\n")
	var parts []string
	for n := line - 1; n < len(lines) && n < line+40; n++ {
		part := strings.TrimSpace(strings.TrimRight(lines[n], "\r"))
		more := strings.HasSuffix(part, `\`)
		parts = append(parts, strings.TrimSpace(strings.TrimSuffix(part, `\`)))
		if !more {
			break
		}
	}
	return strings.TrimPrefix(strings.Join(parts, " "), "@")
}
