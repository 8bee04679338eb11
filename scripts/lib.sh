# shellcheck shell=bash
# What the scripts share: words to the user, steps with their times, children that never outlive us.
# Sourced by bash scripts, never run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# What is fetched or worked out once and kept between runs.
# shellcheck disable=SC2034 # read by the scripts that source this
cache=${RINGSIDE_CACHE:-${XDG_CACHE_HOME:-${HOME:-$root}/.cache}/ringside}
# shellcheck disable=SC2034
jobs=${RINGSIDE_JOBS:-$(nproc)}

say() { printf '%s\n' "$*"; }
warn() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() {
  warn "$@"
  exit 1
}
# A command line that makes no sense: exit code 2.
wrong_usage() {
  warn "$1; see $0 --help"
  exit 2
}
# The comment at the top of a script is its help.
help() { sed -n '2,/^[^#]/{/^# shellcheck /d;s/^# \{0,1\}//p}' "$0"; }

# duration SECONDS: `42s`, `3m07s`.
duration() {
  if (($1 < 60)); then printf '%ds' "$1"; else printf '%dm%02ds' $(($1 / 60)) $(($1 % 60)); fi
}

# step TITLE COMMAND…: runs it under a title and tells how long it took. The command should be a
# program or `run program`: `set -e` does not hold within a function whose status is looked at.
step() {
  local title=$1 status=0 start=$SECONDS
  shift
  say "== $title"
  "$@" || status=$?
  if ((status == 0)); then
    say "   $title: $(duration $((SECONDS - start)))"
  else
    say "   $title: FAILED after $(duration $((SECONDS - start)))"
  fi
  return "$status"
}

# retry TIMES COMMAND…: again after 2, 4, 8 … seconds, for what a flaky network breaks.
retry() {
  local times=$1 pause=${RINGSIDE_RETRY_PAUSE:-2} attempt
  shift
  for ((attempt = 1; ; ++attempt)); do
    "$@" && return 0
    ((attempt < times)) || return 1
    warn "failed, attempt $attempt of $times: $*"
    sleep "$pause"
    pause=$((pause * 2))
  done
}

# as_root COMMAND…, after can_be_root.
can_be_root() { ((EUID == 0)) || command -v sudo >/dev/null; }
as_root() { if ((EUID == 0)); then "$@"; else sudo -- "$@"; fi; }

# run COMMAND…: in a process group of its own, so that all it started ends with us, whatever ends us.
# `$!` is the child from its start on: a signal that comes before the next command finds it there.
running=no
job_before=
run() {
  local status=0
  job_before=${!-}
  running=yes
  set -m
  "$@" </dev/null &
  set +m
  wait "$!" || status=$?
  running=no
  return "$status"
}

# Ends the group `run` started: politely, then not.
stop_child() {
  local child=${!-}
  [[ $running == yes && $child != "$job_before" ]] || return 0
  kill -TERM -- "-$child" 2>/dev/null || return 0
  local wait_left=50
  while kill -0 -- "-$child" 2>/dev/null; do
    if ((wait_left-- == 0)); then
      kill -KILL -- "-$child" 2>/dev/null || true
      return 0
    fi
    sleep 0.1
  done
}

# at_exit COMMAND…: done at the end of the script, last come first served, on Ctrl-C too.
exit_commands=()
at_exit() { exit_commands=("$(printf '%q ' "$@")" "${exit_commands[@]}"); }
leave() {
  local status=$? command
  trap '' INT TERM HUP
  stop_child
  for command in "${exit_commands[@]}"; do eval "$command" || true; done
  exit "$status"
}
trap leave EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Objects are found again by ccache from any clone of the project. What an object depends on is taken
# from the compiler's own list: else each one that is missing costs a run of the preprocessor more.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
