/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every field of a device, a port and a queue pair is the one that libibverbs tells. */
#include <dlfcn.h>
#include <endian.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "common.h"

static vbn_context *context;
static struct ibv_context *raw;

static void open_both(void) {
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_context_native(context, &raw));
}

#define SAME(field) CHECK_EQ(ours.field, theirs.orig_attr.field)

static void device(void) {
    open_both();
    vbn_device_attr ours;
    memset(&ours, 0xff, sizeof ours);
    ours.struct_size = sizeof ours;
    struct ibv_device_attr_ex theirs;
    memset(&theirs, 0, sizeof theirs);
    CHECK_OK(vbn_context_query_device(context, &ours));
    CHECK_EQ(ibv_query_device_ex(raw, NULL, &theirs), 0);
    CHECK_STR(ours.fw_ver, theirs.orig_attr.fw_ver);
    CHECK_UEQ(ours.node_guid, be64toh(theirs.orig_attr.node_guid));
    CHECK_UEQ(ours.sys_image_guid, be64toh(theirs.orig_attr.sys_image_guid));
    SAME(max_mr_size);
    SAME(page_size_cap);
    SAME(vendor_id);
    SAME(vendor_part_id);
    SAME(hw_ver);
    SAME(max_qp);
    SAME(max_qp_wr);
    CHECK_UEQ(ours.device_cap_flags, theirs.orig_attr.device_cap_flags);
    SAME(max_sge);
    SAME(max_sge_rd);
    SAME(max_cq);
    SAME(max_cqe);
    SAME(max_mr);
    SAME(max_pd);
    SAME(max_qp_rd_atom);
    SAME(max_ee_rd_atom);
    SAME(max_res_rd_atom);
    SAME(max_qp_init_rd_atom);
    SAME(max_ee_init_rd_atom);
    SAME(atomic_cap);
    SAME(max_ee);
    SAME(max_rdd);
    SAME(max_mw);
    SAME(max_raw_ipv6_qp);
    SAME(max_raw_ethy_qp);
    SAME(max_mcast_grp);
    SAME(max_mcast_qp_attach);
    SAME(max_total_mcast_qp_attach);
    SAME(max_ah);
    SAME(max_fmr);
    SAME(max_map_per_fmr);
    SAME(max_srq);
    SAME(max_srq_wr);
    SAME(max_srq_sge);
    SAME(max_pkeys);
    SAME(local_ca_ack_delay);
    SAME(phys_port_cnt);
    CHECK_UEQ(ours.odp_general_caps, theirs.odp_caps.general_caps);
    CHECK_UEQ(ours.odp_rc_caps, theirs.odp_caps.per_transport_caps.rc_odp_caps);
    CHECK_UEQ(ours.completion_timestamp_mask, theirs.completion_timestamp_mask);
    CHECK_UEQ(ours.hca_core_clock, theirs.hca_core_clock);
    CHECK_UEQ(ours.device_cap_flags_ex, theirs.device_cap_flags_ex);
    CHECK_UEQ(ours.tso_max, theirs.tso_caps.max_tso);
    CHECK_UEQ(ours.rss_supported_qpts, theirs.rss_caps.supported_qpts);
    CHECK_UEQ(ours.max_wq_type_rq, theirs.max_wq_type_rq);
    CHECK_UEQ(ours.rate_limit_max, theirs.packet_pacing_caps.qp_rate_limit_max);
    CHECK_UEQ(ours.raw_packet_caps, theirs.raw_packet_caps);
    CHECK_UEQ(ours.tm_max_num_tags, theirs.tm_caps.max_num_tags);
    CHECK_UEQ(ours.cq_moderation_max_count, theirs.cq_mod_caps.max_cq_count);
    CHECK_UEQ(ours.max_dm_size, theirs.max_dm_size);
    CHECK_UEQ(ours.pci_atomic_swap, theirs.pci_atomic_caps.swap);
    CHECK_UEQ(ours.phys_port_cnt_ex, theirs.phys_port_cnt_ex ? theirs.phys_port_cnt_ex : theirs.orig_attr.phys_port_cnt);
    CHECK_OK(vbn_context_close(&context));
}

#undef SAME
#define SAME(field) CHECK_EQ(ours.field, theirs.field)

static void port(void) {
    open_both();
    vbn_port_attr ours;
    memset(&ours, 0xff, sizeof ours);
    ours.struct_size = sizeof ours;
    struct ibv_port_attr theirs;
    memset(&theirs, 0, sizeof theirs);
    CHECK_OK(vbn_context_query_port(context, 1, &ours));
    CHECK_EQ(ibv_query_port(raw, 1, &theirs), 0);
    SAME(state);
    SAME(max_mtu);
    SAME(active_mtu);
    SAME(gid_tbl_len);
    SAME(port_cap_flags);
    SAME(max_msg_sz);
    SAME(bad_pkey_cntr);
    SAME(qkey_viol_cntr);
    SAME(pkey_tbl_len);
    SAME(lid);
    SAME(sm_lid);
    SAME(lmc);
    SAME(max_vl_num);
    SAME(sm_sl);
    SAME(subnet_timeout);
    SAME(init_type_reply);
    SAME(active_width);
    SAME(active_speed);
    SAME(phys_state);
    SAME(link_layer);
    SAME(flags);

    /* The speed by its own call, of rdma-core 62 and newer, which not every driver answers. */
    int (*query_speed)(struct ibv_context *, uint32_t, uint64_t *) = NULL;
    uint64_t speed = 0;
    *(void **)&query_speed = dlsym(RTLD_DEFAULT, "ibv_query_port_speed");
    int told = query_speed && query_speed(raw, 1, &speed) == 0;
    CHECK_EQ((ours.valid & VBN_PORT_VALID_SPEED) != 0, told);
    CHECK_UEQ(ours.speed_100mbps, told ? speed : 0);
    CHECK_EQ((ours.valid & VBN_PORT_VALID_SPEED_EX) != 0, ours.active_speed_ex != 0);
    CHECK(strcmp(vbn_port_speed_name(ours.active_speed), vbn_port_speed_name(UINT32_MAX)) != 0);
    test_note("speed %s, %llu x 100 Mb/s, ex %u", vbn_port_speed_name(ours.active_speed), (unsigned long long)ours.speed_100mbps, ours.active_speed_ex);
    CHECK_OK(vbn_context_close(&context));
}

