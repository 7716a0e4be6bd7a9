/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sets of regions, records of regions, and transfers between the two, over the null provider. */
#include <sys/wait.h>
#include <unistd.h>
#include "null_help.h"

#define GIB (UINT64_C(1) << 30)

static struct rig g;

/* `n` regions of 100, 101... bytes, 1000 apart. */
static void regions(vbn_mr **mrs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        OK(vbn_mr_reg(g.pd, rig_memory + i * 1000, 100 + i, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ, NULL, &mrs[i]));
}

static vbn_mr_set_info set_info(vbn_mr_set *set)
{
    NEW(vbn_mr_set_info, info);

    OK(vbn_mr_set_query(set, &info));
    return info;
}

/* A region of memory that isn't there: nothing touches it here. */
static vbn_mr *imagined(uint64_t addr, uint64_t length)
{
    vbn_mr *mr;

    OK(vbn_mr_reg(g.pd, (void *)(uintptr_t)addr, length, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_WRITE, NULL, &mr));
    return mr;
}

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

/* A plain region is a set of one, and stays its owner's. */
static void one(void)
{
    NEW(vbn_mr_entry, entry);
    NEW(vbn_mr_set_attr, attr);
    vbn_sge set_sges[3], mr_sges[3];
    uint32_t count, other;
    uint64_t covered;
    vbn_mr_set *set;
    int owner;

    begin();
    attr.owner = &owner;
    attr.user_data = 77;
    OK(vbn_mr_set_create(&g.mr, 1, &attr, &set));
    vbn_mr_set_info info = set_info(set);
    MUST(info.owner == &owner && info.user_data == 77 && info.length == 4096 && info.count == 1 && !info.takes && !info.lost &&
             info.memory == VBN_MEMORY_UNKNOWN,
         "what the set tells");
    OK(vbn_mr_set_entry(set, 0, &entry));
    MUST(entry.mr == g.mr && entry.offset == 0 && entry.addr == vbn_mr_remote_addr(g.mr) && entry.length == 4096 &&
             entry.lkey == vbn_mr_lkey(g.mr) && entry.rkey == vbn_mr_rkey(g.mr),
         "the entry");
    WANT(vbn_mr_set_entry(set, 1, &entry), VBN_ERR_NOT_FOUND);
    WANT_NUMBERS(1, 1);
    OK(vbn_mr_set_segment(set, 10, 4000, 1500, set_sges, 3, &count, &covered));
    OK(vbn_mr_segments(g.mr, 10, 4000, 1500, mr_sges, 3, &other, &covered));
    MUST(count == 3 && other == 3 && covered == 4000, "%u segments", count);
    CHECK_MEM(set_sges, mr_sges, sizeof(set_sges));
    OK(vbn_mr_set_close(&set));
    MUST(!set, "close left the variable");
    OK(vbn_mr_set_close(&set));
    OK(vbn_mr_set_close(NULL));
    end();
}

/* While a set has a region, neither close nor release takes it away. */
static void kept(void)
{
    vbn_mr *mrs[2], *mr;
    vbn_mr_set *sets[2];
    struct ibv_mr *native = NULL;

    begin();
    regions(mrs, 2);
    OK(vbn_mr_set_create(mrs, 2, NULL, &sets[0]));
    OK(vbn_mr_set_create(mrs, 1, NULL, &sets[1]));
    mr = mrs[0];
    WANT(vbn_mr_close(&mr), VBN_ERR_BUSY);
    WANT_TEXT("a vbn_mr_set has the vbn_mr");
    WANT_TEXT("close the set");
    MUST(mr == mrs[0], "the handle of a region that wasn't closed");
    WANT(vbn_mr_release(&mr, &native), VBN_ERR_BUSY);
    WANT_TEXT("vbn_mr_set");
    OK(vbn_mr_set_close(&sets[0]));
    WANT(vbn_mr_close(&mr), VBN_ERR_BUSY);
    OK(vbn_mr_close(&mrs[1]));
    OK(vbn_mr_set_close(&sets[1]));
    OK(vbn_mr_close(&mrs[0]));
    end();
}

