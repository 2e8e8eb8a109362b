# Runs a test command with its report on a private descriptor and its output in a bounded log.
#   bash run.sh FOLDER DESCRIPTOR PROGRAM ARGUMENT…
# stdout is the report. FOLDER receives `head` (the first bytes), `part.0` and `part.1` (the last
# ones, in turns) and `omitted` (bytes overwritten). The exit code is the program's.
folder=$1 descriptor=$2
shift 2
mkdir -p "$folder" || exit 125
eval "exec $descriptor>&1"
exec </dev/null
keep_log() {
  dd bs=4096 count=16 of="$folder/head" 2>/dev/null
  omitted=0 turn=0
  while :; do
    part=$folder/part.$turn
    if [ -s "$part" ]; then
      omitted=$((omitted + $(wc -c <"$part")))
      echo "$omitted" >"$folder/omitted"
    fi
    dd bs=4096 count=64 of="$part" 2>/dev/null
    [ -s "$part" ] || break
    echo "$turn" >"$folder/last"
    turn=$((1 - turn))
  done
}
exec {log}> >(exec {log}>&- >/dev/null 2>&1; eval "exec $descriptor>&-"; keep_log)
keeper=$!
"$@" >&"$log" 2>&1 {log}>&-
code=$?
exec {log}>&-
# A process that the tests left behind may hold the log open: what is written by now is enough.
for _ in {1..50}; do
  kill -0 "$keeper" 2>/dev/null || break
  sleep 0.01
done
exit "$code"
