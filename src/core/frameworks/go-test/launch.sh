# Runs `go test -json` with its report on a descriptor, behind what is needed to know files by tests.
#   bash launch.sh DESCRIPTOR GO MODE PATTERN PACKAGE… -- FILE…
# MODE is `run` or `list`. PATTERN is for -run, empty: all. FILEs are test files of which all tests
# are chosen: their names join the pattern. The rest of the report is Go's own JSON.
descriptor=$1 go=$2 mode=$3 pattern=$4
shift 4
exec 3>&"$descriptor"
eval "exec $descriptor>&-"
packages=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  packages+=("$1")
  shift
done
shift
printf '{"type":"start","runner":"go test","mode":"%s","folder":"%s","version":"%s"}\n' "$mode" "$PWD" "$("$go" env GOVERSION)" >&3
for file in "$@"; do
  while IFS= read -r name; do
    pattern="${pattern:+$pattern|}^$name\$"
  done < <(grep -hoE '^func (Test|Fuzz|Example)[A-Za-z0-9_]*\(' -- "$file" | sed -E 's/^func ([A-Za-z0-9_]+)\(/\1/')
done
# Packages and their test files; a package that cannot be read is still listed (-e).
format='{"type":"package","path":{{printf "%q" .ImportPath}},"dir":{{printf "%q" .Dir}},"files":[{{range $i, $f := .TestGoFiles}}{{if $i}},{{end}}{{printf "%q" $f}}{{end}}],"external":[{{range $i, $f := .XTestGoFiles}}{{if $i}},{{end}}{{printf "%q" $f}}{{end}}]}'
"$go" list -e -f "$format" "${packages[@]}" >&3 3>&- || exit
# `file.go:12:func TestX(`: where each test is.
find . \( -name vendor -o -name node_modules -o -name '.?*' \) -prune -o -name '*_test.go' -type f -print0 |
  xargs -0 -r grep -nHE '^func (Test|Fuzz|Example)[A-Za-z0-9_]*\(' -- |
  sed -E 's/^/@/' >&3
# Test processes get none of our descriptors.
if [ "$mode" = list ]; then
  "$go" test -json -list '^(Test|Fuzz|Example)' "${packages[@]}" >&3 3>&-
else
  "$go" test -json -count=1 -timeout=0 ${pattern:+-run "$pattern"} "${packages[@]}" >&3 3>&-
fi
code=$?
echo '{"type":"end"}' >&3
exit "$code"
