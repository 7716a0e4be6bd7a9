/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Devices, contexts and what can be asked of them. */
#include <arpa/inet.h>
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "internal.h"

/* Devices without and with a libefa. */
#define MAX_DEVICES 16
#define MAX_EFAS 4
#define NUM_GIDS 4

struct ncontext *contexts;

static struct ibv_device devices[MAX_DEVICES + MAX_EFAS];
static struct ibv_device_attr_ex device_attr;
static struct ibv_port_attr port_attr;

static int env_int(const char *name, int otherwise)
{
	const char *s = getenv(name);

	return s && *s ? atoi(s) : otherwise;
}

static void device_fill(struct ibv_device *d, int i)
{
	bool efa = i >= MAX_DEVICES;

	d->node_type = efa ? IBV_NODE_UNSPECIFIED : IBV_NODE_CA;
	d->transport_type = efa ? IBV_TRANSPORT_UNSPECIFIED : IBV_TRANSPORT_IB;
	snprintf(d->name, sizeof(d->name), efa ? "nullefa%d" : "null%d", efa ? i - MAX_DEVICES : i);
	snprintf(d->dev_name, sizeof(d->dev_name), "uverbs%d", i);
	snprintf(d->dev_path, sizeof(d->dev_path), "/sys/class/infiniband_verbs/uverbs%d", i);
	snprintf(d->ibdev_path, sizeof(d->ibdev_path), "/sys/class/infiniband/%s", d->name);
}

static int device_index(const struct ibv_device *device)
{
	return (int)(device - devices);
}

bool is_efa(const struct ibv_context *context)
{
	return device_index(context->device) >= MAX_DEVICES;
}

/* 02:00:00:ff:fe:..: locally administered, so that it can belong to nobody. */
static uint64_t guid(int i)
{
	return htobe64(0x020000fffe000000ULL + (unsigned)i + 1);
}

static const uint16_t pkeys[] = { 0xffff, 0x8123 };
#define NUM_PKEYS (int)(sizeof(pkeys) / sizeof(pkeys[0]))

static int has_port(uint32_t port)
{
	return port >= 1 && port <= device_attr.orig_attr.phys_port_cnt;
}

void attributes_reset(void)
{
	struct ibv_device_attr *a = &device_attr.orig_attr;

	efa_reset();
	memset(&device_attr, 0, sizeof(device_attr));
	strcpy(a->fw_ver, "null-1.0");
	a->max_mr_size = UINT64_MAX;
	a->page_size_cap = 0xfffff000;
	a->max_qp = 4096;
	a->max_qp_wr = 8192;
	a->device_cap_flags = IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS |
			      IBV_DEVICE_XRC | IBV_DEVICE_RC_RNR_NAK_GEN;
	a->max_sge = 16;
	a->max_sge_rd = 16;
	a->max_cq = 4096;
	a->max_cqe = 65536;
	a->max_mr = 65536;
	a->max_pd = 1024;
	a->max_qp_rd_atom = 16;
	a->max_res_rd_atom = 65536;
	a->max_qp_init_rd_atom = 16;
	a->atomic_cap = IBV_ATOMIC_HCA;
	a->max_mw = 65536;
	a->max_mcast_grp = 256;
	a->max_mcast_qp_attach = 16;
	a->max_total_mcast_qp_attach = 4096;
	a->max_ah = 65536;
	a->max_srq = 1024;
	a->max_srq_wr = 8192;
	a->max_srq_sge = 16;
	a->max_pkeys = NUM_PKEYS;
	a->local_ca_ack_delay = 15;
	a->phys_port_cnt = 1;
	device_attr.completion_timestamp_mask = UINT64_MAX;
	device_attr.hca_core_clock = 1000000;
	device_attr.device_cap_flags_ex = a->device_cap_flags;
	device_attr.max_dm_size = 1 << 20;
	device_attr.cq_mod_caps.max_cq_count = UINT16_MAX;
	device_attr.cq_mod_caps.max_cq_period = UINT16_MAX;
	device_attr.phys_port_cnt_ex = 1;

	memset(&port_attr, 0, sizeof(port_attr));
	port_attr.state = IBV_PORT_ACTIVE;
	port_attr.max_mtu = IBV_MTU_4096;
	port_attr.active_mtu = IBV_MTU_1024;
	port_attr.gid_tbl_len = NUM_GIDS;
	port_attr.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
	port_attr.max_msg_sz = 1U << 30;
	port_attr.pkey_tbl_len = NUM_PKEYS;
	port_attr.max_vl_num = 1;
	port_attr.active_width = 2;
	port_attr.active_speed = 32;
	port_attr.phys_state = 5;
	port_attr.link_layer = IBV_LINK_LAYER_ETHERNET;
	port_attr.flags = IBV_QPF_GRH_REQUIRED;
}

