//! Cached runs of suites without any controller: they are the same for every controller under test.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use weir_study::runs::{BUILT_FROM, ResultLog};

/// The variable that names the folder; if it is empty, nothing is cached.
const VARIABLE: &str = "WEIR_CACHE";
/// Number of logs kept from commands built from other sources.
const OTHERS: usize = 4;

/// Length in bytes at which a log starts anew.
const LONGEST: u64 = 64 << 20;

/// The log of this version, read-only where another process has it open, or `None` without a cache.
pub(crate) fn reference_runs() -> Option<ResultLog> {
    let folder = folder()?;
    fs::create_dir_all(&folder).ok()?;
    let [version, sources] = BUILT_FROM;
    let path = folder.join(format!("reference-runs-{version}-{sources}.log"));
    forget_old(&folder, &path);
    if fs::metadata(&path).is_ok_and(|log| log.len() > LONGEST) {
        let _ = fs::remove_file(&path);
    }
    ResultLog::open(&path, &[]).or_else(|_| ResultLog::read(&path)).ok()
}

/// The folder of this command's caches: that of the variable, or by the custom of the platform.
fn folder() -> Option<PathBuf> {
    if let Some(given) = env::var_os(VARIABLE) {
        return (!given.is_empty()).then(|| PathBuf::from(given));
    }
    let of = |name: &str, below: &str| {
        let home = env::var_os(name).filter(|home| !home.is_empty())?;
        Some(PathBuf::from(home).join(below))
    };
    of("XDG_CACHE_HOME", "weir").or_else(|| of("LOCALAPPDATA", "weir")).or_else(|| of("HOME", ".cache/weir"))
}

/// Removes all logs of other versions but the newest ones.
fn forget_old(folder: &Path, own: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut others: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter(|entry| {
            let name = entry.file_name();
            let is_log = |prefix: &&str| name.to_string_lossy().starts_with(prefix);
            // Versions before 0.3 wrote the second name.
            entry.path() != own && ["reference-runs-", "yardsticks-"].iter().any(is_log)
        })
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    others.sort();
    let old = others.len().saturating_sub(OTHERS);
    for (_, path) in &others[..old] {
        // A file that cannot be removed only costs space.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_logs_of_other_versions_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let own = path("reference-runs-own.log");
        fs::write(&own, "").unwrap();
        fs::write(path("notes"), "").unwrap();
        for age in 0..6_u64 {
            let file = fs::File::create(path(&format!("reference-runs-{age}.log"))).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1000 - age)).unwrap();
        }
        forget_old(folder.path(), &own);
        let stays = |age: u64| path(&format!("reference-runs-{age}.log")).exists();
        assert_eq!((0..6).map(stays).collect::<Vec<_>>(), [true, true, true, true, false, false]);
        assert!(own.exists() && path("notes").exists());
    }
}
