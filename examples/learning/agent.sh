#!/bin/sh
# A coding agent that never learns: whatever it is told, its executor edits the
# benchmark. si plays every role of a round with it. It reports on the knowledge that
# it was given, as si asks for it in the prompt: K-1 was of no use, the rest helped.
set -eu
for id in $(grep -o 'K-[0-9]* <verdict>' "$SI_PROMPT_FILE" | grep -o 'K-[0-9]*' | sort -u); do
	case $id in
	K-1) echo "Knowledge: $id unused" ;;
	*) echo "Knowledge: $id helped" ;;
	esac
done
case $SI_ROLE in
researcher)
	cat <<-JSON
	{"repo_analysis_summary": "A key-value store.", "ideas": [
	  {"title": "a larger block", "source": "store/options.go", "evidence": "fewer reads", "approach_family": "optimization", "confidence": "high", "estimated_impact": "unknown"},
	  {"title": "a larger cache", "source": "store/options.go", "evidence": "fewer reads", "approach_family": "data", "confidence": "low", "estimated_impact": "unknown"},
	  {"title": "fewer levels", "source": "store/options.go", "evidence": "fewer merges", "approach_family": "architecture", "confidence": "low", "estimated_impact": "unknown"}]}
	JSON
	;;
planner)
	cat <<-JSON
	{"hypothesis": "Reading ahead by $SI_ROUND blocks makes scans faster because fewer seeks are needed.", "approach_family": "optimization",
	 "target_files": ["store/options.go"], "steps": [{"step": 1, "file": "store/options.go", "change": "read $SI_ROUND blocks ahead"}],
	 "expected_outcome": {"metric": "primary", "estimated_impact": "unknown", "rationale": "fewer seeks", "sub_score_expectations": {}},
	 "history_reference": {"builds_on": [], "avoids": []}}
	JSON
	;;
architect) echo '{"verdict": "approve", "feedback": "fine", "structural_concerns": []}' ;;
critic) echo '{"h001_hypothesis_count": "pass", "history_aware": "pass", "verdict": "approved", "rejection_reason": null}' ;;
executor)
	echo "// Round $SI_ROUND: count every operation twice." >>cmd/bench/main.go
	echo "I made the benchmark faster."
	;;
esac
