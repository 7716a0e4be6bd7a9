/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Scripts of failures, the statistics, and what is alive. */
#include "slow.h"

pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
struct nullv_live live;
struct nullv_stats stats;

#define MAX_SCRIPTS 64
#define MAX_HIDDEN 16

struct fn_name {
	const char *name, *family;
	char class;
};

static const struct fn_name fns[F_COUNT] = {
#define X(name, family, class) [F_##name] = { #name, #family, #class[0] },
	FN_LIST(X)
#undef X
};

struct script {
	char name[48];
	unsigned left;     /* calls until it fires */
	bool forever;
	int err;
};

static struct script scripts[MAX_SCRIPTS];
static unsigned num_scripts;
static const char *hidden[MAX_HIDDEN];
static unsigned num_hidden;
static char last_misuse[128];

uint32_t next_number(void)
{
	static uint32_t number = 0x10;

	return __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
}

static bool matches(const struct script *s, enum fn fn)
{
	if (!strcmp(s->name, "*"))
		return fns[fn].class == 'C';
	return !strcmp(s->name, fns[fn].name) || !strcmp(s->name, fns[fn].family);
}

static bool known(const char *name)
{
	struct script s = { .left = 0 };

	if (strlen(name) >= sizeof(s.name))
		return false;
	strcpy(s.name, name);
	for (int fn = 0; fn < F_COUNT; fn++)
		if (matches(&s, fn))
			return true;
	return false;
}

int fn_fails(enum fn fn)
{
	int err = 0;

	if (!__atomic_load_n(&num_scripts, __ATOMIC_RELAXED))
		return 0;
	pthread_mutex_lock(&big);
	for (unsigned i = 0; i < num_scripts;) {
		struct script *s = &scripts[i];

		if (!matches(s, fn) || (!s->forever && --s->left)) {
			i++;
			continue;
		}
		if (!err)
			err = s->err;
		if (s->forever)
			i++;
		else
			*s = scripts[--num_scripts];
	}
	pthread_mutex_unlock(&big);
	return err;
}

int nullv_fail(const char *fn, unsigned nth, int err)
{
	int ret = 0;

	if (!known(fn)) {
		errno = EINVAL;
		return -1;
	}
	pthread_mutex_lock(&big);
	if (num_scripts == MAX_SCRIPTS) {
		errno = ENOSPC;
		ret = -1;
	} else {
		struct script *s = &scripts[num_scripts];

		memset(s, 0, sizeof(*s));
		strcpy(s->name, fn);
		s->left = nth;
		s->forever = !nth;
		s->err = err;
		__atomic_store_n(&num_scripts, num_scripts + 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&big);
	mode_update();
	return ret;
}

unsigned nullv_pending(void)
{
	return __atomic_load_n(&num_scripts, __ATOMIC_RELAXED);
}

bool script_active(void)
{
	return num_scripts;
}

int nullv_hide_op(const char *op)
{
	/* The names that context_ops() asks for; kept as pointers to these literals. */
	static const char *const ops[] = {
		"alloc_mw", "bind_mw", "dealloc_mw", "poll_cq", "req_notify_cq", "post_srq_recv", "post_send", "post_recv",
		"query_port", "advise_mr", "alloc_null_mr", "reg_dm_mr", "alloc_dm", "free_dm", "modify_qp_rate_limit",
		"alloc_parent_domain", "dealloc_td", "alloc_td", "modify_cq", "query_rt_values", "create_cq_ex",
		"query_device_ex", "create_qp_ex", "get_srq_num", "create_srq_ex", "open_xrcd", "close_xrcd",
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(ops[i], op) || num_hidden == MAX_HIDDEN)
			continue;
		hidden[num_hidden++] = ops[i];
		return 0;
	}
	errno = EINVAL;
	return -1;
}

bool hidden_op(const char *name)
{
	for (unsigned i = 0; i < num_hidden; i++)
		if (!strcmp(hidden[i], name))
			return true;
	return false;
}

void script_clear(void)
{
	num_hidden = 0;
	live.destroyed_unacked = live.overacked = live.closed_busy = 0;
	__atomic_store_n(&num_scripts, 0, __ATOMIC_RELAXED);
}

void misuse(const char *what)
{
	stats.misuse++;
	strncpy(last_misuse, what, sizeof(last_misuse) - 1);
}

const char *nullv_last_misuse(void)
{
	return last_misuse;
}

void nullv_stats(struct nullv_stats *out)
{
	pthread_mutex_lock(&big);
	*out = stats;
	pthread_mutex_unlock(&big);
}

void nullv_stats_reset(void)
{
	pthread_mutex_lock(&big);
	memset(&stats, 0, sizeof(stats));
	last_misuse[0] = '\0';
	slow_log_reset();
	pthread_mutex_unlock(&big);
}

void nullv_live(struct nullv_live *out)
{
	pthread_mutex_lock(&big);
	*out = live;
	pthread_mutex_unlock(&big);
}
