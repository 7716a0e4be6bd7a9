/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Polling: completions come through as they are, but for the byte order of immediate values; failures and the first of them. */
#include <arpa/inet.h>
#include <limits.h>
#include <time.h>
#include "null_help.h"

static struct rig g;
static vbn_wc wcs[300];
static uint32_t got;

static void begin(void)
{
    null_begin();
    g = rig_open();
    memset(wcs, 0xa5, sizeof(wcs));
}

static void end(void)
{
    rig_close(&g);
    null_clean();
}

/* A completion whose fields are all different. */
static struct ibv_wc sample(uint32_t i)
{
    struct ibv_wc wc;

    memset(&wc, 0, sizeof(wc));
    wc.wr_id = 0x1122334455667700u + i;
    wc.status = IBV_WC_SUCCESS;
    wc.opcode = i % 2 ? IBV_WC_RECV : IBV_WC_RDMA_WRITE;
    wc.vendor_err = 0x100 + i;
    wc.byte_len = 0x200 + i;
    wc.imm_data = htonl(0x01020300 + i);
    wc.qp_num = g.qpn;
    wc.src_qp = 0x400 + i;
    wc.wc_flags = 0;
    wc.pkey_index = (uint16_t)(0x500 + i);
    wc.slid = (uint16_t)(0x600 + i);
    wc.sl = (uint8_t)(0x70 + i);
    wc.dlid_path_bits = (uint8_t)(0x80 + i);
    return wc;
}

static void same(const vbn_wc *wc, const struct ibv_wc *want, uint32_t imm)
{
    MUST(wc->wr_id == want->wr_id && wc->status == (int32_t)want->status && wc->opcode == (int32_t)want->opcode, "wr_id, status or opcode");
    MUST(wc->vendor_err == want->vendor_err && wc->byte_len == want->byte_len && wc->qp_num == want->qp_num, "vendor_err, byte_len or qp_num");
    MUST(wc->src_qp == want->src_qp && wc->wc_flags == want->wc_flags && wc->pkey_index == want->pkey_index, "src_qp, wc_flags or pkey_index");
    MUST(wc->slid == want->slid && wc->sl == want->sl && wc->dlid_path_bits == want->dlid_path_bits, "slid, sl or dlid_path_bits");
    MUST(wc->imm == imm, "imm 0x%x, not 0x%x", wc->imm, imm);
}

static void empty(void)
{
    begin();
    got = 77;
    OK(vbn_cq_poll(g.cq, 300, wcs, &got));
    MUST(!got, "got %u", got);
    CHECK_UEQ(wcs[0].wr_id, 0xa5a5a5a5a5a5a5a5u);
    end();
}

static void counts(void)
{
    static const uint32_t ns[] = {1, 2, 31, 32, 33, 64, 200};

    begin();
    for (int ready = 1; ready < 70; ready += 17)
        for (size_t i = 0; i < ARRAY_SIZE(ns); i++) {
            uint32_t want = ns[i] < (uint32_t)ready ? ns[i] : (uint32_t)ready;

            null.set_poll_n(ready);
            memset(wcs, 0xa5, sizeof(wcs));
            got = 77;
            OK(vbn_cq_poll(g.cq, ns[i], wcs, &got));
            MUST(got == want, "n %u of %d: got %u", ns[i], ready, got);
            for (uint32_t k = 0; k < got; k++)
                MUST(wcs[k].status == VBN_WC_SUCCESS && wcs[k].byte_len == 64, "completion %u", k);
            CHECK_UEQ(wcs[want].wr_id, 0xa5a5a5a5a5a5a5a5u);
        }
    end();
}

/* The largest n, and beyond it, where a negative number reaches the driver: nothing is written that isn't there. */
static void n_above_int_max(void)
{
    static const uint32_t ns[] = {INT_MAX, INT_MAX + 1u, UINT32_MAX};

    begin();
    null.set_poll_n(3);
    for (size_t i = 0; i < ARRAY_SIZE(ns); i++) {
        got = 77;
        OK(vbn_cq_poll(g.cq, ns[i], wcs, &got));
        MUST(got == (ns[i] > INT_MAX ? 0 : 3), "n %u: got %u", ns[i], got);
        CHECK_UEQ(wcs[3].wr_id, 0xa5a5a5a5a5a5a5a5u);
    }
    end();
}

