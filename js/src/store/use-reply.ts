// A question to Python from a component: the newest answer counts, and the one before stands until it comes.
import { useEffect, useRef, useState } from "preact/hooks";

export interface Asked<T> {
  readonly data: T | null;
  readonly problem: string;
}

/** Asks again whenever `key` changes; asks nothing while it is null. */
export const useReply = <T>(key: string | null, ask: () => Promise<T>): Asked<T> => {
  const [reply, setReply] = useState<Asked<T>>({ data: null, problem: "" });
  const newest = useRef(0);
  useEffect(() => {
    if (key === null) return;
    const mine = ++newest.current;
    ask().then(
      data => mine === newest.current && setReply({ data, problem: "" }),
      (error: Error) => mine === newest.current && setReply(({ data }) => ({ data, problem: error.message })),
    );
  }, [key]);
  return reply;
};
