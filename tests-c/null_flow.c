/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Flow steering and counters: what reaches the provider, byte by byte, what its refusals mean, and who keeps whom alive. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include "null_flow.h"

static struct rig g;

static void begin(void)
{
    null_begin();
    memset(&steering, 0, sizeof(steering));
    steering.value = 1000;
    g = rig_open();
    steer(g.ibv_context);
}

static void end(void)
{
    rig_close(&g);
    MUST(!steering.flows && !steering.counters, "%d rules and %d counters are left", steering.flows, steering.counters);
    null_clean();
}

static vbn_live_info live_now(void)
{
    NEW(vbn_live_info, live);

    OK(vbn_context_live(g.context, &live));
    return live;
}

static vbn_flow *flow_of(const vbn_flow_spec *specs, size_t count)
{
    vbn_flow *flow;

    OK(vbn_flow_create(g.qp, NULL, specs, count, &flow));
    return flow;
}

static vbn_counters *counters_new(void)
{
    vbn_counters *counters;

    OK(vbn_counters_create(g.context, NULL, &counters));
    return counters;
}

/* All fields of all headers, each byte another one. */
static vbn_flow_fields fields(unsigned seed)
{
    vbn_flow_fields f;
    unsigned char *bytes = (void *)&f;

    for (size_t i = 0; i < sizeof(f); i++)
        bytes[i] = (unsigned char)(seed + i);
    f.flow_label &= 0xfffff;
    f.tunnel_id &= 0xffffff;
    return f;
}

/* Of these, those that a spec of this type has. */
static vbn_flow_fields only(int32_t type, vbn_flow_fields all)
{
    vbn_flow_fields f;

    memset(&f, 0, sizeof(f));
    switch (type & ~VBN_FLOW_SPEC_INNER) {
    case VBN_FLOW_SPEC_ETH:
        memcpy(f.dst_mac, all.dst_mac, 6);
        memcpy(f.src_mac, all.src_mac, 6);
        f.ether_type = all.ether_type;
        f.vlan_tag = all.vlan_tag;
        break;
    case VBN_FLOW_SPEC_IPV4_EXT:
        f.protocol = all.protocol, f.tos = all.tos, f.ttl = all.ttl, f.ip_flags = all.ip_flags;
        /* fallthrough */
    case VBN_FLOW_SPEC_IPV4:
        memcpy(f.src_ip, all.src_ip, 4);
        memcpy(f.dst_ip, all.dst_ip, 4);
        break;
    case VBN_FLOW_SPEC_IPV6:
        memcpy(f.src_ip, all.src_ip, 16);
        memcpy(f.dst_ip, all.dst_ip, 16);
        f.flow_label = all.flow_label, f.protocol = all.protocol, f.tos = all.tos, f.ttl = all.ttl;
        break;
    case VBN_FLOW_SPEC_ESP: f.esp_spi = all.esp_spi, f.esp_seq = all.esp_seq; break;
    case VBN_FLOW_SPEC_TCP:
    case VBN_FLOW_SPEC_UDP: f.src_port = all.src_port, f.dst_port = all.dst_port; break;
    case VBN_FLOW_SPEC_VXLAN: f.tunnel_id = all.tunnel_id; break;
    case VBN_FLOW_SPEC_GRE: f.gre_flags = all.gre_flags, f.gre_protocol = all.gre_protocol, f.gre_key = all.gre_key; break;
    case VBN_FLOW_SPEC_MPLS: f.mpls_label = all.mpls_label; break;
    default: break;
    }
    return f;
}

static vbn_flow_spec spec_of(int32_t type)
{
    vbn_flow_spec spec;

    memset(&spec, 0, sizeof(spec));
    spec.type = type;
    spec.value = only(type, fields(1));
    spec.mask = only(type, fields(0x81));
    return spec;
}

/* ---- What arrives ---- */

#define HEADER(type, name) {VBN_FLOW_SPEC_##type, sizeof(struct ibv_flow_spec_##name), offsetof(struct ibv_flow_spec_##name, val), offsetof(struct ibv_flow_spec_##name, mask)}

/* Those that can be inside a tunnel first. */
static const struct header {
    int32_t type;
    size_t size, value, mask;
} headers[] = {
    HEADER(ETH, eth), HEADER(IPV4, ipv4), HEADER(IPV4_EXT, ipv4_ext), HEADER(IPV6, ipv6), HEADER(ESP, esp),
    HEADER(TCP, tcp_udp), HEADER(UDP, tcp_udp), HEADER(MPLS, mpls), HEADER(VXLAN, tunnel), HEADER(GRE, gre),
};
enum { CAN_BE_INNER = 8 };

