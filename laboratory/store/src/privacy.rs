//! Removes home directories, and with them user names, from stored strings.
//!
//! The user's own home becomes `~`, which a shell and `carryline rerun` can expand again. Other homes become
//! `/home/*`, which contains no name. This applies to every stored string.

use serde_json::Value;

/// The home directory to remove.
#[derive(Clone, Debug)]
pub(super) struct Privacy {
    home: Option<String>,
}

impl Privacy {
    /// The home directory of the user in `HOME`.
    pub fn of_environment() -> Privacy {
        Privacy::of_home(std::env::var("HOME").ok())
    }

    fn of_home(home: Option<String>) -> Privacy {
        let home = home.map(|home| home.trim_end_matches('/').to_owned());
        Privacy { home: home.filter(|home| home.len() > 1 && home.starts_with('/')) }
    }

    /// The text with home directories replaced.
    pub fn text(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut before = None;
        while let Some(next) = rest.chars().next() {
            // A path that merely contains a folder with this name is not a home.
            let begins = next == '/' && !before.is_some_and(in_name);
            let (replacement, taken) = match self.home_at(rest).filter(|_| begins) {
                Some(found) => found,
                None => (&rest[..next.len_utf8()], next.len_utf8()),
            };
            out.push_str(replacement);
            before = rest[..taken].chars().next_back();
            rest = &rest[taken..];
        }
        out
    }

    /// If the text begins with a home, its replacement and its length in bytes.
    fn home_at(&self, text: &str) -> Option<(&'static str, usize)> {
        if let Some(home) = &self.home
            && text.strip_prefix(home.as_str()).is_some_and(|rest| !rest.starts_with(in_name))
        {
            return Some(("~", home.len()));
        }
        [("/home/", "/home/*"), ("/Users/", "/Users/*")].into_iter().find_map(|(folder, replacement)| {
            let name = text.strip_prefix(folder)?;
            let length = name.find(|c| !in_name(c)).unwrap_or(name.len());
            (length > 0).then_some((replacement, folder.len() + length))
        })
    }

    /// Applies this to every string of a JSON value, including keys.
    pub fn json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(values) => Value::Array(values.iter().map(|value| self.json(value)).collect()),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(key, value)| (self.text(key), self.json(value))).collect())
            }
            other => other.clone(),
        }
    }
}

/// Whether a character can be part of a file name.
fn in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '~' | '*' | '@' | '+')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(home: &str, text: &str) -> String {
        Privacy::of_home(Some(home.to_owned())).text(text)
    }

    #[test]
    fn only_home_directories_are_replaced() {
        assert_eq!(without("/home/ada", "--db=/home/ada/x.sqlite"), "--db=~/x.sqlite");
        assert_eq!(without("/home/ada/", "capture:/home/ada"), "capture:~");
        assert_eq!(without("/home/ada", "/home/adam/x:/home/ada/y"), "/home/*/x:~/y");
        assert_eq!(without("/root", "/root/a /rootfs/a /srv/root/a"), "~/a /rootfs/a /srv/root/a");
        assert_eq!(without("/srv/people/ada", "/Users/bob/c.pcap"), "/Users/*/c.pcap");
        assert_eq!(without("/home/zoë", "é/home/zoë/ü"), "é/home/zoë/ü");
        assert_eq!(without("/home/zoë", "/home/zoë/ü /home/élan/x"), "~/ü /home/*/x");
        assert_eq!(without("/home/ada", "/srv/home/ada/x /home/"), "/srv/home/ada/x /home/");
    }

    #[test]
    fn homes_that_are_not_absolute_paths_are_ignored() {
        for home in ["/", "", "relative"] {
            assert_eq!(without(home, "relative /a/b"), "relative /a/b");
        }
        assert_eq!(Privacy::of_home(None).text("/etc/x"), "/etc/x");
    }

    #[test]
    fn json_is_processed_at_every_depth() {
        let privacy = Privacy::of_home(Some("/home/ada".to_owned()));
        let value = serde_json::json!({"/home/ada/k": ["/home/ada/v", 1, null, {"a": "b /home/ada"}]});
        assert_eq!(privacy.json(&value), serde_json::json!({"~/k": ["~/v", 1, null, {"a": "b ~"}]}));
    }
}
