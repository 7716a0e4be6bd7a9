/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which libibverbs is loaded, and what becomes of an old, a hidden, a wrong or a missing one. The library is loaded once a
 * process, so every test runs in a child. VBN_NULL_DIR is the folder of the null provider's builds.
 */
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "null_help.h"

static const char *folder;

static const char *path_of(const char *file)
{
    static char path[1024];

    snprintf(path, sizeof(path), "%s/%s", folder, file);
    return path;
}

static void use(const char *path)
{
    MUST(!setenv("VBN_IBVERBS_LIBRARY", path, 1), "setenv");
}

static vbn_library_info query(void)
{
    NEW(vbn_library_info, info);

    OK(vbn_library_query(VBN_LIBRARY_IBVERBS, &info));
    MUST(info.library == VBN_LIBRARY_IBVERBS, "library %d", info.library);
    MUST(!!info.loaded == !info.error[0], "loaded %u, error: %s", info.loaded, info.error);
    return info;
}

static uint32_t devices(void)
{
    uint32_t count = 77;

    OK(vbn_device_list(NULL, 0, 0, &count));
    return count;
}

static vbn_device_list_reason_info reason(void)
{
    NEW(vbn_device_list_reason_info, info);

    OK(vbn_device_list_reason(&info));
    return info;
}

/* Everything as usual: two devices that open and work. */
static void works(void)
{
    vbn_send_wr wr = {.opcode = VBN_WR_SEND};
    uint32_t posted;
    struct rig g;

    MUST(devices() == 2, "%u devices", devices());
    MUST(reason().reason == VBN_REASON_NONE, "reason %d: %s", reason().reason, reason().message);
    g = rig_open();
    OK(vbn_qp_post_send(g.qp, &wr, 1, &posted));
    rig_close(&g);
}

/* Finds a symbol among the missing ones. */
static int lacks(const char *name, vbn_symbol_info *info)
{
    vbn_library_info library = query();

    for (uint32_t i = 0; i < library.missing_count; i++) {
        memset(info, 0xa5, sizeof(*info));
        info->struct_size = sizeof(*info);
        OK(vbn_library_missing(VBN_LIBRARY_IBVERBS, i, info));
        MUST(info->name[0] && !strncmp(info->version, "IBVERBS_1", 9) && atoi(info->since) > 0, "missing symbol %u: %s %s since %s", i,
             info->name, info->version, info->since);
        if (!strcmp(info->name, name))
            return 1;
    }
    WANT(vbn_library_missing(VBN_LIBRARY_IBVERBS, library.missing_count, info), VBN_ERR_NOT_FOUND);
    return 0;
}

static void dmabuf_needs_34(void)
{
    vbn_context *context;
    vbn_mr *mr = (void *)&context;
    vbn_pd *pd;
    NEW(vbn_caps, caps);
    char text[256];

    OK(vbn_context_open(NULL, NULL, &context));
    OK(vbn_context_caps(context, &caps));
    OK(vbn_caps_reason(&caps, VBN_CAP_DMABUF, text, sizeof(text), NULL));
    MUST(!(caps.caps & VBN_CAP_DMABUF) && strstr(text, "no ibv_reg_dmabuf_mr for dma-buf regions; it needs rdma-core 34"), "%s", text);
    OK(vbn_pd_alloc(context, NULL, &pd));
    WANT(vbn_mr_reg_dmabuf(pd, 5, 0, 64, 0, 0, NULL, &mr), VBN_ERR_SYMBOL_MISSING);
    WANT_TEXT("ibv_reg_dmabuf_mr");
    WANT_TEXT("rdma-core 34");
    MUST(!mr, "*out");
    OK(vbn_pd_close(&pd));
    OK(vbn_context_close(&context));
}

/* ---- The tests, each in a process of its own ---- */

