# SPDX-License-Identifier: MIT OR Apache-2.0
"""libverbena for ctypes. Made from include/verbena.h by scripts/gen-ctypes.py; don't edit it.

    import verbena_ctypes as v
    lib = v.load()
    v.check(lib, lib.vbn_context_open(None, None, ctypes.byref(context)))

Names, structs and functions are those of the header, which is the reference. A struct that begins with struct_size gets
it by itself. Handles are typed pointers: `qp = POINTER(vbn_qp)()`, and byref(qp) where C wants a vbn_qp **.

A call made through ctypes gives up the interpreter's lock meanwhile. What the device reads or writes later (the memory of
a region) must be kept alive by the caller; requests, segments and completions are only read or written during the call."""
import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t
from ctypes import c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

__all__ = ["load", "check", "VerbenaError"]  # and everything named vbn_ or VBN_, see the end


class _Sized(Structure):
    """A struct that begins with its own size."""

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(type(self)), **fields)

VBN_VERSION_MAJOR = 0
VBN_VERSION_MINOR = 1
VBN_VERSION_PATCH = 0
VBN_VERSION = 256
VBN_ADOPT_BORROW = 0
VBN_ADOPT_OWN = 1
VBN_ADOPT_CUSTOM = 2
VBN_ADOPT_SET_IOVA = 1
VBN_INDEX_NONE = 18446744073709551615
VBN_VENDOR_NONE = 0
VBN_VENDOR_WC = 1
VBN_NAME_SIZE = 64
VBN_PORT_NOP = 0
VBN_PORT_DOWN = 1
VBN_PORT_INIT = 2
VBN_PORT_ARMED = 3
VBN_PORT_ACTIVE = 4
VBN_PORT_ACTIVE_DEFER = 5
VBN_LINK_LAYER_UNSPECIFIED = 0
VBN_LINK_LAYER_INFINIBAND = 1
VBN_LINK_LAYER_ETHERNET = 2
VBN_PORT_VALID_CAP_FLAGS2 = 1
VBN_PORT_VALID_SPEED_EX = 2
VBN_PORT_VALID_SPEED = 4
VBN_NODE_UNKNOWN = -1
VBN_NODE_CA = 1
VBN_NODE_SWITCH = 2
VBN_NODE_ROUTER = 3
VBN_NODE_RNIC = 4
VBN_NODE_USNIC = 5
VBN_NODE_USNIC_UDP = 6
VBN_NODE_UNSPECIFIED = 7
VBN_TRANSPORT_UNKNOWN = -1
VBN_TRANSPORT_IB = 0
VBN_TRANSPORT_IWARP = 1
VBN_TRANSPORT_USNIC = 2
VBN_TRANSPORT_USNIC_UDP = 3
VBN_TRANSPORT_UNSPECIFIED = 4
VBN_REASON_NONE = 0
VBN_REASON_CANNOT_OPEN = 1
VBN_REASON_LIBRARY_MISSING = 2
VBN_REASON_LIBRARY_UNUSABLE = 3
VBN_REASON_NO_MODULE = 4
VBN_REASON_NO_DEVICE = 5
VBN_REASON_NO_NODE = 6
VBN_REASON_NOT_PERMITTED = 7
VBN_REASON_NO_PROVIDER = 8
VBN_REASON_LIST_FAILED = 9
VBN_ELEMENT_NONE = 0
VBN_ELEMENT_CQ = 1
VBN_ELEMENT_QP = 2
VBN_ELEMENT_SRQ = 3
VBN_ELEMENT_WQ = 4
VBN_ELEMENT_PORT = 5
VBN_ELEMENT_DEVICE = 6
VBN_EVENT_CQ_ERR = 0
VBN_EVENT_QP_FATAL = 1
VBN_EVENT_QP_REQ_ERR = 2
VBN_EVENT_QP_ACCESS_ERR = 3
VBN_EVENT_COMM_EST = 4
VBN_EVENT_SQ_DRAINED = 5
VBN_EVENT_PATH_MIG = 6
VBN_EVENT_PATH_MIG_ERR = 7
VBN_EVENT_DEVICE_FATAL = 8
VBN_EVENT_PORT_ACTIVE = 9
VBN_EVENT_PORT_ERR = 10
VBN_EVENT_LID_CHANGE = 11
VBN_EVENT_PKEY_CHANGE = 12
VBN_EVENT_SM_CHANGE = 13
VBN_EVENT_SRQ_ERR = 14
VBN_EVENT_SRQ_LIMIT_REACHED = 15
VBN_EVENT_QP_LAST_WQE_REACHED = 16
VBN_EVENT_CLIENT_REREGISTER = 17
VBN_EVENT_GID_CHANGE = 18
VBN_EVENT_WQ_FATAL = 19
VBN_EVENT_DEVICE_SPEED_CHANGE = 20
VBN_GID_TYPE_IB = 0
VBN_GID_TYPE_ROCE_V1 = 1
VBN_GID_TYPE_ROCE_V2 = 2
VBN_GID_FAMILY_ANY = 0
VBN_GID_FAMILY_IPV4 = 1
VBN_GID_FAMILY_IPV6 = 2
VBN_GID_SET_INDEX = 1
VBN_GID_SET_TYPE = 2
VBN_GID_CHOSEN = 0
VBN_GID_USABLE = 1
VBN_GID_LAST_RESORT = 2
VBN_GID_ROCE_V1_UNASKED = 3
VBN_GID_OTHER_TYPE = 4
VBN_GID_OTHER_FAMILY = 5
VBN_GID_OTHER_INDEX = 6
VBN_GID_OTHER_NETDEV = 7
VBN_GID_UNUSED = 8
VBN_LIBRARY_IBVERBS = 0
VBN_LIBRARY_FROM_DEFAULT = 0
VBN_LIBRARY_FROM_ENV = 1
VBN_LIBRARY_FROM_PATH = 2
VBN_LIBRARY_FROM_HANDLE = 3
VBN_LIBRARY_FROM_LOOKUP = 4
VBN_FORK_UNKNOWN = -1
VBN_FORK_DISABLED = 0
VBN_FORK_ENABLED = 1
VBN_FORK_UNNEEDED = 2
VBN_ACCESS_LOCAL_WRITE = 1
VBN_ACCESS_REMOTE_WRITE = 2
VBN_ACCESS_REMOTE_READ = 4
VBN_ACCESS_REMOTE_ATOMIC = 8
VBN_ACCESS_MW_BIND = 16
VBN_ACCESS_ZERO_BASED = 32
VBN_ACCESS_ON_DEMAND = 64
VBN_ACCESS_HUGETLB = 128
VBN_ACCESS_FLUSH_GLOBAL = 256
VBN_ACCESS_FLUSH_PERSISTENT = 512
VBN_ACCESS_RELAXED_ORDERING = 1048576
VBN_MR_SET_IOVA = 1
VBN_MR_HOST = 0
VBN_MR_DMABUF = 1
VBN_MR_ADOPTED = 2
VBN_MR_SEGMENT_DEFAULT = 1073741824
VBN_WR_RDMA_WRITE = 0
VBN_WR_RDMA_WRITE_WITH_IMM = 1
VBN_WR_SEND = 2
VBN_WR_SEND_WITH_IMM = 3
VBN_WR_RDMA_READ = 4
VBN_SEND_FENCE = 1
VBN_SEND_SIGNALED = 2
VBN_SEND_SOLICITED = 4
VBN_SEND_INLINE = 8
VBN_QPT_RC = 2
VBN_QPT_UC = 3
VBN_QPT_UD = 4
VBN_QPT_RAW_PACKET = 8
VBN_QPT_XRC_SEND = 9
VBN_QPT_XRC_RECV = 10
VBN_QPT_DRIVER = 255
VBN_QP_OP_RDMA_WRITE = 1
VBN_QP_OP_RDMA_WRITE_WITH_IMM = 2
VBN_QP_OP_SEND = 4
VBN_QP_OP_SEND_WITH_IMM = 8
VBN_QP_OP_RDMA_READ = 16
VBN_QP_INIT_SET_MAX_SEND_WR = 1
VBN_QP_INIT_SET_MAX_RECV_WR = 2
VBN_QP_INIT_SET_MAX_RECV_SGE = 4
VBN_QPS_RESET = 0
VBN_QPS_INIT = 1
VBN_QPS_RTR = 2
VBN_QPS_RTS = 3
VBN_QPS_SQD = 4
VBN_QPS_SQE = 5
VBN_QPS_ERR = 6
VBN_MTU_256 = 1
VBN_MTU_512 = 2
VBN_MTU_1024 = 3
VBN_MTU_2048 = 4
VBN_MTU_4096 = 5
VBN_QP_STATE = 1
VBN_QP_CUR_STATE = 2
VBN_QP_EN_SQD_ASYNC_NOTIFY = 4
VBN_QP_ACCESS_FLAGS = 8
VBN_QP_PKEY_INDEX = 16
VBN_QP_PORT = 32
VBN_QP_QKEY = 64
VBN_QP_AV = 128
VBN_QP_PATH_MTU = 256
VBN_QP_TIMEOUT = 512
VBN_QP_RETRY_CNT = 1024
VBN_QP_RNR_RETRY = 2048
VBN_QP_RQ_PSN = 4096
VBN_QP_MAX_QP_RD_ATOMIC = 8192
VBN_QP_ALT_PATH = 16384
VBN_QP_MIN_RNR_TIMER = 32768
VBN_QP_SQ_PSN = 65536
VBN_QP_MAX_DEST_RD_ATOMIC = 131072
VBN_QP_PATH_MIG_STATE = 262144
VBN_QP_CAP = 524288
VBN_QP_DEST_QPN = 1048576
VBN_QP_RATE_LIMIT = 33554432
VBN_RC_RECORD_SIZE = 28
VBN_RC_SET_PKEY_INDEX = 1
VBN_RC_SET_ACCESS = 2
VBN_RC_SET_PATH_MTU = 4
VBN_RC_SET_SGID_INDEX = 8
VBN_RC_SET_HOP_LIMIT = 16
VBN_RC_SET_IS_GLOBAL = 32
VBN_RC_SET_MIN_RNR_TIMER = 64
VBN_RC_SET_MAX_DEST_RD_ATOMIC = 128
VBN_RC_SET_TIMEOUT = 256
VBN_RC_SET_RETRY_CNT = 512
VBN_RC_SET_RNR_RETRY = 1024
VBN_RC_SET_MAX_RD_ATOMIC = 2048
VBN_RC_SET_PSN = 4096
VBN_WC_SUCCESS = 0
VBN_WC_LOC_LEN_ERR = 1
VBN_WC_LOC_QP_OP_ERR = 2
VBN_WC_LOC_EEC_OP_ERR = 3
VBN_WC_LOC_PROT_ERR = 4
VBN_WC_WR_FLUSH_ERR = 5
VBN_WC_MW_BIND_ERR = 6
VBN_WC_BAD_RESP_ERR = 7
VBN_WC_LOC_ACCESS_ERR = 8
VBN_WC_REM_INV_REQ_ERR = 9
VBN_WC_REM_ACCESS_ERR = 10
VBN_WC_REM_OP_ERR = 11
VBN_WC_RETRY_EXC_ERR = 12
VBN_WC_RNR_RETRY_EXC_ERR = 13
VBN_WC_LOC_RDD_VIOL_ERR = 14
VBN_WC_REM_INV_RD_REQ_ERR = 15
VBN_WC_REM_ABORT_ERR = 16
VBN_WC_INV_EECN_ERR = 17
VBN_WC_INV_EEC_STATE_ERR = 18
VBN_WC_FATAL_ERR = 19
VBN_WC_RESP_TIMEOUT_ERR = 20
VBN_WC_GENERAL_ERR = 21
VBN_WC_TM_ERR = 22
VBN_WC_TM_RNDV_INCOMPLETE = 23
VBN_WC_SEND = 0
VBN_WC_RDMA_WRITE = 1
VBN_WC_RDMA_READ = 2
VBN_WC_COMP_SWAP = 3
VBN_WC_FETCH_ADD = 4
VBN_WC_BIND_MW = 5
VBN_WC_LOCAL_INV = 6
VBN_WC_TSO = 7
VBN_WC_FLUSH = 8
VBN_WC_ATOMIC_WRITE = 9
VBN_WC_RECV = 128
VBN_WC_RECV_RDMA_WITH_IMM = 129
VBN_WC_GRH = 1
VBN_WC_WITH_IMM = 2
VBN_WC_IP_CSUM_OK = 4
VBN_WC_WITH_INV = 8
VBN_OK = 0
VBN_ERR_ARGUMENT = -1001
VBN_ERR_CLOSED = -1002
VBN_ERR_BUSY = -1003
VBN_ERR_QUEUE_FULL = -1004
VBN_ERR_TIMEOUT = -1005
VBN_ERR_NO_MEMORY = -1006
VBN_ERR_NOT_SUPPORTED = -1007
VBN_ERR_LIBRARY_MISSING = -1008
VBN_ERR_SYMBOL_MISSING = -1009
VBN_ERR_DEVICE_GONE = -1010
VBN_ERR_FORKED = -1011
VBN_ERR_TOO_NEW = -1012
VBN_ERR_COMPLETION = -1013
VBN_ERR_UNCERTAIN = -1014
VBN_ERR_DRIVER = -1015
VBN_ERR_INTERNAL = -1016
VBN_ERR_NOT_FOUND = -1017
VBN_ERR_LIMIT = -1018

