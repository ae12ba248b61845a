//! The terminal as a screen, given back as it was: when the screen is dropped, and before a panic says what it has to.
//!
//! In raw mode Ctrl-C is a key, so the command ends in its own way; a signal from elsewhere raises the flag of
//! [`carryline_engine::interrupt`], which the command looks at ten times a second.

use super::keys::{self, Action};
use super::screen;
use super::state::State;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, IsTerminal, Stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether the terminal is a screen at this moment.
static ACTIVE: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal while it is a screen.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

/// What a person did.
pub enum Input {
    /// Pressed a key that does something.
    Key(Action),
    /// Changed the size of the window, or pressed a key that does nothing.
    Other,
    /// Nothing, for as long as was waited.
    Nothing,
}

impl Screen {
    /// Makes the terminal a screen.
    pub fn enter() -> io::Result<Screen> {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                leave();
                before(panic);
            }));
        });
        ACTIVE.store(true, Ordering::SeqCst);
        let entered = enable_raw_mode()
            .and_then(|()| execute!(io::stdout(), EnterAlternateScreen))
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        match entered {
            Ok(terminal) => Ok(Screen { terminal }),
            Err(error) => {
                leave();
                Err(error)
            }
        }
    }

    /// Draws the state; nothing once a panic has given the terminal back.
    pub fn draw(&mut self, state: &State) -> io::Result<()> {
        if ACTIVE.load(Ordering::SeqCst) {
            self.terminal.draw(|frame| screen::draw(frame, state))?;
        }
        Ok(())
    }

    /// Waits for input, up to the given time.
    pub fn input(&self, most: Duration) -> io::Result<Input> {
        if !event::poll(Duration::ZERO)? {
            wait(most);
            if !io::stdout().is_terminal() || !event::poll(Duration::ZERO)? {
                return Ok(Input::Nothing);
            }
        }
        Ok(match event::read()? {
            Event::Key(key) => keys::action(key).map_or(Input::Other, Input::Key),
            _ => Input::Other,
        })
    }
}

/// Waits until there is something to read, the terminal is gone, a signal has come, or the time is over. The reader of events is
/// not left to wait: of a terminal that goes meanwhile it reads the end, over and over.
fn wait(most: Duration) {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let mut ends = vec![PollFd::new(&stdout, PollFlags::empty())];
    if stdin.is_terminal() {
        ends.push(PollFd::new(&stdin, PollFlags::IN));
    }
    let timeout = Timespec { tv_sec: most.as_secs() as _, tv_nsec: most.subsec_nanos() as _ };
    // A signal ends the wait, and the caller looks again.
    let _signal = poll(&mut ends, Some(&timeout));
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// Gives the terminal back, once.
fn leave() {
    if ACTIVE.swap(false, Ordering::SeqCst) {
        // Where the terminal is gone, there is nothing to give back.
        let _gone = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _gone = disable_raw_mode();
    }
}

/// The terminal that the command's tests have.
#[cfg(all(test, target_os = "linux"))]
#[allow(dead_code, reason = "a part of it is used here")]
#[path = "../../tests/command/support/pty.rs"]
mod pty;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    #[ignore = "the child of the test below, in a terminal of its own"]
    fn a_screen_in_which_something_panics() {
        let _screen = Screen::enter().expect("a terminal");
        // Where the measuring does, its thread is the one to panic.
        let thread = std::thread::spawn(|| panic!("on purpose"));
        assert!(thread.join().is_err());
        std::process::exit(7);
    }

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_says_why() {
        let pty = pty::Pty::new();
        let before = pty.settings();
        let name = "watch::terminal::tests::a_screen_in_which_something_panics";
        let program = std::env::current_exe().expect("this program");
        let mut command = std::process::Command::new(program);
        let mut child = pty.start(command.args(["--ignored", "--exact", name, "--nocapture"]));
        // The drop of the screen never comes: the hook alone has given the terminal back.
        assert_eq!(pty.status(&mut child), Some(7), "{}", pty.printed());
        assert_eq!(pty.settings(), before);
        pty.wait_for("on purpose", 0);
        let printed = pty.printed();
        let left = printed.find(pty::LEAVE).expect("the screen is left");
        assert!(printed.find(pty::ENTER).is_some_and(|entered| entered < left), "{printed:?}");
        assert!(printed.find("on purpose").is_some_and(|said| left < said), "{printed:?}");
    }
}
