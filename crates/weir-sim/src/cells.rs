//! The Wi-Fi cells of a network, and the places of its links in them.

use weir_net::{ConfigError, Dropped, Exit, Time, WifiCell, WifiLink};
use weir_world::{CellSpec, purpose, stream};

use crate::packet::Ticket;

/// Position of a link in a Wi-Fi cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellPort {
    pub(crate) cell: usize,
    /// Its number among the links of the cell.
    number: usize,
    /// Its number among all links.
    pub(crate) link: usize,
}

#[derive(Debug)]
pub(crate) struct WifiCells {
    cells: Vec<Member>,
    ports: Vec<CellPort>,
}

/// A cell, with the number among all links of each of its links.
#[derive(Debug)]
struct Member {
    cell: WifiCell<Ticket>,
    links: Vec<usize>,
}

impl WifiCells {
    /// The cells of `specs`; an error comes with the number of the cell.
    pub(crate) fn new(seed: u64, specs: &[CellSpec]) -> Result<Self, (usize, ConfigError)> {
        let (mut cells, mut ports) = (Vec::new(), Vec::new());
        for (index, spec) in specs.iter().enumerate() {
            let (links, members): (Vec<usize>, Vec<WifiLink>) = spec.links.iter().cloned().unzip();
            let cell = WifiCell::new(&spec.config, &members, stream(seed, &spec.name, purpose::CELL))
                .map_err(|error| (index, error))?;
            ports.extend(links.iter().enumerate().map(|(number, &link)| CellPort {
                cell: index,
                number,
                link,
            }));
            cells.push(Member { cell, links });
        }
        Ok(Self { cells, ports })
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The number of the port for the link `link`, if it is in a cell.
    pub(crate) fn port_of(&self, link: usize) -> Option<usize> {
        self.ports.iter().position(|port| port.link == link)
    }

    pub(crate) fn port(&self, port: usize) -> CellPort {
        self.ports[port]
    }

    pub(crate) fn enqueue(
        &mut self,
        now: Time,
        port: CellPort,
        ticket: Ticket,
    ) -> Result<(), Dropped<Ticket>> {
        self.cells[port.cell].cell.enqueue(now, port.number, ticket)
    }

    /// Removes a packet that leaves the cell at `now`; returns it with the number of its link among all.
    pub(crate) fn pop(&mut self, now: Time, cell: usize) -> Option<(usize, Exit<Ticket>)> {
        let Member { cell, links } = &mut self.cells[cell];
        let (number, exit) = cell.pop(now)?;
        Some((links[number], exit))
    }

    pub(crate) fn next_wake(&self, cell: usize) -> Time {
        self.cells[cell].cell.next_wake().unwrap_or(Time::MAX)
    }
}
