/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* vbn_context_caps and vbn_device_find over a provider whose answers are made up: each attempt fails in turn, and nothing is left over. */
#include "null_help.h"

static vbn_context *context;
static vbn_caps caps;

static int at(uint64_t cap)
{
    int place = 0;

    while (cap >> place != 1)
        place++;
    return place;
}

static int has(uint64_t cap) { return (caps.caps & cap) == cap; }

static void want(uint64_t cap, int absence, int detail, const char *words)
{
    char text[512];

    OK(vbn_caps_reason(&caps, cap, text, sizeof(text), NULL));
    MUST(caps.absence[at(cap)] == absence && caps.detail[at(cap)] == detail, "%s: %s %d: %s", vbn_cap_name(cap),
         vbn_absence_name(caps.absence[at(cap)]), caps.detail[at(cap)], text);
    MUST(has(cap) == (absence == VBN_ABSENCE_NONE), "%s: the bit", vbn_cap_name(cap));
    MUST(strstr(text, words), "\"%s\" isn't in: %s", words, text);
}

static void begin(void)
{
    null_begin();
    OK(vbn_context_open("null0", NULL, &context));
}

static void ask(void)
{
    memset(&caps, 0xa5, sizeof(caps));
    caps.struct_size = sizeof(caps);
    OK(vbn_context_caps(context, &caps));
}

static void end(void)
{
    OK(vbn_context_close(&context));
    null_clean();
}

static void all_attempts_succeed(void)
{
    begin();
    ask();
    want(VBN_CAP_RC, VBN_ABSENCE_NONE, 0, "null0 has RC queue pairs");
    want(VBN_CAP_WRITE_IMM, VBN_ABSENCE_NONE, 0, "has RDMA WRITE with immediate");
    want(VBN_CAP_NOTIFY, VBN_ABSENCE_NONE, 0, "has completion notifications");
    want(VBN_CAP_DMABUF, VBN_ABSENCE_NONE, 0, "has dma-buf regions");
    want(VBN_CAP_SRD, VBN_ABSENCE_TRANSPORT, 0, "use RC");
    MUST(has(VBN_CAP_UC | VBN_CAP_UD | VBN_CAP_INLINE) && caps.max_inline >= 32 && !caps.efa, "caps %llx", (unsigned long long)caps.caps);
    end();
}

static void types_that_are_refused(void)
{
    begin();
    /* RC with inline data, RC without, UC, UD. */
    null.fail("ibv_create_qp", 1, EOPNOTSUPP);
    null.fail("ibv_create_qp", 2, EINVAL);
    ask();
    want(VBN_CAP_RC, VBN_ABSENCE_DRIVER, EINVAL, "refuses RC queue pairs: Invalid argument (errno 22)");
    want(VBN_CAP_READ, VBN_ABSENCE_DRIVER, EINVAL, "refuses RDMA READ");
    want(VBN_CAP_ORDERED, VBN_ABSENCE_DRIVER, EINVAL, "");
    want(VBN_CAP_WRITE, VBN_ABSENCE_NONE, 0, ""); /* by UC */
    want(VBN_CAP_INLINE, VBN_ABSENCE_DRIVER, EINVAL, "");
    MUST(has(VBN_CAP_UC | VBN_CAP_UD), "UC and UD");

    null.fail("ibv_create_qp", 1, EINVAL);
    ask();
    want(VBN_CAP_INLINE, VBN_ABSENCE_DRIVER, EINVAL, "refuses inline data");
    MUST(has(VBN_CAP_RC) && caps.max_inline == 0, "inline %u", caps.max_inline);

    null.fail("ibv_create_qp", 2, EOPNOTSUPP);
    null.fail("ibv_create_qp", 3, EPERM);
    ask();
    want(VBN_CAP_UC, VBN_ABSENCE_DRIVER, EOPNOTSUPP, "");
    want(VBN_CAP_UD, VBN_ABSENCE_UNKNOWN, EPERM, "could not be tried on");
    MUST(has(VBN_CAP_RC) && caps.max_datagram_size == 0, "datagrams of %llu", (unsigned long long)caps.max_datagram_size);
    end();
}

static void dma_bufs(void)
{
    static const struct {
        int err, absence, detail;
    } rows[] = {
        {EBADF, VBN_ABSENCE_NONE, 0},
        {EOPNOTSUPP, VBN_ABSENCE_DRIVER, EOPNOTSUPP},
        {EPROTONOSUPPORT, VBN_ABSENCE_DRIVER, EPROTONOSUPPORT}, /* a kernel without the method */
        {EINVAL, VBN_ABSENCE_UNKNOWN, EINVAL},
        {ENOMEM, VBN_ABSENCE_UNKNOWN, ENOMEM},
    };

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        null.fail("ibv_reg_dmabuf_mr", 1, rows[i].err);
        ask();
        want(VBN_CAP_DMABUF, rows[i].absence, rows[i].detail, "dma-buf regions");
    }
    end();
}

