// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ELF note by which packaging tools see what is opened at run time (uapi-group.org, "ELF dlopen metadata").

const TEXT: &[u8] =
    br#"[{"soname":["libibverbs.so.1"],"feature":"verbs","description":"RDMA devices","priority":"recommended"},{"soname":["libefa.so.1"],"feature":"efa","description":"EFA devices","priority":"suggested"},{"soname":["librdmacm.so.1"],"feature":"rdma_cm","description":"connections by IP address","priority":"suggested"},{"soname":["libcuda.so.1"],"feature":"cuda","description":"memory of NVIDIA GPUs","priority":"suggested"},{"soname":["libhsa-runtime64.so.1"],"feature":"rocm","description":"memory of AMD GPUs","priority":"suggested"}]"#;
const PADDED: usize = (TEXT.len() + 1).next_multiple_of(4);

#[repr(C, align(4))]
struct Note {
    name_size: u32,
    text_size: u32,
    kind: u32,
    name: [u8; 4],
    text: [u8; PADDED],
}

#[used]
// SAFETY: a section of notes, and a note is what it gets.
#[unsafe(link_section = ".note.dlopen")]
static NOTE: Note = Note {
    name_size: 4,
    text_size: TEXT.len() as u32 + 1,
    kind: 0x407c_0c0a,
    name: *b"FDO\0",
    text: {
        let mut text = [0; PADDED];
        let mut i = 0;
        while i < TEXT.len() {
            #[allow(clippy::indexing_slicing, reason = "at compile time")]
            {
                text[i] = TEXT[i];
            }
            i += 1;
        }
        text
    },
};
