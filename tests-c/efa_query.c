/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What only an EFA can be asked, through the libefa that serves the device: each question is answered by a new one, and refused with the release it
 * needs by an old one. On a device that is no EFA all are refused.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "srd.h"

static uint8_t memory[4096];

static vbn_library_info library(void) {
    vbn_library_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_library_query(VBN_LIBRARY_EFA, &info));
    CHECK_EQ(info.library, VBN_LIBRARY_EFA);
    return info;
}

static vbn_context *open_device(void) {
    vbn_context *context = NULL;
    need_known(test_device());
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    return context;
}

static int is_efa(vbn_context *context) {
    vbn_efa_device_info info = {.struct_size = sizeof info};
    vbn_status status = vbn_efa_query_device(context, &info);
    if (status == VBN_ERR_NOT_SUPPORTED) return 0;
    CHECK_STATUS(status, VBN_OK);
    return 1;
}

static vbn_context *open_efa(void) {
    vbn_context *context = open_device();
    if (!is_efa(context)) {
        CHECK_OK(vbn_context_close(&context));
        SKIP("needs an EFA");
    }
    return context;
}

static vbn_efa_device_info device_info(vbn_context *context) {
    vbn_efa_device_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_efa_query_device(context, &info));
    return info;
}

/* Whether the libefa in use has a symbol; what it lacks is listed. */
static int has(const char *name, uint32_t *since) {
    vbn_library_info info = library();
    CHECK_EQ(info.loaded, 1);
    for (uint32_t i = 0; i < info.missing_count; i++) {
        vbn_symbol_info symbol = {.struct_size = sizeof symbol};
        CHECK_OK(vbn_library_missing(VBN_LIBRARY_EFA, i, &symbol));
        if (strcmp(symbol.name, name) == 0) {
            *since = (uint32_t)atoi(symbol.since);
            CHECK(*since > info.release_min);
            CHECK(*since >= info.release_below);
            return 0;
        }
    }
    return 1;
}

/* Whether `status` is an answer. If libefa lacks the symbol, it must be the refusal that says so. */
static int answered(vbn_status status, const char *name) {
    char wanted[64];
    uint32_t since = 0;
    vbn_error_info error = test_error();
    if (has(name, &since)) {
        CHECK_STATUS(status, VBN_OK);
        return 1;
    }
    snprintf(wanted, sizeof wanted, "rdma-core %u or newer", since);
    CHECK_STATUS(status, VBN_ERR_SYMBOL_MISSING);
    CHECK_HAS(error.message, name);
    CHECK_HAS(error.message, wanted);
    CHECK_HAS(error.message, test_device());
    return 0;
}

/* ---- the library; the first two before anything is loaded ---- */

static void library_before(void) {
    vbn_symbol_info symbol = {.struct_size = sizeof symbol};
    vbn_library_info info = library();
    CHECK_EQ(info.loaded, 0);
    CHECK_EQ(info.source, VBN_LIBRARY_FROM_PROVIDER);
    CHECK_HAS(info.error, "no EFA device has been opened yet");
    CHECK_STR(info.path, "libefa.so.1");
    CHECK_UEQ(info.release_min + info.missing_count + info.copies, 0);
    CHECK_STATUS(vbn_library_missing(VBN_LIBRARY_EFA, 0, &symbol), VBN_ERR_LIBRARY_MISSING);
}

/*
 * A copy that something has loaded before registers itself with libibverbs, which then lets it serve the device. Its functions are the ones to take:
 * those of the usual file, which comes later, would refuse the device.
 */
static const char *skipped; /* why with_a_copy was */

