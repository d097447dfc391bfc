package plot

// Axis is the vertical axis of a chart, for renderers that draw in other ways than
// Render does: it has the same range and the same round values.
type Axis struct{ s scale }

// Tick is a round value of an axis and how it is written.
type Tick struct {
	Value float64
	Label string
}

// NewAxis finds the range that shows the way from the baseline to the best.
func NewAxis(d Data) Axis { return Axis{newScale(d)} }

// Empty reports whether there is nothing to show.
func (a Axis) Empty() bool { return a.s.empty }

// Log reports whether equal factors are equally far apart.
func (a Axis) Log() bool { return a.s.log }

// At is where v lies, 0 at the bottom and 1 at the top; outside for a value beyond
// the range.
func (a Axis) At(v float64) float64 { return a.s.at(v) }

// Finite reports whether v can be drawn at all.
func (a Axis) Finite(v float64) bool { return finite(v) }

// Ticks are about n round values; when there are not two of them, the ends of the
// range.
func (a Axis) Ticks(n int) []Tick {
	if a.s.empty {
		return nil
	}
	var ticks []tick
	for more := range 8 { // a low chart asks for few, and none of few may be inside
		if ticks = a.s.ticks(max(1, n) + more); len(ticks) >= 2 {
			break
		}
	}
	if len(ticks) < 2 {
		ticks = endTicks(a.s)
	}
	out := make([]Tick, 0, len(ticks))
	for _, t := range ticks {
		out = append(out, Tick{t.value, t.label})
	}
	return out
}

// Short writes a score for a label: four digits that count.
func Short(v float64) string { return short(v) }
