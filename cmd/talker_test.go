package cmd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"si/agents"
	"si/track"
)

// The manners of a talker, its first argument.
const (
	talksPlain  = "plain"  // text, as a program of the backend command
	talksStream = "stream" // the JSON lines of claude
)

// runTalker is an agent that talks before it answers: as a planner 200 numbered lines a
// second for a span, its second argument; all other roles answer at once. The planner
// that its third argument names prints so many MB without a pause instead, its fourth.
func runTalker() int {
	prompt, err := io.ReadAll(os.Stdin)
	words := regexp.MustCompile(`You are (\w+), (?:the|a|an) (\w+)`).FindStringSubmatch(string(prompt))
	span, spanErr := time.ParseDuration(os.Args[2])
	if err != nil || words == nil || spanErr != nil {
		return 9
	}
	t := talker{stream: os.Args[1] == talksStream, out: os.Stdout}
	id, role := words[1], words[2]
	t.begin()
	if role == string(agents.Planner) {
		loud, mb := "", 0
		if len(os.Args) > 4 {
			loud = os.Args[3]
			_, _ = fmt.Sscan(os.Args[4], &mb)
		}
		if id == loud {
			t.flood(mb << 20)
		} else {
			t.talk(span)
		}
	}
	return t.end(talkersAnswer(role, id))
}

// talkRate is how many lines an agent says a second.
const talkRate = 200

type talker struct {
	stream bool
	out    io.Writer
}

func (t talker) line(text string) string {
	if !t.stream {
		return text + "\n"
	}
	return fmt.Sprintf(`{"type":"assistant","message":{"id":"m","role":"assistant","model":"talker","content":[{"type":"text","text":%q}],"usage":{"input_tokens":1,"output_tokens":1}},"session_id":"s"}`+"\n", text)
}

func (t talker) begin() {
	if t.stream {
		fmt.Fprintln(t.out, `{"type":"system","subtype":"init","session_id":"s","model":"talker","tools":[]}`)
	}
}

// talk says what is due forty times a second, so that its lines come in time on a busy
// machine, too.
func (t talker) talk(span time.Duration) {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	begin, said := time.Now(), 0
	for all := int(span.Seconds() * talkRate); said < all; {
		now := <-tick.C
		var b strings.Builder
		for due := min(all, int(now.Sub(begin).Seconds()*talkRate)); said < due; said++ {
			b.WriteString(t.line(spoken(said)))
		}
		_, _ = io.WriteString(t.out, b.String())
	}
}

func (t talker) flood(size int) {
	block := strings.Repeat(t.line(strings.Repeat("flood ", 3000)), 20)
	for n := 0; n < size; n += len(block) {
		_, _ = io.WriteString(t.out, block)
	}
}

func (t talker) end(answer string) int {
	if !t.stream {
		fmt.Fprintln(t.out, answer)
		return 0
	}
	fmt.Fprintf(t.out, `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":%q,"session_id":"s","total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":10}}`+"\n", answer)
	return 0
}

// spoken is a numbered line of the length that agents' lines have.
func spoken(n int) string {
	return fmt.Sprintf("said %06d: the scanner reads its input in blocks and looks each byte up in a table", n)
}

func talkersAnswer(role, id string) string {
	var doc any
	switch agents.Role(role) { //nolint:exhaustive // those of a round that write no document edit nothing here
	case agents.Researcher:
		doc = brief()
	case agents.Planner:
		doc = plan(track.Families()[int(id[len(id)-1]-'a')%len(track.Families())], "v", "echo "+id)
	case agents.Architect:
		doc = track.ArchitectReview{Verdict: "approve", StructuralConcerns: []string{}}
	case agents.Critic:
		doc = critic("reject it was only to talk")
	default:
		return "Nothing was done."
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