static void with_a_copy(void) {
    char directory[] = "/tmp/verbena-efa-XXXXXX", path[64], usual[256];
    Dl_info origin;
    void *handle = dlopen("libefa.so.1", RTLD_NOW | RTLD_LOCAL), *query = handle ? dlsym(handle, "efadv_query_device") : NULL;
    if (!query) SKIP("%s", skipped = "no libefa.so.1 is installed");
    CHECK(dladdr(query, &origin) != 0 && mkdtemp(directory));
    snprintf(path, sizeof path, "%s/libefa.so.1", directory);
    snprintf(usual, sizeof usual, "%s", origin.dli_fname);
    test_copy_file(usual, path);
    CHECK_EQ(dlclose(handle), 0);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    rmdir(directory);
    CHECK(handle);
    vbn_library_info info = library();
    CHECK_EQ(info.loaded, 0);
    CHECK_UEQ(info.copies, 1);
    CHECK_STR(info.path, path);
    CHECK_STR(info.other_path, "");
    uint32_t devices = 0;
    CHECK_OK(vbn_device_list(NULL, sizeof(vbn_device_info), 0, &devices));
    if (devices == 0) SKIP("%s", skipped = "needs a device that this libefa knows");
    vbn_context *context = open_device();
    if (!is_efa(context)) SKIP("%s", skipped = "needs an EFA");
    info = library();
    CHECK_EQ(info.loaded, 1);
    CHECK_EQ(info.source, VBN_LIBRARY_FROM_PROVIDER);
    CHECK_STR(info.path, path);
    CHECK_UEQ(info.copies, 1);
    CHECK(dlopen(usual, RTLD_NOW | RTLD_GLOBAL));
    info = library();
    CHECK_UEQ(info.copies, 2);
    CHECK_STR(info.path, path);
    CHECK_STR(info.other_path, usual);
    CHECK(device_info(context).max_sq_wr > 0);
    CHECK_OK(vbn_context_close(&context));
    context = open_efa();
    CHECK_STR(library().path, path);
    CHECK_OK(vbn_context_close(&context));
}

static void second_copy(void) {
    static const struct test test = {"second_copy", with_a_copy};
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int failed = test_child("efa_query", &test);
        _exit(skipped ? 77 : failed);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) SKIP("needs an EFA and an installed libefa");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/*
 * Which functions there are, with which symbol version, against the release that the file's name tells: libefa.so.1.4.65.0. What is missing must be
 * newer than that.
 */
static void symbols(void) {
    vbn_context *context = open_efa();
    vbn_library_info info = library();
    char file[4096];
    CHECK(realpath(info.path, file) != NULL);
    const char *numbers = strstr(file, "libefa.so.1.");
    unsigned abi, release;
    if (!numbers || sscanf(numbers, "libefa.so.1.%u.%u.", &abi, &release) != 2) SKIP("%s doesn't tell its release", file);
    test_note("libefa of rdma-core %u lacks %u functions", release, info.missing_count);
    for (uint32_t i = 0; i < info.missing_count; i++) {
        vbn_symbol_info symbol = {.struct_size = sizeof symbol};
        CHECK_OK(vbn_library_missing(VBN_LIBRARY_EFA, i, &symbol));
        if ((unsigned)atoi(symbol.since) <= release) FAIL("%s, version %s, is not found in release %u, and should be there since %s", symbol.name, symbol.version, release, symbol.since);
    }
    CHECK(info.release_min <= release && (info.release_below == 0 || release < info.release_below));
    CHECK_OK(vbn_context_close(&context));
}

static void library_after(void) {
    vbn_context *context = open_efa();
    vbn_library_info info = library();
    vbn_symbol_info symbol = {.struct_size = sizeof symbol};
    vbn_library_attr attr = {.struct_size = sizeof attr, .library = VBN_LIBRARY_EFA};
    CHECK_EQ(info.loaded, 1);
    CHECK_EQ(info.source, VBN_LIBRARY_FROM_PROVIDER);
    CHECK_STR(info.error, "");
    CHECK_HAS(info.path, "libefa");
    CHECK_EQ(info.path[0], '/');
    CHECK_UEQ(info.copies, 1);
    CHECK_STR(info.other_path, "");
    CHECK(info.release_min >= 26);
    CHECK((info.missing_count == 0) == (info.release_below == 0));
    test_note("libefa of rdma-core %u or newer; it lacks %u symbols", info.release_min, info.missing_count);
    CHECK_STATUS(vbn_library_missing(VBN_LIBRARY_EFA, info.missing_count, &symbol), VBN_ERR_NOT_FOUND);
    /* It is settled now. */
    CHECK_OK(vbn_library_init(&attr));
    attr.path = "/nonexistent/libefa.so.1";
    CHECK_STATUS(vbn_library_init(&attr), VBN_ERR_BUSY);
    CHECK_HAS(test_error().message, "libefa");
    CHECK_OK(vbn_context_close(&context));
}

/* ---- the device ---- */