static void fields_and_immediates(void)
{
    static const unsigned flags[] = {0, IBV_WC_WITH_IMM, IBV_WC_WITH_INV, IBV_WC_GRH, IBV_WC_WITH_IMM | IBV_WC_GRH, 0};
    struct ibv_wc pushed[ARRAY_SIZE(flags)];

    begin();
    for (uint32_t i = 0; i < ARRAY_SIZE(flags); i++) {
        pushed[i] = sample(i);
        pushed[i].wc_flags = flags[i];
        null.push_wc_to(g.ibv_cq, &pushed[i]);
    }
    OK(vbn_cq_poll(g.cq, 300, wcs, &got));
    MUST(got == ARRAY_SIZE(flags), "got %u", got);
    for (uint32_t i = 0; i < got; i++)
        same(&wcs[i], &pushed[i], flags[i] & IBV_WC_WITH_IMM ? 0x01020300 + i : pushed[i].imm_data);
    end();
}

/* The same for one at a time, where only the flag decides. */
static void immediate_alone(void)
{
    struct ibv_wc wc;

    begin();
    for (uint32_t i = 0; i < 16; i++) {
        wc = sample(i);
        wc.wc_flags = i;
        null.push_wc_to(g.ibv_cq, &wc);
        OK(vbn_cq_poll(g.cq, 1, wcs, &got));
        MUST(got == 1, "got %u", got);
        same(wcs, &wc, i & IBV_WC_WITH_IMM ? 0x01020300 + i : wc.imm_data);
    }
    end();
}

static void errors_of_the_driver(void)
{
    static const struct {
        int err;
        vbn_status status;
    } errors[] = {
        {EIO, VBN_ERR_DRIVER}, {EINVAL, VBN_ERR_DRIVER}, {ENOMEM, VBN_ERR_NO_MEMORY}, {EPERM, VBN_ERR_DRIVER}, {ENODEV, VBN_ERR_DEVICE_GONE},
    };

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
        null.fail("ibv_poll_cq", 1, errors[i].err);
        null.set_poll_n(2);
        got = 77;
        WANT(vbn_cq_poll(g.cq, 5, wcs, &got), errors[i].status);
        MUST(!got, "got %u", got);
        WANT_ERRNO(errors[i].err);
        WANT_TEXT("ibv_poll_cq");
        OK(vbn_cq_poll(g.cq, 5, wcs, &got));
        MUST(got == 2, "after the error got %u", got);
    }
    null.set_poll_n(0);
    end();
}

/* ---- The first failure ---- */

static void push(struct ibv_cq *cq, uint32_t qpn, enum ibv_wc_status status, uint64_t wr_id)
{
    struct ibv_wc wc = sample(1);

    wc.qp_num = qpn;
    wc.status = status;
    wc.wr_id = wr_id;
    null.push_wc_to(cq, &wc);
}

static void first_is(vbn_qp *qp, int32_t status, uint64_t wr_id)
{
    vbn_wc wc;

    memset(&wc, 0xa5, sizeof(wc));
    if (status == VBN_WC_SUCCESS) {
        WANT(vbn_qp_first_error(qp, &wc), VBN_ERR_NOT_FOUND);
        MUST(wc.wr_id == 0xa5a5a5a5a5a5a5a5u, "the completion was written");
        return;
    }
    OK(vbn_qp_first_error(qp, &wc));
    MUST(wc.status == status && wc.wr_id == wr_id, "the first error is %s of request %llu", vbn_wc_status_name(wc.status),
         (unsigned long long)wc.wr_id);
}

static void poll_all(uint32_t n, uint32_t want)
{
    uint32_t all = 0;

    do {
        OK(vbn_cq_poll(g.cq, n, wcs, &got));
        all += got;
    } while (got);
    MUST(all == want, "%u completions, not %u", all, want);
}

