/**
 * A screenshot as a PNG with a palette: a third of the size, and no difference that an eye finds in a page of flat
 * colours. Reads what Chromium writes: 8 bits a channel, RGB or RGBA without transparency, not interlaced.
 */
const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const COLOURS = 256;

async function through(bytes: Uint8Array<ArrayBuffer>, stream: TransformStream): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

function paeth(a: number, b: number, c: number): number {
  const p = a + b - c;
  const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/** Undoes the filters of PNG (W3C PNG, section 9). */
function unfilter(data: Uint8Array, width: number, height: number, size: number): Uint8Array {
  const stride = width * size;
  const out = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = data[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const a = x >= size ? out[at - size] ?? 0 : 0;
      const b = y > 0 ? out[at - stride] ?? 0 : 0;
      const c = x >= size && y > 0 ? out[at - stride - size] ?? 0 : 0;
      const add = [0, a, b, (a + b) >> 1, paeth(a, b, c)][filter];
      if (add === undefined) throw new Error(`no PNG filter ${filter}`);
      out[at] = (data[y * (stride + 1) + 1 + x] ?? 0) + add;
    }
  }
  return out;
}

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});

function chunk(type: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(12 + data.length);
  const view = new DataView(out.buffer);
  view.setUint32(0, data.length);
  out.set(new TextEncoder().encode(type), 4);
  out.set(data, 8);
  let crc = 0xffffffff;
  for (let i = 4; i < 8 + data.length; i++) crc = (CRC[(crc ^ (out[i] ?? 0)) & 255] ?? 0) ^ (crc >>> 8);
  view.setUint32(8 + data.length, ~crc >>> 0);
  return out;
}

const apart = (a: number, b: number): number => {
  let d = 0;
  for (const shift of [16, 8, 0]) d += (((a >> shift) & 255) - ((b >> shift) & 255)) ** 2;
  return d;
};

/**
 * The most used colours that are far enough from each other; each of the rest becomes one of them that is near. A
 * colour that only a few pixels have, such as an agent's violet, is kept: it means something.
 */
function palette(pixels: Uint32Array): { colours: number[]; indexOf: Map<number, number> } {
  const counts = new Map<number, number>();
  for (const p of pixels) counts.set(p, (counts.get(p) ?? 0) + 1);
  const all = [...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour);
  for (let distance = 1;; distance *= 1.3) {
    const colours: number[] = [];
    const indexOf = new Map<number, number>();
    for (const colour of all) {
      let index = colours.findIndex((other) => apart(colour, other) < distance);
      if (index < 0) index = colours.push(colour) - 1;
      if (colours.length > COLOURS) break;
      indexOf.set(colour, index);
    }
    if (colours.length <= COLOURS) return { colours, indexOf };
  }
}

export async function palettePng(png: Uint8Array): Promise<Uint8Array> {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const [width, height, depth, kind, interlaced] = [view.getUint32(16), view.getUint32(20), png[24], png[25], png[28]];
  const size = kind === 2 ? 3 : kind === 6 ? 4 : 0;
  if (depth !== 8 || size === 0 || interlaced !== 0) throw new Error("not a PNG as a screenshot is");
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 8; at < png.length;) {
    const length = view.getUint32(at);
    if (view.getUint32(at + 4) === 0x49444154 /* IDAT */) parts.push(png.slice(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const packed = new Uint8Array(await new Blob(parts).arrayBuffer());
  const raw = unfilter(await through(packed, new DecompressionStream("deflate")), width, height, size);
  const pixels = new Uint32Array(width * height);
  for (let i = 0; i < pixels.length; i++) {
    pixels[i] = ((raw[i * size] ?? 0) << 16) | ((raw[i * size + 1] ?? 0) << 8) | (raw[i * size + 2] ?? 0);
  }
  const { colours, indexOf } = palette(pixels);
  const rows = new Uint8Array((width + 1) * height);
  for (let i = 0; i < pixels.length; i++) {
    rows[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = indexOf.get(pixels[i] ?? 0) ?? 0;
  }
  const header = png.slice(16, 29);
  header[9] = 3;
  return new Uint8Array(
    await new Blob([
      Uint8Array.from(SIGNATURE),
      chunk("IHDR", header),
      chunk("PLTE", Uint8Array.from(colours.flatMap((c) => [c >> 16, (c >> 8) & 255, c & 255]))),
      chunk("IDAT", await through(rows, new CompressionStream("deflate"))),
      chunk("IEND", new Uint8Array()),
    ]).arrayBuffer(),
  );
}
