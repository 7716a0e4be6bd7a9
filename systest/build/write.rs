// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes `own.c` and `own.rs`.

use crate::parse::{Field, Source, Struct};
use std::fmt::Write;
use syn::{GenericArgument, PathArguments, ReturnType, Type, TypeBareFn};

/// Paths into what is anonymous in C: struct, Rust's path, C's path.
const NESTED: &[(&str, &str, &str)] = &[
    ("ibv_gid", "global.subnet_prefix", "global.subnet_prefix"),
    ("ibv_gid", "global.interface_id", "global.interface_id"),
    ("ibv_gid", "raw", "raw"),
    ("ibv_odp_caps", "per_transport_caps", "per_transport_caps"),
    ("ibv_odp_caps", "per_transport_caps.rc_odp_caps", "per_transport_caps.rc_odp_caps"),
    ("ibv_odp_caps", "per_transport_caps.uc_odp_caps", "per_transport_caps.uc_odp_caps"),
    ("ibv_odp_caps", "per_transport_caps.ud_odp_caps", "per_transport_caps.ud_odp_caps"),
    ("ibv_async_event", "element", "element"),
    ("ibv_async_event", "element.cq", "element.cq"),
    ("ibv_async_event", "element.qp", "element.qp"),
    ("ibv_async_event", "element.srq", "element.srq"),
    ("ibv_async_event", "element.wq", "element.wq"),
    ("ibv_async_event", "element.port_num", "element.port_num"),
    ("ibv_wc", "imm_or_rkey", "imm_data"),
    ("ibv_wc", "imm_or_rkey", "invalidated_rkey"),
    ("ibv_send_wr", "imm_or_rkey", "imm_data"),
    ("ibv_send_wr", "imm_or_rkey", "invalidate_rkey"),
    ("ibv_send_wr", "wr", "wr"),
    ("ibv_send_wr", "wr.rdma", "wr.rdma"),
    ("ibv_send_wr", "wr.rdma.remote_addr", "wr.rdma.remote_addr"),
    ("ibv_send_wr", "wr.rdma.rkey", "wr.rdma.rkey"),
    ("ibv_send_wr", "wr.atomic", "wr.atomic"),
    ("ibv_send_wr", "wr.atomic.remote_addr", "wr.atomic.remote_addr"),
    ("ibv_send_wr", "wr.atomic.compare_add", "wr.atomic.compare_add"),
    ("ibv_send_wr", "wr.atomic.swap", "wr.atomic.swap"),
    ("ibv_send_wr", "wr.atomic.rkey", "wr.atomic.rkey"),
    ("ibv_send_wr", "wr.ud", "wr.ud"),
    ("ibv_send_wr", "wr.ud.ah", "wr.ud.ah"),
    ("ibv_send_wr", "wr.ud.remote_qpn", "wr.ud.remote_qpn"),
    ("ibv_send_wr", "wr.ud.remote_qkey", "wr.ud.remote_qkey"),
    ("ibv_send_wr", "qp_type", "qp_type"),
    ("ibv_send_wr", "qp_type.xrc", "qp_type.xrc"),
    ("ibv_send_wr", "qp_type.xrc.remote_srqn", "qp_type.xrc.remote_srqn"),
    ("ibv_send_wr", "ext.bind_mw", "bind_mw"),
    ("ibv_send_wr", "ext.bind_mw.mw", "bind_mw.mw"),
    ("ibv_send_wr", "ext.bind_mw.rkey", "bind_mw.rkey"),
    ("ibv_send_wr", "ext.bind_mw.bind_info", "bind_mw.bind_info"),
    ("ibv_send_wr", "ext.tso", "tso"),
    ("ibv_send_wr", "ext.tso.hdr", "tso.hdr"),
    ("ibv_send_wr", "ext.tso.hdr_sz", "tso.hdr_sz"),
    ("ibv_send_wr", "ext.tso.mss", "tso.mss"),
    ("efadv_cq_init_attr", "ext_mem_dmabuf", "ext_mem_dmabuf"),
    ("efadv_cq_init_attr", "ext_mem_dmabuf.buffer", "ext_mem_dmabuf.buffer"),
    ("efadv_cq_init_attr", "ext_mem_dmabuf.length", "ext_mem_dmabuf.length"),
    ("efadv_cq_init_attr", "ext_mem_dmabuf.offset", "ext_mem_dmabuf.offset"),
    ("efadv_cq_init_attr", "ext_mem_dmabuf.fd", "ext_mem_dmabuf.fd"),
    ("efadv_cq_init_attr", "ext_mem_dmabuf.reserved", "ext_mem_dmabuf.reserved"),
    ("efadv_memory_location", "dmabuf", "dmabuf"),
    ("efadv_memory_location", "dmabuf.offset", "dmabuf.offset"),
    ("efadv_memory_location", "dmabuf.fd", "dmabuf.fd"),
    ("efadv_memory_location", "dmabuf.reserved", "dmabuf.reserved"),
    ("rdma_addr", "addr", "addr"),
    ("rdma_addr", "addr.ibaddr", "addr.ibaddr"),
    ("rdma_cm_event", "param.conn", "param.conn"),
    ("rdma_cm_event", "param.ud", "param.ud"),
];

