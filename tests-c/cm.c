/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The connection manager on the kernel's rdma_ucm: between two ids of this process, between two processes, and against rping. VBN_TEST_CM_ADDRESS
 * is an address of an RDMA device here (192.0.2.1); VBN_TEST_CM_LISTEN that of another one, where servers listen (the same); VBN_TEST_CM_SILENT one
 * that no host has; VBN_TEST_LOSSY says that packets get lost on the way.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

#define MS INT64_C(1000000)

/* One end: a channel and an id of its own, and what side_close closes. */
struct end {
    vbn_cm_channel *channel;
    vbn_cm_id *id;
    struct side side;
    vbn_cm_event event;
};

static const char *address_text(void) {
    const char *text = getenv("VBN_TEST_CM_ADDRESS");
    return text ? text : "192.0.2.1";
}

static const char *listen_text(void) {
    const char *text = getenv("VBN_TEST_CM_LISTEN");
    return text ? text : address_text();
}

/* The client's address, and the server's. */
static vbn_cm_addr source(void) {
    vbn_cm_addr addr;
    CHECK_OK(vbn_cm_addr_parse(address_text(), 0, &addr));
    return addr;
}

static vbn_cm_addr address(uint32_t port) {
    vbn_cm_addr addr;
    CHECK_OK(vbn_cm_addr_parse(listen_text(), port, &addr));
    return addr;
}

static vbn_cm_id_info id_info(vbn_cm_id *id) {
    vbn_cm_id_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_cm_id_query(id, &info));
    return info;
}

static uint32_t port_of(const vbn_cm_addr *addr) {
    char host[64];
    uint32_t port = 0;
    CHECK_OK(vbn_cm_addr_format(addr, host, sizeof host, &port));
    return port;
}

/* Skips where there is no connection manager, or no device has the address; not in the VM. */
static void need_cm(void) {
    vbn_cm_channel *channel;
    vbn_cm_id *id;
    vbn_status status = vbn_cm_channel_create(NULL, &channel);
    if (status == VBN_ERR_NOT_SUPPORTED || status == VBN_ERR_LIBRARY_MISSING) LACKS("%s", test_last_error());
    CHECK_OK(status);
    CHECK_OK(vbn_cm_id_create(channel, NULL, &id));
    vbn_cm_addr addr = source();
    status = vbn_cm_id_bind(id, &addr);
    if (status != VBN_OK) LACKS("no RDMA device at %s: %s", address_text(), test_last_error());
    CHECK_OK(vbn_cm_id_close(&id));
    CHECK_OK(vbn_cm_channel_close(&channel));
}

static void end_open(struct end *end, int32_t space, uint64_t user_data) {
    memset(end, 0, sizeof *end);
    vbn_cm_id_attr attr = {.struct_size = sizeof attr, .port_space = space, .user_data = user_data};
    CHECK_OK(vbn_cm_channel_create(NULL, &end->channel));
    CHECK_OK(vbn_cm_id_create(end->channel, &attr, &end->id));
}

/* The next event, which must come and be of that type; the id that comes with a request. */
static vbn_cm_id *expect(struct end *end, int32_t type) {
    vbn_cm_id *id = (vbn_cm_id *)1;
    end->event = (vbn_cm_event){.struct_size = sizeof end->event};
    CHECK_OK(vbn_cm_channel_get_event(end->channel, 3 * PATIENCE, &end->event, &id));
    if (end->event.type != type)
        FAIL("%s (status %d), not %s", vbn_cm_event_name(end->event.type), end->event.status, vbn_cm_event_name(type));
    CHECK_EQ(id != NULL, type == VBN_CM_EVENT_CONNECT_REQUEST);
    return id;
}

/* Device, memory and queues for the id, and its queue pair. */
static void give_queues(struct end *end) {
    struct side *side = &end->side;
    side->size = 65536;
    side->memory = aligned_alloc(4096, side->size);
    CHECK(side->memory != NULL);
    memset(side->memory, 0, side->size);
    CHECK_OK(vbn_cm_id_context(end->id, NULL, &side->context));
    CHECK_OK(vbn_pd_alloc(side->context, NULL, &side->pd));
    CHECK_OK(vbn_mr_reg(side->pd, side->memory, side->size, ACCESS_ALL, NULL, &side->mr));
    CHECK_OK(vbn_channel_create(side->context, NULL, &side->channel));
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = 64, .channel = side->channel};
    CHECK_OK(vbn_cq_create(side->context, &cq, &side->cq));
    vbn_qp_init_attr qp = {.struct_size = sizeof qp, .send_cq = side->cq, .max_send_wr = 16, .max_recv_wr = 16, .user_data = 77};
    CHECK_OK(vbn_cm_id_create_qp(end->id, side->pd, &qp, &side->qp));
}

static void end_close(struct end *end) {
    if (end->side.memory) side_close(&end->side);
    CHECK_OK(vbn_cm_id_close(&end->id));
    CHECK_OK(vbn_cm_channel_close(&end->channel));
}

/* Binds to any port of the address and listens; the port. */
static uint32_t start_listening(struct end *listener) {
    vbn_cm_addr addr = address(0);
    CHECK_OK(vbn_cm_id_bind(listener->id, &addr));
    CHECK_OK(vbn_cm_id_listen(listener->id, 8));
    vbn_cm_id_info info = id_info(listener->id);
    CHECK(port_of(&info.local) != 0);
    return port_of(&info.local);
}

/* A client that has resolved the way to a port there. */
static void client_open(struct end *client, int32_t space, uint32_t port) {
    end_open(client, space, 1);
    vbn_cm_addr from = source(), to = address(port);
    /* With one device the system may choose. */
    CHECK_OK(vbn_cm_id_resolve(client->id, getenv("VBN_TEST_CM_LISTEN") ? &from : NULL, &to, PATIENCE));
}

/* listener: listens; server: has the listener's channel and the request's id; client: connected to it. */
struct trio {
    struct end listener, server, client;
};

static void take_request(struct trio *t) {
    memset(&t->server, 0, sizeof t->server);
    t->server.id = expect(&t->listener, VBN_CM_EVENT_CONNECT_REQUEST);
    t->server.event = t->listener.event;
    CHECK_OK(vbn_cm_id_set_user_data(t->server.id, 3));
}

/* Waits until the client is told something, or the listener. A question is asked again until it is answered; a refusal and all answers to
 * datagrams are given once, and when they get lost the question comes as a new request. */
static int client_is_told(const struct end *client, const struct end *listener) {
    struct pollfd fds[2] = {
        {.fd = vbn_cm_channel_fd(client->channel), .events = POLLIN},
        {.fd = vbn_cm_channel_fd(listener->channel), .events = POLLIN},
    };
    CHECK(poll(fds, 2, (int)(3 * PATIENCE / MS)) > 0);
    return (fds[0].revents & POLLIN) != 0;
}

/* Each request is refused, or closed without an answer, until the client knows. */
static void refuse(struct end *client, struct end *listener, int answer, const void *why, uint32_t length) {
    do {
        vbn_cm_id *id = expect(listener, VBN_CM_EVENT_CONNECT_REQUEST);
        if (answer) CHECK_OK(vbn_cm_id_reject(id, why, length));
        CHECK_OK(vbn_cm_id_close(&id));
    } while (!client_is_told(client, listener));
}

static void connect_trio(struct trio *t, const vbn_cm_conn_attr *connect, const vbn_cm_conn_attr *accept) {
    end_open(&t->listener, 0, 2);
    client_open(&t->client, 0, start_listening(&t->listener));
    give_queues(&t->client);
    CHECK_OK(vbn_cm_id_connect(t->client.id, connect));
    take_request(t);
    give_queues(&t->server);
    CHECK_OK(vbn_cm_id_accept(t->server.id, accept));
    expect(&t->client, VBN_CM_EVENT_ESTABLISHED);
    expect(&t->listener, VBN_CM_EVENT_ESTABLISHED);
    CHECK_UEQ(t->listener.event.user_data, 3);
}

