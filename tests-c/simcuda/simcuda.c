/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* FOR TESTS ONLY: a simulated libcuda.so.1. simcuda.h says what it does and what it doesn't. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../cuda_api.h"
#include "simcuda.h"

enum { COUNTERS = 128 };

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    CONTEXT_IS_DESTROYED = 709,
    NOT_SUPPORTED = 801,
};

#define DEVICES 8
#define ATTRIBUTES 160
#define DEPTH 32
#define BLOCK (2ull << 20) /* what VMM memory and the blocks of cuMemAlloc are rounded to */
#define SMALL (1ull << 20) /* from here on cuMemAlloc gives a block of its own */

enum kind { PLAIN, VMM, POOL, MANAGED, HOST };

struct context {
    struct context *next;
    int device, alive, primary;
    unsigned refs; /* of a primary one */
};

/* Bytes of a device: a memfd. */
struct memory {
    struct memory *next;
    int fd, device, capable;
    uint64_t size, handle; /* of cuMemCreate */
    unsigned handles, uses; /* handles retained; allocations and shared blocks */
    int small;
    uint64_t addr, filled; /* of a block shared by small allocations */
};

/* Addresses with something behind them: an allocation, or a segment. */
struct range {
    struct range *next;
    enum kind kind;
    uint64_t addr, size, offset, id;
    struct memory *memory; /* none for memory of the host */
    struct context *context;
    int device, access;
};

struct reservation {
    struct reservation *next;
    uint64_t addr, size;
};

struct failure {
    struct failure *next;
    char function[64];
    unsigned k;
    int result;
};

struct counter {
    char function[64];
    unsigned calls;
    /* At the last call. */
    struct context *current;
    int device;
};

struct hidden {
    struct hidden *next;
    char symbol[64];
};

struct watch {
    struct watch *next;
    int64_t number;
    uint64_t addr, length;
    simcuda_freed freed;
    void *arg;
};

/* A dma-buf whose bytes are elsewhere. */
struct ticket {
    struct ticket *next;
    dev_t dev;
    ino_t ino;
    uint64_t addr, length;
    uint64_t ids[8]; /* of the first segments, to see that it is still the same memory */
};

static struct {
    int initialised, version, devices, plain_export, segments_export, pool_export, pcie_export;
    uint64_t page;
    uint64_t next_id, next_handle;
    int64_t next_watch;
    unsigned dmabufs;
    struct {
        int value[ATTRIBUTES];
        char known[ATTRIBUTES];
        char pci[32];
        struct context *primary;
    } device[DEVICES];
    char no_pointer_attribute[64];
    struct context *contexts;
    struct memory *memories;
    struct range *ranges;
    struct reservation *reservations;
    struct failure *failures;
    /* Without malloc, which may be the test's, and fail. */
    struct counter counters[COUNTERS];
    struct hidden *hidden;
    struct watch *watches;
    struct ticket *tickets;
} sim;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A thread's contexts. After a reset, which gives a new number, they are none. */
static unsigned epoch;
static __thread struct {
    unsigned epoch;
    int depth;
    struct context *stack[DEPTH];
} mine __attribute__((tls_model("initial-exec"))); /* no memory for a thread's copy that leak checkers would ask about */

static void thread_begin(void)
{
    if (mine.epoch != epoch) {
        mine.depth = 0;
        mine.epoch = epoch;
    }
}

static struct context *current(void)
{
    return mine.depth ? mine.stack[mine.depth - 1] : NULL;
}

#define FREE_LIST(type, head) \
    while (head) { \
        struct type *gone_ = head; \
        head = gone_->next; \
        free(gone_); \
    }

#define REMOVE(type, head, item) \
    for (struct type **at_ = &(head); *at_; at_ = &(*at_)->next) \
        if (*at_ == (item)) { \
            *at_ = (item)->next; \
            break; \
        }

#define ADD(head, item) ((item)->next = (head), (head) = (item))

static void defaults(void)
{
    static const int known[][2] = {{41, 1}, {75, 9}, {76, 0}, {102, 1}, {103, 1}, {110, 1}, {116, 1}, {117, 1}, {118, 0}, {124, 1}, {34, 0}, {50, 0}};

    memset(&sim, 0, sizeof(sim));
    sim.version = 12090;
    sim.devices = 2;
    sim.plain_export = sim.segments_export = 1;
    sim.next_id = sim.next_handle = 1000;
    for (int device = 0; device < DEVICES; device++) {
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
            sim.device[device].value[known[i][0]] = known[i][1];
            sim.device[device].known[known[i][0]] = 1;
        }
        sim.device[device].value[33] = 0xfa + device % 4;
        sim.device[device].known[33] = 1;
        snprintf(sim.device[device].pci, sizeof(sim.device[device].pci), "0000:%02X:00.0", (unsigned)sim.device[device].value[33]);
    }
}

__attribute__((constructor)) static void loaded(void)
{
    defaults();
}

/* The result that the function is to fail with now, or 0. */
static int scripted(const char *function)
{
    int result = OK;

    for (struct failure *failure = sim.failures; failure; failure = failure->next)
        if (!strcmp(failure->function, function) && failure->result) {
            if (!failure->k)
                result = failure->result;
            else if (!--failure->k) {
                result = failure->result;
                failure->result = 0;
            }
        }
    return result;
}

static struct counter *counter_of(const char *function)
{
    for (struct counter *counter = sim.counters; counter < sim.counters + COUNTERS; counter++) {
        if (!counter->function[0]) {
            snprintf(counter->function, sizeof(counter->function), "%s", function);
            counter->device = -1;
        }
        if (!strcmp(counter->function, function))
            return counter;
    }
    abort();
}

