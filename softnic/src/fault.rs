// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fault file: what should go wrong, and when. One rule a line, `#` starts a comment.
//!
//! ```text
//! status 7 for request 3 op write device 0      the 3rd WRITE of device 0 completes with status 7 and is not executed
//! rnr for request 2..4 qp 17                    the receiver seems not ready for the 2nd to 4th request of QP 17
//! stall 50ms for request 10                     the send queue stands still for 50 ms (so it fills up)
//! delay 20ms for request 1 in 100               each request, with probability 1/100, starts 20 ms late
//! late-dma 30ms for request 5 op write          completes with status 13 at once, its data arrive 30 ms later
//! drop for request 1 in 10 op send               a datagram (UD) is lost on the way: its sender sees success, nobody receives it
//! cq-overflow for completion 8                  the 8th completion is lost (`event` behind it: and IBV_EVENT_CQ_ERR raised)
//! fail command create_qp 2 errno 12             the 2nd create_qp answers ENOMEM
//! remove device 0 at request 100                the device is pulled when its 100th request is due (or `after 500ms`)
//! port down device 0 after 100ms                (or `at request 7`); `port up ...` brings it back
//! ```
//!
//! Requests are counted by each process from 1, per rule, over the requests that the rule's filters (`op`, `qp`, `device`) let through.
//! Rules that go by requests take all three filters, `cq-overflow` takes `qp` and `device`, `fail command` and `after` take `device`.
//! Instead of `3`: a range `3..5`, `any`, or `1 in N` (by the run's seed). Operations: send, read, write. Commands: the
//! verbs' names (`alloc_pd`, `reg_mr`, `create_ah`, `create_cq`, `create_qp`, `modify_qp`, `query_qp`, `destroy_*`, `dereg_mr`, `query_device`...).

use crate::model::rng::Rng;

/// The operation of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Send,
    Read,
    Write,
}

/// Which of the counted things a rule hits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hit {
    /// From the first to the last, both included.
    Range(u64, u64),
    OneIn(u64),
}

impl Hit {
    fn matches(self, count: u64, draw: u64) -> bool {
        match self {
            Hit::Range(first, last) => (first..=last).contains(&count),
            Hit::OneIn(n) => draw.is_multiple_of(n),
        }
    }
}

/// What `fail command` may name, besides `any`.
pub const COMMANDS: [&str; 23] = [
    "alloc_async_fd",
    "alloc_pd",
    "alloc_ucontext",
    "create_ah",
    "create_comp_channel",
    "create_cq",
    "create_qp",
    "dealloc_pd",
    "dereg_mr",
    "destroy_ah",
    "destroy_cq",
    "destroy_qp",
    "get_context",
    "modify_qp",
    "query_device",
    "query_gid",
    "query_gid_table",
    "query_mr",
    "query_port",
    "query_port_speed",
    "query_qp",
    "reg_mr",
    "req_notify_cq",
];

/// When a device-wide event happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    Request(u64),
    AfterMs(u64),
}

/// What a rule does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    Status { code: u8, hit: Hit },
    Rnr { hit: Hit },
    Stall { ms: u64, hit: Hit },
    Delay { ms: u64, hit: Hit },
    LateDma { ms: u64, hit: Hit },
    Drop { hit: Hit },
    CqOverflow { hit: Hit, event: bool },
    FailCommand { name: String, hit: Hit, errno: i32 },
    Remove { when: When },
    Port { up: bool, when: When },
}

impl Action {
    /// What a rule is called in errors, and the filters that it looks at.
    fn filters(&self) -> (&'static str, &'static [&'static str]) {
        const ALL: &[&str] = &["op", "qp", "device"];
        const DEVICE: &[&str] = &["device"];
        match self {
            Action::Status { .. } => ("status", ALL),
            Action::Rnr { .. } => ("rnr", ALL),
            Action::Stall { .. } => ("stall", ALL),
            Action::Delay { .. } => ("delay", ALL),
            Action::LateDma { .. } => ("late-dma", ALL),
            Action::Drop { .. } => ("drop", ALL),
            Action::CqOverflow { .. } => ("cq-overflow", &["qp", "device"]),
            Action::FailCommand { .. } => ("fail command", DEVICE),
            Action::Remove { when: When::Request(_) } => ("remove ... at request", ALL),
            Action::Remove { when: When::AfterMs(_) } => ("remove ... after", DEVICE),
            Action::Port { when: When::Request(_), .. } => ("port ... at request", ALL),
            Action::Port { when: When::AfterMs(_), .. } => ("port ... after", DEVICE),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    pub action: Action,
    pub op: Option<Op>,
    pub qpn: Option<u32>,
    pub device: Option<u32>,
}

/// What happens to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RequestFault {
    pub status: Option<u8>,
    pub rnr: bool,
    pub stall_ms: u64,
    pub delay_ms: u64,
    pub late_dma_ms: Option<u64>,
    pub drop: bool,
    pub device: DeviceFault,
}

/// What happens to the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DeviceFault {
    pub remove: bool,
    pub port: Option<bool>,
}

/// The rules as one device follows them, with their counters.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    rules: Vec<(Rule, u64)>,
    random: Rng,
    start_ms: Option<u64>,
}