static void disconnect_trio(struct trio *t) {
    CHECK_OK(vbn_cm_id_disconnect(t->client.id));
    expect(&t->listener, VBN_CM_EVENT_DISCONNECTED);
    CHECK_UEQ(t->listener.event.user_data, 3);
    CHECK_OK(vbn_cm_event_check(&t->listener.event));
    CHECK_OK(vbn_cm_id_disconnect(t->server.id));
    expect(&t->client, VBN_CM_EVENT_DISCONNECTED);
    CHECK_UEQ(t->client.event.user_data, 1);
}

static void close_trio(struct trio *t) {
    end_close(&t->client);
    end_close(&t->server);
    end_close(&t->listener);
}

/* A kernel without the connection manager is told as such. */
static void without_kernel(void) {
    vbn_cm_channel *channel = (vbn_cm_channel *)1;
    vbn_status status = vbn_cm_channel_create(NULL, &channel);
    if (status == VBN_OK) {
        CHECK_OK(vbn_cm_channel_close(&channel));
        SKIP("the kernel has a connection manager");
    }
    if (status == VBN_ERR_LIBRARY_MISSING) SKIP("%s", test_last_error());
    CHECK_EQ(status, VBN_ERR_NOT_SUPPORTED);
    CHECK(channel == NULL);
    CHECK_HAS(test_error().message, "rdma_ucm");
}

