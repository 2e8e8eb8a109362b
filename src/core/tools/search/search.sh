# Prints matches as path NUL line ':' text (git: a second NUL for ':').
# Arguments: literal|regex, the term, a path relative to the workspace. Exit code: 0 found, 1 nothing, 2 error.
mode=$1 term=$2 path=$3

if command -v rg >/dev/null 2>&1; then
  [ "$mode" = literal ] && fixed=--fixed-strings || fixed=
  # Columns are in bytes, far more than is shown: minified files would flood the output.
  exec rg --no-config --color never --no-heading --line-number --with-filename --null --sort path \
    --hidden --glob '!.git' --no-require-git --no-messages --max-columns 4000 --max-columns-preview \
    $fixed --regexp "$term" -- "$path"
fi

if git rev-parse --is-inside-work-tree >/dev/null 2>&1 && ! git check-ignore -q -- "$path"; then
  [ "$mode" = literal ] && kind=--fixed-strings || kind=--perl-regexp
  exec git --no-pager grep --no-color --untracked --exclude-standard -I -n -z $kind -e "$term" -- "$path"
fi

[ "$mode" = literal ] && kind=-F || kind=-P
exec grep -rnIHZ --exclude-dir=.git $kind -e "$term" -- "$path"
