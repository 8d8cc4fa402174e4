// A canvas drawn in CSS pixels. Without canvas support (in a test), drawing is skipped.

export const paint = (
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  ratio: number,
  draw: (context: CanvasRenderingContext2D) => void,
): void => {
  const w = Math.max(1, Math.round(width * ratio));
  const hh = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== hh) {
    canvas.width = w;
    canvas.height = hh;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  draw(context);
};

/** The nearest edge between device pixels. */
export const snap = (value: number, ratio: number): number => Math.round(value * ratio) / ratio;