/* Counts a call of the driver's function; the lock is held afterwards unless the call ends here. */
static int begin(const char *function, int needs_init)
{
    struct counter *counter;
    int result;

    pthread_mutex_lock(&lock);
    thread_begin();
    counter = counter_of(function);
    counter->calls++;
    counter->current = current();
    counter->device = current() ? current()->device : -1;
    result = scripted(function);
    if (!result && needs_init && !sim.initialised)
        result = NOT_INITIALIZED;
    if (result)
        pthread_mutex_unlock(&lock);
    return result;
}

static int end(int result)
{
    pthread_mutex_unlock(&lock);
    return result;
}

#define BEGIN_(function, needs_init) \
    do { \
        int begun_ = begin(function, needs_init); \
        if (begun_) \
            return begun_; \
    } while (0)
#define BEGIN(function) BEGIN_(function, 1)
#define NEED(condition, result) \
    do { \
        if (!(condition)) \
            return end(result); \
    } while (0)

static void *zeroed(size_t size)
{
    void *memory = calloc(1, size);

    if (!memory)
        abort();
    return memory;
}

/* Addresses that nobody can touch, at a multiple of a block. */
static uint64_t reserve(uint64_t size)
{
    uint64_t whole = size + BLOCK, start, at;
    void *raw = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (raw == MAP_FAILED)
        return 0;
    start = (uint64_t)raw;
    at = (start + BLOCK - 1) / BLOCK * BLOCK;
    if (at > start)
        munmap(raw, at - start);
    if (at + size < start + whole)
        munmap((void *)(at + size), start + whole - at - size);
    return at;
}

static struct memory *memory_new(int device, uint64_t size, int capable)
{
    struct memory *memory = zeroed(sizeof(*memory));

    memory->fd = memfd_create("simcuda", MFD_CLOEXEC);
    if (memory->fd < 0 || ftruncate(memory->fd, (off_t)size)) {
        if (memory->fd >= 0)
            close(memory->fd);
        free(memory);
        return NULL;
    }
    memory->device = device;
    memory->size = size;
    memory->capable = capable;
    ADD(sim.memories, memory);
    return memory;
}

static void memory_drop(struct memory *memory)
{
    if (memory->handles || memory->uses)
        return;
    if (memory->small)
        munmap((void *)memory->addr, memory->size);
    close(memory->fd);
    REMOVE(memory, sim.memories, memory);
    free(memory);
}

static struct range *range_at(uint64_t addr)
{
    for (struct range *range = sim.ranges; range; range = range->next)
        if (addr >= range->addr && addr - range->addr < range->size)
            return range;
    return NULL;
}

static struct reservation *reservation_at(uint64_t addr)
{
    for (struct reservation *r = sim.reservations; r; r = r->next)
        if (addr >= r->addr && addr - r->addr < r->size)
            return r;
    return NULL;
}

static struct range *range_new(enum kind kind, uint64_t addr, uint64_t size, struct memory *memory, uint64_t offset)
{
    struct range *range = zeroed(sizeof(*range));

    range->kind = kind;
    range->addr = addr;
    range->size = size;
    range->memory = memory;
    range->offset = offset;
    range->id = ++sim.next_id;
    if (memory) {
        memory->uses++;
        range->device = memory->device;
    }
    range->context = kind == PLAIN || kind == MANAGED || kind == HOST ? current() : NULL;
    range->access = kind != VMM;
    ADD(sim.ranges, range);
    return range;
}

/* Those who watch the range, taken off the list: to be called without the lock. */
static struct watch *watchers(struct range *range)
{
    struct watch *called = NULL;

    for (struct watch **at = &sim.watches; *at;) {
        struct watch *watch = *at;

        if (watch->addr < range->addr + range->size && range->addr < watch->addr + watch->length) {
            *at = watch->next;
            ADD(called, watch);
        } else
            at = &watch->next;
    }
    return called;
}

static void call_watchers(struct watch *called)
{
    for (struct watch *watch = called; watch; watch = watch->next)
        watch->freed(watch->arg);
    FREE_LIST(watch, called);
}

/* Takes a range away; what stays of its addresses is the caller's business. */
static struct watch *range_drop(struct range *range)
{
    struct watch *called = watchers(range);
    struct memory *memory = range->memory;

    REMOVE(range, sim.ranges, range);
    free(range);
    if (memory) {
        memory->uses--;
        memory_drop(memory);
    }
    return called;
}

/* Control. */

void simcuda_reset(void)
{
    pthread_mutex_lock(&lock);
    while (sim.ranges) {
        struct range *range = sim.ranges;

        if (range->kind == MANAGED || range->kind == HOST || (range->kind != VMM && !range->memory->small))
            munmap((void *)range->addr, range->memory ? range->memory->size : range->size);
        range_drop(range);
    }
    FREE_LIST(watch, sim.watches);
    while (sim.memories) {
        sim.memories->handles = 0;
        memory_drop(sim.memories);
    }
    for (struct reservation *r = sim.reservations; r; r = r->next)
        munmap((void *)r->addr, r->size);
    FREE_LIST(reservation, sim.reservations);
    FREE_LIST(context, sim.contexts);
    FREE_LIST(failure, sim.failures);
    FREE_LIST(hidden, sim.hidden);
    FREE_LIST(ticket, sim.tickets);
    defaults();
    epoch++;
    pthread_mutex_unlock(&lock);
}

