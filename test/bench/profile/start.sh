#!/usr/bin/env bash
# Adds Postwright to a comparison of mail engines: link this folder as one of its profiles. Node 24 must be on PATH.
set -euo pipefail
exec node "$(dirname "$(readlink -f "$0")")/start.ts"