static void resolves(void) {
    struct end client, listener;
    need_cm();
    end_open(&listener, 0, 0);
    uint32_t port = start_listening(&listener);
    end_open(&client, 0, 9);
    vbn_cm_id_info info = id_info(client.id);
    CHECK_UEQ(info.has_device + info.has_qp + info.port_num + info.qp_num + info.local.length + info.peer.length, 0);
    CHECK_UEQ(info.user_data, 9);
    CHECK_EQ(info.port_space, VBN_CM_PS_TCP);
    CHECK_EQ(info.qp_type, VBN_QPT_RC);
    vbn_cm_addr from = source(), to = address(port);
    CHECK_OK(vbn_cm_id_resolve_addr(client.id, &from, &to, 5 * SECOND));
    expect(&client, VBN_CM_EVENT_ADDR_RESOLVED);
    CHECK_UEQ(client.event.user_data, 9);
    CHECK_UEQ(client.event.known, 1);
    CHECK_UEQ(client.event.private_data_len, 0);
    CHECK_OK(vbn_cm_id_resolve_route(client.id, 5 * SECOND));
    expect(&client, VBN_CM_EVENT_ROUTE_RESOLVED);
    info = id_info(client.id);
    char host[64];
    CHECK_UEQ(info.has_device, 1);
    CHECK_UEQ(info.port_num, 1);
    CHECK_UEQ(info.max_connect_data, 56);
    CHECK_UEQ(info.max_accept_data, 196);
    CHECK_UEQ(info.max_reject_data, 148);
    CHECK(strlen(info.device) > 0);
    CHECK_OK(vbn_cm_addr_format(&info.local, host, sizeof host, NULL));
    CHECK_STR(host, address_text());
    uint32_t peer_port = 0;
    CHECK_OK(vbn_cm_addr_format(&info.peer, host, sizeof host, &peer_port));
    CHECK_STR(host, listen_text());
    CHECK_UEQ(peer_port, port);
    /* The device that is lent is librdmacm's: a handle of its own, as good as any. */
    vbn_context *context, *again;
    vbn_pd *pd, *own;
    CHECK_OK(vbn_cm_id_context(client.id, NULL, &context));
    CHECK_OK(vbn_cm_id_context(client.id, NULL, &again));
    vbn_context_info device = {.struct_size = sizeof device};
    CHECK_OK(vbn_context_query(context, &device));
    CHECK_STR(device.name, info.device);
    CHECK_EQ(device.ownership, VBN_ADOPT_BORROW);
    CHECK_OK(vbn_cm_id_pd(client.id, context, NULL, &pd));
    CHECK_OK(vbn_context_open(info.device, NULL, &again));
    CHECK_STATUS(vbn_cm_id_pd(client.id, again, NULL, &own), VBN_ERR_ARGUMENT);
    end_close(&client);
    end_close(&listener);
    /* They outlive the ids. */
    vbn_port_attr port_attr = {.struct_size = sizeof port_attr};
    CHECK_OK(vbn_context_query_port(context, 1, &port_attr));
    static uint8_t memory[4096];
    vbn_mr *mr;
    CHECK_OK(vbn_mr_reg(pd, memory, sizeof memory, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
    CHECK_OK(vbn_context_close(&context));
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_OK(vbn_context_close(&again));
}

static void connects(void) {
    struct trio t;
    uint8_t question[56], answer[196];
    need_cm();
    fill(question, sizeof question, 1);
    fill(answer, sizeof answer, 2);
    vbn_cm_conn_attr connect = {.struct_size = sizeof connect, .private_data = question, .private_data_len = sizeof question,
                                .set = VBN_CM_CONN_SET_RESPONDER_RESOURCES | VBN_CM_CONN_SET_INITIATOR_DEPTH | VBN_CM_CONN_SET_RNR_RETRY_COUNT,
                                .responder_resources = 2, .initiator_depth = 4, .rnr_retry_count = 2};
    vbn_cm_conn_attr accept = {.struct_size = sizeof accept, .private_data = answer, .private_data_len = sizeof answer};
    connect_trio(&t, &connect, &accept);
    vbn_cm_event *asked = &t.server.event, *told = &t.client.event;
    CHECK_UEQ(asked->user_data, 2);
    CHECK_UEQ(asked->private_data_len, 56);
    CHECK_MEM(asked->private_data, question, 56);
    /* Of the server's side: what the client will send it, it must be able to take. */
    CHECK_UEQ(asked->responder_resources, 4);
    CHECK_UEQ(asked->initiator_depth, 2);
    CHECK_UEQ(asked->retry_count, 6);
    CHECK_UEQ(asked->rnr_retry_count, 2);
    CHECK_UEQ(asked->has_peer, 0);
    CHECK_UEQ(told->private_data_len, 196);
    CHECK_MEM(told->private_data, answer, 196);
    CHECK_UEQ(told->qp_num, vbn_qp_num(t.server.side.qp));
    CHECK_UEQ(id_info(t.client.id).qp_num, vbn_qp_num(t.client.side.qp));
    CHECK_EQ(qp_state(t.client.side.qp), VBN_QPS_RTS);
    CHECK_EQ(qp_state(t.server.side.qp), VBN_QPS_RTS);
    vbn_qp_info qp = qp_info(t.client.side.qp);
    CHECK_UEQ(qp.user_data, 77);
    /* Powers of two: rxe rounds up. */
    CHECK_UEQ(qp.max_rd_atomic, 4);
    CHECK_UEQ(qp.max_dest_rd_atomic, 2);
    CHECK_UEQ(qp_info(t.server.side.qp).max_rd_atomic, 2);

    /* It is a queue pair like any other. */
    struct side *a = &t.client.side, *b = &t.server.side;
    fill(a->memory, 4096, 3);
    post_recv(b, 5, 0, 4096);
    vbn_send_wr wr = send_wr(a, b, VBN_WR_SEND, 6, 0, 4096);
    run_send(a, &wr);
    CHECK_UEQ(next_ok(b, 5).byte_len, 4096);
    CHECK_MEM(b->memory, a->memory, 4096);
    wr = send_wr(b, a, VBN_WR_RDMA_READ, 7, 0, 64);
    run_send(b, &wr);

    post_recv(b, 8, 0, 64);
    disconnect_trio(&t);
    CHECK_STR(vbn_wc_status_name(next_wc(b).status), "WR_FLUSH_ERR");
    CHECK_STATUS(vbn_cm_id_connect(t.client.id, NULL), VBN_ERR_DRIVER);
    close_trio(&t);
}

/* What the real limits are: one byte more is refused here, with both numbers. */
static void private_data_limits(void) {
    struct end client, listener, server;
    uint8_t data[256] = {1};
    need_cm();
    end_open(&listener, 0, 0);
    client_open(&client, 0, start_listening(&listener));
    give_queues(&client);
    vbn_cm_conn_attr attr = {.struct_size = sizeof attr, .private_data = data, .private_data_len = 57};
    CHECK_STATUS(vbn_cm_id_connect(client.id, &attr), VBN_ERR_LIMIT);
    CHECK_HAS(test_error().message, "private_data_len 57 exceeds 56");
    attr.private_data_len = 1000;
    CHECK_STATUS(vbn_cm_id_connect(client.id, &attr), VBN_ERR_LIMIT);
    attr.private_data_len = 56;
    CHECK_OK(vbn_cm_id_connect(client.id, &attr));
    memset(&server, 0, sizeof server);
    server.id = expect(&listener, VBN_CM_EVENT_CONNECT_REQUEST);
    give_queues(&server);
    attr.private_data_len = 197;
    CHECK_STATUS(vbn_cm_id_accept(server.id, &attr), VBN_ERR_LIMIT);
    CHECK_UEQ(test_error().limit, 196);
    CHECK_STATUS(vbn_cm_id_reject(server.id, data, 149), VBN_ERR_LIMIT);
    CHECK_UEQ(test_error().limit, 148);
    /* A depth beyond the device is named. */
    attr = (vbn_cm_conn_attr){.struct_size = sizeof attr, .set = VBN_CM_CONN_SET_INITIATOR_DEPTH, .initiator_depth = 254};
    CHECK_STATUS(vbn_cm_id_accept(server.id, &attr), VBN_ERR_DRIVER);
    CHECK_HAS(test_error().message, "initiator_depth 254 exceeds");
    end_close(&server);
    end_close(&client);
    end_close(&listener);
}

static void rejects(void) {
    struct end client, listener;
    uint8_t why[148];
    need_cm();
    fill(why, sizeof why, 4);
    end_open(&listener, 0, 0);
    client_open(&client, 0, start_listening(&listener));
    give_queues(&client);
    CHECK_OK(vbn_cm_id_connect(client.id, NULL));
    refuse(&client, &listener, 1, why, sizeof why);
    expect(&client, VBN_CM_EVENT_REJECTED);
    CHECK_EQ(client.event.status, 28);
    CHECK_UEQ(client.event.private_data_len, 148);
    CHECK_MEM(client.event.private_data, why, sizeof why);
    CHECK_STATUS(vbn_cm_event_check(&client.event), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, ECONNREFUSED);
    CHECK_UEQ(test_error().value, 28);
    CHECK_HAS(test_error().message, "refused");
    end_close(&client);

    /* A request that is closed instead of answered is refused as well. */
    vbn_cm_id_info info = id_info(listener.id);
    client_open(&client, 0, port_of(&info.local));
    give_queues(&client);
    CHECK_OK(vbn_cm_id_connect(client.id, NULL));
    refuse(&client, &listener, 0, NULL, 0);
    expect(&client, VBN_CM_EVENT_REJECTED);
    CHECK_STATUS(vbn_cm_event_check(&client.event), VBN_ERR_DRIVER);
    end_close(&client);
    end_close(&listener);
}

static void nobody_listens(void) {
    struct end client;
    need_cm();
    client_open(&client, 0, 7);
    give_queues(&client);
    CHECK_OK(vbn_cm_id_connect(client.id, NULL));
    expect(&client, VBN_CM_EVENT_REJECTED);
    CHECK_EQ(client.event.status, 8);
    CHECK_STATUS(vbn_cm_event_check(&client.event), VBN_ERR_DRIVER);
    CHECK_HAS(test_error().message, "nobody listens");
    end_close(&client);
}

static void wrong_addresses(void) {
    struct end client;
    vbn_cm_addr addr;
    need_cm();
    end_open(&client, 0, 0);
    CHECK_STATUS(vbn_cm_addr_parse("localhost", 1, &addr), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "getaddrinfo");
    CHECK_STATUS(vbn_cm_addr_parse("127.0.0.1", 65536, &addr), VBN_ERR_ARGUMENT);
    CHECK_UEQ(test_error().value, 65536);
    /* Not this machine's. */
    CHECK_OK(vbn_cm_addr_parse("198.51.100.7", 1, &addr));
    CHECK(vbn_cm_id_bind(client.id, &addr) != VBN_OK);
    CHECK_EQ(test_error().sys_errno, EADDRNOTAVAIL);
    CHECK_HAS(test_error().message, "no RDMA device of this machine has the address");
    /* No way there: the kernel says so at once or by an event. */
    vbn_status status = vbn_cm_id_resolve(client.id, NULL, &addr, 5 * SECOND);
    CHECK(status != VBN_OK);
    test_note("%s", test_last_error());
    end_close(&client);
    /* What a sockaddr can be, by way of C's own structs. */
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(0)};
    CHECK_EQ(inet_pton(AF_INET, address_text(), &in.sin_addr), 1);
    addr = (vbn_cm_addr){.length = sizeof in};
    memcpy(addr.sockaddr, &in, sizeof in);
    end_open(&client, 0, 0);
    CHECK_OK(vbn_cm_id_bind(client.id, &addr));
    addr.length = 8;
    CHECK_STATUS(vbn_cm_id_resolve_addr(client.id, NULL, &addr, SECOND), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_cm_id_resolve_addr(client.id, &addr, &addr, SECOND), VBN_ERR_ARGUMENT);
    end_close(&client);
}

/* No host has the address: where packets leave the machine (on a wire), the time-out ends it. */
static void nobody_answers(void) {
    struct end client;
    vbn_cm_addr addr;
    need_cm();
    if (!getenv("VBN_TEST_CM_SILENT")) SKIP("VBN_TEST_CM_SILENT names no address without a host");
    end_open(&client, 0, 0);
    CHECK_OK(vbn_cm_addr_parse(getenv("VBN_TEST_CM_SILENT"), 1, &addr));
    CHECK_STATUS(vbn_cm_id_resolve(client.id, NULL, &addr, 300 * MS), VBN_ERR_TIMEOUT);
    test_note("%s", test_last_error());
    end_close(&client);
    end_open(&client, 0, 0);
    CHECK_OK(vbn_cm_id_resolve_addr(client.id, NULL, &addr, 300 * MS));
    expect(&client, VBN_CM_EVENT_ADDR_ERROR);
    CHECK(client.event.status < 0);
    CHECK(vbn_cm_event_check(&client.event) != VBN_OK);
    CHECK_HAS(test_error().message, "no host answers");
    end_close(&client);
}

static void port_in_use(void) {
    struct end first, second;
    need_cm();
    end_open(&first, 0, 0);
    uint32_t port = start_listening(&first);
    end_open(&second, 0, 0);
    vbn_cm_addr addr = address(port);
    CHECK_STATUS(vbn_cm_id_bind(second.id, &addr), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, EADDRINUSE);
    CHECK_HAS(test_error().message, "choose another");
    end_close(&first);
    CHECK_OK(vbn_cm_id_bind(second.id, &addr));
    CHECK_OK(vbn_cm_id_listen(second.id, 0));
    end_close(&second);
    /* With the option two may have it, but none of them may listen. */
    vbn_cm_id *ids[2];
    vbn_cm_channel *channel;
    CHECK_OK(vbn_cm_channel_create(NULL, &channel));
    vbn_cm_id_attr attr = {.struct_size = sizeof attr, .set = VBN_CM_ID_SET_REUSE_ADDR | VBN_CM_ID_SET_TOS | VBN_CM_ID_SET_ACK_TIMEOUT,
                           .reuse_addr = 1, .tos = 0x20, .ack_timeout = 14};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(vbn_cm_id_create(channel, &attr, &ids[i]));
        CHECK_OK(vbn_cm_id_bind(ids[i], &addr));
    }
    CHECK_STATUS(vbn_cm_id_listen(ids[0], 1), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, EADDRINUSE);
    CHECK_OK(vbn_cm_id_close(&ids[1]));
    CHECK_OK(vbn_cm_id_listen(ids[0], 1));
    CHECK_OK(vbn_cm_id_close(&ids[0]));
    CHECK_OK(vbn_cm_channel_close(&channel));
}

