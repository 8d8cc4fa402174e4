// A new session file: first what would be written is shown, then it is written, and said where it stands.
import { render } from "preact";
import type { Requests } from "../payloads/requests";
import type { NewFilePreview, NewFileReply } from "../payloads/types";
import { makeCopy } from "../ui/copy";
import { h } from "../ui/dom";

type Kind = "compacted" | "reopened";

const TITLES: Record<Kind, string> = {
  compacted: "Save the compacted session",
  reopened: "Reopen the session",
};
const PROMISES: Record<Kind, string> = {
  compacted: "The session as this plan would leave it, as a new file beside its own.",
  reopened:
    "The session as it stood there, as a new file beside its own: other branches and what came later stay out.",
};

export interface NewFileDialog {
  readonly node: HTMLElement;
  open(kind: Kind): void;
  dispose(): void;
}

export const makeNewFile = (requests: Requests, opener: HTMLElement): NewFileDialog => {
  const content = h("div");
  const dialog = h("dialog", { class: "ci-help ci-new-file", "data-testid": "new-file" }, content);
  let kind: Kind = "compacted";
  let preview: NewFilePreview | null = null;
  let written: NewFileReply | null = null;
  let [told, bad] = ["", false];
  // An answer to an earlier question is none of this one's.
  let asked = 0;

  const say = (words: string, wrong = false) => {
    [told, bad] = [words, wrong];
    draw();
  };
  const look = async (at: string) => {
    const mine = ++asked;
    written = null;
    say("Putting the session together…");
    try {
      const reply = await requests.ask("preview_file", { kind, at });
      if (mine !== asked) return;
      preview = reply;
      say(reply.problem, true);
    } catch (error) {
      if (mine === asked) say((error as Error).message, true);
    }
  };
  const write = async () => {
    const mine = asked;
    if (preview === null) return;
    say("Writing…");
    try {
      const reply = await requests.ask("write_file", { name: preview.name });
      if (mine !== asked) return;
      written = reply;
      say("");
      content.querySelector<HTMLElement>("[data-testid=file-written] button")?.focus();
    } catch (error) {
      if (mine === asked) say((error as Error).message, true);
    }
  };

  const draw = () => render(<Content />, content);
  const Content = () => (
    <>
      <h3>
        {TITLES[kind]}
        <button type="button" class="ci-button" onClick={() => dialog.close()}>
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
      {told !== "" && (
        <p class={bad ? "ci-bad" : "ci-quiet"} role={bad ? "alert" : "status"}>
          {told}
        </p>
      )}
      {written !== null && (
        <p data-testid="file-written" role="status">
          Written: <code>{written.path}</code> <Copy text={written.path} /> {written.sentence}
        </p>
      )}
      {preview !== null && preview.problem === "" && written === null && (
        <div class="ci-actions">
          <button
            type="button"
            class="ci-button ci-main"
            data-testid="write-file"
            onClick={() => void write()}
          >
            Write this file
          </button>
        </div>
      )}
    </>
  );

  dialog.addEventListener("click", event => event.target === dialog && dialog.close());
  // A key pressed here is for the dialog alone.
  dialog.addEventListener("keydown", event => event.stopPropagation());
  dialog.addEventListener("close", () => {
    asked++;
    opener.focus();
  });
  return {
    node: dialog,
    open(wanted: Kind) {
      [kind, preview, written] = [wanted, null, null];
      dialog.setAttribute("aria-label", TITLES[kind]);
      dialog.showModal();
      void look("");
    },
    dispose: () => render(null, content),
  };
};

const Copy = ({ text }: { text: string }) => (
  <span
    ref={node => {
      if (node !== null && node.childElementCount === 0)
        node.append(makeCopy("copy", () => [text, "copied"]));
    }}
  />
);