static void header_is(const char *what, const void *got, vbn_flow_fields f, int32_t type)
{
    switch (type & ~VBN_FLOW_SPEC_INNER) {
    case VBN_FLOW_SPEC_ETH: {
        struct ibv_flow_eth_filter want = {.ether_type = htons(f.ether_type), .vlan_tag = htons(f.vlan_tag)};
        memcpy(want.dst_mac, f.dst_mac, 6);
        memcpy(want.src_mac, f.src_mac, 6);
        CHECK_MEM(got, &want, sizeof(want));
        break;
    }
    case VBN_FLOW_SPEC_IPV4: {
        struct ibv_flow_ipv4_filter want;
        memcpy(&want.src_ip, f.src_ip, 4);
        memcpy(&want.dst_ip, f.dst_ip, 4);
        CHECK_MEM(got, &want, sizeof(want));
        break;
    }
    case VBN_FLOW_SPEC_IPV4_EXT: {
        struct ibv_flow_ipv4_ext_filter want = {.proto = f.protocol, .tos = f.tos, .ttl = f.ttl, .flags = f.ip_flags};
        memcpy(&want.src_ip, f.src_ip, 4);
        memcpy(&want.dst_ip, f.dst_ip, 4);
        CHECK_MEM(got, &want, sizeof(want));
        break;
    }
    case VBN_FLOW_SPEC_IPV6: {
        struct ibv_flow_ipv6_filter want = {.flow_label = htonl(f.flow_label), .next_hdr = f.protocol, .traffic_class = f.tos, .hop_limit = f.ttl};
        memcpy(want.src_ip, f.src_ip, 16);
        memcpy(want.dst_ip, f.dst_ip, 16);
        /* A byte of padding is behind hop_limit. */
        CHECK_MEM(got, &want, offsetof(struct ibv_flow_ipv6_filter, hop_limit) + 1);
        break;
    }
    case VBN_FLOW_SPEC_ESP: {
        struct ibv_flow_esp_filter want = {.spi = htonl(f.esp_spi), .seq = htonl(f.esp_seq)};
        CHECK_MEM(got, &want, sizeof(want));
        break;
    }
    case VBN_FLOW_SPEC_TCP:
    case VBN_FLOW_SPEC_UDP: {
        struct ibv_flow_tcp_udp_filter want = {.dst_port = htons(f.dst_port), .src_port = htons(f.src_port)};
        CHECK_MEM(got, &want, sizeof(want));
        break;
    }
    case VBN_FLOW_SPEC_VXLAN: {
        struct ibv_flow_tunnel_filter want = {.tunnel_id = htonl(f.tunnel_id)};
        CHECK_MEM(got, &want, sizeof(want));
        break;
    }
    case VBN_FLOW_SPEC_GRE: {
        struct ibv_flow_gre_filter want = {.c_ks_res0_ver = htons(f.gre_flags), .protocol = htons(f.gre_protocol), .key = htonl(f.gre_key)};
        CHECK_MEM(got, &want, sizeof(want));
        break;
    }
    case VBN_FLOW_SPEC_MPLS: {
        struct ibv_flow_mpls_filter want = {.label = htonl(f.mpls_label)};
        CHECK_MEM(got, &want, sizeof(want));
        break;
    }
    default: MUST(0, "%s of 0x%x", what, type);
    }
}

static struct ibv_flow_attr told(void)
{
    struct ibv_flow_attr attr;

    memcpy(&attr, steering.rule, sizeof(attr));
    return attr;
}

/* The spec at `at` of the rule that was told last. Returns where the next one is. */
static size_t spec_is(size_t at, uint32_t type, size_t size)
{
    uint32_t type_told;
    uint16_t size_told;

    memcpy(&type_told, steering.rule + at, 4);
    memcpy(&size_told, steering.rule + at + 4, 2);
    MUST(type_told == type && size_told == size, "at %zu: type 0x%x, not 0x%x; size %u, not %zu", at, type_told, type, size_told, size);
    return at + size;
}

static void every_header(void)
{
    begin();
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
        for (int inner = 0; inner <= (i < CAN_BE_INNER); inner++) {
            const struct header *h = &headers[i];
            int32_t type = h->type | (inner ? VBN_FLOW_SPEC_INNER : 0);
            vbn_flow_spec spec = spec_of(type);
            vbn_flow *flow = flow_of(&spec, 1);

            MUST(told().num_of_specs == 1 && told().size == sizeof(struct ibv_flow_attr) + h->size, "size %u", told().size);
            spec_is(sizeof(struct ibv_flow_attr), (uint32_t)type, h->size);
            header_is("value", steering.rule + sizeof(struct ibv_flow_attr) + h->value, spec.value, type);
            header_is("mask", steering.rule + sizeof(struct ibv_flow_attr) + h->mask, spec.mask, type);
            OK(vbn_flow_close(&flow));
        }
    end();
}

