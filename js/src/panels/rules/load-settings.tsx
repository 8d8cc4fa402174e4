// A settings.json of the harness, chosen from this machine: its thresholds become settings of the policy.
import { useRef, useState } from "preact/hooks";

export const LoadSettings = ({ load }: { load(file: File): Promise<void> }) => {
  const input = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState("");
  const choose = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      await load(file);
      setProblem("");
    } catch (error) {
      setProblem((error as Error).message);
    }
    // The same file can be chosen again once it is corrected.
    if (input.current !== null) input.current.value = "";
  };
  return (
    <>
      <button
        class="ci-link"
        title="Thresholds of the harness: {&quot;compaction&quot;: {&quot;warn&quot;: 0.8, &quot;require&quot;: 0.95}}"
        onClick={() => input.current?.click()}
      >
        Load settings.json
      </button>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        hidden
        data-testid="settings-file"
        onChange={event => void choose(event.currentTarget.files?.[0])}
      />
      {problem !== "" && (
        <span class="ci-bad" role="alert">
          {" "}
          {problem}
        </span>
      )}
    </>
  );
};
