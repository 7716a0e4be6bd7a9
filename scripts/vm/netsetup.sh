#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# netsetup.sh KIND [NETEM...]   runs in the guest before the command; leaves the rxe devices active.
# The kinds are described in vmrun. Addresses: 192.0.2.1 on the first device, 192.0.2.2 on the second.
set -eu
PATH=$PATH:/usr/sbin:/sbin
kind=$1
shift

address() { # DEVICE N
    ip addr add "192.0.2.$2/24" dev "$1"
    ip link set "$1" up
}
ethernet() { # the one virtio network card
    for d in /sys/class/net/e*; do echo "${d##*/}"; done
}
rxe() { # LINK DEVICE
    rdma link add "$1" type rxe netdev "$2"
}

# Two devices on one machine that really talk over the wire between them: the kernel would take a short cut,
# since each address is local, so what leaves through one end is routed by a table that knows nothing local.
wire() {
    mac0=52:54:00:00:01:01 mac1=52:54:00:00:01:02
    ip link add v0 address $mac0 type veth peer name v1 address $mac1
    address v0 1
    address v1 2
    for d in v0 v1; do
        echo 1 >/proc/sys/net/ipv4/conf/$d/accept_local
        echo 0 >/proc/sys/net/ipv4/conf/$d/rp_filter
    done
    echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
    ip route add table 100 192.0.2.2 dev v0 src 192.0.2.1
    ip route add table 101 192.0.2.1 dev v1 src 192.0.2.2
    ip rule add pref 10 oif v0 lookup 100
    ip rule add pref 11 oif v1 lookup 101
    ip rule add pref 20 lookup local
    ip rule del pref 0
    # Fixed neighbours, so that a lossy wire loses no address resolution.
    ip neigh replace 192.0.2.2 lladdr $mac1 dev v0 nud permanent
    ip neigh replace 192.0.2.1 lladdr $mac0 dev v1 nud permanent
    ip neigh replace fe80::5054:ff:fe00:102 lladdr $mac1 dev v0 nud permanent
    ip neigh replace fe80::5054:ff:fe00:101 lladdr $mac0 dev v1 nud permanent
}

# The GID table is filled by a kernel worker, some time after `rdma link add` has returned.
await_gids() {
    for port in /sys/class/infiniband/*/ports/1; do
        n=0
        until grep -q '^0000:0000:0000:0000:0000:ffff:' "$port/gids/1" && grep -q ACTIVE "$port/state"; do
            n=$((n + 1))
            [ $n -lt 100 ] || {
                echo "$port: state $(cat "$port/state"), GID 1 $(cat "$port/gids/1"): no IPv4 GID or not active after 10 s"
                exit 1
            }
            sleep 0.1
        done
    done
}

echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad # an address is usable at once
ip link set lo up
case $kind in
none | bare) exit 0 ;;
lo) rxe rxe0 lo ;;
dummy)
    ip link add d0 type dummy
    address d0 1
    rxe rxe0 d0
    ;;
veth2)
    wire
    rxe rxe0 v0
    rxe rxe1 v1
    ;;
nic | socket:a:*)
    address "$(ethernet)" 1
    rxe rxe0 "$(ethernet)"
    ;;
socket:b:*)
    address "$(ethernet)" 2
    rxe rxe0 "$(ethernet)"
    ;;
esac
await_gids
if [ $# -gt 0 ]; then
    for d in v0 v1; do tc qdisc add dev $d root netem "$@"; done
fi
