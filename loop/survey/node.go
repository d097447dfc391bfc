package survey

import (
	"encoding/json"
	"path"
	"strings"

	"si/internal/lazyre"
)

var (
	packageFile = lazyre.New(`(?:^|/)package\.json$`)
	benchScript = lazyre.New(`^(?:bench|benchmark|perf|eval|score)(?:[:_-][a-z0-9:_-]{1,30})?$`)
	nodeFile    = lazyre.New(`[\w./-]+\.(?:js|mjs|cjs|ts)\b`)
)

// nodeScripts are the scripts of package.json that are named as benchmarks.
func nodeScripts(i *index) (found []Finding) {
	for _, file := range i.match(packageFile) {
		var doc struct {
			Scripts map[string]string `json:"scripts"`
		}
		if json.Unmarshal([]byte(i.text(file)), &doc) != nil {
			continue
		}
		for _, h := range i.grep(file, lazyre.New(`^\s*"([a-z0-9:_-]+)"\s*:\s*"`)) {
			name := h.groups[1]
			line, ok := doc.Scripts[name]
			if !ok || !benchScript.MatchString(name) || strings.HasPrefix(line, "echo ") {
				continue
			}
			dir := path.Dir(file)
			f := Finding{
				Tool: "npm run " + name, File: file, Line: h.line, Text: h.text,
				Command: inDir(dir, "npm run --silent "+name), Sealed: []string{file},
			}
			program := ""
			for _, p := range nodeFile.FindAllString(line, 10) {
				if p = path.Join(dir, p); i.files[p] {
					program = p
					f.Sealed = append(f.Sealed, p)
				}
			}
			found = append(found, entry(i, f, program))
		}
	}
	return found
}
