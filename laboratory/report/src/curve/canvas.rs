//! The canvas of curves in a terminal: characters made of dots.

use super::{Axis, Glyphs, MOST_SERIES, Series, letter};

/// Maps a share of an axis to the nearest of `count` cells.
pub(super) fn cell_at(share: f64, count: usize) -> usize {
    (share.clamp(0.0, 1.0) * (count - 1) as f64).round() as usize
}

/// A grid of characters made of dots, each with the series that drew on it last.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    glyphs: Glyphs,
    cells: Vec<(u8, Option<char>, usize)>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize, glyphs: Glyphs) -> Canvas {
        Canvas { width, height, glyphs, cells: vec![(0, None, 0); width * height] }
    }

    /// The number of dots per character, across and down.
    const fn dots(&self) -> (usize, usize) {
        match self.glyphs {
            Glyphs::Braille => (2, 4),
            Glyphs::Ascii => (1, 1),
        }
    }

    pub(super) fn draw(&mut self, series: &Series, index: usize, x: Axis, y: Axis) {
        let (across, down) = self.dots();
        let (columns, rows) = (self.width * across, self.height * down);
        let dot = |(size, value): &(u64, f64)| {
            (cell_at(x.place(*size as f64), columns), cell_at(1.0 - y.place(*value), rows))
        };
        for pair in series.points.windows(2) {
            let ((x0, y0), (x1, y1)) = (dot(&pair[0]), dot(&pair[1]));
            let steps = x0.abs_diff(x1).max(y0.abs_diff(y1)).max(1);
            for step in 0..=steps {
                let between =
                    |from: usize, to: usize| (from * (steps - step) + to * step + steps / 2) / steps;
                self.dot(between(x0, x1), between(y0, y1), index);
            }
        }
    }

    fn dot(&mut self, x: usize, y: usize, index: usize) {
        // Braille numbers its dots down the left column, then the right; the lowest row comes last.
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let (across, down) = self.dots();
        if let Some(cell) = self.cells.get_mut(y / down * self.width + x / across) {
            cell.0 |= BITS[y % down][x % across];
            cell.2 = index;
        }
    }

    pub(super) fn mark(&mut self, series: &Series, index: usize, x: Axis, y: Axis) {
        for (size, value) in &series.points {
            let column = cell_at(x.place(*size as f64), self.width);
            let row = cell_at(1.0 - y.place(*value), self.height);
            if let Some(cell) = self.cells.get_mut(row * self.width + column) {
                // Several variants share the cell, so neither letter is right.
                cell.1 = Some(if cell.1.is_none() { letter(index) } else { '*' });
                cell.2 = index;
            }
        }
    }

    pub(super) fn lines(&self, colour: bool) -> Vec<String> {
        const COLOURS: [u8; MOST_SERIES] = [32, 33, 36, 35, 34, 31];
        let glyph = |cell: &(u8, Option<char>, usize)| match (*cell, self.glyphs) {
            ((_, Some(mark), _), _) => mark,
            ((0, None, _), _) => ' ',
            ((dots, None, _), Glyphs::Braille) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or('.'),
            (_, Glyphs::Ascii) => '.',
        };
        let paint = |cell: &(u8, Option<char>, usize)| match glyph(cell) {
            ' ' => " ".to_owned(),
            glyph if colour => format!("\u{1b}[{}m{glyph}\u{1b}[0m", COLOURS[cell.2 % COLOURS.len()]),
            glyph => glyph.to_string(),
        };
        self.cells.chunks(self.width).map(|row| row.iter().map(paint).collect()).collect()
    }
}
