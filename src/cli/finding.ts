/** One thing that was looked at. */
export interface Finding {
  /** `bad`: something does not work; `note`: it may get in the way. */
  readonly state: "ok" | "note" | "bad";
  readonly text: string;
  /** The command, or what else to do, that mends it. */
  readonly fix?: string;
}
