//! Keys: each maps to an action, and an action changes the state and may have an effect outside it.

use super::state::{Sort, State, View};
use carryline_report::units::Unit;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The keys with their descriptions, for the help screen.
pub const HELP: &[(&str, &str)] = &[
    ("f F", "next, previous family"),
    ("z Z", "next, previous size (also + and -)"),
    ("o O", "next, previous pair of addresses"),
    ("c C", "next, previous state of the caches"),
    ("s S", "sort by: the list, names, speed (in the table: each column)"),
    ("t", "the table of all columns, and back to the bars of one"),
    ("< >", "another column for the bars (also left and right)"),
    ("u U", "next, previous unit"),
    ("p", "pause or resume (also space)"),
    ("r", "restart: discard the measurements"),
    ("up down", "scroll by a row; page up, page down, home"),
    ("h", "this help (also ?)"),
    ("q", "quit and save the run"),
    ("Ctrl-C", "stop immediately; the run is saved as interrupted"),
];

/// The keys in one line.
pub const LINE: &str = "f family z size o offsets c cache s sort t table u unit p pause h help q quit";

/// The action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Another family.
    Family(isize),
    /// Another size.
    Size(isize),
    /// Another pair of addresses.
    Offsets(isize),
    /// Another state of the caches.
    Cache(isize),
    /// Another order of the rows.
    Sort(isize),
    /// Bars or the table.
    View,
    /// Another column for the bars.
    Column(isize),
    /// Another unit.
    Unit(isize),
    /// Pause or resume.
    Pause,
    /// Discard the measurements and start again.
    Restart,
    /// Scroll through the rows.
    Scroll(isize),
    /// Show the help, or the figures again.
    Help,
    /// Close the help, or quit.
    Back,
    /// Quit.
    Quit,
    /// Stop immediately.
    Interrupt,
}

/// The effect of an action outside the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Redraw only.
    Draw,
    /// Measure something else.
    Restart,
    /// Save the run and quit.
    Quit,
    /// Save the run as interrupted and quit.
    Interrupt,
}

/// Rows to scroll with a page key.
const PAGE: isize = 10;

/// The action of a key, if it has one.
pub fn action(key: KeyEvent) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(Action::Interrupt),
            KeyCode::Char('d') => Some(Action::Quit),
            _ => None,
        };
    }
    Some(match key.code {
        KeyCode::Char('f') => Action::Family(1),
        KeyCode::Char('F') => Action::Family(-1),
        KeyCode::Char('z' | '+') => Action::Size(1),
        KeyCode::Char('Z' | '-') => Action::Size(-1),
        KeyCode::Char('o') => Action::Offsets(1),
        KeyCode::Char('O') => Action::Offsets(-1),
        KeyCode::Char('c') => Action::Cache(1),
        KeyCode::Char('C') => Action::Cache(-1),
        KeyCode::Char('s') => Action::Sort(1),
        KeyCode::Char('S') => Action::Sort(-1),
        KeyCode::Char('t') => Action::View,
        KeyCode::Char('>') | KeyCode::Right => Action::Column(1),
        KeyCode::Char('<') | KeyCode::Left => Action::Column(-1),
        KeyCode::Char('u') => Action::Unit(1),
        KeyCode::Char('U') => Action::Unit(-1),
        KeyCode::Char('p' | ' ') => Action::Pause,
        KeyCode::Char('r') => Action::Restart,
        KeyCode::Down | KeyCode::Char('j') => Action::Scroll(1),
        KeyCode::Up | KeyCode::Char('k') => Action::Scroll(-1),
        KeyCode::PageDown => Action::Scroll(PAGE),
        KeyCode::PageUp => Action::Scroll(-PAGE),
        KeyCode::Home => Action::Scroll(isize::MIN),
        KeyCode::Char('h' | '?') | KeyCode::F(1) => Action::Help,
        KeyCode::Esc => Action::Back,
        KeyCode::Char('q') => Action::Quit,
        _ => return None,
    })
}

/// Steps through the orders of the rows: the list, names, then each column shown.
fn next_sort(state: &State, by: isize) -> Sort {
    let mut orders = vec![Sort::List, Sort::Name];
    match state.view {
        View::Table => orders.extend((0..state.live.situations.len()).map(Sort::Column)),
        View::Bars => orders.push(Sort::Column(state.column)),
    }
    // An order by another column than that of the bars counts as theirs.
    let at = orders.iter().position(|order| *order == state.sort).unwrap_or(2);
    orders[(at as isize + by).rem_euclid(orders.len() as isize) as usize]
}

/// Applies an action to the state.
pub fn apply(action: Action, state: &mut State) -> Effect {
    let changed = match action {
        Action::Family(by) => state.choice.family.step(by),
        Action::Size(by) => state.choice.size.step(by),
        Action::Offsets(by) => state.choice.offsets.step(by),
        Action::Cache(by) => state.choice.cache.step(by),
        Action::Restart => true,
        Action::Sort(by) => {
            state.sort = next_sort(state, by);
            false
        }
        Action::View => {
            state.view = match state.view {
                View::Bars => View::Table,
                View::Table => View::Bars,
            };
            false
        }
        Action::Column(by) => {
            let columns = state.live.situations.len().max(1) as isize;
            state.column = (state.column as isize + by).rem_euclid(columns) as usize;
            if matches!(state.sort, Sort::Column(_)) {
                state.sort = Sort::Column(state.column);
            }
            false
        }
        Action::Unit(by) => {
            let at = Unit::ALL.iter().position(|unit| *unit == state.unit).unwrap_or(0);
            state.unit = Unit::ALL[(at as isize + by).rem_euclid(Unit::ALL.len() as isize) as usize];
            false
        }
        Action::Pause => {
            state.paused = !state.paused;
            false
        }
        Action::Scroll(by) => {
            let last = state.live.names().len().saturating_sub(1);
            state.scroll = state.scroll.saturating_add_signed(by).min(last);
            false
        }
        Action::Help => {
            state.help = !state.help;
            false
        }
        Action::Back if state.help => {
            state.help = false;
            false
        }
        Action::Back | Action::Quit => return Effect::Quit,
        Action::Interrupt => return Effect::Interrupt,
    };
    if changed {
        state.help = false;
        state.paused = false;
        return Effect::Restart;
    }
    Effect::Draw
}

