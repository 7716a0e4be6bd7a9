// SPDX-License-Identifier: MIT OR Apache-2.0

use super::super::cold::Cold;
use super::super::text::until_zero;
use super::*;

const STATUSES: std::ops::RangeInclusive<i32> = VBN_WC_LOC_LEN_ERR..=VBN_WC_TM_RNDV_INCOMPLETE;

fn blank() -> vbn_explain_attr {
    vbn_explain_attr::zeroed()
}

fn efa(vendor_err: u32, status: i32) -> vbn_explain_attr {
    vbn_explain_attr { driver: VBN_DRIVER_EFA, vendor_err, status, ..blank() }
}

fn text(attr: &vbn_explain_attr) -> String {
    let mut buffer = [0xff; VBN_EXPLAIN_TEXT_SIZE];
    let needed = explain(attr, None, &mut buffer).unwrap();
    let text = String::from_utf8(until_zero(&buffer).to_vec()).unwrap();
    assert_eq!(text.len() + 1, needed, "{text}");
    assert!(text.is_ascii() && text.ends_with('\n') && !text.contains("  \n") && !text.contains("   "), "{text}");
    text
}

fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
}

#[test]
fn every_efa_code_has_cause_and_remedy() {
    let codes: Vec<u32> = efa::CODES.iter().map(|code| code.code).collect();
    assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 18]);
    assert_eq!(efa::LAST, 18);
    for code in &efa::CODES[1..] {
        let text = text(&efa(code.code, code.status));
        has(&text, &[&format!("vendor code {} ({})", code.code, code.name), status_name(code.status), code.says]);
        has(&text, &["Likely causes, and what to do:\n- ", "\n  -> "]);
        assert!(!text.contains("doesn't go with"), "{text}");
        assert!(code.cases.iter().all(|case| case.cause.len() > 20 && case.remedy.len() > 15 && case.ops != 0));
    }
    has(&text(&efa(0, VBN_WC_SUCCESS)), &["succeeded", "not that a kernel running on its GPU sees them"]);
}

#[test]
fn the_efa_table_says_what_libibverbs_makes_of_each_code() {
    let expected = [
        (1, VBN_WC_WR_FLUSH_ERR, 0),
        (2, VBN_WC_LOC_QP_OP_ERR, 0),
        (3, VBN_WC_LOC_QP_OP_ERR, 0),
        (4, VBN_WC_LOC_QP_OP_ERR, 0),
        (5, VBN_WC_LOC_PROT_ERR, 0),
        (6, VBN_WC_LOC_LEN_ERR, 0),
        (7, VBN_WC_REM_ACCESS_ERR, 52),
        (8, VBN_WC_REM_ABORT_ERR, 0),
        (9, VBN_WC_REM_INV_RD_REQ_ERR, 0),
        (10, VBN_WC_RNR_RETRY_EXC_ERR, 0),
        (11, VBN_WC_REM_INV_REQ_ERR, 0),
        (12, VBN_WC_BAD_RESP_ERR, 0),
        (13, VBN_WC_RESP_TIMEOUT_ERR, 40),
        (14, VBN_WC_REM_OP_ERR, 52),
        (15, VBN_WC_RESP_TIMEOUT_ERR, 55),
        (18, VBN_WC_REM_INV_REQ_ERR, 62),
    ];
    let table: Vec<_> = efa::CODES[1..].iter().map(|code| (code.code, code.status, code.since)).collect();
    assert_eq!(table, expected);
}

#[test]
fn the_code_counts_whatever_the_release_makes_of_it() {
    for (code, since) in [(7, 52), (13, 40), (14, 52), (15, 55), (18, 62)] {
        let status = efa::CODES.iter().find(|known| known.code == code).unwrap().status;
        let new = text(&efa(code, status));
        assert_eq!(new, text(&efa(code, VBN_WC_GENERAL_ERR)), "an older rdma-core's status changes nothing");
        assert_eq!(new, text(&efa(code, VBN_WC_SUCCESS)), "nor does one that isn't known");
        has(&new, &[&format!("before rdma-core {since} the status is VBN_WC_GENERAL_ERR")]);
    }
    has(&text(&efa(15, VBN_WC_LOC_LEN_ERR)), &["UNREACH_REMOTE", "LOC_LEN_ERR (1), which doesn't go with this code"]);
    has(&text(&efa(6, VBN_WC_GENERAL_ERR)), &["BAD_LENGTH", "doesn't go with"]);
}

