# Settings that the scripts of this folder share; source it. Every value can be set from outside.

: "${KAFKA_VERSIONS:=3.9.2 4.3.1}"                # Kafka releases of the broker suites
: "${KAFKA_IMAGE:=rebalance-check/kafka}"         # name of the image built here, tagged with the release
: "${REBALANCE_CHECK_CACHE:=${XDG_CACHE_HOME:-$HOME/.cache}/rebalance-check}"
: "${DEBIAN_MIRROR:=http://deb.debian.org/debian}"
: "${DEBIAN_SUITE:=bookworm}"
: "${DEBIAN_CHECKS:=trixie:main}"                 # README commands in a Debian of their own (debian.sh) at night, as
                                                  # SUITE:COMMAND; all: bookworm:main bookworm:tests trixie:main trixie:tests

TOOLCHAINS=$REBALANCE_CHECK_CACHE/toolchains/bin # Go and Node, where the present ones are too old (toolchains.sh)
CI_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(dirname "$CI_DIR")
export KAFKA_VERSIONS KAFKA_IMAGE REBALANCE_CHECK_CACHE DEBIAN_MIRROR DEBIAN_SUITE DEBIAN_CHECKS
mkdir -p "$REBALANCE_CHECK_CACHE"

say() { printf '\n== %s\n' "$*"; }

# jars_of RELEASE: the folder that holds the jars of that Kafka release.
jars_of() { printf '%s/kafka/%s' "$REBALANCE_CHECK_CACHE" "$1"; }

# jars_wanted: what changes when other jars are wanted.
jars_wanted() { sha256sum <"$CI_DIR/kafka/pom.xml" | cut --characters=-16; }
