// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the types and the tables of functions from `src/sys`.

use std::{collections::HashMap, collections::HashSet, fs};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Fields, Item, Token, Type};

pub struct Field {
    pub name: String,
    pub ty: Type,
    pub newer: bool,
}

pub struct Struct {
    pub name: String,
    pub fields: Vec<Field>,
    pub newer: bool,
}

pub struct Function {
    pub symbol: String,
    pub ty: syn::TypeBareFn,
    pub newer: bool,
}

pub struct Source {
    pub structs: Vec<Struct>,
    pub functions: Vec<Function>,
    unions: HashSet<String>,
    aliases: HashMap<String, Type>,
    newer: Vec<String>,
}

/// Structs that C has no name for: members of unions, mostly.
const NAMELESS: &[&str] = &[
    "ibv_gid_global",
    "ibv_odp_transport_caps",
    "ibv_send_wr_rdma",
    "ibv_send_wr_atomic",
    "ibv_send_wr_ud",
    "ibv_send_wr_xrc",
    "ibv_send_wr_bind_mw",
    "ibv_send_wr_tso",
    "efadv_cq_init_attr_ext_mem_dmabuf",
    "efadv_memory_location_dmabuf",
];

/// Integers whose C enum has another width or sign than the fields and arguments that hold it; and slots.
const NO_ENUM: &[&str] = &["ibv_port_cap_flags2", "ibv_qp_attr_mask", "ibv_srq_attr_mask", "compat_op", "unused_op"];

impl Source {
    pub fn read(release: u32) -> Source {
        let mut source = Source {
            structs: Vec::new(),
            functions: Vec::new(),
            unions: HashSet::new(),
            aliases: HashMap::new(),
            newer: Vec::new(),
        };
        for module in [
            "ibv.rs",
            "ibv/cq.rs",
            "ibv/device.rs",
            "ibv/flow.rs",
            "ibv/mr.rs",
            "ibv/qp.rs",
            "ibv/wr.rs",
            "efadv.rs",
            "rdma_cma.rs",
        ] {
            for item in parse(module).items {
                source.item(item, release);
            }
        }
        for (module, least) in [("verbs.rs", 60), ("efa.rs", 10), ("rdmacm.rs", 17)] {
            let before = source.functions.len();
            source.table(module, release);
            assert!(source.functions.len() >= before + least, "no functions in {module}: has src/sys moved?");
        }
        assert!(source.structs.len() > 100, "too few structs: has src/sys moved?");
        source
    }

    fn table(&mut self, module: &str, release: u32) {
        for item in parse(module).items {
            if let Item::Macro(m) = item
                && m.mac.path.is_ident("functions")
            {
                let Table(lines) = m.mac.parse_body().expect(module);
                for (symbol, ty, since) in lines {
                    let newer = since > release;
                    if newer {
                        self.newer.push(symbol.clone());
                    }
                    self.functions.push(Function { symbol, ty, newer });
                }
            }
        }
    }

    fn item(&mut self, item: Item, release: u32) {
        match item {
            Item::Const(c) if since(&c.attrs) > release => self.newer.push(c.ident.to_string()),
            Item::Type(t) => {
                if since(&t.attrs) > release {
                    self.newer.push(t.ident.to_string());
                }
                self.aliases.insert(t.ident.to_string(), *t.ty);
            }
            Item::Union(u) => {
                self.unions.insert(u.ident.to_string());
            }
            Item::Struct(s) => {
                let newer = since(&s.attrs) > release;
                let name = s.ident.to_string();
                if newer {
                    self.newer.push(name.clone());
                }
                let Fields::Named(named) = s.fields else { return };
                let mut fields = Vec::new();
                for field in named.named {
                    let field_newer = since(&field.attrs) > release;
                    let field_name = field.ident.unwrap().to_string();
                    if field_newer && !newer {
                        self.newer.push(format!("{name}.{field_name}"));
                    }
                    fields.push(Field { name: field_name, ty: field.ty, newer: field_newer });
                }
                self.structs.push(Struct { name, fields, newer });
            }
            _ => {}
        }
    }

    /// All that the headers are too old for.
    pub fn newer(&self) -> &[String] {
        &self.newer
    }

