//! The terminal in raw mode on the alternate screen, restored on drop and before a panic message is printed.
//!
//! In raw mode, Ctrl-C is a key and ends the command in its usual way. A signal sets the flag of
//! [`carryline_engine::interrupt`], which the command checks ten times a second.

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

/// Whether the terminal is in raw mode on the alternate screen.
static ACTIVE: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal in raw mode on the alternate screen; restored on drop.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

/// Input from the user.
pub enum Input {
    /// A key with an action.
    Key(Action),
    /// A key without an action, or a change of the window's size.
    Other,
    /// No input before the timeout.
    Nothing,
}

impl Screen {
    /// Enters the alternate screen in raw mode.
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

    /// Draws the state, unless a panic has restored the terminal.
    pub fn draw(&mut self, state: &State) -> io::Result<()> {
        if ACTIVE.load(Ordering::SeqCst) {
            self.terminal.draw(|frame| screen::draw(frame, state))?;
        }
        Ok(())
    }

    /// Waits for input until the timeout.
    pub fn input(&self, timeout: Duration) -> io::Result<Input> {
        if !event::poll(Duration::ZERO)? {
            wait(timeout);
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

/// Waits for input, the end of the terminal, a signal or the timeout. Crossterm's own wait is not used: if
/// the terminal goes away, it reads the end of the file over and over.
fn wait(timeout: Duration) {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let mut ends = vec![PollFd::new(&stdout, PollFlags::empty())];
    if stdin.is_terminal() {
        ends.push(PollFd::new(&stdin, PollFlags::IN));
    }
    let timeout = Timespec { tv_sec: timeout.as_secs() as _, tv_nsec: timeout.subsec_nanos() as _ };
    // A signal ends the wait; the caller polls again.
    let _signal = poll(&mut ends, Some(&timeout));
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// Restores the terminal, once.
fn leave() {
    if ACTIVE.swap(false, Ordering::SeqCst) {
        // Errors are ignored: if the terminal is gone, there is nothing to restore.
        let _gone = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _gone = disable_raw_mode();
    }
}

/// The pseudo-terminal of the command's tests.
#[cfg(all(test, target_os = "linux"))]
#[allow(dead_code, reason = "only a part is used here")]
#[path = "../../tests/command/support/pty.rs"]
mod pty;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    #[ignore = "child process of the test below, in a terminal of its own"]
    fn a_screen_with_a_panicking_thread() {
        let _screen = Screen::enter().expect("a terminal");
        // Like the measurement, in a thread of its own.
        let thread = std::thread::spawn(|| panic!("on purpose"));
        assert!(thread.join().is_err());
        std::process::exit(7);
    }

    #[test]
    fn a_panic_restores_the_terminal_before_its_message() {
        let pty = pty::Pty::new();
        let before = pty.settings();
        let name = "watch::terminal::tests::a_screen_with_a_panicking_thread";
        let program = std::env::current_exe().expect("this program");
        let mut command = std::process::Command::new(program);
        let mut child = pty.start(command.args(["--ignored", "--exact", name, "--nocapture"]));
        // The screen is never dropped, so the hook alone has restored the terminal.
        assert_eq!(pty.status(&mut child), Some(7), "{}", pty.printed());
        assert_eq!(pty.settings(), before);
        pty.wait_for("on purpose", 0);
        let printed = pty.printed();
        let left = printed.find(pty::LEAVE).expect("the alternate screen is left");
        assert!(printed.find(pty::ENTER).is_some_and(|entered| entered < left), "{printed:?}");
        assert!(printed.find("on purpose").is_some_and(|message| left < message), "{printed:?}");
    }
}
