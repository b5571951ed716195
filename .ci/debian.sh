#!/usr/bin/env bash
# Runs the README's commands as a user of a stock Debian does: debian.sh SUITE [COMMAND...]
#
# SUITE is bookworm (12) or trixie (13), COMMAND the name of a command that is marked in README.md (default: main tests).
# The Debian is made by debootstrap and has what the README says that it needs, nothing else. A user without rights works
# on a copy of this checkout. The root file system, its mounts and its processes end with this script; what debootstrap
# made is kept in the cache. Needs root.
#
# Setting: RECORD=FILE records what the commands print on a terminal (record.py).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"
source "$CI_DIR/readme.sh"

suite=${1:?usage: debian.sh SUITE [COMMAND...]}
shift
(($#)) || set -- main tests

base=$REBALANCE_CHECK_CACHE/debian-$suite.tar
root=$(mktemp -d "$REBALANCE_CHECK_CACHE/debian.XXXXXX")
finish() { rm -rf --one-file-system "$root"; }
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The file system that debootstrap makes, as a tar file in the cache.
make_base() {
  [[ -e $base ]] && return
  local log=$REBALANCE_CHECK_CACHE/debootstrap-$suite.log made=$root/made
  say "Debian $suite: debootstrap"
  if ! debootstrap --variant=minbase --include=ca-certificates "$suite" "$made" "$DEBIAN_MIRROR" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    return 1
  fi
  tar --directory "$made" --one-file-system --create --file "$base.part" .
  mv "$base.part" "$base"
  rm -rf --one-file-system "$made"
}

# Before a command: as the root user of that Debian, in name spaces of its own, so that mounts and processes end with it.
# Settings of pip and of a proxy, and certificates of this machine, hold there, too.
kept=()
for name in ${!PIP_@} http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
  if [[ -v $name && $name != PIP_FIND_LINKS ]]; then kept+=("$name=${!name}"); fi
done
# shellcheck disable=SC2016 # the inner shell expands them
in_root=(unshare --mount --pid --fork --kill-child bash -euo pipefail -c '
  mount -t proc proc "$0/proc"
  mount --rbind /dev "$0/dev"
  mount --rbind /sys "$0/sys"
  exec chroot "$0" env -i LANG=C.UTF-8 TERM=xterm PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
' "$root" "${kept[@]}")

# as_user TEXT: one of the README's commands, in the copy of the checkout.
as_user() {
  local recorded=()
  [[ -z ${RECORD:-} ]] || recorded=(python3 "$CI_DIR/record.py" "$RECORD" "$1")
  "${recorded[@]}" "${in_root[@]}" setpriv --reuid=user --regid=user --init-groups env HOME=/home/user \
    bash -euo pipefail -c 'cd ~/rebalance-check && eval "$0"' "$1"
}

make_base
tar --directory "$root" --extract --file "$base"
cp /etc/resolv.conf "$root/etc/resolv.conf"
printf '127.0.0.1 localhost %s\n' "$(hostname)" >"$root/etc/hosts"
find /usr/local/share/ca-certificates -name '*.crt' -exec cp -t "$root/usr/local/share/ca-certificates" {} + 2>/dev/null || true

packages=$(readme_packages)
say "Debian $suite: apt install $packages"
"${in_root[@]}" bash -c "update-ca-certificates >/dev/null && apt-get update -qq &&
  DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes $packages >/dev/null && useradd --create-home user"
"${in_root[@]}" bash -c '! command -v python && python3 --version'
mkdir "$root/home/user/rebalance-check"
tar --directory "$ROOT" --exclude=./.venv --exclude=./.tox --exclude=./.git --create . |
  tar --directory "$root/home/user/rebalance-check" --extract
"${in_root[@]}" chown -R user:user /home/user

for name in "$@"; do
  text=$(readme_command "$name")
  say "Debian $suite: $name"
  printf '$ %s\n' "$text"
  begin=$SECONDS
  as_user "$text"
  printf 'Debian %s: README command %s: %s s\n' "$suite" "$name" "$((SECONDS - begin))"
done
