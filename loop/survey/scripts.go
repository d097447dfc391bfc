package survey

import (
	"path"
	"strings"

	"si/benchmark"
	"si/internal/clean"
	"si/internal/lazyre"
)

// scriptName are files that are named as benchmarks. Test files and libraries of
// benchmarks are found by their own tools.
var scriptName = lazyre.New(`(?i)^(?:(?:scripts?|tools?|bin|bench|benches|benchmarks?|perf|eval|evaluation|ci|hack)/)*` +
	`(?:run[_-]?)?(?:bench|benchmarks?|eval|evaluate|score|perf)(?:[_-]?(?:all|run|main|suite))?\.(py|sh|bash|js|mjs|ts|rb|pl|lua|php|jl|R)$`)

// goMain is a folder of a Go program that is named as a benchmark.
var goMain = lazyre.New(`^(?:(?:cmd|tools?|internal)/)?(bench|benchmark|eval|score)/main\.go$`)

// runWith is what runs a script, by its extension.
var runWith = map[string]string{
	".py": "python3 ", ".sh": "sh ", ".bash": "bash ", ".js": "node ", ".mjs": "node ", ".ts": "npx tsx ",
	".rb": "ruby ", ".pl": "perl ", ".lua": "lua ", ".php": "php ", ".jl": "julia --project ", ".R": "Rscript ",
}

// scripts are programs that are named bench, benchmark, eval or score.
func scripts(i *index) (found []Finding) {
	for _, file := range i.match(scriptName) {
		if usesHyperfine(i.text(file)) { // which has its own format
			continue
		}
		command := runWith[path.Ext(file)] + quote(file)
		if path.Ext(file) == ".sh" && strings.HasPrefix(i.text(file), "#!") && strings.Contains(firstLine(i.text(file)), "bash") {
			command = "bash " + quote(file)
		}
		found = append(found, entry(i, Finding{Tool: "script " + path.Base(file), File: file, Command: command, Sealed: []string{file}}, file))
	}
	for _, file := range i.match(goMain) {
		dir := path.Dir(file)
		f := Finding{Tool: "go run", File: file, Command: "go run ./" + quote(dir), Sealed: []string{dir + "/"}}
		found = append(found, entry(i, f, file))
	}
	return found
}

// entry completes an entry point of the author's by how the program in file
// prints its result.
func entry(i *index, f Finding, file string) Finding {
	p, ok := printsResult(i, file)
	if !ok {
		f.Sure, f.Format, f.Metric = Guess, benchmark.FormatNumber, "primary"
		f.Direction, _ = directionOf("")
		f.Note = "how it prints its result was not seen: choose the format, or let it print one JSON line such as {\"primary\": 1.5}"
		if f.Line == 0 {
			f.Text = shown(firstLine(i.text(file)))
		}
		return f
	}
	f.Sure, f.Format, f.Metric = Author, p.format, p.metric
	if f.Line == 0 {
		f.File, f.Line, f.Text = p.at.file, p.at.line, p.at.text
	}
	known := false
	if f.Direction, known = directionOf(p.metric); !known {
		f.Note = "whether more or less is better was not seen: choose the direction"
	}
	return f
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func shown(line string) string { return clean.Line(strings.TrimSpace(line), maxLine) }