vbn_status = c_int32


class vbn_channel(Structure):
    pass


class vbn_context(Structure):
    pass


class vbn_cq(Structure):
    pass


class vbn_mr(Structure):
    pass


class vbn_pd(Structure):
    pass


class vbn_peer(Structure):
    pass


class vbn_qp(Structure):
    pass


vbn_destroy_fn = CFUNCTYPE(c_int, c_void_p, c_void_p)
vbn_lookup_fn = CFUNCTYPE(c_void_p, c_char_p, c_char_p, c_void_p)


class vbn_channel_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
    ]


class vbn_channel_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("fd", c_int32),
        ("reserved0", c_uint32),
    ]


class vbn_cq_event(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("kind", c_int32),
        ("number", c_uint32),
        ("known", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_adopt_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("ownership", c_int32),
        ("reserved0", c_uint32),
        ("destroy", vbn_destroy_fn),
        ("destroy_arg", c_void_p),
        ("user_data", c_uint64),
        ("iova", c_uint64),
    ]


class vbn_context_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
    ]


class vbn_context_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("name", c_char * 64),
        ("uverbs_name", c_char * 64),
        ("node_type", c_int32),
        ("transport_type", c_int32),
        ("ownership", c_int32),
        ("num_comp_vectors", c_uint32),
        ("async_fd", c_int32),
        ("fork_state", c_int32),
        ("num_ports", c_uint32),
        ("uverbs_abi_version", c_int32),
        ("extended", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_device_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("fw_ver", c_char * 64),
        ("node_guid", c_uint64),
        ("sys_image_guid", c_uint64),
        ("max_mr_size", c_uint64),
        ("page_size_cap", c_uint64),
        ("vendor_id", c_uint32),
        ("vendor_part_id", c_uint32),
        ("hw_ver", c_uint32),
        ("device_cap_flags", c_uint32),
        ("max_qp", c_int32),
        ("max_qp_wr", c_int32),
        ("max_sge", c_int32),
        ("max_sge_rd", c_int32),
        ("max_cq", c_int32),
        ("max_cqe", c_int32),
        ("max_mr", c_int32),
        ("max_pd", c_int32),
        ("max_qp_rd_atom", c_int32),
        ("max_ee_rd_atom", c_int32),
        ("max_res_rd_atom", c_int32),
        ("max_qp_init_rd_atom", c_int32),
        ("max_ee_init_rd_atom", c_int32),
        ("atomic_cap", c_int32),
        ("max_ee", c_int32),
        ("max_rdd", c_int32),
        ("max_mw", c_int32),
        ("max_raw_ipv6_qp", c_int32),
        ("max_raw_ethy_qp", c_int32),
        ("max_mcast_grp", c_int32),
        ("max_mcast_qp_attach", c_int32),
        ("max_total_mcast_qp_attach", c_int32),
        ("max_ah", c_int32),
        ("max_fmr", c_int32),
        ("max_map_per_fmr", c_int32),
        ("max_srq", c_int32),
        ("max_srq_wr", c_int32),
        ("max_srq_sge", c_int32),
        ("max_pkeys", c_uint16),
        ("local_ca_ack_delay", c_uint8),
        ("phys_port_cnt", c_uint8),
        ("has_extended", c_uint8),
        ("rss_rx_hash_function", c_uint8),
        ("reserved0", c_uint8 * 6),
        ("odp_general_caps", c_uint64),
        ("odp_rc_caps", c_uint32),
        ("odp_uc_caps", c_uint32),
        ("odp_ud_caps", c_uint32),
        ("odp_xrc_caps", c_uint32),
        ("completion_timestamp_mask", c_uint64),
        ("hca_core_clock", c_uint64),
        ("device_cap_flags_ex", c_uint64),
        ("tso_max", c_uint32),
        ("tso_supported_qpts", c_uint32),
        ("rss_rx_hash_fields_mask", c_uint64),
        ("rss_supported_qpts", c_uint32),
        ("rss_max_rwq_indirection_tables", c_uint32),
        ("rss_max_rwq_indirection_table_size", c_uint32),
        ("max_wq_type_rq", c_uint32),
        ("rate_limit_min", c_uint32),
        ("rate_limit_max", c_uint32),
        ("rate_limit_supported_qpts", c_uint32),
        ("raw_packet_caps", c_uint32),
        ("tm_max_rndv_hdr_size", c_uint32),
        ("tm_max_num_tags", c_uint32),
        ("tm_flags", c_uint32),
        ("tm_max_ops", c_uint32),
        ("tm_max_sge", c_uint32),
        ("cq_moderation_max_count", c_uint16),
        ("cq_moderation_max_period", c_uint16),
        ("max_dm_size", c_uint64),
        ("pci_atomic_fetch_add", c_uint16),
        ("pci_atomic_swap", c_uint16),
        ("pci_atomic_compare_swap", c_uint16),
        ("reserved1", c_uint16),
        ("phys_port_cnt_ex", c_uint32),
        ("reserved2", c_uint32),
    ]


