#!/usr/bin/env bash
# Makes a Docker daemon available: docker.sh start | stop. It stops only a daemon that it started itself.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

state=$REBALANCE_CHECK_CACHE/docker
pid_file=$state/dockerd.pid
log=$state/dockerd.log

answers() { docker info >/dev/null 2>&1; }

# await SECONDS: until the daemon answers; fails when it died or the time is over.
await() {
  local deadline=$((SECONDS + $1))
  until answers; do
    kill -0 "$(cat "$pid_file")" 2>/dev/null || return 1
    ((SECONDS < deadline)) || return 1
    sleep 0.5
  done
}

stop() {
  [[ -e $pid_file ]] || return 0
  local pid
  pid=$(cat "$pid_file")
  if [[ $(ps -o comm= -p "$pid" 2>/dev/null) == dockerd ]]; then
    kill "$pid"
    for _ in $(seq 60); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.5
    done
  fi
  rm -f "$pid_file"
}

# start_with ARGUMENTS: dockerd in a session of its own, so that an interrupt of the job does not reach it first.
start_with() {
  setsid dockerd "$@" >"$log" 2>&1 </dev/null &
  echo $! >"$pid_file"
  await 60
}

start() {
  if answers; then
    echo "Docker: a daemon answers"
    return
  fi
  say "Docker: starting the daemon"
  mkdir -p "$state"
  # The default driver is overlay2; inside an overlay file system it cannot work, vfs always does.
  start_with || { stop; start_with --storage-driver vfs; } || {
    tail -n 20 "$log" >&2
    echo "docker.sh: the daemon did not start; its log is $log" >&2
    return 1
  }
  docker info --format 'Docker {{.ServerVersion}}, {{.Driver}}'
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  *)
    echo "usage: docker.sh start | stop" >&2
    exit 2
    ;;
esac
