//! Builds, installs and tests the Python package. If this machine lacks a tool for this, the test says so and
//! passes.

mod deep {
    use xtask::{Python, PythonDone};

    #[test]
    #[ignore = "deep: builds a wheel, and installs it and pytest with pip"]
    fn the_wheel_passes_its_tests_in_a_new_environment() {
        match xtask::python(&Python::Test).unwrap_or_else(|error| panic!("{error}")) {
            PythonDone::Wheel(path) => assert!(path.is_file(), "{}", path.display()),
            PythonDone::Lacks(what) => eprintln!("remark: {what}; the Python package is not tested"),
        }
    }
}