/* Every other header's fields are refused in each. */
static void foreign_fields(void)
{
    vbn_flow *flow;

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
        for (size_t byte = 0; byte < sizeof(vbn_flow_fields); byte++)
            for (int mask = 0; mask < 2; mask++) {
                vbn_flow_spec specs[2] = {spec_of(VBN_FLOW_SPEC_ETH), spec_of(headers[i].type)};
                unsigned char *bytes = (void *)(mask ? &specs[1].mask : &specs[1].value);
                vbn_flow_fields ones, own;

                memset(&ones, 0xff, sizeof(ones));
                own = only(headers[i].type, ones);
                if (((unsigned char *)&own)[byte])
                    continue;
                bytes[byte] |= 1;
                WANT(vbn_flow_create(g.qp, NULL, specs, 2, &flow), VBN_ERR_ARGUMENT);
                MUST(!flow && last()->index == 1, "index %llu", (unsigned long long)last()->index);
            }
    end();
}

static void actions(void)
{
    vbn_flow_attr attr = {.struct_size = sizeof(attr), .type = VBN_FLOW_SNIFFER, .flags = VBN_FLOW_DONT_TRAP | VBN_FLOW_EGRESS, .priority = 0x1234, .port_num = 1};
    vbn_counters *counters;
    struct ibv_counters *native, *counted;
    vbn_flow *flow;
    size_t at;

    begin();
    counters = counters_new();
    OK(vbn_counters_native(counters, &native));
    vbn_flow_spec specs[] = {spec_of(VBN_FLOW_SPEC_ETH), {.type = VBN_FLOW_SPEC_ACTION_TAG, .tag = 0x12345678}, {.type = VBN_FLOW_SPEC_ACTION_DROP},
        {.type = VBN_FLOW_SPEC_ACTION_COUNT, .counters = counters}};
    OK(vbn_flow_create(g.qp, &attr, specs, 4, &flow));
    MUST(steering.qp == g.ibv_qp, "the queue pair");
    MUST(!told().comp_mask && told().type == IBV_FLOW_ATTR_SNIFFER && told().flags == 6 && told().priority == 0x1234 && told().port == 1 && told().num_of_specs == 4, "head");
    at = spec_is(sizeof(struct ibv_flow_attr), IBV_FLOW_SPEC_ETH, sizeof(struct ibv_flow_spec_eth));
    MUST(!memcmp(steering.rule + at + offsetof(struct ibv_flow_spec_action_tag, tag_id), &specs[1].tag, 4), "tag");
    at = spec_is(at, IBV_FLOW_SPEC_ACTION_TAG, sizeof(struct ibv_flow_spec_action_tag));
    at = spec_is(at, IBV_FLOW_SPEC_ACTION_DROP, sizeof(struct ibv_flow_spec_action_drop));
    memcpy(&counted, steering.rule + at + offsetof(struct ibv_flow_spec_counter_action, counters), sizeof(counted));
    MUST(counted == native, "counters");
    at = spec_is(at, IBV_FLOW_SPEC_ACTION_COUNT, sizeof(struct ibv_flow_spec_counter_action));
    MUST(told().size == at, "size %u", told().size);
    OK(vbn_flow_close(&flow));
    /* All defaults: no spec, port 1. */
    OK(vbn_flow_create(g.qp, NULL, NULL, 0, &flow));
    MUST(!told().type && !told().flags && !told().priority && told().port == 1 && !told().num_of_specs && told().size == sizeof(struct ibv_flow_attr), "defaults");
    OK(vbn_flow_close(&flow));
    OK(vbn_counters_close(&counters));
    end();
}

/* A pointer in a spec is aligned, wherever the spec lies. */
static void pointers_are_aligned(void)
{
    vbn_counters *counters;

    begin();
    counters = counters_new();
    for (size_t before = 0; before < 8; before++) {
        vbn_flow_spec specs[8];
        vbn_flow *flow;
        size_t at = sizeof(struct ibv_flow_attr);

        for (size_t i = 0; i < before; i++)
            specs[i] = i & 1 ? spec_of(VBN_FLOW_SPEC_TCP) : (vbn_flow_spec){.type = VBN_FLOW_SPEC_ACTION_TAG, .tag = 7};
        specs[before] = (vbn_flow_spec){.type = VBN_FLOW_SPEC_ACTION_COUNT, .counters = counters};
        flow = flow_of(specs, before + 1);
        for (size_t i = 0; i < before; i++)
            at = i & 1 ? spec_is(at, IBV_FLOW_SPEC_TCP, sizeof(struct ibv_flow_spec_tcp_udp)) : spec_is(at, IBV_FLOW_SPEC_ACTION_TAG, sizeof(struct ibv_flow_spec_action_tag));
        spec_is(at, IBV_FLOW_SPEC_ACTION_COUNT, sizeof(struct ibv_flow_spec_counter_action));
        MUST(((uintptr_t)steering.at + at) % sizeof(void *) == 0, "%zu specs before: %p + %zu", before, steering.at, at);
        MUST((uintptr_t)steering.at % _Alignof(struct ibv_flow_attr) == 0, "the head at %p", steering.at);
        OK(vbn_flow_close(&flow));
    }
    OK(vbn_counters_close(&counters));
    end();
}

