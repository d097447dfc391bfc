package retro

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"si/internal/clean"
	"si/learn/knowledge"
)

//go:embed prompt.tmpl
var promptText string

// Limits of the prompt's parts, in bytes. Together they stay below 120 KB.
const (
	maxPart   = 24 << 10
	maxShown  = 300 // code points of one line of a part
	maxListed = 200 // lines of one part
)

// view is what the template sees: every text of unknown origin is fenced.
type view struct {
	Run, Track, Dir                                 string
	Most                                            int
	Rounds, Findings, Reverts, Knowledge, Audit     string
	Mistakes, Rules, Efficacy, Rejected, Candidates string
}

// prompt is what a judge is asked. The same material gives the same bytes.
func (m *Material) prompt(in Input) string {
	v := view{
		Run: clean.Line(in.Run, 100), Track: clean.Line(in.Track, 100), Dir: in.Place.Dir(), Most: maxChanges,
		Rounds: fenced("rounds", m.Rounds), Findings: fenced("findings", m.findingLines()), Reverts: fenced("reverts", m.Reverts),
		Knowledge: fenced("knowledge", m.knowledgeLines()), Audit: fenced("audit", m.auditLines()), Mistakes: fenced("mistakes", m.mistakeLines()),
	}
	var rules, efficacy, rejected, next []string
	for _, r := range m.Rules {
		rules = append(rules, fmt.Sprintf("line %d: %s (%s)", r.Line, r.Text, r.Signature))
	}
	for _, l := range m.Efficacy {
		efficacy = append(efficacy, l.String()+" "+l.Advice)
	}
	for _, r := range m.Rejected {
		rejected = append(rejected, fmt.Sprintf("%s: %s (%s)", r.What, r.Why, r.By))
	}
	if len(m.Records) > 0 {
		next = m.Records[0].Candidates
	}
	v.Rules, v.Efficacy, v.Rejected, v.Candidates = fenced("rules", rules), fenced("efficacy", efficacy), fenced("rejected", rejected), fenced("candidates", next)
	for _, part := range []*string{&v.Rounds, &v.Findings, &v.Knowledge, &v.Mistakes} {
		if *part == "" {
			*part = "Nothing."
		}
	}
	var b bytes.Buffer
	tmpl := template.Must(template.New("retrospective").Parse(promptText)) // embedded, and tested
	if err := tmpl.Execute(&b, v); err != nil {
		return err.Error() // a view of texts can always be shown
	}
	return b.String()
}

func (m *Material) findingLines() []string {
	var out []string
	for _, f := range m.Findings {
		line := fmt.Sprintf("%s (round %d, %s, signature %s): %s", f.Proof, f.Round, f.Area, f.Signature, f.Claim)
		if f.ExitCode != nil {
			line += fmt.Sprintf(" [%s ended with %d]", f.Command, *f.ExitCode)
		}
		out = append(out, line)
	}
	return out
}

func (m *Material) knowledgeLines() []string {
	var out []string
	for _, e := range m.Store.Live() {
		out = append(out, fmt.Sprintf("%s (%s, used %d, helpful %d, wrong %d): %s", e.ID, e.Kind, e.Used, e.Helpful, e.OutdatedReports, e.Text))
	}
	return out
}

func (m *Material) auditLines() []string {
	out := append([]string{}, m.Audit.Conclusion...)
	for _, r := range m.Audit.Retire {
		out = append(out, fmt.Sprintf("retirement candidate %s: %s", r.ID, r.Reason))
	}
	return out
}

func (m *Material) mistakeLines() []string {
	var out []string
	for _, r := range m.Repeats {
		line := fmt.Sprintf("%s: %d runs or commits, %d open", r.Signature, r.Occurrences, r.Open)
		if len(r.Knowledge) > 0 {
			line += ", knowledge " + oneLine(r.Knowledge)
		}
		if r.Recommended != "" {
			line += ", has earned: " + r.Recommended
		}
		out = append(out, line)
	}
	return out
}

// fenced puts lines of unknown origin between two lines that they cannot contain,
// "" when there are none.
func fenced(label string, items []string) string {
	var b strings.Builder
	for i, item := range items {
		line := "- " + clean.Line(item, maxShown) + "\n"
		if i >= maxListed || b.Len()+len(line) > maxPart {
			fmt.Fprintf(&b, "and %d more\n", len(items)-i)
			break
		}
		b.WriteString(line)
	}
	text := b.String()
	if text == "" {
		return ""
	}
	key := fenceKey(text)
	return fmt.Sprintf("----- begin %s %s -----\n%s----- end %s %s -----", label, key, text, label, key)
}

// fenceKey is one that the text does not hold.
func fenceKey(text string) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s", n, text))
		if key := hex.EncodeToString(sum[:6]); !strings.Contains(text, key) {
			return key
		}
	}
}

// schema is the JSON schema of a judgement, for a backend that takes one.
func schema() json.RawMessage {
	type object = map[string]any
	text := object{"type": "string"}
	texts := object{"type": "array", "items": text}
	of := func(required []string, fields object) object {
		return object{"type": "array", "maxItems": maxItems, "items": object{"type": "object", "required": required, "properties": fields}}
	}
	filter := func(fields object) object {
		for name, v := range (object{"proofs": texts, "recurs": text, "specific": text, "covered_by": text, "why_not_a_phrase": text}) {
			fields[name] = v
		}
		return fields
	}
	var kindNames []string
	for _, k := range knowledge.Kinds() {
		kindNames = append(kindNames, string(k))
	}
	data, err := json.Marshal(object{
		"type": "object", "required": []string{"worked", "failed", "mistakes", "knowledge", "rules", "changes", "rejected", "candidates"},
		"properties": object{
			"worked": texts, "candidates": texts,
			"failed":   of([]string{"what", "cost"}, object{"what": text, "cost": text, "proofs": texts}),
			"mistakes": of([]string{"proof", "signature", "title", "what_happened", "root_cause", "consequence", "prevention"}, object{"proof": text, "signature": text, "title": text, "what_happened": text, "root_cause": text, "consequence": text, "prevention": text}),
			"knowledge": of([]string{"kind", "text", "confidence"}, filter(object{
				"kind": object{"enum": kindNames}, "text": text, "confidence": object{"type": "number", "minimum": 0, "maximum": 1}, "applies_to": texts, "supersedes": texts, "signature": text,
			})),
			"rules": of([]string{"signature", "rule"}, object{"signature": text, "rule": text}),
			"changes": of([]string{"paths", "kind", "what"}, filter(object{
				"paths": texts, "kind": object{"enum": kinds()}, "what": text, "other_mode_of_work": text,
				"activation": object{"type": "object", "properties": object{"task": text, "command": text}},
			})),
			"rejected": of([]string{"what", "why"}, object{"what": text, "why": text}),
		},
	})
	if err != nil {
		return nil // maps of texts can always be written
	}
	return data
}
