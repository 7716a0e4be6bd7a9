/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "srd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t or_default(uint32_t value, uint32_t otherwise) {
    return value ? value : otherwise;
}

/* ---- what the device has ---- */

void need_known(const char *device) {
    const char *profile = getenv("VBN_TEST_PROFILE");
    vbn_context *context = NULL;
    uint32_t count = 1;
    vbn_status status = vbn_context_open(device, NULL, &context);
    if (status != VBN_OK && profile && strcmp(profile, "p5en") == 0 && vbn_device_list(NULL, sizeof(vbn_device_info), 0, &count) == VBN_OK && count == 0)
        SKIP("needs rdma-core 53, whose libefa knows the device of profile p5en");
    CHECK_OK(status);
    CHECK_OK(vbn_context_close(&context));
}

static vbn_status query(const char *device, vbn_efa_device_info *info) {
    vbn_context *context = NULL;
    need_known(device);
    CHECK_OK(vbn_context_open(device, NULL, &context));
    vbn_status status = vbn_efa_query_device(context, info);
    CHECK_OK(vbn_context_close(&context));
    return status;
}

void need_efa(const char *device) {
    vbn_efa_device_info info = {.struct_size = sizeof info};
    vbn_status status = query(device, &info);
    if (status == VBN_ERR_NOT_SUPPORTED) SKIP("needs an EFA, which %s is not", device);
    CHECK_OK(status);
}

uint64_t srd_caps(const char *device) {
    vbn_efa_device_info info = {.struct_size = sizeof info};
    need_efa(device);
    CHECK_OK(query(device, &info));
    return info.caps;
}

int srd_no_notifications(void) {
    const char *profile = getenv("VBN_TEST_PROFILE");
    return profile && strcmp(profile, "p3dn") == 0;
}

void need_read(void) {
    if (!(srd_caps(test_device()) & VBN_EFA_CAP_RDMA_READ)) SKIP("needs RDMA READ, which the device lacks");
}

void need_write(void) {
    if (!(srd_caps(test_device()) & VBN_EFA_CAP_RDMA_WRITE)) SKIP("needs RDMA WRITE, which device or libefa lack");
}

void need_unsolicited(void) {
    if (!(srd_caps(test_device()) & VBN_EFA_CAP_UNSOLICITED_WRITE_RECV)) SKIP("needs unsolicited receives, which device or libefa lack");
}

const char *need_second(void) {
    const char *second = getenv("VBN_TEST_DEVICE2");
    need_efa(test_device());
    if (!second || !*second) SKIP("needs a second device: VBN_TEST_DEVICE2");
    return second;
}

/* ---- objects ---- */

vbn_status srd_create_qp(const struct srd_side *side, const struct srd_setup *setup, vbn_qp **out) {
    vbn_qp_init_attr attr = {
        .struct_size = sizeof attr,
        .send_cq = side->cq,
        .qp_type = setup->qp_type ? setup->qp_type : VBN_QPT_SRD,
        .max_send_wr = setup->send_wr,
        .max_recv_wr = setup->recv_wr,
        .max_send_sge = setup->send_sge,
        .max_recv_sge = setup->recv_sge,
        .max_inline_data = setup->inline_data,
        .send_ops = setup->send_ops,
        .sq_sig_all = setup->sq_sig_all, .sl = setup->sl,
        .flags = setup->flags,
    };
    return vbn_qp_create(side->pd, &attr, out);
}

static vbn_status prepare(vbn_qp *qp, uint32_t qkey, const struct srd_setup *setup) {
    vbn_qp_prepare_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = qkey};
    if (setup->set_rnr_retry) {
        attr.set |= VBN_QP_PREPARE_SET_RNR_RETRY;
        attr.rnr_retry = setup->rnr_retry;
    }
    return vbn_qp_prepare(qp, &attr);
}

static const struct srd_setup usual;

vbn_status srd_prepare(vbn_qp *qp, uint32_t qkey) {
    return prepare(qp, qkey, &usual);
}

vbn_endpoint srd_endpoint(const vbn_qp *qp) {
    vbn_endpoint endpoint;
    CHECK_OK(vbn_endpoint_local(qp, &endpoint));
    return endpoint;
}

