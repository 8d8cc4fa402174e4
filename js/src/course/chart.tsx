// The lanes of a context with its cut: bars by kind, their retention, valid cut points and a handle to drag.
import { useEffect, useRef, useState } from "preact/hooks";
import { short } from "../model/format";
import type { Chart, State } from "./data";

const HEIGHT = { lane: 30, tall: 84, stacked: 112, label: 18, turns: 22, outcome: 24, ticks: 20, sums: 22 };
const NARROW = 720;
/** How far a finger moves to the side before it drags, in pixels. */
const SLOP = 8;
const VARIABLES: Record<string, string> = { summary: "compacted" };

/** The handle: the places it stops at, which of them it is at, and its name. */
export interface Handle {
  places: readonly number[];
  at: number;
  label: string;
  move(at: number): void;
}

interface Props {
  chart: Chart;
  state: State;
  handle?: Handle | null;
  /** The name of a cut that cannot be moved. */
  cutLabel?: string;
  /** The place of the student's own cut, drawn next to the right one. */
  own?: number | null;
  /** Hides how much is kept and sent. */
  blind?: boolean;
  /** Shows the sum of each turn. */
  sums?: boolean;
  large?: boolean;
}

interface Lane {
  name: string;
  index: number;
  top: number;
  height: number;
  /** Tokens at the full height of the lane; longer bars are broken, and say their size. */
  most: number;
}

/** The value that fills a lane: the largest, unless few bars are far above all others. */
const findCap = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => b - a);
  const usual = sorted[Math.ceil(sorted.length * 0.02)] ?? 0;
  const largest = sorted[0] ?? 0;
  return largest > 2.5 * usual && usual > 0 ? usual * 1.4 : largest;
};

