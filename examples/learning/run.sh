#!/bin/sh
# Shows what a repository learns over five runs, on the repository of si demo and with
# an agent that makes the same mistake each time (agent.sh). Every count comes from
# the journals of the runs; the script looks at what lies on the improve branch after
# each, and ends with 1 when it is not what it says.
# Usage: run.sh [FOLDER]   (default: a new folder). Needs go and git.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
si=${SI:-$here/../../bin/si}
dir=${1:-$(mktemp -d)}

command -v "$si" >/dev/null || { echo "run.sh: $si is not there; run 'make build' first, or name the program in SI" >&2; exit 1; }
mkdir -p "$dir"
[ -z "$(ls -A "$dir")" ] || { echo "run.sh: $dir is not empty" >&2; exit 2; }
git() { command git -c user.name=example -c user.email=example@localhost "$@"; }

# The demo's files, in a repository of their own.
mkdir "$dir/repo"
cd "$dir/repo"
awk '/^-- .* --$/ { file = $2; dir = file; if (sub(/\/[^\/]*$/, "", dir)) system("mkdir -p " dir); next } file { print > file }' "$here/../../templates/demo.txtar"
cp "$here/agent.sh" . # in each workspace, whatever a sandbox hides elsewhere
git init -q -b main
git add -A
git commit -q -m "The demo's files, and an agent"
# One entry that is true and helps nobody.
"$si" knowledge add --kind fact --text "The store is called shelf." >/dev/null
git add -A
git commit -q -m "Something to know"

"$si" init --trust --seed 1 --no-canary --objective "Make shelf faster" --scope store/ --out-of-scope store/store_test.go \
	--setup "go build -o .bench/bench ./cmd/bench" --benchmark ./.bench/bench --sealed cmd/,device/,store/store_test.go \
	--agent "command:sh agent.sh" --agents 1 --max-iterations 1 --circuit-breaker 99 >/dev/null
settings=.omc/self-improve/topics/default/config/settings.json
branch=improve/make_shelf_faster
signature=sealed-file-violation-cmd-bench-main-go

# learned FILE prints a learned file as the branch has it.
learned() { git show "$branch:$1" 2>/dev/null || true; }
# record KEY prints the last retrospective's record.
record() { learned ".si/retro/$(git ls-tree --name-only "$branch" .si/retro/ | sed 's|.*/||' | sort | tail -n 1)"; }
# expect WHAT TEXT PATTERN wants a pattern in a text.
expect() {
	if printf '%s\n' "$2" | grep -q -- "$3"; then echo "  $1"; else
		printf 'run.sh: not so: %s: no %s in\n%s\n' "$1" "$3" "$2" >&2
		exit 1
	fi
}
refuse() {
	if printf '%s\n' "$2" | grep -q -- "$3"; then
		printf 'run.sh: not so: %s: %s is in\n%s\n' "$1" "$3" "$2" >&2
		exit 1
	else echo "  $1"; fi
}

for n in 1 2 3 4 5; do
	sed "s/\"max_iterations\": [0-9]*/\"max_iterations\": $n/" "$settings" >"$settings.new"
	mv "$settings.new" "$settings"
	"$si" run --no-tui >"../run$n.log" 2>&1 || { cat "../run$n.log"; exit 1; }
	echo "run $n:"
	count=$(learned MISTAKES.md | grep -c "^- \*\*Signature:\*\* \`$signature\`" || true)
	expect "the same mistake is recorded $n times" "$count" "^$n\$"
	case $n in
	1 | 2) refuse "which earns nothing yet" "$(learned .si/knowledge/k-2.yaml)" "id: K-2" ;;
	3)
		expect "three distinct runs: it is knowledge" "$(learned .si/knowledge/k-2.yaml)" "reference: $signature"
		expect "and an entry that helped nobody is to be retired" "$(record)" "retire K-1: never-helpful"
		;;
	4)
		expect "the entry was delivered, and reported on" "$(learned .si/knowledge/k-2.yaml)" "helpful: [1-9]"
		refuse "no law yet" "$(learned CLAUDE.md)" "$signature"
		first=$(record | grep -A 9 '"remedy": "K-2"')
		;;
	5)
		expect "twice more after the delivery: one line of law" "$(learned CLAUDE.md)" "^- .*(\`$signature\`, 5 occurrences"
		second=$(record | grep -A 9 '"remedy": "K-2"')
		[ "$first" != "$second" ] || { echo "run.sh: its efficacy line is the same" >&2; exit 1; }
		expect "and the efficacy line says that the entry does not help" "$second" '"runs_with_it_after": 2'
		expect "as does that of the law, for the runs to come" "$(record)" '"remedy": "law"'
		;;
	esac
done

# git revert of each step, the last one first, restores what was before it.
git worktree add -q --detach ../reverted "$branch"
cd ../reverted
for commit in $(git log --format=%H "main..$branch"); do
	git revert --no-edit "$commit" >/dev/null
	git diff --quiet "$commit^" HEAD || { echo "run.sh: reverting $commit does not restore what was before it" >&2; exit 1; }
done
git diff --quiet main HEAD
echo "each step was reverted, the last one first: $(git log --format=%H "main..$branch" | wc -l | tr -d ' ') commits, and the tree is that of main"
