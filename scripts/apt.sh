# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Packages that are only unpacked, never installed; sourced by the scripts that fetch some. `work` is the caller's folder for
# scratch, on the cache's file system.
# shellcheck disable=SC2154

scratch() { mktemp -d "$work/XXXXXX"; } # so that mv is a rename

# apt with lists of our own: needs no root, and leaves the machine's alone.
private_apt() { # NAME SOURCES-FILE|"" PROGRAM ARG...
    local dir=$work/apt/$1 sources=$2 program=$3
    shift 3
    mkdir -p "$dir/lists/partial" "$dir/archives/partial"
    : >>"$dir/status"
    local opts=(-o "Dir::State=$dir" -o "Dir::State::status=$dir/status" -o "Dir::Cache=$dir"
        -o Acquire::Retries=2 -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false)
    [[ -z $sources ]] || opts+=(-o "Dir::Etc::sourcelist=$sources" -o "Dir::Etc::sourceparts=/nonexistent")
    ((EUID)) || opts+=(-o APT::Sandbox::User=root) # the cache may be closed to apt's own user
    "$program" "${opts[@]}" "$@"
}
machine_apt() { # PROGRAM ARG...: apt with the machine's lists
    local program=$1
    shift
    "$program" -o Acquire::Retries=2 -o APT::Sandbox::User=root "$@"
}
own_lists_apt() { private_apt machine "" "$@"; } # the machine's sources, lists of our own

debian_mirrors() { # APT-FUNCTION: where this machine takes Debian from
    # shellcheck disable=SC2016  # the dollars are apt-get's
    "$1" apt-get indextargets --format '$(REPO_URI)|$(ORIGIN)|$(LABEL)' 'Created-By: Packages' |
        sed -n 's/|Debian|Debian$//p' | sort -u
}
download_debian() { # SUITE FOLDER PACKAGE...: the packages of another Debian release, into the folder; tries each mirror
    local suite=$1 folder=$2 key=/usr/share/keyrings/debian-archive-keyring.gpg sources=$2/$1.sources uri mirrors
    shift 2
    mirrors=$(debian_mirrors machine_apt)
    if [[ -z $mirrors ]]; then
        own_lists_apt apt-get -qq update >&2 || true
        mirrors=$(debian_mirrors own_lists_apt)
    fi
    [[ ! -e $key ]] || key="Signed-By: $key"
    for uri in $mirrors; do
        printf '%s\n' "Types: deb" "URIs: $uri" "Suites: $suite" "Components: main" >"$sources"
        [[ $key != Signed-By* ]] || echo "$key" >>"$sources"
        private_apt "$suite" "$sources" apt-get -qq update >&2 || continue
        (cd "$folder" && private_apt "$suite" "$sources" apt-get -qq download "$@" >&2) && return 0
    done
    return 1
}

unpack_kernel() { # DEB FOLDER: a kernel package, less the drivers that a VM has no use for
    mkdir -p "$2"
    dpkg --fsys-tarfile "$1" | tar -x -C "$2" --wildcards --exclude='*/share/doc' --exclude='*/System.map-*' \
        --exclude='*/kernel/sound' --exclude='*/kernel/drivers/net/'{ethernet,wireless} \
        --exclude='*/kernel/drivers/'{gpu,hid,hwmon,iio,media,mfd,mtd,scsi,staging,usb,video}
}