void simcuda_fail(const char *function, unsigned k, int result)
{
    struct failure *failure;

    pthread_mutex_lock(&lock);
    for (failure = sim.failures; failure && strcmp(failure->function, function); failure = failure->next)
        ;
    if (!failure) {
        failure = zeroed(sizeof(*failure));
        snprintf(failure->function, sizeof(failure->function), "%s", function);
        ADD(sim.failures, failure);
    }
    failure->k = k;
    failure->result = result;
    pthread_mutex_unlock(&lock);
}

unsigned simcuda_calls(const char *function)
{
    unsigned calls;

    pthread_mutex_lock(&lock);
    calls = counter_of(function)->calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

void *simcuda_context_at(const char *function, int *device)
{
    struct counter *counter;
    void *was;

    pthread_mutex_lock(&lock);
    counter = counter_of(function);
    was = counter->current;
    *device = counter->device;
    pthread_mutex_unlock(&lock);
    return was;
}

void simcuda_hide(const char *symbol, int hidden)
{
    struct hidden *item;

    pthread_mutex_lock(&lock);
    for (item = sim.hidden; item && strcmp(item->symbol, symbol); item = item->next)
        ;
    if (item && !hidden) {
        REMOVE(hidden, sim.hidden, item);
        free(item);
    } else if (!item && hidden) {
        item = zeroed(sizeof(*item));
        snprintf(item->symbol, sizeof(item->symbol), "%s", symbol);
        ADD(sim.hidden, item);
    }
    pthread_mutex_unlock(&lock);
}

#define SETTER(type, name, field) \
    void simcuda_##name(type value) \
    { \
        pthread_mutex_lock(&lock); \
        sim.field = value; \
        pthread_mutex_unlock(&lock); \
    }
SETTER(int, device_count, devices)
SETTER(int, version, version)
SETTER(uint64_t, page_size, page)
SETTER(int, plain_export, plain_export)
SETTER(int, segments_export, segments_export)
SETTER(int, pool_export, pool_export)
SETTER(int, pcie_export, pcie_export)

void simcuda_attribute(int device, int number, int value)
{
    pthread_mutex_lock(&lock);
    sim.device[device].value[number] = value;
    sim.device[device].known[number] = 1;
    pthread_mutex_unlock(&lock);
}

void simcuda_no_attribute(int device, int number)
{
    pthread_mutex_lock(&lock);
    if (number < 0)
        memset(sim.device[device].known, 0, sizeof(sim.device[device].known));
    else
        sim.device[device].known[number] = 0;
    pthread_mutex_unlock(&lock);
}

void simcuda_no_pointer_attribute(int number)
{
    pthread_mutex_lock(&lock);
    sim.no_pointer_attribute[number] = 1;
    pthread_mutex_unlock(&lock);
}

void simcuda_pci(int device, const char *text)
{
    pthread_mutex_lock(&lock);
    snprintf(sim.device[device].pci, sizeof(sim.device[device].pci), "%s", text);
    pthread_mutex_unlock(&lock);
}

unsigned simcuda_open(void)
{
    unsigned open = 0;

    pthread_mutex_lock(&lock);
    for (struct range *range = sim.ranges; range; range = range->next)
        open++;
    for (struct memory *memory = sim.memories; memory; memory = memory->next)
        open += memory->handles;
    for (struct reservation *r = sim.reservations; r; r = r->next)
        open++;
    pthread_mutex_unlock(&lock);
    return open;
}

unsigned simcuda_contexts(void)
{
    unsigned count;

    pthread_mutex_lock(&lock);
    thread_begin();
    count = (unsigned)mine.depth;
    for (struct context *context = sim.contexts; context; context = context->next)
        count += 1000 * context->refs;
    pthread_mutex_unlock(&lock);
    return count;
}

unsigned simcuda_dmabufs(void)
{
    return __atomic_load_n(&sim.dmabufs, __ATOMIC_RELAXED);
}

int simcuda_find(uint64_t addr, simcuda_piece *piece)
{
    struct range *range;

    pthread_mutex_lock(&lock);
    range = range_at(addr);
    if (range && !range->memory)
        range = NULL;
    if (range) {
        piece->memfd = range->memory->fd;
        piece->device = range->device;
        piece->offset = range->offset + (addr - range->addr);
        piece->length = range->size - (addr - range->addr);
        piece->buffer_id = range->id;
    }
    pthread_mutex_unlock(&lock);
    return range ? 0 : -EFAULT;
}

/* The kernel's, whatever the program under test is told by a sysconf of its own. */
static uint64_t real_page(void)
{
    return getauxval(AT_PAGESZ);
}

/* The address of the bytes for the CPU, the lock held. `pages`: bytes of the pages around are taken, allocated or not. */
static int64_t map_locked(uint64_t addr, uint64_t length, int writable)
{
    uint64_t within = addr % real_page(), at = addr - within, end = addr + length;
    int protection = PROT_READ | (writable ? PROT_WRITE : 0);
    struct range *range = range_at(addr);
    char *base, *to;

    if (!length || end < addr)
        return -EINVAL;
    if (!range || !range->memory)
        return -EFAULT;
    base = to = mmap(NULL, within + length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return -errno;
    for (;;) {
        uint64_t stop = range->addr + range->size < end ? range->addr + range->size : end;
        uint64_t offset = range->offset + (at > range->addr ? at - range->addr : 0) - (at < range->addr ? range->addr - at : 0);

        if (mmap(to, stop - at, protection, MAP_SHARED | MAP_FIXED, range->memory->fd, (off_t)offset) == MAP_FAILED) {
            int error = errno;

            munmap(base, within + length);
            return -error;
        }
        to += stop - at;
        at = stop;
        if (at >= end)
            return (int64_t)(base + within);
        /* Only segments continue each other. */
        range = range->kind == VMM ? range_at(at) : NULL;
        if (!range || range->kind != VMM) {
            munmap(base, within + length);
            return -EFAULT;
        }
    }
}

int64_t simcuda_map_range(uint64_t addr, uint64_t length, int writable)
{
    int64_t mapped;

    pthread_mutex_lock(&lock);
    mapped = map_locked(addr, length, writable);
    pthread_mutex_unlock(&lock);
    return mapped;
}

int64_t simcuda_map_dmabuf(int fd, uint64_t offset, uint64_t length, int writable)
{
    struct stat st;
    struct ticket *ticket;
    int64_t mapped = -ENOENT;

    if (fstat(fd, &st))
        return -errno;
    pthread_mutex_lock(&lock);
    for (ticket = sim.tickets; ticket; ticket = ticket->next)
        if (ticket->dev == st.st_dev && ticket->ino == st.st_ino)
            break;
    if (ticket) {
        struct range *range;
        uint64_t at = ticket->addr;
        size_t i;

        mapped = length && offset <= ticket->length && length <= ticket->length - offset ? 0 : -EINVAL;
        for (i = 0; !mapped && i < sizeof(ticket->ids) / sizeof(ticket->ids[0]) && ticket->ids[i]; i++) {
            range = range_at(at);
            /* The first page of a shared block may begin before the allocation. */
            if (i == 0 && !range)
                for (uint64_t byte = at; !range && byte < at + ticket->length; byte += 512)
                    range = range_at(byte);
            if (!range || range->id != ticket->ids[i])
                mapped = -EFAULT;
            else
                at = range->addr + range->size;
        }
        if (!mapped) {
            struct memory *block = NULL;

            for (struct memory *memory = sim.memories; memory; memory = memory->next)
                if (memory->small && ticket->addr >= memory->addr && ticket->addr < memory->addr + memory->size)
                    block = memory;
            if (block) {
                uint64_t start = ticket->addr + offset - block->addr, within = start % real_page();
                void *raw = mmap(NULL, length + within, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, block->fd, (off_t)(start - within));

                mapped = raw == MAP_FAILED ? -errno : (int64_t)((char *)raw + within);
            } else
                mapped = map_locked(ticket->addr + offset, length, writable);
        }
    }
    pthread_mutex_unlock(&lock);
    return mapped;
}

int64_t simcuda_watch(uint64_t addr, uint64_t length, simcuda_freed freed, void *arg)
{
    struct range *range;
    struct watch *watch;
    int64_t number = -EFAULT;

    pthread_mutex_lock(&lock);
    range = range_at(addr);
    if (range && range->memory) {
        watch = zeroed(sizeof(*watch));
        number = watch->number = ++sim.next_watch;
        watch->addr = addr;
        watch->length = length;
        watch->freed = freed;
        watch->arg = arg;
        ADD(sim.watches, watch);
    }
    pthread_mutex_unlock(&lock);
    return number;
}

void simcuda_unwatch(int64_t number)
{
    pthread_mutex_lock(&lock);
    for (struct watch *watch = sim.watches; watch; watch = watch->next)
        if (watch->number == number) {
            REMOVE(watch, sim.watches, watch);
            free(watch);
            break;
        }
    pthread_mutex_unlock(&lock);
}

/* The driver. The prototypes are here, since nothing of this is for a header. */

#define X(field, name, args) CUresult name args;
CUDA_API_FUNCTIONS(X)
#undef X
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle);
CUresult cuFlushGPUDirectRDMAWrites(unsigned target, unsigned scope);

CUresult cuInit(unsigned flags)
{
    BEGIN_("cuInit", 0);
    NEED(!flags, INVALID_VALUE);
    NEED(sim.devices > 0, NO_DEVICE);
    sim.initialised = 1;
    return end(OK);
}

CUresult cuDriverGetVersion(int *version)
{
    BEGIN_("cuDriverGetVersion", 0);
    NEED(version, INVALID_VALUE);
    *version = sim.version;
    return end(OK);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    BEGIN("cuDeviceGet");
    NEED(device, INVALID_VALUE);
    NEED(ordinal >= 0 && ordinal < sim.devices, INVALID_DEVICE);
    *device = ordinal;
    return end(OK);
}

CUresult cuDeviceGetCount(int *count)
{
    BEGIN("cuDeviceGetCount");
    NEED(count, INVALID_VALUE);
    *count = sim.devices;
    return end(OK);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    BEGIN("cuDeviceGetName");
    NEED(name && length > 0, INVALID_VALUE);
    NEED(device >= 0 && device < sim.devices, INVALID_DEVICE);
    snprintf(name, (size_t)length, "Simulated GPU %d (no hardware)", device);
    return end(OK);
}

CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device)
{
    BEGIN("cuDeviceGetPCIBusId");
    NEED(text && length > 0, INVALID_VALUE);
    NEED(device >= 0 && device < sim.devices, INVALID_DEVICE);
    snprintf(text, (size_t)length, "%s", sim.device[device].pci);
    return end(OK);
}