impl Faults {
    /// Reads a fault file for device number `device` of the run. The error is one line that names the line.
    pub fn parse(text: &str, device: u32, seed: u64) -> Result<Faults, String> {
        let mut rules = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            let rule = parse_rule(line).map_err(|why| format!("fault file, line {}: {why}: {line:?}", i + 1))?;
            if rule.device.is_none_or(|d| d == device) {
                rules.push((rule, 0));
            }
        }
        Ok(Faults { rules, random: Rng::new(seed ^ 0xfa17_0000 ^ u64::from(device)), start_ms: None })
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// A request of `qpn` is about to be executed.
    #[inline(never)]
    pub fn request(&mut self, op: Op, qpn: u32) -> RequestFault {
        let mut out = RequestFault::default();
        for (rule, count) in &mut self.rules {
            if rule.op.is_some_and(|o| o != op) || rule.qpn.is_some_and(|q| q != qpn) {
                continue;
            }
            let hit = match &rule.action {
                Action::Status { hit, .. }
                | Action::Rnr { hit }
                | Action::Stall { hit, .. }
                | Action::Delay { hit, .. }
                | Action::LateDma { hit, .. }
                | Action::Drop { hit } => *hit,
                Action::Remove { when: When::Request(k) } | Action::Port { when: When::Request(k), .. } => {
                    Hit::Range(*k, *k)
                }
                _ => continue,
            };
            *count += 1;
            if !hit.matches(*count, self.random.draw()) {
                continue;
            }
            match rule.action {
                Action::Status { code, .. } => out.status = Some(code),
                Action::Rnr { .. } => out.rnr = true,
                Action::Stall { ms, .. } => out.stall_ms = ms,
                Action::Delay { ms, .. } => out.delay_ms = ms,
                Action::LateDma { ms, .. } => out.late_dma_ms = Some(ms),
                Action::Drop { .. } => out.drop = true,
                Action::Remove { .. } => out.device.remove = true,
                Action::Port { up, .. } => out.device.port = Some(up),
                _ => {}
            }
        }
        out
    }

    /// A completion is about to be written: Some(raise an event) = it is to be lost.
    pub fn completion(&mut self, qpn: u32) -> Option<bool> {
        let mut lost = None;
        for (rule, count) in &mut self.rules {
            let Action::CqOverflow { hit, event } = rule.action else { continue };
            if rule.qpn.is_some_and(|q| q != qpn) {
                continue;
            }
            *count += 1;
            if hit.matches(*count, self.random.draw()) {
                lost = Some(event);
            }
        }
        lost
    }

    /// A command is about to be executed: Some(errno) = it is to fail.
    pub fn command(&mut self, command: &str) -> Option<i32> {
        let mut failed = None;
        for (rule, count) in &mut self.rules {
            let Action::FailCommand { name, hit, errno } = &rule.action else { continue };
            if name != command && name != "any" {
                continue;
            }
            *count += 1;
            if hit.matches(*count, self.random.draw()) {
                failed = Some(*errno);
            }
        }
        failed
    }

    /// Rules that go by time; the clock starts at the first call.
    pub fn tick(&mut self, now_ms: u64) -> DeviceFault {
        let mut out = DeviceFault::default();
        if self.rules.is_empty() {
            return out;
        }
        let start = *self.start_ms.get_or_insert(now_ms);
        for (rule, count) in &mut self.rules {
            let (Action::Remove { when: When::AfterMs(ms) } | Action::Port { when: When::AfterMs(ms), .. }) =
                rule.action
            else {
                continue;
            };
            if *count > 0 || now_ms.saturating_sub(start) < ms {
                continue;
            }
            *count = 1;
            match rule.action {
                Action::Port { up, .. } => out.port = Some(up),
                _ => out.remove = true,
            }
        }
        out
    }

