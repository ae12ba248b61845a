//! With the feature `dpdk`: compiles DPDK's checksum from its installed header. Otherwise it does nothing.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "dpdk")]
    if let Err(reason) = dpdk::build() {
        println!("cargo::error=feature `dpdk`: {reason}");
        println!(
            "cargo::error=it needs DPDK's headers, pkg-config and a C compiler; on Debian: apt-get install \
             libdpdk-dev pkg-config gcc"
        );
        std::process::exit(1);
    }
}

#[cfg(feature = "dpdk")]
mod dpdk {
    use std::path::Path;
    use std::process::Command;

    const SHIM: &str = "src/checksum/dpdk_shim.c";
    /// The level of DPDK's own examples; GCC 12 does not vectorise the loop at `-O2`.
    const OPTIMISATION: u32 = 3;

    pub(super) fn build() -> Result<(), String> {
        println!("cargo::rerun-if-changed={SHIM}");
        for variable in ["PKG_CONFIG", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR"] {
            println!("cargo::rerun-if-env-changed={variable}");
        }

        let version = pkg_config("--modversion")?;
        // An upgrade of DPDK rewrites this file, and may change the inline functions.
        let package = Path::new(&pkg_config("--variable=pcfiledir")?).join("libdpdk.pc");
        println!("cargo::rerun-if-changed={}", package.display());

        let mut compiler = cc::Build::new();
        compiler.file(SHIM).opt_level(OPTIMISATION).warnings(true);
        let x86_64 = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64");
        for flag in pkg_config("--cflags")?.split_whitespace() {
            // A DPDK built for this machine has `native` here, which the variant's `needs` cannot state.
            if !(x86_64 && flag.starts_with("-march=")) {
                compiler.flag(flag);
            }
        }
        if x86_64 {
            // The minimum that DPDK supports.
            compiler.flag("-march=corei7");
        }
        compiler.try_compile("carryline_dpdk").map_err(|error| error.to_string())?;

        let tool = compiler.try_get_compiler().map_err(|error| error.to_string())?;
        let flags: Vec<&str> = tool.args().iter().filter_map(|flag| flag.to_str()).collect();
        // The last flag of each kind counts; `CFLAGS` and the Rust target add theirs.
        let last = |kind: &str| flags.iter().rfind(|flag| flag.starts_with(kind)).copied();
        let flags: Vec<&str> = ["-O", "-march="].into_iter().filter_map(last).collect();
        println!("cargo::rustc-env=CARRYLINE_DPDK_VERSION={version}");
        println!("cargo::rustc-env=CARRYLINE_DPDK_FLAGS={}", flags.join(" "));
        Ok(())
    }

    fn pkg_config(question: &str) -> Result<String, String> {
        let program = std::env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_owned());
        let output = Command::new(&program)
            .args([question, "libdpdk"])
            .output()
            .map_err(|error| format!("cannot start {program}: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let first = said.lines().next().unwrap_or_default();
            return Err(format!("{program} {question} libdpdk failed: {first}"));
        }
        let answer = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
        Ok(answer.trim().to_owned())
    }
}
