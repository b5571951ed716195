#!/usr/bin/env bash
# Builds an image of each Kafka release without any image registry: image.sh [RELEASE...]
#
# A minimal Debian with a Java runtime (debootstrap, `docker import`) plus the jars of `jars.sh`, laid out like the public
# apache/kafka image: /opt/kafka/libs. Where that registry can be reached, the public image serves just as well.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

base=$KAFKA_IMAGE-base:$DEBIAN_SUITE

has_image() { docker image inspect "$1" >/dev/null 2>&1; }

# up_to_date IMAGE: whether it is there, with the jars that are wanted now.
up_to_date() { [[ $(docker image inspect --format '{{index .Config.Labels "jars"}}' "$1" 2>/dev/null) == "$(jars_wanted)" ]]; }

build_base() {
  if has_image "$base"; then
    return
  fi
  local root
  root=$(mktemp -d "$REBALANCE_CHECK_CACHE/debian.XXXXXX")
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf --one-file-system '$root'" EXIT
  say "Image $base: Debian $DEBIAN_SUITE with a Java runtime"
  # ca-certificates-java wants a mounted /proc while it is configured; debootstrap mounts and unmounts it.
  if ! debootstrap --variant=minbase --include=openjdk-17-jre-headless "$DEBIAN_SUITE" "$root" "$DEBIAN_MIRROR" \
    >"$REBALANCE_CHECK_CACHE/debootstrap.log" 2>&1; then
    tail -n 20 "$REBALANCE_CHECK_CACHE/debootstrap.log" >&2
    return 1
  fi
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}
  tar --directory "$root" --one-file-system --create . | docker import --change 'ENV LANG=C.UTF-8' - "$base" >/dev/null
}

build() {
  local release=$1
  if up_to_date "$KAFKA_IMAGE:$release"; then
    echo "Image $KAFKA_IMAGE:$release: built"
    return
  fi
  "$CI_DIR/jars.sh" "$release"
  build_base
  say "Image $KAFKA_IMAGE:$release"
  # The classic builder: BuildKit is a plugin of its own, and would ask a registry for the base image.
  DOCKER_BUILDKIT=0 docker build --quiet --build-arg "BASE=$base" --label "jars=$(jars_wanted)" \
    --file "$CI_DIR/kafka/Dockerfile" \
    --tag "$KAFKA_IMAGE:$release" "$(jars_of "$release")"
}

# shellcheck disable=SC2086 # a list of words
for release in ${*:-$KAFKA_VERSIONS}; do
  build "$release"
done