    /// The next time by `tick`'s clock at which a rule fires.
    pub fn next_tick_ms(&self) -> Option<u64> {
        let start = self.start_ms?;
        let times = self.rules.iter().filter(|(_, count)| *count == 0).filter_map(|(rule, _)| match rule.action {
            Action::Remove { when: When::AfterMs(ms) } | Action::Port { when: When::AfterMs(ms), .. } => Some(ms),
            _ => None,
        });
        times.min().map(|ms| start.saturating_add(ms))
    }
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn parse_rule(line: &str) -> Result<Rule, String> {
    let mut w = line.split_whitespace().peekable();
    let mut rule = Rule { action: Action::Rnr { hit: Hit::Range(1, 1) }, op: None, qpn: None, device: None };
    rule.action = match word(&mut w)? {
        "status" => {
            let code = number(&mut w)?;
            let code = u8::try_from(code).map_err(|_| format!("status {code} does not fit 8 bits"))?;
            Action::Status { code, hit: counted(&mut w, "request")? }
        }
        "rnr" => Action::Rnr { hit: counted(&mut w, "request")? },
        "stall" => Action::Stall { ms: millis(&mut w)?, hit: counted(&mut w, "request")? },
        "delay" => Action::Delay { ms: millis(&mut w)?, hit: counted(&mut w, "request")? },
        "late-dma" => Action::LateDma { ms: millis(&mut w)?, hit: counted(&mut w, "request")? },
        "drop" => Action::Drop { hit: counted(&mut w, "request")? },
        "cq-overflow" => {
            let hit = counted(&mut w, "completion")?;
            Action::CqOverflow { hit, event: w.next_if_eq(&"event").is_some() }
        }
        "fail" => {
            expect(&mut w, "command")?;
            let name = word(&mut w)?.to_owned();
            if name != "any" && !COMMANDS.contains(&name.as_str()) {
                return Err(format!("no command {name} (any, {})", COMMANDS.join(", ")));
            }
            let hit = hit(&mut w)?;
            expect(&mut w, "errno")?;
            let errno = number(&mut w)?;
            let errno = i32::try_from(errno)
                .ok()
                .filter(|e| (1..4096).contains(e))
                .ok_or(format!("errno {errno} is not within 1..4095"))?;
            Action::FailCommand { name, hit, errno }
        }
        "remove" => {
            filters(&mut w, &mut rule)?;
            Action::Remove { when: when(&mut w)? }
        }
        "port" => {
            let up = match word(&mut w)? {
                "up" => true,
                "down" => false,
                other => return Err(format!("port {other}: say up or down")),
            };
            filters(&mut w, &mut rule)?;
            Action::Port { up, when: when(&mut w)? }
        }
        other => {
            return Err(format!(
                "no rule named {other} (status, rnr, stall, delay, late-dma, drop, cq-overflow, fail, remove, port)"
            ));
        }
    };
    filters(&mut w, &mut rule)?;
    match w.next() {
        None => looked_at(rule),
        Some(extra) => Err(format!("don't know what {extra} means here")),
    }
}

/// A filter that a rule would pass over is refused: the rule would hit more than it says.
fn looked_at(rule: Rule) -> Result<Rule, String> {
    let (name, allowed) = rule.action.filters();
    let given = [("op", rule.op.is_some()), ("qp", rule.qpn.is_some()), ("device", rule.device.is_some())];
    match given.iter().find(|(filter, given)| *given && !allowed.contains(filter)) {
        Some((filter, _)) => Err(format!("{name} has no filter {filter} (it has {})", allowed.join(", "))),
        None => Ok(rule),
    }
}

fn word<'a>(w: &mut Words<'a>) -> Result<&'a str, String> {
    w.next().ok_or_else(|| "the line ends too early".to_owned())
}

fn expect(w: &mut Words<'_>, what: &str) -> Result<(), String> {
    let got = word(w)?;
    if got == what { Ok(()) } else { Err(format!("{got} where {what} should be")) }
}

fn number(w: &mut Words<'_>) -> Result<u64, String> {
    let text = word(w)?;
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("{text} is not a number"))
}

fn millis(w: &mut Words<'_>) -> Result<u64, String> {
    let text = word(w)?;
    text.strip_suffix("ms").and_then(|n| n.parse().ok()).ok_or_else(|| format!("{text} is not a time such as 50ms"))
}

