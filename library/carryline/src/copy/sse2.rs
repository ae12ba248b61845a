//! Copying with 16-byte moves, `rep movsb` and non-temporal stores, for every CPU of the architecture.

use super::ladder::ladder;
use super::portable::{SMALL_MOST_BYTES, SMALLEST_MOST_BYTES, read_here as short_read_here, small, smallest};
use crate::blocks::Block16;

ladder!(Block16);
