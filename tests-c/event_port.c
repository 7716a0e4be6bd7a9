/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Asynchronous events of a port that goes down and up. Needs a net device that may be set down: VBN_TEST_NETDEV, or d0 in the virtual machine. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

static const char *netdev(void) {
    const char *name = getenv("VBN_TEST_NETDEV");
    if (!name) name = getenv("VMRUN_GUEST") ? "d0" : "";
    test_device();
    if (!*name || if_nametoindex(name) == 0) SKIP("no net device that may be set down: set VBN_TEST_NETDEV, or run with vmrun -n dummy");
    return name;
}

/* As `ip link set` does, which not every userland has. */
static void set_link(const char *state) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", netdev());
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    CHECK_EQ(ioctl(fd, SIOCGIFFLAGS, &request), 0);
    short flags = (short)(request.ifr_flags & ~IFF_UP);
    request.ifr_flags = strcmp(state, "up") == 0 ? (short)(flags | IFF_UP) : flags;
    CHECK_EQ(ioctl(fd, SIOCSIFFLAGS, &request), 0);
    close(fd);
}

/* The next event of this type; others (a changed GID table) may come between. */
static vbn_async_event await(vbn_context *context, int32_t type) {
    for (int i = 0; i < 50; i++) {
        vbn_async_event event = {.struct_size = sizeof event};
        CHECK_OK(vbn_context_get_async_event(context, PATIENCE, &event));
        test_note("%s, kind %d, number %u", vbn_event_type_name(event.type), event.kind, event.number);
        if (event.type == type) return event;
    }
    FAIL("no %s among 50 events", vbn_event_type_name(type));
}

static int32_t port_state(vbn_context *context) {
    vbn_port_attr port = {.struct_size = sizeof port};
    CHECK_OK(vbn_context_query_port(context, 1, &port));
    return port.state;
}

/* Opens the device when its port is up, which a failed test may have left down. */
static vbn_context *open_with(uint64_t user_data) {
    vbn_context *context = NULL;
    set_link("up");
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    for (int i = 0; i < 600 && strcmp(vbn_port_state_name(port_state(context)), "ACTIVE") != 0; i++) sleep_ms(100);
    CHECK_OK(vbn_context_close(&context));
    vbn_context_attr attr = {.struct_size = sizeof attr, .user_data = user_data};
    CHECK_OK(vbn_context_open(test_device(), &attr, &context));
    return context;
}

static void down_and_up(void) {
    vbn_context *context = open_with(0xabcdef);
    CHECK_STR(vbn_port_state_name(port_state(context)), "ACTIVE");
    vbn_context_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_context_query(context, &info));
    CHECK(fcntl(info.async_fd, F_GETFL) & O_NONBLOCK);

    set_link("down");
    struct pollfd fd = {.fd = info.async_fd, .events = POLLIN};
    CHECK_EQ(poll(&fd, 1, 60000), 1);
    vbn_async_event event = await(context, VBN_EVENT_PORT_ERR);
    CHECK_EQ(event.kind, VBN_ELEMENT_PORT);
    CHECK_UEQ(event.number, 1);
    CHECK_UEQ(event.user_data, 0xabcdef);
    CHECK_EQ(event.known, 1);
    CHECK_STR(vbn_port_state_name(port_state(context)), "DOWN");

    set_link("up");
    event = await(context, VBN_EVENT_PORT_ACTIVE);
    CHECK_UEQ(event.number, 1);
    CHECK_STR(vbn_port_state_name(port_state(context)), "ACTIVE");
    /* What came has been acknowledged, so the close does not wait for it. */
    CHECK_OK(vbn_context_close(&context));
}

/* Every open handle of the device gets the event. */
static void two_handles(void) {
    vbn_context *x = open_with(1), *y = open_with(2);
    set_link("down");
    CHECK_UEQ(await(x, VBN_EVENT_PORT_ERR).user_data, 1);
    CHECK_UEQ(await(y, VBN_EVENT_PORT_ERR).user_data, 2);
    set_link("up");
    await(x, VBN_EVENT_PORT_ACTIVE);
    CHECK_OK(vbn_context_close(&x));
    CHECK_OK(vbn_context_close(&y)); /* with an event that nobody took */
}

static void none(void) {
    vbn_context *context = NULL;
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    vbn_async_event event = {.struct_size = sizeof event};
    CHECK_STATUS(vbn_context_get_async_event(context, 0, &event), VBN_ERR_TIMEOUT);
    CHECK_STATUS(vbn_context_get_async_event(context, SECOND / 20, &event), VBN_ERR_TIMEOUT);
    CHECK_OK(vbn_context_close(&context));
}

/* Registered memory and queues survive a link that went down and came back; the GID comes back too. */
static void survives(void) {
    static struct side side;
    vbn_context *context = open_with(0);
    CHECK_OK(vbn_context_close(&context));
    side_open(&side, NULL);
    set_link("down");
    await(side.context, VBN_EVENT_PORT_ERR);
    set_link("up");
    await(side.context, VBN_EVENT_PORT_ACTIVE);
    CHECK_EQ(qp_state(side.qp), VBN_QPS_RESET);
    vbn_rc_record record;
    vbn_status status = VBN_ERR_NOT_FOUND;
    for (int i = 0; i < 600 && status == VBN_ERR_NOT_FOUND; i++) {
        status = vbn_rc_record_local(side.qp, NULL, &record);
        if (status != VBN_OK) sleep_ms(100);
    }
    CHECK_OK(status);
    side_close(&side);
}

static const struct test tests[] = {
    {"none", none},
    {"down_and_up", down_and_up},
    {"two_handles", two_handles},
    {"survives", survives},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("event_port", tests, argc, argv);
}