vbn_qp *srd_another_qp(const struct srd_side *side, const struct srd_setup *setup) {
    vbn_qp *qp = NULL;
    if (!setup) setup = &usual;
    CHECK_OK(srd_create_qp(side, setup, &qp));
    if (!setup->no_prepare) CHECK_OK(prepare(qp, side->qkey, setup));
    return qp;
}

void srd_open(struct srd_side *side, const struct srd_setup *setup) {
    if (!setup) setup = &usual;
    memset(side, 0, sizeof *side);
    const char *device = setup->device ? setup->device : test_device();
    side->caps = srd_caps(device);
    side->size = setup->size ? setup->size : 65536;
    side->memory = aligned_alloc(4096, (side->size + 4095) / 4096 * 4096);
    CHECK(side->memory != NULL);
    memset(side->memory, 0, side->size);
    CHECK_OK(vbn_context_open(device, NULL, &side->context));
    CHECK_OK(vbn_pd_alloc(side->context, NULL, &side->pd));
    uint64_t remote = side->caps & VBN_EFA_CAP_RDMA_READ ? VBN_ACCESS_REMOTE_READ : 0;
    if (side->caps & VBN_EFA_CAP_RDMA_WRITE) remote |= VBN_ACCESS_REMOTE_WRITE;
    CHECK_OK(vbn_mr_reg(side->pd, side->memory, side->size, VBN_ACCESS_LOCAL_WRITE | remote, NULL, &side->mr));
    if (setup->with_channel) CHECK_OK(vbn_channel_create(side->context, NULL, &side->channel));
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = or_default(setup->cqe, 256), .channel = side->channel, .fields = setup->fields};
    CHECK_OK(vbn_cq_create(side->context, &cq, &side->cq));
    side->qkey = vbn_qkey_random();
    side->qp = srd_another_qp(side, setup);
    if (!setup->no_prepare) side->endpoint = srd_endpoint(side->qp);
}

void srd_close(struct srd_side *side) {
    CHECK_OK(vbn_qp_close(&side->qp));
    CHECK_OK(vbn_cq_close(&side->cq));
    CHECK_OK(vbn_channel_close(&side->channel));
    CHECK_OK(vbn_mr_close(&side->mr));
    CHECK_OK(vbn_pd_close(&side->pd));
    CHECK_OK(vbn_context_close(&side->context));
    free(side->memory);
    side->memory = NULL;
}

static vbn_peer *peer_at(const struct srd_side *from, const vbn_endpoint *to) {
    vbn_peer *peer = NULL;
    CHECK_OK(vbn_peer_from_endpoint(from->pd, to, NULL, &peer));
    return peer;
}

vbn_peer *srd_peer(const struct srd_side *from, const struct srd_side *to) {
    return peer_at(from, &to->endpoint);
}

vbn_peer *srd_peer_of(const struct srd_side *from, const vbn_qp *to) {
    vbn_endpoint endpoint = srd_endpoint(to);
    return peer_at(from, &endpoint);
}

vbn_peer *srd_self(const struct srd_side *side) {
    return srd_peer(side, side);
}

/* ---- requests ---- */

vbn_send_wr srd_wr_at(const struct srd_side *side, vbn_peer *peer, const struct srd_side *peer_memory, uint32_t opcode, uint64_t wr_id,
                      uint64_t offset, uint64_t remote_offset, uint32_t length) {
    vbn_send_wr wr = {
        .wr_id = wr_id,
        .flags = VBN_SEND_SIGNALED,
        .opcode = opcode,
        .num_sge = 1,
        .sge = {.addr = vbn_mr_remote_addr(side->mr) + offset, .length = length, .lkey = vbn_mr_lkey(side->mr)},
        .remote_addr = vbn_mr_remote_addr(peer_memory->mr) + remote_offset,
        .rkey = vbn_mr_rkey(peer_memory->mr),
        .peer = peer,
    };
    return wr;
}

vbn_send_wr srd_wr(const struct srd_side *side, vbn_peer *peer, uint32_t opcode, uint64_t wr_id, uint64_t offset, uint32_t length) {
    return srd_wr_at(side, peer, side, opcode, wr_id, offset, 0, length);
}

void srd_post(struct srd_side *side, const vbn_send_wr *wr) {
    uint32_t posted = 99;
    CHECK_OK(vbn_qp_post_send(side->qp, wr, 1, &posted));
    CHECK_UEQ(posted, 1);
}

