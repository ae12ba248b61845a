//! Passes the versions of the audited crates, from `Cargo.lock`, to the compiler.

use std::path::Path;

fn main() {
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("set by Cargo");
    let lock = Path::new(&root).join("../../Cargo.lock");
    println!("cargo:rerun-if-changed={}", lock.display());
    println!("cargo:rerun-if-changed=build.rs");
    let text = std::fs::read_to_string(&lock).unwrap_or_default();
    let table: toml::Table = text.parse().expect("Cargo.lock is TOML");
    let packages: Vec<(&str, &str)> = table
        .get("package")
        .and_then(toml::Value::as_array)
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .filter_map(|package| Some((package.get("name")?.as_str()?, package)))
        .filter_map(|(name, package)| Some((name, package.get("version")?.as_str()?)))
        .collect();
    for name in [
        "etherparse",
        "internet-checksum",
        "pnet_packet",
        "s2n-quic-core",
        "smoltcp",
        "stringzilla",
        "zeroize",
    ] {
        // If several versions are locked, the name alone does not determine which one is linked.
        let versions: Vec<&str> =
            packages.iter().filter(|(found, _)| *found == name).map(|(_, version)| *version).collect();
        let version = if let [one] = versions[..] { one } else { "" };
        let variable = name.to_uppercase().replace('-', "_");
        println!("cargo:rustc-env=CARRYLINE_AUDITED_{variable}={version}");
    }
}
