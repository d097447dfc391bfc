package survey

import (
	"slices"
	"strings"

	"si/internal/lazyre"
	"si/track"
)

// Words of metrics' names by what is better. A rate is looked for first: "per
// second" holds a second, and "error rate" an error.
var (
	rates  = []string{"per_s", "per_sec", "per_second", "/s", "ops", "qps", "rps", "tps", "throughput", "bandwidth", "mbps", "fps", "speedup", "iterations", "hz"}
	costs  = []string{"loss", "error", "err", "wer", "cer", "rmse", "mse", "mae", "mape", "perplexity", "ppl", "bpb", "bits", "latency", "time", "duration", "elapsed", "runtime", "wall", "seconds", "secs", "sec", "ms", "us", "ns", "s", "millis", "micros", "nanos", "bytes", "size", "kb", "mb", "memory", "mem", "rss", "allocs", "misses", "cost", "instructions", "cycles", "p50", "p90", "p95", "p99", "regret", "distance"}
	values = []string{"score", "accuracy", "acc", "f1", "auc", "precision", "recall", "bleu", "rouge", "ndcg", "map", "mrr", "reward", "passed", "hits", "ratio", "iou", "psnr", "ssim", "r2", "pass_rate"}
)

var wordBreak = lazyre.New(`[^a-z0-9]+`)

// directionOf guesses from a metric's name what is better. known is false when
// the name says nothing.
func directionOf(metric string) (d track.Direction, known bool) {
	m := strings.ToLower(camel.ReplaceAllString(metric, "${1}_${2}"))
	for _, r := range rates {
		if m == r || strings.Contains("_"+m, "_"+r) || strings.HasPrefix(r, "/") && strings.HasSuffix(m, r) {
			return track.HigherIsBetter, true
		}
	}
	words := wordBreak.Split(m, -1)
	for _, w := range words {
		if slices.Contains(costs, w) {
			return track.LowerIsBetter, true
		}
	}
	for _, w := range words {
		if slices.Contains(values, w) {
			return track.HigherIsBetter, true
		}
	}
	return track.HigherIsBetter, false
}

var camel = lazyre.New(`([a-z0-9])([A-Z])`)

// DirectionOf is the direction that a metric's name suggests; false when it
// suggests none.
func DirectionOf(metric string) (track.Direction, bool) { return directionOf(metric) }
