//! The commands that take names accept a controller of one's own.

use std::collections::BTreeMap;
use std::fs;

use clap::FromArgMatches as _;
use weir_cc::{Controller, RateLimits, Receiver};
use weir_scenario::registry::{ControllerInfo, ControllerKind, Half, Registry, RegistryError};

use crate::args::{Args, Command};
use crate::output::OutputDirectory;

/// NADA under another name.
struct RenamedNada;

impl ControllerKind for RenamedNada {
    type Config = BTreeMap<String, f64>;

    fn info() -> ControllerInfo {
        let shipped = Registry::standard();
        ControllerInfo { name: "own".into(), ..shipped.find("nada").unwrap().clone() }
    }

    fn sender(_: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
        Registry::standard().build_sender("nada", None, limits, 1.0).map_err(|error| error.to_string())
    }

    fn receiver(_: Self::Config, limits: RateLimits) -> Half<dyn Receiver> {
        Registry::standard().build_receiver("nada", None, limits, 1.0).map_err(|error| error.to_string())
    }
}

#[test]
fn pairs_and_detection_take_it() {
    let registry = Registry::standard().with::<RenamedNada>();
    let controllers = |registry: &Registry, command: &str| {
        let words = ["weir", command, "--controller", "gcc,own"];
        let matches = Args::command_with(registry).try_get_matches_from(words)?;
        Ok::<_, clap::Error>(match Args::from_arg_matches(&matches)?.command {
            Command::Pairs(args) => args.controller,
            Command::Detection(args) => args.controller,
            _ => Vec::new(),
        })
    };
    for command in ["pairs", "detection"] {
        assert_eq!(controllers(&registry, command).unwrap(), ["gcc", "own"]);
        let error = controllers(&Registry::standard(), command).unwrap_err();
        assert!(error.exit_code() == 2 && error.to_string().contains("invalid value 'own'"), "{error}");
    }
}

#[test]
fn one_that_is_called_as_a_window_algorithm_is_refused() {
    /// Another controller for the same tests as [`RenamedNada`].
    struct Cubic;

    impl ControllerKind for Cubic {
        type Config = BTreeMap<String, f64>;

        fn info() -> ControllerInfo {
            ControllerInfo { name: "cubic".into(), ..RenamedNada::info() }
        }

        fn sender(config: Self::Config, limits: RateLimits) -> Half<dyn Controller> {
            RenamedNada::sender(config, limits)
        }

        fn receiver(config: Self::Config, limits: RateLimits) -> Half<dyn Receiver> {
            RenamedNada::receiver(config, limits)
        }
    }

    assert_eq!(Registry::standard().with::<RenamedNada>().check(), Ok(()));
    let refused = Registry::standard().with::<Cubic>().check();
    assert_eq!(refused, Err(RegistryError::WindowAlgorithm { name: "cubic".to_owned() }));
}

#[test]
fn files_of_an_earlier_run_are_removed() {
    let root = tempfile::tempdir().unwrap();
    let left = |registry: &Registry| {
        for name in ["series-own.csv", "packets-own{a=1}.pcapng", "series-other.csv"] {
            fs::write(root.path().join(name), b"old").unwrap();
        }
        OutputDirectory::prepare(root.path(), registry).unwrap().write(&Vec::new()).unwrap();
        fs::read_dir(root.path()).unwrap().count()
    };
    assert_eq!(left(&Registry::standard()), 3);
    assert_eq!(left(&Registry::standard().with::<RenamedNada>()), 1);
}