/* The kernel reports it, and the driver below libibverbs is older. What the kernel doesn't report isn't tried. */
static void what_the_driver_does_not_know(void)
{
    enum { ATOMIC_WRITE, FLUSH };
    static const uint64_t flags[] = {UINT64_C(1) << 40, UINT64_C(1) << 38}, bits[] = {VBN_CAP_ATOMIC_WRITE, VBN_CAP_FLUSH};

    begin();
    ask();
    want(VBN_CAP_MW, VBN_ABSENCE_NONE, 0, "has memory windows");
    want(VBN_CAP_FLUSH, VBN_ABSENCE_DEVICE, 0, "");
    want(VBN_CAP_ATOMIC_WRITE, VBN_ABSENCE_DEVICE, 0, "");
    null.fail("ibv_alloc_mw", 1, EOPNOTSUPP);
    ask();
    want(VBN_CAP_MW, VBN_ABSENCE_DRIVER, EOPNOTSUPP, "refuses memory windows");
    null.fail("ibv_alloc_mw", 1, ENOMEM);
    ask();
    want(VBN_CAP_MW, VBN_ABSENCE_UNKNOWN, ENOMEM, "memory windows could not be tried on");
    null.fail("ibv_create_qp_ex", 0, EOPNOTSUPP); /* nothing asks for it */
    ask();
    want(VBN_CAP_FLUSH, VBN_ABSENCE_DEVICE, 0, "");
    null.reset();
    for (int i = ATOMIC_WRITE; i <= FLUSH; i++) {
        null.device_attr()->device_cap_flags_ex |= flags[i];
        ask();
        want(bits[i], VBN_ABSENCE_NONE, 0, "null0 has ");
        null.fail("ibv_create_qp_ex", 1 + i, EINVAL);
        ask();
        want(bits[i], VBN_ABSENCE_DRIVER, EINVAL, "refuses ");
        MUST(has(VBN_CAP_RC | VBN_CAP_UD), "RC and UD");
    }
    end();
}

static void what_an_attempt_needs_fails(void)
{
    begin();
    null.fail("ibv_create_comp_channel", 1, EMFILE);
    ask();
    want(VBN_CAP_NOTIFY, VBN_ABSENCE_UNKNOWN, EMFILE, "completion notifications could not be tried on");
    want(VBN_CAP_RC, VBN_ABSENCE_NONE, 0, ""); /* on a queue of its own */
    null.fail("ibv_create_cq", 1, EOPNOTSUPP);
    ask();
    want(VBN_CAP_NOTIFY, VBN_ABSENCE_DRIVER, EOPNOTSUPP, "refuses completion notifications");
    want(VBN_CAP_NOTIFY_SOLICITED, VBN_ABSENCE_DRIVER, EOPNOTSUPP, "");
    want(VBN_CAP_RC, VBN_ABSENCE_NONE, 0, "");
    null.fail("ibv_create_cq", 1, ENOMEM);
    null.fail("ibv_create_cq", 2, ENOMEM);
    ask();
    want(VBN_CAP_RC, VBN_ABSENCE_UNKNOWN, ENOMEM, "RC queue pairs could not be tried on");
    want(VBN_CAP_SEND, VBN_ABSENCE_UNKNOWN, ENOMEM, "");
    want(VBN_CAP_DMABUF, VBN_ABSENCE_NONE, 0, "");
    null.fail("ibv_alloc_pd", 1, ENOMEM);
    ask();
    want(VBN_CAP_DMABUF, VBN_ABSENCE_UNKNOWN, ENOMEM, "");
    want(VBN_CAP_MW, VBN_ABSENCE_UNKNOWN, ENOMEM, "");
    want(VBN_CAP_UD, VBN_ABSENCE_UNKNOWN, ENOMEM, "");
    want(VBN_CAP_NOTIFY, VBN_ABSENCE_NONE, 0, "");
    end();
}

static void queries_that_fail(void)
{
    static const char *const functions[] = {"ibv_query_device_ex", "ibv_query_port"};

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
        null.fail(functions[i], 1, EIO);
        WANT(vbn_context_caps(context, &caps), VBN_ERR_DRIVER);
        WANT_ERRNO(EIO);
        WANT_TEXT(functions[i]);
    }
    ask();
    end();
}