#[test]
fn what_keeps_peers_apart_is_listed() {
    let words =
        ["security group", "subnet", "Availability Zone", "(AZ)", "secondary CIDR", "from and to the group itself"];
    for attr in [efa(15, VBN_WC_RESP_TIMEOUT_ERR), efa(0, VBN_EXPLAIN_SILENCE), efa(0, VBN_WC_RESP_TIMEOUT_ERR)] {
        has(&text(&attr), &words);
    }
    has(&text(&efa(0, VBN_EXPLAIN_SILENCE)), &["no completion has come", "rnr_retry is 7", "hw_counters"]);
    has(&text(&efa(14, VBN_WC_REM_OP_ERR)), &["Exchange records both ways", "vbn_peer_from_endpoint"]);
    assert!(
        !text(&efa(13, VBN_WC_RESP_TIMEOUT_ERR)).contains("secondary CIDR"),
        "who has answered before was in reach"
    );
}

#[test]
fn without_a_code_all_that_a_status_may_stand_for_is_told() {
    has(
        &text(&efa(0, VBN_WC_RESP_TIMEOUT_ERR)),
        &["Several of", "Vendor code 13 (UNRESP_REMOTE)", "Vendor code 15 (UNREACH_REMOTE)"],
    );
    has(&text(&efa(0, VBN_WC_REM_INV_REQ_ERR)), &["Vendor code 11 (BAD_LENGTH)", "Vendor code 18 (FEATURE_MISMATCH)"]);
    let one = text(&efa(0, VBN_WC_REM_OP_ERR));
    has(&one, &["Vendor code 14 (UNKNOWN_PEER)"]);
    assert!(!one.contains("Several of"), "{one}");
    has(&text(&efa(0, VBN_WC_MW_BIND_ERR)), &["No code of an EFA's", "only the vendor code"]);
    let old = ["BAD_ADDRESS", "UNRESP_REMOTE", "UNKNOWN_PEER", "UNREACH_REMOTE", "FEATURE_MISMATCH", "ecurity group"];
    has(&text(&efa(0, VBN_WC_GENERAL_ERR)), &old);
}

#[test]
fn unknown_codes_are_called_unknown() {
    for code in [16, 17, 19, 255, u32::MAX] {
        has(
            &text(&efa(code, VBN_WC_GENERAL_ERR)),
            &[&format!("vendor code {code}"), "isn't known to this version", "-> "],
        );
    }
    for status in [-1, 24, 99, i32::MIN, i32::MAX] {
        for driver in [VBN_DRIVER_UNKNOWN, VBN_DRIVER_EFA, VBN_DRIVER_MLX5, VBN_DRIVER_RXE, -5, 9999] {
            let text = text(&vbn_explain_attr { driver, status, ..blank() });
            has(&text, &["VBN_WC_unknown", &status.to_string(), "doesn't know the status"]);
        }
    }
    let other = vbn_explain_attr { status: VBN_WC_REM_ACCESS_ERR, vendor_err: 136, ..blank() };
    has(&text(&other), &["136 (0x88)", "no table"]);
    has(&text(&vbn_explain_attr { driver: VBN_DRIVER_MLX5, vendor_err: 77, ..other }), &["77 (0x4d) isn't known"]);
}

#[test]
fn every_status_has_cause_and_remedy_on_every_driver() {
    for status in STATUSES {
        assert_ne!(fact(status).status, -1, "status {status} has no entry");
        for driver in [VBN_DRIVER_UNKNOWN, VBN_DRIVER_EFA, VBN_DRIVER_MLX5, VBN_DRIVER_RXE] {
            has(
                &text(&vbn_explain_attr { driver, status, ..blank() }),
                &["failed: VBN_WC_", status_name(status), "\n- ", "\n  -> "],
            );
        }
        let (what, hint) = brief(status);
        assert!(!what.is_empty() && !hint.is_empty());
    }
    for (i, fact) in verbs::FACTS.iter().enumerate() {
        assert_eq!(fact.status, i as i32, "each once, and in order");
    }
}