    pub fn is_newer(&self, name: &str) -> bool {
        self.newer.iter().any(|n| n == name)
    }

    /// Whether the headers know this field. Unions have no fields here: all are old.
    pub fn has(&self, of: &str, field: &str) -> bool {
        self.is_union(of)
            || self
                .structs
                .iter()
                .any(|s| s.name == of && !s.newer && s.fields.iter().any(|f| f.name == field && !f.newer))
    }

    pub fn is_nameless(name: &str) -> bool {
        NAMELESS.contains(&name)
    }

    pub fn is_opaque(s: &Struct) -> bool {
        s.fields.iter().any(|f| f.name == "_opaque")
    }

    /// Whether C's struct has this name, the same fields and a public definition.
    pub fn is_whole(&self, name: &str) -> bool {
        let known = |s: &&Struct| s.name == name;
        !Self::is_nameless(name)
            && self.structs.iter().find(known).is_some_and(|s| !Self::is_opaque(s) && s.fields.iter().all(|f| !f.newer))
    }

    pub fn is_c_enum(&self, name: &str) -> bool {
        let ours = (["ibv_", "efadv_", "rdma_"].iter().any(|prefix| name.starts_with(prefix)))
            && self.aliases.contains_key(name);
        ours && !NO_ENUM.contains(&name) && !self.is_newer(name)
    }

    pub fn is_union(&self, name: &str) -> bool {
        self.unions.contains(name)
    }

    pub fn alias(&self, name: &str) -> Option<&Type> {
        self.aliases.get(name)
    }

    /// The C integer behind an alias of ours. GCC's enums are compatible with their integer, so this checks them too.
    pub fn integer(&self, name: &str) -> Option<String> {
        let Type::Path(path) = self.aliases.get(name).filter(|_| !name.starts_with("__be"))? else { return None };
        crate::write::primitive(&path.path.get_ident()?.to_string()).map(str::to_owned)
    }

    /// Whether the type of a field has no name in C, or is a function pointer (which `own.c` looks at).
    pub fn field_is_nameless(&self, of: &str, field: &str) -> bool {
        let field = self.structs.iter().find(|s| s.name == of).and_then(|s| s.fields.iter().find(|f| f.name == field));
        let Some(Type::Path(path)) = field.map(|f| &f.ty) else { return false };
        let last = path.path.segments.last().unwrap().ident.to_string();
        last == "Option" || last.ends_with("_op") || self.is_union(&last) || Self::is_nameless(&last)
    }
}

fn parse(module: &str) -> syn::File {
    let path = format!("../src/sys/{module}");
    syn::parse_file(&fs::read_to_string(&path).unwrap()).expect(&path)
}

/// The number in a comment that begins with "since".
fn since(attrs: &[Attribute]) -> u32 {
    let numbers = attrs.iter().filter_map(|attr| {
        let syn::Meta::NameValue(meta) = &attr.meta else { return None };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &meta.value else { return None };
        let text = text.value();
        let rest = text.trim().strip_prefix("since ")?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    });
    numbers.max().unwrap_or(0)
}

/// The lines of a table of functions: symbol, type, first release.
struct Table(Vec<(String, syn::TypeBareFn, u32)>);

impl Parse for Table {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut lines = Vec::new();
        input.call(Attribute::parse_outer)?;
        input.parse::<syn::Ident>()?; // The table's name.
        while !input.is_empty() {
            input.parse::<syn::Ident>()?; // required, optional
            let group;
            syn::braced!(group in input);
            while !group.is_empty() {
                group.parse::<syn::Ident>()?;
                group.parse::<Token![:]>()?;
                let ty = group.parse()?;
                group.parse::<Token![,]>()?;
                let symbol: syn::LitCStr = group.parse()?;
                group.parse::<Token![,]>()?;
                group.parse::<syn::LitCStr>()?;
                group.parse::<Token![,]>()?;
                let since: syn::LitStr = group.parse()?;
                group.parse::<Token![,]>()?;
                group.parse::<syn::Ident>()?;
                group.parse::<Token![;]>()?;
                let symbol = symbol.value().into_string().unwrap();
                lines.push((symbol, ty, since.value().parse().expect("a release number")));
            }
        }
        Ok(Table(lines))
    }
}