void srd_refused(vbn_qp *qp, const vbn_send_wr *wrs, uint32_t n, vbn_status status, uint32_t index, const char *part) {
    uint32_t posted = 99;
    CHECK_STATUS(vbn_qp_post_send(qp, wrs, n, &posted), status);
    CHECK_UEQ(posted, 0);
    vbn_error_info error = test_error();
    CHECK_UEQ(error.index, index);
    CHECK_STR(error.op_name, "vbn_qp_post_send");
    CHECK_HAS(error.message, part);
}

void srd_recv(struct srd_side *side, uint64_t wr_id, uint64_t offset, uint32_t length) {
    vbn_recv_wr wr = {
        .wr_id = wr_id,
        .num_sge = 1,
        .sge = {.addr = vbn_mr_remote_addr(side->mr) + offset, .length = length, .lkey = vbn_mr_lkey(side->mr)},
    };
    uint32_t posted = 99;
    CHECK_OK(vbn_qp_post_recv(side->qp, &wr, 1, &posted));
    CHECK_UEQ(posted, 1);
}

/* ---- completions ---- */

static int by_wr_id(const void *a, const void *b) {
    const vbn_wc *x = a, *y = b;
    return x->wr_id < y->wr_id ? -1 : x->wr_id > y->wr_id;
}

/* A vbn_wc_ext begins with its vbn_wc. */
static void sort(void *wcs, uint32_t count, size_t size) {
    qsort(wcs, count, size, by_wr_id);
}

void srd_wait(struct srd_side *side, uint32_t count, vbn_wc *wcs) {
    for (uint32_t done = 0; done < count;) {
        uint32_t got = 0;
        memset(wcs + done, 0xa5, (count - done) * sizeof *wcs);
        vbn_status status = vbn_cq_wait(side->cq, count - done, wcs + done, 0, PATIENCE, &got);
        if (status != VBN_OK) FAIL("%u of %u completions came: %s", done, count, test_last_error());
        done += got;
    }
    srd_no_wc(side);
    sort(wcs, count, sizeof *wcs);
}

void srd_wait_ext(struct srd_side *side, uint32_t count, vbn_wc_ext *wcs) {
    int polls = 0;
    for (uint32_t done = 0; done < count;) {
        uint32_t got = 99;
        memset(wcs + done, 0xa5, (count - done) * sizeof *wcs);
        CHECK_OK(vbn_cq_poll_ext(side->cq, count - done, wcs + done, sizeof *wcs, &got));
        done += got;
        if (got == 0) sleep_ms(1);
        if (++polls > 60000) FAIL("%u of %u completions came", done, count);
    }
    srd_no_wc(side);
    sort(wcs, count, sizeof *wcs);
}

vbn_wc srd_ok(struct srd_side *side, uint64_t wr_id) {
    vbn_wc wc;
    srd_wait(side, 1, &wc);
    CHECK_OK(vbn_wc_check(&wc));
    CHECK_UEQ(wc.wr_id, wr_id);
    return wc;
}

vbn_wc srd_failed(struct srd_side *side, uint64_t wr_id, uint32_t vendor_err) {
    vbn_wc wc;
    srd_wait(side, 1, &wc);
    CHECK_UEQ(wc.wr_id, wr_id);
    CHECK_UEQ(wc.vendor_err, vendor_err);
    CHECK(wc.status != VBN_WC_SUCCESS);
    return wc;
}

void srd_explained(const vbn_wc *wc, const char *part) {
    char text[VBN_EXPLAIN_TEXT_SIZE];
    vbn_explain_attr attr = {.struct_size = sizeof attr, .driver = VBN_DRIVER_EFA, .status = wc->status, .vendor_err = wc->vendor_err};
    CHECK_STATUS(vbn_wc_check(wc), VBN_ERR_COMPLETION);
    CHECK_EQ(test_error().vendor_domain, VBN_VENDOR_WC);
    CHECK_EQ(test_error().vendor_code, wc->vendor_err);
    CHECK_UEQ(test_error().value, (uint64_t)wc->status);
    CHECK_OK(vbn_explain(&attr, text, sizeof text, NULL));
    CHECK_HAS(text, part);
}

