//! JSON with readable lines that compare well: short values are on one line.

use serde_json::Value;

/// The longest line that is not broken.
const WIDE: usize = 140;

/// The formatted value, with a newline at the end.
pub fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, 0, 0);
    out.push('\n');
    out
}

/// Appends a value that begins at `column` of its line, `depth` levels deep.
fn write(out: &mut String, value: &Value, column: usize, depth: usize) {
    let compact = compact(value);
    let count = match value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    };
    if count == 0 || depth > 0 && column + compact.chars().count() <= WIDE {
        out.push_str(&compact);
        return;
    }
    let indent = " ".repeat(depth + 1);
    let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    out.push(open);
    let mut first = true;
    let mut item = |out: &mut String, key: Option<&str>, value: &Value| {
        out.push_str(if std::mem::take(&mut first) { "\n" } else { ",\n" });
        let key = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
        out.push_str(&indent);
        out.push_str(&key);
        write(out, value, indent.len() + key.len(), depth + 1);
    };
    match value {
        Value::Array(items) => items.iter().for_each(|value| item(out, None, value)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| item(out, Some(key), value)),
        _ => {}
    }
    out.push('\n');
    out.push_str(&" ".repeat(depth));
    out.push(close);
}

/// The value on one line, with a space after commas and colons.
fn compact(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(compact).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), compact(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn short_values_are_on_one_line_and_parse_back() {
        let long = "x".repeat(WIDE);
        let value = json!({"b": [1, 2.5, null], "a": {"c": "d\"e"}, "e": [], "f": [[long], [1]]});
        let text = pretty(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1..4], [" \"a\": {\"c\": \"d\\\"e\"},", " \"b\": [1, 2.5, null],", " \"e\": [],"]);
        assert_eq!(lines[4], " \"f\": [");
        assert_eq!(lines.last(), Some(&"}"));
    }
}