static vbn_qp *second_qp(vbn_cq *cq)
{
    NEW(vbn_qp_init_attr, attr);
    vbn_qp *qp;

    attr.send_cq = cq;
    OK(vbn_qp_create(g.pd, &attr, &qp));
    return qp;
}

/* One poll or many, the cause before the flushes or behind them. */
static void first_error_in_any_order(void)
{
    for (uint32_t n = 1; n <= 8; n += 7)
        for (int late = 0; late < 2; late++) {
            begin();
            first_is(g.qp, VBN_WC_SUCCESS, 0);
            push(g.ibv_cq, g.qpn, IBV_WC_SUCCESS, 1);
            if (!late)
                push(g.ibv_cq, g.qpn, IBV_WC_REM_ACCESS_ERR, 2);
            push(g.ibv_cq, g.qpn, IBV_WC_WR_FLUSH_ERR, 3);
            push(g.ibv_cq, g.qpn, IBV_WC_WR_FLUSH_ERR, 4);
            if (late)
                push(g.ibv_cq, g.qpn, IBV_WC_REM_ACCESS_ERR, 2);
            push(g.ibv_cq, g.qpn, IBV_WC_RETRY_EXC_ERR, 5);
            poll_all(n, 5);
            first_is(g.qp, VBN_WC_REM_ACCESS_ERR, 2);
            end();
        }
}

static void flushes_are_no_cause(void)
{
    begin();
    push(g.ibv_cq, g.qpn, IBV_WC_WR_FLUSH_ERR, 1);
    push(g.ibv_cq, g.qpn, IBV_WC_WR_FLUSH_ERR, 2);
    poll_all(4, 2);
    MUST(wcs[0].status == VBN_WC_WR_FLUSH_ERR, "a flush comes through as it is");
    first_is(g.qp, VBN_WC_SUCCESS, 0);
    end();
}

static void first_error_per_queue_pair(void)
{
    vbn_qp *other;
    uint32_t qpn;

    begin();
    other = second_qp(g.cq);
    qpn = vbn_qp_num(other);
    push(g.ibv_cq, qpn, IBV_WC_LOC_PROT_ERR, 1);
    push(g.ibv_cq, g.qpn, IBV_WC_WR_FLUSH_ERR, 2);
    poll_all(8, 2);
    first_is(other, VBN_WC_LOC_PROT_ERR, 1);
    first_is(g.qp, VBN_WC_SUCCESS, 0);
    push(g.ibv_cq, g.qpn, IBV_WC_RNR_RETRY_EXC_ERR, 3);
    push(g.ibv_cq, qpn, IBV_WC_GENERAL_ERR, 4);
    /* Of a queue pair that nobody knows. */
    push(g.ibv_cq, 0xffffff, IBV_WC_GENERAL_ERR, 5);
    poll_all(8, 3);
    first_is(other, VBN_WC_LOC_PROT_ERR, 1);
    first_is(g.qp, VBN_WC_RNR_RETRY_EXC_ERR, 3);
    OK(vbn_qp_close(&other));
    end();
}

/* Going to RESET forgets it; going elsewhere doesn't, nor does a RESET that the driver refuses. */
static void reset_forgets(void)
{
    NEW(vbn_qp_attr, attr);

    begin();
    push(g.ibv_cq, g.qpn, IBV_WC_RETRY_EXC_ERR, 1);
    poll_all(8, 1);
    attr.set = VBN_QP_STATE;
    attr.qp_state = VBN_QPS_ERR;
    OK(vbn_qp_modify(g.qp, &attr));
    first_is(g.qp, VBN_WC_RETRY_EXC_ERR, 1);
    attr.qp_state = VBN_QPS_RESET;
    null.fail("ibv_modify_qp", 1, EBUSY);
    WANT(vbn_qp_modify(g.qp, &attr), VBN_ERR_BUSY);
    first_is(g.qp, VBN_WC_RETRY_EXC_ERR, 1);
    OK(vbn_qp_modify(g.qp, &attr));
    first_is(g.qp, VBN_WC_SUCCESS, 0);
    push(g.ibv_cq, g.qpn, IBV_WC_LOC_LEN_ERR, 2);
    poll_all(8, 1);
    first_is(g.qp, VBN_WC_LOC_LEN_ERR, 2);
    end();
}

