# Prints the log that run.sh kept in the folder NAME of TMPDIR, and removes it.
#   bash read-log.sh NAME
folder=${TMPDIR:-/tmp}/$1
cd "$folder" 2>/dev/null || exit 0
cat head 2>/dev/null
[ -s omitted ] && printf '\n[… %s bytes left out …]\n' "$(cat omitted)"
cat older newer now 2>/dev/null
rm -rf "$folder"
