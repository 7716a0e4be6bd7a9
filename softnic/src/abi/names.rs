// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of everything a caller may ask for, also of what softnic does not have: a refusal must say what was refused.

/// Object numbers of `enum uverbs_default_objects` that softnic knows.
pub mod object {
    pub const DEVICE: u16 = 0;
    pub const PD: u16 = 1;
    pub const COMP_CHANNEL: u16 = 2;
    pub const CQ: u16 = 3;
    pub const QP: u16 = 4;
    pub const SRQ: u16 = 5;
    pub const AH: u16 = 6;
    pub const MR: u16 = 7;
    pub const XRCD: u16 = 10;
    pub const RWQ_IND_TBL: u16 = 11;
    pub const ASYNC_EVENT: u16 = 16;
}

/// Driver methods and attributes begin here.
pub const DRIVER_NS: u16 = 0x1000;
/// Set in the number of an extended write command.
pub const EX: u32 = 0x8000_0000;

const OBJECTS: [(&str, &[&str]); 20] = [
    (
        "DEVICE",
        &[
            "INVOKE_WRITE",
            "INFO_HANDLES",
            "QUERY_PORT",
            "GET_CONTEXT",
            "QUERY_CONTEXT",
            "QUERY_GID_TABLE",
            "QUERY_GID_ENTRY",
            "QUERY_PORT_SPEED",
            "QUERY_COMP_CNTR_CAPS",
        ],
    ),
    ("PD", &["DESTROY"]),
    ("COMP_CHANNEL", &[]),
    ("CQ", &["CREATE", "DESTROY"]),
    ("QP", &["CREATE", "DESTROY", "ATTACH_COMP_CNTR"]),
    ("SRQ", &["CREATE", "DESTROY"]),
    ("AH", &["DESTROY"]),
    ("MR", &["DM_REG", "DESTROY", "ADVISE", "QUERY", "REG_DMABUF", "REG"]),
    ("MW", &["DESTROY"]),
    ("FLOW", &["DESTROY"]),
    ("XRCD", &["DESTROY"]),
    ("RWQ_IND_TBL", &["DESTROY"]),
    ("WQ", &["CREATE", "DESTROY"]),
    ("FLOW_ACTION", &["ESP_CREATE", "DESTROY", "ESP_MODIFY"]),
    ("DM", &["ALLOC", "FREE"]),
    ("COUNTERS", &["CREATE", "DESTROY", "READ"]),
    ("ASYNC_EVENT", &["ALLOC"]),
    ("DMAH", &["ALLOC", "FREE"]),
    ("DMABUF", &["ALLOC"]),
    ("COMP_CNTR", &["CREATE", "DESTROY", "MODIFY", "READ"]),
];

const COMMANDS: [&str; 41] = [
    "get_context",
    "query_device",
    "query_port",
    "alloc_pd",
    "dealloc_pd",
    "create_ah",
    "modify_ah",
    "query_ah",
    "destroy_ah",
    "reg_mr",
    "reg_smr",
    "rereg_mr",
    "query_mr",
    "dereg_mr",
    "alloc_mw",
    "bind_mw",
    "dealloc_mw",
    "create_comp_channel",
    "create_cq",
    "resize_cq",
    "destroy_cq",
    "poll_cq",
    "peek_cq",
    "req_notify_cq",
    "create_qp",
    "query_qp",
    "modify_qp",
    "destroy_qp",
    "post_send",
    "post_recv",
    "attach_mcast",
    "detach_mcast",
    "create_srq",
    "modify_srq",
    "query_srq",
    "destroy_srq",
    "post_srq_recv",
    "open_xrcd",
    "close_xrcd",
    "create_xsrq",
    "open_qp",
];

const EX_COMMANDS: [&str; 8] = [
    "create_flow",
    "destroy_flow",
    "create_wq",
    "modify_wq",
    "destroy_wq",
    "create_rwq_ind_tbl",
    "destroy_rwq_ind_tbl",
    "modify_cq",
];

/// Methods that rdma-core up to 65 calls without knowing whether there is such a thing, because it has another way or only asks; softnic
/// has not got them and need not say so.
const PROBES: &[(u16, u16)] = &[
    // ibv_query_comp_cntr_caps: whether the device has completion counters.
    (object::DEVICE, 8),
    // REG: ibv_reg_mr_ex; the write command reg_mr is tried next.
    (object::MR, 5),
];

pub fn is_probe(object: u16, method: u16) -> bool {
    PROBES.contains(&(object, method))
}

/// `OBJECT.METHOD`, with numbers where there is no name.
pub fn method(object: u16, method: u16) -> String {
    let Some((object_name, methods)) = OBJECTS.get(usize::from(object)) else {
        return format!("object {object:#x} method {method:#x}");
    };
    match methods.get(usize::from(method)) {
        Some(name) => format!("{object_name}.{name}"),
        None => format!("{object_name}.method {method:#x}"),
    }
}

/// A write command: `reg_mr`, `ex query_device`, `command 77`.
pub fn command(command: u32) -> String {
    let number = usize::try_from(command & !EX).unwrap_or(usize::MAX);
    let extended = command & EX != 0;
    let name = match number.checked_sub(50) {
        Some(index) if extended => EX_COMMANDS.get(index),
        _ => COMMANDS.get(number),
    };
    match (name, extended) {
        (Some(name), false) => (*name).to_string(),
        (Some(name), true) => format!("ex {name}"),
        (None, _) => format!("command {command:#x}"),
    }
}
