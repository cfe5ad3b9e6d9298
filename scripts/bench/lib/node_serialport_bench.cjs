// Baseline with Node and npm serialport.  read PATH BYTES
const { SerialPort } = require("serialport");
const [, , , path, amount] = process.argv;
const port = new SerialPort({ path, baudRate: 115200 });
let got = 0, first;
port.on("open", () => console.log("ready"));
port.on("data", (d) => {
  first ??= process.hrtime.bigint();
  got += d.length;
  if (got >= Number(amount)) {
    console.log(JSON.stringify({ seconds: Number(process.hrtime.bigint() - first) / 1e9, bytes: got }));
    port.close(() => process.exit(0));
  }
});
