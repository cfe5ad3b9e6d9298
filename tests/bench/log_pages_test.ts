import assert from "node:assert/strict";
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { LIMITS } from "../../tools/limits.ts";
import { findTool } from "../../tools/mod.ts";
import { outputPage, tailPage } from "../../src/bench/log_pages.ts";
import { bytesOf, header, rig, rows } from "./log_rig.ts";

const checked = (tool: string, output: unknown) => assert.ok(findTool(tool)?.output.safeParse(output).success, tool);
const bodyOf = (row: string) => row.replace(/^\[\+\d+\] \[[a-z+]+\] /, "");

Deno.test("without sinceSeq the newest lines come, with the range and truncated [C349]", () => {
  const { hub, lines, need } = rig();
  lines(3000, (i) => `line ${i + 1}`);
  const { output, text } = tailPage(hub, need("serial:main:rx"), { lines: 100 });
  checked("log_tail", output);
  assert.equal(output.returned, 100);
  assert.deepEqual([output.seqFrom, output.seqTo, output.truncated, output.missed], [2901, 3000, true, 0]);
  assert.deepEqual(output.lines?.map((line) => line.text), Array.from({ length: 100 }, (_, i) => `line ${2901 + i}`));
  assert.equal(output.nextSinceSeq, 3000);
  assert.match(text, /line 3000/);
  assert.ok(text.length <= LIMITS.maxSummaryChars);
  hub.close();
});

Deno.test("following nextSinceSeq gives every line exactly once, in order, and missed falls to 0 [C350]", () => {
  const cursor = fc.record({
    count: fc.nat(700),
    lines: fc.integer({ min: 1, max: 200 }),
    cap: fc.integer({ min: 2000, max: 60_000 }),
  });
  fc.assert(
    fc.property(cursor, ({ count, lines: most, cap }) => {
      const { hub, lines, need } = rig({ capOf: () => cap });
      lines(count, (i) => `line ${i + 1}`);
      const channel = need("serial:main:rx");
      let sinceSeq = 0;
      const seen: number[] = [];
      for (;;) {
        const { output } = tailPage(hub, channel, { sinceSeq, lines: most });
        const given = output.lines ?? [];
        for (const line of given) assert.equal(line.text, `line ${line.seq}`);
        seen.push(...given.map((line) => line.seq));
        assert.equal(output.missed, count - sinceSeq - given.length);
        assert.equal(output.truncated, output.nextSinceSeq < count);
        sinceSeq = output.nextSinceSeq;
        if (!output.truncated) break;
        assert.equal(given.length, most);
      }
      assert.deepEqual(seen, Array.from({ length: channel.ring.lines }, (_, i) => channel.ring.firstSeq + i));
      assert.equal(tailPage(hub, channel, { sinceSeq }).output.missed, 0);
      hub.close();
    }),
    { numRuns: 40 },
  );
});

Deno.test("a read of dropped lines says so, with the first seq that is kept [C351] [SR13]", () => {
  const { hub, lines, need } = rig({ capOf: () => 10_000 });
  lines(2000, (i) => `line ${i + 1}`);
  const channel = need("serial:main:rx");
  const first = channel.ring.firstSeq;
  assert.ok(first > 500);
  for (const format of ["json", "text"] as const) {
    const { output, text } = tailPage(hub, channel, { sinceSeq: 500, lines: 10, format });
    assert.equal(output.seqFrom, first);
    assert.equal(output.missed, 1500 - 10);
    assert.equal(output.dropped, first - 1);
    assert.equal(output.mayBeIncomplete, true);
    assert.match(text, new RegExp(`${first - 501} lines before seq ${first} are gone`));
  }
  hub.close();
});

Deno.test("after a clear a reader with an old sinceSeq sees what it missed, then goes on", () => {
  const { hub, lines, need } = rig();
  lines(10, (i) => `${i}`);
  hub.clear("serial:main:rx");
  const channel = need("serial:main:rx");
  const gone = tailPage(hub, channel, { sinceSeq: 4 }).output;
  assert.deepEqual([gone.returned, gone.missed, gone.nextSinceSeq, gone.seqFrom, gone.seqTo], [0, 6, 10, null, null]);
  lines(2, (i) => `new ${i}`);
  const { output } = tailPage(hub, channel, { sinceSeq: 10 });
  assert.deepEqual(output.lines?.map((line) => [line.seq, line.text]), [[11, "new 0"], [12, "new 1"]]);
  assert.equal(output.mayBeIncomplete, false);
  hub.close();
});

