// SPDX-License-Identifier: MIT OR Apache-2.0
// A device of the first generation, profile p3dn: no completion notifications, no READ; SEND works.
#include "srd.h"

static struct end e;

int main(void)
{
    int count;
    struct ibv_device **list = ibv_get_device_list(&count);
    CHECK(list && count == 1);
    CHECK(e.ctx = ibv_open_device(list[0]));
    ibv_free_device_list(list);
    struct efadv_device_attr device = {0};
    CHECK(!efadv_query_device(e.ctx, &device, sizeof device));
    CHECK(!(device.device_caps & EFADV_DEVICE_ATTR_CAPS_RDMA_READ) && device.max_rdma_size == 0);
    CHECK(e.pd = ibv_alloc_pd(e.ctx));
    CHECK(e.channel = ibv_create_comp_channel(e.ctx));
    errno = 0;
    CHECK(!ibv_create_cq(e.ctx, 256, NULL, e.channel, 0) && errno == EOPNOTSUPP);
    CHECK(e.cq = ibv_create_cq(e.ctx, 256, NULL, NULL, 0));
    CHECK(!posix_memalign((void **)&e.buffer, 4096, SIZE));
    memset(e.buffer, 's', SIZE);
    errno = 0;
    CHECK(!ibv_reg_mr(e.pd, e.buffer, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ) && errno != 0);
    CHECK(e.mr = ibv_reg_mr(e.pd, e.buffer, SIZE, IBV_ACCESS_LOCAL_WRITE));
    errno = 0;
    CHECK(!create_qp(&e) && errno != 0); // it asks for READ
    struct ibv_qp_init_attr_ex init = {
        .send_cq = e.cq,
        .recv_cq = e.cq,
        .qp_type = IBV_QPT_DRIVER,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
        .pd = e.pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND,
    };
    struct efadv_qp_init_attr srd = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
    CHECK(e.qp = efadv_create_qp_ex(e.ctx, &init, &srd, sizeof srd));
    make_ready(e.qp, -1);
    CHECK(!ibv_query_gid(e.ctx, 1, 0, &e.gid));
    struct ibv_ah *ah = address(&e, e.gid);
    memset(e.buffer + 4096, 0, 64);
    post_recv(&e, 1, 4096, 64);
    post(&e, 2, ah, e.qp->qp_num, 0, 0, 0, 64);
    struct ibv_wc wc;
    for (int i = 0; i < 2; i++) CHECK(poll_for(&e, &wc, 20) && wc.status == IBV_WC_SUCCESS);
    CHECK(memcmp(e.buffer, e.buffer + 4096, 64) == 0);
    CHECK(!ibv_destroy_ah(ah));
    close_end(&e);
    return 0;
}
