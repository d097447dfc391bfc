package httpmodel_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"si/agents"
	"si/internal/modelserver"
)

func TestErrorClasses(t *testing.T) {
	plan := modelserver.PlanLimit("You've hit your usage limit, try again at 3am")
	for _, tc := range []struct {
		name  string
		fault modelserver.Fault
		kind  agents.FailureKind
		asked int
		until time.Duration // from the start
	}{
		{"401", modelserver.Unauthorized(), agents.FailAuth, 1, 0},
		{"403", modelserver.Fault{Status: 403, Said: "no"}, agents.FailAuth, 1, 0},
		{"402", modelserver.Fault{Status: 402, Said: "Insufficient credits"}, agents.FailUsage, 1, 5 * time.Hour},
		{"429 for ever", modelserver.RateLimit(""), agents.FailUsage, 5, 5 * time.Hour},
		{"429 for long", modelserver.RateLimit("7200"), agents.FailUsage, 1, 2 * time.Hour},
		{"429 until a date", modelserver.RateLimit("Tue, 01 Dec 2026 04:30:00 GMT"), agents.FailUsage, 1, 6*time.Hour + 30*time.Minute},
		{"a plan's limit", plan, agents.FailUsage, 1, 5 * time.Hour},
		{"a plan's limit in the stream", modelserver.Fault{InStream: true, Code: "insufficient_quota", Said: "quota"}, agents.FailUsage, 1, 5 * time.Hour},
		{"500 for ever", modelserver.Broken(), agents.FailModel, 5, 0},
		{"529", modelserver.Fault{Status: 529, Code: "overloaded_error"}, agents.FailModel, 5, 0},
		{"503 for long", modelserver.Fault{Status: 503, RetryAfter: "3600"}, agents.FailUsage, 1, time.Hour},
		{"overloaded in the stream", modelserver.Fault{InStream: true, Code: "overloaded_error", Said: "Overloaded"}, agents.FailModel, 5, 0},
		{"404", modelserver.Fault{Status: 404, Said: "model m-1 not found"}, agents.FailModel, 1, 0},
		{"400", modelserver.Fault{Status: 400, Said: "what is this?"}, agents.FailModel, 1, 0},
		{"too long", modelserver.Fault{Status: 400, Code: "context_length_exceeded", Said: "This model's maximum context length is 8192 tokens"}, agents.FailContext, 1, 0},
		{"413", modelserver.Fault{Status: 413, Said: "request entity too large"}, agents.FailContext, 1, 0},
		{"cut", modelserver.Fault{Cut: true}, agents.FailTruncated, 2, 0},
		{"dropped", modelserver.Fault{Drop: true}, agents.FailTruncated, 2, 0},
		{"malformed", modelserver.Fault{Malformed: true}, agents.FailModel, 2, 0},
		{"redirect to another path", modelserver.Fault{Status: 302, Redirect: "/elsewhere"}, agents.FailModel, 1, 0},
		{"a web page", modelserver.Fault{Raw: func(w http.ResponseWriter, _ modelserver.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Write([]byte("<html>Welcome</html>"))
		}}, agents.FailModel, 2, 0},
		{"an error with the status 200", modelserver.Fault{Raw: func(w http.ResponseWriter, _ modelserver.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"error":{"type":"authentication_error","message":"no"}}`))
		}}, agents.FailAuth, 1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			eachWire(t, func(t *testing.T, wire string) {
				t.Helper()
				p := newPlayer(t, wire, inTurn(fault(tc.fault)))
				began := p.clock.Now()
				p.o.Until = func(_ string, now time.Time) time.Time { return began.Add(5 * time.Hour) }
				answer, err := p.play(t.Context())
				f := failure(t, err)
				if f.Kind != tc.kind || len(p.server.Requests()) != tc.asked || answer.Text != "" || f.Role != agents.Executor || f.ID != "executor_a" || f.Log != p.task.Log {
					t.Errorf("%s: %v after %d requests; want %s after %d", f.Kind, f, len(p.server.Requests()), tc.kind, tc.asked)
				}
				if tc.until == 0 != f.Until.IsZero() || tc.until > 0 && !f.Until.Equal(began.Add(tc.until)) {
					t.Errorf("until %v, want %s from %v", f.Until, tc.until, began)
				}
				if limits := p.kinds(agents.EventLimit); tc.kind == agents.FailUsage && (len(limits) != 1 || !limits[0].Failed || !limits[0].Until.Equal(f.Until)) {
					t.Errorf("limit events %+v", limits)
				}
				if waits := p.kinds(agents.EventRetry); len(waits) != tc.asked-1 {
					t.Errorf("%d retry events for %d requests", len(waits), tc.asked)
				}
			})
		})
	}
}

func TestWhatPassesIsTriedAgain(t *testing.T) {
	for _, tc := range []struct {
		name   string
		faults []modelserver.Fault
		waits  []time.Duration // jitter is a half
	}{
		{"429", []modelserver.Fault{modelserver.RateLimit("3")}, []time.Duration{3 * time.Second}},
		{"429 without a time", []modelserver.Fault{modelserver.RateLimit(""), modelserver.RateLimit("")}, []time.Duration{750 * time.Millisecond, 1500 * time.Millisecond}},
		{"500", []modelserver.Fault{modelserver.Broken()}, []time.Duration{750 * time.Millisecond}},
		{"cut", []modelserver.Fault{{Cut: true}}, []time.Duration{750 * time.Millisecond}},
		{"dropped", []modelserver.Fault{{Drop: true}}, []time.Duration{750 * time.Millisecond}},
		{"malformed", []modelserver.Fault{{Malformed: true}}, []time.Duration{750 * time.Millisecond}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			eachWire(t, func(t *testing.T, wire string) {
				t.Helper()
				var replies []modelserver.Reply
				for _, f := range tc.faults {
					replies = append(replies, fault(f))
				}
				p := newPlayer(t, wire, inTurn(append(replies, said("Done."))...))
				answer, err := p.play(t.Context())
				if err != nil || answer.Text != "Done." {
					t.Fatalf("answer %q, error %v", answer.Text, err)
				}
				events := p.kinds(agents.EventRetry)
				if len(p.clock.waited) != len(tc.waits) || len(events) != len(tc.waits) {
					t.Fatalf("waits %v, events %+v", p.clock.waited, events)
				}
				for i, want := range tc.waits {
					if p.clock.waited[i] != want || !events[i].Until.Equal(events[i].At.Add(want)) {
						t.Errorf("wait %s, event %+v; want %s", p.clock.waited[i], events[i], want)
					}
				}
			})
		})
	}
}

func TestAReplyThatIsNotWholeIsNoAnswer(t *testing.T) {
	for _, tc := range []struct {
		name  string
		reply modelserver.Reply
		kind  agents.FailureKind
	}{
		{"cut at the limit of tokens", modelserver.Reply{Text: "half", Stop: modelserver.Length}, agents.FailTruncated},
		{"refused", modelserver.Reply{Text: "I cannot", Stop: modelserver.Refused}, agents.FailModel},
		{"empty", modelserver.Reply{}, agents.FailAnswer},
	} {
		t.Run(tc.name, func(t *testing.T) {
			eachWire(t, func(t *testing.T, wire string) {
				t.Helper()
				p := newPlayer(t, wire, inTurn(tc.reply))
				p.task.Role = agents.Planner
				answer, err := p.play(t.Context())
				if f := failure(t, err); f.Kind != tc.kind || answer.Text != "" {
					t.Errorf("%s: %v, answer %q", f.Kind, f, answer.Text)
				}
			})
		})
	}
}

// stuck is a script whose first reply does not go on, and a channel that is closed
// when it was asked for.
func stuck() (modelserver.Script, chan struct{}) {
	asked := make(chan struct{})
	return func(modelserver.Request) modelserver.Reply {
		close(asked)
		return modelserver.Reply{Text: "never", Gate: make(chan struct{})}
	}, asked
}

func TestTimeLimits(t *testing.T) {
	for _, tc := range []struct {
		name string
		pass time.Duration
		kind agents.FailureKind
		want string
	}{
		{"idle", 15 * time.Minute, agents.FailIdle, "sent nothing for 15m0s"},
		{"wall", time.Hour, agents.FailTimeout, "ended after its limit of 1h0m0s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			eachWire(t, func(t *testing.T, wire string) {
				t.Helper()
				script, asked := stuck()
				p := newPlayer(t, wire, script)
				if tc.name == "wall" {
					p.task.Idle = 0
				}
				go func() {
					<-asked
					p.clock.pass(tc.pass)
				}()
				_, err := p.play(t.Context())
				if f := failure(t, err); f.Kind != tc.kind || !strings.Contains(f.Error(), tc.want) {
					t.Errorf("%s: %v", f.Kind, f)
				}
			})
		})
	}
}

func TestCancelled(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		script, asked := stuck()
		p := newPlayer(t, wire, script)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			<-asked
			cancel()
		}()
		_, err := p.play(ctx)
		if !errors.Is(err, context.Canceled) || agents.KindOf(err) != "" {
			t.Errorf("error %v", err)
		}
	})
}

func TestAServerThatIsNotThere(t *testing.T) {
	eachWire(t, func(t *testing.T, wire string) {
		t.Helper()
		p := newPlayer(t, wire, inTurn(said("Done.")))
		p.o.BaseURL = "http://127.0.0.1:1"
		_, err := p.play(t.Context())
		if f := failure(t, err); f.Kind != agents.FailModel || !strings.Contains(f.Error(), "cannot be reached") || len(p.clock.waited) != 4 {
			t.Errorf("%s: %v, waits %v", f.Kind, f, p.clock.waited)
		}
	})
}
