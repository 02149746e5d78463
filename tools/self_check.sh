#!/bin/sh
# Check an installation: the RTL of an example passes, and the same RTL with a seeded fault does not.
# DAIS_VERIF names the command to check. No network is needed.
set -u
verify=${DAIS_VERIF:-.venv/bin/dais-verif}
program=examples/quantised_mac.bin
folder=$(mktemp -d) || exit 3
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "self-check: $*" >&2
    exit 3
}

simulate() {
    "$verify" sim "$program" --rtl "$folder/$1.v" --sim icarus --vectors 100 --exhaustive-bits 0 >"$folder/$1.txt" 2>&1
}

"$verify" emit "$program" -o "$folder/good.v" >/dev/null 2>&1 || fail "emit fails; run: $verify emit $program"
sed "s/5'sd10/5'sd9/" "$folder/good.v" >"$folder/bad.v"
cmp -s "$folder/good.v" "$folder/bad.v" && fail "no fault could be seeded: the emitted RTL has changed"

simulate good &
good=$!
simulate bad
bad=$?
wait "$good"
good=$?
[ "$good" = 0 ] || fail "the RTL of $program must pass, but: $(tail -n 3 "$folder/good.txt")"
[ "$bad" = 1 ] || fail "RTL with a seeded fault must be RTL_MISMATCH (exit code 1), but ends with exit code $bad"
echo "self-check: $program passes, and a seeded fault is found"