/* Each call at the wrong time is refused, and where librdmacm would crash, here. */
static void wrong_order(void) {
    struct end client, listener;
    need_cm();
    end_open(&client, 0, 0);
    vbn_context *context, *opened;
    vbn_pd *pd;
    vbn_qp *qp;
    CHECK_STATUS(vbn_cm_id_context(client.id, NULL, &context), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "no device yet");
    CHECK_STATUS(vbn_cm_id_resolve_route(client.id, SECOND), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_cm_id_connect(client.id, NULL), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_cm_id_accept(client.id, NULL), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_cm_id_disconnect(client.id), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_cm_id_reject(client.id, NULL, 0), VBN_ERR_DRIVER);
    end_open(&listener, 0, 0);
    vbn_cm_addr from = source(), to = address(start_listening(&listener));
    CHECK_OK(vbn_cm_id_resolve(client.id, &from, &to, PATIENCE));
    CHECK_STATUS(vbn_cm_id_connect(client.id, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "vbn_cm_id_create_qp");
    CHECK_STATUS(vbn_cm_id_disconnect(client.id), VBN_ERR_DRIVER);
    CHECK_HAS(test_error().message, "not connected");
    CHECK(vbn_cm_id_resolve(client.id, NULL, &to, SECOND) != VBN_OK);

    /* The PD of a device that was opened here won't do. */
    CHECK_OK(vbn_context_open(id_info(client.id).device, NULL, &opened));
    CHECK_OK(vbn_pd_alloc(opened, NULL, &pd));
    vbn_cq_attr cq_attr = {.struct_size = sizeof cq_attr, .cqe = 4};
    vbn_cq *cq;
    CHECK_OK(vbn_cq_create(opened, &cq_attr, &cq));
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = cq};
    CHECK_STATUS(vbn_cm_id_create_qp(client.id, pd, &attr, &qp), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "vbn_cm_id_context");

    give_queues(&client);
    attr.send_cq = client.side.cq;
    CHECK_STATUS(vbn_cm_id_create_qp(client.id, client.side.pd, &attr, &qp), VBN_ERR_BUSY);
    attr.send_cq = cq;
    CHECK_STATUS(vbn_cm_id_create_qp(client.id, client.side.pd, &attr, &qp), VBN_ERR_ARGUMENT);
    attr.send_cq = client.side.cq;
    attr.qp_type = VBN_QPT_UD;
    CHECK_STATUS(vbn_cm_id_create_qp(client.id, client.side.pd, &attr, &qp), VBN_ERR_ARGUMENT);
    attr.qp_type = 0;
    attr.post_path = VBN_POST_PATH_WR;
    CHECK_STATUS(vbn_cm_id_create_qp(client.id, client.side.pd, &attr, &qp), VBN_ERR_NOT_SUPPORTED);
    CHECK_STATUS(vbn_cm_id_pd(client.id, client.side.context, NULL, &pd), VBN_ERR_BUSY);
    vbn_cm_conn_attr bad = {.struct_size = sizeof bad, .set = VBN_CM_CONN_SET_RETRY_COUNT, .retry_count = 8};
    CHECK_STATUS(vbn_cm_id_connect(client.id, &bad), VBN_ERR_ARGUMENT);
    /* Another queue pair may be made once the first is closed. */
    CHECK_OK(vbn_qp_close(&client.side.qp));
    CHECK_UEQ(id_info(client.id).has_qp, 0);
    attr = (vbn_qp_init_attr){.struct_size = sizeof attr, .send_cq = client.side.cq};
    CHECK_OK(vbn_cm_id_create_qp(client.id, client.side.pd, &attr, &client.side.qp));

    /* Resolving in one call reads the channel's events, so others must have none. */
    vbn_cm_id *other;
    CHECK_OK(vbn_cm_id_create(client.channel, NULL, &other));
    CHECK_STATUS(vbn_cm_id_resolve(other, NULL, &to, SECOND), VBN_ERR_BUSY);
    CHECK_OK(vbn_cm_id_close(&other));
    end_close(&client);
    end_close(&listener);
    CHECK_OK(vbn_cq_close(&cq));
    CHECK_OK(vbn_context_close(&opened));
}

static int64_t now(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * SECOND + ts.tv_nsec;
}

static volatile sig_atomic_t alarms;

static void count_alarm(int number) {
    (void)number;
    alarms++;
}

static void time_outs(void) {
    struct end end;
    need_cm();
    end_open(&end, 0, 0);
    vbn_cm_id *id = (vbn_cm_id *)1;
    end.event.struct_size = sizeof end.event;
    CHECK(vbn_cm_channel_fd(end.channel) >= 0);
    CHECK_STATUS(vbn_cm_channel_get_event(end.channel, 0, &end.event, &id), VBN_ERR_TIMEOUT);
    CHECK(id == NULL);
    /* Signals don't end the wait. */
    struct sigaction action = {.sa_handler = count_alarm};
    struct itimerval timer = {{0, 10000}, {0, 10000}}, none = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    int64_t start = now();
    vbn_status status = vbn_cm_channel_get_event(end.channel, 200 * MS, &end.event, &id);
    int64_t took = now() - start;
    setitimer(ITIMER_REAL, &none, NULL);
    CHECK_STATUS(status, VBN_ERR_TIMEOUT);
    CHECK(took >= 200 * MS);
    CHECK(alarms > 0);
    end_close(&end);
}

static void datagrams(void) {
    struct trio t;
    uint8_t question[180], answer[136];
    need_cm();
    memset(&t, 0, sizeof t);
    fill(question, sizeof question, 5);
    fill(answer, sizeof answer, 6);
    end_open(&t.listener, VBN_CM_PS_UDP, 2);
    client_open(&t.client, VBN_CM_PS_UDP, start_listening(&t.listener));
    CHECK_EQ(id_info(t.client.id).qp_type, VBN_QPT_UD);
    CHECK_UEQ(id_info(t.client.id).max_connect_data, 180);
    CHECK_UEQ(id_info(t.client.id).max_accept_data, 136);
    give_queues(&t.client);
    CHECK_EQ(qp_state(t.client.side.qp), VBN_QPS_RTS);
    vbn_cm_conn_attr attr = {.struct_size = sizeof attr, .private_data = question, .private_data_len = 181};
    CHECK_STATUS(vbn_cm_id_connect(t.client.id, &attr), VBN_ERR_LIMIT);
    attr.private_data_len = 180;
    CHECK_OK(vbn_cm_id_connect(t.client.id, &attr));
    take_request(&t);
    CHECK_UEQ(t.server.event.private_data_len, 180);
    CHECK_MEM(t.server.event.private_data, question, 180);
    CHECK_STATUS(vbn_cm_id_accept(t.server.id, NULL), VBN_ERR_ARGUMENT);
    give_queues(&t.server);
    attr.private_data = answer;
    attr.private_data_len = 137;
    CHECK_STATUS(vbn_cm_id_accept(t.server.id, &attr), VBN_ERR_LIMIT);
    attr.private_data_len = 136;
    for (;;) {
        CHECK_OK(vbn_cm_id_accept(t.server.id, &attr));
        if (client_is_told(&t.client, &t.listener)) break;
        side_close(&t.server.side);
        CHECK_OK(vbn_cm_id_close(&t.server.id));
        take_request(&t);
        give_queues(&t.server);
    }
    expect(&t.client, VBN_CM_EVENT_ESTABLISHED);
    vbn_cm_event *told = &t.client.event;
    CHECK_UEQ(told->has_peer, 1);
    CHECK_UEQ(told->qp_num, vbn_qp_num(t.server.side.qp));
    CHECK_UEQ(told->qkey, 0x01234567);
    CHECK_UEQ(told->private_data_len, 136);
    CHECK_MEM(told->private_data, answer, 136);

    vbn_peer *peer;
    vbn_peer_attr peer_attr = {.struct_size = sizeof peer_attr, .user_data = 5};
    CHECK_STATUS(vbn_peer_from_cm(t.client.side.pd, &t.server.event, NULL, &peer), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "no peer");
    CHECK_OK(vbn_peer_from_cm(t.client.side.pd, told, &peer_attr, &peer));
    vbn_peer_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_peer_query(peer, &info));
    CHECK_UEQ(info.qp_num, told->qp_num);
    CHECK_UEQ(info.user_data, 5);
    struct side *a = &t.client.side, *b = &t.server.side;
    fill(a->memory, 512, 7);
    /* Nobody sends a lost datagram again. */
    for (int copies = getenv("VBN_TEST_LOSSY") ? 8 : 1; copies > 0; copies--) {
        post_recv(b, 5, 0, 1024);
        vbn_send_wr wr = {.wr_id = 6, .flags = VBN_SEND_SIGNALED, .opcode = VBN_WR_SEND, .num_sge = 1, .sge = sge_at(a, 0, 512), .peer = peer};
        run_send(a, &wr);
    }
    CHECK_UEQ(next_ok(b, 5).byte_len, 512 + 40);
    CHECK_MEM(b->memory + 40, a->memory, 512);
    CHECK_OK(vbn_peer_close(&peer));
    end_close(&t.client);

    /* A refusal comes as "unreachable", as there is no connection to refuse. */
    vbn_cm_id_info listening = id_info(t.listener.id);
    client_open(&t.client, VBN_CM_PS_UDP, port_of(&listening.local));
    CHECK_OK(vbn_cm_id_connect(t.client.id, NULL));
    refuse(&t.client, &t.listener, 1, answer, 136);
    expect(&t.client, VBN_CM_EVENT_UNREACHABLE);
    CHECK(t.client.event.status > 0);
    CHECK_STATUS(vbn_cm_event_check(&t.client.event), VBN_ERR_DRIVER);
    end_close(&t.client);
    end_close(&t.server);
    end_close(&t.listener);
}