static void current(void)
{
    vbn_library_info info;
    vbn_symbol_info symbol;

    use(path_of("libibverbs.so.1"));
    works();
    info = query();
    MUST(info.loaded && info.source == VBN_LIBRARY_FROM_ENV, "source %d", info.source);
    MUST(info.release_min >= 34 && info.release_min <= 44, "release_min %u", info.release_min);
    MUST(!info.release_below || info.release_below > 44, "release_below %u", info.release_below);
    MUST(strstr(info.path, "libibverbs.so.1"), "path %s", info.path);
    MUST(info.copies == 1 && !info.other_path[0], "%u copies, %s", info.copies, info.other_path);
    MUST(!lacks("ibv_reg_dmabuf_mr", &symbol), "ibv_reg_dmabuf_mr is missing");
}

static void old33(void)
{
    vbn_library_info info;
    vbn_symbol_info symbol;

    use(path_of("old33/libibverbs.so.1"));
    works();
    info = query();
    MUST(info.loaded && info.missing_count > 0, "%u missing", info.missing_count);
    MUST(info.release_min <= 33 && info.release_below == 34, "release %u to %u", info.release_min, info.release_below);
    MUST(lacks("ibv_reg_dmabuf_mr", &symbol), "ibv_reg_dmabuf_mr is not missing");
    CHECK_STR(symbol.since, "34");
    CHECK_STR(symbol.needed_by, "vbn_mr_reg_dmabuf");
    MUST(!symbol.required, "required");
    MUST(lacks("ibv_is_fork_initialized", &symbol), "ibv_is_fork_initialized is not missing");
    MUST(!lacks("ibv_open_device", &symbol), "ibv_open_device is missing");
    MUST(query().fork_state == VBN_FORK_UNKNOWN, "fork_state %d", query().fork_state);
    OK(vbn_fork_init());
    dmabuf_needs_34();
}

static void too_old(void)
{
    NEW(vbn_symbol_info, symbol);
    vbn_context *context = (void *)&symbol;
    vbn_library_info info;

    use(path_of("v14/libibverbs.so.1"));
    MUST(devices() == 0, "%u devices", devices());
    MUST(reason().reason == VBN_REASON_LIBRARY_UNUSABLE, "reason %d", reason().reason);
    MUST(strstr(reason().message, "rdma-core 33"), "message: %s", reason().message);
    WANT(vbn_context_open(NULL, NULL, &context), VBN_ERR_SYMBOL_MISSING);
    WANT_TEXT("rdma-core");
    MUST(strstr(last()->object, "libibverbs.so.1"), "object %s", last()->object);
    MUST(!context, "*out");
    WANT(vbn_fork_init(), VBN_ERR_SYMBOL_MISSING);
    info = query();
    MUST(!info.loaded && !info.release_min && info.missing_count > 0, "loaded %u", info.loaded);
    MUST(strstr(info.error, "lacks"), "error: %s", info.error);
    OK(vbn_library_missing(VBN_LIBRARY_IBVERBS, 0, &symbol));
    MUST(lacks("_ibv_query_gid_ex", &symbol) || lacks("ibv_qp_to_qp_ex", &symbol) || symbol.name[0], "nothing is missing");
    /* Another one can still be had. */
    {
        NEW(vbn_library_attr, attr);

        attr.path = path_of("libibverbs.so.1");
        OK(vbn_library_init(&attr));
        works();
    }
}