#[test]
fn drivers_have_their_own() {
    let retry =
        |driver, vendor_err| text(&vbn_explain_attr { driver, status: VBN_WC_RETRY_EXC_ERR, vendor_err, ..blank() });
    has(
        &retry(VBN_DRIVER_MLX5, 129),
        &["mlx5: ", "RETRY_EXC_ERR (12)", "129 (0x81)", "NCCL issue 426", "vbn_context_gid_table"],
    );
    has(&retry(VBN_DRIVER_RXE, 0), &["soft-RoCE: ", "rdma link"]);
    let silent = |driver| text(&vbn_explain_attr { driver, status: VBN_EXPLAIN_SILENCE, ..blank() });
    has(&silent(VBN_DRIVER_RXE), &["retry_cnt is 7", "isn't signaled"]);
    assert!(!silent(VBN_DRIVER_UNKNOWN).contains("retry_cnt"));
    assert!(!silent(VBN_DRIVER_EFA).contains("isn't signaled"), "an EFA's queue pair has no such requests");
}

#[test]
fn drivers_are_known_by_name() {
    let named = |name: &str| {
        let mut buffer = [0; VBN_EXPLAIN_TEXT_SIZE];
        let attr = vbn_explain_attr { vendor_err: 15, status: VBN_WC_GENERAL_ERR, ..blank() };
        explain(&attr, Some(name.as_bytes()), &mut buffer).unwrap();
        String::from_utf8(until_zero(&buffer).to_vec()).unwrap()
    };
    for (name, begins) in [
        ("efa", "efa: "),
        ("efa_0", "efa: "),
        ("mlx5_core", "mlx5: "),
        ("rdma_rxe", "soft-RoCE: "),
        ("rxe", "soft-RoCE: "),
    ] {
        assert!(named(name).starts_with(begins), "{name}: {}", named(name));
    }
    assert!(named("bnxt_re").starts_with("bnxt_re: a request failed: VBN_WC_GENERAL_ERR (21)"));
    has(&named("efa"), &["UNREACH_REMOTE"]);
    has(&named(&"x".repeat(100_000)), &[&format!("{}: a request", "x".repeat(63))]);
}

#[test]
fn what_cannot_apply_to_the_operation_is_left_out() {
    let of =
        |code, opcode| text(&vbn_explain_attr { set: VBN_EXPLAIN_SET_OPCODE, opcode, ..efa(code, VBN_WC_SUCCESS) });
    let (send, read) = (of(6, VBN_WR_SEND), of(6, VBN_WR_RDMA_READ));
    assert!(send.contains("max_msg_sz") && !send.contains("max_rdma_size"), "{send}");
    assert!(!read.contains("max_msg_sz") && read.contains("max_rdma_size"), "{read}");
    has(&of(7, VBN_WR_RDMA_WRITE), &["a request (RDMA_WRITE) failed", "VBN_ACCESS_REMOTE_WRITE"]);
    assert!(!of(7, VBN_WR_RDMA_WRITE).contains("VBN_ACCESS_REMOTE_READ"));
    has(&of(5, VBN_WC_RECV as u32), &["a receive failed", "VBN_ACCESS_LOCAL_WRITE"]);
    has(&of(6, 77), &["a request with opcode 77", "max_msg_sz", "max_rdma_size"]);
    // Something is told even of an operation that none is known for.
    has(&of(6, 5), &["max_msg_sz", "max_rdma_size"]);
    assert!(text(&efa(7, 0)).contains("VBN_ACCESS_REMOTE_READ"), "opcode 0 without its bit is none");
}