fn counted(w: &mut Words<'_>, what: &str) -> Result<Hit, String> {
    expect(w, "for")?;
    expect(w, what)?;
    hit(w)
}

fn hit(w: &mut Words<'_>) -> Result<Hit, String> {
    let text = word(w)?;
    if text == "any" {
        return Ok(Hit::Range(1, u64::MAX));
    }
    let wrong = || format!("{text} is not K, K..L, any or 1 in N (counted from 1)");
    if let Some((first, last)) = text.split_once("..") {
        let (first, last) = (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
        return if first >= 1 && first <= last { Ok(Hit::Range(first, last)) } else { Err(wrong()) };
    }
    let k: u64 = text.parse().map_err(|_| wrong())?;
    if k == 1 && w.next_if_eq(&"in").is_some() {
        let n = number(w)?;
        return if n >= 1 { Ok(Hit::OneIn(n)) } else { Err("1 in 0 never happens".to_owned()) };
    }
    if k >= 1 { Ok(Hit::Range(k, k)) } else { Err(wrong()) }
}

fn when(w: &mut Words<'_>) -> Result<When, String> {
    match word(w)? {
        "at" => {
            expect(w, "request")?;
            match number(w)? {
                0 => Err("at request 0: they are counted from 1".to_owned()),
                k => Ok(When::Request(k)),
            }
        }
        "after" => Ok(When::AfterMs(millis(w)?)),
        other => Err(format!("{other} where `at request K` or `after Nms` should be")),
    }
}

/// Each at most once.
fn filters(w: &mut Words<'_>, rule: &mut Rule) -> Result<(), String> {
    loop {
        let repeated = if w.next_if_eq(&"op").is_some() {
            let op = match word(w)? {
                "send" => Op::Send,
                "read" => Op::Read,
                "write" => Op::Write,
                other => return Err(format!("no operation {other} (send, read, write)")),
            };
            rule.op.replace(op).map(|_| "op")
        } else if w.next_if_eq(&"qp").is_some() {
            rule.qpn.replace(small(w)?).map(|_| "qp")
        } else if w.next_if_eq(&"device").is_some() {
            rule.device.replace(small(w)?).map(|_| "device")
        } else {
            return Ok(());
        };
        if let Some(filter) = repeated {
            return Err(format!("{filter} is there twice (write a rule for each)"));
        }
    }
}

fn small(w: &mut Words<'_>) -> Result<u32, String> {
    let n = number(w)?;
    u32::try_from(n).map_err(|_| format!("{n} is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Faults {
        Faults::parse(text, 0, 1).unwrap()
    }

    #[test]
    fn the_documented_rules_are_understood() {
        let text = include_str!("fault.rs");
        let mut rules = 0;
        let block = text.split("```text").nth(1).unwrap().split("```").next().unwrap();
        for line in block.lines().filter_map(|l| l.strip_prefix("//! ")).filter(|l| !l.is_empty()) {
            let rule = line.split("   ").next().unwrap();
            parse_rule(rule.trim()).unwrap_or_else(|e| panic!("{rule}: {e}"));
            rules += 1;
        }
        assert_eq!(rules, 10);
    }

    #[test]
    fn counts_only_what_the_filters_let_through() {
        let mut f = faults("status 7 for request 2 op write qp 5 # comment\n\nrnr for request 1..2 op send");
        assert_eq!(f.request(Op::Write, 5).status, None);
        assert_eq!(f.request(Op::Write, 6).status, None);
        assert!(f.request(Op::Send, 5).rnr);
        assert_eq!(f.request(Op::Write, 5).status, Some(7));
        assert_eq!(f.request(Op::Write, 5).status, None);
        assert!(f.request(Op::Send, 9).rnr && !f.request(Op::Send, 9).rnr);
    }

    #[test]
    fn rules_of_other_devices_are_left_out() {
        assert!(faults("remove device 1 at request 1").is_empty());
        let mut f = faults("remove device 0 at request 1");
        assert!(f.request(Op::Read, 1).device.remove && !f.request(Op::Read, 1).device.remove);
    }

    #[test]
    fn commands_completions_and_time() {
        let mut f = faults(
            "fail command create_qp 2 errno 12\ncq-overflow for completion 1 event\nport down after 10ms\nport up after 20ms",
        );
        assert_eq!((f.command("create_qp"), f.command("create_cq"), f.command("create_qp")), (None, None, Some(12)));
        assert_eq!((f.completion(1), f.completion(1)), (Some(true), None));
        assert_eq!(f.next_tick_ms(), None);
        assert_eq!(f.tick(1000).port, None);
        assert_eq!(f.next_tick_ms(), Some(1010));
        assert_eq!(f.tick(1010).port, Some(false));
        assert_eq!(f.tick(1019).port, None);
        assert_eq!(f.tick(1025).port, Some(true));
        assert_eq!(f.next_tick_ms(), None);
    }

    #[test]
    fn chance_is_repeatable_and_about_right() {
        let run = |seed| {
            let mut f = Faults::parse("rnr for request 1 in 10", 0, seed).unwrap();
            (0..1000).map(|_| f.request(Op::Send, 1).rnr).collect::<Vec<_>>()
        };
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
        let n = run(3).iter().filter(|x| **x).count();
        assert!((50..200).contains(&n), "{n} of 1000 with 1 in 10");
    }

    #[test]
    fn each_filter_that_is_taken_is_looked_at() {
        let request = |rule: &str, op, qpn| faults(rule).request(op, qpn);
        for action in ["status 7", "rnr", "stall 5ms", "delay 5ms", "late-dma 5ms", "drop"] {
            let rule = format!("{action} for request 1 op read qp 5 device 0");
            for (op, qpn, hit) in [(Op::Read, 5, true), (Op::Send, 5, false), (Op::Read, 6, false)] {
                assert_eq!(request(&rule, op, qpn) != RequestFault::default(), hit, "{rule}: {op:?} of {qpn}");
            }
            assert!(Faults::parse(&rule, 1, 1).unwrap().is_empty());
        }
        for rule in ["remove op read qp 5 at request 1", "port down at request 1 op read qp 5 device 0"] {
            for (op, qpn, hit) in [(Op::Read, 5, true), (Op::Send, 5, false), (Op::Read, 6, false)] {
                assert_eq!(request(rule, op, qpn) != RequestFault::default(), hit, "{rule}: {op:?} of {qpn}");
            }
        }
        let mut f = faults("cq-overflow for completion 1 qp 5 device 0");
        assert_eq!((f.completion(6), f.completion(5)), (None, Some(false)));
        for rule in
            ["cq-overflow for completion 1", "fail command any 1 errno 5", "remove after 1ms", "port up after 1ms"]
        {
            assert!(Faults::parse(&format!("{rule} device 0"), 1, 1).unwrap().is_empty(), "{rule}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, part) in [
            ("\nstatus x for request 1", "line 2: x is not a number"),
            ("status 300 for request 1", "300 does not fit"),
            ("explode", "no rule named explode"),
            ("rnr for request 0", "counted from 1"),
            ("rnr for request 3..2", "K..L"),
            ("rnr for request", "ends too early"),
            ("delay 5 for request 1", "such as 50ms"),
            ("rnr for request 1 op fly", "no operation fly"),
            ("rnr for request 1 please", "what please means"),
            ("fail command creat_qp 1 errno 12", "no command creat_qp (any, alloc_async_fd, alloc_pd"),
            ("fail command any 1 errno 0", "errno 0"),
            ("port sideways after 1ms", "up or down"),
            ("remove at request 0", "counted from 1"),
            // Filters that the action doesn't look at, wherever they stand, and repeated ones.
            ("cq-overflow for completion 1 op read", "cq-overflow has no filter op (it has qp, device)"),
            ("cq-overflow for completion 1 event op read", "has no filter op"),
            ("fail command create_qp 1 errno 5 qp 3", "fail command has no filter qp (it has device)"),
            ("fail command create_qp 1 errno 5 op send", "has no filter op"),
            ("port down after 1ms op read", "port ... after has no filter op (it has device)"),
            ("port up qp 1 after 1ms", "has no filter qp"),
            ("remove op send after 1ms", "remove ... after has no filter op (it has device)"),
            ("remove after 1ms qp 7", "has no filter qp"),
            ("rnr for request 1 device 0 device 1", "device is there twice"),
            ("rnr for request 1 op send qp 1 op send", "op is there twice"),
            ("rnr for request 1 qp 1 qp 2", "qp is there twice"),
            ("remove device 0 at request 1 device 0", "device is there twice"),
        ] {
            let err = Faults::parse(text, 0, 1).unwrap_err();
            assert!(err.contains(part), "{text:?} gave {err:?}");
        }
    }
}
