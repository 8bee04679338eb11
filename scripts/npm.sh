# shellcheck shell=bash
# How a pinned file comes out of an npm package: fetch-countries and fetch-charts. Sourced behind
# lib.sh by a script that has read its pin (package, version, tarball_sha256) and set `remedy`.

# is_file_with SHA256 FILE
is_file_with() { [[ -f $2 ]] && echo "$1  $2" | sha256sum --check --status; }

# In the folder $1, which is empty: the tarball, as tarball.tgz.
download() (
  # shellcheck disable=SC2154 # of the pin
  cd "$1" && rm -f -- *.tgz &&
    timeout 600 npm pack --loglevel=error --ignore-scripts --fetch-retries=3 "$package@$version" >/dev/null &&
    mv -- *.tgz tarball.tgz
)

# unpack FILE…: fetches the package and takes these files out of it; `$fresh/package` is then where
# they are, until the script ends.
unpack() {
  # shellcheck disable=SC2154 # set by who sources this
  command -v npm >/dev/null || die "there is no npm on the PATH. $remedy"
  say "fetching $package@$version"
  # shellcheck disable=SC2154 # of lib.sh
  fresh=$(mktemp -d "$cache/fetch.XXXXXX")
  at_exit rm -rf "$fresh"
  retry 3 download "$fresh" || die "could not be fetched. $remedy"
  # shellcheck disable=SC2154 # of the pin
  is_file_with "$tarball_sha256" "$fresh/tarball.tgz" ||
    die "what came is cut short or not what $pin names (sha256). $remedy"
  tar -xzf "$fresh/tarball.tgz" -C "$fresh" "${@/#/package/}"
}

# copy FILE TARGET: whole or not at all.
copy() {
  cmp --silent "$1" "$2" && return 0
  cp -- "$1" "$2.new"
  mv -- "$2.new" "$2"
}