/* With a shared receive queue, of which librdmacm tells the peer. */
static void shared_receives(void) {
    struct trio t;
    vbn_srq *srq = NULL;
    need_cm();
    memset(&t, 0, sizeof t);
    end_open(&t.listener, 0, 2);
    client_open(&t.client, 0, start_listening(&t.listener));
    give_queues(&t.client);
    CHECK_OK(vbn_qp_close(&t.client.side.qp));
    vbn_srq_attr srq_attr = {.struct_size = sizeof srq_attr, .max_wr = 8};
    CHECK_OK(vbn_srq_create(t.client.side.pd, &srq_attr, &srq));
    vbn_qp_init_attr qp = {.struct_size = sizeof qp, .send_cq = t.client.side.cq, .srq = srq, .max_send_wr = 4};
    CHECK_OK(vbn_cm_id_create_qp(t.client.id, t.client.side.pd, &qp, &t.client.side.qp));
    CHECK_OK(vbn_cm_id_connect(t.client.id, NULL));
    take_request(&t);
    CHECK_UEQ(t.server.event.srq, 1);
    give_queues(&t.server);
    CHECK_OK(vbn_cm_id_accept(t.server.id, NULL));
    expect(&t.client, VBN_CM_EVENT_ESTABLISHED);
    expect(&t.listener, VBN_CM_EVENT_ESTABLISHED);
    vbn_recv_wr recv = recv_wr(&t.client.side, 9, 0, 64);
    uint32_t posted = 0;
    CHECK_OK(vbn_srq_post_recv(srq, &recv, 1, &posted));
    vbn_send_wr wr = send_wr(&t.server.side, &t.client.side, VBN_WR_SEND, 6, 0, 64);
    run_send(&t.server.side, &wr);
    next_ok(&t.client.side, 9);
    disconnect_trio(&t);
    CHECK_OK(vbn_srq_close(&srq));
    close_trio(&t);
}

/* Handles of one connection, closed in every order; what is left works until its turn comes. */
static void close_orders(void) {
    need_cm();
    for (int order = 0; order < 120; order++) {
        struct trio t;
        memset(&t, 0, sizeof t);
        end_open(&t.listener, 0, 2);
        client_open(&t.client, 0, start_listening(&t.listener));
        give_queues(&t.client);
        CHECK_OK(vbn_cm_id_connect(t.client.id, NULL));
        take_request(&t);
        int left[5] = {0, 1, 2, 3, 4};
        struct side *side = &t.client.side;
        for (int i = 0, rest = order; i < 5; i++) {
            int at = rest % (5 - i), what = left[at];
            rest /= 5 - i;
            memmove(left + at, left + at + 1, (size_t)(4 - i - at) * sizeof left[0]);
            switch (what) {
            case 0: CHECK_OK(vbn_cm_id_close(&t.client.id)); break;
            case 1: CHECK_OK(vbn_cm_channel_close(&t.client.channel)); break;
            case 2: CHECK_OK(vbn_qp_close(&side->qp)); break;
            case 3:
                CHECK_OK(vbn_cq_close(&side->cq));
                CHECK_OK(vbn_channel_close(&side->channel));
                break;
            case 4:
                CHECK_OK(vbn_context_close(&side->context));
                CHECK_OK(vbn_pd_close(&side->pd));
                CHECK_OK(vbn_mr_close(&side->mr));
                break;
            }
        }
        free(side->memory);
        CHECK_OK(vbn_cm_channel_close(&t.listener.channel));
        CHECK_OK(vbn_cm_id_close(&t.listener.id));
        CHECK_OK(vbn_cm_id_close(&t.server.id));
    }
}

/* A closed id lives on with its queue pair: so does the connection. */
static void queue_pair_keeps_id(void) {
    struct trio t;
    need_cm();
    connect_trio(&t, NULL, NULL);
    CHECK_OK(vbn_cm_id_close(&t.client.id));
    vbn_cm_channel_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_cm_channel_query(t.client.channel, &info));
    CHECK_UEQ(info.id_count, 1);
    CHECK_EQ(info.fd, vbn_cm_channel_fd(t.client.channel));
    vbn_send_wr wr = send_wr(&t.client.side, &t.server.side, VBN_WR_RDMA_WRITE, 1, 0, 64);
    run_send(&t.client.side, &wr);
    side_close(&t.client.side);
    t.client.side.memory = NULL;
    CHECK_OK(vbn_cm_channel_query(t.client.channel, &info));
    CHECK_UEQ(info.id_count, 0);
    /* A destroyed id says good-bye once; the kernel takes it back if it has not left, and never repeats it (cm_destroy_id of
     * Linux 6.1). So the other side may hear nothing. */
    vbn_cm_event event = {.struct_size = sizeof event};
    vbn_cm_id *none = NULL;
    vbn_status status = vbn_cm_channel_get_event(t.listener.channel, 5 * SECOND, &event, &none);
    CHECK(status == VBN_OK || status == VBN_ERR_TIMEOUT);
    if (status == VBN_OK) CHECK_EQ(event.type, VBN_CM_EVENT_DISCONNECTED);
    close_trio(&t);
}

