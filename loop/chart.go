package loop

import (
	"fmt"
	"reflect"

	"si/internal/durable"
	"si/plot"
	"si/track"
)

// DrawChart draws tracking/progress.png and progress.svg from the documents of
// the track; dpi are the dots per inch of the PNG, plot.DPI when 0.
func DrawChart(store *durable.Store, paths track.Paths, dpi int) error {
	data, err := chartData(paths)
	if err != nil {
		return err
	}
	return drawChart(store, paths, data, dpi)
}

// chart draws the chart of the track anew when there is something new to show.
func (l *Loop) chart() error {
	data, err := chartData(l.cfg.Paths)
	if err != nil || l.drawn != nil && reflect.DeepEqual(*l.drawn, data) {
		return err
	}
	if err := drawChart(l.cfg.Store, l.cfg.Paths, data, l.cfg.ChartDPI); err != nil {
		return err
	}
	l.drawn = &data
	return nil
}

func drawChart(store *durable.Store, paths track.Paths, data plot.Data, dpi int) error {
	for _, f := range []struct {
		format plot.Format
		path   string
	}{{plot.PNG, paths.ProgressPath}, {plot.SVG, paths.ProgressSVGPath()}} {
		picture, err := plot.Render(data, f.format, dpi)
		if err != nil {
			return fmt.Errorf("draw %s: %w", f.path, err)
		}
		if err := store.Replace(f.path, picture, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func chartData(paths track.Paths) (plot.Data, error) {
	settings, err := track.LoadSettings(paths)
	if err != nil {
		return plot.Data{}, err
	}
	raw, err := track.LoadList[track.RawRecord](paths.RawDataPath)
	if err != nil {
		return plot.Data{}, err
	}
	baseline, err := track.LoadBaseline(paths)
	if err != nil {
		return plot.Data{}, err
	}
	goal, _, err := track.LoadGoal(paths)
	if err != nil {
		return plot.Data{}, err
	}
	var start *float64
	if baseline.Exists {
		start = &baseline.Value.Score
	}
	return plot.FromRecords(goal.Objective, settings.Value, start, raw.Items), nil
}
