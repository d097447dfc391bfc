package agents

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"si/internal/clean"
	"si/templates"
)

// Learned is what the repository has learned from earlier runs, as far as it is this
// task's business. Every text may be empty.
type Learned struct {
	Template string   // takes the place of the role's built-in prompt
	Config   string   // what set-up established about the repository
	Brief    string   // knowledge about the paths at hand
	Report   string   // asks for a verdict on each entry of the brief
	Skills   string   // index of procedures that can be looked up
	Memories string   // recalled by the words of the task
	Refuted  []string // changes that were seen not to work, each as findings name it
}

// Limits of what was learned in a prompt, in bytes.
const (
	maxLearned  = 16 << 10
	maxTemplate = 64 << 10
)

// learnedView is what templates see of it, fenced: agents wrote most of it.
type learnedView struct {
	Config, Brief, Report, Skills, Memories string
}

func learnedOf(l Learned) learnedView {
	return learnedView{
		Config: fence("config", l.Config, maxLearned), Brief: fence("knowledge", l.Brief, maxLearned), Report: strings.TrimSpace(clean.Text([]byte(l.Report))),
		Skills: fence("skills", l.Skills, maxLearned), Memories: fence("memories", l.Memories, maxLearned),
	}
}

// with lays a repository's own prompt of a role over the built-in one. It may define
// the role's template, as the built-in file does, or be its text.
func (p *Prompts) with(role Role, text string) (*Prompts, error) {
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("read the repository's prompt of the %s: it has more than %d bytes", role, maxTemplate)
	}
	tmpl, err := p.tmpl.Clone()
	if err != nil {
		return nil, fmt.Errorf("read the repository's prompt of the %s: %w", role, err)
	}
	own := tmpl
	if !strings.Contains(text, `{{define "`+string(role)+`"`) {
		own = tmpl.New(string(role))
	}
	if _, err := own.Parse(text); err != nil {
		return nil, fmt.Errorf("read the repository's prompt of the %s: %w", role, err)
	}
	return &Prompts{tmpl}, nil
}

// render renders the task's prompt by the repository's own template where it has one
// that can be used; why says what is wrong with it.
func (p *Prompts) render(t Task) (prompt string, why, err error) {
	if text := t.Facts.Learned.Template; text != "" {
		own, bad := p.with(t.Role, text)
		if bad == nil {
			prompt, bad = own.Render(t)
		}
		if bad == nil {
			return prompt, nil, nil
		}
		why = bad
	}
	prompt, err = p.Render(t)
	return prompt, why, err
}

// CoreTexts are the built-in prompts by the names of their files: what a repository's
// own prompts are compared with when a new version says something else.
func CoreTexts() (map[string]string, error) {
	texts := map[string]string{}
	names, err := fs.Glob(templates.Prompts(), "prompts/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the built-in prompts: %w", err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(templates.Prompts(), name)
		if err != nil {
			return nil, fmt.Errorf("read the built-in prompts: %w", err)
		}
		texts[path.Base(name)] = string(data)
	}
	return texts, nil
}
