#!/usr/bin/env bash
# Installs what the job needs from Debian 12; does nothing when all of it is there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

packages=(python3 python3-pip python3-venv python3-dev gcc libc6-dev openjdk-17-jdk-headless maven docker.io iptables debootstrap ca-certificates chromium chromium-driver)
missing=()
for package in "${packages[@]}"; do
  dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "Debian packages: all installed"
  exit 0
fi

say "Debian packages: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# A policy that forbids starting services keeps docker.io from starting a daemon of its own where an init system runs.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
apt-get update -qq
apt-get install -qq --yes --no-install-recommends "${missing[@]}"
