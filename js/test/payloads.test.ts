import { expect, test } from "vitest";
import { makeTypes, readTypes } from "../types.mjs";

test("the types are those of the schema that Python is held to", async () => {
  expect(readTypes(), "run `npm run types`").toBe(await makeTypes());
});
