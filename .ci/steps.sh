# What run and nightly share; source it after settings.sh. Every step is timed, and the summary is printed at the end,
# also after a failure or an interrupt, when what was started here is ended.

cd "$ROOT"

work=$(mktemp -d "$REBALANCE_CHECK_CACHE/run.XXXXXX")
summary=()
started=$SECONDS

finish() {
  local code=$?
  trap - EXIT INT TERM
  "$CI_DIR/docker.sh" stop || true
  rm -rf "$work"
  printf '\n'
  if ((${#summary[@]})); then
    printf '%s\n' "${summary[@]}"
  fi
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# step NAME COMMAND...: runs it, keeps what it prints, and notes its time and the closing line of pytest, if it has one.
step() {
  local name=$1 begin=$SECONDS log=$work/step.log
  shift
  say "$name"
  if ! "$@" 2>&1 | tee "$log"; then
    summary+=("FAILED  $name ($((SECONDS - begin)) s)")
    return 1
  fi
  summary+=("ok      $name ($((SECONDS - begin)) s) $(pytest_line "$log")")
}

# The last line such as "21 passed in 3.2s" of a log, without colours and rules; nothing when there is none.
pytest_line() {
  sed 's/\x1b\[[0-9;]*m//g' "$1" | grep -Eo '[0-9]+ (passed|failed|error)[^=]*' | tail -n 1 || true
}

# with_jars FOLDER COMMAND...: runs it with the setting that says where Kafka's jars are.
with_jars() { REBALANCE_CHECK_KAFKA_JARS=$1 "${@:2}"; }

# on_kafka RELEASE OPTION...: the suites on that release in containers, with options for pytest. Three files of tests
# at a time, each with a broker of its own: all mostly wait for sessions to end.
on_kafka() {
  REBALANCE_CHECK_KAFKA_IMAGE=$KAFKA_IMAGE:$1 with_jars "$REBALANCE_CHECK_CACHE/kafka" \
    python -m tox -e brokers -- testcontainers --numprocesses 3 --dist loadfile "${@:2}"
}

# our_containers: the containers of the suites, a line each, running or not.
our_containers() { docker ps --all --quiet --filter label=io.github.rebalance-check | sort; }

# none_left BEFORE: fails when there are containers of the suites that were not there before.
none_left() {
  local left
  left=$(comm -13 <(printf '%s\n' "$1") <(our_containers))
  if [[ -n $left ]]; then
    echo "containers are left behind: $left" >&2
    return 1
  fi
}
