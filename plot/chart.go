package plot

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"si/track"
)

// The margins of a chart.
const (
	marginTop    = vg.Length(66)
	marginRight  = vg.Length(112)
	marginBottom = vg.Length(48) // above the legend
	marginLeft   = vg.Length(30) // beside the labels of the ticks
	edge         = vg.Length(18)
	strip        = vg.Length(14)
	textRise     = vg.Length(1) // from a text's middle to that of its digits
)

// many is the number of candidates from which marks are small.
const many = 250

// chart is one drawing under way.
type chart struct {
	Data
	faces
	y           scale
	first, last float64 // iterations at the left and right edge
	spread      float64 // width of one iteration's candidates, in iterations
	families    []string
	looks       []look
	yTicks      []tick
	area        vg.Rectangle
	below       vg.Length // strips of the area for what the range does not hold
	above       vg.Length
	radius      vg.Length
}

func newChart(d Data, f faces) *chart {
	ch := &chart{Data: d, faces: f, y: newScale(d), families: families(d.Points), looks: looks(), spread: 0.62, radius: 4}
	if len(d.Points) > many {
		ch.radius = 1.8
	}
	has := ch.shown()
	if has.unscored || has.under {
		ch.below = strip
	}
	if has.over {
		ch.above = strip
	}
	ch.first, ch.last = ch.iterations()
	if !ch.y.empty {
		ch.yTicks = ch.y.ticks(6)
	}
	if len(ch.yTicks) < 2 && !ch.y.empty {
		ch.yTicks = endTicks(ch.y)
	}
	return ch
}

// endTicks labels the ends of a range that holds no two round values.
func endTicks(s scale) []tick {
	return []tick{{s.min, strconv.FormatFloat(s.min, 'g', 6, 64)}, {s.max, strconv.FormatFloat(s.max, 'g', 6, 64)}}
}

func (ch *chart) iterations() (first, last float64) {
	lowest, highest := math.MaxInt32, 1
	see := func(n int) { lowest, highest = min(lowest, n), max(highest, n) }
	for _, p := range ch.Points {
		see(p.Iteration)
	}
	for _, s := range ch.Champion {
		see(s.Iteration)
	}
	lowest = min(lowest, 1)
	return float64(lowest) - 0.7, float64(highest) + 0.7
}

func (ch *chart) draw(c draw.Canvas) {
	c.SetColor(grey(0xff))
	c.Fill(c.Path())
	labels := vg.Length(0)
	for _, t := range ch.yTicks {
		labels = max(labels, ch.small.Width(t.label))
	}
	left := c.Min.X + edge + marginLeft + min(labels, 110)
	rows := ch.legend(c.Max.X - edge - left)
	foot := c.Min.Y + 8 + rowHeight*vg.Length(len(rows))
	ch.area = vg.Rectangle{
		Min: vg.Point{X: left, Y: foot + marginBottom},
		Max: vg.Point{X: c.Max.X - marginRight, Y: c.Max.Y - marginTop},
	}
	ch.header(c)
	ch.axes(c, foot)
	if len(ch.Points) == 0 && len(ch.Champion) == 0 {
		middle := ch.sub
		middle.XAlign, middle.YAlign = draw.XCenter, draw.YCenter
		c.FillText(middle, vg.Point{X: (ch.area.Min.X + ch.area.Max.X) / 2, Y: (ch.area.Min.Y + ch.area.Max.Y) / 2}, "no candidate has been measured yet")
	}
	ch.rules(c)
	ch.candidates(&c, false)
	ch.champion(c)
	ch.candidates(&c, true)
	ch.drawLegend(c, rows, foot)
}

func (ch *chart) xAt(iteration float64) vg.Length {
	return ch.area.Min.X + (ch.area.Max.X-ch.area.Min.X)*vg.Length((iteration-ch.first)/(ch.last-ch.first))
}

func (ch *chart) yAt(v float64) vg.Length {
	at := math.Min(math.Max(ch.y.at(v), 0), 1)
	low, high := ch.area.Min.Y+ch.below, ch.area.Max.Y-ch.above
	return low + (high-low)*vg.Length(at)
}

// header writes the title, and below it the gain.
func (ch *chart) header(c draw.Canvas) {
	room := c.Max.X - c.Min.X - 2*edge
	title := ch.Title
	if title == "" {
		title = "Progress"
	}
	c.FillText(ch.title, vg.Point{X: c.Min.X + edge, Y: c.Max.Y - 30}, plain(title, ch.title, room))
	c.FillText(ch.sub, vg.Point{X: c.Min.X + edge, Y: c.Max.Y - 48}, plain(ch.gain(), ch.sub, room))
}

// gain is the sentence below the title.
func (ch *chart) gain() string {
	metric := ch.Metric
	if metric == "" {
		metric = "score"
	}
	best, ok := ch.best()
	if !ok || ch.Baseline == nil {
		return metric + ", " + ch.better()
	}
	text := fmt.Sprintf("%s %s → %s", metric, short(*ch.Baseline), short(best))
	base := *ch.Baseline
	if share := math.Abs(best-base) / math.Abs(base) * 100; base != 0 && finite(share) {
		word := "higher"
		if best < base {
			word = "lower"
		}
		switch {
		case best == base:
			text += ", no gain yet"
		case share >= 0.05:
			text += fmt.Sprintf(", %s %% %s", commas(strconv.FormatFloat(share, 'f', 1, 64)), word)
		}
	}
	return text + " (" + ch.better() + ")"
}

