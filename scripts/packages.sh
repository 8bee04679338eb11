# shellcheck shell=bash disable=SC2034,SC2191
# The Debian 12 packages the project needs. `package=command`: any `command` on the PATH will do.

build_packages=(
  # tools
  g++=g++-12
  cmake
  ninja-build
  ccache
  pkg-config=pkg-config
  # libraries
  libboost1.81-dev
  libc-ares-dev
  libcli11-dev
  libcpp-httplib-dev
  libfmt-dev
  libmaxminddb-dev
  libre2-dev
  libspdlog-dev
  libsqlite3-dev
  libssl-dev
  libxxhash-dev
  libyaml-cpp-dev
  nettle-dev
  nlohmann-json3-dev
  prometheus-cpp-dev
  zlib1g-dev
)

test_packages=(
  libgtest-dev
  libgmock-dev
  # the sanitizer build, readable stacks, and the checks
  clang-14
  libclang-rt-14-dev
  llvm-14=llvm-symbolizer-14
  clang-tidy-14
  clang-format-14
  shellcheck=shellcheck
  python3
  # what the end-to-end tests run beside ringside
  curl=curl
  groff-base=groff
  iproute2=ip
  kubernetes-client=kubectl
  mmdebstrap=mmdebstrap
  mount=mount
  netcat-openbsd=nc
  nginx-light=nginx
  nodejs=node
  npm=npm
  openssl=openssl
  procps=ps
  prometheus=promtool
  valgrind=valgrind
  wrk=wrk
)

# What bench/run needs beside build_packages: the load, the peers, the plot, the counts of system calls,
# and what the micro-benchmarks link.
bench_packages=(
  haproxy=haproxy
  libbenchmark-dev
  linux-perf=perf
  nginx-light=nginx
  python3
  python3-matplotlib
  varnish=varnishd
  wrk=wrk
)

# What tests/kubernetes/cluster needs beside test_packages and image_packages: to build Kubernetes
# from Debian's sources, and to run it.
kubernetes_packages=(
  conntrack=conntrack
  containerd=containerd
  containernetworking-plugins
  debian-archive-keyring
  dpkg-dev=dpkg-source
  etcd-server=etcd
  gcc=gcc
  golang-go=go
  iproute2=ip
  iptables=iptables
  libc6-dev
  make=make
  rsync=rsync
  runc=runc
)

# Only where the country database has yet to be fetched.
fetch_packages=(
  ca-certificates
  npm=npm
)

# What scripts/image needs beside build_packages.
image_packages=(
  buildah=buildah
  ca-certificates
)

# What scripts/package needs beside build_packages.
package_packages=(
  dpkg-dev=dpkg-shlibdeps
  file=file
  python3
)

# Packages that bring a daemon. We want their programs, never a running service.
daemons=(nginx haproxy varnish prometheus containerd etcd)
