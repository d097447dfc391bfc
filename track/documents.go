package track

import (
	"errors"
	"fmt"
	"os"
)

// maxMarkdown bounds a Markdown file of the track, in bytes.
const maxMarkdown = 4 << 20

// LoadSettings reads config/settings.json. An absent file gives the defaults of
// a new track, a file that lacks a key the seed's value for it.
func LoadSettings(p Paths) (File[Settings], error) {
	f, err := Load(p.SettingsPath, adoptedSettings())
	if err == nil && !f.Exists {
		f.Value = DefaultSettings()
		f.Value.TopicSlug = p.TopicSlug
	}
	return f, err
}

// LoadProgress reads state/agent-settings.json.
func LoadProgress(p Paths) (File[AgentSettings], error) {
	return Load(p.AgentSettingsPath, AgentSettings{Status: StatusIdle})
}

// LoadIteration reads state/iteration_state.json; absent, Exists is false.
func LoadIteration(p Paths) (File[IterationState], error) {
	return Load(p.IterationStatePath, IterationState{})
}

// LoadBaseline reads tracking/baseline.json; absent, Exists is false.
func LoadBaseline(p Paths) (File[Baseline], error) { return Load(p.BaselinePath, Baseline{}) }

// LoadHistory reads the histories of rounds 0 to last, oldest first. A round
// without a file is left out: an adopted track may have gaps.
func LoadHistory(p Paths, last int) ([]History, error) {
	var all []History
	for n := 0; n <= last; n++ {
		f, err := Load(p.HistoryPath(n), History{})
		if err != nil {
			return nil, err
		}
		if f.Exists {
			all = append(all, f.Value)
		}
	}
	return all, nil
}

// LoadGoal reads goal.md: what was understood of it, and its text. An absent
// file gives the zero Goal. ParseGoal of the text gives the warnings too.
func LoadGoal(p Paths) (Goal, string, error) {
	text, err := loadText(p.GoalPath)
	if err != nil {
		return Goal{}, "", err
	}
	g, _ := ParseGoal([]byte(text))
	return g, text, nil
}

// LoadHarness reads harness.md; absent, it is the default. ParseHarness of the
// text gives the warnings too.
func LoadHarness(p Paths) (Harness, string, error) {
	text, err := loadText(p.HarnessPath)
	if err != nil {
		return Harness{}, "", err
	}
	if text == "" {
		text = DefaultHarness()
	}
	h, _ := ParseHarness([]byte(text))
	return h, text, nil
}

// LoadIdeas reads idea.md as it stands; the ideas in it are Ideas of that.
func LoadIdeas(p Paths) ([]byte, error) {
	text, err := loadText(p.IdeaPath)
	return []byte(text), err
}

// loadText reads a Markdown file; absent, it is empty.
func loadText(path string) (string, error) {
	data, err := readBounded(path, maxMarkdown)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return string(data), nil
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &FileError{Path: path, What: "not a regular file", Hint: "move it away"}
	}
	if info.Size() > limit {
		return nil, &FileError{Path: path, What: fmt.Sprintf("%d bytes are more than the %d that such a file can have", info.Size(), limit), Hint: "move it away"}
	}
	return os.ReadFile(path)
}