#[test]
fn peers_are_named() {
    let mut attr = vbn_explain_attr { qp_num: 17, peer_qp_num: 5, ..efa(15, 0) };
    has(&text(&attr), &["efa: a request of queue pair 17 to queue pair 5 failed"]);
    attr.peer_gid[..2].copy_from_slice(&[0xfe, 0x80]);
    attr.peer_gid[15] = 9;
    has(&text(&attr), &["to queue pair 5 at fe80::9 failed"]);
    assert!(!text(&attr).contains("another device?"));
    attr.peer_gid[0] = 0x20;
    has(&text(&attr), &["an EFA's GID begins with fe80::, and 2080::9 doesn't"]);
    attr = vbn_explain_attr { driver: VBN_DRIVER_MLX5, status: VBN_WC_RETRY_EXC_ERR, ..attr };
    assert!(!text(&attr).contains("link-local"));
    attr.peer_gid[0] = 0xfe;
    has(&text(&attr), &["fe80::9 is link-local"]);
}

#[test]
fn a_cut_text_is_a_beginning_and_the_room_it_needs_is_told() {
    let attr = efa(15, 0);
    let whole = text(&attr);
    for size in [0, 1, 2, 10, 500, whole.len(), whole.len() + 1, whole.len() + 2] {
        let mut buffer = vec![0xff; size];
        assert_eq!(explain(&attr, None, &mut buffer).unwrap(), whole.len() + 1);
        let shown = until_zero(&buffer);
        assert_eq!(shown.len(), whole.len().min(size.saturating_sub(1)));
        assert_eq!(shown, &whole.as_bytes()[..shown.len()]);
    }
    assert_eq!(explain(&vbn_explain_attr { set: 2, ..attr }, None, &mut []).unwrap_err().value, 2);
}

fn failed(function: &str, errno: i32) -> Failure<'_> {
    Failure {
        status: super::super::status::of_errno(errno),
        errno,
        vendor_domain: 0,
        vendor_code: 0,
        value: 0,
        limit: 0,
        function: function.as_bytes(),
        message: b"",
    }
}

fn error_text(failure: &Failure<'_>, more: &vbn_explain_attr) -> String {
    let mut buffer = [0xff; VBN_EXPLAIN_TEXT_SIZE];
    let needed = explain_error(failure, more, None, &mut buffer).unwrap();
    let text = String::from_utf8(until_zero(&buffer).to_vec()).unwrap();
    assert_eq!(text.len() + 1, needed, "{text}");
    assert!(text.is_ascii() && text.ends_with('\n') && !text.contains("   "), "{text}");
    text
}

#[test]
fn every_errno_of_a_call_has_cause_and_remedy() {
    let known = |function, errnos: &[i32]| {
        for errno in 1..134 {
            let text = error_text(&failed(function, errno), &blank());
            has(&text, &[&format!("{function} failed: "), &format!("(errno {errno}).\n"), "\n- ", "\n  -> "]);
            assert!(!errnos.contains(&errno) || !text.contains("nothing special"), "{text}");
        }
    };
    known("vbn_qp_modify", &[libc::EINVAL, libc::ETIMEDOUT, libc::ENETUNREACH, libc::ENODATA, libc::ENODEV]);
    known("vbn_mr_reg", &[libc::ENOMEM, libc::EFAULT, libc::EPERM, libc::EINVAL, libc::EOPNOTSUPP]);
    known("vbn_mr_reg_dmabuf", &[libc::EBADF, libc::EINVAL, libc::EOPNOTSUPP]);
    known("vbn_peer_create", &[libc::EINVAL, libc::ETIMEDOUT, libc::ENOMEM]);
    known("vbn_qp_create", &[libc::EINVAL, libc::ENOMEM, libc::EPERM]);
    known("vbn_context_open", &[libc::EACCES, libc::ENOENT, libc::EMFILE]);
    let facts = errno::FACTS.iter().flat_map(|fact| fact.errnos.iter().map(move |errno| (fact.kind, *errno)));
    let facts: Vec<_> = facts.collect();
    for (i, fact) in facts.iter().enumerate() {
        assert!(!facts.iter().skip(i + 1).any(|other| other == fact), "{fact:?} is there twice");
    }
    for fact in errno::FACTS {
        assert!(fact.says.ends_with('.') && !fact.cases.is_empty());
        assert!(fact.cases.iter().all(|case| case.cause.len() > 20 && case.remedy.len() > 15 && case.ops != 0));
    }
    has(&error_text(&failed("vbn_mr_reg", libc::EXDEV), &blank()), &["nothing special", "dmesg"]);
}

