/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * FOR TESTS ONLY: a libhsa-runtime64.so.1 that can be loaded as a file, of which several copies can be told apart: each has as many GPUs as simhsa_gpus() says. It
 * knows no memory. What has some is simhsa.h.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t handle;
} agent;

static uint64_t gpus = 1;

void simhsa_gpus(unsigned count);
unsigned hsa_iterate_agents(unsigned (*callback)(agent, void *), void *data);
unsigned hsa_agent_get_info(agent which, unsigned attribute, void *value);
unsigned hsa_system_get_info(unsigned attribute, void *value);
unsigned hsa_amd_pointer_info(const void *ptr, uint32_t *info, void *(*alloc)(size_t), uint32_t *count, agent **accessible);
unsigned hsa_amd_portable_export_dmabuf(const void *ptr, size_t size, int *fd, uint64_t *offset);

void simhsa_gpus(unsigned count) { gpus = count; }

unsigned hsa_iterate_agents(unsigned (*callback)(agent, void *), void *data)
{
    unsigned status = 0;

    for (uint64_t i = 1; !status && i <= gpus; i++)
        status = callback((agent){i}, data);
    return status;
}

/* HSA_AGENT_INFO_DEVICE (17) is HSA_DEVICE_TYPE_GPU (1); nothing else is known. */
unsigned hsa_agent_get_info(agent which, unsigned attribute, void *value)
{
    uint32_t gpu = 1;

    if (!which.handle || attribute != 17)
        return 0x1001;
    memcpy(value, &gpu, sizeof(gpu));
    return 0;
}

unsigned hsa_system_get_info(unsigned attribute, void *value)
{
    (void)attribute, (void)value;
    return 0x1001;
}

/* The second member is the type: HSA_EXT_POINTER_TYPE_UNKNOWN. */
unsigned hsa_amd_pointer_info(const void *ptr, uint32_t *info, void *(*alloc)(size_t), uint32_t *count, agent **accessible)
{
    (void)ptr, (void)alloc, (void)count, (void)accessible;
    info[1] = 0;
    return 0;
}

unsigned hsa_amd_portable_export_dmabuf(const void *ptr, size_t size, int *fd, uint64_t *offset)
{
    (void)ptr, (void)size, (void)fd, (void)offset;
    return 0x1001;
}
