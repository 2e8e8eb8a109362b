# Builds the tests with cargo, lists them, and runs them. The report on the descriptor holds cargo's
# JSON about the build, then what it prints of lists and runs, between lines of our own.
#   bash launch.sh DESCRIPTOR CARGO MODE ARGUMENT…
# MODE is `run` or `list`; ARGUMENTs are handed to the test programs: parts of tests' names.
descriptor=$1 cargo=$2 mode=$3
shift 3
exec 3>&"$descriptor"
eval "exec $descriptor>&-"
printf '{"type":"start","runner":"cargo test","mode":"%s","folder":"%s"}\n' "$mode" "$PWD" >&3
find . \( -name target -o -name node_modules -o -name '.?*' \) -prune -o -name '*.rs' -type f -print | sed 's/^/@file /' >&3
finish() {
  printf '\n{"type":"end"}\n' >&3
  exit "$1"
}
"$cargo" test --no-run --no-fail-fast --message-format=json >&3 3>&- || finish $?
# Test processes get none of our descriptors; cargo says on stderr which program speaks on stdout.
printf '\n@list\n' >&3
"$cargo" test --no-fail-fast -- --list --format terse >&3 2>&1 3>&- || finish $?
[ "$mode" = list ] && finish 0
printf '\n@run\n' >&3
"$cargo" test --no-fail-fast -- --color never "$@" >&3 2>&1 3>&-
finish $?
