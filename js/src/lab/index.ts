// The JupyterLab extension, also Notebook 7's: small plugins that can be switched off one by one.
import { bundled } from "./bundled";
import { commands } from "./commands";
import { documents } from "./documents";
import { doubleClick } from "./double-click";
import { notebook } from "./notebook";
import { opener } from "./opener";
import { sidebar } from "./sidebar";

export default [opener, documents, bundled, commands, doubleClick, notebook, sidebar];