class vbn_port_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("valid", c_uint64),
        ("state", c_int32),
        ("max_mtu", c_int32),
        ("active_mtu", c_int32),
        ("link_layer", c_int32),
        ("gid_tbl_len", c_int32),
        ("port_cap_flags", c_uint32),
        ("max_msg_sz", c_uint32),
        ("bad_pkey_cntr", c_uint32),
        ("qkey_viol_cntr", c_uint32),
        ("active_speed_ex", c_uint32),
        ("speed_100mbps", c_uint64),
        ("pkey_tbl_len", c_uint16),
        ("lid", c_uint16),
        ("sm_lid", c_uint16),
        ("port_cap_flags2", c_uint16),
        ("lmc", c_uint8),
        ("max_vl_num", c_uint8),
        ("sm_sl", c_uint8),
        ("subnet_timeout", c_uint8),
        ("init_type_reply", c_uint8),
        ("active_width", c_uint8),
        ("active_speed", c_uint8),
        ("phys_state", c_uint8),
        ("flags", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_gid_entry(Structure):
    _fields_ = [
        ("gid", c_uint8 * 16),
        ("index", c_uint32),
        ("port_num", c_uint32),
        ("type", c_int32),
        ("family", c_int32),
        ("ifindex", c_uint32),
        ("reserved0", c_uint32),
        ("ndev", c_char * 16),
    ]


class vbn_async_event(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("type", c_int32),
        ("kind", c_int32),
        ("user_data", c_uint64),
        ("number", c_uint32),
        ("known", c_uint8),
        ("reserved0", c_uint8 * 3),
    ]


class vbn_live_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("pd_open", c_uint32),
        ("pd_closed", c_uint32),
        ("pd_refused", c_uint32),
        ("mr_open", c_uint32),
        ("channel_open", c_uint32),
        ("channel_closed", c_uint32),
        ("channel_refused", c_uint32),
        ("cq_open", c_uint32),
        ("cq_closed", c_uint32),
        ("cq_refused", c_uint32),
        ("qp_open", c_uint32),
        ("reserved0", c_uint32),
    ]