/* NULLV_FAIL=function:nth:errno,... What can't be understood ends the program: no test may pass because of a typing error. */
static void env_fail(void)
{
	const char *s = getenv("NULLV_FAIL");

	while (s && *s) {
		char fn[48];
		unsigned nth;
		int err, used = 0;

		if (sscanf(s, "%47[^:,]:%u:%d%n", fn, &nth, &err, &used) != 3 || (s[used] && s[used] != ',') || nullv_fail(fn, nth, err)) {
			fprintf(stderr, "null provider: NULLV_FAIL: can't use \"%s\"; write function:nth:errno,...\n", s);
			abort();
		}
		s += used + (s[used] == ',');
	}
}

static void init_once(void)
{
	for (int i = 0; i < MAX_DEVICES + MAX_EFAS; i++)
		device_fill(&devices[i], i);
	attributes_reset();
	nullv_set_poll_n(env_int("NULLV_POLL_N", 0));
	nullv_set_walk(env_int("NULLV_WALK", 0));
	env_fail();
}

void nullv_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init_once);
}

struct ibv_device_attr_ex *nullv_device_attr(void)
{
	nullv_init();
	return &device_attr;
}

struct ibv_port_attr *nullv_port_attr(void)
{
	nullv_init();
	return &port_attr;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	int n = env_int("NULLV_DEVICES", 2), efas = env_int("NULLV_EFA", 0);
	int err = env_int("NULLV_LIST_ERRNO", 0);
	struct ibv_device **list;

	nullv_init();
	if (num_devices)
		*num_devices = 0;
	if (err) {
		errno = err;
		return NULL;
	}
	FAIL_PTR(ibv_get_device_list);
	if (n < 0 || n > MAX_DEVICES)
		n = MAX_DEVICES;
	if (efas < 0 || efas > MAX_EFAS)
		efas = MAX_EFAS;
	list = calloc((size_t)(n + efas) + 1, sizeof(*list));
	if (!list)
		return NULL;
	for (int i = 0; i < n; i++)
		list[i] = &devices[i];
	for (int i = 0; i < efas; i++)
		list[n + i] = &devices[MAX_DEVICES + i];
	if (num_devices)
		*num_devices = n + efas;
	pthread_mutex_lock(&big);
	live.lists++;
	pthread_mutex_unlock(&big);
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	pthread_mutex_lock(&big);
	live.lists--;
	pthread_mutex_unlock(&big);
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return guid(device_index(device));
}

int ibv_get_device_index(struct ibv_device *device)
{
	return device_index(device);
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	FAIL_ERRNO(ibv_query_device);
	*attr = device_attr.orig_attr;
	attr->node_guid = attr->sys_image_guid = guid(device_index(context->device));
	return 0;
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	struct ibv_device_attr_ex a = device_attr;

	FAIL_ERRNO(ibv_query_device_ex);
	if (input && input->comp_mask)
		return EINVAL;
	a.orig_attr.node_guid = a.orig_attr.sys_image_guid = guid(device_index(context->device));
	memset(attr, 0, size);
	memcpy(attr, &a, size < sizeof(a) ? size : sizeof(a));
	return 0;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	struct ibv_port_attr a = port_attr;

	FAIL_ERRNO(ibv_query_port);
	if (!has_port(port))
		return EINVAL;
	a.lid = (uint16_t)(a.lid + port - 1);
	if (is_efa(context)) {
		a.link_layer = IBV_LINK_LAYER_UNSPECIFIED;
		a.gid_tbl_len = 1;
		a.flags = 0;
	}
	memset(attr, 0, size);
	memcpy(attr, &a, size < sizeof(a) ? size : sizeof(a));
	return 0;
}

/* Callers from before port_cap_flags2 own a struct that ends there. */
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	return query_port(context, port, (struct ibv_port_attr *)attr, offsetof(struct ibv_port_attr, port_cap_flags2));
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	uint32_t asked = values->comp_mask;

	(void)context;
	FAIL_ERRNO(ibv_query_rt_values_ex);
	values->comp_mask = asked & IBV_VALUES_MASK_RAW_CLOCK;
	if (values->comp_mask)
		clock_gettime(CLOCK_MONOTONIC_RAW, &values->raw_clock);
	return 0;
}

