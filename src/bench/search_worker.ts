/** What a worker is told first: one search. */
export interface WorkerStart {
  kind: "start";
  source: string;
  flags: string;
  /** At most so many hits of a batch are given back, the last ones. */
  keep: number;
  /** Give the text of each place, not the line only. */
  fragments: boolean;
}
/** Lines to search: their text as UTF-8, one after another. */
export interface WorkerBatch {
  kind: "batch";
  bytes: Uint8Array<ArrayBuffer>;
  /** Where each line ends. */
  ends: Uint32Array<ArrayBuffer>;
  /** All of it is ASCII. */
  ascii: boolean;
  /** Ms that it may take. */
  timeoutMs: number;
}
export interface WorkerReply {
  /** Lines with a place, and places. */
  lines: number;
  places: number;
  /** Index of the line in the batch, of each hit kept, and its text when asked for. */
  hits: number[];
  fragments: string[];
  /** Lines done. */
  done: number;
  /** The time was up. */
  timedOut: boolean;
}
/** What the worker's code is given: its global scope and `node:vm`. */
export interface WorkerScope {
  onmessage: ((event: { data: WorkerStart | WorkerBatch }) => void) | null;
  postMessage(reply: WorkerReply): void;
  searchBatch?: () => void;
}
export interface Watchdog {
  Script: new (code: string) => { runInThisContext(options: { timeout: number }): unknown };
}

/**
 * All of the worker's code. It is turned into source text and must therefore use nothing from outside; so the
 * program can be one file. The time limit is `node:vm`'s: it stops a regular expression in the middle, which
 * `Worker.terminate` of Deno 2.9 does not (it leaves a busy worker running).
 */
export function searchWorker(scope: WorkerScope, vm: Watchdog): void {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const script = new vm.Script("searchBatch()");
  let start: WorkerStart | undefined;
  let batch: WorkerBatch | undefined;
  let reply: WorkerReply | undefined;
  const thin = (list: unknown[], keep: number) => {
    if (list.length > keep) list.splice(0, list.length - keep);
  };
  scope.searchBatch = () => {
    if (!start || !batch || !reply) return;
    const { keep, fragments } = start;
    const expression = new RegExp(start.source, start.flags);
    const { bytes, ends, ascii } = batch;
    const whole = ascii ? decoder.decode(bytes) : "";
    let from = 0;
    for (; reply.done < ends.length; reply.done++) {
      const to = ends[reply.done] ?? 0;
      const text = ascii ? whole.slice(from, to) : decoder.decode(bytes.subarray(from, to));
      from = to;
      const before = reply.places;
      expression.lastIndex = 0;
      for (let match; (match = expression.exec(text)) !== null;) {
        if (match[0] === "") {
          expression.lastIndex += (text.codePointAt(expression.lastIndex) ?? 0) > 0xffff ? 2 : 1;
          continue;
        }
        reply.places++;
        if (!fragments) continue;
        reply.hits.push(reply.done);
        reply.fragments.push(match[0]);
      }
      if (reply.places === before) continue;
      reply.lines++;
      if (!fragments && keep > 0) reply.hits.push(reply.done);
      if (reply.hits.length < 2 * keep + 64) continue;
      thin(reply.hits, keep);
      thin(reply.fragments, keep);
    }
    thin(reply.hits, keep);
    thin(reply.fragments, keep);
  };
  scope.onmessage = ({ data }) => {
    if (data.kind === "start") {
      start = data;
      return;
    }
    batch = data;
    reply = { lines: 0, places: 0, hits: [], fragments: [], done: 0, timedOut: false };
    try {
      script.runInThisContext({ timeout: Math.max(1, Math.ceil(data.timeoutMs)) });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")) throw error;
      reply.timedOut = true;
    }
    scope.postMessage(reply);
  };
}

/** A worker with {@link searchWorker} in it. */
export function startSearchWorker(): Worker {
  const source = `import vm from "node:vm";(${searchWorker.toString()})(globalThis,vm);`;
  return new Worker(`data:text/javascript;charset=utf-8,${encodeURIComponent(source)}`, {
    type: "module",
    name: "log search",
  });
}
