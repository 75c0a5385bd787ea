//! How numbers and ordered objects look in a line.

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// A time in a line: milliseconds as a number with at most three decimals, so exact to the microsecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Millis {
    micros: u64,
}

impl Millis {
    /// The time in microseconds.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.micros
    }

    /// The time from an earlier one to this; zero where that is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self { micros: self.micros.saturating_sub(earlier.micros) }
    }
}

impl From<Duration> for Millis {
    /// Rounded to the nearest microsecond.
    fn from(time: Duration) -> Self {
        let micros = time.as_nanos().saturating_add(500) / 1000;
        Self { micros: u64::try_from(micros).unwrap_or(u64::MAX) }
    }
}

impl From<Millis> for Duration {
    fn from(time: Millis) -> Self {
        Self::from_micros(time.micros)
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.micros.is_multiple_of(1000) {
            return to.serialize_u64(self.micros / 1000);
        }
        #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 µs, which are 285 years")]
        let micros = self.micros as f64;
        // A division by 1000 is correctly rounded, so the shortest text for it has at most three decimals.
        to.serialize_f64(micros / 1000.0)
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let ms = f64::deserialize(from)?;
        match Duration::try_from_secs_f64(ms / 1e3) {
            Ok(time) => Ok(time.into()),
            Err(_) => Err(D::Error::custom(format_args!("{ms} is not a time in milliseconds"))),
        }
    }
}

/// An object whose keys keep the order in which they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ordered<K, V>(pub Vec<(K, V)>);

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K, V> FromIterator<(K, V)> for Ordered<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl<K: Serialize, V: Serialize> Serialize for Ordered<K, V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(k, v)| (k, v)))
    }
}

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Ordered<K, V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries<K, V>(PhantomData<(K, V)>);

        impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
            type Value = Ordered<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Ordered(entries))
            }
        }

        from.deserialize_map(Entries(PhantomData))
    }
}

#[cfg(test)]
mod described {
    use super::{Millis, Ordered};
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use std::borrow::Cow;

    impl JsonSchema for Millis {
        fn schema_name() -> Cow<'static, str> {
            "Milliseconds".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "number", "minimum": 0, "description": "Milliseconds with at most three decimals." })
        }
    }

    impl<K: JsonSchema, V: JsonSchema> JsonSchema for Ordered<K, V> {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            format!("{}By{}", V::schema_name(), K::schema_name()).into()
        }

        fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
            let (keys, values) = (schemas.subschema_for::<K>(), schemas.subschema_for::<V>());
            json_schema!({ "type": "object", "propertyNames": keys, "additionalProperties": values })
        }
    }

    impl JsonSchema for crate::domain::TraceId {
        fn schema_name() -> Cow<'static, str> {
            "TraceId".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "string", "pattern": "^[0-9a-f]{32}$" })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(nanos: u64) -> String {
        serde_json::to_string(&Millis::from(Duration::from_nanos(nanos))).unwrap()
    }

    #[test]
    fn milliseconds_have_at_most_three_decimals() {
        assert_eq!(written(0), "0");
        assert_eq!(written(200_000_000), "200");
        assert_eq!(written(200_600_000), "200.6");
        assert_eq!(written(1_234_499), "1.234");
        assert_eq!(written(1_234_500), "1.235");
        assert_eq!(written(400), "0");
    }

    #[test]
    fn times_that_are_none_are_refused() {
        assert!(serde_json::from_str::<Millis>("-1").is_err());
        assert!(serde_json::from_str::<Millis>("1e300").is_err());
        assert_eq!(serde_json::from_str::<Millis>("7").unwrap(), Duration::from_millis(7).into());
    }

    #[test]
    fn an_ordered_object_keeps_its_order() {
        let text = r#"{"b":1,"a":2}"#;
        let parsed: Ordered<String, u32> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&parsed).unwrap(), text);
    }

    proptest! {
        #[test]
        fn a_time_reads_back_to_the_microsecond(micros in 0u64..(1 << 50)) {
            let time = Millis { micros };
            let text = serde_json::to_string(&time).unwrap();
            prop_assert!(text.split_once('.').is_none_or(|(_, decimals)| decimals.len() <= 3), "{}", text);
            prop_assert_eq!(serde_json::from_str::<Millis>(&text).unwrap(), time);
        }
    }
}
