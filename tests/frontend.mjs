// What the front end's sources do, as TypeScript's own compiler sees it: JSON for tests/test_frontend.py, which judges.
//   node tests/frontend.mjs FOLDER …   with FOLDER js/ itself or one that is made like it, for each of which a line is written
// The types of a page and of JupyterLab, which take longest to read, are read once for all.
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";

const folders = process.argv.slice(2).map(folder => resolve(folder));
const ts = createRequire(join(import.meta.dirname, "..", "js", "package.json"))("typescript");

const settings = folders.map(folder => {
  const { config } = ts.readConfigFile(join(folder, "tsconfig.json"), ts.sys.readFile);
  return ts.parseJsonConfigFileContent({ ...config, include: ["src"] }, ts.sys, folder);
});
const [{ options }] = settings;
const program = ts.createProgram(
  settings.flatMap(({ fileNames }) => fileNames),
  options,
);
const checker = program.getTypeChecker();

const SEARCHES = new Set(
  "includes indexOf lastIndexOf match matchAll search startsWith endsWith split replace replaceAll".split(
    " ",
  ),
);
const MARKUP = new Set(
  "innerHTML outerHTML insertAdjacentHTML createContextualFragment srcdoc setHTMLUnsafe parseFromString write writeln".split(
    " ",
  ),
);
const SCALES = new Set(["/", "*", "%", ">>", ">>>"]);
// What Python sends; nobody changes it on the way to the screen.
const DECIDED = new Set(["Scene", "Plan", "Run", "SceneWire", "PlanWire", "RunWire"]);
// Of the folder that is looked at.
let [folder] = folders;
let facts = [];
let imports = [];

const nameOf = file => relative(folder, file).replaceAll("\\", "/");

const isText = type => {
  if (type.isUnionOrIntersection()) return type.types.some(isText);
  return (type.flags & (ts.TypeFlags.StringLike | ts.TypeFlags.TemplateLiteral)) !== 0;
};

/** Whether a name stands for something that a page has and a bare JavaScript has not. */
const isOfPage = symbol =>
  (symbol.flags & ts.SymbolFlags.Value) !== 0 &&
  (symbol.declarations ?? []).some(found => found.getSourceFile().fileName.endsWith("lib.dom.d.ts"));

const isWrite = node => {
  const { parent } = node;
  if (ts.isBinaryExpression(parent) && parent.left === node)
    return (
      parent.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
      parent.operatorToken.kind <= ts.SyntaxKind.LastAssignment
    );
  return (
    (ts.isPostfixUnaryExpression(parent) || ts.isPrefixUnaryExpression(parent)) &&
    /\+\+|--/.test(parent.getText())
  );
};

const visit = (file, node) => {
  const tell = (what, detail) => {
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    facts.push({ file: nameOf(file.fileName), line: line + 1, what, detail });
  };
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    const clause = node.importClause ?? node;
    const bound = clause.namedBindings ?? clause.exportClause;
    const named = bound && "elements" in bound ? [...bound.elements] : [];
    const allTypes = !clause.name && named.length > 0 && named.every(({ isTypeOnly }) => isTypeOnly);
    if (node.moduleSpecifier) {
      const target = ts.resolveModuleName(
        node.moduleSpecifier.text,
        file.fileName,
        options,
        ts.sys,
      ).resolvedModule;
      const own = target && !target.isExternalLibraryImport;
      imports.push({
        file: nameOf(file.fileName),
        target: own ? nameOf(target.resolvedFileName) : node.moduleSpecifier.text,
        own: Boolean(own),
        types: Boolean(clause.isTypeOnly || allTypes),
      });
    }
  }
  if (ts.isRegularExpressionLiteral(node)) tell("pattern", node.text);
  if (ts.isNewExpression(node) || ts.isCallExpression(node)) {
    const called = node.expression.getText();
    if (called === "RegExp") tell("pattern", node.getText());
    if (called === "eval" || called === "Function") tell("code", called);
    if (node.expression.kind === ts.SyntaxKind.ImportKeyword) tell("asks", "import()");
    if (ts.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression;
      if (SEARCHES.has(name.text) && isText(checker.getTypeAtLocation(expression)))
        tell("search", `.${name.text}()`);
    }
  }
  if (ts.isJsxAttribute(node) && /^(dangerouslySetInnerHTML|innerHTML|srcdoc)$/i.test(node.name.getText()))
    tell("markup", node.name.getText());
  if (ts.isPropertyAccessExpression(node) && MARKUP.has(node.name.text)) {
    const owner = checker.getSymbolAtLocation(node.name);
    if (owner === undefined || isOfPage(owner)) tell("markup", node.name.text);
  }
  if (
    ts.isIdentifier(node) &&
    !ts.isPropertyAccessExpression(node.parent?.name === node ? node.parent : node)
  ) {
    const symbol = checker.getSymbolAtLocation(node);
    if (symbol !== undefined && isOfPage(symbol) && !ts.isPartOfTypeNode(node) && node.parent.name !== node)
      tell("page", node.text);
  }
  if (ts.isBinaryExpression(node) && SCALES.has(node.operatorToken.getText()) && textLengthIn(node))
    tell("estimate", node.getText());
  if (ts.isElementAccessExpression(node) && isWrite(node) && ownersOf(node.expression).some(decided))
    tell("decides", node.getText());
  if (ts.isPropertyAccessExpression(node) && isWrite(node) && ownersOf(node).some(decided))
    tell("decides", node.getText());
  ts.forEachChild(node, child => visit(file, child));
};

/** Whether some text's length takes part in a product or quotient. */
const textLengthIn = node => {
  if (ts.isPropertyAccessExpression(node) && node.name.text === "length")
    return isText(checker.getTypeAtLocation(node.expression));
  return ts.forEachChild(node, child => textLengthIn(child) || undefined) ?? false;
};

/** The interfaces that a property is declared in. */
const ownersOf = node => {
  const held = checker.getSymbolAtLocation(ts.isPropertyAccessExpression(node) ? node.name : node);
  return (held?.declarations ?? []).map(found => found.parent?.name?.text).filter(Boolean);
};

const decided = owner => DECIDED.has(owner);

for (folder of folders) {
  facts = [];
  imports = [];
  const files = program.getSourceFiles().filter(file => nameOf(file.fileName).startsWith("src/"));
  for (const file of files) visit(file, file);
  const told = { files: files.map(({ fileName }) => nameOf(fileName)), imports, facts };
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
