/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Completion channels and events. A record goes through a pair of sockets, so that the descriptor can be polled and set
 * non-blocking like the kernel's; of an object that is destroyed the unread records are taken back out, as the kernel does.
 */
#include <sys/socket.h>
#include <unistd.h>
#include "internal.h"

#define MAX_UNREAD 128

static unsigned unacked;

/* A completion event has the CQ as its element and no type. */
struct record {
	uint64_t element;
	uint32_t type;
	uint32_t port;
};

int event_pair(int fds[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -1;
	pthread_mutex_lock(&big);
	live.fds += 2;
	pthread_mutex_unlock(&big);
	return 0;
}

void event_pair_close(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
	pthread_mutex_lock(&big);
	live.fds -= 2;
	pthread_mutex_unlock(&big);
}

static int put(int wfd, const struct record *r)
{
	return send(wfd, r, sizeof(*r), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*r) ? 0 : -1;
}

/* MSG_DONTWAIT works whatever the caller made of the descriptor. */
static void drop(int rfd, int wfd, const void *element)
{
	struct record keep[MAX_UNREAD];
	size_t n = 0;

	while (n < MAX_UNREAD && recv(rfd, &keep[n], sizeof(keep[n]), MSG_DONTWAIT) == sizeof(keep[n]))
		if (keep[n].element != (uintptr_t)element)
			n++;
	for (size_t i = 0; i < n; i++)
		put(wfd, &keep[i]);
}

void events_drop_async(struct ibv_context *context, const void *element)
{
	drop(context->async_fd, to_ctx(context)->async_wfd, element);
}

void events_drop_cq(struct ncq *cq)
{
	struct ibv_comp_channel *channel = cq->cq.channel;

	if (channel)
		drop(channel->fd, ((struct nchannel *)channel)->wfd, cq);
	events_drop_async(cq->cq.context, cq);
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct nchannel *c;
	int fds[2];

	FAIL_PTR(ibv_create_comp_channel);
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	if (event_pair(fds)) {
		free(c);
		return NULL;
	}
	c->channel.context = context;
	c->channel.fd = fds[0];
	c->wfd = fds[1];
	pthread_mutex_lock(&big);
	to_ctx(context)->children++;
	live.channels++;
	pthread_mutex_unlock(&big);
	return &c->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct nchannel *c = (struct nchannel *)channel;
	bool busy;

	FAIL_ERRNO(ibv_destroy_comp_channel);
	pthread_mutex_lock(&big);
	busy = channel->refcnt;
	if (!busy) {
		to_ctx(channel->context)->children--;
		live.channels--;
	}
	pthread_mutex_unlock(&big);
	if (busy)
		return EBUSY;
	event_pair_close((int[2]){ channel->fd, c->wfd });
	free(c);
	return 0;
}

int nullv_push_cq_event(struct ibv_cq *cq)
{
	if (!cq->channel) {
		errno = EINVAL;
		return -1;
	}
	return put(((struct nchannel *)cq->channel)->wfd, &(struct record){ .element = (uintptr_t)cq });
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct record r;

	FAIL_MINUS(ibv_get_cq_event);
	if (read(channel->fd, &r, sizeof(r)) != sizeof(r))
		return -1;
	*cq = (struct ibv_cq *)(uintptr_t)r.element;
	*cq_context = (*cq)->cq_context;
	pthread_mutex_lock(&big);
	to_cq(*cq)->comp_got++;
	unacked++;
	pthread_mutex_unlock(&big);
	return 0;
}

static void acked(unsigned n)
{
	unacked -= n < unacked ? n : unacked;
}

unsigned nullv_unacked(void)
{
	return __atomic_load_n(&unacked, __ATOMIC_RELAXED);
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned n)
{
	pthread_mutex_lock(&big);
	acked(n);
	cq->comp_events_completed += n;
	if (cq->comp_events_completed > to_cq(cq)->comp_got)
		live.overacked++;
	pthread_mutex_unlock(&big);
}

/* Which object an event of this type speaks of. */
enum about { ABOUT_CQ, ABOUT_QP, ABOUT_SRQ, ABOUT_PORT };

static enum about about(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_CQ_ERR:
		return ABOUT_CQ;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return ABOUT_QP;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return ABOUT_SRQ;
	default:
		return ABOUT_PORT;
	}
}

int nullv_push_port_event(struct ibv_context *context, enum ibv_event_type type, int port)
{
	return put(to_ctx(context)->async_wfd, &(struct record){ .type = type, .port = (uint32_t)port });
}

int nullv_push_async_event(enum ibv_event_type type, void *element)
{
	struct record r = { .element = (uintptr_t)element, .type = type };
	struct ibv_context *context = NULL;

	switch (about(type)) {
	case ABOUT_CQ:
		context = ((struct ibv_cq *)element)->context;
		break;
	case ABOUT_QP:
		context = ((struct ibv_qp *)element)->context;
		break;
	case ABOUT_SRQ:
		context = ((struct ibv_srq *)element)->context;
		break;
	case ABOUT_PORT:
		return nullv_push_port_event(element, type, 1);
	}
	return put(to_ctx(context)->async_wfd, &r);
}

/* The counters of acknowledged and of read events; NULL: port events, which nobody counts. */
static uint32_t *counters(const struct ibv_async_event *event, unsigned **got)
{
	switch (about(event->event_type)) {
	case ABOUT_CQ:
		*got = &to_cq(event->element.cq)->async_got;
		return &event->element.cq->async_events_completed;
	case ABOUT_QP:
		*got = &to_qp(event->element.qp)->async_got;
		return &event->element.qp->events_completed;
	case ABOUT_SRQ:
		*got = &to_srq(event->element.srq)->async_got;
		return &event->element.srq->events_completed;
	case ABOUT_PORT:
		break;
	}
	return NULL;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct record r;
	unsigned *got;

	FAIL_MINUS(ibv_get_async_event);
	if (read(context->async_fd, &r, sizeof(r)) != sizeof(r))
		return -1;
	memset(event, 0, sizeof(*event));
	event->event_type = r.type;
	if (about(r.type) == ABOUT_PORT)
		event->element.port_num = (int)r.port;
	else
		event->element.cq = (struct ibv_cq *)(uintptr_t)r.element;
	pthread_mutex_lock(&big);
	if (counters(event, &got)) {
		++*got;
		unacked++;
	}
	pthread_mutex_unlock(&big);
	return 0;
}

/* A port event's acknowledgement does nothing in the real library either, so it isn't counted. */
void ibv_ack_async_event(struct ibv_async_event *event)
{
	uint32_t *completed;
	unsigned *got;

	pthread_mutex_lock(&big);
	completed = counters(event, &got);
	if (completed) {
		acked(1);
		if (++*completed > *got)
			live.overacked++;
	}
	pthread_mutex_unlock(&big);
}
