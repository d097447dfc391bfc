#!/bin/sh
# Improves a public Go module that nobody here wrote, with its own benchmarks
# and the built-in tuner. Needs go, git and the Go module proxy.
# Usage: run.sh [FOLDER [si flags]]   (default: a new folder)
set -eu
module=github.com/twotwotwo/sorts
version=v0.0.0-20160814051341-bf5c1f2b8553
here=$(cd "$(dirname "$0")" && pwd)
si=${SI:-$here/../../bin/si}
dir=${1:-$(mktemp -d)}
[ $# -gt 0 ] && shift

[ -x "$si" ] || { echo "run.sh: $si is not there; run 'make build' first, or name the program in SI" >&2; exit 1; }
mkdir -p "$dir"
[ -z "$(ls -A "$dir")" ] || { echo "run.sh: $dir is not empty" >&2; exit 2; }

# The module as the proxy serves it, in a repository of its own. It is older
# than go.mod, so it gets one.
(cd "$(mktemp -d)" && go mod init example.invalid/fetch >/dev/null 2>&1 && go get "$module@$version" >/dev/null 2>&1)
source=$(go env GOMODCACHE)/$module@$version
cp -R "$source"/. "$dir"
chmod -R u+w "$dir"
cd "$dir"
[ -f go.mod ] || printf 'module %s\n\ngo 1.22\n' "$module" >go.mod
git init -q -b main
git add -A
git -c user.name=example -c user.email=example@localhost commit -q -m "$module $version"

"$si" init --trust --seed 1 \
	--objective "Sort faster" --scope parallel.go,qsort.go,radixsort.go --out-of-scope '**/*_test.go' \
	--benchmark "go test -run '^$' -bench 'SortInt1K|SortString1K|Sort1e4' -benchtime 100ms -count 1" \
	--format gobench --metric geomean:ns/op --direction lower_is_better \
	--sealed '**/*_test.go' --sealed go.mod --guard 'go test ./...' \
	--max-iterations "${ROUNDS:-10}" --circuit-breaker 10 --accept-noise "$@"
"$si" run
