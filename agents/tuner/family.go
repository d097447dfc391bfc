package tuner

import "slices"

// fallback is the family of what no word tells.
const fallback = "other"

// families are what a knob can be called an experiment in, the closest first. The
// last words of a name say most: a cacheThreshold is a threshold. A family that
// the user's harness names wins where the knob has one of its words; "other" is
// always last, so that a repository whose knobs are all of one family still gives
// several planners something to do.
func (k Knob) families(known []string) []string {
	var out []string
	add := func(f string) {
		if f != "" && !slices.Contains(out, f) && (len(known) == 0 || slices.Contains(known, f)) {
			out = append(out, f)
		}
	}
	for _, f := range known {
		if familyOf(f) == "" && slices.ContainsFunc(splitWords(f), func(w string) bool { return slices.Contains(k.words, w) }) {
			add(f)
		}
	}
	for i := len(k.words) - 1; i >= 0; i-- {
		add(wordFamily(k.words[i]))
	}
	if len(out) == 0 {
		add(kindFamily(k.value.kind))
	}
	add(fallback)
	if len(out) == 0 {
		out = []string{fallback}
	}
	return out
}

// familyOf returns f when it is one of the taxonomy's families, else "".
func familyOf(f string) string {
	switch f {
	case "architecture", "training_config", "data", "infrastructure", "optimization", "testing", "documentation", fallback:
		return f
	}
	return ""
}

// kindFamily is for names without a telling word.
func kindFamily(k kind) string {
	switch k {
	case fraction, decimal:
		return "optimization"
	case toggle:
		return "architecture"
	case whole, shift:
	}
	return ""
}

func wordFamily(w string) string {
	switch w {
	case "thread", "threads", "worker", "workers", "job", "jobs", "proc", "procs", "parallel", "parallelism", "concurrency",
		"pool", "buffer", "buffers", "buf", "cache", "caches", "cached", "queue", "shard", "shards", "memory", "mem", "arena",
		"prefetch", "readahead", "ahead", "conns", "connections", "io", "page", "pages", "mmap", "flush", "backlog", "gc":
		return "infrastructure"
	case "threshold", "cutoff", "limit", "tolerance", "tol", "epsilon", "eps", "factor", "bloom", "filter", "inline", "unroll",
		"prune", "pruning", "score", "weight", "alpha", "beta", "gamma", "penalty", "cost", "opt", "fast", "greedy", "insertion":
		return "optimization"
	case "rate", "lr", "batch", "batches", "epoch", "epochs", "momentum", "dropout", "decay", "warmup", "learning", "clip",
		"accumulation", "rounds", "step", "steps", "temperature", "annealing":
		return "training_config"
	case "block", "blocks", "chunk", "chunks", "sample", "samples", "window", "stride", "split", "ngram", "rows", "columns",
		"feature", "features", "vocab", "padding", "length", "len", "segment", "record", "records", "compress", "compression":
		return "data"
	case "layer", "layers", "depth", "width", "fanout", "degree", "bucket", "buckets", "branching", "level", "levels", "head",
		"heads", "dim", "dims", "hidden", "tree", "nodes", "radix", "slots", "table", "ways", "order", "runs":
		return "architecture"
	case "verify", "check", "checks", "assert", "validate", "validation", "paranoid", "sanity":
		return "testing"
	}
	return ""
}