/* Its parents may be closed first. */
static void parents_first(void)
{
    vbn_context *context;
    vbn_pd *pd;
    vbn_mr *mr;
    vbn_mr_set *set;
    NEW(vbn_mr_set_attr, attr);

    null_begin();
    attr.take = 1;
    OK(vbn_context_open("null1", NULL, &context));
    OK(vbn_pd_alloc(context, NULL, &pd));
    OK(vbn_mr_reg(pd, rig_memory, 64, 0, NULL, &mr));
    OK(vbn_mr_set_create(&mr, 1, &attr, &set));
    MUST(!mr, "a region that was taken");
    OK(vbn_context_close(&context));
    OK(vbn_pd_close(&pd));
    MUST(set_info(set).takes, "it has taken its region");
    OK(vbn_mr_set_close(&set));
    null_clean();
}

/* Entries follow each other, and segments go over their ends. */
static void several(void)
{
    NEW(vbn_mr_entry, entry);
    vbn_mr *mrs[4];
    vbn_mr_set *set;
    vbn_sge sges[8];
    uint32_t count;
    uint64_t covered, offset = 0;

    begin();
    regions(mrs, 4);
    OK(vbn_mr_set_create(mrs, 4, NULL, &set));
    MUST(set_info(set).length == 406 && set_info(set).count == 4, "length");
    for (uint32_t i = 0; i < 4; i++) {
        OK(vbn_mr_set_entry(set, i, &entry));
        MUST(entry.mr == mrs[i] && entry.offset == offset && entry.length == 100 + i && entry.lkey == vbn_mr_lkey(mrs[i]), "entry %u", i);
        offset += entry.length;
    }
    for (uint64_t from = 0; from < 406; from += 7)
        for (uint64_t length = 1; length <= 406 - from; length += 13) {
            uint64_t at = from;

            OK(vbn_mr_set_segment(set, from, length, 60, sges, 8, &count, &covered));
            MUST(covered == length, "covered");
            for (uint32_t i = 0; i < count; i++) {
                uint32_t which = 0;
                uint64_t begin_of = 0;

                while (at >= begin_of + 100 + which)
                    begin_of += 100 + which++;
                MUST(sges[i].lkey == vbn_mr_lkey(mrs[which]) && sges[i].addr == vbn_mr_remote_addr(mrs[which]) + at - begin_of &&
                         sges[i].length >= 1 && sges[i].length <= 60 && at - begin_of + sges[i].length <= 100 + which,
                     "segment %u of %llu from %llu", i, (unsigned long long)length, (unsigned long long)from);
                at += sges[i].length;
            }
            MUST(at == from + length, "all of it");
        }
    OK(vbn_mr_set_segment(set, 0, 406, 60, sges, 3, &count, &covered));
    MUST(count == 3 && covered == 160, "%u segments of %llu bytes", count, (unsigned long long)covered);
    WANT(vbn_mr_set_segment(set, 0, 407, 60, sges, 3, &count, &covered), VBN_ERR_ARGUMENT);
    WANT_NUMBERS(407, 406);
    MUST(!count && !covered, "outputs after a failure");
    OK(vbn_mr_set_close(&set));
    for (uint32_t i = 0; i < 4; i++)
        OK(vbn_mr_close(&mrs[i]));
    end();
}

/* A set that takes is the only way to its regions, and ends them. */
static void take(void)
{
    NEW(vbn_mr_set_attr, attr);
    NEW(vbn_mr_entry, entry);
    struct nullv_live live;
    vbn_mr *mrs[3], *copies[3];
    vbn_mr_set *set, *other = (void *)&attr;

    begin();
    regions(mrs, 3);
    memcpy(copies, mrs, sizeof(mrs));
    attr.take = 1;
    OK(vbn_mr_set_create(mrs, 3, &attr, &set));
    for (int i = 0; i < 3; i++)
        MUST(!mrs[i], "variable %d", i);
    WANT(vbn_mr_close(&copies[1]), VBN_ERR_BUSY);
    WANT(vbn_mr_set_create(copies, 1, &attr, &other), VBN_ERR_BUSY);
    MUST(!other && copies[0], "nothing was taken");
    OK(vbn_mr_set_entry(set, 2, &entry));
    MUST(entry.mr == copies[2], "the entry's region");
    null.live(&live);
    MUST(live.mrs == null_before.mrs + 4, "%u regions", live.mrs);
    OK(vbn_mr_set_close(&set));
    null.live(&live);
    MUST(live.mrs == null_before.mrs + 1, "%u regions after the close", live.mrs);
    WANT(vbn_mr_close(&copies[1]), VBN_ERR_CLOSED);
    end();
}

