/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Taking in and giving away: who destroys what, what belongs to whom, and that a failed adoption changes nothing. */
#include <dlfcn.h>
#include <fcntl.h>
#include "null_help.h"

static struct rig g, other;

static void begin(void)
{
    null_begin();
    g = rig_open();
}

static void end(void)
{
    rig_close(&g);
    null_clean();
}

static vbn_adopt_attr own(void)
{
    NEW(vbn_adopt_attr, attr);

    attr.ownership = VBN_ADOPT_OWN;
    return attr;
}

/* Gives everything away, from the children up, and takes it back from the parents down. */
static void given_away_and_taken_back(void)
{
    vbn_adopt_attr attr = own();
    struct nullv_live before, after;
    struct ibv_context *context;
    struct ibv_comp_channel *channel;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    NEW(vbn_context_info, info);
    NEW(vbn_mr_info, mr_info);

    begin();
    null.live(&before);
    OK(vbn_qp_release(&g.qp, &qp));
    OK(vbn_cq_release(&g.cq, &cq));
    OK(vbn_channel_release(&g.channel, &channel));
    OK(vbn_mr_release(&g.mr, &mr));
    OK(vbn_pd_release(&g.pd, &pd));
    OK(vbn_context_release(&g.context, &context));
    MUST(!g.qp && !g.cq && !g.channel && !g.mr && !g.pd && !g.context, "a released handle is still there");
    MUST(qp == g.ibv_qp && cq == g.ibv_cq && channel == g.ibv_channel && mr == g.ibv_mr && pd == g.ibv_pd && context == g.ibv_context, "natives");
    null.live(&after);
    MUST(!memcmp(&before, &after, sizeof(after)), "release destroyed something");
    MUST(fcntl(context->async_fd, F_GETFL) & O_NONBLOCK && fcntl(channel->fd, F_GETFL) & O_NONBLOCK, "descriptors");
    attr.user_data = 11;
    OK(vbn_context_adopt(context, &attr, &g.context));
    OK(vbn_pd_adopt(g.context, pd, &attr, &g.pd));
    OK(vbn_mr_adopt(g.pd, mr, &attr, &g.mr));
    OK(vbn_channel_adopt(g.context, channel, &attr, &g.channel));
    OK(vbn_cq_adopt(g.context, cq, &attr, &g.cq));
    OK(vbn_qp_adopt(g.pd, qp, &attr, &g.qp));
    null.live(&after);
    MUST(!memcmp(&before, &after, sizeof(after)), "adoption made or destroyed something");
    OK(vbn_context_query(g.context, &info));
    MUST(info.ownership == VBN_ADOPT_OWN && info.user_data == 11, "ownership %d", info.ownership);
    OK(vbn_mr_query(g.mr, &mr_info));
    MUST(mr_info.kind == VBN_MR_ADOPTED && !mr_info.owner && !mr_info.access && mr_info.user_data == 11, "kind %d", mr_info.kind);
    MUST(mr_info.addr == (uintptr_t)rig_memory && mr_info.length == sizeof(rig_memory) && mr_info.lkey == mr->lkey, "the region");
    end();
}

/* An adopted region's address is what the adopter says. */
static void a_region_with_an_address(void)
{
    NEW(vbn_adopt_attr, attr);
    vbn_sge sge;
    uint32_t count;
    uint64_t covered;
    vbn_mr *mr;

    begin();
    attr.set = VBN_ADOPT_SET_IOVA;
    attr.iova = 0x5000;
    OK(vbn_mr_adopt(g.pd, g.ibv_mr, &attr, &mr));
    MUST(vbn_mr_remote_addr(mr) == 0x5000, "remote_addr");
    OK(vbn_mr_segments(mr, 8, 16, 0, &sge, 1, &count, &covered));
    MUST(sge.addr == 0x5008 && sge.length == 16 && sge.lkey == g.ibv_mr->lkey, "segment");
    OK(vbn_mr_close(&mr));
    attr.iova = UINT64_MAX - 8;
    WANT(vbn_mr_adopt(g.pd, g.ibv_mr, &attr, &mr), VBN_ERR_ARGUMENT);
    end();
}