CUresult cuDeviceGetAttribute(int *value, unsigned number, CUdevice device)
{
    int since = number >= 124 ? 11070 : number >= 116 ? 11030 : number >= 110 ? 11000 : 0;

    BEGIN("cuDeviceGetAttribute");
    NEED(value, INVALID_VALUE);
    NEED(device >= 0 && device < sim.devices, INVALID_DEVICE);
    NEED(number < ATTRIBUTES && sim.device[device].known[number] && sim.version >= since, INVALID_VALUE);
    *value = sim.device[device].value[number];
    return end(OK);
}

static struct context *context_new(int device, int primary)
{
    struct context *context = zeroed(sizeof(*context));

    context->device = device;
    context->primary = primary;
    context->alive = 1;
    ADD(sim.contexts, context);
    return context;
}

static struct context *context_of(CUcontext handle)
{
    struct context *context;

    for (context = sim.contexts; context && context != handle; context = context->next)
        ;
    return context;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device)
{
    struct context **primary;

    BEGIN("cuDevicePrimaryCtxRetain");
    NEED(out, INVALID_VALUE);
    NEED(device >= 0 && device < sim.devices, INVALID_DEVICE);
    primary = &sim.device[device].primary;
    if (!*primary)
        *primary = context_new(device, 1);
    (*primary)->refs++;
    (*primary)->alive = 1;
    *out = *primary;
    return end(OK);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    struct context *primary;

    BEGIN("cuDevicePrimaryCtxRelease_v2");
    NEED(device >= 0 && device < sim.devices, INVALID_DEVICE);
    primary = sim.device[device].primary;
    NEED(primary && primary->refs, INVALID_CONTEXT);
    if (!--primary->refs)
        primary->alive = 0;
    return end(OK);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    BEGIN("cuDevicePrimaryCtxGetState");
    NEED(flags && active, INVALID_VALUE);
    NEED(device >= 0 && device < sim.devices, INVALID_DEVICE);
    *flags = 0;
    *active = sim.device[device].primary && sim.device[device].primary->refs;
    return end(OK);
}

