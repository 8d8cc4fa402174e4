export function makeTypes(): Promise<string>;
export function readTypes(): string;
