/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * FOR TESTS ONLY: an HSA runtime of ours, by the lookup function: a CPU agent and two GPUs, and memory that it knows. It follows what hsa.h and hsa_ext_amd.h of
 * ROCm 6.1 say, and nothing that it shows is proof of what AMD's runtime does.
 *
 * Its memory is memfds. Their addresses are reserved without access, so that a CPU that touches one crashes; a dma-buf is the memfd.
 */
#ifndef SIMHSA_H
#define SIMHSA_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <verbena.h>
#include "harness.h"

/* Its pieces of memory: of GPU 1, locked host memory, of the CPU agent, of GPU 0 by IPC. */
enum { HSA_GPU1, HSA_LOCKED, HSA_CPU, HSA_GPU0, HSA_PIECES };
#define HSA_SIZE UINT64_C(65536)

typedef struct {
    uint64_t handle;
} hsa_agent;

/* hsa_amd_pointer_info_t as ROCm 6.1 has it. */
struct hsa_pointer {
    uint32_t size, type;
    void *agent_base, *host_base;
    size_t bytes;
    void *user_data;
    hsa_agent owner;
    uint32_t global_flags;
};

static struct {
    const char *hidden;
    const char *fail_at; /* this function fails with `fail`: */
    unsigned fail;
    unsigned fail_call, calls; /* its call of this number alone, if one is given; how often it was called */
    unsigned exports;
    int unsupported, no_fd;
    unsigned freed; /* bit n: piece n is no more */
    uint64_t memory; /* where the pieces are, one behind the other */
    int memfd[HSA_PIECES];
} hsa;

static unsigned hsa_fails(const char *function)
{
    if (!hsa.fail_at || strcmp(hsa.fail_at, function))
        return 0;
    hsa.calls++;
    return !hsa.fail_call || hsa.calls == hsa.fail_call ? hsa.fail : 0;
}

static uint64_t hsa_piece(int piece) { return hsa.memory + (uint64_t)piece * HSA_SIZE; }

static unsigned fake_iterate_agents(unsigned (*callback)(hsa_agent, void *), void *data)
{
    unsigned status = hsa_fails("hsa_iterate_agents");

    for (uint64_t i = 1; !status && i <= 3; i++)
        status = callback((hsa_agent){i}, data);
    return status;
}

static unsigned fake_agent_get_info(hsa_agent agent, unsigned attribute, void *value)
{
    unsigned status = hsa_fails("hsa_agent_get_info");
    uint32_t number;

    if (status)
        return status;
    if (!agent.handle || agent.handle > 3)
        return 0x1004;
    switch (attribute) {
    case 0: snprintf(value, 64, "gfx942"); return 0;
    case 17: number = agent.handle > 1; break;
    case 0xa006: number = 0x2300u + (uint32_t)agent.handle * 8 + 1; break;
    case 0xa009: snprintf(value, 64, "AMD test %d", (int)agent.handle); return 0;
    case 0xa00f: number = 2; break;
    default: return 0x1001;
    }
    memcpy(value, &number, sizeof(number));
    return 0;
}

static unsigned fake_system_get_info(unsigned attribute, void *value)
{
    unsigned status = hsa_fails("hsa_system_get_info");

    if (status)
        return status;
    CHECK_UEQ(attribute, 0x204);
    *(unsigned char *)value = !hsa.unsupported;
    return 0;
}

static unsigned fake_pointer_info(const void *ptr, struct hsa_pointer *info, void *(*alloc)(size_t), uint32_t *count, hsa_agent **accessible)
{
    static const uint32_t types[] = {[HSA_GPU1] = 1, [HSA_LOCKED] = 2, [HSA_CPU] = 1, [HSA_GPU0] = 4};
    static const uint64_t owners[] = {[HSA_GPU1] = 3, [HSA_LOCKED] = 1, [HSA_CPU] = 1, [HSA_GPU0] = 2};
    unsigned status = hsa_fails("hsa_amd_pointer_info");
    uint64_t at = ((uint64_t)ptr - hsa.memory) / HSA_SIZE;

    CHECK(info->size >= 56 && !alloc && !count && !accessible);
    if (status)
        return status;
    info->size = 56;
    info->type = 0;
    if ((uint64_t)ptr >= hsa.memory && at < HSA_PIECES && !(hsa.freed >> at & 1)) {
        info->type = types[at];
        info->agent_base = info->host_base = (void *)hsa_piece((int)at);
        info->bytes = HSA_SIZE;
        info->owner.handle = owners[at];
    }
    return 0;
}

static unsigned fake_export(const void *ptr, size_t size, int *fd, uint64_t *offset)
{
    unsigned status = hsa_fails("hsa_amd_portable_export_dmabuf");
    uint64_t within = ((uint64_t)ptr - hsa.memory) % HSA_SIZE;

    if (status)
        return status;
    if (within + size > HSA_SIZE)
        return 0x1003;
    hsa.exports++;
    if (!hsa.no_fd)
        *fd = dup(hsa.memfd[((uint64_t)ptr - hsa.memory) / HSA_SIZE]);
    *offset = within;
    return 0;
}

static void *hsa_lookup(const char *symbol, const char *version, void *arg)
{
    static const struct {
        const char *symbol;
        void (*function)(void);
    } all[] = {{"hsa_iterate_agents", (void (*)(void))fake_iterate_agents}, {"hsa_agent_get_info", (void (*)(void))fake_agent_get_info},
               {"hsa_system_get_info", (void (*)(void))fake_system_get_info}, {"hsa_amd_pointer_info", (void (*)(void))fake_pointer_info},
               {"hsa_amd_portable_export_dmabuf", (void (*)(void))fake_export}};
    void *address = NULL;

    CHECK(arg == &hsa && !*version);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (!strcmp(all[i].symbol, symbol) && (!hsa.hidden || strcmp(hsa.hidden, symbol)))
            memcpy(&address, &all[i].function, sizeof(address));
    return address;
}

/* From now on it is the library's, with all of its memory there and nothing scripted. */
static void hsa_use(void)
{
    vbn_library_attr attr = {.struct_size = sizeof(attr), .library = VBN_LIBRARY_ROCM, .lookup = hsa_lookup, .lookup_arg = &hsa};

    CHECK_OK(vbn_library_init(&attr));
    if (!hsa.memory) {
        void *memory = mmap(NULL, HSA_PIECES * HSA_SIZE + HSA_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        CHECK(memory != MAP_FAILED);
        hsa.memory = ((uint64_t)memory + HSA_SIZE - 1) / HSA_SIZE * HSA_SIZE;
        for (int i = 0; i < HSA_PIECES; i++) {
            hsa.memfd[i] = memfd_create("hsa", MFD_CLOEXEC);
            CHECK(hsa.memfd[i] >= 0 && ftruncate(hsa.memfd[i], HSA_SIZE) == 0);
        }
    }
    hsa.hidden = hsa.fail_at = NULL;
    hsa.fail_call = hsa.freed = 0;
    hsa.unsupported = hsa.no_fd = 0;
}

#endif