/* ---- What is refused ---- */

static void limits(void)
{
    vbn_flow_attr attr = {.struct_size = sizeof(attr), .port_num = 2};
    vbn_flow_spec specs[VBN_FLOW_MAX_SPECS + 1];
    vbn_flow *flow;
    size_t at = sizeof(struct ibv_flow_attr);

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
        specs[i] = spec_of(VBN_FLOW_SPEC_IPV6);
    flow = flow_of(specs, VBN_FLOW_MAX_SPECS);
    for (size_t i = 0; i < VBN_FLOW_MAX_SPECS; i++)
        at = spec_is(at, IBV_FLOW_SPEC_IPV6, sizeof(struct ibv_flow_spec_ipv6));
    MUST(told().size == at && told().num_of_specs == VBN_FLOW_MAX_SPECS, "size %u", told().size);
    OK(vbn_flow_close(&flow));
    WANT(vbn_flow_create(g.qp, NULL, specs, VBN_FLOW_MAX_SPECS + 1, &flow), VBN_ERR_LIMIT);
    WANT_NUMBERS(VBN_FLOW_MAX_SPECS + 1, VBN_FLOW_MAX_SPECS);
    WANT(vbn_flow_create(g.qp, &attr, specs, 1, &flow), VBN_ERR_LIMIT);
    WANT_NUMBERS(2, 1);
    specs[0].value.flow_label = 1 << 20;
    WANT(vbn_flow_create(g.qp, NULL, specs, 1, &flow), VBN_ERR_LIMIT);
    WANT_TEXT("flow_label");
    specs[0] = spec_of(VBN_FLOW_SPEC_VXLAN);
    specs[0].mask.tunnel_id = UINT32_MAX;
    WANT(vbn_flow_create(g.qp, NULL, specs, 1, &flow), VBN_ERR_LIMIT);
    WANT_TEXT("tunnel_id");
    end();
}

