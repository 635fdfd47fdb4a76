//! Tables of a recorded call: one column a quantity, one row an event.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An integer that may be unknown; `null` in a file. It takes eight bytes, so that long calls fit into memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct OptionalInteger(i64);

impl OptionalInteger {
    /// The unknown value.
    pub const UNKNOWN: Self = Self(i64::MIN);

    /// The known value `value`; the smallest integer stands for the unknown value.
    pub const fn new(value: i64) -> Self {
        Self(value)
    }

    /// The value, if it is known.
    pub const fn get(self) -> Option<i64> {
        if self.0 == i64::MIN { None } else { Some(self.0) }
    }

    /// Whether the value is known.
    pub const fn is_known(self) -> bool {
        self.0 != i64::MIN
    }
}

impl Default for OptionalInteger {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl From<Option<i64>> for OptionalInteger {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Self::UNKNOWN, Self)
    }
}

impl core::fmt::Debug for OptionalInteger {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.get().fmt(f)
    }
}

impl Serialize for OptionalInteger {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for OptionalInteger {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for OptionalInteger {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OptionalInteger".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Option::<i64>::json_schema(generator)
    }
}

/// Columns whose lengths differ: name and length of the first, then of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnevenColumns {
    pub(crate) first: (&'static str, usize),
    pub(crate) other: (&'static str, usize),
}

impl UnevenColumns {
    /// The place and the difference, for the table `name`.
    pub(crate) fn describe(&self, name: &str) -> String {
        let Self { first: (first, rows), other: (other, others) } = self;
        format!(
            "{name}.{first} has {rows} rows and {name}.{other} has {others}; all columns of a table have as many"
        )
    }
}

/// Defines a table and the type of its rows. `by` names the type of a row.
macro_rules! table {
    ($(#[$doc:meta])* $table:ident, $(#[$row_doc:meta])* $row:ident {
        $($(#[$field_doc:meta])* $field:ident: $kind:ty,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, default)]
        pub struct $table {
            $($(#[$field_doc])* pub $field: Vec<$kind>,)*
        }

        $(#[$row_doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $row {
            $($(#[$field_doc])* pub $field: $kind,)*
        }

        impl $table {
            /// Adds a row at the end.
            pub fn push(&mut self, row: $row) {
                $(self.$field.push(row.$field);)*
            }

            /// The number of rows.
            pub fn len(&self) -> usize {
                [$(self.$field.len(),)*].into_iter().min().unwrap_or(0)
            }

            /// Whether the table has no row.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The row `index`.
            ///
            /// # Panics
            /// The table has no such row.
            pub fn row(&self, index: usize) -> $row {
                $row { $($field: self.$field[index],)* }
            }

            /// All rows, in order.
            pub fn rows(&self) -> impl ExactSizeIterator<Item = $row> + DoubleEndedIterator {
                (0..self.len()).map(|index| self.row(index))
            }

            /// Puts the rows into the order of `key`; rows of equal keys keep theirs.
            pub fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&$row) -> K) {
                if (0..self.len()).map(|index| key(&self.row(index))).is_sorted() {
                    return;
                }
                let mut order: Vec<u32> = (0..self.len() as u32).collect();
                // Without the memory of a stable sort: the place decides between equal keys.
                order.sort_unstable_by_key(|&index| (key(&self.row(index as usize)), index));
                $(self.$field = order.iter().map(|&index| self.$field[index as usize]).collect();)*
            }

            /// Two columns of different lengths, if there are any.
            pub(crate) fn uneven(&self) -> Option<super::table::UnevenColumns> {
                let lengths = [$((stringify!($field), self.$field.len()),)*];
                let first = lengths[0];
                let other = lengths.into_iter().find(|&(_, length)| length != first.1)?;
                Some(super::table::UnevenColumns { first, other })
            }
        }
    };
}

pub(crate) use table;
