package benchmark

import (
	"regexp"
	"strings"

	"si/internal/lazyre"
)

var (
	// taggedLine is "METRIC name=value", with or without a unit behind.
	taggedLine = lazyre.New(`^METRIC\s+(?P<name>[^\s=]+)\s*=\s*(?P<value>\S+)(?:\s+(?P<unit>\S{1,16}))?$`)
	// colonLine is "name: value", with or without a unit behind.
	colonLine = lazyre.New(`^(?P<name>[\pL_][\pL\pN_ ./()%@+-]{0,63}?)\s*:\s*(?P<value>\S+)(?:\s+(?P<unit>\S{1,16}))?$`)
)

// metricLines reads the format regex: every match of the user's expression, or
// lines "METRIC name=value" and "name: value" when there is none. An expression
// without the group "name" finds the primary metric only.
type metricLines struct {
	metric string
	own    *regexp.Regexp
	seen   int
	last   found
	text   string // the line of last
	after  bool
	end    string
	subs   map[string]float64
	fault  *Fault
}

// found is one metric as a line gives it.
type found struct{ name, value, unit string }

func newMetricLines(spec Spec) (*metricLines, error) {
	m := &metricLines{metric: spec.Metric, subs: map[string]float64{}}
	if spec.Regex == "" {
		return m, nil
	}
	var err error
	m.own, err = regexp.Compile(spec.Regex)
	return m, err
}

func (m *metricLines) line(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	m.end, m.after = text, true
	for _, f := range m.find(text) {
		if f.name == m.metric {
			m.seen, m.last, m.text, m.after = m.seen+1, f, text, false
			continue
		}
		m.addSub(f, text)
	}
}

// find lists the metrics of a line.
func (m *metricLines) find(text string) []found {
	if m.own != nil {
		var all []found
		for _, match := range m.own.FindAllStringSubmatch(text, -1) {
			all = append(all, m.named(m.own, match))
		}
		return all
	}
	if match := taggedLine.FindStringSubmatch(text); match != nil {
		return []found{m.named(taggedLine, match)}
	}
	if match := colonLine.FindStringSubmatch(text); match != nil {
		f := m.named(colonLine, match)
		// Prose has colons too; only the metric itself must have a number there.
		if _, err := parseNumber(f.value); err == nil || f.name == m.metric {
			return []found{f}
		}
	}
	return nil
}

func (m *metricLines) named(re interface{ SubexpIndex(name string) int }, match []string) found {
	group := func(name string) string {
		if i := re.SubexpIndex(name); i >= 0 {
			return strings.TrimSpace(match[i])
		}
		return ""
	}
	f := found{group("name"), group("value"), group("unit")}
	if re.SubexpIndex("name") < 0 {
		f.name = m.metric
	}
	return f
}

func (m *metricLines) addSub(f found, text string) {
	v, err := parseNumber(f.value)
	_, known := m.subs[f.name]
	switch {
	case m.fault != nil:
	case err != nil:
		m.fault = parseFault(text, "the metric %q %v", cleanLine(f.name), err)
	case !known && len(m.subs) >= maxSubScores:
		m.fault = parseFault(text, "the output has more than %d metrics", maxSubScores)
	default:
		m.subs[f.name] = v
	}
}

func (m *metricLines) finish() (Reading, *Fault) {
	if m.fault != nil {
		return Reading{}, m.fault
	}
	if m.seen == 0 {
		return Reading{}, parseFault(m.end, "no line of the output gives the metric %q", m.metric)
	}
	score, err := parseNumber(m.last.value)
	if err != nil {
		return Reading{}, parseFault(m.text, "the metric %q %v; si.benchmark.regex can pick the number out of the line", m.metric, err)
	}
	r := Reading{Metric: m.metric, Score: score, Odd: oddLines(m.seen, m.after)}
	if len(m.subs) > 0 {
		r.SubScores = m.subs
	}
	if m.last.unit != "" { // a run that prints seconds instead of milliseconds is no gain
		r.Basis = []string{m.metric + " in " + cleanLine(m.last.unit)}
	}
	return r, nil
}
