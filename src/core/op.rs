// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions that can fail, numbered. `vbn_error_info.op` is this number; it never changes its meaning.

macro_rules! ops {
    ($($variant:ident = $number:literal $name:literal),* $(,)?) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(i32)]
        pub enum Op { None = 0, $($variant = $number),* }

        impl Op {
            pub const fn name(self) -> &'static str {
                match self { Op::None => "", $(Op::$variant => $name),* }
            }
            #[cfg(test)]
            pub const ALL: &[Op] = &[$(Op::$variant),*];
        }
    };
}

ops! {
    LastError = 1 "vbn_last_error",
    LibraryInit = 2 "vbn_library_init",
    LibraryQuery = 3 "vbn_library_query",
    LibraryMissing = 4 "vbn_library_missing",
    ForkInit = 5 "vbn_fork_init",

    DeviceList = 20 "vbn_device_list",
    DeviceListReason = 21 "vbn_device_list_reason",

    ContextOpen = 30 "vbn_context_open",
    ContextClose = 31 "vbn_context_close",
    ContextQuery = 32 "vbn_context_query",
    ContextQueryDevice = 33 "vbn_context_query_device",
    ContextQueryPort = 34 "vbn_context_query_port",
    ContextQueryGid = 35 "vbn_context_query_gid",
    ContextGidTable = 36 "vbn_context_gid_table",
    ContextQueryPkey = 37 "vbn_context_query_pkey",
    ContextGetAsyncEvent = 38 "vbn_context_get_async_event",
    ContextLive = 39 "vbn_context_live",
    ContextNative = 40 "vbn_context_native",
    ContextRelease = 41 "vbn_context_release",
    ContextAdopt = 42 "vbn_context_adopt",
    GidSelect = 43 "vbn_gid_select",

    PdAlloc = 60 "vbn_pd_alloc",
    PdClose = 61 "vbn_pd_close",
    PdQuery = 62 "vbn_pd_query",
    PdNative = 63 "vbn_pd_native",
    PdRelease = 64 "vbn_pd_release",
    PdAdopt = 65 "vbn_pd_adopt",

    MrReg = 80 "vbn_mr_reg",
    MrRegDmabuf = 81 "vbn_mr_reg_dmabuf",
    MrClose = 82 "vbn_mr_close",
    MrQuery = 83 "vbn_mr_query",
    MrSegments = 84 "vbn_mr_segments",
    MrNative = 85 "vbn_mr_native",
    MrRelease = 86 "vbn_mr_release",
    MrAdopt = 87 "vbn_mr_adopt",

    ChannelCreate = 100 "vbn_channel_create",
    ChannelClose = 101 "vbn_channel_close",
    ChannelQuery = 102 "vbn_channel_query",
    ChannelGetEvent = 103 "vbn_channel_get_event",
    ChannelNative = 104 "vbn_channel_native",
    ChannelRelease = 105 "vbn_channel_release",
    ChannelAdopt = 106 "vbn_channel_adopt",

    CqCreate = 120 "vbn_cq_create",
    CqClose = 121 "vbn_cq_close",
    CqQuery = 122 "vbn_cq_query",
    CqArm = 123 "vbn_cq_arm",
    CqPoll = 124 "vbn_cq_poll",
    CqWait = 125 "vbn_cq_wait",
    CqNative = 126 "vbn_cq_native",
    CqRelease = 127 "vbn_cq_release",
    CqAdopt = 128 "vbn_cq_adopt",
    WcCheck = 129 "vbn_wc_check",

    QpCreate = 140 "vbn_qp_create",
    QpClose = 141 "vbn_qp_close",
    QpQuery = 142 "vbn_qp_query",
    QpModify = 143 "vbn_qp_modify",
    QpToInit = 144 "vbn_qp_to_init",
    QpToRtr = 145 "vbn_qp_to_rtr",
    QpToRts = 146 "vbn_qp_to_rts",
    QpPostSend = 147 "vbn_qp_post_send",
    QpPostRecv = 148 "vbn_qp_post_recv",
    QpFirstError = 149 "vbn_qp_first_error",
    QpConnectRc = 150 "vbn_qp_connect_rc",
    QpNative = 151 "vbn_qp_native",
    QpRelease = 152 "vbn_qp_release",
    QpAdopt = 153 "vbn_qp_adopt",

    RcRecordLocal = 170 "vbn_rc_record_local",
    RcRecordEncode = 171 "vbn_rc_record_encode",
    RcRecordDecode = 172 "vbn_rc_record_decode",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_the_error_record() {
        for op in Op::ALL {
            assert!(op.name().starts_with("vbn_") && op.name().len() < 48, "{op:?}");
        }
    }
}
