# SPDX-License-Identifier: MIT OR Apache-2.0
# example.jl [DEVICE]: two queue pairs of one device write into each other's memory. EXAMPLE_NO_DATA=1 leaves out the look at the
# data, for a device that moves none. All arrays that the loop uses are made before it, and posting and polling allocate nothing.
include("Verbena.jl")
using .Verbena
using Mmap

const DEPTH, MESSAGE, SECOND = 16, 4096, 1_000_000_000

function main(device)
    context = make(vbn_context, vbn_context_open, device, C_NULL)
    pd = make(vbn_pd, vbn_pd_alloc, context, C_NULL)
    channel = make(vbn_channel, vbn_channel_create, context, C_NULL)
    cq = make(vbn_cq, vbn_cq_create, context, ref(vbn_cq_attr, cqe = 4DEPTH, channel = channel))
    init = ref(vbn_qp_init_attr, send_cq = cq, max_send_wr = DEPTH, max_recv_wr = DEPTH)
    qps = [make(vbn_qp, vbn_qp_create, pd, init) for _ in 1:2]
    records = [vbn_rc_record() for _ in qps]
    for i in 1:2
        check(vbn_rc_record_local(qps[i], C_NULL, Ref(records, i)))
    end
    for i in 1:2
        check(vbn_qp_connect_rc(qps[i], Ref(records, i), Ref(records, 3 - i), C_NULL))
    end

    # The first half is sent, the second received into. Preserved while it is registered: Julia doesn't see the device's use of it.
    half = DEPTH * MESSAGE
    memory = Mmap.mmap(Vector{UInt8}, 2half)
    memory[1:half] = [7i % UInt8 for i in 1:half]
    GC.@preserve memory begin
        mr = make(vbn_mr, vbn_mr_reg, pd, memory, sizeof(memory), VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_WRITE, C_NULL)
        sends = writes(vbn_mr_remote_addr(mr), half, vbn_mr_lkey(mr), vbn_mr_rkey(mr))
        immediates = transfer(cq, qps, sends)
        if get(ENV, "EXAMPLE_NO_DATA", "") != "1"
            immediates == 1000 .+ (1:DEPTH) || error("the immediate values are wrong: $immediates")
            memory[1:half] == memory[half+1:end] || error("the data differ")
            println("verified $half bytes")
        end
        refusal(qps[1], sends)
        foreach(qp -> check(vbn_qp_close(Ref(qp))), qps)
        check(vbn_mr_close(Ref(mr)))
    end
    check(vbn_cq_close(Ref(cq)))
    check(vbn_channel_close(Ref(channel)))
    check(vbn_pd_close(Ref(pd)))
    check(vbn_context_close(Ref(context)))
    println("ok")
end

writes(base, half, lkey, rkey) = map(1:DEPTH) do i
    at = base + (i - 1) * MESSAGE
    vbn_send_wr(wr_id = DEPTH + i, flags = VBN_SEND_SIGNALED, opcode = VBN_WR_RDMA_WRITE_WITH_IMM, num_sge = 1,
                sge = vbn_sge(addr = at, length = MESSAGE, lkey = lkey), remote_addr = at + half, rkey = rkey, imm = 1000 + i)
end

"Posts the writes, and returns the immediate values that came with them."
function transfer(cq, qps, sends)
    recvs = [vbn_recv_wr(wr_id = i) for i in 1:DEPTH]  # no segments: each takes one write with immediate
    done = Vector{vbn_wc}(undef, 2DEPTH)
    posted, received, got = Ref{UInt32}(), Ref{UInt32}(), Ref{UInt32}()
    check(vbn_qp_post_recv(qps[2], recvs, DEPTH, received))
    check(vbn_qp_post_send(qps[1], sends, DEPTH, posted))
    println("posted $(received[]) receives and $(posted[]) writes")
    seen, immediates = 0, UInt32[]
    while seen < 2DEPTH
        check(vbn_cq_wait(cq, length(done), done, 0, 60SECOND, got))
        for i in 1:got[]
            check(vbn_wc_check(Ref(done, i)))
            done[i].opcode & VBN_WC_RECV != 0 && push!(immediates, done[i].imm)
        end
        seen += got[]
    end
    println("polled $seen completions")
    return immediates
end

function refusal(qp, sends)
    posted = Ref{UInt32}()
    set!(Ref(sends, 4), num_sge = 99)
    try  # every refusal explains itself
        check(vbn_qp_post_send(qp, sends, DEPTH, posted))
        error("99 segments were taken")
    catch e
        e isa VerbenaError && posted[] == 0 && e.info[].index == 3 || rethrow()
        println("as expected: ", sprint(showerror, e))
    end
end

main(isempty(ARGS) ? C_NULL : ARGS[1])
