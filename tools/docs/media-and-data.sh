#!/usr/bin/env bash
# The tables of docs/coupling.md on media with data: of each quantity the worst of the nine places. With `delays` the one in
# which words take time.
set -euo pipefail
# Both tables are of the same runs; whoever prints both names a directory to keep them in.
runs=${KEPT:-$(mktemp -d)}/media-and-data.json
[ -f "$runs" ] || weir reproduce weir/media-and-data --full --json > "$runs"
jq -r --arg form "${1:-plain}" '
    (.claims | map({key: (.id | ltrimstr("weir/media-and-data/")), value: .measured.mean}) | from_entries) as $of
    | def whole: round | tostring | sub("-"; "−");
      def percent: 1000 * . | round | "\(./10 | floor).\(. % 10)";
      def plain: ["gcc", "nada", "scream"][] as $media | ["newreno", "cubic"][] as $data
        | {newreno: "NewReno", cubic: "CUBIC"}[$data] as $name
        | ["queue", "apart", "share", "used", "back"]
        | map($of["\($media)-\($data)-\(.)"])
        | "| `\($media)`, \($name) | \(.[0] | whole) | \(.[1] | whole) | \(.[2] | percent) % | \(100 * .[3] | whole) % | \(.[4] | whole) |";
      def delays: ["gcc", "nada", "scream"][] as $media
        | ["50ms-queue", "200ms-queue", "50ms-share", "200ms-share"] | map($of["\($media)-newreno-\(.)"])
        | "| `\($media)` | \(.[0] | whole), \(.[1] | whole) | \(.[2] | percent), \(.[3] | percent) % |";
    if $form == "delays" then delays
    else plain, "| asked for | at most 25 | | at most 5 % | at least 85 % | at most 25 |" end' "$runs"