static void device(void) {
    vbn_context *context = open_efa();
    vbn_efa_device_info info = device_info(context);
    vbn_device_attr attr = {.struct_size = sizeof attr};
    vbn_library_info lib = library();
    uint32_t since;
    CHECK_OK(vbn_context_query_device(context, &attr));
    CHECK(info.max_sq_wr > 0 && info.max_rq_wr > 0);
    CHECK(info.max_sq_sge > 0 && info.max_rq_sge > 0);
    CHECK_UEQ(info.max_sq_sge > info.max_rq_sge ? info.max_rq_sge : info.max_sq_sge, attr.max_sge);
    CHECK(info.inline_buf_size > 0);
    CHECK_EQ(info.max_rdma_size >= 1 << 20, !!(info.caps & (VBN_EFA_CAP_RDMA_READ | VBN_EFA_CAP_RDMA_WRITE)));
    CHECK_UEQ(info.caps >> 7, 0);
    if (has("efadv_get_max_sq_depth", &since)) CHECK(info.inline_buf_size_ex >= info.inline_buf_size);
    else CHECK_UEQ(info.inline_buf_size_ex, 0);
    if (lib.release_below && lib.release_below <= 46) CHECK_UEQ(info.caps & VBN_EFA_CAP_RDMA_WRITE, 0);
    CHECK_OK(vbn_context_close(&context));
}

static void depths(void) {
    vbn_context *context = open_efa();
    vbn_efa_device_info info = device_info(context);
    vbn_efa_sq_attr sq = {.struct_size = sizeof sq, .max_send_sge = 1, .max_rdma_sge = 1};
    vbn_efa_rq_attr rq = {.struct_size = sizeof rq};
    uint32_t depth = 77, large = 77;
    /* It would divide by zero in the provider. */
    CHECK_STATUS(vbn_efa_max_rq_depth(context, &rq, &depth), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "max_recv_sge 0");
    CHECK_UEQ(depth, 77);
    rq.max_recv_sge = 1;
    if (answered(vbn_efa_max_sq_depth(context, NULL, &depth), "efadv_get_max_sq_depth")) {
        CHECK_UEQ(depth, info.max_sq_wr);
        CHECK_OK(vbn_efa_max_sq_depth(context, &sq, &depth));
        CHECK_UEQ(depth, info.max_sq_wr);
        sq.flags = VBN_EFA_SQ_INLINE_WRITE;
        CHECK_OK(vbn_efa_max_sq_depth(context, &sq, &large));
        CHECK_UEQ(large, depth / 2);
        sq.flags = 0;
        sq.max_send_sge = info.max_sq_sge + 1;
        CHECK_STATUS(vbn_efa_max_sq_depth(context, &sq, &depth), VBN_ERR_LIMIT);
        CHECK_UEQ(test_error().limit, info.max_sq_sge);
        sq.max_send_sge = 1;
        sq.max_rdma_sge = 2;
        CHECK_STATUS(vbn_efa_max_sq_depth(context, &sq, &depth), VBN_ERR_LIMIT);
        CHECK_UEQ(test_error().limit, 1);
        sq.max_rdma_sge = 1;
        sq.max_inline_data = info.inline_buf_size_ex + 1;
        CHECK_STATUS(vbn_efa_max_sq_depth(context, &sq, &depth), VBN_ERR_LIMIT);
        CHECK_UEQ(test_error().limit, info.inline_buf_size_ex);
        sq.max_inline_data = info.inline_buf_size_ex;
        CHECK_OK(vbn_efa_max_sq_depth(context, &sq, &depth));
        CHECK_UEQ(depth, info.inline_buf_size_ex > info.inline_buf_size ? large : info.max_sq_wr);
    }
    if (answered(vbn_efa_max_rq_depth(context, &rq, &depth), "efadv_get_max_rq_depth")) {
        CHECK_UEQ(depth, info.max_rq_wr);
        rq.max_recv_sge = info.max_rq_sge;
        CHECK_OK(vbn_efa_max_rq_depth(context, &rq, &depth));
        CHECK_UEQ(depth, info.max_rq_wr / info.max_rq_sge);
        rq.max_recv_sge = info.max_rq_sge + 1;
        CHECK_STATUS(vbn_efa_max_rq_depth(context, &rq, &depth), VBN_ERR_LIMIT);
    }
    CHECK_OK(vbn_context_close(&context));
}

/* ---- the objects ---- */

struct objects {
    vbn_context *context;
    vbn_pd *pd;
    vbn_mr *mr;
    vbn_cq *cq;
    vbn_qp *qp;
};

