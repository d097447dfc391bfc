package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"fmt"
	"html/template"

	"si/plot"
	"si/track"
)

var (
	//go:embed page.html.tmpl
	pageTemplate string
	//go:embed page.css
	pageStyle string
)

// mostChart is the largest chart that is put into a page, in bytes.
const mostChart = 8 << 20

// pageData is what the template is given.
type pageData struct {
	view
	Intro   string
	Style   template.CSS
	Policy  string // Content-Security-Policy
	Chart   template.URL
	NoChart string // why there is none
	Wide    template.URL
	Narrow  template.Srcset
}

// HTML writes the report as one page without a script, which loads nothing. Charts
// are images: what is in an SVG cannot run or load anything there.
func HTML(r Report) ([]byte, error) {
	p := pageData{view: newView(r), Intro: keptIntro, Style: template.CSS(pageStyle), Policy: policy(pageStyle)}
	switch {
	case len(r.Progress) == 0:
		p.NoChart = "There is no chart of this run."
	case len(r.Progress) > mostChart:
		p.NoChart = fmt.Sprintf("The chart is left out: it has %d bytes.", len(r.Progress))
	default:
		p.Chart = image(r.Progress)
	}
	if err := p.effects(r); err != nil {
		return nil, err
	}
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, fmt.Errorf("read the page of the report: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("write the page of the report: %w", err)
	}
	return b.Bytes(), nil
}

// policy forbids everything but this style and images that the page holds itself.
func policy(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
}

func image(svg []byte) template.URL {
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg))
}

// effects draws the forest plot, for a wide and for a narrow screen.
func (p *pageData) effects(r Report) error {
	if len(r.Gains) == 0 {
		return nil
	}
	d := effectsOf(r, p.Gains)
	for _, narrow := range []bool{false, true} {
		d.Narrow = narrow
		svg, err := plot.RenderEffects(d)
		if err != nil {
			return err
		}
		if narrow {
			p.Narrow = template.Srcset(image(svg)) // one candidate: base64 has no blank
		} else {
			p.Wide = image(svg)
		}
	}
	return nil
}

func effectsOf(r Report, gains []gainView) plot.Effects {
	d := plot.Effects{Title: "What each change is worth", InSigma: linear(r)}
	for i, g := range gains {
		d.Rows = append(d.Rows, plot.EffectRow{
			Name: fmt.Sprintf("%d  %s", g.N, g.Title), Then: intervalOf(&r.Gains[i].Duel.Effect), Now: intervalOf(r.Gains[i].LeftOut.Effect),
		})
	}
	if r.Whole != nil {
		d.Whole = intervalOf(&r.Whole.Effect)
	}
	return d
}

func intervalOf(e *track.Effect) *plot.Interval {
	if e == nil {
		return nil
	}
	return &plot.Interval{Value: e.Value, Low: e.Low, High: e.High}
}
