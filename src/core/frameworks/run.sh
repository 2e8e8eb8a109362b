# Runs a test command with its report on a private descriptor and its output in a bounded log.
#   bash run.sh NAME DESCRIPTOR PROGRAM ARGUMENT… <SEAL
# stdout is the report. The folder NAME of TMPDIR receives `head` (the first bytes), `older`,
# `newer` and `now` (the last ones) and `omitted` (bytes thrown away between them). The exit code is the program's.
# SEAL, one line, is the key of the report's seal: the program finds it on stdin, once (see seal.ts).
folder=${TMPDIR:-/tmp}/$1 descriptor=$2
shift 2
mkdir -p "$folder" || exit 125
eval "exec $descriptor>&1"
seal=
IFS= read -r seal || :
# It came in a file of the supervisor.
[[ -z $seal ]] || : 2>/dev/null >/proc/self/fd/0 || :
exec </dev/null
# Written piece by piece, so that it is all there when the run is killed. Two whole pieces stay
# behind the one that is being written.
keep_log() {
  cd "$folder" || exit
  omitted=0
  dd bs=4096 count=16 of=head 2>/dev/null
  while dd bs=4096 count=64 of=now 2>/dev/null && [ -s now ]; do
    if [ -s older ]; then
      omitted=$((omitted + $(wc -c <older)))
      echo "$omitted" >omitted
    fi
    [ -e newer ] && mv newer older
    mv now newer
  done
}
exec {log}> >(exec {log}>&- >/dev/null 2>&1; eval "exec $descriptor>&-"; keep_log)
keeper=$!
if [[ -n $seal ]]; then
  "$@" >&"$log" 2>&1 {log}>&- < <(printf '%s' "$seal")
else
  "$@" >&"$log" 2>&1 {log}>&-
fi
code=$?
exec {log}>&-
# A process that the tests left behind may hold the log open: what is written by now is enough.
for _ in {1..50}; do
  kill -0 "$keeper" 2>/dev/null || break
  sleep 0.01
done
exit "$code"