#[test]
fn transitions_go_by_their_target() {
    let of = |function, errno| error_text(&failed(function, errno), &blank());
    has(&of("vbn_qp_to_rtr", libc::ETIMEDOUT), &["ARP", "Ping the address", "link-local"]);
    has(&of("vbn_qp_modify", libc::ENETUNREACH), &["looks for a route", "ip route get", "one subnet"]);
    has(&of("vbn_qp_modify", libc::EINVAL), &["path_mtu", "port_num", "UC has other masks"]);
    has(&of("ibv_modify_qp", libc::EINVAL), &["path_mtu", "port_num"]);
    let (init, rtr) = (of("vbn_qp_to_init", libc::EINVAL), of("vbn_qp_to_rtr", libc::EINVAL));
    assert!(init.contains("port_num") && !init.contains("path_mtu"), "{init}");
    assert!(!rtr.contains("port_num") && rtr.contains("path_mtu"), "{rtr}");
    has(&of("vbn_qp_to_init", libc::EPERM), &["CAP_NET_RAW", "vbn_qkey_random"]);
    let mut peer = blank();
    peer.peer_gid[..2].copy_from_slice(&[0xfe, 0x80]);
    has(&error_text(&failed("vbn_qp_to_rtr", libc::ETIMEDOUT), &peer), &["Note: fe80:: is link-local"]);
    peer.driver = VBN_DRIVER_EFA;
    peer.peer_gid[0] = 0x20;
    let ah = error_text(&failed("vbn_ah_create", libc::EINVAL), &peer);
    has(&ah, &["Availability Zone", "is the record of another device?"]);
}

#[test]
fn registrations_tell_sizes_and_limits() {
    let record = Failure { value: 7_654_321, limit: 65536, ..failed("vbn_mr_reg", libc::ENOMEM) };
    let text = error_text(&record, &blank());
    let now = os::memlock_limit().map_or("unlimited".to_owned(), |limit| format!("{limit} bytes"));
    let is_now = format!("In this process RLIMIT_MEMLOCK (ulimit -l) is {now}.\n");
    has(&text, &["has 7654321 bytes", "was 65536 bytes.", &is_now, "pinned now"]);
    has(&text, &["LimitMEMLOCK=infinity", "CAP_IPC_LOCK", "max_map_count"]);
    // For EPERM the record has the device's limit.
    let refused = Failure { value: 4096, limit: 1 << 40, ..failed("vbn_mr_reg", libc::EPERM) };
    let text = error_text(&refused, &blank());
    has(&text, &["has 4096 bytes", "RLIMIT_MEMLOCK is 0", &is_now]);
    assert!(!text.contains("1099511627776"), "{text}");
    let fault = error_text(&failed("vbn_mr_reg", libc::EFAULT), &blank());
    has(&fault, &["/proc/self/maps", "read-only", "vbn_mr_reg_dmabuf"]);
    let dmabuf = error_text(&failed("vbn_mr_reg_dmabuf", libc::EINVAL), &blank());
    assert!(dmabuf.contains("beyond the dma-buf") && !dmabuf.contains("max_mr_size"), "{dmabuf}");
}

#[test]
fn what_no_errno_is_behind_goes_by_its_status() {
    for (status, name, _) in STATUS_TABLE {
        let failure = Failure { status: *status, message: b"vbn_x: something", ..failed("vbn_x", 0) };
        let text = error_text(&failure, &blank());
        assert!(text.starts_with("vbn_x: something\n"), "{text}");
        let advice = text.contains("\n- ") && text.contains("\n  -> ") && !text.contains("alone knows");

        let none = *status == VBN_OK;
        assert_eq!(advice, !none, "{name}: {text}");
    }
    let bare = |status| error_text(&Failure { status, ..failed("", 0) }, &blank());
    assert_eq!(bare(VBN_OK), "a call has not failed.\n");
    has(&bare(VBN_ERR_NO_MEMORY), &["a call failed: out of memory (VBN_ERR_NO_MEMORY)"]);
    has(&bare(-7), &["a call failed with status -7", "\n  -> "]);
}