CUresult cuCtxPushCurrent_v2(CUcontext handle)
{
    struct context *context;

    BEGIN("cuCtxPushCurrent_v2");
    context = context_of(handle);
    NEED(context && mine.depth < DEPTH, INVALID_CONTEXT);
    NEED(context->alive, CONTEXT_IS_DESTROYED);
    mine.stack[mine.depth++] = context;
    return end(OK);
}

CUresult cuCtxPopCurrent_v2(CUcontext *handle)
{
    BEGIN("cuCtxPopCurrent_v2");
    NEED(mine.depth, INVALID_CONTEXT);
    mine.depth--;
    if (handle)
        *handle = mine.stack[mine.depth];
    return end(OK);
}

CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device)
{
    (void)flags;
    BEGIN("cuCtxCreate_v2");
    NEED(out && mine.depth < DEPTH, INVALID_VALUE);
    NEED(device >= 0 && device < sim.devices, INVALID_DEVICE);
    *out = mine.stack[mine.depth++] = context_new(device, 0);
    return end(OK);
}

CUresult cuCtxDestroy_v2(CUcontext handle)
{
    struct context *context;

    BEGIN("cuCtxDestroy_v2");
    context = context_of(handle);
    NEED(context && context->alive && !context->primary, INVALID_CONTEXT);
    context->alive = 0;
    if (current() == context)
        mine.depth--;
    return end(OK);
}

CUresult cuCtxSetCurrent(CUcontext handle)
{
    struct context *context;

    BEGIN("cuCtxSetCurrent");
    context = context_of(handle);
    NEED(!handle || (context && context->alive), INVALID_CONTEXT);
    if (mine.depth)
        mine.depth--;
    if (context)
        mine.stack[mine.depth++] = context;
    return end(OK);
}

CUresult cuCtxGetCurrent(CUcontext *out)
{
    BEGIN("cuCtxGetCurrent");
    NEED(out, INVALID_VALUE);
    *out = current();
    return end(OK);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    BEGIN("cuCtxGetDevice");
    NEED(device, INVALID_VALUE);
    NEED(current(), INVALID_CONTEXT);
    *device = current()->device;
    return end(OK);
}

CUresult cuCtxSynchronize(void)
{
    BEGIN("cuCtxSynchronize");
    NEED(current(), INVALID_CONTEXT);
    NEED(current()->alive, CONTEXT_IS_DESTROYED);
    return end(OK);
}

/* Device memory of one block, with the lock held. */
static int allocate(CUdeviceptr *out, size_t size, enum kind kind)
{
    int device = current()->device;
    uint64_t whole = (size + BLOCK - 1) / BLOCK * BLOCK, addr;
    struct memory *memory;

    if (size < SMALL) {
        uint64_t room = (size + 511) / 512 * 512;

        for (memory = sim.memories; memory; memory = memory->next)
            if (memory->small && memory->device == device && memory->size - memory->filled >= room)
                break;
        if (!memory) {
            memory = memory_new(device, BLOCK, 1);
            if (!memory)
                return OUT_OF_MEMORY;
            memory->small = 1;
            memory->addr = reserve(BLOCK);
            if (!memory->addr) {
                memory->small = 0;
                memory_drop(memory);
                return OUT_OF_MEMORY;
            }
        }
        *out = memory->addr + memory->filled;
        range_new(kind, *out, size, memory, memory->filled);
        memory->filled += room;
        return OK;
    }
    addr = reserve(whole);
    memory = addr ? memory_new(device, whole, 1) : NULL;
    if (!memory) {
        if (addr)
            munmap((void *)addr, whole);
        return OUT_OF_MEMORY;
    }
    range_new(kind, addr, size, memory, 0);
    *out = addr;
    return OK;
}

/* Frees what begins at `addr`; releases the lock. */
static int release(CUdeviceptr addr, enum kind kind, enum kind other)
{
    struct range *range = range_at(addr);
    struct watch *called;

    NEED(range && range->addr == addr && (range->kind == kind || range->kind == other), INVALID_VALUE);
    if (!range->memory)
        munmap((void *)addr, range->size);
    else if (!range->memory->small)
        munmap((void *)addr, range->memory->size);
    called = range_drop(range);
    end(OK);
    call_watchers(called);
    return OK;
}

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size)
{
    BEGIN("cuMemAlloc_v2");
    NEED(out && size, INVALID_VALUE);
    NEED(current(), INVALID_CONTEXT);
    return end(allocate(out, size, PLAIN));
}

