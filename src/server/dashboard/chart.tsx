/** @jsxImportSource hono/jsx */
/** A line chart of the last minutes. */
import type { Child } from "hono/jsx";

const WIDTH = 300;
const HEIGHT = 56;

interface ChartProps {
  readonly title: string;
  /** One value a second, the oldest first; `undefined` where there is none. */
  readonly values: readonly (number | undefined)[];
  readonly format: (value: number) => string;
  /** Whether any value above 0 is a reason to look. */
  readonly isBad?: boolean | undefined;
}

export function Chart({ title, values, format, isBad = false }: ChartProps): Child {
  const known = values.filter((value) => value !== undefined);
  const most = Math.max(...known, 0);
  const last = known.at(-1);
  const x = (index: number): string => ((index / Math.max(values.length - 1, 1)) * WIDTH).toFixed(1);
  const y = (value: number): string => (HEIGHT - 2 - (most === 0 ? 0 : (value / most) * (HEIGHT - 6))).toFixed(1);
  let path = "";
  let isBegun = false;
  for (const [index, value] of values.entries()) {
    // A line of no length is a dot, which shows a second that stands alone.
    if (value !== undefined) path += isBegun ? `L${x(index)} ${y(value)}` : `M${x(index)} ${y(value)}h0`;
    isBegun = value !== undefined;
  }
  const now = last === undefined ? "none" : format(last);
  return (
    <figure class={isBad && most > 0 ? "bad" : ""}>
      <figcaption>
        <span>{title}</span>
        <output>{now}</output>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: now ${now}, at most ${format(most)} in the last ${values.length} seconds`}
      >
        <path
          d={path}
          fill="none"
          stroke="currentColor"
          stroke-width="2"
          stroke-linecap="round"
          vector-effect="non-scaling-stroke"
        />
      </svg>
      <figcaption>
        <span>{values.length === 0 ? "no second yet" : `${values.length} s`}</span>
        <span>at most {format(most)}</span>
      </figcaption>
    </figure>
  );
}
