package modelserver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Player is a script that plays si's roles from their prompts, as a model would
// that has a list of changes in its head: any client that reaches the server can
// play a round with it. Each planner takes another change of the list, and each
// round begins further down.
type Player struct {
	Changes []Change
	Edit    bool // executors edit by a tool for edits where one is offered, not by the shell
	Usage   Usage
	// Before is asked before each reply of a role; a reply that it gives is sent in
	// place of the player's. It may be nil.
	Before func(role, id string, r Request) (Reply, bool)
}

// Change is what one plan does: the line of File that sets Name is to set Value.
type Change struct {
	File  string
	Name  string
	Value string
}

// DemoPlayer makes changes to the repository of si's demo that are gains.
func DemoPlayer() Player {
	const file = "store/options.go"
	return Player{
		Changes: []Change{{file, "bloomBits", "9"}, {file, "mergeChunk", "8"}, {file, "scanAhead", "2"}, {file, "blockBytes", "4 * 1024"}},
		Usage:   Usage{Input: 1200, CacheRead: 300, Output: 80},
	}
}

// roleLine is how every prompt of si begins.
func roleLine() *regexp.Regexp {
	return regexp.MustCompile(`You are (\w+), (?:the|a|an) (researcher|planner|architect|critic|executor)\b[^.\n]*? of (?:a plan of )?round (\d+)`)
}

func repairLine() *regexp.Regexp {
	return regexp.MustCompile(`Your answer as (researcher|planner|architect|critic)(\w*) of round (\d+) cannot be used`)
}

// part is what a prompt makes of the player.
type part struct {
	id, role string
	round    int
	prompt   string
}

func partOf(r Request) (part, bool) {
	prompt := r.Text("user")
	if m := roleLine().FindStringSubmatchIndex(prompt); m != nil {
		return newPart(prompt[m[2]:m[3]], prompt[m[4]:m[5]], prompt[m[6]:m[7]], prompt[m[0]:])
	}
	if m := repairLine().FindStringSubmatchIndex(prompt); m != nil {
		return newPart(prompt[m[2]:m[5]], prompt[m[2]:m[3]], prompt[m[6]:m[7]], prompt[m[0]:])
	}
	return part{}, false
}

func newPart(id, role, round, prompt string) (part, bool) {
	n, err := strconv.Atoi(round)
	return part{id, role, n, prompt}, err == nil
}

// Play is the script. What is no prompt of si gets a short word: clients ask for
// titles and the like.
func (p Player) Play(r Request) Reply {
	part, ours := partOf(r)
	if !ours && strings.Contains(r.Text("user"), "look back on") {
		return Reply{Text: `{"worked": ["small changes of one value"]}`, Usage: p.Usage}
	}
	if !ours {
		return Reply{Text: "Fine.", Usage: p.Usage}
	}
	if p.Before != nil {
		if reply, taken := p.Before(part.role, part.id, r); taken {
			return reply
		}
	}
	reply := p.reply(part, r)
	reply.Usage = p.Usage
	return reply
}

func (p Player) reply(part part, r Request) Reply {
	var doc any
	switch part.role {
	case "researcher":
		doc = p.brief(part)
	case "planner":
		doc = p.plan(part)
	case "architect":
		doc = object{"verdict": "approve", "feedback": "It can be measured, and it is small.", "structural_concerns": []string{}}
	case "critic":
		doc = object{"h001_hypothesis_count": "pass", "history_aware": "pass", "verdict": "approved", "rejection_reason": nil}
	default:
		return p.execute(part, r)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return Reply{Text: err.Error()} // maps of texts can always be written
	}
	return Document(r, string(text))
}

// Document gives text, a JSON document, in the way that the client takes it: by a tool
// of its own for answers, otherwise in words.
func Document(r Request, text string) Reply {
	for _, t := range r.Tools {
		if taker := strings.ToLower(strings.ReplaceAll(t.Name, "_", "")); (taker == "structuredoutput" || t.Name == r.Forced) && len(r.Results()) == 0 {
			return Reply{Calls: []Call{{Name: t.Name, Args: text}}}
		}
	}
	return Reply{Text: "```json\n" + text + "\n```"}
}

func (p Player) brief(part part) any {
	families := listed(part.prompt, "# Approach families")
	var ideas []any
	for i := range max(3, len(p.Changes)) {
		c := p.Changes[i%len(p.Changes)]
		ideas = append(ideas, object{
			"title": fmt.Sprintf("Set %s to %s (%d)", c.Name, c.Value, i+1), "source": c.File, "evidence": "The value was a guess.",
			"approach_family": families[i%len(families)], "confidence": "high", "estimated_impact": "unknown",
		})
	}
	return object{"repo_analysis_summary": "The constants decide how often the disk is asked.", "ideas": ideas}
}

// listed are the items of the list under a heading, at least one.
func listed(prompt, heading string) []string {
	_, rest, _ := strings.Cut(prompt, heading+"\n")
	var out []string
	for line := range strings.Lines(rest) {
		item, is := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !is {
			break
		}
		out = append(out, item)
	}
	if out == nil {
		return []string{"other"}
	}
	return out
}

func (p Player) plan(part part) any {
	n := 0
	if _, letter, found := strings.Cut(part.id, "_"); found && letter != "" {
		n = int(letter[0] - 'a')
	}
	c := p.Changes[(n+(part.round-1)*3)%len(p.Changes)]
	return object{
		"hypothesis":      fmt.Sprintf("Setting %s to %s in %s makes the metric better because the disk is asked less often", c.Name, c.Value, c.File),
		"approach_family": family(part, n), "target_files": []string{c.File},
		"steps": []any{object{"step": 1, "file": c.File, "change": c.order()}},
		"expected_outcome": object{
			"metric": metric(part.prompt), "estimated_impact": "unknown", "rationale": "fewer reads", "sub_score_expectations": object{},
		},
		"history_reference": object{"builds_on": []string{}, "avoids": []string{}},
	}
}

// family is one of the planner's own, where the prompt has dealt them out.
func family(part part, n int) string {
	own := regexp.MustCompile(`(?m)^- \w+ \(you\): ([\w-]+)`).FindStringSubmatch(part.prompt)
	families := listed(part.prompt, "# Approach families")
	if own != nil && strings.Contains(strings.Join(families, "\n"), own[1]) {
		return own[1]
	}
	return families[n%len(families)]
}

func metric(prompt string) string {
	if m := regexp.MustCompile(`"metric": "([^"]+)"`).FindStringSubmatch(prompt); m != nil {
		return m[1]
	}
	return "score"
}
