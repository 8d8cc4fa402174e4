// How esbuild builds JSX, in whatever it builds: smaller than what tsconfig.json says to editor and tests, and the same.
export const JSX = {
  inject: ["src/ui/jsx.ts"],
  tsconfigRaw: {
    compilerOptions: {
      jsx: "react",
      jsxFactory: "createElement",
      jsxFragmentFactory: "Fragment",
      strict: true,
      verbatimModuleSyntax: true,
    },
  },
};