/* After a failure the object is still its maker's, whatever the ownership was to be. */
static void a_failed_adoption_leaves_the_object(void)
{
    vbn_adopt_attr attr = own();
    struct nullv_live before, after;
    struct ibv_context *ibv_context;
    vbn_context *context;
    struct ibv_qp *ibv_qp;
    vbn_qp *qp;

    begin();
    OK(vbn_context_open("null1", NULL, &context));
    OK(vbn_context_release(&context, &ibv_context));
    OK(vbn_qp_release(&g.qp, &ibv_qp));
    null.live(&before);
    null.fail("ibv_query_device", 1, EIO);
    WANT(vbn_context_adopt(ibv_context, &attr, &context), VBN_ERR_DRIVER);
    null.fail("ibv_query_qp", 1, EFAULT);
    WANT(vbn_qp_adopt(g.pd, ibv_qp, &attr, &qp), VBN_ERR_DRIVER);
    attr.reserved0 = 1;
    WANT(vbn_context_adopt(ibv_context, &attr, &context), VBN_ERR_ARGUMENT);
    WANT(vbn_qp_adopt(g.pd, ibv_qp, &attr, &qp), VBN_ERR_ARGUMENT);
    null.live(&after);
    MUST(!memcmp(&before, &after, sizeof(after)), "a refused object was destroyed");
    attr.reserved0 = 0;
    OK(vbn_context_adopt(ibv_context, &attr, &context));
    OK(vbn_qp_adopt(g.pd, ibv_qp, &attr, &g.qp));
    OK(vbn_context_close(&context));
    end();
}

/* Two handles that both destroy would be one too many; a released object may be taken again. */
static void one_owner_only(void)
{
    vbn_adopt_attr attr = own();
    struct ibv_pd *native;
    vbn_pd *pd = NULL, *owner, *borrower;
    vbn_cq *cq = NULL;

    begin();
    WANT(vbn_pd_adopt(g.context, g.ibv_pd, &attr, &pd), VBN_ERR_ARGUMENT);
    WANT_TEXT("already");
    WANT(vbn_cq_adopt(g.context, g.ibv_cq, &attr, &cq), VBN_ERR_ARGUMENT);
    MUST(!pd && !cq, "outputs");
    OK(vbn_pd_alloc(g.context, NULL, &owner));
    OK(vbn_pd_release(&owner, &native));
    OK(vbn_pd_adopt(g.context, native, NULL, &borrower));
    OK(vbn_pd_adopt(g.context, native, &attr, &owner));
    WANT(vbn_pd_adopt(g.context, native, &attr, &pd), VBN_ERR_ARGUMENT);
    OK(vbn_pd_close(&borrower));
    OK(vbn_pd_close(&owner));
    end();
}

/* The address of a region means nothing elsewhere, and isn't ignored. */
static void an_address_for_what_has_none(void)
{
    NEW(vbn_adopt_attr, attr);
    vbn_context *context;
    vbn_channel *channel;
    vbn_pd *pd;
    vbn_cq *cq;
    vbn_qp *qp;

    begin();
    attr.set = VBN_ADOPT_SET_IOVA;
    WANT(vbn_context_adopt(g.ibv_context, &attr, &context), VBN_ERR_ARGUMENT);
    WANT(vbn_pd_adopt(g.context, g.ibv_pd, &attr, &pd), VBN_ERR_ARGUMENT);
    WANT(vbn_channel_adopt(g.context, g.ibv_channel, &attr, &channel), VBN_ERR_ARGUMENT);
    WANT(vbn_cq_adopt(g.context, g.ibv_cq, &attr, &cq), VBN_ERR_ARGUMENT);
    WANT(vbn_qp_adopt(g.pd, g.ibv_qp, &attr, &qp), VBN_ERR_ARGUMENT);
    end();
}

/* A refused destroy of an owned one keeps the handle as for one's own. */
static void an_owned_object_that_is_not_destroyed(void)
{
    vbn_adopt_attr attr = own();
    struct ibv_mr *native;
    vbn_mr *mr;

    begin();
    OK(vbn_mr_release(&g.mr, &native));
    OK(vbn_mr_adopt(g.pd, native, &attr, &mr));
    null.fail("ibv_dereg_mr", 1, EBUSY);
    WANT(vbn_mr_close(&mr), VBN_ERR_BUSY);
    MUST(mr, "the handle has gone");
    OK(vbn_mr_close(&mr));
    end();
}