CUresult cuMemFree_v2(CUdeviceptr addr)
{
    BEGIN("cuMemFree_v2");
    return release(addr, PLAIN, MANAGED);
}

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t size, CUstream stream)
{
    (void)stream;
    BEGIN("cuMemAllocAsync");
    NEED(out && size, INVALID_VALUE);
    NEED(current(), INVALID_CONTEXT);
    return end(allocate(out, size, POOL));
}

CUresult cuMemFreeAsync(CUdeviceptr addr, CUstream stream)
{
    (void)stream;
    BEGIN("cuMemFreeAsync");
    return release(addr, POOL, POOL);
}

/* Memory that the CPU can touch, with the lock held. */
static void *host(size_t size, enum kind kind)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return NULL;
    range_new(kind, (uint64_t)memory, size, NULL, 0)->device = current()->device;
    return memory;
}

CUresult cuMemAllocManaged(CUdeviceptr *out, size_t size, unsigned flags)
{
    BEGIN("cuMemAllocManaged");
    NEED(out && size && (flags == 1 || flags == 2), INVALID_VALUE);
    NEED(current(), INVALID_CONTEXT);
    *out = (CUdeviceptr)host(size, MANAGED);
    return end(*out ? OK : OUT_OF_MEMORY);
}

CUresult cuMemHostAlloc(void **out, size_t size, unsigned flags)
{
    (void)flags;
    BEGIN("cuMemHostAlloc");
    NEED(out && size, INVALID_VALUE);
    NEED(current(), INVALID_CONTEXT);
    *out = host(size, HOST);
    return end(*out ? OK : OUT_OF_MEMORY);
}

CUresult cuMemFreeHost(void *addr)
{
    BEGIN("cuMemFreeHost");
    return release((uint64_t)addr, HOST, HOST);
}

CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *prop, unsigned option)
{
    BEGIN("cuMemGetAllocationGranularity");
    NEED(out && prop && option <= 1, INVALID_VALUE);
    *out = BLOCK;
    return end(OK);
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t size, const CUmemAllocationProp *prop, unsigned long long flags)
{
    struct memory *memory;

    BEGIN("cuMemCreate");
    NEED(out && prop && size && size % BLOCK == 0 && !flags && prop->type == 1 && prop->location.type == 1, INVALID_VALUE);
    NEED(prop->location.id >= 0 && prop->location.id < sim.devices, INVALID_DEVICE);
    memory = memory_new(prop->location.id, size, prop->allocFlags.gpuDirectRDMACapable);
    NEED(memory, OUT_OF_MEMORY);
    memory->handle = ++sim.next_handle;
    memory->handles = 1;
    *out = memory->handle;
    return end(OK);
}

static struct memory *memory_of(CUmemGenericAllocationHandle handle)
{
    struct memory *memory;

    for (memory = sim.memories; memory; memory = memory->next)
        if (memory->handles && memory->handle == handle)
            return memory;
    return NULL;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    struct memory *memory;

    BEGIN("cuMemRelease");
    memory = memory_of(handle);
    NEED(memory, INVALID_VALUE);
    memory->handles--;
    memory_drop(memory);
    return end(OK);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *addr)
{
    struct range *range;

    BEGIN("cuMemRetainAllocationHandle");
    range = range_at((uint64_t)addr);
    NEED(out && range && range->kind == VMM, INVALID_VALUE);
    range->memory->handles++;
    *out = range->memory->handle;
    return end(OK);
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
    struct memory *memory;

    BEGIN("cuMemGetAllocationPropertiesFromHandle");
    memory = memory_of(handle);
    NEED(prop && memory, INVALID_VALUE);
    memset(prop, 0, sizeof(*prop));
    prop->type = 1;
    prop->location.type = 1;
    prop->location.id = memory->device;
    prop->allocFlags.gpuDirectRDMACapable = memory->capable != 0;
    return end(OK);
}

CUresult cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t alignment, CUdeviceptr wanted, unsigned long long flags)
{
    struct reservation *reservation;

    (void)wanted;
    BEGIN("cuMemAddressReserve");
    NEED(out && size && size % BLOCK == 0 && BLOCK % (alignment ? alignment : 1) == 0 && !flags, INVALID_VALUE);
    reservation = zeroed(sizeof(*reservation));
    reservation->size = size;
    reservation->addr = reserve(size);
    if (!reservation->addr) {
        free(reservation);
        return end(OUT_OF_MEMORY);
    }
    ADD(sim.reservations, reservation);
    *out = reservation->addr;
    return end(OK);
}

CUresult cuMemAddressFree(CUdeviceptr addr, size_t size)
{
    struct reservation *reservation;

    BEGIN("cuMemAddressFree");
    reservation = reservation_at(addr);
    NEED(reservation && reservation->addr == addr && reservation->size == size, INVALID_VALUE);
    for (struct range *range = sim.ranges; range; range = range->next)
        NEED(range->addr < addr || range->addr >= addr + size, INVALID_VALUE);
    munmap((void *)addr, size);
    REMOVE(reservation, sim.reservations, reservation);
    free(reservation);
    return end(OK);
}

