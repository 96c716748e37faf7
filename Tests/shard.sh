#!/usr/bin/env bash
# shard.sh FOLDER NAME COMMAND…: runs tests, and leaves in FOLDER/NAME which have failed, as a pattern for another run: the
# machines are shared, and most tests wait for media. What is no failed test, such as a crash or a report of the thread
# sanitizer (66), has failed for good.
set -uo pipefail
folder=$1 name=$2
shift 2
"$@" 2>&1 | tee "$folder/$name.log"
status=${PIPESTATUS[0]}
[ "$status" = 1 ] || exit "$status"
lines=$(grep -aE '^[^ ]+ Test .* failed after ' "$folder/$name.log" | grep -v ' Test run with ')
names=$(sed -nE 's/^[^ ]+ Test ([A-Za-z0-9_]+)\(.*/\1/p' <<< "$lines")
# One that is called in words is not found by its function.
[ -n "$names" ] && [ "$(wc -l <<< "$names")" = "$(wc -l <<< "$lines")" ] || exit 1
echo "/($(sort -u <<< "$names" | paste -sd '|'))\(" > "$folder/$name"
