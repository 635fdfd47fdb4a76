//! `weir completions` and `weir man`.

use crate::support::Place;

#[test]
fn each_shell_completes_the_commands() {
    let place = Place::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = place.weir(&format!("completions {shell}")).stdout;
        for word in ["suite", "controller"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
        // Not every shell completes the values that an argument can have.
        if ["bash", "zsh"].contains(&shell) {
            assert!(script.contains("fse-2014-2"), "{shell}");
        }
    }
    assert_eq!(place.try_weir("completions tcsh").code, Some(2));
}

#[test]
fn bash_takes_the_script() {
    let place = Place::new();
    place.write("weir.bash", &place.weir("completions bash").stdout);
    let line =
        "source weir.bash; COMP_WORDS=(weir sui) COMP_CWORD=1; _weir weir sui weir; echo ${COMPREPLY[*]}";
    let output = std::process::Command::new("bash").args(["-c", line]).current_dir(place.path()).output();
    assert_eq!(String::from_utf8_lossy(&output.unwrap().stdout), "suite\n");
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    let page = place.weir("man").stdout;
    assert!(page.contains(".TH weir 1") && page.contains("weir\\-reproduce(1)"), "{page}");
    assert_eq!(place.weir("man --out pages").stdout.split(' ').next_back(), Some("pages\n"));
    assert_eq!(place.read("pages/weir.1"), page);
    for (name, words) in [
        ("weir-run.1", "\\-\\-controller"),
        ("weir-trace-cut.1", "Where the part begins"),
        ("weir-new-controller.1", "weir new controller"),
    ] {
        assert!(place.read(&format!("pages/{name}")).contains(words), "{name}");
    }
    place.write("taken", "");
    assert_eq!(place.try_weir("man --out taken").code, Some(2));
}
