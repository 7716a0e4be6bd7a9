/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Children keep their parents: every order of closing is safe, destroys in the right order and leaves nothing. */
#include "null_help.h"

enum { QP1, QP2, CQ1, CQ2, CHANNEL, MR, PD, CONTEXT, OBJECTS };

static struct rig g;
static vbn_qp *qp2;
static vbn_cq *cq2;

/* A second queue pair whose receives complete elsewhere, and which isn't notified. */
static void open_all(void)
{
    NEW(vbn_cq_attr, cq);
    NEW(vbn_qp_init_attr, qp);

    null_begin();
    g = rig_open();
    cq.cqe = 8;
    OK(vbn_cq_create(g.context, &cq, &cq2));
    qp.send_cq = g.cq;
    qp.recv_cq = cq2;
    OK(vbn_qp_create(g.pd, &qp, &qp2));
}

static void close_one(int object)
{
    switch (object) {
    case QP1: OK(vbn_qp_close(&g.qp)); break;
    case QP2: OK(vbn_qp_close(&qp2)); break;
    case CQ1: OK(vbn_cq_close(&g.cq)); break;
    case CQ2: OK(vbn_cq_close(&cq2)); break;
    case CHANNEL: OK(vbn_channel_close(&g.channel)); break;
    case MR: OK(vbn_mr_close(&g.mr)); break;
    case PD: OK(vbn_pd_close(&g.pd)); break;
    default: OK(vbn_context_close(&g.context)); break;
    }
}

/* What the provider must still have when the objects with a bit in `closed` have been closed. */
static void check(unsigned closed)
{
    int qp1 = !(closed >> QP1 & 1), qp2_lives = !(closed >> QP2 & 1), mr = !(closed >> MR & 1);
    int cq1 = !(closed >> CQ1 & 1) || qp1 || qp2_lives, cq2_lives = !(closed >> CQ2 & 1) || qp2_lives;
    int channel = !(closed >> CHANNEL & 1) || cq1, pd = !(closed >> PD & 1) || qp1 || qp2_lives || mr;
    int context = !(closed >> CONTEXT & 1) || cq1 || cq2_lives || channel || pd;
    struct nullv_live now;

    null.live(&now);
#define LEFT(field, wanted) \
    MUST(now.field - null_before.field == (unsigned)(wanted), "closed 0x%x: %u " #field ", not %u", closed, \
         now.field - null_before.field, (unsigned)(wanted))
    LEFT(qps, qp1 + qp2_lives);
    LEFT(mrs, mr);
    LEFT(cqs, cq1 + cq2_lives);
    LEFT(channels, channel);
    LEFT(pds, pd);
    LEFT(contexts, context);
    if (!(closed >> CONTEXT & 1)) {
        NEW(vbn_live_info, info);

        OK(vbn_context_live(g.context, &info));
        MUST(info.qp_open == (uint32_t)(qp1 + qp2_lives) && info.mr_open == (uint32_t)mr, "closed 0x%x: live", closed);
        MUST(info.cq_open + info.cq_closed == (uint32_t)(cq1 + cq2_lives) && !info.cq_refused, "closed 0x%x: live CQs", closed);
        MUST(info.cq_open == (uint32_t)(!(closed >> CQ1 & 1) + !(closed >> CQ2 & 1)), "closed 0x%x: open CQs", closed);
        MUST(info.channel_open + info.channel_closed == (uint32_t)channel && !info.channel_refused, "closed 0x%x: live channels", closed);
        MUST(info.channel_open == (uint32_t)!(closed >> CHANNEL & 1), "closed 0x%x: open channels", closed);
        MUST(info.pd_open + info.pd_closed == (uint32_t)pd && !info.pd_refused, "closed 0x%x: live PDs", closed);
        MUST(info.pd_open == (uint32_t)!(closed >> PD & 1), "closed 0x%x: open PDs", closed);
    }
}

static void run_order(const int *order)
{
    unsigned closed = 0;

    open_all();
    for (int i = 0; i < OBJECTS; i++) {
        close_one(order[i]);
        closed |= 1u << order[i];
        check(closed);
    }
    null_clean();
}

/* Of every so many orders one is run; all with 1. */
static uint32_t stride, passed;

static void sampled(const int *order, uint32_t number)
{
    if ((number - 1) % stride)
        return;
    run_order(order);
    passed++;
}