/// A place whose offset and size are compared: struct, paths, and whether the offset counts back from `context`.
struct Place {
    of: String,
    rust: String,
    c: String,
    back: bool,
}

fn places(source: &Source) -> Vec<Place> {
    let known = |&&(of, rust, _): &&(&str, &str, _)| source.has(of, rust.split('.').next().unwrap_or(rust));
    let nested = NESTED.iter().filter(known);
    let place =
        |&(of, rust, c): &(&str, &str, &str)| Place { of: of.into(), rust: rust.into(), c: c.into(), back: false };
    let mut all: Vec<Place> = nested.map(place).collect();
    let longer = |s: &&Struct| !s.newer && !Source::is_opaque(s) && s.fields.iter().any(|f| f.newer);
    for s in source.structs.iter().filter(longer) {
        for f in s.fields.iter().filter(|f| !f.newer) {
            all.push(Place {
                of: s.name.clone(),
                rust: f.name.clone(),
                c: c_name(&f.name).into(),
                back: s.name == "verbs_context",
            });
        }
    }
    all
}

fn c_name(rust: &str) -> &str {
    rust.strip_prefix("r#").unwrap_or(rust)
}

fn tag(source: &Source, name: &str) -> String {
    format!("{} {name}", if source.is_union(name) { "union" } else { "struct" })
}

/// The tables of C's offsets and sizes, and one assignment for each function type.
pub fn c(source: &Source) -> String {
    let mut out = String::new();
    for header in ["infiniband/verbs.h", "infiniband/efadv.h", "rdma/rdma_cma.h", "stddef.h", "sys/types.h"] {
        writeln!(out, "#include <{header}>").unwrap();
    }
    out.push_str("#define SIZE(T, F) sizeof(((T *)0)->F)\n");
    let (mut offsets, mut sizes) = (String::new(), String::new());
    for p in places(source) {
        let t = tag(source, &p.of);
        let base = if p.back { format!("offsetof({t}, context)") } else { "0".into() };
        writeln!(offsets, "    (long)offsetof({t}, {}) - (long){base},", p.c).unwrap();
        writeln!(sizes, "    SIZE({t}, {}),", p.c).unwrap();
    }
    write!(out, "const long own_offsets[] = {{\n{offsets}}};\nconst size_t own_sizes[] = {{\n{sizes}}};\n").unwrap();

    for f in source.functions.iter().filter(|f| !f.newer) {
        let pointer = function_pointer(source, &f.ty, &format!("own_fn_{}", f.symbol));
        writeln!(out, "extern {pointer};\n{pointer} = {};", f.symbol).unwrap();
    }
    for s in source.structs.iter().filter(|s| !s.newer) {
        for f in s.fields.iter().filter(|f| !f.newer) {
            slot(source, s, f, &mut out);
        }
    }
    out
}

