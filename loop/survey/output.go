package survey

import (
	"slices"
	"strings"

	"si/benchmark"
	"si/internal/lazyre"
)

// printed is how a program seems to print its result.
type printed struct {
	format benchmark.Format
	metric string
	at     hit
}

// Expressions for lines that print a result. They are tried on each line of a
// script; what is printed last is the result, so the last match counts.
var (
	// A JSON object that is printed: its keys follow in the line, or in the lines
	// below.
	jsonCall = lazyre.New(`(?:json\.dumps|json\.dump|JSON\.stringify|json_encode|JSON\.generate|to_json|json\.NewEncoder|json\.Marshal)`)
	// Text that is written as JSON by hand: "{\"score\": %f}" or '{"score": '.
	jsonText = lazyre.New(`\{\s*\\?["']{1}([A-Za-z_][\w ./-]{0,60}?)\\?["']\s*:`)
	jsonKey  = lazyre.New(`(?:["']([A-Za-z_][\w./-]{0,60})["']\s*(?::|=>)|\b([A-Za-z_]\w{0,60})\s*:)`)
	printer  = lazyre.New(`(?i)\b(?:print|println|printf|fprintf|echo|puts|console\.log|write|cat|jq|format!?|sprintf)\b`)
	// "name: 1.23" in a text with a place for the number.
	named  = lazyre.New(`["'` + "`" + `](?:METRIC )?([A-Za-z_][\w ./()%-]{0,40}?)\s*([:=])\s*(?:\{|%|\$|#\{|["'` + "`" + `]\s*[,+.])`)
	single = lazyre.New(`(?:print|puts|echo|console\.log)[ (]+["']?\$?\{?(?:round\()?([A-Za-z_]\w{0,40})[ ,)}"';\d]*$`)
)

// fieldOf is the name of a Go field in JSON.
var fieldOf = lazyre.New("json:\"([A-Za-z_][\\w./-]{0,60})[,\"]")

// printsResult guesses how the program whose text is in file prints its result.
func printsResult(i *index, file string) (printed, bool) {
	lines := strings.Split(i.text(file), "\n")
	for n := len(lines) - 1; n >= 0; n-- {
		line := lines[n]
		if len(line) > 4096 || comment(line) {
			continue
		}
		if p, ok := printsLine(lines, n); ok {
			p.at = hit{file: file, line: n + 1, text: shown(line)}
			return p, true
		}
	}
	return printed{}, false
}

func printsLine(lines []string, n int) (printed, bool) {
	line := lines[n]
	if m := jsonText.FindStringSubmatch(line); m != nil && printer.MatchString(line) {
		return printed{format: benchmark.FormatJSON, metric: bestKey(line, m[1])}, true
	}
	if jsonCall.MatchString(line) && !strings.Contains(line, "load") {
		if key := keyBelow(lines, n); key != "" {
			return printed{format: benchmark.FormatJSON, metric: key}, true
		}
	}
	if !printer.MatchString(line) {
		return printed{}, false
	}
	if m := named.FindStringSubmatch(line); m != nil {
		if _, known := directionOf(m[1]); known && (m[2] == ":" || strings.Contains(line, "METRIC ")) {
			return printed{format: benchmark.FormatRegex, metric: strings.TrimSpace(m[1])}, true
		}
	}
	if m := single.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
		if _, known := directionOf(m[1]); known {
			return printed{format: benchmark.FormatNumber, metric: m[1]}, true
		}
	}
	return printed{}, false
}

// keyBelow finds the metric among the keys of the object that a call prints: in
// its own line and the few below it, else the object is a variable or a struct
// that stands above.
func keyBelow(lines []string, n int) string {
	text := strings.Join(lines[n:min(n+8, len(lines))], "\n")
	if at := jsonCall.FindStringIndex(text); at != nil {
		if key := keyIn(text[at[1]:]); key != "" {
			return key
		}
		text = text[:at[0]] // {…}.to_json
	}
	if key := keyIn(text); key != "" {
		return key
	}
	for m := n - 1; m >= max(0, n-40); m-- { // nearest above first
		if strings.ContainsAny(lines[m], "{") || fieldOf.MatchString(lines[m]) {
			if key := keyIn(strings.Join(lines[m:min(m+8, n)], "\n")); key != "" {
				return key
			}
		}
	}
	return ""
}

func keyIn(text string) string {
	if all := fieldOf.FindAllStringSubmatch(text, 30); all != nil {
		return bestOf(all)
	}
	return bestOf(jsonKey.FindAllStringSubmatch(text, 30))
}

func bestKey(line, first string) string {
	keys := lazyre.New(`\\?["']([A-Za-z_][\w./-]{0,60})\\?["']\s*:`).FindAllStringSubmatch(line, 30)
	if best := bestOf(keys); best != "" {
		return best
	}
	return first
}

// bestOf prefers the usual words for the one number that counts, then the first
// key whose name tells which way is better.
func bestOf(matches [][]string) string {
	var keys []string
	for _, m := range matches {
		for _, g := range m[1:] {
			if g != "" {
				keys = append(keys, g)
			}
		}
	}
	for _, main := range []string{"primary", "score", "metric"} {
		if slices.Contains(keys, main) {
			return main
		}
	}
	for _, k := range keys {
		if _, known := directionOf(k); known {
			return k
		}
	}
	return ""
}

var commentLine = lazyre.New(`^\s*(#[^!]|//|--|\*|/\*|%)`)

func comment(line string) bool { return commentLine.MatchString(line) }
