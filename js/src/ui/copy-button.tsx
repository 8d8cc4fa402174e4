// A button that copies a text and says so.
import { useEffect, useState } from "preact/hooks";
import { copyText } from "./copy";

interface Props {
  text(): string;
  words?: string;
  kind?: string;
  title?: string;
  testid?: string;
}

export const Copy = ({ text, words = "Copy", kind = "ci-link", title, testid }: Props) => {
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (said === "") return;
    const timer = setTimeout(() => setSaid(""), 1600);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => setSaid((await copyText(text())) ? "Copied" : "This page may not copy");
  return (
    <button class={kind} title={title} data-testid={testid} onClick={copy}>
      {said || words}
    </button>
  );
};
