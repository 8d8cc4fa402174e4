// Modules that the late tabs share with the rest of the widget; `build.mjs` fills it in.
export const shared: object = {};
