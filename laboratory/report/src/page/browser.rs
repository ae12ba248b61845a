//! Tests the page in a browser if one is installed: no script errors, nothing loaded, nothing wider than the
//! screen, and working filters, orders and links. The browser is controlled over pipes, so the tests wait
//! only for its answers.

use super::*;
use crate::fixture;
use carryline_conditions::Condition;
use carryline_variants::Family;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// The time limit of an answer.
const PATIENCE: Duration = Duration::from_secs(60);

struct Browser {
    child: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    sent: u64,
    /// Events that are not answers.
    events: Vec<Value>,
}

impl Browser {
    /// The first browser that starts, with a page open.
    fn start(folder: &std::path::Path) -> Option<Browser> {
        NAMES.into_iter().find_map(|name| Browser::named(name, folder))
    }

    fn named(name: &str, folder: &std::path::Path) -> Option<Browser> {
        // The browser reads requests from descriptor 3 and answers on 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", name])
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--no-first-run", "--disable-extensions", "--disable-background-networking"])
            .args(["--remote-debugging-pipe", "about:blank"])
            .arg(format!("--user-data-dir={}", folder.join(name).display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let (requests, answers) = (child.stdin.take()?, child.stdout.take()?);
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut answers = BufReader::new(answers);
            let mut text = vec![];
            while answers.read_until(0, &mut text).is_ok_and(|read| read > 0) {
                let end = text.len() - usize::from(text.ends_with(&[0]));
                let message = serde_json::from_slice::<Value>(&text[..end]);
                text.clear();
                if message.is_ok_and(|message| sender.send(message).is_err()) {
                    break;
                }
            }
        });
        let mut browser = Browser { child, requests, messages, session: None, sent: 0, events: vec![] };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}))?;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.ask("Target.attachToTarget", attach)?["sessionId"].as_str()?.to_owned();
        browser.session = Some(session);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}))?;
        }
        Some(browser)
    }

    /// Sends a request; `None` if the browser is gone.
    fn ask(&mut self, method: &str, params: Value) -> Option<Value> {
        self.sent += 1;
        let mut request = json!({"id": self.sent, "method": method, "params": params});
        if let Some(session) = &self.session {
            request["sessionId"] = session.as_str().into();
        }
        self.requests.write_all(format!("{request}\0").as_bytes()).ok()?;
        loop {
            let mut message = self.messages.recv_timeout(PATIENCE).ok()?;
            if message["id"] == self.sent {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return Some(message["result"].take());
            }
            self.events.push(message);
        }
    }

    fn expect(&mut self, method: &str, params: Value) -> Value {
        self.ask(method, params).unwrap_or_else(|| panic!("no answer to {method}"))
    }

    /// Opens an address anew and waits until the page is loaded.
    fn open(&mut self, address: &str) {
        self.expect("Page.navigate", json!({"url": "about:blank"}));
        self.expect("Page.navigate", json!({"url": address}));
        self.value(
            "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', () => done()))",
        );
    }

    /// The value of an expression in the page.
    fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut found = self.expect("Runtime.evaluate", params);
        assert!(found["exceptionDetails"].is_null(), "{expression}: {}", found["exceptionDetails"]);
        found["result"]["value"].take()
    }

    fn screen(&mut self, width: u32, media: &str, scheme: &str) {
        let params = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.expect("Emulation.setDeviceMetricsOverride", params);
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.expect("Emulation.setEmulatedMedia", json!({"media": media, "features": features}));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// The fixture with many more sizes, so that its map is wider than any screen.
fn wide() -> RunResult {
    let mut run = fixture::run();
    for size in 100..150_u64 {
        let names = ["libc_memset", "a_variant_with_a_very_long_name_indeed", "carryline"];
        let cells = names.into_iter().enumerate().map(|(at, name)| {
            let ticks = [900.0, 4000.0, 300.0][at] + size as f64;
            fixture::cell(Family::Zero, name, Condition::plain(size), ticks)
        });
        let mut cells = fixture::rank(cells.collect(), Some("libc_memset"));
        cells.iter_mut().for_each(|cell| cell.situation = format!("zero {size} wide"));
        run.cells.extend(cells);
    }
    run
}

/// Elements that end outside the screen, except those in a box that scrolls.
const OUTSIDE: &str = "[...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, pre, svg') \
    && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '.' + e.className).slice(0, 5)";
/// The ids of the visible situations, in order.
const VISIBLE: &str =
    "[...document.querySelectorAll('.situation')].filter(e => e.checkVisibility()).map(e => e.id)";

#[test]
fn the_page_works_in_a_browser_at_every_width() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let Some(mut browser) = Browser::start(folder.path()) else {
        eprintln!("skipped: none of {} starts here", NAMES.join(", "));
        return;
    };
    let file = folder.path().join("page.html");
    let html = tests::html(&wide());
    std::fs::write(&file, html).expect("a page");
    let address = format!("file://{}", file.display());
    browser.open(&address);
    // Unfold everything.
    browser.value("document.querySelectorAll('details').forEach(e => e.open = true)");
    for (width, media, scheme) in [
        (390, "screen", "light"),
        (390, "screen", "dark"),
        (1280, "screen", "light"),
        (1920, "screen", "dark"),
        (720, "print", "light"),
    ] {
        browser.screen(width, media, scheme);
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64() <= Some(width.into()), "{width}: {wide}, {}", browser.value(OUTSIDE));
        assert_eq!(browser.value(OUTSIDE), json!([]), "{width} {media}");
        let background = browser.value("getComputedStyle(document.body).backgroundColor");
        let is_dark = background != json!("rgb(255, 255, 255)");
        assert_eq!(is_dark, scheme == "dark", "{background}");
        let map = browser.value("(e => e.scrollWidth > e.clientWidth)(document.querySelector('.scroll'))");
        assert_eq!(map == json!(true), media == "screen", "the map scrolls on a screen and fits paper");
    }
    browser.screen(1280, "screen", "light");

    let all = browser.value(VISIBLE);
    assert_eq!(all.as_array().map(Vec::len), Some(6 + 50));
    browser.open(&format!("{address}#family=checksum&sort=loss"));
    let expected = json!(["checksum-1500-chained", "checksum-1500-independent"]);
    assert_eq!(browser.value(VISIBLE), expected, "carryline gains less with chained calls");
    assert_eq!(browser.value("document.querySelector('output').textContent"), "2 of 56 situations");
    let maps = "[...document.querySelectorAll('#map .family')].filter(e => e.checkVisibility()).length";
    assert_eq!(browser.value(maps), 1);
    browser.open(&format!("{address}#q=256+stosb"));
    assert_eq!(browser.value(VISIBLE), json!(["zero-262144-independent"]));
    let rows =
        "[...document.querySelectorAll('#zero-262144-independent .row[id]:not([hidden])')].map(e => e.id)";
    assert_eq!(browser.value(rows), json!(["zero-262144-independent--rep-stosb"]));
    // Input is reflected in the address.
    browser.value(
        "(form => { form.q.value = 'reference'; form.q.dispatchEvent(new Event('input', {bubbles: true})) })\
         (document.getElementById('controls'))",
    );
    assert_eq!(browser.value("location.hash"), "#q=reference");
    assert_eq!(browser.value(VISIBLE), json!(["checksum-1500-independent", "checksum-1500-chained"]));

    // Reopening an address restores its state, and a damaged one is no error.
    browser.open(&format!("{address}#q=c%2B%2B%26"));
    assert_eq!(browser.value("document.getElementById('controls').q.value"), "c++&");
    browser.open(&format!("{address}#100%"));

    let row = "zero-1500-independent--carryline";
    browser.open(&format!("{address}#{row}"));
    let element = format!("document.getElementById('{row}')");
    assert_eq!(browser.value(&format!("{element}.open && {element}.checkVisibility()")), true);
    let top = browser.value(&format!("{element}.getBoundingClientRect().top"));
    assert!(top.as_f64().is_some_and(|top| (0.0..900.0).contains(&top)), "{top}");
    // The listing is inserted by the toggle event, which comes after the row has opened.
    let code = format!(
        "new Promise(done => {{ const look = () => {{ const b = {element}.querySelector('pre b'); \
         b ? done(b.textContent) : setTimeout(look, 5) }}; look() }})"
    );
    assert_eq!(browser.value(&code), "* adc rax, [rdi]");

    let events = std::mem::take(&mut browser.events);
    let of = |method: &str| events.iter().filter(|event| event["method"] == method).collect::<Vec<_>>();
    assert_eq!(of("Runtime.exceptionThrown"), Vec::<&Value>::new());
    assert_eq!(of("Log.entryAdded"), Vec::<&Value>::new(), "a violation of the policy is logged");
    for request in of("Network.requestWillBeSent") {
        let url = request["params"]["request"]["url"].as_str().unwrap_or_default();
        assert!(url.starts_with(&address) || url == "about:blank", "{url}");
    }
}