/* Of what a set can't be made; the caller's handles are as they were. */
static void refused(void)
{
    NEW(vbn_mr_set_attr, attr);
    vbn_mr *mrs[3], *others[3], *nothing;
    vbn_mr_set *set, *holder;
    vbn_pd *pd;

    begin();
    attr.take = 1;
    regions(mrs, 3);
    OK(vbn_pd_alloc(g.context, NULL, &pd));
    OK(vbn_mr_reg(pd, rig_memory, 64, 0, NULL, &others[0]));
    OK(vbn_mr_alloc_null(g.pd, NULL, &nothing));

    memcpy(others + 1, mrs, 2 * sizeof(mrs[0]));
    WANT(vbn_mr_set_create(others, 3, &attr, &set), VBN_ERR_ARGUMENT);
    WANT_TEXT("another PD");
    MUST(last()->index == 1 && others[0] && others[1] == mrs[0] && !set, "index %llu", (unsigned long long)last()->index);

    others[1] = nothing;
    WANT(vbn_mr_set_create(others + 1, 1, NULL, &set), VBN_ERR_ARGUMENT);
    WANT_TEXT("without memory");

    others[1] = others[2] = mrs[2];
    WANT(vbn_mr_set_create(others + 1, 2, &attr, &set), VBN_ERR_BUSY);
    WANT_TEXT("once");
    MUST(last()->index == 1, "index %llu", (unsigned long long)last()->index);
    /* The same twice is fine for a set that doesn't end it. */
    OK(vbn_mr_set_create(others + 1, 2, NULL, &holder));
    WANT(vbn_mr_set_create(mrs, 3, &attr, &set), VBN_ERR_BUSY);
    MUST(last()->index == 2 && mrs[0] && mrs[1] && mrs[2], "index %llu", (unsigned long long)last()->index);
    OK(vbn_mr_set_close(&holder));

    others[1] = mrs[0];
    others[2] = NULL;
    WANT(vbn_mr_set_create(others + 1, 2, &attr, &set), VBN_ERR_ARGUMENT);
    WANT_TEXT("NULL");

    OK(vbn_mr_close(&nothing));
    OK(vbn_mr_close(&others[0]));
    OK(vbn_pd_close(&pd));
    for (int i = 0; i < 3; i++)
        OK(vbn_mr_close(&mrs[i]));

    /* More than an address can say. */
    mrs[0] = imagined(4096, UINT64_C(1) << 63);
    mrs[1] = imagined(8192, UINT64_C(1) << 63);
    WANT(vbn_mr_set_create(mrs, 2, NULL, &set), VBN_ERR_ARGUMENT);
    WANT_NUMBERS(UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1);
    OK(vbn_mr_close(&mrs[0]));
    OK(vbn_mr_close(&mrs[1]));
    end();
}

/* A driver that refuses one of three: the others go, the handle stays until a later close has succeeded. */
static void partly_refused(void)
{
    NEW(vbn_mr_set_attr, attr);
    NEW(vbn_mr_entry, entry);
    struct nullv_live live;
    vbn_mr *mrs[3];
    vbn_mr_set *set, *same;
    vbn_sge sge;
    uint32_t count;
    uint64_t covered;
    int owner;

    begin();
    regions(mrs, 3);
    attr.take = 1;
    attr.owner = &owner;
    OK(vbn_mr_set_create(mrs, 3, &attr, &set));
    same = set;

    /* All three refused: nothing has changed. */
    null.fail("ibv_dereg_mr", 0, EBUSY);
    WANT(vbn_mr_set_close(&set), VBN_ERR_BUSY);
    WANT_TEXT("window");
    MUST(set == same && last()->index == 0 && !set_info(set).lost, "index %llu", (unsigned long long)last()->index);
    OK(vbn_mr_set_segment(set, 0, 1, 0, &sge, 1, &count, &covered));

    null.reset();
    null.fail("ibv_dereg_mr", 2, EBUSY);
    WANT(vbn_mr_set_close(&set), VBN_ERR_BUSY);
    MUST(set == same && last()->index == 1, "index %llu", (unsigned long long)last()->index);
    null.live(&live);
    MUST(live.mrs == null_before.mrs + 2, "%u regions", live.mrs);
    MUST(set_info(set).lost && set_info(set).owner == &owner && set_info(set).count == 3, "what it tells then");
    WANT(vbn_mr_set_segment(set, 0, 1, 0, &sge, 1, &count, &covered), VBN_ERR_ARGUMENT);
    WANT_TEXT("close it again");
    WANT(vbn_mr_set_entry(set, 1, &entry), VBN_ERR_ARGUMENT);
    OK(vbn_mr_set_close(&set));
    end();
}

