package sim

import (
	"fmt"
	"io"

	"si/benchmark/duel"
)

// Gains are what the first candidate is worth in the columns of a table.
func Gains() []float64 { return []float64{0, 0.01, 0.02, 0.05} }

// Row is one kind of noise under one setting.
type Row struct {
	Model  string
	Config duel.Config
	Counts []Count // by gain, null rounds first
}

// Table plays all models with the settings.
func Table(cfg duel.Config, rounds int, seed uint64) ([]Row, error) {
	var rows []Row
	for _, m := range Models() {
		row := Row{Model: m.Name, Config: cfg.WithDefaults()}
		for _, gain := range Gains() {
			c, err := Play(m, cfg, gain, rounds, seed)
			if err != nil {
				return nil, err
			}
			row.Counts = append(row.Counts, c)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Write prints rows for people: of each gain the share of rounds that kept it
// (of null rounds, that kept anything), with its standard error, the same by
// the older rule, and the mean number of runs of a round.
func Write(w io.Writer, rows []Row) error {
	for _, row := range rows {
		if _, err := fmt.Fprintf(w, "%-16s %-10s alpha %-6v", row.Model, row.Config.Mode, row.Config.Alpha); err != nil {
			return err
		}
		for _, c := range row.Counts {
			rate, stderr := c.Rate()
			older, _ := c.SeedRate()
			if _, err := fmt.Fprintf(w, " | %+.0f%%: %.4f±%.4f (older %.3f) %4.1f runs", 100*c.Gain, rate, stderr, older, c.MeanRuns()); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return nil
}