#[test]
fn a_recorded_completion_is_explained_as_one() {
    let record = Failure {
        vendor_domain: VBN_VENDOR_WC,
        vendor_code: 129,
        value: VBN_WC_RETRY_EXC_ERR as u64,
        message: b"left out",
        ..failed("vbn_wc_check", 0)
    };
    let more = vbn_explain_attr { driver: VBN_DRIVER_MLX5, ..blank() };
    let same = vbn_explain_attr { status: VBN_WC_RETRY_EXC_ERR, vendor_err: 129, ..more };
    assert_eq!(error_text(&record, &more), text(&same));
}

#[test]
fn the_longest_text_of_a_call_fits() {
    let functions = ["vbn_qp_modify", "vbn_mr_reg", "vbn_mr_reg_dmabuf", "vbn_ah_create", "vbn_qp_create", "x"];
    let (message, mut longest) = ([b'm'; 1024], 0);
    let more = vbn_explain_attr { peer_gid: [0xfe; 16], ..blank() };
    for errno in errno::FACTS.iter().flat_map(|fact| fact.errnos) {
        for function in functions {
            let record =
                Failure { message: &message, value: u64::MAX, limit: u64::MAX - 1, ..failed(function, *errno) };
            longest = longest.max(explain_error(&record, &more, None, &mut []).unwrap());
        }
    }
    assert!((2000..=VBN_EXPLAIN_TEXT_SIZE).contains(&longest), "{longest}");
    assert!(explain_error(&failed("x", 1), &vbn_explain_attr { set: 4, ..blank() }, None, &mut []).is_err());
}

#[test]
fn every_text_fits() {
    let mut longest = 0;
    for driver in [VBN_DRIVER_UNKNOWN, VBN_DRIVER_EFA, VBN_DRIVER_MLX5, VBN_DRIVER_RXE] {
        for status in STATUSES.chain([VBN_EXPLAIN_SILENCE, VBN_WC_SUCCESS, 99]) {
            for vendor_err in (0..=256).chain([u32::MAX]) {
                let attr = vbn_explain_attr {
                    driver,
                    status,
                    vendor_err,
                    set: VBN_EXPLAIN_SET_OPCODE,
                    opcode: u32::MAX,
                    qp_num: u32::MAX,
                    peer_qp_num: u32::MAX,
                    peer_gid: [0xab; 16],
                    ..blank()
                };
                let mut buffer = [];
                longest = longest.max(explain(&attr, None, &mut buffer).unwrap());
            }
        }
    }
    assert!((2000..=VBN_EXPLAIN_TEXT_SIZE).contains(&longest), "{longest}");
}

#[test]
fn a_gpus_failure_is_not_blamed_on_rdma_core() {
    use crate::core::status::*;
    for status in
        [VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER, VBN_ERR_NOT_SUPPORTED, VBN_ERR_NOT_FOUND]
    {
        let of_gpu = Failure { status, ..failed("vbn_gpu_dmabuf_export", 0) };
        let text = error_text(&of_gpu, &blank());
        assert!(text.contains("GPU") && !text.contains("rdma-core"), "{text}");
        let by_domain = Failure { vendor_domain: VBN_VENDOR_CUDA, ..Failure { status, ..failed("vbn_mr_reg", 0) } };
        assert!(error_text(&by_domain, &blank()).contains("GPU"));
        assert!(!error_text(&Failure { status, ..failed("vbn_mr_reg", 0) }, &blank()).contains("GPU"));
    }
    // What has nothing of its own is as everywhere.
    let text = error_text(&Failure { status: VBN_ERR_ARGUMENT, ..failed("vbn_gpu_dmabuf_export", 0) }, &blank());
    assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), {
        let other = error_text(&Failure { status: VBN_ERR_ARGUMENT, ..failed("vbn_mr_reg", 0) }, &blank());
        other.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    });
}
