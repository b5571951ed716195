#!/usr/bin/env bash
# Fetches the jars of each Kafka release from Maven Central into the cache: jars.sh [RELEASE...]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

# Releases up to 3 log through log4j 1 (reload4j), later ones through log4j 2.
binding_of() { if [[ $1 == 3.* ]]; then echo reload4j; else echo log4j2; fi; }

fetch() {
  local release=$1 target
  target=$(jars_of "$release")
  if [[ -e $target/.complete && $(<"$target/.complete") == "$(jars_wanted)" ]]; then
    echo "Kafka $release: jars in $target"
    return
  fi
  say "Kafka $release: fetching the jars"
  rm -rf "$target"
  mvn --batch-mode --quiet --file "$CI_DIR/kafka/pom.xml" "-Dkafka.version=$release" "-P$(binding_of "$release")" \
    dependency:copy-dependencies "-DoutputDirectory=$target" -DincludeScope=runtime
  jars_wanted >"$target/.complete"
}

# shellcheck disable=SC2086 # a list of words
for release in ${*:-$KAFKA_VERSIONS}; do
  fetch "$release"
done