/* A queue pair made and adopted after another with its number has closed starts without. */
static void a_closed_queue_pair_is_not_named(void)
{
    vbn_qp *other;
    uint32_t qpn;

    begin();
    other = second_qp(g.cq);
    qpn = vbn_qp_num(other);
    OK(vbn_qp_close(&other));
    push(g.ibv_cq, qpn, IBV_WC_LOC_PROT_ERR, 1);
    poll_all(8, 1);
    MUST(wcs[0].qp_num == qpn || got == 0, "completion");
    first_is(g.qp, VBN_WC_SUCCESS, 0);
    end();
}

static void check_tells_the_failure(void)
{
    begin();
    for (int status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_TM_RNDV_INCOMPLETE; status++) {
        push(g.ibv_cq, g.qpn, (enum ibv_wc_status)status, 1);
        OK(vbn_cq_poll(g.cq, 1, wcs, &got));
        MUST(got == 1, "got %u", got);
        WANT(vbn_wc_check(wcs), VBN_ERR_COMPLETION);
        MUST(last()->vendor_domain == VBN_VENDOR_WC && last()->vendor_code == 0x101, "vendor code");
        WANT_NUMBERS(status, 0);
    }
    end();
}

/* ---- Waiting ---- */

static void wait_finds_what_is_there(void)
{
    begin();
    push(g.ibv_cq, g.qpn, IBV_WC_SUCCESS, 1);
    push(g.ibv_cq, g.qpn, IBV_WC_REM_OP_ERR, 2);
    OK(vbn_cq_wait(g.cq, 8, wcs, 0, 0, &got));
    MUST(got == 2, "got %u", got);
    first_is(g.qp, VBN_WC_REM_OP_ERR, 2);
    null.stats_reset();
    WANT(vbn_cq_wait(g.cq, 8, wcs, 0, 0, &got), VBN_ERR_TIMEOUT);
    MUST(!got, "got %u", got);
    WANT(vbn_cq_wait(g.cq, 8, wcs, 0, 5000000, &got), VBN_ERR_TIMEOUT);
    end();
}

/* An event of long ago doesn't count as news, and with one the queue is polled again. */
static void wait_outlasts_stale_events(void)
{
    begin();
    for (int i = 0; i < 3; i++)
        null.push_cq_event(g.ibv_cq);
    WANT(vbn_cq_wait(g.cq, 8, wcs, 0, 20000000, &got), VBN_ERR_TIMEOUT);
    for (int i = 0; i < 2; i++)
        null.push_cq_event(g.ibv_cq);
    push(g.ibv_cq, g.qpn, IBV_WC_SUCCESS, 1);
    OK(vbn_cq_wait(g.cq, 8, wcs, 0, 20000000, &got));
    MUST(got == 1, "got %u", got);
    end();
}

/* What comes between the poll and the arming has no event: only a poll behind the arming finds it, and at once. */
static void wait_polls_behind_the_arming(void)
{
    struct nullv_stats seen;
    struct timespec before, after;

    begin();
    for (int round = 0; round < 3; round++) {
        struct ibv_wc wc = sample(1);

        wc.wr_id = 70 + (unsigned)round;
        null.push_wc_at_arm(g.ibv_cq, &wc);
        OK(vbn_cq_poll(g.cq, 8, wcs, &got));
        MUST(!got, "%u before the arming", got);
        null.stats_reset();
        clock_gettime(CLOCK_MONOTONIC, &before);
        OK(vbn_cq_wait(g.cq, 8, wcs, 0, 8000000000, &got));
        clock_gettime(CLOCK_MONOTONIC, &after);
        MUST(got == 1 && wcs[0].wr_id == wc.wr_id, "%u completions, request %llu", got, (unsigned long long)wcs[0].wr_id);
        MUST(after.tv_sec - before.tv_sec < 4, "it was slept over for %d s", (int)(after.tv_sec - before.tv_sec));
        null.stats(&seen);
        MUST(seen.notify_calls == 1 && seen.poll_calls == 2, "armed %d times, %d polls", (int)seen.notify_calls, (int)seen.poll_calls);
    }
    end();
}

