# SPDX-License-Identifier: MIT OR Apache-2.0
# srd_example.jl [DEVICE]: an SRD queue pair of an EFA sends a message to itself. Without DEVICE the first one that has SRD is taken.
include("Verbena.jl")
using .Verbena
using Mmap

const HALF, SECOND = 4096, 1_000_000_000

function find()
    count, found = Ref{UInt32}(), Vector{vbn_device_match}(undef, 16)
    check(vbn_device_find(VBN_CAP_SRD, found, sizeof(vbn_device_match), length(found), count))
    count[] > 0 && found[1].matches == 1 && return text(Ref(found, 1), :name)  # those that match come first
    none = ref(vbn_device_list_reason_info)
    check(vbn_device_list_reason(none))
    error(count[] > 0 ? text(Ref(found, 1), :reason) : "no device: " * text(none, :message))
end

function main(device)
    context = make(vbn_context, vbn_context_open, device, C_NULL)
    pd = make(vbn_pd, vbn_pd_alloc, context, C_NULL)
    cq = make(vbn_cq, vbn_cq_create, context, ref(vbn_cq_attr, cqe = 256))
    qp = make(vbn_qp, vbn_qp_create, pd, ref(vbn_qp_init_attr, qp_type = VBN_QPT_SRD, send_cq = cq, max_send_sge = 2, sq_sig_all = 1))
    check(vbn_qp_prepare(qp, ref(vbn_qp_prepare_attr, set = VBN_QP_PREPARE_SET_QKEY, qkey = vbn_qkey_random())))
    endpoint = ref(vbn_endpoint)  # what the other side needs; here the queue pair is its own peer
    check(vbn_endpoint_local(qp, endpoint))
    peer = make(vbn_peer, vbn_peer_from_endpoint, pd, endpoint, C_NULL)

    # Julia doesn't move an array, but frees it once nothing uses it, and the device's use it doesn't see: so it is preserved
    # for as long as it is registered. It mustn't be resized either.
    memory = Mmap.mmap(Vector{UInt8}, 2HALF)  # pages of its own
    memory[1:HALF] = [7i % UInt8 for i in 1:HALF]
    GC.@preserve memory begin
        mr = make(vbn_mr, vbn_mr_reg, pd, memory, sizeof(memory), VBN_ACCESS_LOCAL_WRITE, C_NULL)
        message(cq, qp, peer, vbn_mr_remote_addr(mr), vbn_mr_lkey(mr))
        println("message received: ", memory[1:HALF] == memory[HALF+1:end])
        check(vbn_qp_close(Ref(qp)))
        check(vbn_mr_close(Ref(mr)))
    end
    check(vbn_peer_close(Ref(peer)))
    check(vbn_cq_close(Ref(cq)))
    check(vbn_pd_close(Ref(pd)))
    check(vbn_context_close(Ref(context)))
    println("ok")
end

"Sends the first half of the memory at `base` into the second."
function message(cq, qp, peer, base, lkey)
    posted, got, done = Ref{UInt32}(), Ref{UInt32}(), ref(vbn_wc)
    recv = ref(vbn_recv_wr, wr_id = 1, num_sge = 1, sge = vbn_sge(addr = base + HALF, length = HALF, lkey = lkey))
    check(vbn_qp_post_recv(qp, recv, 1, posted))
    # More segments than one are an array. The call reads it, and Julia sees only the request: so it is preserved meanwhile.
    parts = [vbn_sge(addr = base + at, length = HALF ÷ 2, lkey = lkey) for at in (0, HALF ÷ 2)]
    send = ref(vbn_send_wr, wr_id = 2, opcode = VBN_WR_SEND, num_sge = 2, sg_list = pointer(parts), peer = peer)
    GC.@preserve parts begin
        check(vbn_qp_post_send(qp, send, 1, posted))
        try  # every refusal explains itself
            check(vbn_qp_post_send(qp, set!(send, peer = C_NULL), 1, posted))
            error("a request without a peer was taken")
        catch e
            e isa VerbenaError || rethrow()
            println("as expected: ", sprint(showerror, e))
        end
    end
    seen = Set{UInt64}()
    while seen != Set([1, 2])  # in either order
        check(vbn_cq_wait(cq, 1, done, 0, 60SECOND, got))
        check(vbn_wc_check(done))
        push!(seen, done[].wr_id)
    end
end

main(isempty(ARGS) ? find() : ARGS[1])