class vbn_gid_select_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("index", c_uint32),
        ("type", c_int32),
        ("family", c_int32),
        ("reserved0", c_uint32),
        ("ndev", c_char * 16),
    ]


class vbn_gid_choice(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("gid", c_uint8 * 16),
        ("index", c_uint32),
        ("port_num", c_uint32),
        ("type", c_int32),
        ("family", c_int32),
        ("ifindex", c_uint32),
        ("last_resort", c_uint8),
        ("reserved0", c_uint8 * 3),
        ("ndev", c_char * 16),
        ("text", c_char * 96),
    ]


class vbn_gid_verdict(Structure):
    _fields_ = [
        ("gid", c_uint8 * 16),
        ("index", c_uint32),
        ("port_num", c_uint32),
        ("type", c_int32),
        ("family", c_int32),
        ("ifindex", c_uint32),
        ("code", c_int32),
        ("ndev", c_char * 16),
        ("text", c_char * 96),
    ]


class vbn_cq_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("channel", POINTER(vbn_channel)),
        ("cqe", c_uint32),
        ("comp_vector", c_uint32),
    ]


class vbn_cq_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("cqe", c_uint32),
        ("handle", c_uint32),
        ("has_channel", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_wc(Structure):
    _fields_ = [
        ("wr_id", c_uint64),
        ("status", c_int32),
        ("opcode", c_int32),
        ("vendor_err", c_uint32),
        ("byte_len", c_uint32),
        ("imm", c_uint32),
        ("qp_num", c_uint32),
        ("src_qp", c_uint32),
        ("wc_flags", c_uint32),
        ("pkey_index", c_uint16),
        ("slid", c_uint16),
        ("sl", c_uint8),
        ("dlid_path_bits", c_uint8),
        ("reserved0", c_uint16),
    ]


class vbn_device_info(Structure):
    _fields_ = [
        ("name", c_char * 64),
        ("uverbs_name", c_char * 64),
        ("sysfs_path", c_char * 256),
        ("guid", c_uint64),
        ("node_type", c_int32),
        ("transport_type", c_int32),
        ("index", c_uint32),
        ("open_status", c_int32),
        ("open_errno", c_int32),
        ("reserved0", c_uint32),
    ]


class vbn_device_list_reason_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("reason", c_int32),
        ("sys_errno", c_int32),
        ("count", c_uint32),
        ("reserved0", c_uint32),
        ("message", c_char * 512),
    ]