/* What the provider, which only pretends, still has: in sight of those who look for leaks. */
struct left {
    struct rig rig;
    struct ibv_mr *mrs[2];
};
extern struct left left;
struct left left;

/* A device that has gone has taken the regions with it. */
static void device_gone(void)
{
    NEW(vbn_mr_set_attr, attr);
    vbn_mr *mrs[2];
    vbn_mr_set *set;
    struct nullv_live live;

    begin();
    regions(mrs, 2);
    for (int i = 0; i < 2; i++)
        OK(vbn_mr_native(mrs[i], &left.mrs[i]));
    left.rig = g;
    attr.take = 1;
    OK(vbn_mr_set_create(mrs, 2, &attr, &set));
    null.fail("*", 0, EIO);
    OK(vbn_mr_set_close(&set));
    OK(vbn_qp_close(&g.qp));
    OK(vbn_cq_close(&g.cq));
    OK(vbn_channel_close(&g.channel));
    OK(vbn_mr_close(&g.mr));
    OK(vbn_pd_close(&g.pd));
    OK(vbn_context_close(&g.context));
    null.reset();
    null.live(&live);
    MUST(live.contexts == null_before.contexts, "%u contexts", live.contexts);
}

/* In a forked child nothing reaches the device, in whatever order the handles are closed. */
static void forked(void)
{
    NEW(vbn_mr_set_attr, attr);
    vbn_mr *mrs[2], *own[2];
    vbn_mr_set *takes, *borrows;
    int status = -1;
    pid_t child;

    begin();
    regions(mrs, 2);
    memcpy(own, mrs, sizeof(own));
    attr.take = 1;
    OK(vbn_mr_set_create(mrs, 1, &attr, &takes));
    OK(vbn_mr_set_create(mrs + 1, 1, NULL, &borrows));
    fflush(NULL);
    child = fork();
    if (!child) {
        NEW(vbn_mr_set_info, info);
        int good = 1;

        null.fail("*", 0, EFAULT);
        good &= vbn_mr_set_query(takes, &info) == VBN_ERR_FORKED;
        good &= vbn_mr_close(&mrs[1]) == VBN_ERR_BUSY; /* the set has it in the child, too */
        good &= !vbn_mr_set_close(&borrows) && !vbn_mr_close(&mrs[1]);
        good &= !vbn_mr_set_close(&takes) && !takes;
        good &= vbn_mr_close(&own[0]) == VBN_ERR_FORKED || vbn_mr_close(&own[0]) == VBN_ERR_CLOSED;
        good &= !vbn_context_close(&g.context) && !vbn_pd_close(&g.pd) && !vbn_mr_close(&g.mr);
        _exit(good ? 0 : 1);
    }
    MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0, "the child: %x", status);
    OK(vbn_mr_set_close(&takes));
    OK(vbn_mr_set_close(&borrows));
    OK(vbn_mr_close(&mrs[1]));
    end();
}

/* ---- Records ---- */

static vbn_region_info local_region(vbn_mr_set *const *sets, uint32_t count, const vbn_region_info_attr *attr)
{
    NEW(vbn_region_info, info);

    OK(vbn_region_info_local((const vbn_mr_set *const *)sets, count, attr, &info));
    return info;
}

