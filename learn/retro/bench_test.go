package retro

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"si/internal/durable"
	"si/learn/findings"
	"si/track"
)

// journalOf writes a journal of so many events of ordinary runs.
func journalOf(b *testing.B, events int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "journal.jsonl")
	j, _, err := track.OpenJournal(&durable.Store{}, path)
	if err != nil {
		b.Fatal(err)
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	log := make([]byte, 0, events*250)
	add := func(run, round int, kind track.Kind, data any) {
		raw, err := json.Marshal(data)
		if err != nil {
			b.Fatal(err)
		}
		line, err := json.Marshal(track.Event{TS: noon, Ev: kind, Run: fmt.Sprint("run", run), Round: round, Actor: "si", Data: raw})
		if err != nil {
			b.Fatal(err)
		}
		log = append(append(log, line...), '\n')
	}
	score := 1.5
	for n := range events {
		run, round := n/1000, n/100
		switch n % 100 {
		case 0:
			add(run, round, track.EvRunStarted, track.RunStarted{})
		case 1:
			add(run, round, track.EvFinding, track.Finding{Proof: fmt.Sprintf("F-%d", n+1), Area: "src", Signature: "timeout-src", Claim: "it ran for 10 s"})
		case 2:
			add(run, round, track.EvRoundEnded, track.RoundEnded{})
		default:
			add(run, round, track.EvMeasured, track.Sample{Key: "duel/executor_a/noisy/3", Purpose: "duel", Subject: "executor_a", Commit: "0123456789", Score: &score, Wall: 1.5})
		}
	}
	if err := (&durable.Store{}).Replace(path, log, 0o644); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkJournal is what a round and a start read: 100,000 events.
func BenchmarkJournal(b *testing.B) {
	path := journalOf(b, 100_000)
	b.Run("findings", func(b *testing.B) {
		for b.Loop() {
			if _, err := findings.OfRound(findings.Round{N: 999}, track.ReadJournal(path)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("owed", func(b *testing.B) {
		for b.Loop() {
			if _, err := OwedRuns(track.ReadJournal(path), ""); err != nil {
				b.Fatal(err)
			}
		}
	})
}
