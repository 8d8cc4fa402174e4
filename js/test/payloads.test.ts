import { expect, test } from "vitest";
import { makeTypes, readTypes } from "../types.mjs";

test("the types match the schema that Python is tested against", async () => {
  expect(readTypes(), "run `npm run types`").toBe(await makeTypes());
});