static void every_order(void)
{
    int order[OBJECTS] = {QP1, QP2, CQ1, CQ2, CHANNEL, MR, PD, CONTEXT};
    /* Under valgrind a few of the 40320 will do; a prime, so that they differ in every place. */
    const char *asked = getenv("VBN_TEST_STRIDE");
    uint32_t orders;

    stride = asked ? (uint32_t)atoi(asked) : 1;
    passed = 0;
    orders = test_orders(order, OBJECTS, sampled);
    MUST(orders == 40320 && passed > 0, "%u orders", orders);
    test_note("%u of %u orders", passed, orders);
}

/* A parent that is closed can't get new children, the children still work. */
static void a_closed_parent(void)
{
    vbn_send_wr wr = {.opcode = VBN_WR_SEND};
    NEW(vbn_qp_init_attr, init);
    NEW(vbn_qp_info, info);
    vbn_context *context;
    uint32_t posted;
    vbn_pd *pd;
    vbn_cq *cq;
    vbn_qp *qp = (void *)&init;
    vbn_mr *mr = (void *)&init;
    vbn_wc wc;

    open_all();
    context = g.context;
    pd = g.pd;
    cq = g.cq;
    OK(vbn_context_close(&g.context));
    OK(vbn_pd_close(&g.pd));
    OK(vbn_cq_close(&g.cq));
    OK(vbn_channel_close(&g.channel));
    WANT(vbn_pd_alloc(context, NULL, &pd), VBN_ERR_CLOSED);
    init.send_cq = cq2;
    WANT(vbn_qp_create(pd, &init, &qp), VBN_ERR_ARGUMENT);
    WANT(vbn_mr_reg(pd, rig_memory, 1, 0, NULL, &mr), VBN_ERR_ARGUMENT);
    MUST(!pd && !qp && !mr, "outputs");
    WANT(vbn_cq_poll(cq, 1, &wc, &posted), VBN_ERR_CLOSED);
    OK(vbn_qp_query(g.qp, &info));
    OK(vbn_qp_post_send(g.qp, &wr, 1, &posted));
    MUST(posted == 1, "posted");
    MUST(vbn_mr_lkey(g.mr), "lkey");
    OK(vbn_qp_close(&g.qp));
    OK(vbn_qp_close(&qp2));
    OK(vbn_mr_close(&g.mr));
    OK(vbn_cq_close(&cq2));
    null_clean();
}

/* Release is refused while children are there, and afterwards gives the object away. */
static void release_waits_for_children(void)
{
    struct ibv_context *context = (void *)1;
    struct ibv_comp_channel *channel = (void *)1;
    struct ibv_cq *cq = (void *)1;
    struct ibv_pd *pd = (void *)1;

    open_all();
    WANT(vbn_context_release(&g.context, &context), VBN_ERR_BUSY);
    WANT(vbn_channel_release(&g.channel, &channel), VBN_ERR_BUSY);
    WANT(vbn_cq_release(&g.cq, &cq), VBN_ERR_BUSY);
    WANT(vbn_pd_release(&g.pd, &pd), VBN_ERR_BUSY);
    MUST(context == (void *)1 && channel == (void *)1 && cq == (void *)1 && pd == (void *)1, "outputs");
    OK(vbn_qp_close(&qp2));
    OK(vbn_cq_close(&cq2));
    rig_close(&g);
    null_clean();
}

/* CUSTOM: the adopter's own function, its errno, and success at the second try. */
static int custom_calls, custom_answer;
static void *custom_native;

static int custom_destroy(void *native, void *arg)
{
    custom_calls++;
    custom_native = native;
    return arg == &custom_calls ? custom_answer : EPROTO;
}

static void custom_ownership(void)
{
    vbn_adopt_attr own = {.struct_size = sizeof(own), .ownership = VBN_ADOPT_OWN};
    NEW(vbn_adopt_attr, attr);
    vbn_mr *mr;
    struct ibv_mr *native;

    open_all();
    OK(vbn_mr_release(&g.mr, &native));
    attr.ownership = VBN_ADOPT_CUSTOM;
    attr.destroy = custom_destroy;
    attr.destroy_arg = &custom_calls;
    OK(vbn_mr_adopt(g.pd, native, &attr, &mr));
    custom_calls = 0;
    custom_answer = EBUSY;
    WANT(vbn_mr_close(&mr), VBN_ERR_BUSY);
    WANT_ERRNO(EBUSY);
    MUST(mr && custom_calls == 1 && custom_native == native, "%d calls", custom_calls);
    custom_answer = 0;
    OK(vbn_mr_close(&mr));
    MUST(!mr && custom_calls == 2, "%d calls", custom_calls);
    OK(vbn_mr_adopt(g.pd, native, &own, &g.mr));
    OK(vbn_qp_close(&qp2));
    OK(vbn_cq_close(&cq2));
    rig_close(&g);
    null_clean();
}