/* Objects of another context or PD are refused with the name of what doesn't fit. */
static void strangers(void)
{
    vbn_pd *pd = NULL, *second;
    vbn_channel *channel = NULL;
    vbn_cq *cq = NULL;
    vbn_mr *mr = NULL;
    vbn_qp *qp = NULL;

    begin();
    other = g;
    g = rig_open();
    WANT(vbn_pd_adopt(g.context, other.ibv_pd, NULL, &pd), VBN_ERR_ARGUMENT);
    WANT_TEXT("another");
    WANT(vbn_channel_adopt(g.context, other.ibv_channel, NULL, &channel), VBN_ERR_ARGUMENT);
    WANT_TEXT("another");
    WANT(vbn_cq_adopt(g.context, other.ibv_cq, NULL, &cq), VBN_ERR_ARGUMENT);
    WANT_TEXT("another");
    WANT(vbn_mr_adopt(g.pd, other.ibv_mr, NULL, &mr), VBN_ERR_ARGUMENT);
    WANT_TEXT("another");
    WANT(vbn_qp_adopt(g.pd, other.ibv_qp, NULL, &qp), VBN_ERR_ARGUMENT);
    WANT_TEXT("another");
    /* Of the same context, but another PD. */
    OK(vbn_pd_alloc(g.context, NULL, &second));
    WANT(vbn_mr_adopt(second, g.ibv_mr, NULL, &mr), VBN_ERR_ARGUMENT);
    WANT(vbn_qp_adopt(second, g.ibv_qp, NULL, &qp), VBN_ERR_ARGUMENT);
    MUST(!pd && !channel && !cq && !mr && !qp, "outputs");
    OK(vbn_pd_close(&second));
    rig_close(&other);
    end();
}

