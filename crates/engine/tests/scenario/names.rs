//! Tests of generated names: every accepted name is written as an accepted name.

use cellyard_engine::scenario::{read_toml, write_toml};
use proptest::prelude::*;

/// A network whose entries have names of these lengths. Length 0 means a link without a name.
fn text(lengths: [usize; 4], duplex: bool, count: u64) -> String {
    let [host, switch, link, vc] = lengths;
    let name = |letter: &str, n: usize| letter.repeat(n);
    let named = |n: usize| match n {
        0 => String::new(),
        n => format!("name = \"{}\", ", name("l", n)),
    };
    format!(
        r#"
duration = "1 ms"
host = [{{ name = "{a}", count = {count} }}, {{ name = "{b}", count = {count} }}]
switch = [{{ name = "{s}" }}]
link = [
  {{ {first}from = "{a}", to = "{s}", rate = "10 Mbps", duplex = {duplex} }},
  {{ name = "x", from = "{s}", to = "{b}", rate = "10 Mbps", duplex = true }},{back}
]
vc = [{{ name = "{v}", from = "{a}", to = "{b}", traffic = "tcp" }}]
"#,
        a = name("a", host),
        b = name("b", host),
        s = name("s", switch),
        v = name("v", vc),
        first = named(link),
        back = if duplex {
            String::new()
        } else {
            format!(
                "{{ name = \"y\", from = \"{}\", to = \"{}\", rate = \"10 Mbps\", duplex = false }}",
                name("s", switch),
                name("a", host)
            )
        },
    )
}

proptest! {
    #[test]
    fn what_is_accepted_is_written_as_something_that_is(
        host in prop_oneof![1usize..5, 50usize..=64],
        switch in prop_oneof![1usize..5, 50usize..=64],
        link in prop_oneof![Just(0usize), 50usize..=64],
        vc in 50usize..=64,
        duplex: bool,
        count in prop_oneof![Just(1u64), Just(9), Just(10), Just(100)],
    ) {
        // Link names consist of both ends' names, `-back`, and as many digits as the last member
        // has.
        let digits = count.to_string().len();
        let back = if duplex { 5 } else { 0 };
        let first = if link > 0 { link + digits + back } else { host + digits + switch + 2 };
        let longest = [host + digits, switch, first, vc + digits].into_iter().max();
        match read_toml(&text([host, switch, link, vc], duplex, count), "", &[]) {
            Ok(scenario) => {
                prop_assert!(longest <= Some(64));
                prop_assert_eq!(read_toml(&write_toml(&scenario), "", &[]), Ok(scenario));
            }
            Err(problems) => {
                prop_assert!(longest > Some(64), "{}", problems[0]);
                for problem in problems {
                    prop_assert!(problem.message.contains("longer than 64 characters"), "{}", problem);
                }
            }
        }
    }
}

#[test]
fn a_name_that_gets_too_long_is_told_with_the_entry_that_makes_it() {
    let problems =
        read_toml(&text([60, 3, 0, 64], false, 1), "net.toml", &[]).expect_err("it is too long");
    let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert!(
        told[0].starts_with("net.toml:6:3: link[0].name: creates the name `aaa"),
        "{}",
        told[0]
    );
    assert!(told[1].contains("vc[0].name = \"vvv"), "{}", told[1]);
    assert_eq!(told.len(), 2);
}