/* BORROW never destroys. */
static void borrowed_objects_stay(void)
{
    vbn_pd *pd;
    vbn_context *context;
    struct nullv_live before, after;

    open_all();
    null.live(&before);
    OK(vbn_context_adopt(g.ibv_context, NULL, &context));
    OK(vbn_pd_adopt(context, g.ibv_pd, NULL, &pd));
    OK(vbn_context_close(&context));
    OK(vbn_pd_close(&pd));
    null.live(&after);
    MUST(!memcmp(&before, &after, sizeof(after)), "a borrowed object was destroyed");
    OK(vbn_qp_close(&qp2));
    OK(vbn_cq_close(&cq2));
    rig_close(&g);
    null_clean();
}

/* A handle keeps its user data and what it was told, and an mr its owner until the close has succeeded. */
static void an_owner_is_kept_until_the_close_succeeds(void)
{
    NEW(vbn_mr_attr, attr);
    NEW(vbn_mr_info, info);
    vbn_mr *mr;

    open_all();
    attr.owner = &attr;
    attr.user_data = 5;
    OK(vbn_mr_reg(g.pd, rig_memory, 64, 0, &attr, &mr));
    null.fail("ibv_dereg_mr", 1, EBUSY);
    WANT(vbn_mr_close(&mr), VBN_ERR_BUSY);
    WANT_TEXT("window");
    OK(vbn_mr_query(mr, &info));
    MUST(info.owner == &attr && info.user_data == 5 && info.memory == rig_memory && info.length == 64, "info");
    OK(vbn_mr_close(&mr));
    OK(vbn_qp_close(&qp2));
    OK(vbn_cq_close(&cq2));
    rig_close(&g);
    null_clean();
}

/* A stale handle is told "closed", or, when its slot has a new tenant, reaches that one: never anything else. */
static void a_stale_handle_is_safe(void)
{
    NEW(vbn_pd_info, info);
    vbn_pd *stale[8], *kept[40] = {NULL};
    unsigned closed = 0, live = 0;

    open_all();
    for (size_t i = 0; i < ARRAY_SIZE(stale); i++) {
        vbn_pd *pd;

        OK(vbn_pd_alloc(g.context, NULL, &pd));
        stale[i] = pd;
        OK(vbn_pd_close(&pd));
    }
    /* At once after the close it is always told. */
    for (size_t i = 0; i < ARRAY_SIZE(stale); i++)
        WANT(vbn_pd_query(stale[i], &info), VBN_ERR_CLOSED);
    for (unsigned round = 0; round < 400; round++) {
        vbn_pd **slot = &kept[round * 7 % ARRAY_SIZE(kept)];

        OK(vbn_pd_close(slot));
        OK(vbn_pd_alloc(g.context, NULL, slot));
        for (size_t i = 0; i < ARRAY_SIZE(stale); i++) {
            vbn_status status = vbn_pd_query(stale[i], &info);

            MUST(status == VBN_OK || status == VBN_ERR_CLOSED, "a stale handle gives %s", vbn_status_name(status));
            closed += status == VBN_ERR_CLOSED;
            live += status == VBN_OK;
            MUST(vbn_mr_query((vbn_mr *)(void *)stale[i], &(vbn_mr_info){.struct_size = sizeof(vbn_mr_info)}) == VBN_ERR_ARGUMENT,
                 "a slot has changed its type");
        }
    }
    MUST(closed && live, "%u times closed, %u times another's: the slots are not reused", closed, live);
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
        OK(vbn_pd_close(&kept[i]));
    OK(vbn_qp_close(&qp2));
    OK(vbn_cq_close(&cq2));
    rig_close(&g);
    null_clean();
}

/* ---- Refused destroys ---- */

/* Leaves a PD whose deferred destroy the driver has refused. Nothing else holds the context. */
static void leave_a_refused_pd(void)
{
    NEW(vbn_live_info, live);

    null_begin();
    g = rig_open();
    OK(vbn_mr_close(&g.mr));
    OK(vbn_channel_close(&g.channel));
    OK(vbn_cq_close(&g.cq));
    OK(vbn_pd_close(&g.pd));
    null.fail("ibv_dealloc_pd", 0, EBUSY);
    OK(vbn_qp_close(&g.qp));
    OK(vbn_context_live(g.context, &live));
    MUST(live.pd_refused == 1 && !live.pd_closed && !live.cq_closed && !live.channel_closed, "%u refused, %u closed PDs", live.pd_refused,
         live.pd_closed);
    null.reset();
}

/* Every later close tries again, also one that destroys nothing itself: here the context waits for the PD that it retries. */
static void a_deferred_close_retries(void)
{
    leave_a_refused_pd();
    OK(vbn_context_close(&g.context));
    null_clean();
}