static void other_types_of_queue_pairs(void)
{
    __typeof__(ibv_create_qp) *create;
    __typeof__(ibv_destroy_qp) *destroy;
    void *library = dlopen(getenv("VBN_IBVERBS_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_DRIVER, .cap = {1, 1, 1, 1, 0}};
    struct ibv_qp *native;
    vbn_qp *qp = (void *)&attr;

    *(void **)&create = dlsym(library, "ibv_create_qp");
    *(void **)&destroy = dlsym(library, "ibv_destroy_qp");
    begin();
    attr.send_cq = attr.recv_cq = g.ibv_cq;
    native = create(g.ibv_pd, &attr);
    MUST(native, "ibv_create_qp");
    WANT(vbn_qp_adopt(g.pd, native, NULL, &qp), VBN_ERR_NOT_SUPPORTED);
    MUST(!qp, "*out");
    destroy(native);
    end();
}

/* An adopted queue pair posts, connects and shows its first error like one's own. */
static void an_adopted_queue_pair_works(void)
{
    struct ibv_wc failure = {.status = IBV_WC_RETRY_EXC_ERR, .wr_id = 5};
    vbn_send_wr wr = {.opcode = VBN_WR_SEND, .num_sge = 5};
    vbn_adopt_attr attr = own();
    vbn_rc_record local, remote;
    struct ibv_qp *native;
    NEW(vbn_qp_info, info);
    struct nullv_wr posted;
    uint32_t n;
    vbn_wc wc;

    begin();
    OK(vbn_qp_release(&g.qp, &native));
    OK(vbn_qp_adopt(g.pd, native, &attr, &g.qp));
    OK(vbn_rc_record_local(g.qp, NULL, &local));
    remote = local;
    remote.qp_num ^= 1;
    OK(vbn_qp_connect_rc(g.qp, &local, &remote, NULL));
    OK(vbn_qp_query(g.qp, &info));
    MUST(info.qp_state == VBN_QPS_RTS && info.max_send_sge == 4 && info.max_send_wr == 512, "state %d, %u segments", info.qp_state, info.max_send_sge);
    WANT(vbn_qp_post_send(g.qp, &wr, 1, &n), VBN_ERR_LIMIT);
    wr.num_sge = 0;
    wr.wr_id = 99;
    null.set_walk(1);
    OK(vbn_qp_post_send(g.qp, &wr, 1, &n));
    MUST(!null.posted(0, &posted) && posted.wr_id == 99 && posted.qp_num == g.qpn, "the request");
    failure.qp_num = g.qpn;
    null.push_wc_to(g.ibv_cq, &failure);
    OK(vbn_cq_poll(g.cq, 1, &wc, &n));
    OK(vbn_qp_first_error(g.qp, &wc));
    MUST(wc.wr_id == 5, "the first error");
    end();
}

/* What is adopted keeps its descriptors as they are. */
static void adopted_descriptors_are_left_alone(void)
{
    struct ibv_context *native;
    vbn_adopt_attr attr = own();
    int fd;

    begin();
    OK(vbn_qp_close(&g.qp));
    OK(vbn_cq_close(&g.cq));
    OK(vbn_channel_close(&g.channel));
    OK(vbn_mr_close(&g.mr));
    OK(vbn_pd_close(&g.pd));
    OK(vbn_context_release(&g.context, &native));
    fd = native->async_fd;
    MUST(!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK), "fcntl");
    OK(vbn_context_adopt(native, &attr, &g.context));
    MUST(!(fcntl(fd, F_GETFL) & O_NONBLOCK), "the descriptor was changed");
    {
        NEW(vbn_async_event, event);

        WANT(vbn_context_get_async_event(g.context, 0, &event), VBN_ERR_TIMEOUT);
        WANT(vbn_context_get_async_event(g.context, 1000000, &event), VBN_ERR_TIMEOUT);
    }
    OK(vbn_context_close(&g.context));
    null_clean();
}

/* CUSTOM, destroyed by the last child: the function is called then, and again at a later close if it refuses. */
static int destroys, answer;

static int custom(void *native, void *arg)
{
    destroys++;
    return native == arg ? answer : EPROTO;
}

/* A PD that `custom` says to have destroyed, and which is still there for destroy_pd. */
static struct ibv_pd *an_unowned_pd(void)
{
    struct ibv_pd *native;
    vbn_pd *pd;

    OK(vbn_pd_alloc(g.context, NULL, &pd));
    OK(vbn_pd_release(&pd, &native));
    return native;
}

static void destroy_pd(struct ibv_pd *native)
{
    vbn_adopt_attr attr = own();
    vbn_pd *pd;

    OK(vbn_pd_adopt(g.context, native, &attr, &pd));
    OK(vbn_pd_close(&pd));
}

static void a_custom_destroy_with_the_last_child(void)
{
    vbn_adopt_attr attr = own();
    NEW(vbn_live_info, live);
    vbn_pd *pd, *unrelated;
    struct ibv_pd *native;
    vbn_mr *mr;

    begin();
    native = an_unowned_pd();
    attr.ownership = VBN_ADOPT_CUSTOM;
    attr.destroy = custom;
    attr.destroy_arg = native;
    OK(vbn_pd_adopt(g.context, native, &attr, &pd));
    OK(vbn_mr_reg(pd, rig_memory, 64, 0, NULL, &mr));
    destroys = 0;
    answer = EBUSY;
    OK(vbn_pd_close(&pd));
    MUST(!pd && !destroys, "%d calls", destroys);
    OK(vbn_mr_close(&mr));
    MUST(destroys >= 1, "it wasn't called");
    OK(vbn_context_live(g.context, &live));
    MUST(live.pd_refused == 1, "%u refused", live.pd_refused);
    answer = 0;
    OK(vbn_pd_alloc(g.context, NULL, &unrelated));
    OK(vbn_pd_close(&unrelated));
    OK(vbn_context_live(g.context, &live));
    MUST(!live.pd_refused && destroys >= 2, "%u refused after %d calls", live.pd_refused, destroys);
    destroys = 0;
    destroy_pd(native);
    end();
    MUST(!destroys, "called again after success");
}

/* CUSTOM: whatever errno the function gives, the object still exists, and nothing is concluded about the device. */
static void a_custom_destroy_that_says_gone(void)
{
    static const int errors[] = {EIO, ENODEV};
    NEW(vbn_adopt_attr, attr);
    NEW(vbn_context_info, info);
    NEW(vbn_pd_info, pd_info);
    struct ibv_pd *native;
    vbn_pd *pd;

    begin();
    native = an_unowned_pd();
    attr.ownership = VBN_ADOPT_CUSTOM;
    attr.destroy = custom;
    attr.destroy_arg = native;
    for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
        OK(vbn_pd_adopt(g.context, native, &attr, &pd));
        /* Not even where the device doesn't answer: the function knows best. */
        null.fail("ibv_query_device", 0, EIO);
        answer = errors[i];
        destroys = 0;
        WANT(vbn_pd_close(&pd), answer == EIO ? VBN_ERR_DRIVER : VBN_ERR_DEVICE_GONE);
        WANT_ERRNO(answer);
        MUST(pd && destroys == 1, "%d calls", destroys);
        OK(vbn_pd_query(pd, &pd_info));
        OK(vbn_context_query(g.context, &info));
        null.reset();
        answer = 0;
        OK(vbn_pd_close(&pd));
        MUST(destroys == 2, "%d calls", destroys);
    }
    destroy_pd(native);
    end();
}

static const struct test tests[] = {
    {"given_away_and_taken_back", given_away_and_taken_back},
    {"a_region_with_an_address", a_region_with_an_address},
    {"a_failed_adoption_leaves_the_object", a_failed_adoption_leaves_the_object},
    {"one_owner_only", one_owner_only},
    {"an_address_for_what_has_none", an_address_for_what_has_none},
    {"an_owned_object_that_is_not_destroyed", an_owned_object_that_is_not_destroyed},
    {"strangers", strangers},
    {"other_types_of_queue_pairs", other_types_of_queue_pairs},
    {"an_adopted_queue_pair_works", an_adopted_queue_pair_works},
    {"a_custom_destroy_with_the_last_child", a_custom_destroy_with_the_last_child},
    {"a_custom_destroy_that_says_gone", a_custom_destroy_that_says_gone},
    {"adopted_descriptors_are_left_alone", adopted_descriptors_are_left_alone},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_adopt", tests, argc, argv);
}
