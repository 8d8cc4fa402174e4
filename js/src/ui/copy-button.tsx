// A button that copies a text and says so.
import { useEffect, useState } from "preact/hooks";
import { copyText } from "./copy";

interface Props {
  text(): string;
  words?: string;
  kind?: string;
  title?: string;
  testid?: string;
  /** Has the result read out. */
  announce?(message: string): void;
}

export const Copy = ({ text, words = "Copy", kind = "ci-link", title, testid, announce }: Props) => {
  const [message, setMessage] = useState("");
  useEffect(() => {
    if (message === "") return;
    const timer = setTimeout(() => setMessage(""), 1600);
    return () => clearTimeout(timer);
  }, [message]);
  const copy = async () => {
    const result = (await copyText(text())) ? "Copied" : "The browser blocked copying";
    setMessage(result);
    announce?.(result);
  };
  return (
    <button class={kind} title={title} data-testid={testid} onClick={copy}>
      {message || words}
    </button>
  );
};
