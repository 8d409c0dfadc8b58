// QR codes, as far as payments need them: alphanumeric text of up to 154 characters, version 5, error correction L.
// After ISO/IEC 18004.

const SIZE = 37;
const DATA = 108;
const CHECK = 26;
const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:';

/** The dark modules, row by row. */
export function qrCode(text: string): boolean[][] {
  const grid: (boolean | undefined)[][] = Array.from({ length: SIZE }, () => new Array(SIZE).fill(undefined));
  drawPatterns(grid);
  const data = dataOf(text);
  drawData(grid, [...data, ...checkOf(data)]);
  return grid.map(row => row.map(dark => dark === true));
}

function dataOf(text: string): number[] {
  const bits: number[] = [];
  const push = (value: number, length: number) => {
    for (let at = length - 1; at >= 0; at--) bits.push((value >> at) & 1);
  };
  push(0b0010, 4);
  push(text.length, 9);
  for (let at = 0; at < text.length; at += 2) {
    const [first, second] = [...text.slice(at, at + 2)].map(letter => LETTERS.indexOf(letter));
    if (second === undefined) push(first as number, 6);
    else push((first as number) * 45 + second, 11);
  }
  push(0, Math.min(4, DATA * 8 - bits.length));
  while (bits.length % 8 !== 0) bits.push(0);
  const bytes = Array.from({ length: bits.length / 8 }, (_, index) =>
    Number.parseInt(bits.slice(index * 8, index * 8 + 8).join(''), 2),
  );
  for (let pad = 0xec; bytes.length < DATA; pad ^= 0xec ^ 0x11) bytes.push(pad);
  return bytes;
}

/** In the field of 256 elements, modulo x⁸ + x⁴ + x³ + x² + 1. */
function times(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    product ^= ((b >> bit) & 1) * a;
  }
  return product;
}

/** The Reed-Solomon code words. */
function checkOf(data: number[]): number[] {
  let divisor = [1];
  for (let step = 0, root = 1; step < CHECK; step++, root = times(root, 2)) {
    divisor = [...divisor, 0].map((value, at) => value ^ times(divisor[at - 1] ?? 0, root));
  }
  const rest: number[] = new Array(CHECK).fill(0);
  for (const byte of data) {
    const factor = byte ^ (rest.shift() as number);
    rest.push(0);
    for (let at = 0; at < CHECK; at++) rest[at] = (rest[at] as number) ^ times(divisor[at + 1] as number, factor);
  }
  return rest;
}

type Grid = (boolean | undefined)[][];

const set = (grid: Grid, x: number, y: number, dark: boolean) => {
  const row = grid[y];
  if (row && x >= 0 && x < SIZE) row[x] = dark;
};

/** Format of level L with mask 0, as the standard tabulates it. */
const FORMAT = 0b111011111000100;

function drawPatterns(grid: Grid): void {
  for (let at = 0; at < SIZE; at++) {
    set(grid, 6, at, at % 2 === 0);
    set(grid, at, 6, at % 2 === 0);
  }
  for (const [left, top] of [
    [3, 3],
    [SIZE - 4, 3],
    [3, SIZE - 4],
  ] as const) {
    for (let y = -4; y <= 4; y++) {
      for (let x = -4; x <= 4; x++) {
        const ring = Math.max(Math.abs(x), Math.abs(y));
        set(grid, left + x, top + y, ring !== 2 && ring !== 4);
      }
    }
  }
  for (let y = -2; y <= 2; y++) {
    for (let x = -2; x <= 2; x++) set(grid, 30 + x, 30 + y, Math.max(Math.abs(x), Math.abs(y)) !== 1);
  }
  for (let bit = 0; bit < 15; bit++) {
    const dark = ((FORMAT >> bit) & 1) === 1;
    const along = bit < 6 ? bit : bit < 8 ? bit + 1 : SIZE - 15 + bit;
    set(grid, 8, along, dark);
    set(grid, bit < 8 ? SIZE - 1 - bit : bit === 8 ? 7 : 14 - bit, 8, dark);
  }
  set(grid, 8, SIZE - 8, true);
}

function drawData(grid: Grid, bytes: number[]): void {
  let bit = 0;
  for (let right = SIZE - 1, up = true; right > 0; right -= 2, up = !up) {
    if (right === 6) right = 5;
    for (let step = 0; step < SIZE; step++) {
      const y = up ? SIZE - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (grid[y]?.[x] !== undefined) continue;
        const value = ((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
        bit += 1;
        set(grid, x, y, (value === 1) !== ((x + y) % 2 === 0));
      }
    }
  }
}
