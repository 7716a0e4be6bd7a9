/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SRD and UD queue pairs of an EFA, and what tests do with them. Every function here ends the test when something fails. */
#ifndef TESTS_C_SRD_H
#define TESTS_C_SRD_H

#include "common.h"

/* What differs from the usual. All zero: the usual. */
struct srd_setup {
    const char *device; /* test_device() */
    uint64_t size;      /* bytes of memory: 64 KiB */
    int32_t qp_type;    /* VBN_QPT_SRD */
    uint32_t send_wr, recv_wr, send_sge, recv_sge, inline_data;
    uint32_t cqe; /* 256 */
    uint64_t send_ops;
    uint64_t fields; /* of the completion queue; 0: a plain one */
    uint64_t flags;
    uint8_t sq_sig_all;
    uint8_t sl;
    uint8_t with_channel;
    uint8_t no_prepare; /* left in RESET */
    uint8_t set_rnr_retry, rnr_retry;
};

/* A queue pair that is up, with a device handle and memory of its own. */
struct srd_side {
    vbn_context *context;
    vbn_pd *pd;
    vbn_channel *channel;
    vbn_cq *cq;
    vbn_qp *qp;
    vbn_mr *mr;
    uint8_t *memory;
    uint64_t size;
    uint32_t qkey;
    uint64_t caps; /* VBN_EFA_CAP_* */
    vbn_endpoint endpoint; /* its own; zero with no_prepare */
};

/* Skips on a device that is no EFA. */
void srd_open(struct srd_side *side, const struct srd_setup *setup);
void srd_close(struct srd_side *side);
/* Another queue pair on the same objects, up, with the same QKEY. */
vbn_qp *srd_another_qp(const struct srd_side *side, const struct srd_setup *setup);
vbn_status srd_create_qp(const struct srd_side *side, const struct srd_setup *setup, vbn_qp **out);
vbn_status srd_prepare(vbn_qp *qp, uint32_t qkey);
vbn_endpoint srd_endpoint(const vbn_qp *qp);

/* A peer in the side's PD: another side's queue pair, a queue pair, or the side's own. */
vbn_peer *srd_peer(const struct srd_side *from, const struct srd_side *to);
vbn_peer *srd_peer_of(const struct srd_side *from, const vbn_qp *to);
vbn_peer *srd_self(const struct srd_side *side);

/* Skips a device that this libefa leaves out without a word, as it does not know the PCI id; that of softnic's newest profile came with rdma-core 53. */
void need_known(const char *device);
/* Skip the test where device or libefa lack it, with the library's own reason. To be called before anything is open. */
void need_efa(const char *device);
void need_read(void);
/* The profile is p3dn, whose device has no completion notifications. */
int srd_no_notifications(void);
void need_write(void);
void need_unsolicited(void);
/* VBN_EFA_CAP_* of the test device. */
uint64_t srd_caps(const char *device);
/* The second device, VBN_TEST_DEVICE2; skips without one. */
const char *need_second(void);

/* Requests on a side's own memory; `peer_memory` is whose memory a one-sided one aims at. */
vbn_send_wr srd_wr(const struct srd_side *side, vbn_peer *peer, uint32_t opcode, uint64_t wr_id, uint64_t offset, uint32_t length);
vbn_send_wr srd_wr_at(const struct srd_side *side, vbn_peer *peer, const struct srd_side *peer_memory, uint32_t opcode, uint64_t wr_id,
                      uint64_t offset, uint64_t remote_offset, uint32_t length);
void srd_post(struct srd_side *side, const vbn_send_wr *wr);
/* Refused before anything is posted: with this status, at this index, and with a message that has this part. */
void srd_refused(vbn_qp *qp, const vbn_send_wr *wrs, uint32_t n, vbn_status status, uint32_t index, const char *part);
void srd_recv(struct srd_side *side, uint64_t wr_id, uint64_t offset, uint32_t length);

/* Exactly so many completions come, in whatever order; they are returned in the order of their wr_ids. */
void srd_wait(struct srd_side *side, uint32_t count, vbn_wc *wcs);
void srd_wait_ext(struct srd_side *side, uint32_t count, vbn_wc_ext *wcs);
/* The next one, which must have succeeded and be of this request; or failed with this vendor code. */
vbn_wc srd_ok(struct srd_side *side, uint64_t wr_id);
vbn_wc srd_failed(struct srd_side *side, uint64_t wr_id, uint32_t vendor_err);
/* vbn_wc_check tells of a failed completion, and vbn_explain's text has this part. */
void srd_explained(const vbn_wc *wc, const char *part);
/* A post and its success. */
void srd_run(struct srd_side *side, const vbn_send_wr *wr);
void srd_no_wc(struct srd_side *side);
/* Takes whatever is there and returns how many. */
uint32_t srd_drain(struct srd_side *side);
/* A message from `from` to `to` arrives, as a sign of life. `peer` is `to` as seen from `from`. Both queues must be empty. */
void srd_alive(struct srd_side *from, struct srd_side *to, vbn_peer *peer);

/*
 * Runs a test of `tests` by name in a softnic run of its own, whose fault file has `rules`. The program calls srd_main, and
 * VBN_TEST_SOFTNIC names the runner (else the test skips); VBN_TEST_PROFILE is the device's profile.
 */
void under_faults(const char *rules, const char *name);
/* The same without faults, with a trace, which it returns; to be freed. */
char *under_trace(const char *name);
/* test_main for programs that use these two: `inner` are the tests that run so. */
int srd_main(const char *program, const struct test *tests, const struct test *inner, int argc, char **argv);

#endif