static void missing(void)
{
    NEW(vbn_library_attr, attr);
    NEW(vbn_symbol_info, symbol);
    vbn_context *context = (void *)&attr;
    vbn_library_info info;

    use("/nonexistent/libibverbs.so.1");
    MUST(devices() == 0, "%u devices", devices());
    MUST(reason().reason == VBN_REASON_LIBRARY_MISSING && reason().count == 0, "reason %d", reason().reason);
    MUST(strstr(reason().message, "/nonexistent/libibverbs.so.1"), "message: %s", reason().message);
    MUST(strstr(reason().message, "install"), "message: %s", reason().message);
    WANT(vbn_context_open("null0", NULL, &context), VBN_ERR_LIBRARY_MISSING);
    CHECK_STR(last()->object, "/nonexistent/libibverbs.so.1");
    WANT_TEXT("install");
    MUST(!context, "*out");
    WANT(vbn_context_adopt((struct ibv_context *)(void *)&attr, NULL, &context), VBN_ERR_LIBRARY_MISSING);
    WANT(vbn_fork_init(), VBN_ERR_LIBRARY_MISSING);
    WANT(vbn_library_missing(VBN_LIBRARY_IBVERBS, 0, &symbol), VBN_ERR_LIBRARY_MISSING);
    info = query();
    MUST(!info.loaded && info.source == VBN_LIBRARY_FROM_ENV && info.fork_state == VBN_FORK_UNKNOWN, "source %d", info.source);
    CHECK_STR(info.path, "/nonexistent/libibverbs.so.1");
    MUST(strstr(info.error, "No such file"), "the linker's own words: %s", info.error);
    /* Corrected, it works. */
    attr.path = path_of("libibverbs.so.1");
    OK(vbn_library_init(&attr));
    works();
    info = query();
    MUST(info.loaded && info.source == VBN_LIBRARY_FROM_PATH, "source %d", info.source);
    /* Now it is settled. */
    OK(vbn_library_init(&attr));
    attr.path = "/nonexistent/libibverbs.so.1";
    WANT(vbn_library_init(&attr), VBN_ERR_BUSY);
    WANT(vbn_library_init(NULL), VBN_ERR_BUSY);
    works();
}

/* The variable may be corrected too: each call that needs the library tries again. */
static void missing_at_first(void)
{
    use("/nonexistent/libibverbs.so.1");
    MUST(devices() == 0, "%u devices", devices());
    use(path_of("libibverbs.so.1"));
    works();
}

static void not_a_library(void)
{
    use("/etc/passwd");
    MUST(devices() == 0 && reason().reason == VBN_REASON_LIBRARY_MISSING, "reason %d", reason().reason);
    MUST(query().error[0], "no error");
    /* A library, but another one. */
    use("libc.so.6");
    MUST(devices() == 0 && reason().reason == VBN_REASON_LIBRARY_UNUSABLE, "reason %d", reason().reason);
    MUST(strstr(query().error, "lacks"), "error: %s", query().error);
}

static void by_handle(void)
{
    NEW(vbn_library_attr, attr);

    use("/nonexistent/libibverbs.so.1");
    attr.handle = dlopen(path_of("libibverbs.so.1"), RTLD_NOW | RTLD_LOCAL);
    MUST(attr.handle, "dlopen: %s", dlerror());
    OK(vbn_library_init(&attr));
    works();
    MUST(query().source == VBN_LIBRARY_FROM_HANDLE, "source %d", query().source);
    MUST(strstr(query().path, "libibverbs.so.1"), "path %s", query().path);
}

/* ---- A lookup function ---- */

struct lookup {
    void *library;
    const char *hidden;
    unsigned calls;
};

