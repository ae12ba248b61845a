// The checksum of Node's raw-socket as an adapter: npm install raw-socket
const raw = require("raw-socket");
const { version } = require("raw-socket/package.json");

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [verb, digits] = line.split(" ");
  if (verb === "hello") console.log(`raw-socket ${version}`);
  // It takes no empty buffer.
  else if (verb === "sum" && digits !== "-") {
    const sum = raw.createChecksum(Buffer.from(digits, "hex"));
    console.log(sum.toString(16).padStart(4, "0"));
  } else console.log("unsupported");
});
