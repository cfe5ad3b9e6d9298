import { basename, dirname, join } from "node:path";
import type { z } from "zod";
import { whyFailed, writeAtomic } from "./files.ts";

/** Something is wrong with a settings file. The message is for people; the file was not touched. */
export class SettingsError extends Error {
  override name = "SettingsError";
  readonly path: string;
  /** Where a copy of the broken file was put aside, if it could be. */
  readonly keptAs: string | undefined;
  /** The file is there and can be read, but what is in it is wrong. */
  readonly broken: boolean;
  constructor(path: string, message: string, options: { broken: boolean; keptAs?: string | undefined }) {
    super(message);
    this.path = path;
    this.keptAs = options.keptAs;
    this.broken = options.broken;
  }
}

/** A settings file: JSON, checked, written whole. Changes are saved one after another. */
export class JsonFile<T extends object> {
  readonly path: string;
  /** Has the last word about what is saved: for what must hold in this run only. */
  beforeSave: (next: T, now: T) => T = (next) => next;
  /** Told after each save. */
  afterSave: (value: T) => void = () => {};
  #value: T;
  #saving: Promise<unknown> = Promise.resolve();

  private constructor(path: string, value: T) {
    this.path = path;
    this.#value = value;
  }

  /**
   * Reads the file; one that does not exist gives `defaults`. A file that is not JSON or does not fit is left as it
   * is, a copy is kept as `<name>.broken-<time>` (once for the same content), and {@link SettingsError} is thrown.
   */
  static async load<T extends object>(path: string, schema: z.ZodType<T>, defaults: T): Promise<JsonFile<T>> {
    let text: string;
    try {
      text = await Deno.readTextFile(path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return new JsonFile(path, defaults);
      throw new SettingsError(path, `${path} cannot be read: ${whyFailed(error)}`, { broken: false });
    }
    let problem: string;
    try {
      const parsed = schema.safeParse(JSON.parse(text.replace(/^\uFEFF/, "")));
      if (parsed.success) return new JsonFile(path, parsed.data);
      problem = parsed.error.issues.slice(0, 3)
        .map((i) => `${i.path.length ? i.path.map(String).join(".") : "the whole"}: ${i.message}`).join("; ");
    } catch (error) {
      problem = text.trim() === "" ? "it is empty" : `not JSON (${whyFailed(error)})`;
    }
    const keptAs = await keepAside(path);
    throw new SettingsError(path, `${path} is broken: ${problem}`, { broken: true, keptAs });
  }

  /** The settings now; what {@link update} has not saved yet is not in it. */
  get value(): T {
    return this.#value;
  }

  /**
   * Saves what `change` makes of the settings, then makes it the value: memory and file always agree. Rejects with
   * {@link SettingsError} if it cannot be written; nothing has changed then.
   */
  update(change: (now: T) => T): Promise<T> {
    const run = async (): Promise<T> => {
      const next = this.beforeSave(change(this.#value), this.#value);
      try {
        await writeAtomic(this.path, JSON.stringify(next, null, 2) + "\n");
      } catch (error) {
        throw new SettingsError(this.path, `${this.path} cannot be written: ${whyFailed(error)}`, { broken: false });
      }
      this.#value = next;
      this.afterSave(next);
      return next;
    };
    const done = this.#saving.then(run);
    this.#saving = done.catch(() => {});
    return done;
  }

  /** Resolves when every change asked for so far is saved or has failed. */
  async settled(): Promise<void> {
    await this.#saving;
  }
}

async function keepAside(path: string): Promise<string | undefined> {
  try {
    const bytes = await Deno.readFile(path);
    const prefix = `${basename(path)}.broken-`;
    for await (const entry of Deno.readDir(dirname(path))) {
      if (!entry.isFile || !entry.name.startsWith(prefix)) continue;
      const old = await Deno.readFile(join(dirname(path), entry.name));
      if (old.length === bytes.length && old.every((b, i) => b === bytes[i])) return join(dirname(path), entry.name);
    }
    const time = new Date().toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
    const copy = join(dirname(path), prefix + time);
    await Deno.writeFile(copy, bytes, { mode: 0o600 });
    return copy;
  } catch {
    return undefined; // the original is still there, untouched
  }
}
