// The checksum of Node's raw-socket as an adapter: npm install raw-socket
const raw = require("raw-socket");
const { version } = require("raw-socket/package.json");

// Digits, or a pattern * a length; parts joined by +.
const part = (text) => {
  const [digits, length] = text.split("*");
  const pattern = Buffer.from(digits, "hex");
  return length === undefined ? pattern : Buffer.alloc(Number(length), pattern);
};
const data = (word) => Buffer.concat(word === "-" ? [] : word.split("+").map(part));

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [verb, ...words] = line.split(" ");
  const pieces = words.map(data).filter((piece) => piece.length > 0);
  if (verb === "hello") console.log(`raw-socket ${version} repeat`);
  // It takes no empty buffer.
  else if (["sum", "pieces"].includes(verb) && pieces.length > 0)
    console.log(raw.createChecksum(...pieces).toString(16).padStart(4, "0"));
  else console.log("unsupported");
});