/* Then the driver holds what no handle stands for, and the caller hears of it. */
static void what_cannot_be_destroyed(void)
{
    static const char *const functions[] = {"ibv_dereg_mr", "ibv_dealloc_mw", "ibv_destroy_qp", "ibv_destroy_comp_channel"};
    const char *preload = getenv("LD_PRELOAD");

#ifdef __SANITIZE_ADDRESS__
    preload = "vgpreload";
#endif
    if (preload && strstr(preload, "vgpreload"))
        test_skip("what is left over on purpose would be reported");
    begin();
    for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
        null.fail(functions[i], 1, EINVAL);
        WANT(vbn_context_caps(context, &caps), VBN_ERR_DRIVER);
        WANT_ERRNO(EINVAL);
        WANT_TEXT(functions[i]);
    }
    ask();
    OK(vbn_context_close(&context));
}

static void devices_that_do_not_open(void)
{
    vbn_device_match found[2];
    uint32_t count = 99;

    null_begin();
    null.fail("ibv_open_device", 1, EACCES);
    OK(vbn_device_find(VBN_CAP_RC, found, sizeof(found[0]), 2, &count));
    MUST(count == 2 && found[0].matches && !found[0].reason[0], "first: %s", found[0].reason);
    CHECK_STR(found[0].name, "null1");
    CHECK_UEQ(found[0].index, 1);
    CHECK_STR(found[1].name, "null0");
    MUST(!found[1].matches && found[1].open_status == VBN_ERR_DRIVER && found[1].open_errno == EACCES, "null0: %d, %d",
         found[1].open_status, found[1].open_errno);
    MUST(found[1].missing == VBN_CAP_RC && found[1].unknown == VBN_CAP_RC && !found[1].caps, "null0: masks");
    MUST(strstr(found[1].reason, "Permission denied (errno 13); give this user access"), "null0: %s", found[1].reason);
    /* Required or not, what does not open does not match. */
    null.fail("ibv_open_device", 0, ENODEV);
    OK(vbn_device_find(0, found, sizeof(found[0]), 2, &count));
    MUST(count == 2 && !found[0].matches && !found[1].matches, "all gone");
    MUST(found[0].open_status == VBN_ERR_DEVICE_GONE && strstr(found[0].reason, "null0 can't be opened"), "%s", found[0].reason);
    null.reset();
    null.fail("ibv_query_device_ex", 1, EFAULT);
    OK(vbn_device_find(0, found, sizeof(found[0]), 2, &count));
    CHECK_STR(found[0].name, "null1");
    MUST(found[1].open_errno == EFAULT && !found[1].matches, "null0 that can't be asked: %s", found[1].reason);
    null_clean();
}

static void no_devices(void)
{
    vbn_device_match found;
    NEW(vbn_device_list_reason_info, reason);
    uint32_t count = 99;

    null_begin();
    setenv("NULLV_DEVICES", "0", 1);
    OK(vbn_device_find(VBN_CAP_RC, &found, sizeof(found), 1, &count));
    CHECK_UEQ(count, 0);
    OK(vbn_device_list_reason(&reason));
    MUST(reason.reason != VBN_REASON_NONE && reason.message[0], "reason %d", reason.reason);
    unsetenv("NULLV_DEVICES");
    setenv("NULLV_LIST_ERRNO", "38", 1); /* ENOSYS: no RDMA in the kernel */
    OK(vbn_device_find(VBN_CAP_RC, &found, sizeof(found), 1, &count));
    CHECK_UEQ(count, 0);
    setenv("NULLV_LIST_ERRNO", "5", 1);
    WANT(vbn_device_find(VBN_CAP_RC, &found, sizeof(found), 1, &count), VBN_ERR_DRIVER);
    WANT_ERRNO(EIO);
    unsetenv("NULLV_LIST_ERRNO");
    null_clean();
}

static const struct test tests[] = {
    {"all_attempts_succeed", all_attempts_succeed},
    {"types_that_are_refused", types_that_are_refused},
    {"dma_bufs", dma_bufs},
    {"what_the_driver_does_not_know", what_the_driver_does_not_know},
    {"what_an_attempt_needs_fails", what_an_attempt_needs_fails},
    {"queries_that_fail", queries_that_fail},
    {"what_cannot_be_destroyed", what_cannot_be_destroyed},
    {"devices_that_do_not_open", devices_that_do_not_open},
    {"no_devices", no_devices},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_caps", tests, argc, argv);
}