const useWidth = () => {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const node = ref.current;
    if (node === null) return;
    const measure = () => setWidth(node.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
};

const layLanes = (
  chart: Chart,
  isStacked: boolean,
  labels: number,
  scale: number,
): { lanes: Lane[]; bottom: number } => {
  const most = chart.lanes.map((_, lane) =>
    findCap(chart.blocks.filter(block => block[1] === lane).map(block => block[2])),
  );
  const present = most.flatMap((value, index) => (value > 0 ? [index] : []));
  const tallest = present.reduce(
    (a, b) => ((most[a] as number) >= (most[b] as number) ? a : b),
    present[0] ?? 0,
  );
  let top = HEIGHT.turns * scale;
  if (isStacked) {
    const height = HEIGHT.stacked * scale;
    const sums = new Map<number, number>();
    for (const [column, , tokens] of chart.blocks) sums.set(column, (sums.get(column) ?? 0) + tokens);
    const all = Math.max(1, findCap([...sums.values()]));
    const lanes = present.map(index => ({
      ...{ name: chart.lanes[index] as string, index, top, height, most: all },
    }));
    return { lanes, bottom: top + height };
  }
  const lanes = present.map(index => {
    const height = (index === tallest ? HEIGHT.tall : HEIGHT.lane) * scale;
    top += labels;
    const lane = { name: chart.lanes[index] as string, index, top, height, most: most[index] as number };
    top += height + 6 * scale;
    return lane;
  });
  return { lanes, bottom: top };
};

const colour = (name: string): string =>
  `var(--ci-s-${VARIABLES[name] ?? name.replace(" ", "_")}, var(--ci-dim))`;

/** Width of a character of a label at scale 1, in pixels. */
const GLYPH = 8.4;

export const Lanes = (props: Props) => {
  const { chart, state, handle, own, blind, sums, large } = props;
  const { ref, width } = useWidth();
  const isNarrow = width <= NARROW;
  const scale = large ? 1.25 : 1;
  // Kinds share a lane on a narrow screen if colours distinguish them; else each has a lane, with its name above it.
  const isStacked = isNarrow && !matchMedia("(forced-colors: active)").matches;
  const lead = isNarrow ? 0 : (width < 1080 ? 150 : 212) * scale;
  const plot = Math.max(1, width - lead);
  const step = plot / chart.columns;
  const x = (place: number) => lead + place * step;
  const { lanes, bottom } = layLanes(chart, isStacked, isNarrow ? HEIGHT.label * scale : 0, scale);
  const [place, , remaining, summary, fates] = state;
  const outcomeTop = bottom + 4;
  const ticksTop = outcomeTop + (HEIGHT.outcome + 2) * scale;
  const height = ticksTop + (HEIGHT.ticks + (sums ? HEIGHT.sums : 0)) * scale;
  const shownCut = handle ? (handle.places[handle.at] ?? -1) : place;
  const nearest = (clientX: number): number => {
    const origin = ref.current?.getBoundingClientRect().x ?? 0;
    const target = (clientX - origin - lead) / step;
    const places = handle?.places ?? [];
    return places.reduce(
      (best, value, at) =>
        Math.abs(value - target) < Math.abs((places[best] as number) - target) ? at : best,
      0,
    );
  };
  /** The point at which a finger came down, until it drags: it may be about to scroll the page. */
  const touched = useRef<number | null>(null);
  const take = (event: PointerEvent) => {
    touched.current = null;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    ref.current?.querySelector<HTMLElement>("[role=slider]")?.focus({ preventScroll: true });
    handle?.move(nearest(event.clientX));
  };
  const drag = (event: PointerEvent) => {
    if (!handle || event.button !== 0) return;
    if (event.pointerType === "touch") {
      touched.current = event.clientX;
      return;
    }
    take(event);
    event.preventDefault();
  };
  const follow = (event: PointerEvent) => {
    if (!handle) return;
    const moved = touched.current === null ? 0 : Math.abs(event.clientX - touched.current);
    if (moved > SLOP) take(event);
    else if ((event.currentTarget as HTMLElement).hasPointerCapture(event.pointerId)) {
      handle.move(nearest(event.clientX));
    }
  };
  const release = () => {
    touched.current = null;
  };
  const total = chart.blocks.reduce((sum, block) => sum + block[2], 0);
  return (
    <div class="cl-lanes" ref={ref} data-testid="lanes" data-stacked={isStacked || undefined}>
      {width > 0 && (
        <div
          class="cl-plot"
          data-drags={handle ? true : undefined}
          onPointerDown={drag}
          onPointerMove={follow}
          onPointerUp={release}
          onPointerCancel={release}
        >
          {shownCut >= 0 && (
            <CutPill {...{ chart, handle, width, x: x(shownCut), label: handle?.label ?? props.cutLabel }} />
          )}
          <svg width={width} height={height} role="img" aria-label={describe(chart, state, blind)}>
            <Turns {...{ chart, x, height: bottom, top: 0, end: lead + plot, scale }} />
            {!isStacked &&
              lanes.map(lane => (
                <LaneHead key={lane.index} {...{ lane, right: lead + plot, scale, isNarrow }} />
              ))}
            <Bars {...{ chart, lanes, x, step, place, fates, isStacked }} />
            <Outcome
              {...{ x, place, top: outcomeTop, scale, lead, end: lead + plot, isNarrow }}
              {...{ remaining, summary, summarised: total - remaining, blind: blind === true, fates }}
            />
            {!isNarrow && (
              <text class="cl-name" x={0} y={ticksTop + 13 * scale}>
                valid cut points
              </text>
            )}
            <Ticks {...{ cuts: chart.cuts, x, top: ticksTop, scale }} />
            {sums && <Sums {...{ chart, x, top: ticksTop + HEIGHT.ticks * scale, scale, isNarrow }} />}
            {chart.mark >= 0 && <Star {...{ chart, lanes, x, step }} />}
            {own !== null && own !== undefined && own !== shownCut && (
              <line class="cl-own" x1={x(own)} x2={x(own)} y1={0} y2={ticksTop + 12} />
            )}
            {shownCut >= 0 && (
              <line class="cl-cut" x1={x(shownCut)} x2={x(shownCut)} y1={0} y2={ticksTop + 14 * scale} />
            )}
          </svg>
        </div>
      )}
      {isStacked && width > 0 && (
        <p class="cl-legend">
          {lanes.map(({ name }) => (
            <span key={name}>
              <i style={{ background: colour(name) }} /> {name}
            </span>
          ))}
        </p>
      )}
    </div>
  );
};

/** The meaning of the bar heights; the style shows the sentence that holds for the lanes in view. */
export const Scale = () => (
  <>
    <span class="cl-apart">Each lane has its own scale.</span>
    <span class="cl-together">All kinds have one scale.</span>
  </>
);

const describe = (chart: Chart, [place, after]: State, blind = false): string => {
  const cut = place < 0 ? "no cut" : `cut in turn ${turnAt(chart, place)}`;
  return `Lanes of ${chart.turns.length} turns, ${short(chart.before)} tokens; ${cut}${
    blind ? "" : `, ${short(after)} sent`
  }`;
};

/** The turn of the first column behind a place. */
export const turnAt = ({ turns }: Chart, place: number): number =>
  turns.reduce((last, [turn, column]) => (column <= place ? turn : last), 1);

type X = (place: number) => number;

const Turns = (props: { chart: Chart; x: X; height: number; top: number; end: number; scale: number }) => {
  const { chart, x, height, end, scale } = props;
  let free = Number.NEGATIVE_INFINITY;
  return (
    <g>
      {chart.turns.map(([turn, column], at) => {
        const next = chart.turns[at + 1];
        const [begin, finish] = [x(column), next ? x(next[1]) : end];
        const start = Math.max(begin + 2, free);
        const fits = finish - start > 9 * scale && start - begin < 22 * scale;
        if (fits) free = start + 24 * scale;
        return (
          <g key={turn}>
            {at % 2 === 0 && (
              <rect class="cl-band" x={begin} y={0} width={Math.max(0, finish - begin)} height={height} />
            )}
            {fits && (
              <text class="cl-name" x={start} y={14 * scale}>
                {turn}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
};

const LaneHead = (props: { lane: Lane; right: number; scale: number; isNarrow: boolean }) => {
  const { lane, right, scale, isNarrow } = props;
  const base = lane.top + (isNarrow ? -4 : 18) * scale;
  return (
    <g>
      <rect
        class="cl-key"
        x={0}
        y={base - 10 * scale}
        width={11}
        height={11}
        style={{ fill: colour(lane.name) }}
      />
      <text class="cl-name" x={isNarrow ? 2 : 18} y={base}>
        {lane.name} <tspan class="cl-dim">to {short(lane.most)}</tspan>
      </text>
      <line class="cl-rule" x1={0} x2={right} y1={lane.top + lane.height} y2={lane.top + lane.height} />
    </g>
  );
};

interface BarsProps {
  chart: Chart;
  lanes: readonly Lane[];
  x: X;
  step: number;
  place: number;
  fates: string;
  isStacked: boolean;
}

const Bars = ({ chart, lanes, x, step, place, fates, isStacked }: BarsProps) => {
  const heights = new Map<number, number>();
  const byIndex = new Map(lanes.map(lane => [lane.index, lane]));
  return (
    <g>
      {chart.blocks.map(([column, index, tokens], row) => {
        const lane = byIndex.get(index);
        if (lane === undefined || tokens === 0) return null;
        const fate = fates === "" ? (column < place ? "s" : "v") : (fates[row] ?? "v");
        const key = isStacked ? column : column * 100 + index;
        const below = heights.get(key) ?? 0;
        const room = lane.height - 4;
        const height = Math.max(1, Math.min(room - below, (room * tokens) / lane.most));
        heights.set(key, below + height);
        const isBroken = tokens > lane.most * 1.01;
        const top = lane.top + lane.height - below - height;
        return (
          <g key={row}>
            <rect
              data-fate={fate}
              x={x(column) + (step > 4 ? 0.75 : 0)}
              y={top}
              width={Math.max(1, step - (step > 4 ? 1.5 : 0.25))}
              height={height}
              style={{ "--ci-bar": colour(lane.name) }}
            />
            {isBroken && (
              <>
                <rect class="cl-break" x={x(column) - 1} y={top + 9} width={step + 2} height={3} />
                <text x={x(column) + step + 3} y={top + 10}>
                  {short(tokens)}
                </text>
              </>
            )}
          </g>
        );
      })}
    </g>
  );
};

interface OutcomeProps {
  x: X;
  place: number;
  top: number;
  scale: number;
  lead: number;
  end: number;
  isNarrow: boolean;
  remaining: number;
  summary: number;
  summarised: number;
  blind: boolean;
  fates: string;
}

const Outcome = (props: OutcomeProps) => {
  const { x, place, top, scale, lead, end, isNarrow, remaining, summary, summarised, blind, fates } = props;
  const height = HEIGHT.outcome * scale;
  const middle = top + height * 0.7;
  const cut = place < 0 ? lead : x(place);
  const words = (text: string, from: number, to: number) =>
    to - from > [...text].length * GLYPH * scale + 12 ? text : "";
  const isWhole = place < 0 && fates === "";
  const drops = fates !== "" && !fates.includes("s");
  const older = drops
    ? "taken out"
    : words(`${short(summarised)} → summary ${short(summary)}`, cut === lead ? end : lead, cut) ||
      words(`summary ${short(summary)}`, lead, cut);
  return (
    <g>
      {!isNarrow && (
        <text class="cl-name" x={0} y={middle}>
          outcome
        </text>
      )}
      {place > 0 && (
        <rect class="cl-older" x={lead} y={top} width={Math.max(0, cut - lead)} height={height} />
      )}
      <rect class="cl-newer" x={cut} y={top} width={Math.max(0, end - cut)} height={height} />
      {place > 0 && !blind && (
        <text x={lead + 8} y={middle}>
          {words(older, lead, cut)}
        </text>
      )}
      <text class="cl-newer-words" x={cut + 8} y={middle}>
        {blind ? "" : words(`${isWhole ? "messages" : "kept"} ${short(remaining)}`, cut, end)}
      </text>
    </g>
  );
};

const Ticks = ({ cuts, x, top, scale }: { cuts: string; x: X; top: number; scale: number }) => (
  <g>
    {[...cuts].map((kind, place) =>
      kind === "0" ? null : (
        <line
          key={place}
          class={kind === "1" ? "cl-tick" : "cl-tick cl-inside"}
          x1={x(place)}
          x2={x(place)}
          y1={top}
          y2={top + (kind === "1" ? 14 : 7) * scale}
        />
      ),
    )}
  </g>
);

const Sums = (props: { chart: Chart; x: X; top: number; scale: number; isNarrow: boolean }) => {
  const { chart, x, top, scale, isNarrow } = props;
  return (
    <g>
      {!isNarrow && (
        <text class="cl-name" x={0} y={top + 14 * scale}>
          tokens of the turn
        </text>
      )}
      {chart.turns.map(([turn, column], at) => {
        const next = chart.turns[at + 1]?.[1] ?? chart.columns;
        const sum = chart.blocks
          .filter(block => block[0] >= column && block[0] < next)
          .reduce((total, block) => total + block[2], 0);
        return (
          <text key={turn} class="cl-sum" x={(x(column) + x(next)) / 2} y={top + 14 * scale}>
            {short(sum)}
          </text>
        );
      })}
    </g>
  );
};

const Star = (props: { chart: Chart; lanes: readonly Lane[]; x: X; step: number }) => {
  const { chart, lanes, x, step } = props;
  const [column, index] = chart.blocks[chart.mark] as readonly [number, number, number];
  const lane = lanes.find(item => item.index === index) ?? lanes[0];
  return (
    <text class="cl-star" x={x(column) + step / 2} y={(lane?.top ?? 0) + (lane?.height ?? 0) / 2 + 4}>
      ★
    </text>
  );
};

interface PillProps {
  chart: Chart;
  handle?: Handle | null;
  width: number;
  x: number;
  label: string | undefined;
}

const CutPill = ({ chart, handle, width, x, label }: PillProps) => {
  const pill = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState(150);
  useEffect(() => setSize(pill.current?.offsetWidth ?? 150), [label, width]);
  const style = { left: `${Math.max(0, Math.min(width - size, x - size / 2))}px` };
  if (!handle) {
    return (
      <div class="cl-pill cl-still" ref={pill} style={style}>
        {label}
      </div>
    );
  }
  const move = (by: number) => {
    const at = Math.max(0, Math.min(handle.places.length - 1, handle.at + by));
    if (at !== handle.at) handle.move(at);
  };
  const byTurn = (way: number) => {
    const turn = turnAt(chart, handle.places[handle.at] as number);
    for (let at = handle.at + way; at >= 0 && at < handle.places.length; at += way) {
      if (turnAt(chart, handle.places[at] as number) !== turn) return handle.move(at);
    }
  };
  const press = (event: KeyboardEvent) => {
    const act = {
      ArrowLeft: () => move(-1),
      ArrowDown: () => move(-1),
      ArrowRight: () => move(1),
      ArrowUp: () => move(1),
      PageUp: () => byTurn(-1),
      PageDown: () => byTurn(1),
      Home: () => handle.move(0),
      End: () => handle.move(handle.places.length - 1),
    }[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };
  const arrow = (by: number, sign: string) => (
    <button
      type="button"
      tabIndex={-1}
      aria-hidden="true"
      data-testid={by < 0 ? "cut-left" : "cut-right"}
      onPointerDown={event => event.stopPropagation()}
      onClick={() => move(by)}
    >
      {sign}
    </button>
  );
  return (
    <div class="cl-pill" ref={pill} style={style}>
      {arrow(-1, "◂")}
      <div
        role="slider"
        tabIndex={0}
        data-testid="cut-handle"
        aria-label="Cut"
        aria-valuemin={0}
        aria-valuemax={handle.places.length - 1}
        aria-valuenow={handle.at}
        aria-valuetext={label}
        onKeyDown={press}
      >
        <span aria-hidden="true">⠿</span> {label}
      </div>
      {arrow(1, "▸")}
    </div>
  );
};