static void *lookup(const char *symbol, const char *version, void *arg)
{
    struct lookup *l = arg;
    size_t length = strlen(symbol);
    const char *at = l->hidden;

    l->calls++;
    /* A whole word among the hidden ones. */
    for (; at && (at = strstr(at, symbol)); at += length)
        if ((at == l->hidden || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return NULL;
    return dlvsym(l->library, symbol, version);
}

static struct lookup hiding(const char *symbols)
{
    struct lookup l = {.library = dlopen(path_of("libibverbs.so.1"), RTLD_NOW | RTLD_LOCAL), .hidden = symbols};

    MUST(l.library, "dlopen: %s", dlerror());
    return l;
}

static void by_lookup(void)
{
    struct lookup l = hiding(NULL);
    NEW(vbn_library_attr, attr);

    use("/nonexistent/libibverbs.so.1");
    attr.lookup = lookup;
    attr.lookup_arg = &l;
    OK(vbn_library_init(&attr));
    MUST(!l.calls, "vbn_library_init has loaded something");
    works();
    MUST(l.calls > 20, "%u symbols looked up", l.calls);
    MUST(query().source == VBN_LIBRARY_FROM_LOOKUP, "source %d", query().source);
    OK(vbn_library_init(&attr));
    attr.lookup_arg = NULL;
    WANT(vbn_library_init(&attr), VBN_ERR_BUSY);
}

static void optional_symbols_are_hidden(void)
{
    struct lookup l = hiding("ibv_reg_dmabuf_mr ibv_is_fork_initialized ibv_fork_init ibv_query_port_speed");
    NEW(vbn_library_attr, attr);
    vbn_symbol_info symbol;

    attr.lookup = lookup;
    attr.lookup_arg = &l;
    OK(vbn_library_init(&attr));
    works();
    MUST(lacks("ibv_reg_dmabuf_mr", &symbol) && lacks("ibv_fork_init", &symbol), "what is hidden isn't missing");
    CHECK_STR(symbol.needed_by, "vbn_fork_init");
    dmabuf_needs_34();
    WANT(vbn_fork_init(), VBN_ERR_SYMBOL_MISSING);
    WANT_TEXT("ibv_fork_init");
}

/* Each required symbol hidden by itself: a clear error that names it. */
static void a_required_symbol_is_hidden(void)
{
    static const char *const required[] = {"ibv_get_device_list", "ibv_open_device", "ibv_reg_mr_iova2", "ibv_create_qp", "ibv_modify_qp",
                                           "ibv_create_cq", "ibv_alloc_pd", "ibv_get_async_event", "ibv_destroy_qp"};
    NEW(vbn_library_attr, attr);
    vbn_context *context;

    for (size_t i = 0; i < ARRAY_SIZE(required); i++) {
        struct lookup l = hiding(required[i]);
        vbn_symbol_info symbol;

        attr.lookup = lookup;
        attr.lookup_arg = &l;
        OK(vbn_library_init(&attr));
        WANT(vbn_context_open(NULL, NULL, &context), VBN_ERR_SYMBOL_MISSING);
        WANT_TEXT(required[i]);
        MUST(devices() == 0 && reason().reason == VBN_REASON_LIBRARY_UNUSABLE, "reason %d", reason().reason);
        MUST(lacks(required[i], &symbol) && symbol.required, "%s isn't required", required[i]);
        CHECK_STR(symbol.needed_by, "everything");
        attr.lookup_arg = NULL;
    }
}

/* ---- Lists ---- */

static void no_device(void)
{
    vbn_context *context;

    use(path_of("libibverbs.so.1"));
    setenv("NULLV_DEVICES", "0", 1);
    MUST(devices() == 0, "%u devices", devices());
    MUST(reason().reason == VBN_REASON_NO_MODULE || reason().reason == VBN_REASON_NO_DEVICE || reason().reason == VBN_REASON_NO_PROVIDER,
         "reason %d: %s", reason().reason, reason().message);
    MUST(strlen(reason().message) > 20, "message: %s", reason().message);
    WANT(vbn_context_open(NULL, NULL, &context), VBN_ERR_NOT_FOUND);
    WANT_TEXT("vbn_device_list_reason");
    WANT(vbn_context_open("null0", NULL, &context), VBN_ERR_NOT_FOUND);
    setenv("NULLV_DEVICES", "16", 1);
    MUST(devices() == 16, "%u devices", devices());
}

static void list_errno(void)
{
    vbn_context *context;

    use(path_of("libibverbs.so.1"));
    setenv("NULLV_LIST_ERRNO", "38", 1);
    MUST(devices() == 0, "%u devices", devices());
    MUST(reason().reason == VBN_REASON_NO_MODULE || reason().reason == VBN_REASON_NO_DEVICE || reason().reason == VBN_REASON_NO_PROVIDER,
         "reason %d: %s", reason().reason, reason().message);
    WANT(vbn_context_open(NULL, NULL, &context), VBN_ERR_NOT_FOUND);
    unsetenv("NULLV_LIST_ERRNO");
    works();
}

/* ---- A second copy of the library in the process ---- */

static void another_copy(void)
{
    char directory[] = "/tmp/verbena-copy-XXXXXX", path[64];
    struct ibv_device **(*get_list)(int *);
    struct ibv_context *(*open_device)(struct ibv_device *);
    int (*close_device)(struct ibv_context *);
    void (*free_list)(struct ibv_device **);
    struct ibv_device **list;
    struct ibv_context *theirs;
    vbn_context *context = (void *)path;
    void *library;

    use(path_of("libibverbs.so.1"));
    MUST(mkdtemp(directory), "mkdtemp");
    snprintf(path, sizeof(path), "%s/libibverbs.so.1", directory);
    test_copy_file(path_of("libibverbs.so.1"), path);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    rmdir(directory);
    MUST(library, "dlopen: %s", dlerror());
    *(void **)&get_list = dlsym(library, "ibv_get_device_list");
    *(void **)&open_device = dlsym(library, "ibv_open_device");
    *(void **)&close_device = dlsym(library, "ibv_close_device");
    *(void **)&free_list = dlsym(library, "ibv_free_device_list");
    list = get_list(NULL);
    MUST(list, "ibv_get_device_list");
    theirs = open_device(list[0]);
    free_list(list);
    MUST(theirs, "ibv_open_device");
    WANT(vbn_context_adopt(theirs, NULL, &context), VBN_ERR_ARGUMENT);
    CHECK_STR(last()->object, path);
    WANT_TEXT("vbn_library_init");
    MUST(!context, "*out");
    MUST(query().copies == 2, "%u copies", query().copies);
    CHECK_STR(query().other_path, path);
    MUST(!close_device(theirs), "the refused context can't be closed");
    works();
}

/* The installed library, whatever this machine has: listing never fails, and an empty list has its reason. */
static void installed(void)
{
    vbn_device_list_reason_info why;
    uint32_t count;

    unsetenv("VBN_IBVERBS_LIBRARY");
    if (!query().loaded)
        SKIP("no libibverbs.so.1 is installed: %s", query().error);
    MUST(query().source == VBN_LIBRARY_FROM_DEFAULT && query().path[0] == '/', "source %d, path %s", query().source, query().path);
    count = devices();
    why = reason();
    MUST(why.message[0] && (count || why.reason != VBN_REASON_NONE), "%u devices, reason %d: %s", count, why.reason, why.message);
    MUST(why.count == count || !count, "%u devices, %u with the reason", count, why.count);
}

/* ---- Without any library ---- */

/* What needs no device needs no library. */
static void nothing_needs_the_library(void)
{
    vbn_rc_record record = {.qp_num = 1, .port_num = 1, .mtu = 1}, back;
    uint8_t bytes[VBN_RC_RECORD_SIZE];
    vbn_wc wc = {.status = VBN_WC_GENERAL_ERR};
    vbn_context *context = NULL;
    vbn_pd *pd = NULL;
    vbn_mr *mr = NULL;
    vbn_channel *channel = NULL;
    vbn_cq *cq = NULL;
    vbn_qp *qp = NULL;
    uint32_t number = 77;

    use("/nonexistent/libibverbs.so.1");
    MUST(vbn_version() && vbn_version_string()[0], "version");
    CHECK_STR(vbn_status_name(VBN_ERR_LIBRARY_MISSING), "VBN_ERR_LIBRARY_MISSING");
    MUST(last()->status == VBN_OK && !last()->op && last()->message[0], "the record before any failure");
    OK(vbn_rc_record_encode(&record, bytes, sizeof(bytes)));
    OK(vbn_rc_record_decode(bytes, sizeof(bytes), &back));
    WANT(vbn_wc_check(&wc), VBN_ERR_COMPLETION);
    OK(vbn_context_close(&context));
    OK(vbn_pd_close(&pd));
    OK(vbn_mr_close(&mr));
    OK(vbn_channel_close(&channel));
    OK(vbn_cq_close(&cq));
    OK(vbn_qp_close(&qp));
    WANT(vbn_pd_alloc(NULL, NULL, &pd), VBN_ERR_ARGUMENT);
    WANT(vbn_channel_create(NULL, NULL, &channel), VBN_ERR_ARGUMENT);
    WANT(vbn_cq_create(NULL, NULL, &cq), VBN_ERR_ARGUMENT);
    WANT(vbn_qp_create(NULL, NULL, &qp), VBN_ERR_ARGUMENT);
    WANT(vbn_mr_reg(NULL, NULL, 0, 0, NULL, &mr), VBN_ERR_ARGUMENT);
    WANT(vbn_mr_reg_dmabuf(NULL, 0, 0, 0, 0, 0, NULL, &mr), VBN_ERR_ARGUMENT);
    WANT(vbn_cq_poll(NULL, 1, &wc, &number), VBN_ERR_ARGUMENT);
    WANT(vbn_cq_wait(NULL, 1, &wc, 0, -1, &number), VBN_ERR_ARGUMENT);
    WANT(vbn_qp_post_send(NULL, NULL, 0, &number), VBN_ERR_ARGUMENT);
    WANT(vbn_qp_post_recv(NULL, NULL, 0, &number), VBN_ERR_ARGUMENT);
    WANT(vbn_qp_connect_rc(NULL, &record, &back, NULL), VBN_ERR_ARGUMENT);
    WANT(vbn_context_query_gid(NULL, 1, 0, bytes), VBN_ERR_ARGUMENT);
    WANT(vbn_context_get_async_event(NULL, -1, NULL), VBN_ERR_ARGUMENT);
    MUST(!vbn_qp_num(NULL) && !vbn_mr_lkey(NULL) && !vbn_mr_rkey(NULL) && !vbn_mr_remote_addr(NULL) && vbn_channel_fd(NULL) == -1, "values");
    MUST(!number, "posted or got: %u", number);
}

/* ---- Children ---- */

/* Runs a test in a child; what it prints is the failure. */
static void in_child(const char *name, void (*body)(void))
{
    const struct test one[] = {{name, body}, {NULL, NULL}};
    char output[4096], *verdict;
    int fds[2], status;
    size_t n = 0;
    ssize_t got;
    pid_t child;

    fflush(stdout);
    MUST(!pipe(fds), "pipe");
    child = fork();
    MUST(child >= 0, "fork");
    if (!child) {
        char program[] = "child", *arguments[] = {program, NULL};

        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        exit(test_main("child", one, 1, arguments));
    }
    close(fds[1]);
    while (n < sizeof(output) - 1 && (got = read(fds[0], output + n, sizeof(output) - 1 - n)) > 0)
        n += (size_t)got;
    output[n] = '\0';
    close(fds[0]);
    MUST(waitpid(child, &status, 0) == child, "waitpid");
    output[strcspn(output, "\n")] = '\0';
    verdict = strstr(output, ": ");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        SKIP("%s", verdict ? verdict + 2 : output);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s (wait status 0x%x)", verdict ? verdict + 2 : output, (unsigned)status);
}

#define TESTS(X) \
    X(current) X(old33) X(too_old) X(missing) X(missing_at_first) X(not_a_library) X(by_handle) X(by_lookup) \
    X(optional_symbols_are_hidden) X(a_required_symbol_is_hidden) X(no_device) X(list_errno) X(another_copy) \
    X(installed) X(nothing_needs_the_library)

#define X(name) \
    static void child_##name(void) { in_child(#name, name); }
TESTS(X)
#undef X

static const struct test tests[] = {
#define X(name) {#name, child_##name},
    TESTS(X)
#undef X
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    folder = getenv("VBN_NULL_DIR");
    if (!folder) {
        fprintf(stderr, "VBN_NULL_DIR must name the folder of the null provider's builds; tests-c/run-null sets it\n");
        return 2;
    }
    return test_main("null_library", tests, argc, argv);
}