static int count_fds(void) {
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    CHECK(dir != NULL);
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

static void leaves_nothing(void) {
    need_cm();
    int before = 0;
    for (int round = 0; round < 12; round++) {
        struct trio t;
        connect_trio(&t, NULL, NULL);
        /* Ends that are closed without a word leave the kernel with connections to clean up, which can disturb the next one. */
        int in_order = round % 6 != 0;
        if (in_order) disconnect_trio(&t);
        close_trio(&t);
        if (!in_order) sleep_ms(500);
        /* Whatever is opened once for all has been by now. */
        if (round == 1) before = count_fds();
    }
    CHECK_EQ(count_fds(), before);
}

/* Handles go out and come back. */
static void given_and_taken(void) {
    struct trio t;
    need_cm();
    connect_trio(&t, NULL, NULL);
    struct rdma_cm_id *lent, *native;
    struct rdma_event_channel *channel, *channel_lent;
    CHECK_OK(vbn_cm_id_native(t.client.id, &lent));
    CHECK_OK(vbn_cm_channel_native(t.client.channel, &channel_lent));
    CHECK_STATUS(vbn_cm_id_release(&t.client.id, &native), VBN_ERR_BUSY);
    vbn_adopt_attr own = {.struct_size = sizeof own, .ownership = VBN_ADOPT_OWN, .user_data = 42};
    vbn_cm_id *again;
    CHECK_STATUS(vbn_cm_id_adopt(t.client.channel, lent, &own, &again), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_cm_id_adopt(t.listener.channel, lent, NULL, &again), VBN_ERR_ARGUMENT);
    CHECK_OK(vbn_cm_id_disconnect(t.client.id));
    CHECK_OK(vbn_qp_close(&t.client.side.qp));
    CHECK_STATUS(vbn_cm_channel_release(&t.client.channel, &channel), VBN_ERR_BUSY);
    CHECK_OK(vbn_cm_id_release(&t.client.id, &native));
    CHECK(native == lent && t.client.id == NULL);
    CHECK_OK(vbn_cm_channel_release(&t.client.channel, &channel));
    CHECK(channel == channel_lent && t.client.channel == NULL);
    own.ownership = VBN_ADOPT_OWN;
    CHECK_OK(vbn_cm_channel_adopt(channel, &own, &t.client.channel));
    CHECK_OK(vbn_cm_id_disconnect(t.server.id));
    /* The id is known by no handle yet. */
    vbn_cm_id *none;
    t.client.event.struct_size = sizeof t.client.event;
    CHECK_OK(vbn_cm_channel_get_event(t.client.channel, PATIENCE, &t.client.event, &none));
    CHECK_EQ(t.client.event.type, VBN_CM_EVENT_DISCONNECTED);
    CHECK_UEQ(t.client.event.known, 0);
    CHECK_OK(vbn_cm_id_adopt(t.client.channel, native, &own, &t.client.id));
    CHECK_UEQ(id_info(t.client.id).user_data, 42);
    close_trio(&t);
}

/* Of librdmacm itself, which the library has loaded. */
static struct {
    int (*create_qp)(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
    void (*destroy_qp)(struct rdma_cm_id *id);
} raw;

static void load_raw(void) {
    void *library = dlopen("librdmacm.so.1", RTLD_NOW);
    CHECK(library != NULL);
    *(void **)&raw.create_qp = dlsym(library, "rdma_create_qp");
    *(void **)&raw.destroy_qp = dlsym(library, "rdma_destroy_qp");
    CHECK(raw.create_qp != NULL && raw.destroy_qp != NULL);
}

/* What a queue pair's destroy function was given. */
static struct {
    int calls;
    struct ibv_qp *qp;
} destroyed;

static int destroy_raw(void *qp, void *id) {
    destroyed.calls++;
    destroyed.qp = qp;
    raw.destroy_qp(id);
    return 0;
}

/* Takes the queue pair of an id in, as its comment in the header says. */
static void adopt_raw(struct end *end) {
    struct rdma_cm_id *id;
    CHECK_OK(vbn_cm_id_native(end->id, &id));
    CHECK(id->qp != NULL);
    vbn_adopt_attr custom = {.struct_size = sizeof custom, .ownership = VBN_ADOPT_CUSTOM, .destroy = destroy_raw, .destroy_arg = id, .user_data = 88};
    CHECK_OK(vbn_qp_adopt(end->side.pd, id->qp, &custom, &end->side.qp));
    CHECK_UEQ(vbn_qp_num(end->side.qp), id->qp->qp_num);
    CHECK_UEQ(qp_info(end->side.qp).user_data, 88);
}

/* Closing it calls the destroy function, once; then the id has none. */
static void close_adopted(struct end *end) {
    struct rdma_cm_id *id;
    CHECK_OK(vbn_cm_id_native(end->id, &id));
    struct ibv_qp *qp = id->qp;
    destroyed.calls = 0;
    CHECK_OK(vbn_qp_close(&end->side.qp));
    CHECK_EQ(destroyed.calls, 1);
    CHECK(destroyed.qp == qp && id->qp == NULL);
    CHECK_UEQ(id_info(end->id).has_qp, 0);
}

/* Data both ways. */
static void both_send(struct trio *t, uint32_t seed) {
    struct side *a = &t->client.side, *b = &t->server.side;
    fill(a->memory, 4096, seed);
    post_recv(b, 5, 0, 4096);
    vbn_send_wr wr = send_wr(a, b, VBN_WR_SEND, 6, 0, 4096);
    run_send(a, &wr);
    CHECK_UEQ(next_ok(b, 5).byte_len, 4096);
    CHECK_MEM(b->memory, a->memory, 4096);
    memset(b->memory, 0, 4096);
    wr = send_wr(b, a, VBN_WR_RDMA_READ, 7, 0, 4096);
    run_send(b, &wr);
    CHECK_MEM(b->memory, a->memory, 4096);
}

/* Queue pairs that rdma_create_qp made, on both ends. */
static void raw_queue_pairs(void) {
    struct trio t;
    need_cm();
    load_raw();
    end_open(&t.listener, 0, 2);
    client_open(&t.client, 0, start_listening(&t.listener));
    struct end *ends[] = {&t.client, &t.server};
    for (int i = 0; i < 2; i++) {
        if (i == 1) take_request(&t);
        give_queues(ends[i]);
        CHECK_OK(vbn_qp_close(&ends[i]->side.qp));
        struct rdma_cm_id *id;
        struct ibv_pd *pd;
        struct ibv_cq *cq;
        CHECK_OK(vbn_cm_id_native(ends[i]->id, &id));
        CHECK_OK(vbn_pd_native(ends[i]->side.pd, &pd));
        CHECK_OK(vbn_cq_native(ends[i]->side.cq, &cq));
        struct ibv_qp_init_attr attr;
        memset(&attr, 0, sizeof attr);
        attr.send_cq = attr.recv_cq = cq;
        attr.cap.max_send_wr = attr.cap.max_recv_wr = 16;
        attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
        attr.qp_type = IBV_QPT_RC;
        CHECK_EQ(raw.create_qp(id, pd, &attr), 0);
        adopt_raw(ends[i]);
        CHECK_UEQ(id_info(ends[i]->id).qp_num, vbn_qp_num(ends[i]->side.qp));
        if (i == 0) CHECK_OK(vbn_cm_id_connect(t.client.id, NULL));
    }
    CHECK_OK(vbn_cm_id_accept(t.server.id, NULL));
    expect(&t.client, VBN_CM_EVENT_ESTABLISHED);
    expect(&t.listener, VBN_CM_EVENT_ESTABLISHED);
    both_send(&t, 11);
    /* One that will be destroyed has room for one such handle; and its queues are kept. */
    struct ibv_qp *native;
    vbn_qp *second;
    CHECK_OK(vbn_qp_native(t.client.side.qp, &native));
    vbn_adopt_attr own = {.struct_size = sizeof own, .ownership = VBN_ADOPT_OWN};
    CHECK_STATUS(vbn_qp_adopt(t.client.side.pd, native, &own, &second), VBN_ERR_ARGUMENT);
    post_recv(&t.server.side, 8, 0, 64);
    disconnect_trio(&t);
    CHECK_STR(vbn_wc_status_name(next_wc(&t.server.side).status), "WR_FLUSH_ERR");
    close_adopted(&t.client);
    close_adopted(&t.server);
    close_trio(&t);
}

/* A queue pair of the library's goes out in the middle of a connection, is used by raw verbs, and comes back. */
static void queue_pair_given_and_taken(void) {
    struct trio t;
    need_cm();
    load_raw();
    connect_trio(&t, NULL, NULL);
    both_send(&t, 12);
    struct rdma_cm_id *id;
    struct ibv_qp *native = NULL;
    CHECK_OK(vbn_cm_id_native(t.client.id, &id));
    CHECK_OK(vbn_qp_release(&t.client.side.qp, &native));
    CHECK(t.client.side.qp == NULL && native != NULL && native == id->qp);
    /* It lives, connected as before, and the id still has it. */
    CHECK_UEQ(id_info(t.client.id).has_qp, 1);
    vbn_qp *another;
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = t.client.side.cq, .max_send_wr = 1, .max_recv_wr = 1};
    CHECK_STATUS(vbn_cm_id_create_qp(t.client.id, t.client.side.pd, &attr, &another), VBN_ERR_BUSY);
    fill(t.client.side.memory, 64, 13);
    struct ibv_sge sge = {.addr = (uintptr_t)t.client.side.memory, .length = 64, .lkey = vbn_mr_lkey(t.client.side.mr)};
    struct ibv_send_wr wr = {
        .wr_id = 9, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = {.remote_addr = vbn_mr_remote_addr(t.server.side.mr), .rkey = vbn_mr_rkey(t.server.side.mr)},
    };
    struct ibv_send_wr *bad;
    CHECK_EQ(ibv_post_send(native, &wr, &bad), 0);
    vbn_wc wc = next_wc(&t.client.side);
    CHECK_OK(vbn_wc_check(&wc));
    CHECK_UEQ(wc.wr_id, 9);
    CHECK_MEM(t.server.side.memory, t.client.side.memory, 64);
    adopt_raw(&t.client);
    both_send(&t, 14);
    disconnect_trio(&t);
    close_adopted(&t.client);
    /* The server's is released for good: raw librdmacm destroys it, then the id can go. */
    CHECK_OK(vbn_cm_id_native(t.server.id, &id));
    CHECK_OK(vbn_qp_release(&t.server.side.qp, &native));
    CHECK(native == id->qp);
    vbn_live_info live = live_info(t.server.side.context);
    CHECK_UEQ(live.qp_open, 0);
    raw.destroy_qp(id);
    close_trio(&t);
}

static struct trio inherited;

static void all_answer_forked(void) {
    vbn_cm_id *id = inherited.client.id, *out;
    vbn_cm_channel *channel = inherited.client.channel;
    vbn_cm_event event = {.struct_size = sizeof event};
    vbn_cm_id_info info = {.struct_size = sizeof info};
    vbn_cm_channel_info channel_info = {.struct_size = sizeof channel_info};
    vbn_context *context;
    vbn_cm_addr addr = address(1);
    CHECK_STATUS(vbn_cm_channel_get_event(channel, 0, &event, &out), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cm_channel_query(channel, &channel_info), VBN_ERR_FORKED);
    CHECK_EQ(vbn_cm_channel_fd(channel), -1);
    CHECK_STATUS(vbn_cm_id_create(channel, NULL, &out), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cm_id_query(id, &info), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cm_id_bind(id, &addr), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cm_id_listen(id, 1), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cm_id_resolve(id, NULL, &addr, 0), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cm_id_context(id, NULL, &context), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cm_id_connect(id, NULL), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cm_id_accept(id, NULL), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cm_id_reject(id, NULL, 0), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cm_id_disconnect(id), VBN_ERR_FORKED);
    /* Closing touches nothing of the parent's. */
    side_close(&inherited.client.side);
    CHECK_OK(vbn_cm_id_close(&inherited.client.id));
    CHECK_OK(vbn_cm_channel_close(&inherited.client.channel));
    /* One's own works. */
    struct end end;
    end_open(&end, 0, 0);
    start_listening(&end);
    end_close(&end);
}

static void forked(void) {
    need_cm();
    connect_trio(&inherited, NULL, NULL);
    struct test test = {"all_answer_forked", all_answer_forked};
    pid_t pid = test_fork();
    if (pid == 0) exit(test_child("cm", &test)); /* with all that libraries have registered for an exit */
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    vbn_send_wr wr = send_wr(&inherited.client.side, &inherited.server.side, VBN_WR_RDMA_WRITE, 1, 0, 64);
    run_send(&inherited.client.side, &wr);
    disconnect_trio(&inherited);
    close_trio(&inherited);
}

/* The second process: serves one client, echoes what it says, and tells by the pipe its port and that the echo has arrived. */
static int port_fd;

static void serve(void) {
    struct trio t;
    memset(&t, 0, sizeof t);
    end_open(&t.listener, 0, 2);
    uint32_t port = start_listening(&t.listener);
    CHECK_EQ(write(port_fd, &port, sizeof port), (ssize_t)sizeof port);
    take_request(&t);
    give_queues(&t.server);
    post_recv(&t.server.side, 1, 0, 4096);
    vbn_cm_conn_attr attr = {.struct_size = sizeof attr, .private_data = t.server.event.private_data, .private_data_len = 56};
    CHECK_OK(vbn_cm_id_accept(t.server.id, &attr));
    expect(&t.listener, VBN_CM_EVENT_ESTABLISHED);
    vbn_wc wc = next_ok(&t.server.side, 1);
    vbn_send_wr wr = send_wr(&t.server.side, &t.server.side, VBN_WR_SEND, 2, 0, wc.byte_len);
    run_send(&t.server.side, &wr);
    /* Nobody leaves before both know that they have been heard: an acknowledgement that gets lost is repeated only by those who are there. */
    CHECK_EQ(write(port_fd, "", 1), 1);
    expect(&t.listener, VBN_CM_EVENT_DISCONNECTED);
    CHECK_OK(vbn_cm_id_disconnect(t.server.id));
    end_close(&t.server);
    end_close(&t.listener);
}

static pid_t start_server(uint32_t *port, int *pipe_end) {
    int fds[2];
    CHECK_EQ(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char number[16];
        snprintf(number, sizeof number, "%d", fds[1]);
        execl("/proc/self/exe", "cm", "--serve", number, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    *pipe_end = fds[0];
    CHECK_EQ(read(fds[0], port, sizeof *port), (ssize_t)sizeof *port);
    return pid;
}

static void two_processes(void) {
    struct end client;
    uint32_t port;
    uint8_t greeting[56];
    int pipe_end;
    char byte;
    need_cm();
    pid_t pid = start_server(&port, &pipe_end);
    client_open(&client, 0, port);
    give_queues(&client);
    fill(greeting, sizeof greeting, 8);
    fill(client.side.memory, 4000, 9);
    post_recv(&client.side, 3, 8192, 4096);
    vbn_cm_conn_attr attr = {.struct_size = sizeof attr, .private_data = greeting, .private_data_len = sizeof greeting};
    CHECK_OK(vbn_cm_id_connect(client.id, &attr));
    expect(&client, VBN_CM_EVENT_ESTABLISHED);
    CHECK_MEM(client.event.private_data, greeting, sizeof greeting);
    vbn_send_wr wr = send_wr(&client.side, &client.side, VBN_WR_SEND, 4, 0, 4000);
    run_send(&client.side, &wr);
    CHECK_UEQ(next_ok(&client.side, 3).byte_len, 4000);
    CHECK_MEM(client.side.memory + 8192, client.side.memory, 4000);
    CHECK_EQ(read(pipe_end, &byte, 1), 1);
    close(pipe_end);
    CHECK_OK(vbn_cm_id_disconnect(client.id));
    expect(&client, VBN_CM_EVENT_DISCONNECTED);
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    end_close(&client);
}

/* The server process dies without a word: its kernel says good-bye, once (see queue_pair_keeps_id); if that gets lost, the next request tells. */
static void server_dies(void) {
    struct end client;
    uint32_t port;
    int pipe_end;
    need_cm();
    pid_t pid = start_server(&port, &pipe_end);
    close(pipe_end);
    client_open(&client, 0, port);
    give_queues(&client);
    CHECK_OK(vbn_cm_id_connect(client.id, NULL));
    expect(&client, VBN_CM_EVENT_ESTABLISHED);
    CHECK_EQ(kill(pid, SIGKILL), 0);
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
    vbn_cm_event event = {.struct_size = sizeof event};
    vbn_cm_id *none = NULL;
    vbn_status status = vbn_cm_channel_get_event(client.channel, 10 * SECOND, &event, &none);
    if (status == VBN_OK) {
        /* For the server the connection may not have been made yet: then it is a refusal. */
        CHECK(event.type == VBN_CM_EVENT_DISCONNECTED || event.type == VBN_CM_EVENT_REJECTED);
    } else {
        CHECK_STATUS(status, VBN_ERR_TIMEOUT);
        test_note("its good-bye got lost");
        vbn_send_wr wr = send_wr(&client.side, &client.side, VBN_WR_SEND, 4, 0, 64);
        post_send(&client.side, &wr);
        CHECK_STR(vbn_wc_status_name(next_wc(&client.side).status), "RETRY_EXC_ERR");
    }
    end_close(&client);
}

/* rping's message: where its memory is. */
struct advert {
    uint64_t addr;
    uint32_t rkey, size;
};

#define ROUNDS 3

static pid_t start_rping(const char *role, uint32_t port) {
    char number[16], rounds[16];
    snprintf(number, sizeof number, "%u", port);
    snprintf(rounds, sizeof rounds, "%d", ROUNDS);
    pid_t pid = fork();
    if (pid == 0) {
        /* The source is for the client. */
        execlp("rping", "rping", role, "-a", listen_text(), "-p", number, "-C", rounds, "-V", role[1] == 'c' ? "-I" : NULL, address_text(),
               (char *)NULL);
        _exit(127);
    }
    CHECK(pid > 0);
    return pid;
}

static void need_rping(void) {
    need_cm();
    if (system("command -v rping >/dev/null 2>&1") != 0) SKIP("rping is not installed (rdmacm-utils)");
}

static void finish_rping(pid_t pid) {
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    FAIL("rping failed: wait status 0x%x", status);
}

#define MESSAGES 60000 /* where messages lie in memory: 0 to 256 is data */

static struct advert next_advert(struct side *side, uint64_t wr_id) {
    struct advert advert;
    CHECK_UEQ(next_ok(side, wr_id).byte_len, sizeof advert);
    memcpy(&advert, side->memory + MESSAGES, sizeof advert);
    advert.addr = be64toh(advert.addr);
    advert.rkey = ntohl(advert.rkey);
    advert.size = ntohl(advert.size);
    CHECK(advert.size > 0 && advert.size <= 4096);
    post_recv(side, wr_id + 1, MESSAGES, sizeof advert);
    return advert;
}

static vbn_send_wr message_of(struct side *side, const struct advert *advert, uint64_t wr_id) {
    struct advert message = {htobe64(advert->addr), htonl(advert->rkey), htonl(advert->size)};
    memcpy(side->memory + MESSAGES + 64, &message, sizeof message);
    return send_wr(side, side, VBN_WR_SEND, wr_id, MESSAGES + 64, sizeof message);
}

static void send_message(struct side *side, const struct advert *advert, uint64_t wr_id) {
    vbn_send_wr wr = message_of(side, advert, wr_id);
    run_send(side, &wr);
}

/* We serve: read what the client offers, write it back where it wants it; the client compares. */
static void rping_client(void) {
    struct trio t;
    need_rping();
    memset(&t, 0, sizeof t);
    end_open(&t.listener, 0, 2);
    pid_t pid = start_rping("-c", start_listening(&t.listener));
    take_request(&t);
    give_queues(&t.server);
    struct side *side = &t.server.side;
    post_recv(side, 100, MESSAGES, sizeof(struct advert));
    CHECK_OK(vbn_cm_id_accept(t.server.id, NULL));
    expect(&t.listener, VBN_CM_EVENT_ESTABLISHED);
    struct advert go = {0, 0, 0};
    for (int i = 0; i < ROUNDS; i++) {
        struct advert source = next_advert(side, 100 + 2 * (uint64_t)i);
        vbn_send_wr wr = send_wr(side, side, VBN_WR_RDMA_READ, 1, 0, source.size);
        wr.remote_addr = source.addr;
        wr.rkey = source.rkey;
        run_send(side, &wr);
        CHECK_HAS((char *)side->memory, "rdma-ping-");
        send_message(side, &go, 2);
        struct advert sink = next_advert(side, 101 + 2 * (uint64_t)i);
        wr = send_wr(side, side, VBN_WR_RDMA_WRITE, 3, 0, source.size);
        wr.remote_addr = sink.addr;
        wr.rkey = sink.rkey;
        run_send(side, &wr);
        if (i < ROUNDS - 1) send_message(side, &go, 4);
    }
    /* With the last message rping leaves. If its acknowledgement gets lost, nobody repeats it, and rping has asked for endless retries. */
    vbn_send_wr last = message_of(side, &go, 4);
    post_send(side, &last);
    /* It says good-bye once and destroys its id: when that gets lost, nobody says it again. */
    finish_rping(pid);
    CHECK_OK(vbn_cm_id_disconnect(t.server.id));
    end_close(&t.server);
    end_close(&t.listener);
}

/* The server may not listen yet. */
static void connect_when_it_listens(struct end *client, uint32_t port) {
    for (int tries = 0;; tries++) {
        client_open(client, 0, port);
        give_queues(client);
        post_recv(&client->side, 100, MESSAGES, sizeof(struct advert));
        CHECK_OK(vbn_cm_id_connect(client->id, NULL));
        vbn_cm_id *none;
        client->event.struct_size = sizeof client->event;
        CHECK_OK(vbn_cm_channel_get_event(client->channel, PATIENCE, &client->event, &none));
        if (client->event.type == VBN_CM_EVENT_ESTABLISHED) return;
        CHECK_EQ(client->event.type, VBN_CM_EVENT_REJECTED);
        CHECK(tries < 100);
        end_close(client);
        sleep_ms(200);
    }
}

/* rping serves: it reads and writes our memory. */
static void rping_server(void) {
    struct end client;
    uint8_t go[16];
    need_rping();
    pid_t pid = start_rping("-s", 7174);
    connect_when_it_listens(&client, 7174);
    struct side *side = &client.side;
    for (int i = 0; i < ROUNDS; i++) {
        struct advert advert = {vbn_mr_remote_addr(side->mr), vbn_mr_rkey(side->mr), 64};
        snprintf((char *)side->memory, 64, "rdma-ping-%d: from libverbena", i);
        send_message(side, &advert, 1);
        next_ok(side, 100 + 2 * (uint64_t)i);
        post_recv(side, 101 + 2 * (uint64_t)i, MESSAGES, sizeof go);
        advert.addr += 4096;
        send_message(side, &advert, 2);
        next_ok(side, 101 + 2 * (uint64_t)i);
        post_recv(side, 102 + 2 * (uint64_t)i, MESSAGES, sizeof go);
        CHECK_MEM(side->memory + 4096, side->memory, 64);
    }
    CHECK_OK(vbn_cm_id_disconnect(client.id));
    expect(&client, VBN_CM_EVENT_DISCONNECTED);
    finish_rping(pid);
    end_close(&client);
}

static const struct test tests[] = {
    {"without_kernel", without_kernel},
    {"resolves", resolves},
    {"connects", connects},
    {"private_data_limits", private_data_limits},
    {"rejects", rejects},
    {"nobody_listens", nobody_listens},
    {"wrong_addresses", wrong_addresses},
    {"nobody_answers", nobody_answers},
    {"port_in_use", port_in_use},
    {"wrong_order", wrong_order},
    {"time_outs", time_outs},
    {"datagrams", datagrams},
    {"queue_pair_keeps_id", queue_pair_keeps_id},
    {"shared_receives", shared_receives},
    {"close_orders", close_orders},
    {"leaves_nothing", leaves_nothing},
    {"given_and_taken", given_and_taken},
    {"raw_queue_pairs", raw_queue_pairs},
    {"queue_pair_given_and_taken", queue_pair_given_and_taken},
    {"forked", forked},
    {"two_processes", two_processes},
    {"server_dies", server_dies},
    {"rping_client", rping_client},
    {"rping_server", rping_server},
    {NULL, NULL},
};

static const struct test child = {"serve", serve};

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--serve") == 0) {
        port_fd = atoi(argv[2]);
        return test_child("cm", &child);
    }
    return test_main("cm", tests, argc, argv);
}