/* Two devices, one of which could only register in pieces; over there it is as it was here. */
static void region_of_two_nics(void)
{
    NEW(vbn_mr_set_attr, attr);
    NEW(vbn_region_info_attr, part);
    NEW(vbn_region_info, info);
    NEW(vbn_region_info, back);
    vbn_context *context;
    vbn_pd *pd;
    vbn_mr *mrs[4], *other;
    vbn_mr_set *sets[2];
    uint8_t bytes[VBN_RECORD_MAX_SIZE], gid[2][16];
    size_t size;

    begin();
    regions(mrs, 4);
    attr.memory = VBN_MEMORY_CUDA;
    attr.place_set = VBN_PLACE_SET_GPU | VBN_PLACE_SET_PCI;
    attr.gpu = 3;
    attr.pci_bus = 0xc1;
    attr.pci_device = 2;
    OK(vbn_mr_set_create(mrs, 4, &attr, &sets[0]));
    OK(vbn_context_open("null1", NULL, &context));
    OK(vbn_pd_alloc(context, NULL, &pd));
    OK(vbn_mr_reg(pd, rig_memory, 406, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ | VBN_ACCESS_REMOTE_WRITE, NULL, &other));
    OK(vbn_mr_set_create(&other, 1, NULL, &sets[1]));
    info = local_region(sets, 2, NULL);
    MUST(info.length == 406 && info.num_nics == 2 && info.num_entries == 5 && info.memory == VBN_MEMORY_CUDA && info.gpu == 3 &&
             info.place_set == attr.place_set && info.pci_bus == 0xc1 && info.pci_device == 2 && info.set == VBN_REGION_SET_ACCESS &&
             info.access == VBN_ACCESS_REMOTE_READ,
         "what it tells");
    for (int i = 0; i < 4; i++)
        MUST(info.entries[i].addr == vbn_mr_remote_addr(mrs[i]) && info.entries[i].length == 100u + (unsigned)i &&
                 info.entries[i].rkey == vbn_mr_rkey(mrs[i]) && info.entries[i].nic == 0,
             "entry %d", i);
    MUST(info.entries[4].addr == vbn_mr_remote_addr(other) && info.entries[4].nic == 1, "entry 4");
    for (int i = 0; i < 2; i++) {
        memcpy(gid[i], info.nics[i].gid, 16);
        MUST(memcmp(gid[i], (uint8_t[16]){0}, 16), "NIC %d has a GID", i);
    }
    MUST(memcmp(gid[0], gid[1], 16), "the NICs can be told apart");
    OK(vbn_region_info_encode(&info, bytes, sizeof(bytes), &size));
    memset(bytes + size, 0xee, sizeof(bytes) - size);
    OK(vbn_region_info_decode(bytes, sizeof(bytes), &back));
    CHECK_MEM(&back, &info, sizeof(info));

    part.offset = 150;
    part.length = 60;
    info = local_region(sets, 2, &part);
    MUST(info.length == 60 && info.num_entries == 3 && info.entries[0].addr == vbn_mr_remote_addr(mrs[1]) + 50 &&
             info.entries[0].length == 51 && info.entries[1].length == 9 && info.entries[2].addr == vbn_mr_remote_addr(other) + 150,
         "a part of it");
    part.length = 0;
    MUST(local_region(sets, 2, &part).length == 256, "all behind offset");
    part.offset = 406;
    WANT(vbn_region_info_local((const vbn_mr_set *const *)sets, 2, &part, &info), VBN_ERR_ARGUMENT);
    WANT_NUMBERS(406, 406);
    part.offset = 400;
    part.length = 7;
    WANT(vbn_region_info_local((const vbn_mr_set *const *)sets, 2, &part, &info), VBN_ERR_ARGUMENT);
    WANT_NUMBERS(7, 6);

    /* Not the same memory. */
    OK(vbn_mr_set_close(&sets[1]));
    OK(vbn_mr_set_create(mrs, 2, NULL, &sets[1]));
    WANT(vbn_region_info_local((const vbn_mr_set *const *)sets, 2, NULL, &info), VBN_ERR_ARGUMENT);
    WANT_NUMBERS(201, 406);
    MUST(last()->index == 1, "index");
    OK(vbn_mr_set_close(&sets[1]));
    OK(vbn_mr_set_close(&sets[0]));
    for (int i = 0; i < 4; i++)
        OK(vbn_mr_close(&mrs[i]));
    OK(vbn_mr_close(&other));
    OK(vbn_pd_close(&pd));
    OK(vbn_context_close(&context));
    end();
}

