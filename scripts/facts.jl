# SPDX-License-Identifier: MIT OR Apache-2.0
# facts.jl FOLDER: prints what Verbena.jl in that folder declares, as scripts/cfacts.py has it from the C compiler. It needs the library.
include(joinpath(ARGS[1], "Verbena.jl"))

kind(t) = t == Cvoid ? "v" : t <: Union{Ptr, Cstring} ? "p" : (t <: Signed ? "i" : "u") * string(sizeof(t))

"The types of the one foreign call in a function."
function signature(f)
    code = [Meta.isexpr(e, :(=)) ? e.args[2] : e for e in first(code_lowered(f)).code]
    call = only(filter(e -> Meta.isexpr(e, :foreigncall), code))
    return join(map(kind, (call.args[2], call.args[3]...)), ",")
end

for name in names(Verbena)
    value = getfield(Verbena, name)
    if value isa Integer
        println(name, " ", value)
    elseif value isa DataType && value <: Verbena.Struct
        println(name, " ", sizeof(value))
        for i in 1:fieldcount(value)
            println(name, ".", fieldname(value, i), " ", fieldoffset(value, i), "+", sizeof(fieldtype(value, i)))
        end
    elseif value isa Function && startswith(string(name), "vbn_")
        println(name, "() ", signature(value))
    end
end