static void a_deferred_close_of_another_retries(void)
{
    NEW(vbn_live_info, live);
    vbn_pd *pd;
    vbn_mr *mr;

    leave_a_refused_pd();
    OK(vbn_pd_alloc(g.context, NULL, &pd));
    OK(vbn_mr_reg(pd, rig_memory, 64, 0, NULL, &mr));
    OK(vbn_pd_close(&pd));
    OK(vbn_context_live(g.context, &live));
    MUST(!live.pd_refused && live.pd_closed == 1, "%u refused, %u closed PDs", live.pd_refused, live.pd_closed);
    OK(vbn_mr_close(&mr));
    OK(vbn_context_close(&g.context));
    null_clean();
}

static void a_release_retries(void)
{
    NEW(vbn_adopt_attr, own);
    NEW(vbn_live_info, live);
    struct ibv_pd *native;
    vbn_pd *pd;

    leave_a_refused_pd();
    OK(vbn_pd_alloc(g.context, NULL, &pd));
    OK(vbn_pd_release(&pd, &native));
    OK(vbn_context_live(g.context, &live));
    MUST(!live.pd_refused && !live.pd_open, "%u refused, %u open PDs", live.pd_refused, live.pd_open);
    own.ownership = VBN_ADOPT_OWN;
    OK(vbn_pd_adopt(g.context, native, &own, &pd));
    OK(vbn_pd_close(&pd));
    OK(vbn_context_close(&g.context));
    null_clean();
}

/* A driver may answer EIO or ENODEV for one command of a device that is there: the object is too, and so is the handle. */
static void each_close_fails(int err, vbn_status status)
{
    NEW(vbn_context_info, info);

    null_begin();
    g = rig_open();
#define FAILS(function, close, handle) \
    null.fail(function, 1, err); \
    WANT(close(&handle), status); \
    WANT_ERRNO(err); \
    WANT_TEXT(function); \
    MUST(handle, "the handle has gone"); \
    OK(vbn_context_query(g.context, &info))
    FAILS("ibv_destroy_qp", vbn_qp_close, g.qp);
    OK(vbn_qp_close(&g.qp));
    FAILS("ibv_destroy_cq", vbn_cq_close, g.cq);
    OK(vbn_cq_close(&g.cq));
    FAILS("ibv_destroy_comp_channel", vbn_channel_close, g.channel);
    OK(vbn_channel_close(&g.channel));
    FAILS("ibv_dereg_mr", vbn_mr_close, g.mr);
    OK(vbn_mr_close(&g.mr));
    FAILS("ibv_dealloc_pd", vbn_pd_close, g.pd);
    OK(vbn_pd_close(&g.pd));
    FAILS("ibv_close_device", vbn_context_close, g.context);
    OK(vbn_context_close(&g.context));
    null_clean();
}

static void eio_of_a_healthy_device(void) { each_close_fails(EIO, VBN_ERR_DRIVER); }
static void enodev_of_a_healthy_device(void) { each_close_fails(ENODEV, VBN_ERR_DEVICE_GONE); }

/* The same for a destroy that was deferred: the object waits for another try. */
static void eio_of_a_deferred_destroy(void)
{
    NEW(vbn_live_info, live);

    null_begin();
    g = rig_open();
    OK(vbn_cq_close(&g.cq));
    null.fail("ibv_destroy_cq", 0, EIO);
    OK(vbn_qp_close(&g.qp));
    OK(vbn_context_live(g.context, &live));
    MUST(live.cq_refused == 1, "%u refused queues", live.cq_refused);
    null.reset();
    rig_close(&g);
    null_clean();
}

static const struct test tests[] = {
    {"every_order", every_order},
    {"a_closed_parent", a_closed_parent},
    {"release_waits_for_children", release_waits_for_children},
    {"custom_ownership", custom_ownership},
    {"borrowed_objects_stay", borrowed_objects_stay},
    {"a_stale_handle_is_safe", a_stale_handle_is_safe},
    {"an_owner_is_kept_until_the_close_succeeds", an_owner_is_kept_until_the_close_succeeds},
    {"a_deferred_close_retries", a_deferred_close_retries},
    {"a_deferred_close_of_another_retries", a_deferred_close_of_another_retries},
    {"a_release_retries", a_release_retries},
    {"eio_of_a_healthy_device", eio_of_a_healthy_device},
    {"enodev_of_a_healthy_device", enodev_of_a_healthy_device},
    {"eio_of_a_deferred_destroy", eio_of_a_deferred_destroy},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_close", tests, argc, argv);
}