/* A set of more regions than a record has room for is told in parts. */
static void region_in_parts(void)
{
    NEW(vbn_mr_set_attr, attr);
    NEW(vbn_region_info_attr, part);
    NEW(vbn_region_info, info);
    vbn_mr *mrs[31];
    vbn_mr_set *set;

    begin();
    attr.take = 1;
    attr.memory = VBN_MEMORY_HOST;
    for (uint32_t i = 0; i < 31; i++)
        mrs[i] = imagined((uint64_t)(i + 1) << 32, GIB);
    OK(vbn_mr_set_create(mrs, 31, &attr, &set));
    WANT(vbn_region_info_local((const vbn_mr_set *const *)&set, 1, NULL, &info), VBN_ERR_ARGUMENT);
    WANT_NUMBERS(31, 30);
    WANT_TEXT("offset and length");
    part.length = 30 * GIB;
    MUST(local_region(&set, 1, &part).num_entries == 30, "the first part");
    part.offset = 30 * GIB;
    part.length = 0;
    info = local_region(&set, 1, &part);
    MUST(info.num_entries == 1 && info.entries[0].addr == UINT64_C(31) << 32 && info.place_set == 0 && info.memory == VBN_MEMORY_HOST, "the rest");
    OK(vbn_mr_set_close(&set));
    end();
}

/* ---- Transfers ---- */

/* A set here, a region there, neither cut like the other, with offsets beyond 4 GiB: every byte is moved once and to its place. */
static void transfer(void)
{
    static const uint64_t here[] = {3 * GIB + 5, 2 * GIB, 7 * GIB}, there[] = {GIB - 1, 6 * GIB + 6, 2, 8 * GIB};
    NEW(vbn_mr_set_attr, attr);
    NEW(vbn_split_attr, split);
    NEW(vbn_region_info_attr, part);
    vbn_mr *mrs[4];
    vbn_mr_set *sets[2];
    vbn_region_info region;
    static vbn_send_wr wrs[64];
    uint32_t count;
    uint64_t total;

    begin();
    attr.take = 1;
    for (uint32_t i = 0; i < 3; i++)
        mrs[i] = imagined((uint64_t)(i + 1) << 40, here[i]);
    OK(vbn_mr_set_create(mrs, 3, &attr, &sets[0]));
    for (uint32_t i = 0; i < 4; i++)
        mrs[i] = imagined((uint64_t)(i + 10) << 40, there[i]);
    OK(vbn_mr_set_create(mrs, 4, &attr, &sets[1]));
    part.length = 12 * GIB;
    region = local_region(&sets[1], 1, &part);
    split.mr_set = sets[0];
    split.region = &region;
    split.opcode = VBN_WR_RDMA_WRITE;
    split.flags = VBN_SEND_SIGNALED;
    for (uint64_t offset = 0; offset <= 5 * GIB; offset += 5 * GIB / 3)
        for (uint64_t remote = 0; remote <= 6 * GIB; remote += 2 * GIB + 1) {
            uint64_t done = 0;

            split.offset = offset;
            split.remote_offset = remote;
            split.length = 12 * GIB - remote < 12 * GIB + 5 - offset ? 12 * GIB - remote : 12 * GIB + 5 - offset;
            OK(vbn_rdma_split(g.qp, &split, 0, wrs, 64, &count, &total));
            MUST(count == total && count > 5, "%u of %llu requests", count, (unsigned long long)total);
            for (uint32_t i = 0; i < count; i++) {
                uint64_t l = offset + done, r = remote + done, n = wrs[i].sge.length;
                uint32_t a = 0, b = 0;

                while (l >= here[a])
                    l -= here[a++];
                while (r >= there[b])
                    r -= there[b++];
                MUST(wrs[i].sge.addr == ((uint64_t)(a + 1) << 40) + l && l + n <= here[a], "local address of request %u", i);
                MUST(wrs[i].remote_addr == ((uint64_t)(b + 10) << 40) + r && r + n <= there[b], "remote address of request %u", i);
                MUST(n && wrs[i].num_sge == 1 && !wrs[i].sg_list && wrs[i].rkey == region.entries[b].rkey, "request %u", i);
                done += n;
            }
            MUST(done == split.length, "all of it");
        }

    split.offset = 0;
    split.remote_offset = 1;
    split.length = 12 * GIB;
    WANT(vbn_rdma_split(g.qp, &split, 0, NULL, 0, &count, &total), VBN_ERR_ARGUMENT);
    WANT_TEXT("behind remote_offset");
    split.remote_offset = 0;
    split.offset = 6;
    WANT(vbn_rdma_split(g.qp, &split, 0, NULL, 0, &count, &total), VBN_ERR_ARGUMENT);
    WANT_TEXT("behind offset");
    split.offset = 0;
    split.nic = 1;
    WANT(vbn_rdma_split(g.qp, &split, 0, NULL, 0, &count, &total), VBN_ERR_ARGUMENT);
    WANT_NUMBERS(1, 1);
    split.region = NULL;
    WANT(vbn_rdma_split(g.qp, &split, 0, NULL, 0, &count, &total), VBN_ERR_ARGUMENT);
    WANT_TEXT("nic 1 is not 0 without region");
    split.nic = 0;
    split.region = &region;
    split.rkey = 5;
    WANT(vbn_rdma_split(g.qp, &split, 0, NULL, 0, &count, &total), VBN_ERR_ARGUMENT);
    WANT_TEXT("without region");
    split.rkey = 0;
    region.entries[1].length--;
    WANT(vbn_rdma_split(g.qp, &split, 0, NULL, 0, &count, &total), VBN_ERR_ARGUMENT);
    WANT_TEXT("don't cover it");
    region.entries[1].length++;
    split.mr = g.mr;
    WANT(vbn_rdma_split(g.qp, &split, 0, NULL, 0, &count, &total), VBN_ERR_ARGUMENT);
    WANT_TEXT("mr and mr_set");
    split.mr = NULL;
    split.lkey = 1;
    WANT(vbn_rdma_split(g.qp, &split, 0, NULL, 0, &count, &total), VBN_ERR_ARGUMENT);
    WANT_TEXT("lkey");
    split.lkey = 0;
    split.flags |= VBN_SEND_INLINE;
    OK(vbn_rdma_split(g.qp, &split, 0, NULL, 0, &count, &total));
    OK(vbn_mr_set_close(&sets[0]));
    OK(vbn_mr_set_close(&sets[1]));
    end();
}

