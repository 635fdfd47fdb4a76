//! The file format: sections of blocks (draft-ietf-opsawg-pcapng), in little-endian order.

use std::io::{self, Write};

/// Packets begin with their IP header.
const LINKTYPE_RAW: u16 = 101;
/// Length limit of a captured packet: RTCP, the longest content that is kept whole, fits into 1500 bytes.
const SNAP_LENGTH: u32 = 1500;

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const OPTION_END: u16 = 0;
const SHB_USER_APPLICATION: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TIME_RESOLUTION: u16 = 9;
/// Times are in units of 10⁻⁹ s.
const NANOSECONDS: u8 = 9;

/// A pcapng file in writing, of packets that begin with their IP header.
#[derive(Debug)]
pub struct PcapNg<W> {
    out: W,
    /// The body of the block to be written.
    block: Vec<u8>,
    interfaces: u32,
}

impl<W: Write> PcapNg<W> {
    /// A file of one section without interfaces.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn new(out: W) -> io::Result<Self> {
        let mut file = Self { out, block: Vec::new(), interfaces: 0 };
        file.put(BYTE_ORDER_MAGIC);
        file.block.extend(1u16.to_le_bytes());
        file.block.extend(0u16.to_le_bytes());
        file.block.extend((-1i64).to_le_bytes()); // length of the section: not given
        file.option(SHB_USER_APPLICATION, concat!("weir ", env!("CARGO_PKG_VERSION")).as_bytes());
        file.option(OPTION_END, &[]);
        file.end_block(SECTION_HEADER)?;
        Ok(file)
    }

    /// Describes an interface and returns its number. Interfaces come before packets.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn interface(&mut self, name: &str) -> io::Result<u32> {
        self.block.extend(LINKTYPE_RAW.to_le_bytes());
        self.block.extend(0u16.to_le_bytes());
        self.put(SNAP_LENGTH);
        self.option(IF_NAME, name.as_bytes());
        self.option(IF_TIME_RESOLUTION, &[NANOSECONDS]);
        self.option(OPTION_END, &[]);
        self.end_block(INTERFACE_DESCRIPTION)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// A packet of `whole` bytes, of which `bytes` are kept. `nanos` is its time.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn packet(&mut self, interface: u32, nanos: u64, bytes: &[u8], whole: u32) -> io::Result<()> {
        self.put(interface);
        self.put((nanos >> 32) as u32);
        self.put(nanos as u32);
        self.put(bytes.len() as u32);
        self.put(whole);
        self.block.extend(bytes);
        self.end_block(ENHANCED_PACKET)
    }

    /// Ends the file and returns the output.
    ///
    /// # Errors
    /// Errors of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn put(&mut self, value: u32) {
        self.block.extend(value.to_le_bytes());
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.block.extend(code.to_le_bytes());
        self.block.extend((value.len() as u16).to_le_bytes());
        self.block.extend(value);
        self.pad();
    }

    /// Every block and option begins at a multiple of 4 bytes.
    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Writes the block: its type, its length, its body, and its length again.
    fn end_block(&mut self, kind: u32) -> io::Result<()> {
        self.pad();
        let length = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.block)?;
        self.block.clear();
        self.out.write_all(&length)
    }
}
