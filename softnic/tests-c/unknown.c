// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls that softnic doesn't have, straight to a uverbs file, each three times: what they answer. What softnic says of them on stderr is
// for the caller to compare.
#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEVICE = 0, CQ = 3, MR = 7, COMP_CNTR = 19, DRIVER_EFA = 17 };

static struct call {
    struct ib_uverbs_ioctl_hdr header;
    struct ib_uverbs_attr attrs[8];
} call;

static int bad;

static void begin(int object, int method)
{
    memset(&call, 0, sizeof call);
    call.header = (struct ib_uverbs_ioctl_hdr){.object_id = object, .method_id = method, .driver_id = DRIVER_EFA};
}

static void attr(int id, int length, int mandatory, uint64_t data)
{
    struct ib_uverbs_attr *a = &call.attrs[call.header.num_attrs++];
    a->attr_id = id;
    a->len = length;
    a->flags = mandatory ? UVERBS_ATTR_F_MANDATORY : 0;
    a->data = data;
}

static void expect(int fd, const char *what, int error)
{
    call.header.length = sizeof call.header + call.header.num_attrs * sizeof call.attrs[0];
    for (int i = 0; i < 3; i++) {
        errno = 0;
        int result = ioctl(fd, RDMA_VERBS_IOCTL, &call);
        if ((result == 0) == (error == 0) && (error == 0 || errno == error)) continue;
        printf("%s: %d, errno %d (%s), expected errno %d\n", what, result, errno, strerror(errno), error);
        bad = 1;
    }
}

int main(void)
{
    int fd = open("/dev/infiniband/uverbs0", O_RDWR);
    if (fd < 0) return perror("uverbs0"), 1;
    begin(DEVICE, 3);
    call.header.length = sizeof call.header;
    if (ioctl(fd, RDMA_VERBS_IOCTL, &call)) return perror("GET_CONTEXT"), 1;

    begin(0x1234, 7);
    expect(fd, "object that is none", EPROTONOSUPPORT);
    begin(DEVICE, 0x99);
    expect(fd, "method that is none", EPROTONOSUPPORT);
    begin(DEVICE, 0);
    attr(2, 8, 1, 77);
    expect(fd, "write command 77", EOPNOTSUPP);
    begin(DEVICE, 0);
    attr(2, 8, 1, 0x80000000u | 52);
    expect(fd, "extended write command create_wq", EOPNOTSUPP);
    begin(MR, 5);
    expect(fd, "REG, which rdma-core tries and can do without", EPROTONOSUPPORT);
    begin(DEVICE, 2);
    attr(0, 8, 1, 1);
    attr(0x77, 8, 1, 0);
    expect(fd, "attribute that is none", EPROTONOSUPPORT);
    begin(COMP_CNTR, 0);
    attr(0, 0, 1, 0);
    expect(fd, "completion counter, of rdma-core 65", EPROTONOSUPPORT);
    uint32_t entries;
    begin(CQ, 0);
    attr(0, 0, 1, 0);
    attr(1, 4, 1, 16);
    attr(2, 8, 1, 1);
    attr(4, 4, 1, 0);
    attr(6, 4, 1, (uintptr_t)&entries);
    attr(9, 8, 1, 4096);
    attr(10, 0, 1, fd);
    attr(11, 8, 1, 0);
    expect(fd, "CQ in a dma-buf, of rdma-core 59", EOPNOTSUPP);
    begin(DEVICE, 3);
    attr(0x77, 8, 0, 0);
    expect(fd, "optional attribute that is none, and a second context", EINVAL);
    uint16_t command[4] = {14, 0, 2, 1};
    for (int i = 0; i < 3; i++)
        if (write(fd, command, sizeof command) >= 0 || errno != EOPNOTSUPP) bad = printf("write of alloc_mw: errno %d\n", errno);
    return bad;
}
