use super::*;

fn folder() -> (tempfile::TempDir, Folder) {
    let directory = tempfile::tempdir().unwrap();
    let folder = Folder::open(&directory.path().join("results")).unwrap();
    (directory, folder)
}

fn files(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(&folder.0).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn what_is_put_into_a_folder_is_there_to_the_last_bit_and_nothing_else_is() {
    let (_directory, folder) = folder();
    let values = [0.1 + 0.2, 1.0 / 3.0, 5e-324, f64::MAX, -0.0];
    folder.put("a/b: 1", &values.to_vec()).unwrap();
    let found: Vec<f64> = folder.get("a/b: 1").unwrap();
    assert!(found.iter().zip(values).all(|(found, value)| found.to_bits() == value.to_bits()), "{found:?}");
    assert_eq!(Store::<Vec<f64>>::get(&folder, "a/b: 2"), None);
    assert_eq!(files(&folder), ["a%2fb%3a%201.json"]);
}

#[test]
fn a_damaged_entry_is_none() {
    let (_directory, folder) = folder();
    let path = folder.file("key", "json");
    folder.put("key", &[1.0, 2.5]).unwrap();
    let whole = std::fs::read_to_string(&path).unwrap();
    let damaged = [&whole[..whole.len() - 2], &whole.replace("2.5", "3.5"), "", "\n", "0 key\n[1.0]"];
    for text in damaged {
        std::fs::write(&path, text).unwrap();
        assert_eq!(Store::<Vec<f64>>::get(&folder, "key"), None, "{text:?}");
    }
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    assert_eq!(Store::<Vec<f64>>::get(&folder, "key"), None);
    // The right text of another key is not this one's.
    std::fs::write(&path, &whole).unwrap();
    std::fs::rename(&path, folder.file("other", "json")).unwrap();
    assert_eq!(Store::<Vec<f64>>::get(&folder, "other"), None);
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let (_directory, folder) = folder();
    // A directory stands where the file should go.
    std::fs::create_dir(folder.file("key", "json")).unwrap();
    let error = folder.put("key", &1).unwrap_err();
    assert!(error.path.ends_with("key.json"), "{error}");
    assert_eq!(files(&folder), ["key.json"]);
}

#[test]
fn long_keys_that_begin_alike_have_files_of_their_own() {
    let (_directory, folder) = folder();
    let keys = ["x".repeat(1000), "x".repeat(1001)];
    keys.iter().zip([1, 2]).for_each(|(key, value)| folder.put(key, &value).unwrap());
    assert_eq!(keys.map(|key| folder.get(&key)), [Some(1), Some(2)]);
    assert_eq!(files(&folder).len(), 2);
}
