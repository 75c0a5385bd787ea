//! Profiles as files: what loads, what does not, and what is said about it.

use std::path::Path;

/// An environment for tests: never that of the machine.
fn env(name: &str) -> Option<String> {
    match name {
        "EMPTY" => Some(String::new()),
        "HOST" => Some("shop.example".to_owned()),
        "BARE" => Some("10".to_owned()),
        "TOKEN" => Some("s3cr3t-from-env".to_owned()),
        "BROKEN" => Some("line\nbreak".to_owned()),
        _ => None,
    }
}

/// Every bad profile is refused, and what is said about it is reviewed word by word.
#[test]
fn bad_profiles_are_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_profiles");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    assert!(names.len() >= 35, "{} bad profiles", names.len());
    for name in names {
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        let errors = fanscope::profile::parse(&name, &text, &folder, &env).expect_err(&name).to_string();
        let errors = errors.replace(&*folder.to_string_lossy(), "<folder>");
        let stem = name.trim_end_matches(".toml");
        insta::with_settings!({ snapshot_path => "bad_profiles", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(stem, errors);
        });
        assert!(!errors.contains("s3cr3t"), "{name} shows a secret:\n{errors}");
        assert!(
            !errors.chars().any(|c| c.is_control() && c != '\n'),
            "{name} lets a control character through"
        );
    }
}