Deno.test("each JSON line has its fields; hex only when the text does not give the bytes back [C352]", () => {
  const { hub, rx, tx, need, clock } = rig();
  rx.push(bytesOf("W (1) a: warm\n"), clock.t = 12.34, "none");
  rx.push(Uint8Array.of(0x41, 0xff, 10), 13, "none");
  tx.push(bytesOf("AT\r\n"), 14, "ai");
  const { output } = tailPage(hub, need("serial:main:rx"));
  checked("log_tail", output);
  assert.deepEqual(output.lines, [
    {
      seq: 1,
      ts: hub.iso(12.34),
      t: 12.3,
      level: "warn",
      dir: "rx",
      src: "none",
      bytes: 13,
      rawBytes: 13,
      text: "W (1) a: warm",
    },
    {
      seq: 2,
      ts: hub.iso(13),
      t: 13,
      level: "info",
      dir: "rx",
      src: "none",
      bytes: 2,
      rawBytes: 2,
      text: "A\\xFF",
      hex: "41FF",
    },
  ]);
  assert.equal(tailPage(hub, need("serial:main:tx")).output.lines?.[0]?.src, "ai");
  hub.close();
});

Deno.test("the text form: a header with every counter, then one row a line at most 14 bytes over its payload [C353]", () => {
  const { hub, rx, need, clock } = rig();
  hub.log("app", "warn", "two\nlines");
  const payloads: string[] = [];
  for (let i = 0; i < 500; i++) {
    clock.t += i % 50 === 0 ? 9000 : 37;
    payloads.push(`payload ${i} é`);
    rx.push(bytesOf(`${payloads[i]}\r\n`), clock.t, "none");
  }
  const { output, text } = tailPage(hub, need("serial:main:rx"), { lines: 500, format: "text" });
  checked("log_tail", output);
  assert.equal(output.lines, undefined);
  const head = header(text);
  const { channel, returned, seqFrom, seqTo, missed, dropped, mayBeIncomplete, truncated, nextSinceSeq } = output;
  assert.deepEqual(
    { ...head, base: "" },
    Object.fromEntries(
      Object.entries({ channel, returned, seqFrom, seqTo, missed, dropped, mayBeIncomplete, truncated, nextSinceSeq })
        .map(([k, v]) => [k, String(v)]).concat([["base", ""]]),
    ),
  );
  const got = rows(text);
  assert.equal(got.length, 500);
  let over = 0;
  got.forEach((row, i) => {
    assert.match(row, /^\[\+\d{1,4}\] \[rx\] /);
    assert.equal(bodyOf(row), payloads[i]);
    over = Math.max(over, bytesOf(`${row}\n`).length - bytesOf(payloads[i] ?? "").length);
  });
  assert.ok(over <= 14, `${over}`);
  const app = tailPage(hub, need("app"), { format: "text" }).text;
  assert.deepEqual(rows(app), ["[+0] [warn] two\\nlines"]);
  hub.close();
});

