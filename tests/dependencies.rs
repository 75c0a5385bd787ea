//! Every direct dependency says why it is there, in the line above it.

#[test]
fn each_has_its_reason() {
    let manifest = include_str!("../Cargo.toml");
    let (mut inside, mut before, mut seen) = (false, "", 0);
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if inside && line.contains(" = ") && !line.starts_with('#') {
            let words = before.strip_prefix("# ").map_or(0, |why| why.split_whitespace().count());
            assert!(words >= 2, "no reason above: {line}");
            seen += 1;
        }
        before = line;
    }
    assert!(seen > 40, "only {seen} were found");
}
