# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck disable=SC2034  # used by those that source this
# What the shell scripts here share; sourced by them, not run.

# Everything fetched or made by these scripts lives here, outside the work tree.
home=~ # $HOME, or what the password file says
CACHE=${VERBENA_CACHE:-${XDG_CACHE_HOME:-$home/.cache}/verbena}

CBINDGEN_VERSION=0.29.4 # the header is compared byte for byte, so the tool is pinned

say() { echo "${0##*/}: $*"; }
die() {
    echo "${0##*/}: $*" >&2
    exit 1
}
