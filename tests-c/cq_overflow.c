/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A completion queue that gets more than it holds fails, and says so by an event. */
#include <stdlib.h>
#include <string.h>

#include "common.h"

static struct pair p;

static void overflow(void) {
    static const uint64_t mark = 0x1122334455667788;
    side_open(&p.a, NULL);
    side_open(&p.b, NULL);
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 4, .user_data = mark};
    vbn_cq *small = NULL;
    CHECK_OK(vbn_cq_create(p.a.context, &attr, &small));
    vbn_cq_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_cq_query(small, &info));
    vbn_qp_init_attr init = {.struct_size = sizeof init, .send_cq = small, .max_send_wr = 4 * info.cqe + 64, .user_data = mark + 1};
    CHECK_OK(vbn_qp_close(&p.a.qp));
    CHECK_OK(vbn_qp_create(p.a.pd, &init, &p.a.qp));
    CHECK_OK(vbn_rc_record_local(p.a.qp, NULL, &p.a.record));
    pair_connect(&p, NULL);
    vbn_async_event event = {.struct_size = sizeof event};
    CHECK_STATUS(vbn_context_get_async_event(p.a.context, 0, &event), VBN_ERR_TIMEOUT);

    for (uint32_t i = 0; i < 2 * info.cqe + 2; i++) {
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, i, 0, 8);
        uint32_t posted;
        vbn_qp_post_send(p.a.qp, &wr, 1, &posted); /* may fail once the queue is lost */
    }
    int found = 0;
    for (int i = 0; i < 20 && !found; i++) {
        CHECK_OK(vbn_context_get_async_event(p.a.context, PATIENCE, &event));
        test_note("%s", vbn_event_type_name(event.type));
        found = event.type == VBN_EVENT_CQ_ERR;
        if (event.type == VBN_EVENT_QP_FATAL) CHECK_UEQ(event.user_data, mark + 1);
    }
    CHECK(found);
    CHECK_UEQ(event.user_data, mark);
    CHECK_EQ(event.kind, VBN_ELEMENT_CQ);
    CHECK_EQ(event.known, 1);
    CHECK_UEQ(event.number, info.handle);
    CHECK_OK(vbn_cq_close(&small));
    pair_close(&p);
}

static const struct test tests[] = {
    {"overflow", overflow},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("cq_overflow", tests, argc, argv);
}