Deno.test("base times and ms give every row the time that JSON gives it, over 9999 ms and over midnight", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -50, max: 60_000 }), { minLength: 1, maxLength: 40, size: "max" }),
      (gaps) => {
        const { hub, rx, need, clock } = rig({ epochMs: new Date(2026, 0, 2, 23, 59, 0).getTime() });
        for (const gap of gaps) rx.push(bytesOf("x\n"), clock.t = Math.max(0, clock.t + gap + 0.25), "none");
        const json = tailPage(hub, need("serial:main:rx"), { lines: 100 }).output.lines ?? [];
        const { text } = tailPage(hub, need("serial:main:rx"), { lines: 100, format: "text" });
        const start = header(text)["base"] ?? "";
        let base = Date.parse(start);
        let day = start.slice(0, 10);
        const times: string[] = [];
        for (const line of text.split("\n").slice(1)) {
          const again = /^# base (?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d:\d\d\.\d{3})$/.exec(line);
          if (again) {
            day = again[1] ?? day;
            base = new Date(`${day}T${again[2]}`).getTime();
          }
          const row = /^\[\+(\d+)\] /.exec(line);
          if (row) {
            assert.ok(Number(row[1]) <= 9999);
            times.push(new Date(base + Number(row[1])).toISOString());
          }
        }
        assert.deepEqual(times, json.map((line) => line.ts));
        hub.close();
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("both forms have the same counters and the same lines [C354] [C191]", () => {
  const { hub, rx, tx, clock, need, pane } = rig({ capOf: () => 20_000 });
  for (let i = 0; i < 800; i++) {
    tx.push(bytesOf(`AT+${i}\r`), clock.t += 3, i % 2 === 0 ? "ai" : "ui");
    rx.push(bytesOf(`answer ${i}\r\n\t<${i}>\n`), clock.t += 5, "none");
  }
  rx.push(bytesOf("prompt> "), clock.t, "none");
  for (
    const options of [{ lines: 30 }, { lines: 150 }, { sinceSeq: 1500, lines: 20 }, { sinceSeq: 0, lines: 150 }, {
      sinceSeq: 1590,
    }]
  ) {
    const json = tailPage(hub, need("serial:main:rx"), options).output;
    const text = tailPage(hub, need("serial:main:rx"), { ...options, format: "text" });
    const { lines, ...counters } = json;
    assert.deepEqual({ ...text.output, format: "json" }, counters);
    assert.deepEqual(rows(text.text).map(bodyOf), lines?.map((line) => line.text));
  }
  for (const direction of ["both", "rx", "tx"] as const) {
    const json = outputPage(hub, pane, { direction, lines: 100 }).output;
    const text = outputPage(hub, pane, { direction, lines: 100, format: "text" });
    checked("serial_get_output", json);
    checked("serial_get_output", text.output);
    const { items, ...counters } = json;
    assert.deepEqual({ ...text.output, format: "json" }, counters);
    assert.deepEqual(
      rows(text.text).map((row) => row.replace(/^\[\+\d+\] /, "")),
      items?.map((item) => `[${item.dir}] ${item.text}`),
    );
    assert.equal(header(text.text)["rx.dropped"], String(json.channels.rx.dropped));
    assert.equal(json.truncated, true);
  }
  hub.close();
});

Deno.test("the open line comes last, marked, and is not passed by nextSinceSeq", () => {
  const { hub, rx, need, clock, pane } = rig();
  rx.push(bytesOf("one\ntwo\nlog"), clock.t = 5, "none");
  const channel = need("serial:main:rx");
  const tail = tailPage(hub, channel, { sinceSeq: 1 }).output;
  assert.deepEqual(tail.lines?.map((line) => [line.seq, line.text, line.partial]), [[2, "two", undefined], [
    3,
    "log",
    true,
  ]]);
  assert.deepEqual([tail.returned, tail.missed, tail.nextSinceSeq, tail.truncated], [2, 0, 2, false]);
  assert.match(tailPage(hub, channel, { format: "text" }).text, /\[rx\] log\n# partial/);
  rx.push(bytesOf("in: \n"), clock.t = 9, "none");
  const next = tailPage(hub, channel, { sinceSeq: 2 }).output.lines;
  assert.deepEqual(next?.map((line) => [line.seq, line.text, line.partial, line.t]), [[3, "login: ", undefined, 5]]);
  // Oldest first: while older lines wait, the open one does too.
  rx.push(bytesOf("a\nb\nc"), clock.t = 10, "none");
  assert.deepEqual(tailPage(hub, channel, { sinceSeq: 3, lines: 1 }).output.lines?.map((line) => line.text), ["a"]);
  // A character that is half there is not shown broken.
  rx.push(bytesOf("中").subarray(0, 2), clock.t = 11, "none");
  const { items } = outputPage(hub, pane, {}).output;
  assert.deepEqual([items?.at(-1)?.text, items?.at(-1)?.bytes, items?.at(-1)?.partial], ["c", 3, true]);
  hub.close();
});

Deno.test("a line over 8 KiB is shown in parts that are marked", () => {
  const { hub, rx, need } = rig();
  rx.push(bytesOf(`${"x ".repeat(5000)}\n`), 0, "none");
  const { output } = tailPage(hub, need("serial:main:rx"));
  assert.deepEqual(output.lines?.map((line) => [line.bytes, line.continues]), [[8192, true], [1808, undefined]]);
  assert.match(tailPage(hub, need("serial:main:rx"), { format: "text" }).text, /\n\[\+0\] \[rx\+\] x /);
  hub.close();
});

Deno.test("received and sent are merged by time, at equal times what was sent comes first", () => {
  const { hub, rx, tx, pane } = rig();
  tx.push(bytesOf("AT\n"), 1, "ai");
  rx.push(bytesOf("OK\n"), 1, "none");
  tx.push(bytesOf("ATI\n"), 2, "ui");
  rx.push(bytesOf("modem\nOK\n"), 3, "none");
  const { output } = outputPage(hub, pane, { lines: 4 });
  assert.deepEqual(output.items?.map(({ dir, src, text }) => `${dir} ${src} ${text}`), [
    "rx none OK",
    "tx ui ATI",
    "rx none modem",
    "rx none OK",
  ]);
  assert.equal(output.truncated, true);
  const all = outputPage(hub, pane, {}).output;
  assert.equal(all.items?.[0]?.text, "AT");
  assert.equal(all.truncated, false);
  assert.deepEqual(all.channels.rx, {
    channel: "serial:main:rx",
    count: 3,
    dropped: 0,
    mayBeIncomplete: false,
    nextSinceSeq: 3,
  });
  hub.close();
});

Deno.test("nothing received is an empty page with a note, no error [C185] [C193]", () => {
  const { hub, pane } = rig();
  const quiet = outputPage(hub, pane, {}).output;
  assert.deepEqual([quiet.count, quiet.items, quiet.truncated], [0, [], false]);
  assert.ok(quiet.note);
  const closed = outputPage(hub, { ...pane, isConnected: false }, { format: "text" });
  assert.match(closed.output.note ?? "", /serial_open/);
  assert.match(closed.text, /serial_open/);
  hub.close();
});

Deno.test("a body with CR, LF or a look-alike of a header is still one row [C190]", () => {
  const { hub, need } = rig();
  const bodies = ["# channel=app returned=0", "a\r\nb", "[+0] [rx] fake", "# base 00:00:00.000", "tail\n", "\u2028"];
  for (const body of bodies) hub.log("app", "info", body);
  const { text } = tailPage(hub, need("app"), { format: "text" });
  const got = text.split("\n").slice(1, -1);
  assert.equal(got.length, bodies.length);
  got.forEach((row) => assert.match(row, /^\[\+\d+\] \[info\] /));
  assert.equal(rows(text).length, bodies.length);
  hub.close();
});

Deno.test("200 short lines as text cost at most a third of JSON [C192]", () => {
  const { hub, rx, clock, need, pane } = rig();
  for (let i = 0; i < 200; i++) rx.push(bytesOf(`+CSQ: ${i % 31},99\n`), clock.t += 50, "none");
  for (
    const [json, text] of [
      [
        tailPage(hub, need("serial:main:rx"), { lines: 200 }),
        tailPage(hub, need("serial:main:rx"), { lines: 200, format: "text" }),
      ],
      [outputPage(hub, pane, { lines: 200 }), outputPage(hub, pane, { lines: 200, format: "text" })],
    ] as const
  ) {
    const whole = (page: { output: unknown; text: string }) => JSON.stringify(page.output).length + page.text.length;
    assert.equal(rows(text.text).length, 200);
    assert.ok(whole(text) * 3 <= whole(json), `${whole(text)} of ${whole(json)}`);
  }
  hub.close();
});

Deno.test("no page costs over 20,000 tokens; it is cut at whole lines and says how to go on, which gives every line once [MC08]", () => {
  const makers: Record<string, (i: number) => Uint8Array> = {
    short: (i) => bytesOf(`line ${i}`),
    long: (i) => bytesOf(`${i} ${"the quick brown fox ".repeat(50)}`),
    chinese: (i) => bytesOf(`${i} ${"设备连接失败，请检查电缆".repeat(10)}`),
    binary: (i) => Uint8Array.from({ length: 120 }, (_, k) => 128 + (i * 31 + k * 17) % 128),
    hugeBinary: (i) => Uint8Array.from({ length: 8000 }, (_, k) => 128 + (i * 31 + k * k) % 128),
  };
  for (const [kind, make] of Object.entries(makers)) {
    const { hub, rx, clock, need, pane } = rig();
    for (let i = 1; i <= (kind === "short" ? 30_000 : 60); i++) {
      rx.push(Uint8Array.from([...make(i), 10]), clock.t += 7, "none");
    }
    const channel = need("serial:main:rx");
    const cost = (page: { output: unknown; text: string }) =>
      countTokens(JSON.stringify(page.output)) + countTokens(page.text);
    for (const format of ["json", "text"] as const) {
      for (
        const page of [
          tailPage(hub, channel, { format }),
          tailPage(hub, channel, { format, lines: 100_000 }),
          outputPage(hub, pane, { format }),
          outputPage(hub, pane, { format, lines: 2000 }),
        ]
      ) assert.ok(cost(page) < LIMITS.maxAnswerTokens, `${kind} ${format}: ${cost(page)}`);
    }
    if (kind === "short") {
      assert.equal(tailPage(hub, channel, { lines: 100_000, format: "text" }).output.truncated, true);
    }
    // The way on is a call that can be copied.
    const seen: number[] = [];
    let text = tailPage(hub, channel, { lines: 1, format: "json" }).text;
    let pages = 0;
    for (let go; (go = /\d+ more(?: before these)?: log_tail (\{.*\})/.exec(text)) && pages < 60; pages++) {
      const { channel: name, sinceSeq, lines: _lines, format } = JSON.parse(go[1] ?? "{}");
      const page = tailPage(hub, need(name), { sinceSeq, lines: 2000, format });
      assert.ok(cost(page) < LIMITS.maxAnswerTokens, `${kind}: ${cost(page)}`);
      seen.push(...page.output.lines?.map((line) => line.seq) ?? []);
      assert.ok(page.text.length <= LIMITS.maxSummaryChars);
      text = page.text;
    }
    if (pages < 60) {
      assert.deepEqual(
        seen,
        Array.from({ length: channel.ring.lines }, (_, i) => channel.ring.firstSeq + i),
      );
    } else assert.deepEqual(seen, Array.from({ length: seen.length }, (_, i) => channel.ring.firstSeq + i));
    assert.ok(seen.length > 0);
    hub.close();
  }
});