void srd_run(struct srd_side *side, const vbn_send_wr *wr) {
    srd_post(side, wr);
    srd_ok(side, wr->wr_id);
}

void srd_no_wc(struct srd_side *side) {
    vbn_wc wc;
    uint32_t got = 99;
    CHECK_OK(vbn_cq_poll(side->cq, 1, &wc, &got));
    if (got) FAIL("a completion too many: wr_id %llu, %s, vendor %u", (unsigned long long)wc.wr_id, vbn_wc_status_name(wc.status), wc.vendor_err);
}

uint32_t srd_drain(struct srd_side *side) {
    vbn_wc wcs[16];
    uint32_t got, all = 0;
    do {
        CHECK_OK(vbn_cq_poll(side->cq, 16, wcs, &got));
        all += got;
    } while (got);
    return all;
}

void srd_alive(struct srd_side *from, struct srd_side *to, vbn_peer *peer) {
    static uint32_t seed = 5000;
    vbn_wc wcs[2];
    fill(from->memory, 256, ++seed);
    memset(to->memory + 4096, 0, 256);
    srd_recv(to, 1000000, 4096, 256);
    vbn_send_wr wr = srd_wr(from, peer, VBN_WR_SEND, 999999, 0, 256);
    srd_post(from, &wr);
    srd_wait(from, from == to ? 2 : 1, wcs);
    if (from != to) srd_wait(to, 1, wcs + 1);
    for (int i = 0; i < 2; i++) CHECK_OK(vbn_wc_check(wcs + i));
    CHECK_UEQ(wcs[0].wr_id, 999999);
    CHECK_UEQ(wcs[1].wr_id, 1000000);
    CHECK_UEQ(wcs[1].byte_len, 256);
    CHECK_MEM(to->memory + 4096, from->memory, 256);
}

/* ---- runs of their own ---- */

/* The child: exec of the runner, which execs this program once more. It leaves the run that it is in. */
static void exec_runner(const char *softnic, const char *option, const char *file, const char *name) {
    const char *profile = getenv("VBN_TEST_PROFILE");
    char device[64], self[4096];
    snprintf(device, sizeof device, "efa,profile=%s,count=2", profile && *profile ? profile : "p5");
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) _exit(126);
    self[length] = 0;
    unsetenv("LD_PRELOAD");
    unsetenv("SOFTNIC_DIR");
    execl(softnic, softnic, "run", "--device", device, option, file, "--", self, "--inner", name, (char *)NULL);
    _exit(127);
}

/* Runs a test with an option that names a file, which begins with `rules`. Returns a descriptor of it; its name is gone by then. */
static int run_inner(const char *option, const char *rules, const char *name) {
    const char *softnic = getenv("VBN_TEST_SOFTNIC");
    need_efa(test_device());
    if (!softnic || !*softnic) SKIP("needs softnic's runner: VBN_TEST_SOFTNIC");
    char file[] = "/tmp/vbn-inner-XXXXXX";
    int fd = mkstemp(file);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, rules, strlen(rules)), (ssize_t)strlen(rules));
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) exec_runner(softnic, option, file, name);
    int status = -1;
    pid_t waited = waitpid(pid, &status, 0);
    unlink(file);
    CHECK(pid > 0 && waited == pid);
    if (status != 0) FAIL("%s in a run of its own with %s: wait status 0x%x (its own words are in the lines above)", name, option, status);
    return fd;
}

void under_faults(const char *rules, const char *name) {
    close(run_inner("--fault", rules, name));
}

char *under_trace(const char *name) {
    int fd = run_inner("--trace", "", name);
    off_t size = lseek(fd, 0, SEEK_END);
    CHECK(size > 0);
    char *text = malloc((size_t)size + 1);
    CHECK(text != NULL);
    CHECK_EQ(pread(fd, text, (size_t)size, 0), size);
    text[size] = 0;
    close(fd);
    return text;
}

int srd_main(const char *program, const struct test *tests, const struct test *inner, int argc, char **argv) {
    if (argc != 3 || strcmp(argv[1], "--inner") != 0) return test_main(program, tests, argc, argv);
    for (; inner->name; inner++)
        if (strcmp(inner->name, argv[2]) == 0) return test_child(program, inner);
    return 2;
}