/// For a field that is a function pointer: a function that assigns it to a variable of our type.
fn slot(source: &Source, s: &Struct, f: &Field, out: &mut String) {
    let Some(ty) = bare_fn(source, &f.ty).filter(|_| !is_unused(&f.ty)) else { return };
    let pointer = function_pointer(source, &ty, "ours");
    let name = c_name(&f.name);
    writeln!(out, "void own_slot_{0}_{name}(struct {0} *s);", s.name).unwrap();
    writeln!(out, "void own_slot_{0}_{name}(struct {0} *s) {{ {pointer} = s->{name}; s->{name} = ours; }}", s.name)
        .unwrap();
}

fn is_unused(ty: &Type) -> bool {
    matches!(ty, Type::Path(p) if p.path.is_ident("unused_op"))
}

/// The function type inside an `Option`, also behind an alias.
fn bare_fn(source: &Source, ty: &Type) -> Option<TypeBareFn> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    if let Some(alias) = source.alias(&last.ident.to_string()) {
        return bare_fn(source, alias);
    }
    let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    match args.args.first()? {
        GenericArgument::Type(Type::BareFn(f)) if last.ident == "Option" => Some(f.clone()),
        _ => None,
    }
}

fn function_pointer(source: &Source, f: &TypeBareFn, name: &str) -> String {
    let args: Vec<String> = f.inputs.iter().map(|arg| c_type(source, &arg.ty)).collect();
    let args = if args.is_empty() { "void".to_owned() } else { args.join(", ") };
    let ret = match &f.output {
        ReturnType::Default => "void".to_owned(),
        ReturnType::Type(_, ty) => c_type(source, ty),
    };
    format!("{ret} (*{name})({args})")
}

fn c_type(source: &Source, ty: &Type) -> String {
    match ty {
        Type::Ptr(p) if p.mutability.is_some() => format!("{} *", c_type(source, &p.elem)),
        Type::Ptr(p) => format!("{} const *", c_type(source, &p.elem)),
        Type::Path(p) => {
            let name = p.path.segments.last().unwrap().ident.to_string();
            if let Some(c) = primitive(&name) {
                c.to_owned()
            } else if name.starts_with("__be") {
                name
            } else {
                source.integer(&name).unwrap_or_else(|| tag(source, &name))
            }
        }
        _ => panic!("a type that can't be written in C"),
    }
}

pub fn primitive(name: &str) -> Option<&'static str> {
    Some(match name {
        "u8" => "uint8_t",
        "u16" => "uint16_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "i32" => "int32_t",
        "i64" => "int64_t",
        "bool" => "_Bool",
        "usize" => "size_t",
        "isize" => "ssize_t",
        "c_int" => "int",
        "c_long" => "long",
        "c_char" => "char",
        "c_void" => "void",
        _ => return None,
    })
}

/// The same places on the Rust side: `(name, offset, size)`.
pub fn rust(source: &Source) -> String {
    let places = places(source);
    let mut out = format!("pub const COUNT: usize = {};\n", places.len());
    out.push_str("pub fn places() -> [(&'static str, i64, usize); COUNT] {\n    [\n");
    for Place { of, rust, c, back } in places {
        let base = if back { format!("offset_of!({of}, context) as i64") } else { "0".into() };
        writeln!(
            out,
            "        (\"{of}.{c}\", offset_of!({of}, {rust}) as i64 - {base}, \
             size_by(|p: *const {of}| unsafe {{ &raw const (*p).{rust} }})),"
        )
        .unwrap();
    }
    out.push_str("    ]\n}\n");
    out
}
