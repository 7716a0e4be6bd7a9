/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * FOR TESTS ONLY: a simulated libcuda.so.1. There is no GPU behind it, and nothing that it shows is proof of what NVIDIA's driver does; it
 * follows what cuda.h of CUDA 12.9 says of each function, and refuses what that leaves open.
 *
 * - Memory of a "GPU" is a memfd. Its device addresses are reserved without access (PROT_NONE): a CPU that touches one crashes. cuMemcpyHtoD,
 *   cuMemcpyDtoH and cuMemsetD8 reach it.
 * - cuMemAlloc takes small blocks from pages that it shares among them, at multiples of 512 bytes, as the driver does. VMM memory is made and mapped by
 *   cuMemCreate, cuMemAddressReserve, cuMemMap; a range of addresses can have several segments.
 * - A dma-buf's byte 0 is the first byte that was exported. Where that is byte 0 of a memfd, the descriptor is a duplicate of it. Otherwise it
 *   is an empty file, which nobody can map by mistake, and simcuda_map_dmabuf() knows where the bytes are, as long as the memory is there.
 * - Contexts are kept as the driver does: per thread, in a stack; what needs a current one refuses without. cuInit must have been called.
 * - simcuda_fail() and the other simcuda_* functions script what goes wrong. They are exported beside the driver's functions.
 *
 * A test program loads it by simcuda_start() and makes it the library's libcuda by simcuda_use(). softnic finds it with RTLD_NOLOAD as libcuda.so.1 and
 * knows it by the symbol simcuda_map_range.
 */
#ifndef SIMCUDA_H
#define SIMCUDA_H

#include <stddef.h>
#include <stdint.h>

/* Where the bytes of a device address are: `length` of them lie together. */
typedef struct simcuda_piece {
    int memfd; /* the simulation's own: not to be closed */
    int device;
    uint64_t offset; /* in the memfd, of the address that was asked for */
    uint64_t length; /* up to the end of the allocation, or of the segment */
    uint64_t buffer_id;
} simcuda_piece;

/* Told that memory is gone. */
typedef void (*simcuda_freed)(void *arg);

/*
 * The control functions, in the order of the table below. Numbers that a function refuses are -errno.
 *
 * reset():                       as it was when it was loaded: no allocation, no context, not initialised, nothing scripted
 * fail(function, k, result):     the k-th call of the driver's function from now on returns `result`; k 0: every call. Name as exported
 *                                ("cuMemGetAddressRange_v2"). Several may be set. result 0 takes it back. "cuMemGetHandleForAddressRange:fd":
 *                                it succeeds, but for the descriptor, which is -1
 * calls(function):               how often it was called since reset
 * context_at(function, &device): the context that was current at the last call, NULL: none, and its device, -1: none
 * hide(symbol, hidden):          simcuda_lookup(), and so the library, doesn't find it
 * device_count(n):               1..8 GPUs; default 2
 * attribute(device, number, value): a device attribute; number -1: all are unknown, as an old driver says (INVALID_VALUE)
 * no_attribute(device, number):  the driver doesn't know it
 * no_pointer_attribute(number):  the same for an address
 * version(n):                    of the driver, 12090 by default. Below that which brought it a function is hidden and an attribute unknown.
 * pci(device, text):             the PCI address that cuDeviceGetPCIBusId tells
 * page_size(bytes):              what an export must be aligned to; 0: the host's pages
 * plain_export(yes):             whether memory of cuMemAlloc can be exported; default yes
 * segments_export(yes):          whether one export may span several segments; default yes
 * pool_export(yes):              whether memory of cuMemAllocAsync can; default no
 * pcie_export(yes):              whether the PCIe flag is taken; default no
 * open():                        allocations and handles that are there, of all kinds; contexts aren't counted
 * contexts():                    how deep this thread's stack is, plus primary contexts' references in all, times 1000
 * find(addr, &piece):            0, or -EFAULT: nothing is mapped there
 * map_range(addr, length, writable): maps the bytes of a range of device addresses for the CPU, one behind another: their address, or
 *                                -errno. As peer memory does. Undo with munmap of the pages around it.
 * map_dmabuf(fd, offset, length, writable): the same for a dma-buf; -ENOENT if it is none whose data are elsewhere: mmap it then
 * watch(addr, length, freed, arg): `freed` is called once when any byte of the range is freed or unmapped, with the simulation's lock not held:
 *                                a number above 0, or -EFAULT
 * unwatch(number):               not called from now on
 * dmabufs():                     dma-buf descriptors that were given out since reset
 */
#define SIMCUDA_FUNCTIONS(X) \
    X(void, reset, (void)) \
    X(void, fail, (const char *function, unsigned k, int result)) \
    X(unsigned, calls, (const char *function)) \
    X(void *, context_at, (const char *function, int *device)) \
    X(void, hide, (const char *symbol, int hidden)) \
    X(void, device_count, (int count)) \
    X(void, attribute, (int device, int number, int value)) \
    X(void, no_attribute, (int device, int number)) \
    X(void, no_pointer_attribute, (int number)) \
    X(void, version, (int version)) \
    X(void, pci, (int device, const char *text)) \
    X(void, page_size, (uint64_t bytes)) \
    X(void, plain_export, (int yes)) \
    X(void, segments_export, (int yes)) \
    X(void, pool_export, (int yes)) \
    X(void, pcie_export, (int yes)) \
    X(unsigned, open, (void)) \
    X(unsigned, contexts, (void)) \
    X(int, find, (uint64_t addr, simcuda_piece * piece)) \
    X(int64_t, map_range, (uint64_t addr, uint64_t length, int writable)) \
    X(int64_t, map_dmabuf, (int fd, uint64_t offset, uint64_t length, int writable)) \
    X(int64_t, watch, (uint64_t addr, uint64_t length, simcuda_freed freed, void *arg)) \
    X(void, unwatch, (int64_t number)) \
    X(unsigned, dmabufs, (void))

#define X(type, name, args) type simcuda_##name args;
SIMCUDA_FUNCTIONS(X)
#undef X

/* For vbn_library_init: finds the driver's functions, but for those that are hidden. */
void *simcuda_lookup(const char *symbol, const char *version, void *arg);

#endif
