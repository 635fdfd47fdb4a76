//! From a table to what it means.
//!
//! `toml::Value` is prepared to read each struct from a table, an array and a date, and each key from any of them: of all
//! that scenarios, rows and laws' constants are made of, that was most of what this crate gave the compiler to do. Here a
//! struct is a table, and a key is text.

use serde::de::value::StringDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use toml::de::Error;
use toml::{Table, Value};

/// What `table` means.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn read<T: DeserializeOwned>(table: Table) -> Result<T, String> {
    T::deserialize(Given(Value::Table(table))).map_err(|error| error.message().to_owned())
}

struct Given(Value);

impl Given {
    fn unexpected(&self) -> Unexpected<'_> {
        match &self.0 {
            Value::Boolean(value) => Unexpected::Bool(*value),
            Value::Integer(value) => Unexpected::Signed(*value),
            Value::Float(value) => Unexpected::Float(*value),
            Value::String(value) => Unexpected::Str(value),
            Value::Datetime(_) => Unexpected::Other("a date"),
            Value::Array(_) => Unexpected::Seq,
            Value::Table(_) => Unexpected::Map,
        }
    }
}

impl<'de> Deserializer<'de> for Given {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Boolean(value) => visitor.visit_bool(value),
            Value::Integer(value) => visitor.visit_i64(value),
            Value::Float(value) => visitor.visit_f64(value),
            Value::String(value) => visitor.visit_string(value),
            Value::Datetime(value) => visitor.visit_string(value.to_string()),
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Table(table) => visitor.visit_map(Entries::of(table)),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Value::Array(values) = self.0 else {
            return Err(Error::invalid_type(self.unexpected(), &visitor));
        };
        let len = values.len();
        let mut elements = Elements(values.into_iter());
        let read = visitor.visit_seq(&mut elements)?;
        let all = elements.0.len() == 0;
        if all { Ok(read) } else { Err(Error::invalid_length(len, &"fewer elements in array")) }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Value::Table(table) = self.0 else {
            return Err(Error::invalid_type(self.unexpected(), &visitor));
        };
        visitor.visit_map(Entries::of(table))
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
        visitor.visit_some(self)
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
            Value::Table(table) if table.len() == 1 => {
                let (name, value) = table.into_iter().next().expect("one entry");
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

struct Elements(std::vec::IntoIter<Value>);

impl<'de> SeqAccess<'de> for Elements {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|value| seed.deserialize(Given(value))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries {
    rest: <Table as IntoIterator>::IntoIter,
    value: Option<Value>,
}

impl Entries {
    fn of(table: Table) -> Self {
        Self { rest: table.into_iter(), value: None }
    }
}

impl<'de> MapAccess<'de> for Entries {
    type Error = Error;

    fn next_key_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(text(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let value = self.value.take().ok_or_else(|| Error::custom("a value without a key"))?;
        seed.deserialize(Given(value))
    }
}

/// A variant of an enum, with its value if there is one.
struct Choice {
    name: String,
    value: Option<Value>,
}

impl Choice {
    fn value(self) -> Result<Given, Error> {
        self.value.map(Given).ok_or_else(|| Error::custom(format!("`{}` needs a value", self.name)))
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
        seed.deserialize(self.value()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Error> {
        self.value()?.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.value()?.deserialize_map(visitor)
    }
}

fn text(text: String) -> StringDeserializer<Error> {
    text.into_deserializer()
}
