#!/usr/bin/env bash
# Whether each relative link of each Markdown file of the repository leads to a file or folder, and, behind #, to a heading of that file. Text
# between ``` is left out. Exit code 1 if a link leads nowhere.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/../.."

# Headings as GitHub makes anchors of them; of equal ones the first.
anchors() {
    awk '/^ *```/ { code = !code } !code && /^#+ /' "$1" | sed -E 's/^#+ +//; s/\[([^]]*)\]\([^)]*\)/\1/g; s/ +$//' \
        | tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
}

files=()
while IFS= read -r -d '' file; do
    # A file that is a link to another one is checked there.
    if [ -f "$file" ] && [ ! -L "$file" ]; then files+=("$file"); fi
done < <(git ls-files -z --cached --others --exclude-standard -- '*.md')

failed=0 count=0
while IFS=: read -r file line target; do
    count=$((count + 1))
    path=${target%%#*}
    if [ -n "$path" ]; then path=$(dirname "$file")/$path; else path=$file; fi
    if [ ! -e "$path" ]; then
        echo "$file:$line: there is no $target" >&2
        failed=1
    elif [[ $target == *"#"* && $path == *.md ]] && ! grep -qxF -e "${target#*#}" <<< "$(anchors "$path")"; then
        echo "$file:$line: there is no heading #${target#*#}" >&2
        failed=1
    fi
done < <(awk '
    FNR == 1 { code = 0 }
    /^ *```/ { code = !code }
    code { next }
    { rest = $0
      while (match(rest, /\]\([^) ]+\)/)) {
          target = substr(rest, RSTART + 2, RLENGTH - 3)
          rest = substr(rest, RSTART + RLENGTH)
          if (target !~ /^[a-z]+:/) print FILENAME ":" FNR ":" target
      } }' "${files[@]}")
echo "$count relative links checked"
exit $failed