CUresult cuMemMap(CUdeviceptr addr, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    struct reservation *reservation;
    struct memory *memory;

    BEGIN("cuMemMap");
    reservation = reservation_at(addr);
    memory = memory_of(handle);
    NEED(memory && reservation && !flags && !offset && size && size == memory->size && addr % BLOCK == 0, INVALID_VALUE);
    NEED(size <= reservation->size - (addr - reservation->addr), INVALID_VALUE);
    for (struct range *range = sim.ranges; range; range = range->next)
        NEED(range->addr >= addr + size || range->addr + range->size <= addr, INVALID_VALUE);
    range_new(VMM, addr, size, memory, 0);
    return end(OK);
}

CUresult cuMemUnmap(CUdeviceptr addr, size_t size)
{
    struct watch *called = NULL;
    struct range *range;

    BEGIN("cuMemUnmap");
    for (uint64_t at = addr; at < addr + size; at = range->addr + range->size) {
        range = range_at(at);
        NEED(range && range->kind == VMM && range->addr == at && range->size <= addr + size - at, INVALID_VALUE);
    }
    for (uint64_t at = addr, next; at < addr + size; at = next) {
        struct watch *more;

        range = range_at(at);
        next = range->addr + range->size;
        more = range_drop(range);
        while (more) {
            struct watch *watch = more;

            more = more->next;
            ADD(called, watch);
        }
    }
    end(OK);
    call_watchers(called);
    return OK;
}

CUresult cuMemSetAccess(CUdeviceptr addr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    struct range *range;

    BEGIN("cuMemSetAccess");
    NEED(desc && count, INVALID_VALUE);
    for (uint64_t at = addr; at < addr + size; at = range->addr + range->size) {
        range = range_at(at);
        NEED(range && range->kind == VMM, INVALID_VALUE);
        range->access = desc->flags == 3;
    }
    return end(OK);
}

/* Copies between the host and a range of device addresses; the lock is held. */
static int copy(uint64_t addr, void *to, const void *from, int fill, size_t size)
{
    static unsigned char pattern[1 << 16];
    size_t done = 0;

    if (!current())
        return INVALID_CONTEXT;
    memset(pattern, fill, !to && !from ? sizeof(pattern) : 0);
    while (done < size) {
        struct range *range = range_at(addr + done);
        size_t part = size - done;
        ssize_t moved;
        off_t offset;

        if (!range || !range->access)
            return INVALID_VALUE;
        if (part > range->size - (addr + done - range->addr))
            part = range->size - (addr + done - range->addr);
        if (!to && !from && part > sizeof(pattern))
            part = sizeof(pattern);
        if (!range->memory) {
            if (to)
                memcpy((char *)to + done, (void *)(addr + done), part);
            else
                memcpy((void *)(addr + done), from ? (const char *)from + done : (char *)pattern, part);
            done += part;
            continue;
        }
        offset = (off_t)(range->offset + (addr + done - range->addr));
        if (to)
            moved = pread(range->memory->fd, (char *)to + done, part, offset);
        else
            moved = pwrite(range->memory->fd, from ? (const char *)from + done : (char *)pattern, part, offset);
        if (moved <= 0)
            return OUT_OF_MEMORY;
        done += (size_t)moved;
    }
    return OK;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size)
{
    BEGIN("cuMemcpyHtoD_v2");
    NEED(from || !size, INVALID_VALUE);
    return end(copy(to, NULL, from, 0, size));
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size)
{
    BEGIN("cuMemcpyDtoH_v2");
    NEED(to || !size, INVALID_VALUE);
    return end(copy(from, to, NULL, 0, size));
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char byte, size_t size)
{
    BEGIN("cuMemsetD8_v2");
    return end(copy(to, NULL, NULL, byte, size));
}

CUresult cuPointerGetAttribute(void *data, unsigned attribute, CUdeviceptr addr)
{
    int since = attribute >= 17 ? 11030 : attribute >= 15 ? 11010 : attribute >= 11 ? 10020 : 0;
    struct range *range;
    struct reservation *reservation;
    uint64_t start, size;
    int number;

    BEGIN("cuPointerGetAttribute");
    NEED(data && attribute < sizeof(sim.no_pointer_attribute), INVALID_VALUE);
    NEED(!sim.no_pointer_attribute[attribute] && sim.version >= since, INVALID_VALUE);
    range = range_at(addr);
    reservation = reservation_at(addr);
    NEED(range || (reservation && attribute >= 11 && attribute <= 13), INVALID_VALUE);
    start = reservation ? reservation->addr : range->addr;
    size = reservation ? reservation->size : range->size;
    number = -1;
    switch (attribute) {
    case 1:
        memcpy(data, &range->context, sizeof(range->context));
        return end(OK);
    case 2:
        number = range->kind == HOST ? 1 : 2;
        break;
    case 7:
        memcpy(data, &range->id, sizeof(range->id));
        return end(OK);
    case 8:
        number = range->kind == MANAGED;
        break;
    case 9:
        number = range->device;
        break;
    case 10:
        number = range->kind == PLAIN;
        break;
    case 11:
        memcpy(data, &start, sizeof(start));
        return end(OK);
    case 12:
        memcpy(data, &size, sizeof(size));
        return end(OK);
    case 13:
        number = range != NULL;
        break;
    case 15:
        number = range->kind == PLAIN || (range->kind == VMM && range->memory->capable);
        break;
    case 17:
        memset(data, range->kind == POOL ? 0x77 : 0, sizeof(void *));
        return end(OK);
    }
    NEED(number >= 0, INVALID_VALUE);
    memcpy(data, &number, sizeof(number));
    return end(OK);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr addr)
{
    struct range *range;

    BEGIN("cuMemGetAddressRange_v2");
    NEED(current(), INVALID_CONTEXT);
    range = range_at(addr);
    NEED(range, NOT_FOUND);
    if (base)
        *base = range->addr;
    if (size)
        *size = range->size;
    return end(OK);
}