static struct objects open_objects(int32_t qp_type) {
    struct objects o = {.context = open_efa()};
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = 100};
    CHECK_OK(vbn_pd_alloc(o.context, NULL, &o.pd));
    CHECK_OK(vbn_mr_reg(o.pd, memory, sizeof memory, VBN_ACCESS_LOCAL_WRITE, NULL, &o.mr));
    CHECK_OK(vbn_cq_create(o.context, &cq, &o.cq));
    vbn_qp_init_attr qp = {.struct_size = sizeof qp, .qp_type = qp_type, .send_cq = o.cq, .recv_cq = o.cq, .max_send_wr = 50, .max_recv_wr = 60};
    if (qp_type >= 0) CHECK_OK(vbn_qp_create(o.pd, &qp, &o.qp));
    return o;
}

static void close_objects(struct objects *o) {
    CHECK_OK(vbn_qp_close(&o->qp));
    CHECK_OK(vbn_cq_close(&o->cq));
    CHECK_OK(vbn_mr_close(&o->mr));
    CHECK_OK(vbn_pd_close(&o->pd));
    CHECK_OK(vbn_context_close(&o->context));
}

/* Memory of this process, which can be read. */
static void check_mapped(const void *address, uint64_t length) {
    int fds[2];
    CHECK_EQ(pipe(fds), 0);
    CHECK_EQ(write(fds[1], address, length), (int64_t)length);
    close(fds[0]);
    close(fds[1]);
}

static void cq(void) {
    struct objects o = open_objects(-1);
    vbn_efa_cq_info info = {.struct_size = sizeof info};
    vbn_cq_info cq = {.struct_size = sizeof cq};
    CHECK_OK(vbn_cq_query(o.cq, &cq));
    if (answered(vbn_efa_query_cq(o.cq, &info), "efadv_query_cq")) {
        CHECK_UEQ(info.num_entries, cq.cqe);
        CHECK_UEQ(info.num_entries & (info.num_entries - 1), 0);
        CHECK(info.entry_size >= 32);
        check_mapped(info.buffer, info.entry_size);
        check_mapped((uint8_t *)info.buffer + info.entry_size * (info.num_entries - 1), info.entry_size);
    }
    close_objects(&o);
}

static void qp_of(int32_t type) {
    struct objects o = open_objects(type);
    vbn_efa_wq_info sq = {.struct_size = sizeof sq}, rq = {.struct_size = sizeof rq};
    if (answered(vbn_efa_query_qp(o.qp, &sq, &rq), "efadv_query_qp_wqs")) {
        CHECK(sq.num_entries >= 50 && rq.num_entries >= 60);
        CHECK_UEQ(sq.entry_size, 64);
        CHECK_UEQ(rq.entry_size, 16);
        CHECK(sq.max_batch > 0 && sq.doorbell && sq.buffer);
        CHECK(rq.max_batch > 0 && rq.doorbell && rq.doorbell != sq.doorbell);
        check_mapped(rq.buffer, rq.entry_size);
        CHECK_UEQ((sq.caps | rq.caps) & ~VBN_EFA_WQ_64_BIT_REQ_ID, 0);
        vbn_efa_wq_info one = {.struct_size = sizeof one};
        CHECK_OK(vbn_efa_query_qp(o.qp, NULL, &one));
        CHECK_MEM(&one, &rq, sizeof one);
        CHECK_OK(vbn_efa_query_qp(o.qp, &one, NULL));
        CHECK_MEM(&one, &sq, sizeof one);
    }
    close_objects(&o);
}

static void qp_srd(void) { qp_of(VBN_QPT_SRD); }
static void qp_ud(void) { qp_of(VBN_QPT_UD); }

/* What softnic's profiles from p5 on tell, each for what the region is open to: local ones for receives and reads, one that peers write to besides. */
static void interconnects(struct objects *o) {
    const char *profile = getenv("VBN_TEST_PROFILE");
    if (!profile || strncmp(profile, "p5", 2) != 0) return;
    for (int written = 0; written < 2; written++) {
        vbn_efa_mr_info info = {.struct_size = sizeof info};
        vbn_mr *mr = NULL;
        CHECK_OK(vbn_mr_reg(o->pd, memory, sizeof memory, VBN_ACCESS_LOCAL_WRITE | (written ? VBN_ACCESS_REMOTE_WRITE : 0), NULL, &mr));
        CHECK_OK(vbn_efa_query_mr(mr, &info));
        CHECK_UEQ(info.valid, VBN_EFA_MR_RECV_IC_ID | VBN_EFA_MR_RDMA_READ_IC_ID | (written ? VBN_EFA_MR_RDMA_RECV_IC_ID : 0));
        CHECK_UEQ(info.recv_ic_id, 1);
        CHECK_UEQ(info.rdma_read_ic_id, 2);
        CHECK_UEQ(info.rdma_recv_ic_id, written ? 3 : 0);
        CHECK_OK(vbn_mr_close(&mr));
    }
}

