#!/bin/sh
# Installs binnacle: finds the release for this machine, compares it with its checksum, tries it, and puts it in place in one step.
# Nothing is left behind when any of that fails.
#
#   sh install.sh [--version VERSION] [--dir DIR] [--releases ADDRESS]
#
#   --version VERSION     $BINNACLE_VERSION, else the latest release
#   --dir DIR             $BINNACLE_INSTALL_DIR, else /usr/local/bin for root and ~/.local/bin for others
#   --releases ADDRESS    $BINNACLE_RELEASES, else the one that this script was published with: a web address or a folder
set -eu

# Where the releases are; `scripts/release.ts` fills it in.
RELEASES=""

work=""
# The outermost folder that was made for --dir.
made=""

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

usage() {
  echo "install.sh: $*" >&2
  echo "usage: install.sh [--version VERSION] [--dir DIR] [--releases ADDRESS]" >&2
  exit 2
}

clean_up() {
  if [ -n "$work" ]; then rm -rf "$work"; fi
  # Folders that were made for it and are empty, which those of an installation are not.
  empty=$dir
  while [ -n "$made" ]; do
    rmdir "$empty" 2>/dev/null || true
    if [ "$empty" = "$made" ]; then break; fi
    empty=${empty%/*}
  done
}

# Prints the beginning of what others have written, without what a terminal would act on.
shown() {
  printf '%s' "$1" | LC_ALL=C sed 's/[^[:print:]]//g' | cut -c 1-80
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# Prints the name of the target, such as linux-x64-musl.
target() {
  os=$(uname -s)
  cpu=$(uname -m)
  case "$os" in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    MINGW* | MSYS* | CYGWIN*) fail "This is Windows: take the .zip for windows-x64 or windows-arm64, or the package of npm" ;;
    *) fail "Nothing is built for $os" ;;
  esac
  case "$cpu" in
    x86_64 | amd64) cpu=x64 ;;
    aarch64 | arm64) cpu=arm64 ;;
    *) fail "Nothing is built for the processor $cpu" ;;
  esac
  # A shell that is translated by Rosetta says the processor that it is translated for.
  if [ "$os-$cpu" = darwin-x64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then cpu=arm64; fi
  libc=""
  if [ "$os" = linux ] && is_musl; then libc=-musl; fi
  echo "$os-$cpu$libc"
}

# Whether the C library is musl. Either one may have the loader of the other beside it: Debian has a package of musl, and libc6-compat
# of Alpine puts the loader of glibc in its place. `ldd` is that of the machine's own library.
is_musl() {
  if has ldd; then
    case "$(ldd --version 2>&1 || true)" in
      *musl*) return 0 ;;
      *GLIBC* | *"GNU libc"*) return 1 ;;
    esac
  fi
  for loader in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do
    if [ -e "$loader" ]; then return 1; fi
  done
  for loader in /lib/ld-musl-*.so.1; do
    if [ -e "$loader" ]; then return 0; fi
  done
  return 1
}

# fetch WHERE FILE KIB: copies or downloads a file. A secure address may lead to secure ones only, a server that stalls is given up, and so is
# a file that is larger: whoever writes on is ended by the system, which counts blocks of 512 bytes, or in some shells of 1024.
fetch() (
  ulimit -f $(($3 * 2)) 2>/dev/null || true # where less is allowed already
  case "$1" in
    http://* | https://*)
      if has curl; then
        case "$1" in
          https://*) onward="=https" ;;
          *) onward="=http,https" ;;
        esac
        curl --fail --silent --show-error --location --proto-redir "$onward" --retry 2 --connect-timeout 15 \
          --speed-limit 1 --speed-time 60 --output "$2" "$1"
      elif has wget; then
        fetch_with_wget "$1" "$2"
      else
        fail "Cannot download: there is neither curl nor wget"
      fi
      ;;
    *) cp "$1" "$2" ;;
  esac
)

# Not every wget can be told where an address may lead, but all of them can tell.
fetch_with_wget() {
  case "$1" in
    http://*) wget -q -T 15 -O "$2" "$1" ;;
    *)
      wget -q -S -T 15 -O "$2" "$1" 2>"$2.headers" || return 1
      if [ -n "$(sed -n '/^ *[Ll][Oo][Cc][Aa][Tt][Ii][Oo][Nn]: *[Hh][Tt][Tt][Pp]:/p' "$2.headers")" ]; then
        fail "Cannot download: $(printf '%s' "$1" | sed 's|^\([a-z]*://\).*@|\1|') leads to an address that is not secure"
      fi
      ;;
  esac
}

checksum() {
  if has sha256sum; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif has shasum; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  elif has openssl; then
    openssl dgst -sha256 "$1" | sed 's/.* //'
  else
    fail "Cannot check what was downloaded: there is none of sha256sum, shasum and openssl"
  fi
}

main() {
  version=${BINNACLE_VERSION:-}
  dir=${BINNACLE_INSTALL_DIR:-}
  releases=${BINNACLE_RELEASES:-$RELEASES}
  while [ $# -gt 0 ]; do
    case "$1" in
      --version=*) version=${1#*=} ;;
      --dir=*) dir=${1#*=} ;;
      --releases=*) releases=${1#*=} ;;
      --version | --dir | --releases)
        if [ $# -lt 2 ] || [ -z "$2" ]; then usage "$1 needs a value"; fi
        case "$1" in
          --version) version=$2 ;;
          --dir) dir=$2 ;;
          --releases) releases=$2 ;;
        esac
        shift
        ;;
      *) usage "There is no option '$1'" ;;
    esac
    shift
  done
  releases=${releases%/}
  # What messages say: an address may hold a password.
  place=$(printf '%s' "$releases" | sed 's|^\([a-z]*://\).*@|\1|')
  if [ -z "$releases" ]; then usage "Say where the releases are, with --releases or BINNACLE_RELEASES"; fi
  if [ -z "$dir" ]; then
    if [ "$(id -u)" = 0 ]; then
      dir=/usr/local/bin
    else
      dir=${HOME:?There is no HOME: say where to install with --dir}/.local/bin
    fi
  fi
  target=$(target)
  while [ "$dir" != / ] && [ "$dir" != "${dir%/}" ]; do dir=${dir%/}; done
  above=$dir
  while [ -n "$above" ] && [ ! -e "$above" ]; do
    made=$above
    case "$above" in
      */*) above=${above%/*} ;;
      *) break ;;
    esac
  done
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  mkdir -p "$dir" || fail "Cannot install into $dir: say another folder with --dir"
  if [ -d "$dir/binnacle" ]; then fail "Cannot install $dir/binnacle: there is a folder of that name; say another one with --dir"; fi
  # Beside the place where it goes, so that it is put there in one step.
  work=$(mktemp -d "$dir/.binnacle-XXXXXX") || fail "Cannot install into $dir: you may not write there; say another folder with --dir"
  if [ -z "$version" ]; then
    fetch "$releases/latest" "$work/latest" 64 || fail "Cannot learn the latest version: $place/latest cannot be had"
    version=$(head -n 1 "$work/latest")
  fi
  version=${version#v}
  case "$version" in
    "" | *[!0-9A-Za-z.+-]*) fail "Cannot install the version '$(shown "$version")': expected one such as 1.2.3" ;;
  esac
  name=binnacle-$version-$target
  fetch "$releases/v$version/SHA256SUMS" "$work/SHA256SUMS" 1024 \
    || fail "Cannot install binnacle $version: $place/v$version/SHA256SUMS cannot be had"
  wanted=$(sed -n "s|^\([0-9a-f]\{64\}\)  $name.tar.gz\$|\1|p" "$work/SHA256SUMS")
  if [ -z "$wanted" ]; then fail "Cannot install binnacle $version: nothing was released for $target"; fi
  fetch "$releases/v$version/$name.tar.gz" "$work/archive" 2097152 \
    || fail "Cannot install binnacle $version: $place/v$version/$name.tar.gz cannot be had"
  found=$(checksum "$work/archive")
  if [ "$found" != "$wanted" ]; then
    fail "Cannot install binnacle $version: $name.tar.gz has the checksum $found, and SHA256SUMS says $wanted"
  fi
  gzip -dc "$work/archive" >"$work/archive.tar" || fail "Cannot unpack $name.tar.gz: is there room in $dir?"
  (cd "$work" && tar -xf archive.tar "$name/binnacle") || fail "Cannot unpack $name.tar.gz: is there room in $dir?"
  status=0
  "$work/$name/binnacle" version >"$work/said" 2>&1 || status=$?
  if [ "$status" != 0 ]; then
    reason=$(head -n 1 "$work/said")
    hint=""
    # An illegal instruction, of which some shells say nothing.
    if [ "$status" = 132 ] || [ -z "$reason" ]; then hint="; the processor or the system may be too old"; fi
    fail "Cannot install binnacle $version: it does not run here: ${reason:-it ended with status $status and said nothing}$hint"
  fi
  mv -f "$work/$name/binnacle" "$dir/binnacle" || fail "Cannot put binnacle into $dir"
  echo "$dir/binnacle: $(head -n 1 "$work/said")"
  case ":$PATH:" in
    *":$dir:"*) ;;
    *) echo "$dir is not in your PATH: add it, or run $dir/binnacle" ;;
  esac
}

# Called last, so that a script that was cut off on its way does nothing.
main "$@"