/* A descriptor of its own for a dma-buf. */
static int ticket_new(uint64_t addr, uint64_t length)
{
    struct ticket *ticket;
    struct stat st;
    uint64_t at = addr;
    int fd = memfd_create("simcuda-dmabuf", 0);

    if (fd < 0 || fstat(fd, &st)) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    ticket = calloc(1, sizeof(*ticket));
    if (!ticket) {
        close(fd);
        return -1;
    }
    ticket->dev = st.st_dev;
    ticket->ino = st.st_ino;
    ticket->addr = addr;
    ticket->length = length;
    for (size_t i = 0; i < sizeof(ticket->ids) / sizeof(ticket->ids[0]) && at < addr + length; i++) {
        struct range *range = range_at(at);

        for (uint64_t byte = at; i == 0 && !range && byte < at + length; byte += 512)
            range = range_at(byte);
        if (!range)
            break;
        ticket->ids[i] = range->id;
        if (range->kind != VMM)
            break;
        at = range->addr + range->size;
    }
    ADD(sim.tickets, ticket);
    return fd;
}

CUresult cuMemGetHandleForAddressRange(void *out, CUdeviceptr addr, size_t size, unsigned type, unsigned long long flags)
{
    uint64_t page = sim.page ? sim.page : (uint64_t)sysconf(_SC_PAGESIZE);
    struct range *range = NULL, *first;
    struct memory *block = NULL;
    int fd, pieces = 0;

    BEGIN("cuMemGetHandleForAddressRange");
    NEED(current(), INVALID_CONTEXT);
    NEED(out && size && addr % page == 0 && size % page == 0 && addr + size > addr && type == 1 && flags <= 1, INVALID_VALUE);
    for (struct memory *memory = sim.memories; memory; memory = memory->next)
        if (memory->small && addr >= memory->addr && addr - memory->addr < memory->size)
            block = memory;
    if (block) {
        NEED(size <= block->size - (addr - block->addr), INVALID_VALUE);
        for (uint64_t byte = addr; !range && byte < addr + size; byte += 512)
            range = range_at(byte);
    } else
        range = range_at(addr);
    NEED(range && range->memory, INVALID_VALUE);
    first = range;
    NEED(sim.device[range->device].known[124] && sim.device[range->device].value[124], NOT_SUPPORTED);
    NEED(!flags || sim.pcie_export, NOT_SUPPORTED);
    NEED(range->kind != PLAIN || sim.plain_export, INVALID_VALUE);
    NEED(range->kind != POOL || sim.pool_export, NOT_SUPPORTED);
    if (!block && range->kind != VMM)
        /* The pages of the last block are the allocation's, whatever its length. */
        NEED(size <= range->memory->size - (addr - range->addr), INVALID_VALUE);
    for (uint64_t at = addr; range->kind == VMM && at < addr + size; at = range->addr + range->size) {
        range = range_at(at);
        NEED(range && range->kind == VMM && range->memory->capable, INVALID_VALUE);
        NEED(range->device == first->device, INVALID_VALUE);
        NEED(++pieces == 1 || sim.segments_export, INVALID_VALUE);
    }
    if (!block && pieces <= 1 && first->addr == addr && !first->offset)
        fd = dup(first->memory->fd);
    else
        fd = ticket_new(addr, size);
    NEED(fd >= 0, OUT_OF_MEMORY);
    if (scripted("cuMemGetHandleForAddressRange:fd")) {
        close(fd);
        fd = -1;
    }
    memcpy(out, &fd, sizeof(fd));
    sim.dmabufs++;
    return end(OK);
}

CUresult cuFlushGPUDirectRDMAWrites(unsigned target, unsigned scope)
{
    BEGIN("cuFlushGPUDirectRDMAWrites");
    NEED(current(), INVALID_CONTEXT);
    NEED(!target && (scope == 100 || scope == 200), INVALID_VALUE);
    NEED(sim.device[current()->device].value[117] & 1, NOT_SUPPORTED);
    return end(OK);
}

void *simcuda_lookup(const char *symbol, const char *version, void *arg)
{
    static const struct {
        const char *symbol;
        void (*function)(void);
        int since;
    } symbols[] = {
#define X(field, name, args) {#name, (void (*)(void))name, 0},
        CUDA_API_FUNCTIONS(X)
#undef X
        {"cuMemRetainAllocationHandle", (void (*)(void))cuMemRetainAllocationHandle, 11000},
        {"cuMemGetAllocationPropertiesFromHandle", (void (*)(void))cuMemGetAllocationPropertiesFromHandle, 10020},
        {"cuFlushGPUDirectRDMAWrites", (void (*)(void))cuFlushGPUDirectRDMAWrites, 11030},
    };
    void *address = NULL;

    (void)arg;
    pthread_mutex_lock(&lock);
    if (!version || *version)
        symbol = "none has a version";
    for (struct hidden *hidden = sim.hidden; hidden; hidden = hidden->next)
        if (!strcmp(hidden->symbol, symbol) || !strcmp(hidden->symbol, "*"))
            symbol = "hidden";
    if (sim.version < 11070 && !strcmp(symbol, "cuMemGetHandleForAddressRange"))
        symbol = "too new";
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
        if (!strcmp(symbols[i].symbol, symbol) && sim.version >= symbols[i].since)
            memcpy(&address, &symbols[i].function, sizeof(address));
    pthread_mutex_unlock(&lock);
    return address;
}
