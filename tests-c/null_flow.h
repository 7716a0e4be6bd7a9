/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Flow steering and counters for the null provider, which has none: a context gets them by steer(). */
#ifndef NULL_FLOW_H
#define NULL_FLOW_H

#include "null_help.h"

static struct {
    int flows, counters;            /* that are alive */
    int create, destroy, attach;    /* errno of the next call of each kind; -1: of every one. 0: it works */
    int set, unset, read;           /* the same for counters: create, destroy, read */
    unsigned char rule[4096];       /* as the last rule was told, and where it was */
    const void *at;
    struct ibv_qp *qp;
    struct ibv_counter_attach_attr attached;
    struct ibv_flow *attached_to;
    uint64_t value;                 /* of place 0; place n has n more */
    uint32_t flags;
} steering;

/* What a call answers. */
static inline int steered(int *err)
{
    int now = *err;

    if (now > 0)
        *err = 0;
    return now < 0 ? EIO : now;
}

static inline struct ibv_flow *fake_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
    int err = steered(&steering.create);
    struct ibv_flow *flow;

    memset(steering.rule, 0, sizeof(steering.rule));
    memcpy(steering.rule, attr, attr->size < sizeof(steering.rule) ? attr->size : sizeof(steering.rule));
    steering.at = attr;
    steering.qp = qp;
    if (err || !(flow = calloc(1, sizeof(*flow)))) {
        errno = err ? err : ENOMEM;
        return NULL;
    }
    flow->context = qp->context;
    flow->handle = (uint32_t)++steering.flows;
    return flow;
}

static inline int fake_destroy_flow(struct ibv_flow *flow)
{
    int err = steered(&steering.destroy);

    if (err)
        return err;
    steering.flows--;
    free(flow);
    return 0;
}

static inline struct ibv_counters *fake_create_counters(struct ibv_context *context, struct ibv_counters_init_attr *attr)
{
    int err = steered(&steering.set);
    struct ibv_counters *counters;

    MUST(!attr->comp_mask, "comp_mask 0x%x", attr->comp_mask);
    if (err || !(counters = calloc(1, sizeof(*counters)))) {
        errno = err ? err : ENOMEM;
        return NULL;
    }
    counters->context = context;
    steering.counters++;
    return counters;
}

static inline int fake_destroy_counters(struct ibv_counters *counters)
{
    int err = steered(&steering.unset);

    if (err)
        return err;
    steering.counters--;
    free(counters);
    return 0;
}

static inline int fake_attach(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr, struct ibv_flow *flow)
{
    MUST(counters->context && (!flow || flow->context == counters->context), "the counters");
    steering.attached = *attr;
    steering.attached_to = flow;
    return steered(&steering.attach);
}

static inline int fake_read_counters(struct ibv_counters *counters, uint64_t *values, uint32_t count, uint32_t flags)
{
    int err = steered(&steering.read);

    MUST(counters->context, "the counters");
    for (uint32_t i = 0; !err && i < count; i++)
        values[i] = steering.value + i;
    steering.flags = flags;
    return err;
}

static inline void steer(struct ibv_context *context)
{
    struct verbs_context *table = verbs_get_ctx(context);

    table->ibv_create_flow = fake_create_flow;
    table->ibv_destroy_flow = fake_destroy_flow;
    table->create_counters = fake_create_counters;
    table->destroy_counters = fake_destroy_counters;
    table->attach_counters_point_flow = fake_attach;
    table->read_counters = fake_read_counters;
}

#endif
