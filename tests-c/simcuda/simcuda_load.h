/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The simulated libcuda for a test program: its control functions, and the driver's. */
#ifndef SIMCUDA_LOAD_H
#define SIMCUDA_LOAD_H

#include <libgen.h>
#include <stdlib.h>
#include <unistd.h>
#include <verbena.h>
#include "../cuda_api.h"
#include "simcuda.h"

static struct {
    void *library;
    char path[4096];
    struct cuda_api cuda;
#define X(type, name, args) type(*name) args;
    SIMCUDA_FUNCTIONS(X)
#undef X
    void *(*lookup)(const char *symbol, const char *version, void *arg);
} sim;

/* Opens the libcuda.so.1 beside the program: 0, or -1 after a message. */
static inline int simcuda_start(void)
{
    char self[4000];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    void *address;
    const char *missing;

    if (sim.library)
        return 0;
    if (length < 0)
        return -1;
    self[length] = 0;
    snprintf(sim.path, sizeof(sim.path), "%s/libcuda.so.1", dirname(self));
    sim.library = dlopen(sim.path, RTLD_NOW | RTLD_LOCAL);
    if (!sim.library) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
#define X(type, name, args) \
    address = dlsym(sim.library, "simcuda_" #name); \
    if (!address) { \
        fprintf(stderr, "%s is not the simulated one\n", sim.path); \
        return -1; \
    } \
    memcpy(&sim.name, &address, sizeof(address));
    SIMCUDA_FUNCTIONS(X)
#undef X
    address = dlsym(sim.library, "simcuda_lookup");
    memcpy(&sim.lookup, &address, sizeof(address));
    missing = cuda_api_load(&sim.cuda, sim.library);
    if (missing)
        fprintf(stderr, "%s lacks %s\n", sim.path, missing);
    return missing ? -1 : 0;
}

/* From now on it is the library's libcuda: a status. With `scripted`, functions can be hidden until the library has looked them up. */
static inline vbn_status simcuda_use(int scripted)
{
    vbn_library_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.struct_size = sizeof(attr);
    attr.library = VBN_LIBRARY_CUDA;
    if (scripted)
        attr.lookup = sim.lookup;
    else
        attr.path = sim.path;
    return vbn_library_init(&attr);
}

#endif