#[cfg(test)]
mod tests {
    use super::super::state::tests::state;
    use super::*;
    use carryline_variants::Family;

    fn press(code: KeyCode, state: &mut State) -> Option<Effect> {
        action(KeyEvent::new(code, KeyModifiers::NONE)).map(|action| apply(action, state))
    }

    #[test]
    fn the_bars_step_through_columns_and_orders() {
        let mut state = State { view: View::Bars, ..state() };
        assert_eq!(press(KeyCode::Char('s'), &mut state), Some(Effect::Draw));
        assert_eq!(press(KeyCode::Char('s'), &mut state), Some(Effect::Draw));
        assert_eq!(state.sort, Sort::Column(2), "by speed");
        press(KeyCode::Right, &mut state);
        assert_eq!((state.column, state.sort), (3, Sort::Column(3)));
        for _ in 0..4 {
            press(KeyCode::Char('<'), &mut state);
        }
        assert_eq!(state.column, 5, "wraps around");
        press(KeyCode::Char('s'), &mut state);
        assert_eq!(state.sort, Sort::List);
        press(KeyCode::Char('t'), &mut state);
        assert_eq!(state.view, View::Table);
    }

    #[test]
    fn keys_that_change_the_measurement_restart_it() {
        let mut state = state();
        state.paused = true;
        assert_eq!(press(KeyCode::Char('f'), &mut state), Some(Effect::Restart));
        assert!(!state.paused);
        assert_ne!(*state.choice.family.get(), Family::Checksum);
        assert_eq!(press(KeyCode::Char('F'), &mut state), Some(Effect::Restart));
        assert_eq!(*state.choice.family.get(), Family::Checksum);
        for (key, back) in [('z', 'Z'), ('+', '-'), ('o', 'O'), ('c', 'C')] {
            let before = state.choice.clone();
            assert_eq!(press(KeyCode::Char(key), &mut state), Some(Effect::Restart), "{key}");
            assert_ne!(state.choice, before, "{key}");
            assert_eq!(press(KeyCode::Char(back), &mut state), Some(Effect::Restart), "{back}");
            assert_eq!(state.choice, before, "{back}");
        }
        assert_eq!(press(KeyCode::Char('r'), &mut state), Some(Effect::Restart));
    }

    #[test]
    fn keys_that_change_the_view_only_redraw() {
        let mut state = state();
        let mut orders = Vec::new();
        for _ in 0..9 {
            orders.push(state.sort);
            assert_eq!(press(KeyCode::Char('s'), &mut state), Some(Effect::Draw));
        }
        assert_eq!(orders[..3], [Sort::List, Sort::Name, Sort::Column(0)]);
        assert_eq!(orders[7..], [Sort::Column(5), Sort::List]);
        press(KeyCode::Char('u'), &mut state);
        assert_eq!(state.unit, Unit::Cycles);
        press(KeyCode::Char('p'), &mut state);
        assert!(state.paused);
        press(KeyCode::Char(' '), &mut state);
        assert!(!state.paused);
        press(KeyCode::PageDown, &mut state);
        assert_eq!(state.scroll, 2);
        press(KeyCode::Up, &mut state);
        assert_eq!(state.scroll, 1);
        press(KeyCode::Home, &mut state);
        assert_eq!(state.scroll, 0);
    }

    #[test]
    fn escape_closes_the_help_before_it_quits() {
        let mut state = state();
        press(KeyCode::Char('?'), &mut state);
        assert!(state.help);
        assert_eq!(press(KeyCode::Esc, &mut state), Some(Effect::Draw));
        assert!(!state.help);
        assert_eq!(press(KeyCode::Esc, &mut state), Some(Effect::Quit));
        assert_eq!(press(KeyCode::Char('q'), &mut state), Some(Effect::Quit));
    }

    #[test]
    fn control_c_interrupts_and_unknown_keys_do_nothing() {
        let control = |c| action(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
        assert_eq!(control('c'), Some(Action::Interrupt));
        assert_eq!(apply(Action::Interrupt, &mut state()), Effect::Interrupt);
        assert_eq!(control('z'), None);
        assert_eq!(press(KeyCode::Char('x'), &mut state()), None);
        let mut released = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        released.kind = KeyEventKind::Release;
        assert_eq!(action(released), None);
    }

    #[test]
    fn every_key_in_the_help_has_an_action() {
        for (keys, _) in HELP {
            for key in keys.split(' ').filter(|key| key.len() == 1) {
                let code = KeyCode::Char(key.chars().next().expect("a letter"));
                assert!(action(KeyEvent::new(code, KeyModifiers::NONE)).is_some(), "{key}");
            }
        }
        assert!(LINE.len() <= 80, "{}", LINE.len());
    }
}