class vbn_error_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("status", c_int32),
        ("sys_errno", c_int32),
        ("op", c_int32),
        ("vendor_domain", c_int32),
        ("vendor_code", c_int64),
        ("index", c_uint64),
        ("value", c_uint64),
        ("limit", c_uint64),
        ("op_name", c_char * 48),
        ("object", c_char * 64),
        ("reserved", c_uint64 * 4),
        ("message", c_char * 1024),
    ]


class vbn_library_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("library", c_int32),
        ("reserved0", c_uint32),
        ("path", c_char_p),
        ("handle", c_void_p),
        ("lookup", vbn_lookup_fn),
        ("lookup_arg", c_void_p),
    ]


class vbn_library_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("library", c_int32),
        ("loaded", c_uint8),
        ("reserved0", c_uint8 * 3),
        ("source", c_int32),
        ("fork_state", c_int32),
        ("release_min", c_uint32),
        ("release_below", c_uint32),
        ("missing_count", c_uint32),
        ("reserved1", c_uint32),
        ("path", c_char * 512),
        ("error", c_char * 512),
    ]


class vbn_symbol_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char * 64),
        ("version", c_char * 32),
        ("since", c_char * 16),
        ("needed_by", c_char * 128),
        ("required", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_mr_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("iova", c_uint64),
        ("owner", c_void_p),
        ("user_data", c_uint64),
    ]


class vbn_mr_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("owner", c_void_p),
        ("memory", c_void_p),
        ("addr", c_uint64),
        ("remote_addr", c_uint64),
        ("length", c_uint64),
        ("access", c_uint64),
        ("lkey", c_uint32),
        ("rkey", c_uint32),
        ("handle", c_uint32),
        ("kind", c_int32),
    ]


class vbn_sge(Structure):
    _fields_ = [
        ("addr", c_uint64),
        ("length", c_uint32),
        ("lkey", c_uint32),
    ]


class vbn_pd_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
    ]


class vbn_pd_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("handle", c_uint32),
        ("reserved0", c_uint32),
    ]


class vbn_qp_init_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("user_data", c_uint64),
        ("send_cq", POINTER(vbn_cq)),
        ("recv_cq", POINTER(vbn_cq)),
        ("qp_type", c_int32),
        ("max_send_wr", c_uint32),
        ("max_recv_wr", c_uint32),
        ("max_send_sge", c_uint32),
        ("max_recv_sge", c_uint32),
        ("max_inline_data", c_uint32),
        ("send_ops", c_uint64),
        ("sq_sig_all", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_path(Structure):
    _fields_ = [
        ("dgid", c_uint8 * 16),
        ("flow_label", c_uint32),
        ("dlid", c_uint16),
        ("sgid_index", c_uint8),
        ("hop_limit", c_uint8),
        ("traffic_class", c_uint8),
        ("is_global", c_uint8),
        ("sl", c_uint8),
        ("src_path_bits", c_uint8),
        ("static_rate", c_uint8),
        ("port_num", c_uint8),
        ("reserved0", c_uint8 * 2),
    ]


class vbn_rc_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("access", c_uint32),
        ("psn", c_uint32),
        ("path_mtu", c_int32),
        ("flow_label", c_uint32),
        ("pkey_index", c_uint16),
        ("port_num", c_uint8),
        ("sgid_index", c_uint8),
        ("hop_limit", c_uint8),
        ("traffic_class", c_uint8),
        ("sl", c_uint8),
        ("src_path_bits", c_uint8),
        ("static_rate", c_uint8),
        ("is_global", c_uint8),
        ("min_rnr_timer", c_uint8),
        ("max_dest_rd_atomic", c_uint8),
        ("timeout", c_uint8),
        ("retry_cnt", c_uint8),
        ("rnr_retry", c_uint8),
        ("max_rd_atomic", c_uint8),
    ]


