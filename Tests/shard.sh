#!/usr/bin/env bash
# shard.sh FOLDER NAME COMMAND…: runs tests, and leaves in FOLDER/NAME which have failed, as a pattern for another run: the
# machines are shared, and most tests wait for media. What is no failed test, such as a crash or a report of the thread
# sanitizer (66), has failed for good, and FOLDER/NAME.why says what it was.
set -uo pipefail
folder=$1 name=$2 log=$1/$2.log
shift 2

fail() {
  {
    echo "--- $name: $1"
    grep -a -A 60 -m 1 'WARNING: ThreadSanitizer' "$log" || tail -n 60 "$log"
    grep -a 'SUMMARY: ThreadSanitizer' "$log"
  } > "$folder/$name.why"
  exit 1
}

"$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
[ "$status" != 0 ] || exit 0
[ "$status" = 1 ] || fail "the tests ended with $status"
lines=$(grep -aE '^[^ ]+ Test .* failed after ' "$log" | grep -v ' Test run with ')
names=$(sed -nE 's/^[^ ]+ Test ([A-Za-z0-9_]+)\(.*/\1/p' <<< "$lines")
# One that is called in words is not found by its function.
[ -n "$names" ] && [ "$(wc -l <<< "$names")" = "$(wc -l <<< "$lines")" ] || fail "not all that failed has a function's name"
echo "/($(sort -u <<< "$names" | paste -sd '|'))\(" > "$folder/$name"
