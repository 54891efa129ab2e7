// A Raspberry Pi Pico by rp2040js, which edgec did not write: firmware.bin runs from its first
// instruction in flash, UART0 is a TCP port of this computer.
//
//   node rp2040_machine.mjs PACKAGE_FOLDER FIRMWARE_BIN
//
// Prints "port N" when it listens.  The boot ROM is not part of the package, so the second-stage boot
// loader is entered as the ROM would: with its stack at the top of RAM and a link register of 0.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { pathToFileURL } from 'node:url';

const [packageFolder, image] = process.argv.slice(2);
const { Simulator } = await import(pathToFileURL(`${packageFolder}/dist/esm/index.js`));

const FLASH = 0x10000000;
const RAM_END = 0x20042000;
const FIFO_BYTES = 32;

const simulator = new Simulator();
const chip = simulator.rp2040;
chip.logger = { debug() {}, info() {}, warn() {}, error() {} };
chip.flash.set(readFileSync(image));
chip.core.SP = RAM_END;
chip.core.LR = 0;
chip.core.PC = FLASH;

const uart = chip.uart[0];
const waiting = [];
let line = null;
uart.onByte = (byte) => line?.write(Uint8Array.of(byte));

// A slice of the simulator's own loop, short enough that input does not wait for a second of it.  The
// chip would lose what does not fit into its FIFO: bytes are fed when there is room.
const SLICE = 20000;
const CYCLE_NANOS = 1e9 / 125e6;
function run() {
  while (waiting.length > 0 && uart.rxFIFO.itemCount < FIFO_BYTES) {
    uart.feedByte(waiting.shift());
  }
  for (let i = 0; i < SLICE; i++) {
    simulator.clock.tick(chip.core.executeInstruction() * CYCLE_NANOS);
  }
  setImmediate(run);
}

const server = createServer((socket) => {
  line = socket;
  socket.on('data', (data) => waiting.push(...data));
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => {
  console.log(`port ${server.address().port}`);
  run();
});