class vbn_rc_record(Structure):
    _fields_ = [
        ("qp_num", c_uint32),
        ("psn", c_uint32),
        ("lid", c_uint16),
        ("port_num", c_uint8),
        ("mtu", c_uint8),
        ("gid", c_uint8 * 16),
        ("reserved0", c_uint32),
    ]


class vbn_qp_info(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("user_data", c_uint64),
        ("send_ops", c_uint64),
        ("qp_num", c_uint32),
        ("qp_type", c_int32),
        ("qp_state", c_int32),
        ("path_mtu", c_int32),
        ("path_mig_state", c_int32),
        ("qkey", c_uint32),
        ("rq_psn", c_uint32),
        ("sq_psn", c_uint32),
        ("dest_qp_num", c_uint32),
        ("qp_access_flags", c_uint32),
        ("max_send_wr", c_uint32),
        ("max_recv_wr", c_uint32),
        ("max_send_sge", c_uint32),
        ("max_recv_sge", c_uint32),
        ("max_inline_data", c_uint32),
        ("max_message", c_uint32),
        ("rate_limit", c_uint32),
        ("pkey_index", c_uint16),
        ("alt_pkey_index", c_uint16),
        ("path", vbn_path),
        ("alt_path", vbn_path),
        ("sq_sig_all", c_uint8),
        ("sq_draining", c_uint8),
        ("max_rd_atomic", c_uint8),
        ("max_dest_rd_atomic", c_uint8),
        ("min_rnr_timer", c_uint8),
        ("port_num", c_uint8),
        ("timeout", c_uint8),
        ("retry_cnt", c_uint8),
        ("rnr_retry", c_uint8),
        ("alt_timeout", c_uint8),
        ("reserved0", c_uint8 * 6),
    ]


class vbn_qp_attr(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("set", c_uint64),
        ("qp_state", c_int32),
        ("cur_qp_state", c_int32),
        ("path_mtu", c_int32),
        ("path_mig_state", c_int32),
        ("qkey", c_uint32),
        ("rq_psn", c_uint32),
        ("sq_psn", c_uint32),
        ("dest_qp_num", c_uint32),
        ("qp_access_flags", c_uint32),
        ("max_send_wr", c_uint32),
        ("max_recv_wr", c_uint32),
        ("max_send_sge", c_uint32),
        ("max_recv_sge", c_uint32),
        ("max_inline_data", c_uint32),
        ("rate_limit", c_uint32),
        ("pkey_index", c_uint16),
        ("alt_pkey_index", c_uint16),
        ("path", vbn_path),
        ("alt_path", vbn_path),
        ("en_sqd_async_notify", c_uint8),
        ("max_rd_atomic", c_uint8),
        ("max_dest_rd_atomic", c_uint8),
        ("min_rnr_timer", c_uint8),
        ("port_num", c_uint8),
        ("timeout", c_uint8),
        ("retry_cnt", c_uint8),
        ("rnr_retry", c_uint8),
        ("alt_timeout", c_uint8),
        ("reserved0", c_uint8 * 7),
    ]


class vbn_send_wr(Structure):
    _fields_ = [
        ("wr_id", c_uint64),
        ("flags", c_uint64),
        ("opcode", c_uint32),
        ("num_sge", c_uint32),
        ("sg_list", POINTER(vbn_sge)),
        ("sge", vbn_sge),
        ("remote_addr", c_uint64),
        ("rkey", c_uint32),
        ("imm", c_uint32),
        ("peer", POINTER(vbn_peer)),
        ("invalidate_rkey", c_uint32),
        ("remote_srqn", c_uint32),
        ("compare_add", c_uint64),
        ("swap", c_uint64),
        ("ext", c_void_p),
        ("reserved", c_uint64 * 3),
    ]


class vbn_recv_wr(Structure):
    _fields_ = [
        ("wr_id", c_uint64),
        ("flags", c_uint64),
        ("sg_list", POINTER(vbn_sge)),
        ("sge", vbn_sge),
        ("num_sge", c_uint32),
        ("reserved0", c_uint32),
        ("ext", c_void_p),
        ("reserved1", c_uint64),
    ]


