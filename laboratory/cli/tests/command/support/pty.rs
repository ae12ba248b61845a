//! A terminal in memory: a pseudo-terminal whose other end the test reads and types at.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longer than anything takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

const ROWS: usize = 24;
const COLUMNS: usize = 80;

/// A terminal.
pub struct Pty {
    master: File,
    slave: OwnedFd,
    printed: Arc<Mutex<Vec<u8>>>,
    gone: Arc<AtomicBool>,
}

impl Drop for Pty {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

impl Pty {
    /// A terminal of 80 x 24.
    pub fn new() -> Pty {
        let (mut master, mut slave) = (-1, -1);
        let size = libc::winsize { ws_row: ROWS as u16, ws_col: COLUMNS as u16, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: openpty writes two descriptors and reads the size; no name and no settings are requested.
        let made = unsafe {
            libc::openpty(
                &mut master,
                &mut slave,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                &raw const size as _,
            )
        };
        assert_eq!(made, 0, "a pseudo-terminal: {}", std::io::Error::last_os_error());
        for end in [master, slave] {
            // The child gets copies as its standard streams; with the other end in its hands it would never see the
            // terminal go.
            // SAFETY: sets a flag of a descriptor that has just been made.
            assert_eq!(unsafe { libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC) }, 0);
        }
        // SAFETY: openpty has just made both, and nothing else has them.
        let (master, slave) = unsafe { (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) };
        let printed = Arc::new(Mutex::new(Vec::new()));
        // So that the thread below can be told to let go of it.
        // SAFETY: sets a flag of an open descriptor.
        assert_eq!(unsafe { libc::fcntl(master.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) }, 0);
        let (mut reader, into) = (master.try_clone().expect("a second descriptor"), Arc::clone(&printed));
        let gone = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&gone);
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while !stop.load(Ordering::Relaxed) {
                match reader.read(&mut chunk) {
                    Ok(count) => into.lock().expect("no panic").extend_from_slice(&chunk[..count]),
                    Err(_) => std::thread::sleep(Duration::from_millis(5)),
                }
            }
        });
        Pty { master, slave, printed, gone }
    }

    /// Starts a command in it.
    pub fn start(&self, command: &mut Command) -> Child {
        let end = || Stdio::from(self.slave.try_clone().expect("a descriptor"));
        command.stdin(end()).stdout(end()).stderr(end()).env("TERM", "xterm").spawn().expect("it starts")
    }

    /// Types.
    pub fn keys(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("typed");
    }

    /// Everything printed so far.
    pub fn printed(&self) -> String {
        String::from_utf8_lossy(&self.printed.lock().expect("no panic")).into_owned()
    }

    /// Waits until what is printed from the byte `from` on holds a text.
    pub fn wait_for(&self, text: &str, from: usize) {
        let begin = Instant::now();
        while !self.printed()[from..].contains(text) {
            assert!(begin.elapsed() < PATIENCE, "no '{text}' in: {:?}", self.printed());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What a person sees: the cursor is moved, the screen cleared and text written; colours are left out.
    pub fn screen(&self) -> String {
        let printed = self.printed();
        let mut cells = vec![vec![' '; COLUMNS]; ROWS];
        let (mut row, mut column) = (0, 0);
        let mut rest = printed.chars();
        while let Some(c) = rest.next() {
            match c {
                '\u{1b}' => {
                    let mut words = String::new();
                    // After the bracket: parameters, then a letter.
                    let end = rest.by_ref().skip(1).find(|c| {
                        words.push(*c);
                        c.is_ascii_alphabetic()
                    });
                    let numbers: Vec<usize> = words
                        .split(|c: char| !c.is_ascii_digit())
                        .filter_map(|word| word.parse().ok())
                        .collect();
                    match end {
                        Some('H') => {
                            row = numbers.first().map_or(0, |row| row - 1);
                            column = numbers.get(1).map_or(0, |column| column - 1);
                        }
                        Some('J') => cells.iter_mut().for_each(|row| row.fill(' ')),
                        _ => {}
                    }
                }
                '\r' => column = 0,
                '\n' => row += 1,
                _ => {
                    if let Some(cell) = cells.get_mut(row).and_then(|row| row.get_mut(column)) {
                        *cell = c;
                    }
                    column += 1;
                }
            }
        }
        let lines = cells.into_iter().map(|row| row.into_iter().collect::<String>().trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Waits until the screen shows a text.
    pub fn wait_on_screen(&self, text: &str) {
        self.wait_until(text, |screen| screen.contains(text).then_some(()));
    }

    /// Waits until the screen shows what is wanted, and returns what was found there.
    /// A screen that is still being drawn may lack any part of it.
    pub fn wait_until<T>(&self, wanted: &str, find: impl Fn(&str) -> Option<T>) -> T {
        let begin = Instant::now();
        loop {
            let screen = self.screen();
            if let Some(found) = find(&screen) {
                return found;
            }
            assert!(begin.elapsed() < PATIENCE, "no '{wanted}' in:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The settings that `stty -a` shows.
    pub fn settings(&self) -> (Vec<libc::tcflag_t>, Vec<u8>) {
        // SAFETY: all fields are numbers, for which zeros are a value; tcgetattr fills them in.
        let mut found: libc::termios = unsafe { std::mem::zeroed() };
        // SAFETY: an open terminal and a termios of our own.
        assert_eq!(unsafe { libc::tcgetattr(self.slave.as_raw_fd(), &mut found) }, 0);
        (vec![found.c_iflag, found.c_oflag, found.c_cflag, found.c_lflag], found.c_cc.to_vec())
    }

    /// Waits for a child's exit status.
    pub fn status(&self, child: &mut Child) -> Option<i32> {
        let begin = Instant::now();
        loop {
            if let Some(status) = child.try_wait().expect("a child") {
                return status.code();
            }
            if begin.elapsed() > PATIENCE {
                child.kill().expect("killed");
                panic!("it does not end: {:?}", self.printed());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// What makes the terminal a screen, and what gives it back.
pub const ENTER: &str = "\u{1b}[?1049h";
/// As [`ENTER`].
pub const LEAVE: &str = "\u{1b}[?1049l";
