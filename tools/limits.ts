/**
 * Every number that the program enforces, once. `mcp_limits` reports this object, schemas and handlers read it,
 * and `docs/tools.md` prints it; nothing else states a limit.
 */
export const LIMITS = {
  // Sessions and the wire.
  maxSessions: 4,
  sessionQueue: 256,
  /** Characters that may wait in one event stream, over which it counts as overflowing like too many messages. */
  sessionQueueChars: 8_388_608,
  /** Event streams of `subscriptions/listen` at once; they take no session. */
  maxListeners: 32,
  /** Messages in one body, and objects and arrays inside each other. */
  maxBatch: 100,
  maxJsonDepth: 64,
  heartbeatSecs: 15,
  maxBodyBytes: 1_048_576,
  toolsPage: 50,
  idleTimeoutSecs: 1800,
  /** Default of `--rate-limit`; the figure in force is reported by the server, 0 means none. */
  rateLimitPerMin: 60,
  /** Call records that one mcp_calls gives, and how much of the record's end it reads. */
  maxCallRecords: 2000,
  callLogTailBytes: 2_097_152,
  protocolVersion: "2025-11-25",
  protocolFallback: "2024-11-05",
  // Answers.
  /** No answer costs an agent more than this (estimated, o200k); longer ones are cut at whole lines. */
  maxAnswerTokens: 20_000,
  maxSummaryChars: 600,
  // Log hub.
  logMaxLineBytes: 8192,
  logTotalCapBytes: 16_777_216,
  logMaxChannels: 64,
  logCapSerialBytes: 524_288,
  logCapWslBytes: 262_144,
  logCapAdbBytes: 1_048_576,
  logCapBleBytes: 262_144,
  logCapOtherBytes: 131_072,
  maxLogReadLines: 2000,
  maxLogSearchHits: 500,
  maxSearchPatternChars: 512,
  maxSearchContextLines: 5,
  /** A regular expression may run this long over one search; then the search ends and says how far it got. */
  searchTimeoutMs: 2000,
  // Serial.
  minBaud: 110,
  maxBaud: 4_000_000,
  maxPanes: 16,
  maxSendChars: 65_536,
  maxHistory: 50,
  maxHistoryRead: 200,
  serialOpenWaitMs: 6000,
  serialCloseWaitMs: 3000,
  deviceTimeoutMs: 30_000,
  /** A silence of this length ends a row in hex view. */
  hexFrameGapMs: 200,
  /** A row in hex view holds at most this many bytes. */
  hexRowBytes: 64,
  // Page.
  maxPages: 32,
  maxUiSetItems: 200,
  maxUiSetValueChars: 8192,
  maxUiListPage: 500,
  maxUiInFlight: 32,
  uiTimeoutMs: 5000,
  maxCtlTools: 400,
  // Quick commands.
  maxQuickCmdItems: 500,
  maxQuickCmdLabelChars: 64,
  maxQuickCmdValueChars: 4096,
  maxQuickCmdFileBytes: 262_144,
  maxQuickCmdTimeoutMs: 600_000,
  maxQuickCmdRetry: 10,
  maxQuickCmdExpectChars: 64,
  // BLE and ADB.
  maxBleWriteChars: 4096,
  maxBleDevicePage: 200,
  bleConnectTimeoutMs: 130_000,
  maxAdbWriteChars: 4096,
  maxAdbCols: 1000,
  maxAdbRows: 1000,
  maxAdbReadLines: 2000,
} as const;

export type LimitName = keyof typeof LIMITS;
