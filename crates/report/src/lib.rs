//! Tables, rankings and pages.
