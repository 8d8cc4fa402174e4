// A request to Python from a component: the newest reply counts, and the previous one stays until it arrives.
import { useEffect, useRef, useState } from "preact/hooks";

export interface ReplyState<T> {
  readonly data: T | null;
  readonly problem: string;
  /** `data` answers an older question, or one that is not asked now. */
  readonly isStale: boolean;
  /** The answer may still come. */
  readonly isWaiting: boolean;
}

/** Asks again whenever `key` changes; asks nothing while it is null. */
export const useReply = <T>(key: string | null, ask: () => Promise<T>): ReplyState<T> => {
  const [reply, setReply] = useState<{ data: T | null; problem: string; of: string | null }>({
    data: null,
    problem: "",
    of: null,
  });
  const newest = useRef(0);
  useEffect(() => {
    if (key === null) return;
    const turn = ++newest.current;
    ask().then(
      data => turn === newest.current && setReply({ data, problem: "", of: key }),
      (error: Error) =>
        turn === newest.current && setReply(({ data, of }) => ({ data, problem: error.message, of })),
    );
  }, [key]);
  const isStale = reply.of !== key || key === null;
  return { ...reply, isStale, isWaiting: isStale && key !== null && reply.problem === "" };
};