/* Within the busy window nothing is armed; after it, the queue is. */
static void wait_is_busy_first(void)
{
    struct nullv_stats seen = {0};

    begin();
    null.set_walk(1); /* counts */
    null.stats_reset();
    WANT(vbn_cq_wait(g.cq, 8, wcs, 60000000000, 20000000, &got), VBN_ERR_TIMEOUT);
    null.stats(&seen);
    MUST(!seen.notify_calls, "armed %d times", (int)seen.notify_calls);
    /* Not at the first try if this thread is held up for all of the time. */
    for (int i = 0; i < 20 && !seen.notify_calls; i++) {
        WANT(vbn_cq_wait(g.cq, 8, wcs, 1000000, 50000000, &got), VBN_ERR_TIMEOUT);
        null.stats(&seen);
    }
    MUST(seen.notify_calls, "never armed");
    end();
}

static void wait_passes_errors_on(void)
{
    begin();
    null.fail("ibv_req_notify_cq", 1, EINVAL);
    WANT(vbn_cq_wait(g.cq, 8, wcs, 0, 1000000000, &got), VBN_ERR_DRIVER);
    WANT_TEXT("ibv_req_notify_cq");
    null.fail("ibv_req_notify_cq", 1, EOPNOTSUPP); /* libefa before rdma-core 38 */
    WANT(vbn_cq_wait(g.cq, 8, wcs, 0, 1000000000, &got), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("create the queue without a channel");
    null.fail("ibv_poll_cq", 1, EINVAL);
    WANT(vbn_cq_wait(g.cq, 8, wcs, 0, 1000000000, &got), VBN_ERR_DRIVER);
    WANT_TEXT("ibv_poll_cq");
    null.push_cq_event(g.ibv_cq);
    null.fail("ibv_get_cq_event", 1, EINVAL);
    WANT(vbn_cq_wait(g.cq, 8, wcs, 0, 1000000000, &got), VBN_ERR_DRIVER);
    WANT_TEXT("ibv_get_cq_event");
    MUST(!got, "got %u", got);
    end();
}

static void wait_refuses_a_shared_channel(void)
{
    NEW(vbn_cq_attr, attr);
    vbn_cq *other;

    begin();
    attr.cqe = 8;
    attr.channel = g.channel;
    OK(vbn_cq_create(g.context, &attr, &other));
    WANT(vbn_cq_wait(g.cq, 8, wcs, 0, 0, &got), VBN_ERR_ARGUMENT);
    WANT_TEXT("channel");
    OK(vbn_cq_close(&other));
    WANT(vbn_cq_wait(g.cq, 8, wcs, 0, 0, &got), VBN_ERR_TIMEOUT);
    end();
}

static const struct test tests[] = {
    {"empty", empty},
    {"counts", counts},
    {"n_above_int_max", n_above_int_max},
    {"fields_and_immediates", fields_and_immediates},
    {"immediate_alone", immediate_alone},
    {"errors_of_the_driver", errors_of_the_driver},
    {"first_error_in_any_order", first_error_in_any_order},
    {"flushes_are_no_cause", flushes_are_no_cause},
    {"first_error_per_queue_pair", first_error_per_queue_pair},
    {"reset_forgets", reset_forgets},
    {"a_closed_queue_pair_is_not_named", a_closed_queue_pair_is_not_named},
    {"check_tells_the_failure", check_tells_the_failure},
    {"wait_finds_what_is_there", wait_finds_what_is_there},
    {"wait_outlasts_stale_events", wait_outlasts_stale_events},
    {"wait_polls_behind_the_arming", wait_polls_behind_the_arming},
    {"wait_is_busy_first", wait_is_busy_first},
    {"wait_passes_errors_on", wait_passes_errors_on},
    {"wait_refuses_a_shared_channel", wait_refuses_a_shared_channel},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_poll", tests, argc, argv);
}
