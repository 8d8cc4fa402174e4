// A new session file: a preview, then writing it, then its path.
import { render } from "preact";
import type { Requests } from "../payloads/requests";
import type { NewFilePreview, NewFileReply } from "../payloads/types";
import { Copy } from "../ui/copy-button";
import { makeDialog } from "../ui/dialog";
import { h } from "../ui/dom";

type Kind = "compacted" | "reopened";

const TITLES: Record<Kind, string> = {
  compacted: "Save the compacted session",
  reopened: "Reopen the session",
};
const PROMISES: Record<Kind, string> = {
  compacted: "Writes the session as this plan leaves it to a new file next to the original.",
  reopened:
    "Writes the session up to this point to a new file next to the original, without other branches or later entries.",
};

export const makeNewFile = (requests: Requests, opener: HTMLElement) => {
  const content = h("div");
  const dialog = makeDialog({ class: "ci-help ci-new-file", "data-testid": "new-file" }, content);
  let kind: Kind = "compacted";
  let preview: NewFilePreview | null = null;
  let written: NewFileReply | null = null;
  let [message, bad] = ["", false];
  // Ignore answers to earlier requests.
  let lookups = 0;

  const say = (words: string, wrong = false) => {
    [message, bad] = [words, wrong];
    draw();
  };
  const look = async (at: string) => {
    const request = ++lookups;
    written = null;
    say("Preparing the file…");
    try {
      const reply = await requests.ask("preview_file", { kind, at });
      if (request !== lookups) return;
      preview = reply;
      say(reply.problem, true);
    } catch (error) {
      if (request === lookups) say((error as Error).message, true);
    }
  };
  const write = async () => {
    const request = lookups;
    if (preview === null) return;
    say("Writing…");
    try {
      const reply = await requests.ask("write_file", { name: preview.name });
      if (request !== lookups) return;
      written = reply;
      say("");
      content.querySelector<HTMLElement>("[data-testid=file-written] button")?.focus();
    } catch (error) {
      if (request === lookups) say((error as Error).message, true);
    }
  };

  const draw = () => render(<Content />, content);
  const Content = () => (
    <>
      <h3>
        {TITLES[kind]}
        <button class="ci-button" onClick={() => dialog.close()}>
          Close
        </button>
      </h3>
      <p>{PROMISES[kind]}</p>
      {preview !== null && preview.places.length > 0 && (
        <p>
          <label>
            Where{" "}
            <select
              data-testid="place"
              value={preview.at}
              onChange={event => void look((event.target as HTMLSelectElement).value)}
            >
              {preview.places.map(({ id, label }) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </p>
      )}
      {preview !== null && preview.name !== "" && (
        <dl data-testid="new-file-lines">
          {[{ id: "file", label: preview.name }, ...preview.lines].map(({ id, label }, number) => (
            <div key={`${id} ${number}`}>
              <dt>{id}</dt>
              <dd>{label}</dd>
            </div>
          ))}
        </dl>
      )}
      {message !== "" && (
        <p class={bad ? "ci-bad" : "ci-quiet"} role={bad ? "alert" : "status"}>
          {message}
        </p>
      )}
      {written !== null && (
        <p data-testid="file-written" role="status">
          Written: <code>{written.path}</code> <Copy text={() => written?.path ?? ""} words="copy" />{" "}
          {written.sentence}
        </p>
      )}
      {preview !== null && preview.problem === "" && written === null && (
        <div class="ci-actions">
          <button class="ci-button ci-main" data-testid="write-file" onClick={() => void write()}>
            Write this file
          </button>
        </div>
      )}
    </>
  );

  dialog.addEventListener("close", () => {
    lookups++;
    opener.focus();
  });
  return {
    node: dialog,
    open(nextKind: Kind) {
      [kind, preview, written] = [nextKind, null, null];
      dialog.setAttribute("aria-label", TITLES[kind]);
      dialog.showModal();
      void look("");
    },
    dispose: () => render(null, content),
  };
};

export type NewFileDialog = ReturnType<typeof makeNewFile>;