func (ch *chart) better() string {
	if ch.Direction == track.LowerIsBetter {
		return "lower is better"
	}
	return "higher is better"
}

// best is the champion's score at the end, or the baseline.
func (ch *chart) best() (float64, bool) {
	if n := len(ch.Champion); n > 0 && finite(ch.Champion[n-1].Score) {
		return ch.Champion[n-1].Score, true
	}
	if ch.Baseline != nil && finite(*ch.Baseline) {
		return *ch.Baseline, true
	}
	return 0, false
}

// axes draws the grid, the ticks and the names of the axes.
func (ch *chart) axes(c draw.Canvas, foot vg.Length) {
	right, left := ch.small, ch.small
	right.XAlign, right.YAlign = draw.XRight, draw.YCenter
	for _, t := range ch.yTicks {
		y := ch.yAt(t.value)
		c.StrokeLine2(draw.LineStyle{Color: grid(), Width: vg.Points(0.7)}, ch.area.Min.X, y, ch.area.Max.X, y)
		c.FillText(right, vg.Point{X: ch.area.Min.X - 6, Y: y + textRise}, plain(t.label, right, 110))
	}
	c.StrokeLine2(draw.LineStyle{Color: soft(), Width: vg.Points(0.9)}, ch.area.Min.X, ch.area.Min.Y, ch.area.Max.X, ch.area.Min.Y)
	left.XAlign, left.YAlign = draw.XCenter, draw.YTop
	for _, t := range ch.xTicks() {
		x := ch.xAt(t.value)
		c.StrokeLine2(draw.LineStyle{Color: soft(), Width: vg.Points(0.9)}, x, ch.area.Min.Y, x, ch.area.Min.Y-4)
		c.FillText(left, vg.Point{X: x, Y: ch.area.Min.Y - 7}, t.label)
	}
	name := ch.label
	name.XAlign, name.YAlign = draw.XCenter, draw.YBottom
	c.FillText(name, vg.Point{X: (ch.area.Min.X + ch.area.Max.X) / 2, Y: foot + 12}, "round")
	name.Rotation, name.YAlign = math.Pi/2, draw.YTop
	metric := ch.Metric
	if metric == "" {
		metric = "score"
	}
	if ch.y.log {
		metric += " (log scale)"
	}
	c.FillText(name, vg.Point{X: c.Min.X + edge - 4, Y: (ch.area.Min.Y + ch.area.Max.Y) / 2}, plain(metric, ch.label, ch.area.Max.Y-ch.area.Min.Y))
}

// xTicks are whole rounds.
func (ch *chart) xTicks() (ticks []tick) {
	step := max(1, niceStep((ch.last-ch.first)/12))
	for n := math.Ceil(math.Ceil(ch.first)/math.Ceil(step)) * math.Ceil(step); n <= ch.last; n += math.Ceil(step) {
		ticks = append(ticks, tick{n, commas(strconv.FormatFloat(n, 'f', 0, 64))})
	}
	return ticks
}

// rule is a horizontal line with its name at the right.
type rule struct {
	value float64
	name  string
	line  draw.LineStyle
	y     vg.Length // of the name
}

// rules draws baseline and target, and names them and the best at the right
// edge, moved apart where they would lie on each other.
func (ch *chart) rules(c draw.Canvas) {
	var rules []rule
	if b := ch.Baseline; b != nil && finite(*b) {
		rules = append(rules, rule{value: *b, name: "baseline " + short(*b), line: draw.LineStyle{Color: grey(0x80), Width: vg.Points(1.2), Dashes: []vg.Length{6, 4}}})
	}
	if t := ch.Target; t != nil && finite(*t) {
		name := "target " + short(*t)
		if at := ch.y.at(*t); at > 1 {
			name += " ↑"
		} else if at < 0 {
			name += " ↓"
		}
		rules = append(rules, rule{value: *t, name: name, line: draw.LineStyle{Color: targetColor(), Width: vg.Points(1.4), Dashes: []vg.Length{1.5, 3}}})
	}
	if n := len(ch.Champion); n > 0 && finite(ch.Champion[n-1].Score) {
		rules = append(rules, rule{value: ch.Champion[n-1].Score, name: "best " + short(ch.Champion[n-1].Score)})
	}
	for i, r := range rules {
		if at := ch.y.at(r.value); at >= 0 && at <= 1 && r.line.Width > 0 {
			c.StrokeLine2(r.line, ch.area.Min.X, ch.yAt(r.value), ch.area.Max.X, ch.yAt(r.value))
		}
		rules[i].y = ch.yAt(r.value)
	}
	slices.SortStableFunc(rules, func(a, b rule) int { return int(math.Copysign(1, float64(a.y-b.y))) })
	const gap = vg.Length(13)
	for i := 1; i < len(rules); i++ {
		rules[i].y = max(rules[i].y, rules[i-1].y+gap)
	}
	for i := len(rules) - 1; i >= 0; i-- { // push back down what was pushed out at the top
		limit := ch.area.Max.Y
		if i < len(rules)-1 {
			limit = rules[i+1].y - gap
		}
		rules[i].y = min(rules[i].y, limit)
	}
	style := ch.label
	style.YAlign = draw.YCenter
	for _, r := range rules {
		c.FillText(style, vg.Point{X: ch.area.Max.X + 7, Y: r.y + textRise}, plain(r.name, style, marginRight-edge))
	}
}
