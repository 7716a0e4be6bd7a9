# SPDX-License-Identifier: MIT OR Apache-2.0
"""
libverbena for Julia: what include/verbena.h declares, by the same names, and a few helpers.

    include("Verbena.jl")
    using .Verbena
    context = make(vbn_context, vbn_context_open, "efa_0", C_NULL)
    cq = make(vbn_cq, vbn_cq_create, context, ref(vbn_cq_attr, cqe = 256))

Handles are typed pointers. Where C wants a pointer give a `Ref` or an `Array`, for NULL `C_NULL`.
"""
module Verbena

using Libdl

export VerbenaError, check, make, ref, set!, text

const libverbena = "libverbena.so.0"

"A struct of the header. `vbn_sge(length = 64)` is all zero but for what is named, and struct_size, which is set by itself."
abstract type Struct end

include("declarations.jl")

"A `Ref` of a struct, which may be large: the struct itself isn't handed around."
function ref(::Type{T}; fields...) where {T <: Struct}
    s = Ref{T}()
    ccall(:memset, Ptr{Cvoid}, (Ptr{T}, Cint, Csize_t), s, 0, sizeof(T))
    hasfield(T, :struct_size) && set!(s, struct_size = sizeof(T))
    return set!(s; fields...)
end

(::Type{T})(; fields...) where {T <: Struct} = ref(T; fields...)[]

"Changes fields in place: `set!(Ref(wrs, 3), wr_id = 7)`."
function set!(s::Ref{T}; fields...) where {T <: Struct}
    GC.@preserve s store(Base.unsafe_convert(Ptr{T}, s), values(fields))
    return s
end

@generated function store(p::Ptr{T}, new::NamedTuple{names}) where {T, names}
    unknown = setdiff(names, fieldnames(T))
    isempty(unknown) || return :(throw(ArgumentError($("$T has no field $(join(unknown, ", "))"))))
    at = indexin(names, collect(fieldnames(T)))
    return Expr(:block, (:(unsafe_store!(Ptr{$(fieldtype(T, i))}(p + $(fieldoffset(T, i))), new[$n])) for (n, i) in enumerate(at))...)
end

"The text in an array of characters: `text(info, :message)`."
function text(s::Ref{T}, field::Symbol) where {T <: Struct}
    offset = fieldoffset(T, findfirst(isequal(field), fieldnames(T)))
    return GC.@preserve s unsafe_string(Ptr{UInt8}(Base.unsafe_convert(Ptr{T}, s)) + offset)
end

"A call failed. `info[]` is the vbn_error_info: status, sys_errno, op, value, limit..."
struct VerbenaError <: Exception
    info::Base.RefValue{vbn_error_info}
end

Base.showerror(io::IO, e::VerbenaError) = print(io, text(e.info, :message))

"""
Throws a VerbenaError unless `status`, which a call has just returned, is VBN_OK.

The record is the thread's. A task keeps its thread until it yields, which nothing does between a call and the `check` around it.
"""
function check(status)
    status == VBN_OK && return nothing
    info = ref(vbn_error_info)
    vbn_last_error(info)
    throw(VerbenaError(info))
end

"Calls a constructor, whose last argument is the place for the handle: `pd = make(vbn_pd, vbn_pd_alloc, context, C_NULL)`."
function make(::Type{T}, constructor, args...) where {T}
    handle = Ref{Ptr{T}}(C_NULL)
    check(constructor(args..., handle))
    return handle[]
end

function __init__()
    # Once it is loaded, every call finds it by its soname. Not with RTLD_DEEPBIND, Julia's default: the library would go past what
    # LD_PRELOAD puts before the C library, such as softnic.
    Libdl.dlopen(get(ENV, "VERBENA_LIBRARY", libverbena), RTLD_NOW)
end

end