static void refusals_are_explained(void)
{
    static const struct {
        int err;
        vbn_status status;
        const char *text;
    } refusals[] = {
        {EOPNOTSUPP, VBN_ERR_NOT_SUPPORTED, "steers no flows"}, {EPERM, VBN_ERR_DRIVER, "CAP_NET_RAW"}, {EINVAL, VBN_ERR_DRIVER, "raw packet"},
        {ENOMEM, VBN_ERR_NO_MEMORY, "ibv_create_flow"}, {ENODEV, VBN_ERR_DEVICE_GONE, "ibv_create_flow"},
    };
    vbn_flow_spec spec = spec_of(VBN_FLOW_SPEC_ETH);
    vbn_counters *counters;
    vbn_flow *flow;
    uint64_t value;

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
        steering.create = refusals[i].err;
        WANT(vbn_flow_create(g.qp, NULL, &spec, 1, &flow), refusals[i].status);
        WANT_ERRNO(refusals[i].err);
        WANT_TEXT(refusals[i].text);
        MUST(!flow, "*out");
    }
    flow = flow_of(&spec, 1);
    steering.destroy = EBUSY;
    WANT(vbn_flow_close(&flow), VBN_ERR_BUSY);
    MUST(flow, "a refused close ended the handle");
    OK(vbn_flow_close(&flow));
    steering.set = EOPNOTSUPP;
    WANT(vbn_counters_create(g.context, NULL, &counters), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("counters");
    MUST(!counters, "*out");
    counters = counters_new();
    steering.unset = EBUSY;
    WANT(vbn_counters_close(&counters), VBN_ERR_BUSY);
    steering.read = EINVAL;
    WANT(vbn_counters_read(counters, &value, 1, 0), VBN_ERR_DRIVER);
    WANT_TEXT("highest index");
    steering.attach = ENOTSUP;
    WANT(vbn_counters_attach(counters, NULL, VBN_COUNTER_BYTES, 0), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("doesn't count");
    steering.attach = EBUSY;
    WANT(vbn_counters_attach(counters, NULL, VBN_COUNTER_BYTES, 0), VBN_ERR_BUSY);
    WANT_TEXT("before the first");
    OK(vbn_counters_close(&counters));
    end();
}

/* A table without the operations, as soft-RoCE's and EFA's. */
static void nothing_there(void)
{
    struct verbs_context *table;
    vbn_flow_spec spec = spec_of(VBN_FLOW_SPEC_ETH);
    vbn_counters *counters;
    vbn_flow *flow;
    uint64_t value;

    begin();
    table = verbs_get_ctx(g.ibv_context);
    flow = flow_of(&spec, 1);
    counters = counters_new();
    table->attach_counters_point_flow = NULL;
    WANT(vbn_counters_attach(counters, flow, VBN_COUNTER_BYTES, 0), VBN_ERR_NOT_SUPPORTED);
    WANT(vbn_counters_attach(counters, NULL, VBN_COUNTER_BYTES, 0), VBN_ERR_NOT_SUPPORTED);
    table->read_counters = NULL;
    WANT(vbn_counters_read(counters, &value, 1, 0), VBN_ERR_NOT_SUPPORTED);
    table->ibv_destroy_flow = NULL;
    WANT(vbn_flow_close(&flow), VBN_ERR_NOT_SUPPORTED);
    table->destroy_counters = NULL;
    WANT(vbn_counters_close(&counters), VBN_ERR_NOT_SUPPORTED);
    steer(g.ibv_context);
    OK(vbn_flow_close(&flow));
    OK(vbn_counters_close(&counters));
    table->ibv_create_flow = NULL;
    WANT(vbn_flow_create(g.qp, NULL, &spec, 1, &flow), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("steers no flows");
    table->create_counters = NULL;
    WANT(vbn_counters_create(g.context, NULL, &counters), VBN_ERR_NOT_SUPPORTED);
    end();
}

/* ---- Counting ---- */

static void counting(void)
{
    vbn_flow_spec spec = spec_of(VBN_FLOW_SPEC_UDP);
    vbn_counters *counters;
    struct ibv_flow *native;
    vbn_flow *flow;
    uint64_t values[4] = {7, 7, 7, 7};

    begin();
    counters = counters_new();
    OK(vbn_counters_attach(counters, NULL, VBN_COUNTER_PACKETS, 0));
    MUST(steering.attached.counter_desc == IBV_COUNTER_PACKETS && !steering.attached.index && !steering.attached.comp_mask && !steering.attached_to, "attached");
    OK(vbn_counters_attach(counters, NULL, VBN_COUNTER_BYTES, 3));
    MUST(steering.attached.counter_desc == IBV_COUNTER_BYTES && steering.attached.index == 3 && !steering.attached_to, "attached");
    flow = flow_of(&spec, 1);
    OK(vbn_flow_native(flow, &native));
    OK(vbn_counters_attach(counters, flow, VBN_COUNTER_BYTES, 1));
    MUST(steering.attached.index == 1 && steering.attached_to == native, "attached to the rule");
    OK(vbn_counters_read(counters, values, 3, 0));
    MUST(values[0] == 1000 && values[1] == 1001 && values[2] == 1002 && values[3] == 7 && !steering.flags, "values");
    OK(vbn_counters_read(counters, values, 4, VBN_COUNTERS_PREFER_CACHED));
    MUST(values[3] == 1003 && steering.flags == IBV_READ_COUNTERS_ATTR_PREFER_CACHED, "flags %u", steering.flags);
    OK(vbn_flow_close(&flow));
    OK(vbn_counters_close(&counters));
    end();
}

/* ---- Who keeps whom alive ---- */

static void counters_outlive_their_rules(void)
{
    vbn_flow_spec specs[2];
    vbn_counters *counters, *other;
    struct ibv_counters *native;
    vbn_flow *one, *two;

    begin();
    counters = counters_new();
    other = counters_new();
    memset(specs, 0, sizeof(specs));
    specs[0] = (vbn_flow_spec){.type = VBN_FLOW_SPEC_ACTION_COUNT, .counters = counters};
    specs[1] = (vbn_flow_spec){.type = VBN_FLOW_SPEC_ACTION_COUNT, .counters = other};
    one = flow_of(specs, 2);
    two = flow_of(NULL, 0);
    /* Attached twice, kept once; and what failed isn't kept. */
    OK(vbn_counters_attach(counters, two, VBN_COUNTER_BYTES, 0));
    OK(vbn_counters_attach(counters, two, VBN_COUNTER_PACKETS, 1));
    steering.attach = ENOTSUP;
    WANT(vbn_counters_attach(other, two, VBN_COUNTER_BYTES, 0), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("ACTION_COUNT");
    MUST(live_now().flow_open == 2 && live_now().counters_open == 2, "open");
    WANT(vbn_counters_release(&counters, &native), VBN_ERR_BUSY);
    OK(vbn_counters_close(&counters));
    OK(vbn_counters_close(&other));
    MUST(steering.counters == 2 && live_now().counters_closed == 2 && !live_now().counters_open, "closed %u", live_now().counters_closed);
    OK(vbn_flow_close(&one));
    MUST(steering.counters == 1 && live_now().counters_closed == 1, "the first rule's counters");
    /* Deferred and refused: tried again. */
    steering.unset = EBUSY;
    OK(vbn_flow_close(&two));
    MUST(steering.counters <= 1, "%d counters", steering.counters);
    counters = counters_new();
    OK(vbn_counters_close(&counters));
    MUST(!steering.counters && !live_now().counters_refused && !live_now().counters_closed && !live_now().flow_open, "the refused ones");
    end();
}

/* A queue pair with rules stays; everything else may be closed before them. */
static void rules_first(void)
{
    vbn_flow_spec spec = spec_of(VBN_FLOW_SPEC_ETH);
    vbn_qp_init_attr attr = {.struct_size = sizeof(attr), .send_cq = NULL};
    vbn_adopt_attr borrow = {.struct_size = sizeof(borrow)};
    vbn_qp *qp, *same;
    struct ibv_qp *native;
    vbn_flow *flow;

    begin();
    attr.send_cq = g.cq;
    OK(vbn_qp_create(g.pd, &attr, &qp));
    OK(vbn_flow_create(qp, NULL, &spec, 1, &flow));
    WANT(vbn_qp_close(&qp), VBN_ERR_BUSY);
    WANT_TEXT("vbn_flow_close");
    MUST(qp && vbn_qp_num(qp), "a refused close ended the handle");
    /* A handle that only borrows it may go. */
    OK(vbn_qp_native(qp, &native));
    OK(vbn_qp_adopt(g.pd, native, &borrow, &same));
    OK(vbn_qp_close(&same));
    OK(vbn_flow_close(&flow));
    OK(vbn_qp_close(&qp));
    /* The context waits for its rule. */
    vbn_context *context;
    vbn_pd *pd;
    vbn_cq *cq;
    OK(vbn_context_open("null1", NULL, &context));
    struct ibv_context *raw;
    OK(vbn_context_native(context, &raw));
    steer(raw);
    OK(vbn_pd_alloc(context, NULL, &pd));
    vbn_cq_attr cq_attr = {.struct_size = sizeof(cq_attr), .cqe = 8};
    OK(vbn_cq_create(context, &cq_attr, &cq));
    attr.send_cq = cq;
    OK(vbn_qp_create(pd, &attr, &qp));
    OK(vbn_flow_create(qp, NULL, &spec, 1, &flow));
    OK(vbn_context_close(&context));
    OK(vbn_pd_close(&pd));
    OK(vbn_cq_close(&cq));
    OK(vbn_flow_close(&flow));
    OK(vbn_qp_close(&qp));
    end();
}

/* What rules are mostly for: a raw packet queue pair of raw verbs. It sends and receives whole packets, and nothing else. */
static void raw_packets(void)
{
    vbn_adopt_attr own = {.struct_size = sizeof(own), .ownership = VBN_ADOPT_OWN};
    struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RAW_PACKET, .send_cq = NULL, .cap = {4, 4, 2, 2, 0}};
    vbn_qp_attr init_attr = {.struct_size = sizeof(init_attr), .set = VBN_QP_STATE | VBN_QP_PORT, .qp_state = VBN_QPS_INIT, .port_num = 1};
    vbn_qp_attr to = {.struct_size = sizeof(to), .set = VBN_QP_STATE, .qp_state = VBN_QPS_RTR};
    vbn_flow_spec spec = spec_of(VBN_FLOW_SPEC_ETH);
    struct ibv_qp *(*create)(struct ibv_pd *, struct ibv_qp_init_attr *);
    void *library = dlopen(getenv("VBN_IBVERBS_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    NEW(vbn_qp_info, info);
    struct nullv_wr posted;
    struct ibv_qp *native;
    vbn_mw_bind_attr bind = {.struct_size = sizeof(bind)};
    vbn_mw *mw;
    vbn_flow *flow;
    uint32_t n;
    vbn_qp *qp;

    *(void **)&create = dlsym(library, "ibv_create_qp");
    begin();
    null.set_walk(1);
    init.send_cq = init.recv_cq = g.ibv_cq;
    native = create(g.ibv_pd, &init);
    MUST(native, "ibv_create_qp");
    OK(vbn_qp_adopt(g.pd, native, &own, &qp));
    OK(vbn_qp_query(qp, &info));
    MUST(info.qp_type == VBN_QPT_RAW_PACKET && info.send_ops == VBN_QP_OP_SEND, "type %d, operations 0x%llx", info.qp_type, (unsigned long long)info.send_ops);
    WANT(vbn_qp_to_init(qp, NULL), VBN_ERR_ARGUMENT);
    OK(vbn_qp_modify(qp, &init_attr));
    OK(vbn_qp_modify(qp, &to));
    to.qp_state = VBN_QPS_RTS;
    OK(vbn_qp_modify(qp, &to));
    OK(vbn_flow_create(qp, NULL, &spec, 1, &flow));
    MUST(steering.qp == native, "the rule's queue pair");
    vbn_send_wr wr = {.wr_id = 5, .opcode = VBN_WR_SEND, .num_sge = 1, .sge = {(uintptr_t)rig_memory, 64, vbn_mr_lkey(g.mr)}};
    vbn_recv_wr recv = {.wr_id = 6, .num_sge = 1, .sge = {(uintptr_t)rig_memory, 64, vbn_mr_lkey(g.mr)}};
    OK(vbn_qp_post_send(qp, &wr, 1, &n));
    MUST(!null.posted(0, &posted) && posted.wr_id == 5 && posted.opcode == IBV_WR_SEND && posted.bytes == 64, "the packet");
    OK(vbn_qp_post_recv(qp, &recv, 1, &n));
    wr.opcode = VBN_WR_RDMA_WRITE;
    WANT(vbn_qp_post_send(qp, &wr, 1, &n), VBN_ERR_NOT_SUPPORTED);
    wr.opcode = VBN_WR_SEND_WITH_IMM;
    WANT(vbn_qp_post_send(qp, &wr, 1, &n), VBN_ERR_NOT_SUPPORTED);
    OK(vbn_mw_alloc(g.pd, VBN_MW_TYPE_1, NULL, &mw));
    bind.mr = g.mr;
    WANT(vbn_mw_bind(qp, mw, &bind, NULL), VBN_ERR_ARGUMENT);
    WANT_TEXT("RC queue pairs");
    OK(vbn_mw_close(&mw));
    WANT(vbn_qp_close(&qp), VBN_ERR_BUSY);
    OK(vbn_flow_close(&flow));
    OK(vbn_qp_close(&qp));
    end();
}

static void given_away(void)
{
    vbn_flow_spec spec = spec_of(VBN_FLOW_SPEC_ETH);
    struct ibv_counters *raw_counters, *lent_counters;
    struct ibv_flow *raw, *lent;
    vbn_counters *counters;
    vbn_flow *flow;

    begin();
    flow = flow_of(&spec, 1);
    OK(vbn_flow_native(flow, &lent));
    OK(vbn_flow_release(&flow, &raw));
    MUST(!flow && raw == lent && raw->context == g.ibv_context && steering.flows == 1, "the rule");
    counters = counters_new();
    OK(vbn_counters_native(counters, &lent_counters));
    OK(vbn_counters_release(&counters, &raw_counters));
    MUST(!counters && raw_counters == lent_counters && steering.counters == 1, "the counters");
    MUST(!live_now().flow_open && !live_now().counters_open, "handles are left");
    MUST(!fake_destroy_flow(raw) && !fake_destroy_counters(raw_counters), "destroyed by hand");
    end();
}

static int by_hand;

static int destroy_rule(void *flow, void *arg)
{
    MUST(arg == &g, "destroy_arg");
    by_hand++;
    return fake_destroy_flow(flow);
}

static int destroy_set(void *counters, void *arg)
{
    MUST(arg == &g, "destroy_arg");
    by_hand++;
    return fake_destroy_counters(counters);
}

/* Rules and counters of raw verbs: borrowed, owned, with a destroy function; and what they then keep, or not. */
static void taken_in(void)
{
    vbn_adopt_attr own = {.struct_size = sizeof(own), .ownership = VBN_ADOPT_OWN};
    vbn_adopt_attr custom = {.struct_size = sizeof(custom), .ownership = VBN_ADOPT_CUSTOM, .destroy_arg = &g};
    vbn_flow_spec spec = spec_of(VBN_FLOW_SPEC_ETH), count = {.type = VBN_FLOW_SPEC_ACTION_COUNT};
    struct ibv_counters *set, *lent_set;
    struct ibv_flow *rule, *lent;
    struct {
        struct ibv_flow_attr attr;
    } raw = {.attr = {.size = sizeof(raw), .port = 1}};
    struct ibv_context *native;
    vbn_counters *counters, *other;
    vbn_context *context;
    vbn_flow *flow, *same;
    struct ibv_qp *qp;
    vbn_qp *mine;
    uint64_t value;

    begin();
    vbn_qp_init_attr init = {.struct_size = sizeof(init), .send_cq = g.cq};
    OK(vbn_qp_create(g.pd, &init, &mine));
    OK(vbn_qp_native(mine, &qp));
    /* Borrowed: the rule stays, the queue pair waits for the handle. */
    rule = fake_create_flow(qp, &raw.attr);
    OK(vbn_flow_adopt(mine, rule, NULL, &flow));
    OK(vbn_flow_native(flow, &lent));
    MUST(lent == rule && live_now().flow_open == 1, "the rule");
    WANT(vbn_qp_close(&mine), VBN_ERR_BUSY);
    OK(vbn_flow_close(&flow));
    MUST(steering.flows == 1, "a borrowed rule was destroyed");
    /* Owned: once, and destroyed by libibverbs. */
    OK(vbn_flow_adopt(mine, rule, &own, &flow));
    WANT(vbn_flow_adopt(mine, rule, &own, &same), VBN_ERR_ARGUMENT);
    WANT_TEXT("already has a handle");
    MUST(!same, "out");
    OK(vbn_flow_adopt(mine, rule, NULL, &same));
    OK(vbn_flow_close(&same));
    /* A refused destroy keeps the handle. */
    steering.destroy = EBUSY;
    WANT(vbn_flow_close(&flow), VBN_ERR_BUSY);
    MUST(flow && steering.flows == 1, "a refused close ended the handle");
    OK(vbn_flow_close(&flow));
    MUST(!steering.flows, "an owned rule is left");
    /* Released, and back with a destroy function. */
    OK(vbn_flow_create(mine, NULL, &spec, 1, &flow));
    OK(vbn_flow_release(&flow, &rule));
    custom.destroy = destroy_rule;
    by_hand = 0;
    OK(vbn_flow_adopt(mine, rule, &custom, &flow));
    OK(vbn_flow_close(&flow));
    MUST(by_hand == 1 && !steering.flows, "destroyed %d times", by_hand);
    OK(vbn_qp_close(&mine));

    set = fake_create_counters(g.ibv_context, &(struct ibv_counters_init_attr){0});
    OK(vbn_counters_adopt(g.context, set, NULL, &counters));
    OK(vbn_counters_native(counters, &lent_set));
    MUST(lent_set == set && live_now().counters_open == 1, "the counters");
    OK(vbn_counters_attach(counters, NULL, VBN_COUNTER_BYTES, 3));
    OK(vbn_counters_read(counters, &value, 1, 0));
    MUST(value == 1000, "value %llu", (unsigned long long)value);
    OK(vbn_counters_close(&counters));
    MUST(steering.counters == 1, "borrowed counters were destroyed");
    /* A rule made here keeps owned ones. */
    OK(vbn_counters_adopt(g.context, set, &own, &counters));
    WANT(vbn_counters_adopt(g.context, set, &own, &other), VBN_ERR_ARGUMENT);
    count.counters = counters;
    flow = flow_of(&count, 1);
    OK(vbn_counters_close(&counters));
    MUST(steering.counters == 1 && live_now().counters_closed == 1, "the rule's counters");
    OK(vbn_flow_close(&flow));
    MUST(!steering.counters, "owned counters are left");
    counters = counters_new();
    OK(vbn_counters_release(&counters, &set));
    custom.destroy = destroy_set;
    by_hand = 0;
    OK(vbn_counters_adopt(g.context, set, &custom, &counters));
    OK(vbn_counters_close(&counters));
    MUST(by_hand == 1 && !steering.counters, "destroyed %d times", by_hand);

    /* Of another context. */
    OK(vbn_context_open("null1", NULL, &context));
    OK(vbn_context_native(context, &native));
    steer(native);
    set = fake_create_counters(native, &(struct ibv_counters_init_attr){0});
    WANT(vbn_counters_adopt(g.context, set, NULL, &other), VBN_ERR_ARGUMENT);
    WANT_TEXT("another ibv_context");
    MUST(!fake_destroy_counters(set), "destroyed by hand");
    OK(vbn_qp_native(g.qp, &qp));
    rule = fake_create_flow(qp, &raw.attr);
    rule->context = native;
    WANT(vbn_flow_adopt(g.qp, rule, NULL, &same), VBN_ERR_ARGUMENT);
    WANT_TEXT("another ibv_context");
    MUST(!fake_destroy_flow(rule), "destroyed by hand");
    OK(vbn_context_close(&context));
    end();
}

/* A device that has been removed: all handles say so, and closes end. */
static void gone(void)
{
    vbn_counters *counters;
    vbn_flow *flow;
    NEW(vbn_async_event, event);
    uint64_t value;

    begin();
    counters = counters_new();
    vbn_flow_spec spec = {.type = VBN_FLOW_SPEC_ACTION_COUNT, .counters = counters};
    flow = flow_of(&spec, 1);
    MUST(!null.push_async_event(IBV_EVENT_DEVICE_FATAL, g.ibv_context), "push");
    OK(vbn_context_get_async_event(g.context, 0, &event));
    WANT(vbn_counters_read(counters, &value, 1, 0), VBN_ERR_DEVICE_GONE);
    WANT(vbn_counters_attach(counters, flow, VBN_COUNTER_BYTES, 0), VBN_ERR_DEVICE_GONE);
    steering.destroy = steering.unset = -1;
    OK(vbn_counters_close(&counters));
    OK(vbn_flow_close(&flow));
    MUST(!live_now().counters_closed && !live_now().counters_refused && !live_now().flow_open, "left");
    steering.flows = steering.counters = 0;
    end();
}

static const struct test tests[] = {
    {"every_header", every_header},
    {"foreign_fields", foreign_fields},
    {"actions", actions},
    {"pointers_are_aligned", pointers_are_aligned},
    {"limits", limits},
    {"refusals_are_explained", refusals_are_explained},
    {"nothing_there", nothing_there},
    {"counting", counting},
    {"counters_outlive_their_rules", counters_outlive_their_rules},
    {"rules_first", rules_first},
    {"raw_packets", raw_packets},
    {"given_away", given_away},
    {"taken_in", taken_in},
    {"gone", gone},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_flow", tests, argc, argv);
}
