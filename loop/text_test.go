package loop

import (
	"strings"
	"testing"
	"time"

	"si/track"
)

func fixedNow() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func TestSubjectIsOneCleanLine(t *testing.T) {
	for in, want := range map[string]string{
		"Use a map":                        "Use a map",
		"two\nlines":                       "two lines",
		"\x1b[31mred\x1b[0m and\x07 bell":  "red and bell",
		"":                                 "change without a hypothesis",
		"  \n\t ":                          "change without a hypothesis",
		"a\r\n\r\nSigned-off-by: somebody": "a Signed-off-by: somebody",
	} {
		if got := subject(in); got != want {
			t.Errorf("subject(%q) = %q, want %q", in, got, want)
		}
	}
	if got := subject(strings.Repeat("x", 1000)); len([]rune(got)) > maxSubject {
		t.Errorf("a subject of %d characters", len(got))
	}
}

func TestLetters(t *testing.T) {
	for n, want := range map[int]string{0: "a", 25: "z", 26: "aa", 27: "ab", 51: "az", 52: "ba", 701: "zz", 702: "aaa"} {
		if got := letters(n); got != want {
			t.Errorf("letters(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestRefNames(t *testing.T) {
	plain, other := refNames{goal: "g"}, refNames{prefix: "topic/", goal: "g"}
	for got, want := range map[string]string{
		plain.improve():                   "improve/g",
		other.improve():                   "improve/topic/g",
		plain.experiment(3, "executor_b"): "experiment/round_3_executor_b",
		other.archive(3, "executor_b"):    "archive/topic/round_3_executor_b",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for ref, want := range map[string]bool{
		"refs/heads/improve/x": true, "refs/heads/experiment/x": true, "refs/tags/archive/x": true,
		"refs/heads/improved": false, "refs/heads/main": false, "refs/tags/v1": false, "refs/stash": false,
	} {
		if ours(ref) != want {
			t.Errorf("ours(%q) = %v", ref, !want)
		}
	}
}

func TestScope(t *testing.T) {
	g := track.Goal{InScope: []string{"src/", "lib/**/*.py", "one.txt"}, OutScope: []string{"src/secret", "**/generated_*"}}
	for path, want := range map[string]bool{
		"src/a.go": true, "src/deep/er/b": true, "srcx/a": false, "lib/a/b.py": true, "lib/a/b.pyc": false, "one.txt": true,
		"src/secret": false, "src/secret/x": false, "src/generated_a.go": false, "other": false,
	} {
		if got := inScope(g, path); got != want {
			t.Errorf("inScope(%q) = %v", path, got)
		}
	}
	if !inScope(track.Goal{}, "anything") || !inScope(track.Goal{InScope: []string{"."}}, "anything") {
		t.Error("a scope that names nothing, or the whole repository, leaves something out")
	}
}

func TestJoinArgsCanBeTyped(t *testing.T) {
	if got := joinArgs([]string{"pr", "--title", "It's 2 < 3", ""}); got != `pr --title 'It'\''s 2 < 3' ''` {
		t.Error(got)
	}
}
