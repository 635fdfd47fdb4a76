//! Typed configurations from data, with the path of the option in each error.
//!
//! `serde_json::Value` reads each struct from an object or an array, and each key from many types. The compiler then generates
//! several times the code. Here a struct is an object, and a key is text.

use std::fmt;

use serde::de::value::StringDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};

/// The configuration that `options` describe.
///
/// # Errors
/// A sentence about the first problem, with the path of its option.
pub fn read<T: DeserializeOwned>(options: Map<String, Value>) -> Result<T, String> {
    T::deserialize(ValueNode(Value::Object(options))).map_err(|error| error.to_string())
}

/// A problem and the path of its option.
#[derive(Debug)]
struct Error {
    /// Keys from the innermost to the outermost.
    path: Vec<String>,
    message: String,
}

impl Error {
    /// The same problem, seen from the object or array around it.
    fn within(mut self, key: String) -> Self {
        self.path.push(key);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            let keys: Vec<&str> = self.path.iter().rev().map(String::as_str).collect();
            write!(f, "`{}`: ", keys.join("."))?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { path: Vec::new(), message: message.to_string() }
    }
}

struct ValueNode(Value);

impl ValueNode {
    fn unexpected(&self) -> Unexpected<'_> {
        match &self.0 {
            Value::Null => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Number(value) => match (value.as_u64(), value.as_i64()) {
                (Some(value), _) => Unexpected::Unsigned(value),
                (None, Some(value)) => Unexpected::Signed(value),
                (None, None) => Unexpected::Float(value.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(value) => Unexpected::Str(value),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        }
    }
}

impl<'de> Deserializer<'de> for ValueNode {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(value) => match (value.as_i64(), value.as_u64()) {
                (Some(value), _) => visitor.visit_i64(value),
                (None, Some(value)) => visitor.visit_u64(value),
                (None, None) => visitor.visit_f64(value.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(value) => visitor.visit_string(value),
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Object(object) => visitor.visit_map(TableEntries::of(object)),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Value::Array(values) = self.0 else {
            return Err(Error::invalid_type(self.unexpected(), &visitor));
        };
        let len = values.len();
        let mut elements = Elements { rest: values.into_iter(), index: 0 };
        let read = visitor.visit_seq(&mut elements)?;
        let all = elements.rest.len() == 0;
        if all { Ok(read) } else { Err(Error::invalid_length(len, &"fewer elements in array")) }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Value::Object(object) = self.0 else {
            return Err(Error::invalid_type(self.unexpected(), &visitor));
        };
        visitor.visit_map(TableEntries::of(object))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(Choice { name, value: None }),
            Value::Object(object) if object.len() == 1 => {
                let (name, value) = object.into_iter().next().expect("one entry");
                visitor.visit_enum(Choice { name, value: Some(value) })
            }
            _ => Err(Error::invalid_type(self.unexpected(), &visitor)),
        }
    }

    forward_to_deserialize_any! {
        bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 char str string unit bytes byte_buf unit_struct tuple_struct tuple
        ignored_any identifier
    }
}

struct Elements {
    rest: std::vec::IntoIter<Value>,
    index: usize,
}

impl<'de> SeqAccess<'de> for Elements {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(value) = self.rest.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        seed.deserialize(ValueNode(value)).map(Some).map_err(|error| error.within(index.to_string()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct TableEntries {
    rest: serde_json::map::IntoIter,
    /// The entry whose key was read last.
    entry: Option<(String, Value)>,
}

impl TableEntries {
    fn of(object: Map<String, Value>) -> Self {
        Self { rest: object.into_iter(), entry: None }
    }
}

impl<'de> MapAccess<'de> for TableEntries {
    type Error = Error;

    fn next_key_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.entry = Some((key.clone(), value));
        seed.deserialize(text(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let (key, value) = self.entry.take().ok_or_else(|| Error::custom("a value without a key"))?;
        seed.deserialize(ValueNode(value)).map_err(|error| error.within(key))
    }
}

/// A variant of an enum, with its value if there is one.
struct Choice {
    name: String,
    value: Option<Value>,
}

impl Choice {
    /// Reads the value of the variant by `read`, and puts the variant's name into the path of an error.
    fn read<T>(self, read: impl FnOnce(ValueNode) -> Result<T, Error>) -> Result<T, Error> {
        let Self { name, value } = self;
        let value = value.ok_or_else(|| Error::custom(format!("`{name}` needs a value")))?;
        read(ValueNode(value)).map_err(|error| error.within(name))
    }
}

impl<'de> EnumAccess<'de> for Choice {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Error> {
        Ok((seed.deserialize(text(self.name.clone()))?, self))
    }
}

impl<'de> VariantAccess<'de> for Choice {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        let alone = self.value.is_none();
        if alone { Ok(()) } else { Err(Error::custom(format!("`{}` has no value", self.name))) }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        self.read(|value| seed.deserialize(value))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Error> {
        self.read(|value| value.deserialize_seq(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.read(|value| value.deserialize_map(visitor))
    }
}

fn text(text: String) -> StringDeserializer<Error> {
    text.into_deserializer()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        inner: Vec<Inner>,
        #[serde(default)]
        limit: Option<f64>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        count: u8,
    }

    fn outer(options: Value) -> Result<Outer, String> {
        let Value::Object(options) = options else { panic!("no object") };
        read(options)
    }

    #[test]
    fn an_error_names_the_path_of_its_option() {
        let error = outer(json!({ "inner": [{ "count": 1 }, { "count": 300 }] })).unwrap_err();
        assert_eq!(error, "`inner.1.count`: invalid value: integer `300`, expected u8");
        let error = outer(json!({ "inner": [{ "count": "1" }] })).unwrap_err();
        assert_eq!(error, "`inner.0.count`: invalid type: string \"1\", expected u8");
        let error = outer(json!({ "inner": [], "other": 1 })).unwrap_err();
        assert_eq!(error, "unknown field `other`, expected `inner` or `limit`");
    }

    #[test]
    fn the_path_of_an_option_within_a_variant_has_the_variant() {
        #[derive(Debug, PartialEq, Deserialize)]
        enum Either {
            Factor(f64),
        }
        #[derive(Debug, PartialEq, Deserialize)]
        struct With {
            pacing: Either,
        }
        let options = |value: Value| read::<With>(json!({ "pacing": value }).as_object().unwrap().clone());
        assert_eq!(options(json!({ "Factor": 2 })), Ok(With { pacing: Either::Factor(2.0) }));
        let error = options(json!({ "Factor": "x" })).unwrap_err();
        assert_eq!(error, "`pacing.Factor`: invalid type: string \"x\", expected f64");
        assert_eq!(options(json!("Factor")).unwrap_err(), "`pacing`: `Factor` needs a value");
    }

    #[test]
    fn null_is_an_absent_value_and_a_whole_number_is_a_float() {
        let read = |limit: Value| outer(json!({ "inner": [], "limit": limit })).unwrap().limit;
        assert_eq!(read(Value::Null), None);
        assert_eq!(read(json!(2)), Some(2.0));
    }
}