/* Inline data is copied by the CPU, which can't read a GPU's memory. */
static void inline_from_a_gpu(void)
{
    NEW(vbn_mr_set_attr, attr);
    NEW(vbn_split_attr, split);
    vbn_mr_set *set;
    uint32_t count;
    uint64_t total;

    begin();
    attr.memory = VBN_MEMORY_CUDA;
    OK(vbn_mr_set_create(&g.mr, 1, &attr, &set));
    split.mr_set = set;
    split.opcode = VBN_WR_RDMA_WRITE;
    split.length = 8;
    split.remote_addr = 4096;
    OK(vbn_rdma_split(g.qp, &split, 0, NULL, 0, &count, &total));
    split.flags = VBN_SEND_INLINE;
    WANT(vbn_rdma_split(g.qp, &split, 0, NULL, 0, &count, &total), VBN_ERR_ARGUMENT);
    WANT_TEXT("VBN_SEND_INLINE");
    WANT_TEXT("GPU");
    split.flags = 0;
    split.last_flags = VBN_SEND_INLINE;
    WANT(vbn_rdma_split(g.qp, &split, 0, NULL, 0, &count, &total), VBN_ERR_ARGUMENT);
    OK(vbn_mr_set_close(&set));
    end();
}

static const struct test tests[] = {
    {"one", one},
    {"kept", kept},
    {"parents_first", parents_first},
    {"several", several},
    {"take", take},
    {"refused", refused},
    {"partly_refused", partly_refused},
    {"device_gone", device_gone},
    {"forked", forked},
    {"region_of_two_nics", region_of_two_nics},
    {"region_in_parts", region_in_parts},
    {"transfer", transfer},
    {"inline_from_a_gpu", inline_from_a_gpu},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_mr_set", tests, argc, argv);
}
