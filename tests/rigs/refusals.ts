import assert from "node:assert/strict";
import { BenchError, CODE, type Reason } from "../../src/core/errors.ts";

const failureOf = async (call: Promise<unknown>): Promise<BenchError> => {
  const error = await call.then((answer) => answer, (e) => e);
  if (!(error instanceof BenchError)) {
    throw new Error(`expected a failure, got ${JSON.stringify(error) ?? error}`, { cause: error });
  }
  return error;
};

/** The call is refused as bad arguments (-32602); gives the error for a look at its words. */
export const refused = async (call: Promise<unknown>): Promise<BenchError> => {
  const error = await failureOf(call);
  assert.equal(error.code, CODE.invalidParams, error.message);
  return error;
};

/** The call runs and fails (isError -32006) for this reason. */
export const fails = async (call: Promise<unknown>, reason: Reason): Promise<BenchError> => {
  const error = await failureOf(call);
  assert.deepEqual([error.code, error.reason], [CODE.failed, reason], error.message);
  return error;
};