static void gid_entries(void) {
    static struct ibv_gid_entry theirs[64];
    static vbn_gid_entry ours[64];
    open_both();
    ssize_t expected = ibv_query_gid_table(raw, theirs, 64, 0);
    uint32_t count = 0;
    CHECK(expected > 0);
    CHECK_OK(vbn_context_gid_table(context, ours, sizeof ours[0], 64, &count));
    CHECK_EQ(count, expected);
    for (uint32_t i = 0; i < count; i++) {
        CHECK_MEM(ours[i].gid, theirs[i].gid.raw, 16);
        CHECK_UEQ(ours[i].index, theirs[i].gid_index);
        CHECK_UEQ(ours[i].port_num, theirs[i].port_num);
        CHECK_EQ(ours[i].type, theirs[i].gid_type);
        CHECK_UEQ(ours[i].ifindex, theirs[i].ndev_ifindex);
    }
    CHECK_OK(vbn_context_close(&context));
}

static void pkeys(void) {
    open_both();
    __be16 theirs;
    uint16_t ours;
    CHECK_EQ(ibv_query_pkey(raw, 1, 0, &theirs), 0);
    CHECK_OK(vbn_context_query_pkey(context, 1, 0, &ours));
    CHECK_UEQ(ours, be16toh(theirs));
    CHECK_OK(vbn_context_close(&context));
}

static void queue_pair(void) {
    static struct pair p;
    pair_open_connected(&p, NULL);
    struct ibv_qp *native;
    struct ibv_qp_attr theirs;
    struct ibv_qp_init_attr init;
    CHECK_OK(vbn_qp_native(p.a.qp, &native));
    CHECK_EQ(ibv_query_qp(native, &theirs, (1 << 21) - 1, &init), 0);
    vbn_qp_info ours = qp_info(p.a.qp);
    SAME(qp_state);
    SAME(path_mtu);
    SAME(path_mig_state);
    SAME(rq_psn);
    SAME(sq_psn);
    SAME(dest_qp_num);
    SAME(pkey_index);
    SAME(max_rd_atomic);
    SAME(max_dest_rd_atomic);
    SAME(min_rnr_timer);
    SAME(port_num);
    SAME(timeout);
    SAME(retry_cnt);
    SAME(rnr_retry);
    CHECK_UEQ(ours.qp_access_flags, theirs.qp_access_flags);
    CHECK_UEQ(ours.max_send_wr, theirs.cap.max_send_wr);
    CHECK_UEQ(ours.max_recv_wr, theirs.cap.max_recv_wr);
    CHECK_UEQ(ours.max_send_sge, theirs.cap.max_send_sge);
    CHECK_UEQ(ours.max_recv_sge, theirs.cap.max_recv_sge);
    CHECK_UEQ(ours.max_inline_data, theirs.cap.max_inline_data);
    CHECK_MEM(ours.path.dgid, theirs.ah_attr.grh.dgid.raw, 16);
    CHECK_UEQ(ours.path.sgid_index, theirs.ah_attr.grh.sgid_index);
    CHECK_UEQ(ours.path.hop_limit, theirs.ah_attr.grh.hop_limit);
    CHECK_UEQ(ours.path.is_global, theirs.ah_attr.is_global);
    CHECK_UEQ(ours.path.port_num, theirs.ah_attr.port_num);
    pair_close(&p);
}

static void device_list(void) {
    int expected = 0;
    test_device();
    struct ibv_device **list = ibv_get_device_list(&expected);
    CHECK(list != NULL);
    vbn_device_info ours[16];
    uint32_t count = 0;
    CHECK_OK(vbn_device_list(ours, sizeof ours[0], 16, &count));
    CHECK_EQ(count, expected);
    for (int i = 0; i < expected && i < 16; i++) {
        CHECK_STR(ours[i].name, ibv_get_device_name(list[i]));
        CHECK_STR(ours[i].uverbs_name, list[i]->dev_name);
        CHECK_UEQ(ours[i].guid, be64toh(ibv_get_device_guid(list[i])));
        CHECK_EQ(ours[i].node_type, list[i]->node_type);
        CHECK_EQ(ours[i].transport_type, list[i]->transport_type);
    }
    ibv_free_device_list(list);
}

static const struct test tests[] = {
    {"device", device},
    {"port", port},
    {"gid_entries", gid_entries},
    {"pkeys", pkeys},
    {"queue_pair", queue_pair},
    {"device_list", device_list},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("device_raw", tests, argc, argv);
}
