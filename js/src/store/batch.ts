// Python sets several traits in one message, each with an event of its own; they are taken over together.

/** Makes listeners, each for one kind of news; `take` hears once of all the news that came at the same time. */
export const gatherNews = <What>(take: (news: ReadonlySet<What>) => void) => {
  const news = new Set<What>();
  return (what: What) => () => {
    if (news.size === 0) {
      queueMicrotask(() => {
        const all = new Set(news);
        news.clear();
        take(all);
      });
    }
    news.add(what);
  };
};
