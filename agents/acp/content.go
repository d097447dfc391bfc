package acp

import (
	"encoding/json"
	"strings"

	"si/internal/clean"
)

const maxEntries = 50 // of a plan, and of a tool's content

// plain is text of the program on one line, without secrets.
func (s *session) plain(text string) string { return clean.Line(s.secrets.Mask(text), 200) }

// textOf is the text of a content block, "" for one of another kind.
func textOf(raw json.RawMessage) string {
	var block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &block) // another shape has no text
	if block.Type != "" && block.Type != "text" {
		return ""
	}
	return block.Text
}

// piece is one part of a tool call's content.
type piece struct {
	Type    string          `json:"type"` // content, diff, terminal
	Content json.RawMessage `json:"content"`
	Path    string          `json:"path"` // of a diff
	OldText string          `json:"oldText"`
	NewText string          `json:"newText"`
}

func pieces(raw json.RawMessage) []piece {
	var list []piece
	_ = json.Unmarshal(raw, &list) // another shape has no pieces
	return list[:min(len(list), maxEntries)]
}

// textOfPieces is what a tool says of itself.
func textOfPieces(list []piece) string {
	var out []string
	for _, p := range list {
		if text := textOf(p.Content); p.Type != "diff" && text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n")
}

// outputText is the text of a tool's raw output: a text, or an object that has one.
func outputText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Output           string `json:"output"`
		AggregatedOutput string `json:"aggregated_output"`
		Error            string `json:"error"`
	}
	_ = json.Unmarshal(raw, &object) // another shape has no text
	return firstText(object.Output, object.AggregatedOutput, object.Error)
}

func planText(entries []planEntry) string {
	var out []string
	for _, e := range entries[:min(len(entries), maxEntries)] {
		mark := "[ ] "
		switch e.Status {
		case "in_progress":
			mark = "[>] "
		case "completed":
			mark = "[x] "
		}
		out = append(out, mark+clean.Line(e.Content, 200))
	}
	return strings.Join(out, "\n")
}