_FUNCTIONS = {
    "vbn_channel_create": (vbn_status, [POINTER(vbn_context), POINTER(vbn_channel_attr), POINTER(POINTER(vbn_channel))]),
    "vbn_channel_close": (vbn_status, [POINTER(POINTER(vbn_channel))]),
    "vbn_channel_query": (vbn_status, [POINTER(vbn_channel), POINTER(vbn_channel_info)]),
    "vbn_channel_fd": (c_int32, [POINTER(vbn_channel)]),
    "vbn_channel_get_event": (vbn_status, [POINTER(vbn_channel), c_int64, POINTER(vbn_cq_event)]),
    "vbn_channel_native": (vbn_status, [POINTER(vbn_channel), POINTER(c_void_p)]),
    "vbn_channel_release": (vbn_status, [POINTER(POINTER(vbn_channel)), POINTER(c_void_p)]),
    "vbn_channel_adopt": (vbn_status, [POINTER(vbn_context), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_channel))]),
    "vbn_context_open": (vbn_status, [c_char_p, POINTER(vbn_context_attr), POINTER(POINTER(vbn_context))]),
    "vbn_context_close": (vbn_status, [POINTER(POINTER(vbn_context))]),
    "vbn_context_query": (vbn_status, [POINTER(vbn_context), POINTER(vbn_context_info)]),
    "vbn_context_query_device": (vbn_status, [POINTER(vbn_context), POINTER(vbn_device_attr)]),
    "vbn_context_query_port": (vbn_status, [POINTER(vbn_context), c_uint32, POINTER(vbn_port_attr)]),
    "vbn_context_query_gid": (vbn_status, [POINTER(vbn_context), c_uint32, c_uint32, POINTER(c_uint8)]),
    "vbn_context_gid_table": (vbn_status, [POINTER(vbn_context), POINTER(vbn_gid_entry), c_size_t, c_uint32, POINTER(c_uint32)]),
    "vbn_context_query_pkey": (vbn_status, [POINTER(vbn_context), c_uint32, c_uint32, POINTER(c_uint16)]),
    "vbn_context_get_async_event": (vbn_status, [POINTER(vbn_context), c_int64, POINTER(vbn_async_event)]),
    "vbn_context_live": (vbn_status, [POINTER(vbn_context), POINTER(vbn_live_info)]),
    "vbn_context_native": (vbn_status, [POINTER(vbn_context), POINTER(c_void_p)]),
    "vbn_context_release": (vbn_status, [POINTER(POINTER(vbn_context)), POINTER(c_void_p)]),
    "vbn_context_adopt": (vbn_status, [c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_context))]),
    "vbn_gid_select": (vbn_status, [POINTER(vbn_context), c_uint32, POINTER(vbn_gid_select_attr), POINTER(vbn_gid_choice), POINTER(vbn_gid_verdict), c_size_t, c_uint32, POINTER(c_uint32)]),
    "vbn_cq_create": (vbn_status, [POINTER(vbn_context), POINTER(vbn_cq_attr), POINTER(POINTER(vbn_cq))]),
    "vbn_cq_close": (vbn_status, [POINTER(POINTER(vbn_cq))]),
    "vbn_cq_query": (vbn_status, [POINTER(vbn_cq), POINTER(vbn_cq_info)]),
    "vbn_cq_arm": (vbn_status, [POINTER(vbn_cq), c_uint8]),
    "vbn_cq_poll": (vbn_status, [POINTER(vbn_cq), c_uint32, POINTER(vbn_wc), POINTER(c_uint32)]),
    "vbn_cq_wait": (vbn_status, [POINTER(vbn_cq), c_uint32, POINTER(vbn_wc), c_int64, c_int64, POINTER(c_uint32)]),
    "vbn_wc_check": (vbn_status, [POINTER(vbn_wc)]),
    "vbn_cq_native": (vbn_status, [POINTER(vbn_cq), POINTER(c_void_p)]),
    "vbn_cq_release": (vbn_status, [POINTER(POINTER(vbn_cq)), POINTER(c_void_p)]),
    "vbn_cq_adopt": (vbn_status, [POINTER(vbn_context), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_cq))]),
    "vbn_device_list": (vbn_status, [POINTER(vbn_device_info), c_size_t, c_uint32, POINTER(c_uint32)]),
    "vbn_device_list_reason": (vbn_status, [POINTER(vbn_device_list_reason_info)]),
    "vbn_last_error": (vbn_status, [POINTER(vbn_error_info)]),
    "vbn_status_name": (c_char_p, [vbn_status]),
    "vbn_status_text": (c_char_p, [vbn_status]),
    "vbn_version": (c_uint32, []),
    "vbn_version_string": (c_char_p, []),
    "vbn_library_init": (vbn_status, [POINTER(vbn_library_attr)]),
    "vbn_library_query": (vbn_status, [c_int32, POINTER(vbn_library_info)]),
    "vbn_library_missing": (vbn_status, [c_int32, c_uint32, POINTER(vbn_symbol_info)]),
    "vbn_fork_init": (vbn_status, []),
    "vbn_mr_reg": (vbn_status, [POINTER(vbn_pd), c_void_p, c_uint64, c_uint64, POINTER(vbn_mr_attr), POINTER(POINTER(vbn_mr))]),
    "vbn_mr_reg_dmabuf": (vbn_status, [POINTER(vbn_pd), c_int32, c_uint64, c_uint64, c_uint64, c_uint64, POINTER(vbn_mr_attr), POINTER(POINTER(vbn_mr))]),
    "vbn_mr_close": (vbn_status, [POINTER(POINTER(vbn_mr))]),
    "vbn_mr_query": (vbn_status, [POINTER(vbn_mr), POINTER(vbn_mr_info)]),
    "vbn_mr_lkey": (c_uint32, [POINTER(vbn_mr)]),
    "vbn_mr_rkey": (c_uint32, [POINTER(vbn_mr)]),
    "vbn_mr_remote_addr": (c_uint64, [POINTER(vbn_mr)]),
    "vbn_mr_segments": (vbn_status, [POINTER(vbn_mr), c_uint64, c_uint64, c_uint32, POINTER(vbn_sge), c_uint32, POINTER(c_uint32), POINTER(c_uint64)]),
    "vbn_mr_native": (vbn_status, [POINTER(vbn_mr), POINTER(c_void_p)]),
    "vbn_mr_release": (vbn_status, [POINTER(POINTER(vbn_mr)), POINTER(c_void_p)]),
    "vbn_mr_adopt": (vbn_status, [POINTER(vbn_pd), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_mr))]),
    "vbn_qp_type_name": (c_char_p, [c_int32]),
    "vbn_qp_state_name": (c_char_p, [c_int32]),
    "vbn_mtu_name": (c_char_p, [c_int32]),
    "vbn_port_state_name": (c_char_p, [c_int32]),
    "vbn_link_layer_name": (c_char_p, [c_int32]),
    "vbn_node_type_name": (c_char_p, [c_int32]),
    "vbn_transport_name": (c_char_p, [c_int32]),
    "vbn_wc_status_name": (c_char_p, [c_int32]),
    "vbn_wc_opcode_name": (c_char_p, [c_int32]),
    "vbn_event_type_name": (c_char_p, [c_int32]),
    "vbn_gid_type_name": (c_char_p, [c_int32]),
    "vbn_wr_opcode_name": (c_char_p, [c_uint32]),
    "vbn_element_name": (c_char_p, [c_int32]),
    "vbn_device_list_reason_name": (c_char_p, [c_int32]),
    "vbn_gid_verdict_name": (c_char_p, [c_int32]),
    "vbn_gid_family_name": (c_char_p, [c_int32]),
    "vbn_mr_kind_name": (c_char_p, [c_int32]),
    "vbn_fork_state_name": (c_char_p, [c_int32]),
    "vbn_library_origin_name": (c_char_p, [c_int32]),
    "vbn_ownership_name": (c_char_p, [c_int32]),
    "vbn_vendor_domain_name": (c_char_p, [c_int32]),
    "vbn_access_flag_name": (c_char_p, [c_uint64]),
    "vbn_send_flag_name": (c_char_p, [c_uint64]),
    "vbn_wc_flag_name": (c_char_p, [c_uint64]),
    "vbn_qp_attr_name": (c_char_p, [c_uint64]),
    "vbn_pd_alloc": (vbn_status, [POINTER(vbn_context), POINTER(vbn_pd_attr), POINTER(POINTER(vbn_pd))]),
    "vbn_pd_close": (vbn_status, [POINTER(POINTER(vbn_pd))]),
    "vbn_pd_query": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_pd_info)]),
    "vbn_pd_native": (vbn_status, [POINTER(vbn_pd), POINTER(c_void_p)]),
    "vbn_pd_release": (vbn_status, [POINTER(POINTER(vbn_pd)), POINTER(c_void_p)]),
    "vbn_pd_adopt": (vbn_status, [POINTER(vbn_context), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_pd))]),
    "vbn_qp_create": (vbn_status, [POINTER(vbn_pd), POINTER(vbn_qp_init_attr), POINTER(POINTER(vbn_qp))]),
    "vbn_qp_close": (vbn_status, [POINTER(POINTER(vbn_qp))]),
    "vbn_qp_query": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_qp_info)]),
    "vbn_qp_num": (c_uint32, [POINTER(vbn_qp)]),
    "vbn_qp_modify": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_qp_attr)]),
    "vbn_qp_post_send": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_send_wr), c_uint32, POINTER(c_uint32)]),
    "vbn_qp_post_recv": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_recv_wr), c_uint32, POINTER(c_uint32)]),
    "vbn_qp_first_error": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_wc)]),
    "vbn_qp_native": (vbn_status, [POINTER(vbn_qp), POINTER(c_void_p)]),
    "vbn_qp_release": (vbn_status, [POINTER(POINTER(vbn_qp)), POINTER(c_void_p)]),
    "vbn_qp_adopt": (vbn_status, [POINTER(vbn_pd), c_void_p, POINTER(vbn_adopt_attr), POINTER(POINTER(vbn_qp))]),
    "vbn_rc_record_local": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_rc_attr), POINTER(vbn_rc_record)]),
    "vbn_rc_record_encode": (vbn_status, [POINTER(vbn_rc_record), POINTER(c_uint8), c_size_t]),
    "vbn_rc_record_decode": (vbn_status, [POINTER(c_uint8), c_size_t, POINTER(vbn_rc_record)]),
    "vbn_qp_to_init": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_rc_attr)]),
    "vbn_qp_to_rtr": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_rc_record), POINTER(vbn_rc_record), POINTER(vbn_rc_attr)]),
    "vbn_qp_to_rts": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_rc_record), POINTER(vbn_rc_attr)]),
    "vbn_qp_connect_rc": (vbn_status, [POINTER(vbn_qp), POINTER(vbn_rc_record), POINTER(vbn_rc_record), POINTER(vbn_rc_attr)]),
}


class VerbenaError(Exception):
    """A call failed. `info` is the vbn_error_info: status, sys_errno, op, value, limit..."""

    def __init__(self, info):
        super().__init__(info.message.decode(errors="replace"))
        self.info = info
        self.status = info.status


def check(lib, status):
    """Raises VerbenaError unless `status`, which a call has just returned on this thread, is VBN_OK."""
    if status != VBN_OK:
        info = vbn_error_info()
        lib.vbn_last_error(ctypes.byref(info))
        raise VerbenaError(info)
    return status


def load(path="libverbena.so.0"):
    """Opens the library and declares its functions."""
    lib = ctypes.CDLL(path)
    for name, (result, params) in _FUNCTIONS.items():
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = params
    return lib


__all__ += [name for name in globals() if name.lower().startswith("vbn_")]
