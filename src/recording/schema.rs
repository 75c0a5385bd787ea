//! The schema in `assets/record.schema.json` is what these types say of themselves.

use super::Line;
use schemars::generate::SchemaSettings;
use serde_json::json;
use std::path::Path;

#[test]
fn the_schema_in_the_assets_is_that_of_the_types() {
    let mut schema =
        SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Line>();
    schema.insert("title".to_owned(), json!("A line of a fanscope recording"));
    let said = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/record.schema.json");
    if std::env::var_os("UPDATE_ASSETS").is_some() {
        std::fs::write(&path, &said).expect("the assets can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == said,
        "assets/record.schema.json is old: run the tests with UPDATE_ASSETS=1 and commit it"
    );
}
