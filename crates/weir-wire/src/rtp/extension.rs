//! Header extensions (RFC 8285): elements of an ID and some data, in a one-byte and a two-byte form.

/// Profile word of the one-byte form.
pub(crate) const ONE_BYTE_PROFILE: u16 = 0xBEDE;
/// Profile word of the two-byte form; its lower four bits are free and sent as 0.
pub(super) const TWO_BYTE_PROFILE: u16 = 0x1000;
/// In the one-byte form this ID ends the block.
const STOP_ID: u8 = 15;

/// An element of the extension block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension<'a> {
    /// Its ID, 1 to 255: signalling outside of RTP defines its meaning.
    pub id: u8,
    /// Its data, up to 255 bytes.
    pub data: &'a [u8],
}

/// The extension block of an RTP header as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensionBlock<'a> {
    /// The word that defines the form of the data: 0xBEDE for the one-byte form, 0x1000 for the two-byte form.
    pub profile: u16,
    /// The data, a multiple of four bytes.
    pub data: &'a [u8],
}

impl<'a> ExtensionBlock<'a> {
    /// The elements; none if the block has neither of the two forms.
    pub fn elements(&self) -> Extensions<'a> {
        match self.profile {
            ONE_BYTE_PROFILE => Extensions { form: ExtensionForm::OneByte, rest: self.data },
            profile if profile & 0xFFF0 == TWO_BYTE_PROFILE => {
                Extensions { form: ExtensionForm::TwoByte, rest: self.data }
            }
            _ => Extensions::NONE,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExtensionForm {
    OneByte,
    TwoByte,
}

impl ExtensionForm {
    /// The shortest form that can carry `elements`.
    pub(super) fn for_elements(elements: &[Extension<'_>]) -> Self {
        let fits_one_byte = |e: &Extension<'_>| e.id < STOP_ID && (1..=16).contains(&e.data.len());
        if elements.iter().all(fits_one_byte) { Self::OneByte } else { Self::TwoByte }
    }

    /// Bytes before the data of an element.
    pub(super) const fn prefix_len(self) -> usize {
        match self {
            Self::OneByte => 1,
            Self::TwoByte => 2,
        }
    }

    pub(super) const fn profile(self) -> u16 {
        match self {
            Self::OneByte => ONE_BYTE_PROFILE,
            Self::TwoByte => TWO_BYTE_PROFILE,
        }
    }

    /// Whether an element's first byte is one byte of padding. The one-byte form has a length there too; with ID 0
    /// it has no meaning.
    const fn is_padding(self, first: u8) -> bool {
        match self {
            Self::OneByte => first >> 4 == 0,
            Self::TwoByte => first == 0,
        }
    }
}

/// The elements of an extension block, in order.
///
/// An element that runs past the end of the block is left out together with all after it.
#[derive(Clone, Debug)]
pub struct Extensions<'a> {
    form: ExtensionForm,
    rest: &'a [u8],
}

impl<'a> Extensions<'a> {
    pub(super) const NONE: Self = Self { form: ExtensionForm::OneByte, rest: &[] };

    fn element(&self) -> Option<(Extension<'a>, &'a [u8])> {
        let padding = self.rest.iter().take_while(|&&byte| self.form.is_padding(byte)).count();
        let (id, length, rest) = match (self.form, self.rest.get(padding..)?) {
            (ExtensionForm::OneByte, &[first, ref rest @ ..]) if first >> 4 != STOP_ID => {
                (first >> 4, (first & 0xF) + 1, rest)
            }
            (ExtensionForm::TwoByte, &[id, length, ref rest @ ..]) => (id, length, rest),
            _ => return None,
        };
        let (data, rest) = rest.split_at_checked(usize::from(length))?;
        Some((Extension { id, data }, rest))
    }
}

impl<'a> Iterator for Extensions<'a> {
    type Item = Extension<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let (element, rest) = self.element().unzip();
        self.rest = rest.unwrap_or_default();
        element
    }
}

impl core::iter::FusedIterator for Extensions<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    /// The elements of an extension block with this profile.
    fn elements(profile: u16, data: &str) -> Vec<(u8, Vec<u8>)> {
        let data = hex(data);
        let block = ExtensionBlock { profile, data: &data };
        block.elements().map(|e| (e.id, e.data.to_vec())).collect()
    }

    #[test]
    fn one_byte_elements_may_be_padded_anywhere() {
        let found = elements(0xBEDE, "00 10 aa 00 00 21 bb cc 00");
        assert_eq!(found, [(1, vec![0xaa]), (2, vec![0xbb, 0xcc])]);
    }

    #[test]
    fn one_byte_padding_is_one_byte_long_whatever_its_length_says() {
        // 0x03 has ID 0 and length 4: one byte of padding, and 0x10 begins an element.
        assert_eq!(elements(0xBEDE, "03 10 aa 00"), [(1, vec![0xaa])]);
    }

    #[test]
    fn id_15_ends_the_one_byte_form() {
        assert_eq!(elements(0xBEDE, "10 aa f0 bb 20 cc 00 00"), [(1, vec![0xaa])]);
    }

    #[test]
    fn the_longest_one_byte_element_has_16_bytes() {
        let found = elements(0xBEDE, "ef 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f");
        assert_eq!(found, [(14, (0..16).collect())]);
    }

    #[test]
    fn two_byte_elements_may_be_empty_and_have_any_id() {
        let found = elements(0x1000, "0f 00 00 ff 02 aa bb 01 01 cc");
        assert_eq!(found, [(15, vec![]), (255, vec![0xaa, 0xbb]), (1, vec![0xcc])]);
    }

    #[test]
    fn the_lower_bits_of_the_two_byte_profile_do_not_matter() {
        assert_eq!(elements(0x100F, "01 01 cc 00"), [(1, vec![0xcc])]);
        assert_eq!(elements(0x1010, "01 01 cc 00"), []);
    }

    #[test]
    fn an_element_past_the_end_is_dropped_and_those_before_it_kept() {
        assert_eq!(elements(0xBEDE, "10 aa 22 bb"), [(1, vec![0xaa])]);
        assert_eq!(elements(0x1000, "01 01 aa 02 05 bb 00 00"), [(1, vec![0xaa])]);
        assert_eq!(elements(0x1000, "01 01 aa 02"), [(1, vec![0xaa])]);
    }

    #[test]
    fn after_the_end_there_is_nothing() {
        let data = hex("10 aa f0 00 10 bb 00 00");
        let mut elements = ExtensionBlock { profile: 0xBEDE, data: &data }.elements();
        assert!(elements.next().is_some());
        assert_eq!((elements.next(), elements.next()), (None, None));
    }
}