/* fe80:: as RoCE v1 and v2, ::ffff:192.0.2.(i+1) as v2, and an empty slot. EFA has one, of neither kind. */
static int gid_entry(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *e)
{
	int dev = device_index(context->device);

	if (!has_port(port) || index >= (is_efa(context) ? 1 : NUM_GIDS))
		return EINVAL;
	if (index == NUM_GIDS - 1)
		return ENODATA;
	memset(e, 0, sizeof(*e));
	e->gid_index = index;
	e->port_num = port;
	e->gid_type = index ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
	e->ndev_ifindex = 1;
	if (is_efa(context)) {
		e->gid_type = IBV_GID_TYPE_IB;
		e->ndev_ifindex = 0;
	}
	if (index < 2) {
		e->gid.global.subnet_prefix = htobe64(0xfe80000000000000ULL);
		e->gid.global.interface_id = guid(dev);
	} else {
		e->gid.global.interface_id = htobe64(0xffffc0000200ULL + (unsigned)dev + 1);
	}
	return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	struct ibv_gid_entry e;
	int err;

	FAIL_MINUS(ibv_query_gid);
	err = gid_entry(context, port, (uint32_t)index, &e);
	if (err == ENODATA) {
		memset(gid, 0, sizeof(*gid));
		return 0;
	}
	if (err) {
		errno = err;
		return -1;
	}
	*gid = e.gid;
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t size)
{
	struct ibv_gid_entry e;
	int err;

	FAIL_ERRNO(ibv_query_gid_ex);
	if (flags)
		return EOPNOTSUPP;
	err = gid_entry(context, port, index, &e);
	if (err)
		return err;
	memset(entry, 0, size);
	memcpy(entry, &e, size < sizeof(e) ? size : sizeof(e));
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max, uint32_t flags,
			     size_t size)
{
	size_t n = 0;
	int err = fn_fails(F_ibv_query_gid_table);

	if (err)
		return -err;
	if (flags)
		return -EOPNOTSUPP;
	for (uint32_t i = 0; i < NUM_GIDS; i++) {
		struct ibv_gid_entry e;
		char *out = (char *)entries + n * size;

		if (gid_entry(context, 1, i, &e))
			continue;
		if (n == max)
			return -EINVAL;
		memset(out, 0, size);
		memcpy(out, &e, size < sizeof(e) ? size : sizeof(e));
		n++;
	}
	return (ssize_t)n;
}

/* The numbers of this private function are those of sysfs: 0 for IB and RoCE v1, 1 for RoCE v2. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index, int *type);
int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index, int *type)
{
	struct ibv_gid_entry e;
	int err = gid_entry(context, port, index, &e);

	if (err && err != ENODATA) {
		errno = err;
		return -1;
	}
	*type = !err && e.gid_type == IBV_GID_TYPE_ROCE_V2;
	return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	(void)context;
	FAIL_MINUS(ibv_query_pkey);
	if (!has_port(port) || index < 0 || index >= NUM_PKEYS) {
		errno = EINVAL;
		return -1;
	}
	*pkey = htons(pkeys[index]);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
	__be16 found;

	for (int index = 0; !ibv_query_pkey(context, port, index, &found); index++)
		if (found == pkey)
			return index;
	return -1;
}

void context_ops(struct ncontext *ctx)
{
	struct verbs_context *v = &ctx->v;
	struct ibv_context_ops *o = &v->context.ops;

	/* These two must lead into this very library: callers tell by them whose context it is. */
	o->_compat_query_device = ibv_query_device;
	o->_compat_query_port = ibv_query_port;
#define OP(table, name) do { if (!hidden_op(#name)) (table)->name = name; } while (0)
	OP(o, alloc_mw);
	OP(o, dealloc_mw);
	OP(o, bind_mw);
	OP(v, query_port);
	OP(v, advise_mr);
	OP(v, alloc_null_mr);
	OP(v, reg_dm_mr);
	OP(v, alloc_dm);
	OP(v, free_dm);
	OP(v, modify_qp_rate_limit);
	OP(v, alloc_parent_domain);
	OP(v, alloc_td);
	OP(v, dealloc_td);
	OP(v, modify_cq);
	OP(v, query_rt_values);
	OP(v, create_cq_ex);
	OP(v, query_device_ex);
	OP(v, create_qp_ex);
	OP(v, get_srq_num);
	OP(v, create_srq_ex);
	OP(v, open_xrcd);
	OP(v, close_xrcd);
#undef OP
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ncontext *ctx;
	int fds[2];

	nullv_init();
	FAIL_PTR(ibv_open_device);
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return NULL;
	ctx->v.context.cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (ctx->v.context.cmd_fd < 0)
		goto no_cmd;
	if (event_pair(fds))
		goto no_pair;
	ctx->v.sz = sizeof(ctx->v);
	ctx->v.context.device = device;
	ctx->v.context.async_fd = fds[0];
	ctx->async_wfd = fds[1];
	ctx->v.context.num_comp_vectors = 4;
	ctx->v.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	pthread_mutex_init(&ctx->v.context.mutex, NULL);
	context_ops(ctx);

	pthread_mutex_lock(&big);
	context_mode(ctx);
	ctx->next = contexts;
	contexts = ctx;
	live.contexts++;
	live.fds++;
	pthread_mutex_unlock(&big);
	return &ctx->v.context;
no_pair:
	close(ctx->v.context.cmd_fd);
no_cmd:
	free(ctx);
	return NULL;
}

int ibv_close_device(struct ibv_context *context)
{
	struct ncontext *ctx = to_ctx(context), **at;

	FAIL_ERRNO(ibv_close_device);
	pthread_mutex_lock(&big);
	for (at = &contexts; *at != ctx; at = &(*at)->next)
		;
	*at = ctx->next;
	live.contexts--;
	live.fds--;
	if (ctx->children)
		live.closed_busy++;
	pthread_mutex_unlock(&big);
	close(context->cmd_fd);
	event_pair_close((int[2]){ context->async_fd, ctx->async_wfd });
	pthread_mutex_destroy(&context->mutex);
	free(ctx);
	return 0;
}
