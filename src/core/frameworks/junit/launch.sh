# Runs Maven or Gradle without a network and sends their JUnit XML files as they are written.
#   bash launch.sh DESCRIPTOR MODE COMMAND…
# MODE is `run` or `list`; `list` starts nothing and sends the sources of the tests. A file is one
# line of JSON with its bytes as base64, so that no name and no content can be taken for a line.
descriptor=$1 mode=$2
shift 2
exec 3>&"$descriptor"
eval "exec $descriptor>&-"
printf '{"type":"start","runner":"%s","mode":"%s","folder":"%s"}\n' "${1##*/}" "$mode" "$PWD" >&3
send() {
  printf '{"type":"%s","path":"%s","base64":"%s"}\n' "$1" "${2#./}" "$(base64 -w0 "$2")" >&3
}
pruned=(\( -name node_modules -o -name '.?*' \) -prune -o)
find . "${pruned[@]}" \( -name target -o -name build \) -prune -o -type f \
  \( -name '*.java' -o -name '*.kt' -o -name '*.groovy' -o -name '*.scala' \) -print | sed 's/^/@file /' >&3
reports() {
  find . "${pruned[@]}" -type f -name '*.xml' \( -path '*/target/surefire-reports/*' -o \
    -path '*/target/failsafe-reports/*' -o -path '*/build/test-results/*' \) "$@"
}
if [ "$mode" = list ]; then
  while IFS= read -r -d '' file; do
    send source "$file"
  done < <(find . "${pruned[@]}" \( -name target -o -name build \) -prune -o -type f \
    -path '*/src/*est*/*' \( -name '*.java' -o -name '*.kt' -o -name '*.groovy' \) -print0)
  echo '{"type":"end","code":0}' >&3
  exit 0
fi
# Reports of earlier runs would be taken for this one's. (find refuses -delete beside -prune.)
reports -exec rm -f -- {} +
declare -A sent
send_reports() {
  local file state
  while IFS= read -r -d '' file; do
    state=$(stat -c '%y %s' "$file")
    [ "${sent[$file]}" = "$state" ] && continue
    # Half written: later.
    tail -c 100 "$file" | grep -q '</testsuites\?>' || continue
    sent[$file]=$state
    send xml "$file"
  done < <(reports -print0)
}
"$@" 3>&- &
tool=$!
while kill -0 "$tool" 2>/dev/null; do
  sleep 0.5
  send_reports
done
wait "$tool"
code=$?
send_reports
printf '{"type":"end","code":%d}\n' "$code" >&3
exit "$code"