static void mr(void) {
    struct objects o = open_objects(-1);
    vbn_efa_mr_info info = {.struct_size = sizeof info};
    if (answered(vbn_efa_query_mr(o.mr, &info), "efadv_query_mr")) {
        CHECK_UEQ(info.valid & ~(uint32_t)(VBN_EFA_MR_RECV_IC_ID | VBN_EFA_MR_RDMA_READ_IC_ID | VBN_EFA_MR_RDMA_RECV_IC_ID), 0);
        CHECK(info.valid & VBN_EFA_MR_RECV_IC_ID || info.recv_ic_id == 0);
        CHECK(info.valid & VBN_EFA_MR_RDMA_READ_IC_ID || info.rdma_read_ic_id == 0);
        CHECK(info.valid & VBN_EFA_MR_RDMA_RECV_IC_ID || info.rdma_recv_ic_id == 0);
        interconnects(&o);
    }
    close_objects(&o);
}

/* A handle for one's own GID: one number, however many handles; another for another GID. */
static void ah(void) {
    struct objects o = open_objects(-1);
    vbn_ah *handles[3] = {NULL, NULL, NULL};
    uint16_t numbers[3] = {0xffff, 0xffff, 0xffff};
    for (int i = 0; i < 3; i++) {
        vbn_ah_attr attr = {.struct_size = sizeof attr};
        CHECK_OK(vbn_context_query_gid(o.context, 1, 0, attr.path.dgid));
        if (i == 2) attr.path.dgid[15] ^= 1;
        CHECK_OK(vbn_ah_create(o.pd, &attr, &handles[i]));
        CHECK_OK(vbn_efa_query_ah(handles[i], &numbers[i]));
    }
    CHECK_UEQ(numbers[0], numbers[1]);
    CHECK(numbers[0] != numbers[2]);
    for (int i = 0; i < 3; i++) CHECK_OK(vbn_ah_close(&handles[i]));
    close_objects(&o);
}

/* ---- another device ---- */

static void not_an_efa(void) {
    vbn_context *context = open_device();
    if (is_efa(context)) {
        CHECK_OK(vbn_context_close(&context));
        SKIP("the device is an EFA");
    }
    vbn_efa_rq_attr rq = {.struct_size = sizeof rq, .max_recv_sge = 1};
    vbn_efa_cq_info cq_info = {.struct_size = sizeof cq_info};
    vbn_efa_mr_info mr_info = {.struct_size = sizeof mr_info};
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16};
    vbn_pd *pd = NULL;
    vbn_cq *cq = NULL;
    vbn_mr *mr = NULL;
    uint32_t depth;
    CHECK_HAS(test_error().message, test_device());
    CHECK_OK(vbn_pd_alloc(context, NULL, &pd));
    CHECK_OK(vbn_cq_create(context, &attr, &cq));
    CHECK_OK(vbn_mr_reg(pd, memory, sizeof memory, 0, NULL, &mr));
    CHECK_STATUS(vbn_efa_query_cq(cq, &cq_info), VBN_ERR_NOT_SUPPORTED);
    CHECK_STATUS(vbn_efa_query_mr(mr, &mr_info), VBN_ERR_NOT_SUPPORTED);
    CHECK_STATUS(vbn_efa_max_sq_depth(context, NULL, &depth), VBN_ERR_NOT_SUPPORTED);
    CHECK_STATUS(vbn_efa_max_rq_depth(context, &rq, &depth), VBN_ERR_NOT_SUPPORTED);
    CHECK_HAS(test_error().message, "EFA");
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_OK(vbn_cq_close(&cq));
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_OK(vbn_context_close(&context));
}

static const struct test tests[] = {
    {"library_before", library_before}, {"second_copy", second_copy}, {"library_after", library_after}, {"symbols", symbols}, {"device", device}, {"depths", depths},
    {"cq", cq}, {"qp_srd", qp_srd}, {"qp_ud", qp_ud}, {"mr", mr}, {"ah", ah}, {"not_an_efa", not_an_efa}, {NULL, NULL},
};

int main(int argc, char **argv) { return test_main("efa_query", tests, argc, argv); }
